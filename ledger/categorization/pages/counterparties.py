"""Pages of counterparties: search, create, edit, merge and delete."""

from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.errors import ValidationFailed
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm, bind_body, parse_integer
from companies.permissions import Permission
from ledger.categorization.actions import counterparties
from ledger.categorization.queries.usage import list_usage_texts
from ledger.categorization.serializers.categories import CounterpartySerializer
from ledger.models import Counterparty, CounterpartyType
from ledger.transactions.pages.counterparty_lookup import get_counterparty_by_name, list_counterparty_suggestions
from ledger.transactions.pages.labels import to_choices
from ledger.transactions.pages.return_urls import build_return_query, get_return_url, redirect_to_list

READ, WRITE = Permission.COUNTERPARTIES_READ, Permission.COUNTERPARTIES_WRITE
TEXT_FIELDS = ("name", "type", "externalId", "paymentTerms")
SECTION = "counterparties"
MAX_SEARCH_LENGTH = 200
COUNTERPARTY_TYPE_LABELS: dict[CounterpartyType, Any] = {
    CounterpartyType.CUSTOMER: gettext_lazy("Customer"),
    CounterpartyType.VENDOR: gettext_lazy("Vendor"),
    CounterpartyType.EMPLOYEE: gettext_lazy("Employee"),
    CounterpartyType.OWNER: gettext_lazy("Owner"),
    CounterpartyType.AUTHORITY: gettext_lazy("Authority"),
    CounterpartyType.OTHER: gettext_lazy("Other"),
}


@company_page(reads=READ)
def show_counterparties(page: CompanyPage) -> HttpResponse:
    """Show counterparties by name with their number of transactions, filtered by text and type."""
    query = page.request.GET
    text = query.get("q", "").replace("\0", "").strip()[:MAX_SEARCH_LENGTH]
    type_filter = query.get("type", "") if query.get("type", "") in CounterpartyType.values else ""
    rows = Counterparty.objects.for_company(page.company.id)
    if text:
        rows = rows.filter(Q(name__icontains=text) | Q(external_id__icontains=text))
    if type_filter:
        rows = rows.filter(type=type_filter)
    page_rows, cursor = page.paginate(rows.with_transaction_counts(page.company.id), order=("name", "id"))
    query_without_cursor = query.copy()
    query_without_cursor.pop("cursor", None)
    return page.render(
        "ledger/categorization/counterparties.html",
        section=SECTION,
        rows=[{"row": row, "type": str(COUNTERPARTY_TYPE_LABELS[CounterpartyType(row.type)])} for row in page_rows],
        cursor=cursor,
        query=query_without_cursor.urlencode(),
        asked=query.urlencode(),
        q=text,
        type=type_filter,
        types=to_choices(COUNTERPARTY_TYPE_LABELS),
        finds=page.has_permission(Permission.TRANSACTIONS_READ),
        writes=page.has_permission(WRITE),
    )


@company_page(reads=WRITE, writes=WRITE)
def create_counterparty_page(page: CompanyPage) -> HttpResponse:
    """Create a counterparty."""
    if not page.is_post:
        return render_counterparty_form(
            page,
            BoundForm(values={"name": "", "type": CounterpartyType.VENDOR.value, "externalId": "", "paymentTerms": ""}),
        )
    form = bind_counterparty_form(page)
    if form.is_valid:
        with page.handle_errors(form):
            row = counterparties.create_counterparty(company=page.company, context=page.audit_context, values=form.data)
            return page.redirect_with_message(_("{name} added.").format(name=row.name), "counterparties")
    return render_counterparty_form(page, form)


@company_page(reads=WRITE, writes=WRITE)
def edit_counterparty_page(page: CompanyPage, counterparty_id: UUID) -> HttpResponse:
    """Edit a counterparty."""
    row = get_counterparty_or_404(page, counterparty_id)
    if not page.is_post:
        terms = "" if row.payment_terms is None else str(row.payment_terms)
        values = {"name": row.name, "type": row.type, "externalId": row.external_id or "", "paymentTerms": terms}
        return render_counterparty_form(page, BoundForm(values=values), row=row)
    form = bind_counterparty_form(page)
    if form.is_valid:
        with page.handle_errors(form):
            row = counterparties.update_counterparty(
                company=page.company, context=page.audit_context, counterparty_id=counterparty_id, values=form.data
            )
            return redirect_to_list(page, "counterparties", _("{name} saved.").format(name=row.name))
    return render_counterparty_form(page, form, row=row)


