"""The section of the monthly report about receivables by age."""

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
    amounts = [aging.total.current, *aging.total.buckets]
    rows = [
        ReportRow(label, [cells.format_amount(amount)])
        for label, amount in zip(list_bucket_labels(), amounts, strict=True)
    ]
    rows.append(ReportRow(_("Total"), [cells.format_amount(aging.total.total)], "sum"))
    return ReportTable(
        id="aging",
        title=_("Receivables aging"),
        head=[_("Age"), _("Amount")],
        rows=rows if any(amounts) else [],
        hint=_("Open on {day}.").format(day=get_current_locale().format_day(as_of)),
        nothing=_("Customers owe nothing."),
    )
