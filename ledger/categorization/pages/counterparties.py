"""Pages of counterparties: search, create, edit, merge and delete."""

from functools import reduce
from operator import or_
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
from companies.pages.forms import BoundForm
from companies.pages.row_pages import RowPages
from companies.permissions import Permission
from ledger.categorization.actions import counterparties
from ledger.categorization.fields import COUNTERPARTY_TEXTS
from ledger.categorization.queries.usage import list_usage_texts
from ledger.categorization.serializers.categories import CounterpartySerializer
from ledger.models import Counterparty, CounterpartyType
from ledger.transactions.pages.counterparty_lookup import get_counterparty_by_name, list_counterparty_suggestions
from ledger.transactions.pages.labels import to_choices
from ledger.transactions.pages.return_urls import build_return_query, get_return_url, redirect_to_list

READ, WRITE = Permission.COUNTERPARTIES_READ, Permission.COUNTERPARTIES_WRITE
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
        rows = rows.filter(build_search_filter(text))
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
        list_query=query.urlencode(),
        q=text,
        type=type_filter,
        file_texts=[text for text in COUNTERPARTY_TEXTS if text.column != "external_id"],
        types=to_choices(COUNTERPARTY_TYPE_LABELS),
        finds=page.has_permission(Permission.TRANSACTIONS_READ),
        writes=page.has_permission(WRITE),
    )


def build_search_filter(query: str) -> Q:
    """Return the filter of counterparties that have the query in their name or another text."""
    columns = ("name", *(text.column for text in COUNTERPARTY_TEXTS))
    return reduce(or_, (Q(**{f"{column}__icontains": query}) for column in columns))


class CounterpartyPages(RowPages[Counterparty]):
    """The pages of a counterparty, which return to the list as it was filtered."""

    model, permission = Counterparty, WRITE
    place, list_url = {"section": SECTION}, "counterparties"
    create_action, update_action = counterparties.create_counterparty, counterparties.update_counterparty
    delete_action, id_argument = counterparties.delete_counterparty, "counterparty_id"
    template, new_title = "ledger/categorization/counterparty_form.html", gettext_lazy("New counterparty")
    serializer = CounterpartySerializer
    texts = ("name", "type", "paymentTerms", *(text.name for text in COUNTERPARTY_TEXTS))
    integers = ("paymentTerms",)

    def build_initial_values(self, page: CompanyPage) -> dict[str, Any]:
        return dict.fromkeys(self.texts, "") | {"type": CounterpartyType.VENDOR.value}

    def build_row_values(self, row: Counterparty) -> dict[str, Any]:
        terms = "" if row.payment_terms is None else str(row.payment_terms)
        return {**CounterpartySerializer(row).data, "paymentTerms": terms}

    def build_context(self, page: CompanyPage, form: BoundForm, row: Counterparty | None) -> dict[str, Any]:
        return {
            "back": get_return_url(page, "counterparties"),
            "kept": build_return_query(page),
            "types": to_choices(COUNTERPARTY_TYPE_LABELS),
            "texts": COUNTERPARTY_TEXTS,
            "uses": list_counterparty_usage_texts(page, row) if row else [],
        }

    def redirect_to_row(self, page: CompanyPage, row: Counterparty, message: str) -> HttpResponse:
        return redirect_to_list(page, "counterparties", message)

    def redirect_after_deletion(self, page: CompanyPage, message: str) -> HttpResponse:
        return redirect_to_list(page, "counterparties", message)

    def redirect_to_undeleted_row(self, page: CompanyPage, row: Counterparty) -> HttpResponse:
        path = reverse("counterparty", kwargs={"company_id": page.company.id, "counterparty_id": row.id})
        return redirect(path + build_return_query(page))


create_counterparty_page, edit_counterparty_page = CounterpartyPages().build_form_views()
delete_counterparty_page = CounterpartyPages().build_delete_view()


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


def list_counterparty_usage_texts(page: CompanyPage, row: Counterparty) -> list[str]:
    """Return where the counterparty is used, as texts."""
    return list_usage_texts("counterparty", company_id=page.company.id, row_id=row.id)


def get_counterparty_or_404(page: CompanyPage, counterparty_id: UUID) -> Counterparty:
    """Return the counterparty of the URL. Raises Http404."""
    return get_object_or_404(Counterparty.objects.for_company(page.company.id), id=counterparty_id)
