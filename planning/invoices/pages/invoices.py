"""Pages of receivables and payables: aging, what is due this week, and the list of open invoices."""

from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from companies.pages.context import CompanyPage, company_page
from companies.pages.csv_files import get_page_csv_format
from companies.pages.forms import BoundForm, bind_body
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
from planning.invoices.serializers import InvoiceQuery
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


def render_invoices(page: CompanyPage, kind: InvoiceKind, title: str, intro: str) -> HttpResponse:
    state, form = get_chosen_state(page), parse_as_of_form(page)
    as_of: date = form.data["as_of"]
    missing_currency, aging = "", None
    try:
        aging = compute_aging(page.company, kind=kind, as_of=as_of, interval=DEFAULT_INTERVAL, rates=get_rate_table())
    except RateLookupError as error:
        missing_currency = error.currency
    rows, cursor = page.paginate(filter_invoices(page.company, kind=kind, as_of=as_of, state=state), order=ORDER)
    week = (as_of, as_of + timedelta(days=DUE_SOON_DAYS - 1))
    due_soon = filter_invoices(page.company, kind=kind, as_of=as_of, due=week)
    sees_counterparties = page.has_permission(Permission.COUNTERPARTIES_READ)
    is_today = as_of == page.today
    filters = ({"state": state} if state else {}) | ({} if is_today else {"asOf": as_of.isoformat()})
    return page.render(
        "planning/invoices/invoices.html",
        status=200 if form.is_valid else 400,
        tab=kind,
        kind=kind,
        import_url=reverse(f"{kind}-import", args=[page.company.id]),
        csv_url=reverse(f"{kind}-csv", args=[page.company.id]),
        title=title,
        lead=intro,
        buckets=build_aging_rows(aging) if aging else [],
        total=aging.total.total if aging else None,
        currencies=aging.currencies if aging else set(),
        counterparties=aging.counterparties[:MAX_COUNTERPARTIES] if aging and sees_counterparties else [],
        bucket_labels=list_bucket_labels(),
        due_soon=build_invoice_standings(list(due_soon.order_by("due_date", "id")[:MAX_DUE_SOON]), as_of=as_of),
        rows=build_invoice_standings(rows, as_of=as_of),
        cursor=cursor,
        state=state or "",
        states=STATE_LABELS.items(),
        form=form,
        as_of=as_of,
        is_today=is_today,
        filters=urlencode(filters),
        missing=missing_currency,
        today=page.today,
        undo_write_off=get_write_off_undo(page, return_page=kind),
        writes=page.has_permission(Permission.PLANNING_WRITE),
        settles=is_today and page.has_permission(Permission.PLANNING_WRITE),
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
    """Download the receivables or payables as CSV, with the day and status of the page."""
    form = parse_as_of_form(page)
    if not form.is_valid:  # the page shows the error
        return redirect(f"{reverse(kind, args=[page.company.id])}?{page.request.GET.urlencode()}")
    as_of = form.data["as_of"]
    rows = filter_invoices(page.company, kind=kind, as_of=as_of, state=get_chosen_state(page))
    return build_invoice_csv_response(
        rows, kind=kind, as_of=as_of, permissions=page.access.permissions, csv_format=get_page_csv_format()
    )


def parse_as_of_form(page: CompanyPage) -> BoundForm:
    """Return the form of the day of the query, as the API's asOf; today without one or with an error."""
    text = page.request.GET.get("asOf", "").strip()
    form = bind_body(InvoiceQuery, {"asOf": text} if text else {}, values={"asOf": text})
    form.data = {"as_of": form.data.get("as_of") or page.today}
    if not text:
        form.values = {"asOf": page.today.isoformat()}
    return form


def get_chosen_state(page: CompanyPage) -> SettlementState | None:
    """Return the state of the query; None for one that does not exist."""
    state: Any = page.request.GET.get("state", "")
    return state if state in STATE_LABELS else None
