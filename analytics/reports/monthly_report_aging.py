"""The sections of the monthly report about receivables and payables by age."""

from decimal import Decimal
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.queries.monthly_report import ReportMonth
from analytics.queries.reported_figures import read_stored_aging
from analytics.reports.monthly_report_tables import CellFormatter, ReportRow, ReportTable
from companies.locales import get_current_locale
from planning.invoices.pages.invoices import list_bucket_labels
from planning.invoices.queries import DEFAULT_INTERVAL, compute_aging
from planning.models import InvoiceKind


class AgingTexts(NamedTuple):
    """The texts of a section, and the id of its table."""

    table_id: str
    title: str | Promise
    empty: str | Promise


TEXTS: dict[InvoiceKind, AgingTexts] = {
    "receivables": AgingTexts("aging", gettext_lazy("Receivables aging"), gettext_lazy("No receivables are open.")),
    "payables": AgingTexts("payables", gettext_lazy("Payables aging"), gettext_lazy("No payables are open.")),
}


def build_aging_table(report: ReportMonth, kind: InvoiceKind) -> ReportTable:
    """Build open receivables or payables at the end of the month, or today, by how long they are overdue.

    Raises:
        RateLookupError: a currency has no exchange rate.
    """
    cells, as_of = CellFormatter(report), min(report.last_day, report.today)
    aging = compute_aging(
        report.company,
        kind=kind,
        as_of=as_of,
        interval=DEFAULT_INTERVAL,
        rates=report.rates,
    )
    now = [aging.total.current, *aging.total.buckets]
    stored = read_stored_aging(report.stored_figures, kind)
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
        id=TEXTS[kind].table_id,
        title=TEXTS[kind].title,
        head=[_("Age"), _("Amount")],
        rows=rows if any(amount.value or amount.other for amount in amounts) else [],
        hint=_("Open on {day}.").format(day=get_current_locale().format_day(as_of)),
        empty_text=TEXTS[kind].empty,
    )
