"""The section of the monthly report about receivables by age."""

from decimal import Decimal

from django.utils.translation import gettext as _

from analytics.queries.monthly_report import ReportMonth
from analytics.reports.monthly_report_tables import CellFormatter, ReportRow, ReportTable
from companies.locales import get_current_locale
from planning.invoices.pages.invoices import list_bucket_labels
from planning.invoices.queries import DEFAULT_INTERVAL, compute_aging


def build_aging_table(report: ReportMonth) -> ReportTable:
    """Build open receivables at the end of the month, or today, by how long they are overdue.

    Raises:
        RateLookupError: a currency has no exchange rate.
    """
    cells, as_of = CellFormatter(report), min(report.last_day, report.today)
    aging = compute_aging(
        report.company,
        kind="receivables",
        as_of=as_of,
        interval=DEFAULT_INTERVAL,
        rates=report.rates,
    )
    now = [aging.total.current, *aging.total.buckets]
    stored = [Decimal(text) for text in report.stored_figures.get("aging", ())]
    reported = [*stored, sum(stored, start=Decimal(0))] if stored else [None] * (len(now) + 1)
    amounts = [
        report.to_reported_amount(now=amount, reported=other)
        for amount, other in zip([*now, aging.total.total], reported, strict=True)
    ]
    rows = [
        ReportRow(label, [cells.format_reported_amount(amount)], kind)
        for label, amount, kind in zip(
            [*list_bucket_labels(), _("Total")], amounts, [*[""] * len(now), "sum"], strict=True
        )
    ]
    return ReportTable(
        id="aging",
        title=_("Receivables aging"),
        head=[_("Age"), _("Amount")],
        rows=rows if any(amount.value or amount.other for amount in amounts) else [],
        hint=_("Open on {day}.").format(day=get_current_locale().format_day(as_of)),
        empty_text=_("Customers owe nothing."),
    )
