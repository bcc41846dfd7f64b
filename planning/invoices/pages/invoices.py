"""Pages of receivables and payables: aging, what is due this week, and the list of open invoices."""

from datetime import timedelta
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from ledger.money.calc.fx import RateLookupError
from ledger.money.rates import get_rate_table
from planning.calc.settlements import SettlementState
from planning.invoices.csv_columns import STATE_LABELS
from planning.invoices.csv_export import build_invoice_csv_response
from planning.invoices.queries import (
    DEFAULT_INTERVAL,
    Aging,
    build_invoice_standings,
    compute_aging,
    filter_invoices,
)
from planning.models import InvoiceKind
from planning.planned_transactions.pages.write_off_undo import get_write_off_undo

ORDER = ("due_date", "id")
DUE_SOON_DAYS, MAX_DUE_SOON = 7, 20
MAX_COUNTERPARTIES = 20


@company_page(reads=Permission.PLANNING_READ)
def show_receivables(page: CompanyPage) -> HttpResponse:
    """Show what customers owe."""
    return render_invoices(page, "receivables", _("Receivables"), _("What customers owe you, by age and invoice."))


@company_page(reads=Permission.PLANNING_READ)
def show_payables(page: CompanyPage) -> HttpResponse:
    """Show what the company owes."""
    return render_invoices(page, "payables", _("Payables"), _("What you owe vendors, by age and invoice."))


def render_invoices(page: CompanyPage, kind: InvoiceKind, title: str, lead: str) -> HttpResponse:
    state = get_chosen_state(page)
    today, missing_currency, aging = page.today, "", None
    try:
        aging = compute_aging(page.company, kind=kind, as_of=today, interval=DEFAULT_INTERVAL, rates=get_rate_table())
    except RateLookupError as error:
        missing_currency = error.currency
    rows, cursor = page.paginate(filter_invoices(page.company, kind=kind, as_of=today, state=state), order=ORDER)
    week = (today, today + timedelta(days=DUE_SOON_DAYS - 1))
    due_soon = filter_invoices(page.company, kind=kind, as_of=today, due=week)
    sees_counterparties = page.has_permission(Permission.COUNTERPARTIES_READ)
    return page.render(
        "planning/invoices/invoices.html",
        tab=kind,
        kind=kind,
        import_url=reverse(f"{kind}-import", args=[page.company.id]),
        csv_url=reverse(f"{kind}-csv", args=[page.company.id]),
        title=title,
        lead=lead,
        buckets=build_aging_rows(aging) if aging else [],
        total=aging.total.total if aging else None,
        currencies=aging.currencies if aging else set(),
        counterparties=aging.counterparties[:MAX_COUNTERPARTIES] if aging and sees_counterparties else [],
        bucket_labels=list_bucket_labels(),
        due_soon=build_invoice_standings(list(due_soon.order_by("due_date", "id")[:MAX_DUE_SOON]), as_of=today),
        rows=build_invoice_standings(rows, as_of=today),
        cursor=cursor,
        state=state or "",
        states=STATE_LABELS.items(),
        missing=missing_currency,
        today=page.today,
        undo_write_off=get_write_off_undo(page, return_page=kind),
        writes=page.has_permission(Permission.PLANNING_WRITE),
        uploads=page.has_permission(Permission.FILES_READ) and page.has_permission(Permission.FILES_WRITE),
        sees_transactions=page.has_permission(Permission.TRANSACTIONS_READ),
        sees_counterparties=sees_counterparties,
    )


def list_bucket_labels() -> list[str]:
    """Return the labels of the buckets: not due yet, 1–30 days, and so on."""
    labels = [_("Not due yet")]
    first = 1
    for last in DEFAULT_INTERVAL:
        labels.append(_("{first}–{last} days overdue").format(first=first, last=last))
        first = last + 1
    return [*labels, _("More than {days} days overdue").format(days=DEFAULT_INTERVAL[-1])]


def build_aging_rows(aging: Aging) -> list[dict[str, Any]]:
    """Return label, amount and share in percent of each bucket; credit notes count with their size."""
    amounts = [aging.total.current, *aging.total.buckets]
    total = sum(abs(amount) for amount in amounts)
    return [
        {"label": label, "amount": amount, "share": round(abs(amount) * 100 / total) if total else 0}
        for label, amount in zip(list_bucket_labels(), amounts, strict=True)
    ]


@company_page(reads=Permission.PLANNING_READ)
def download_invoices_page(page: CompanyPage, kind: InvoiceKind) -> Any:
    """Download the receivables or payables of today as CSV, with the status of the page."""
    rows = filter_invoices(page.company, kind=kind, as_of=page.today, state=get_chosen_state(page))
    return build_invoice_csv_response(rows, kind=kind, as_of=page.today, permissions=page.access.permissions)


def get_chosen_state(page: CompanyPage) -> SettlementState | None:
    """Return the state of the query; None for one that does not exist."""
    state: Any = page.request.GET.get("state", "")
    return state if state in STATE_LABELS else None