def bind_counterparty_form(page: CompanyPage) -> BoundForm:
    """Bind the posted form; an empty external id and empty payment terms are none."""
    values = {name: page.request.POST.get(name, "").strip() for name in TEXT_FIELDS}
    terms = values["paymentTerms"]
    body = {
        **values,
        "externalId": values["externalId"] or None,
        "paymentTerms": parse_integer(terms) if terms else None,
    }
    return bind_body(CounterpartySerializer, body, values=values)


def render_counterparty_form(page: CompanyPage, form: BoundForm, *, row: Counterparty | None = None) -> HttpResponse:
    """Render the form of a counterparty."""
    return page.render(
        "ledger/categorization/counterparty_form.html",
        status=400 if form.errors else 200,
        section=SECTION,
        form=form,
        row=row,
        back=get_return_url(page, "counterparties"),
        kept=build_return_query(page),
        seen=page.get_seen_version(row) if row else "",
        types=to_choices(COUNTERPARTY_TYPE_LABELS),
        uses=list_counterparty_usage_texts(page, row) if row else [],
    )


@company_page(reads=WRITE, writes=WRITE)
def merge_counterparty_page(page: CompanyPage, counterparty_id: UUID) -> HttpResponse:
    """Merge this counterparty into another one and delete it."""
    row = get_counterparty_or_404(page, counterparty_id)
    form = BoundForm(values={"into": page.request.POST.get("into", "").strip()})
    if page.is_post:
        with page.handle_errors(form):
            target = submit_counterparty_merge(page, row, form.values["into"])
            return redirect_to_list(
                page, "counterparties", _("{name} was merged into {other}.").format(name=row.name, other=target.name)
            )
    return page.render(
        "ledger/categorization/counterparty_merge.html",
        status=400 if form.errors else 200,
        section=SECTION,
        form=form,
        row=row,
        back=get_return_url(page, "counterparties"),
        kept=build_return_query(page),
        seen=page.get_seen_version(row),
        uses=list_counterparty_usage_texts(page, row),
        names=list_counterparty_suggestions(page),
    )


def submit_counterparty_merge(page: CompanyPage, row: Counterparty, name: str) -> Counterparty:
    """Merge and return the counterparty that is kept. Raises ValidationFailed for an unknown name or its own."""
    if not name:
        raise ValidationFailed([("#/into", "required", _("Choose the counterparty to merge into."))])
    target = get_counterparty_by_name(page, name, pointer="#/into")
    if target.id == row.id:
        raise ValidationFailed([("#/into", "unknown_id", _("Choose a different counterparty."))])
    return counterparties.merge_counterparties(
        company=page.company, context=page.audit_context, counterparty_id=row.id, into=target.id
    )


@company_page(writes=WRITE)
def delete_counterparty_page(page: CompanyPage, counterparty_id: UUID) -> HttpResponse:
    """Delete a counterparty that nothing refers to."""
    row = get_counterparty_or_404(page, counterparty_id)
    with page.handle_errors():
        counterparties.delete_counterparty(
            company=page.company, context=page.audit_context, counterparty_id=counterparty_id
        )
        return redirect_to_list(page, "counterparties", _("{name} deleted.").format(name=row.name))
    path = reverse("counterparty", kwargs={"company_id": page.company.id, "counterparty_id": counterparty_id})
    return redirect(path + build_return_query(page))


def list_counterparty_usage_texts(page: CompanyPage, row: Counterparty) -> list[str]:
    """Return where the counterparty is used, as texts."""
    return list_usage_texts("counterparty", company_id=page.company.id, row_id=row.id)


def get_counterparty_or_404(page: CompanyPage, counterparty_id: UUID) -> Counterparty:
    """Return the counterparty of the URL. Raises Http404."""
    return get_object_or_404(Counterparty.objects.for_company(page.company.id), id=counterparty_id)
