"""Where the books differ from the cash, receivables and payables that the closing of a report stores."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.queries.cash_bridge import build_part_queries
from analytics.queries.reported_figures import (
    StoredFigures,
    compute_figures_to_report,
    read_stored_aging,
    read_stored_bridge,
)
from analytics.reports.cash_bridge import PART_LABELS
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.calc.months import get_last_day_of_month
from ledger.hooks import ReportDifference
from ledger.models import Closing
from ledger.money.rates import get_rate_table
from planning.invoices.pages.invoices import list_bucket_labels
from planning.models import InvoiceKind

AGING_LABELS: dict[InvoiceKind, tuple[str | Promise, str | Promise]] = {
    "receivables": (gettext_lazy("Receivables"), gettext_lazy("Receivables: {age}")),
    "payables": (gettext_lazy("Payables"), gettext_lazy("Payables: {age}")),
}


def list_report_differences(page: CompanyPage, closing: Closing) -> list[ReportDifference]:
    """Return the parts of the cash bridge, receivables and payables that differ from what a closing stores.

    Raises:
        RateLookupError: a currency has no exchange rate.
    """
    stored_figures: StoredFigures = closing.report_figures or {}
    if not stored_figures:
        return []
    now = compute_figures_to_report(page.company, closing.month, rates=get_rate_table())
    differences = list[ReportDifference]()
    if page.has_permission(Permission.BALANCES_READ):
        differences += list_cash_differences(page, closing.month, stored_figures, now)
    if page.has_permission(Permission.PLANNING_READ):
        for kind in AGING_LABELS:
            differences += list_aging_differences(page, kind, stored_figures, now)
    return [each for each in differences if each.was != each.now]


def list_cash_differences(
    page: CompanyPage, month: date, stored_figures: StoredFigures, now: StoredFigures
) -> Iterator[ReportDifference]:
    """Yield the parts of the cash bridge, each with its transactions; its ends with the page of the bridge."""
    last = get_last_day_of_month(month)
    bridge_url = reverse("cash-bridge", args=[page.company.id])
    bridge_url += f"?{urlencode({'startDate': month, 'endDate': last})}"
    queries = build_part_queries(start=month, end=last) if page.has_permission(Permission.TRANSACTIONS_READ) else {}
    transactions_url = reverse("transactions", args=[page.company.id])
    amounts = read_stored_bridge(now)
    for part, reported_amount in read_stored_bridge(stored_figures).items():
        query = queries.get(part)
        url = f"{transactions_url}?{query}" if query else bridge_url
        yield ReportDifference(
            _("Cash bridge: {part}").format(part=PART_LABELS[part]), reported_amount, amounts.get(part, Decimal(0)), url
        )


def list_aging_differences(
    page: CompanyPage, kind: InvoiceKind, stored_figures: StoredFigures, now: StoredFigures
) -> Iterator[ReportDifference]:
    """Yield the receivables or payables in total and by age; none where the closing does not store them."""
    was, amounts = (read_stored_aging(figures, kind) for figures in (stored_figures, now))
    if not was:
        return
    url, (title, label_by_age) = reverse(kind, args=[page.company.id]), AGING_LABELS[kind]
    yield ReportDifference(str(title), sum(was, start=Decimal(0)), sum(amounts, start=Decimal(0)), url)
    for label, reported, amount in zip(list_bucket_labels(), was, amounts, strict=True):
        yield ReportDifference(str(label_by_age).format(age=label), reported, amount, url)
