"""Pages: save the current list as a view, and delete a view."""

from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext

from companies.errors import ValidationFailed
from companies.pages.context import CompanyPage, company_page, get_signed_in_user
from companies.pages.forms import bind_form, parse_form_amounts
from companies.permissions import Permission
from ledger.models.saved_views import MAX_QUERY_LENGTH
from ledger.transactions.actions import saved_views
from ledger.transactions.pages.filter_chips import AMOUNT_FILTERS
from ledger.transactions.pages.transaction_list import VIEW_PARAMETERS, list_query_items, parse_list_query
from ledger.transactions.serializers import ViewSerializer


@company_page(writes=Permission.TRANSACTIONS_READ)
def save_view_page(page: CompanyPage) -> HttpResponse:
    """Save the filters and order of the list under a name; sharing requires write permission."""
    query = normalize_query_amounts(strip_view_parameters(page.request.POST.get("query", "")))
    form = bind_form(ViewSerializer, page.request.POST, texts=["name"], flags=["shared"])
    if form.is_valid:
        with page.handle_errors(form):
            check_saved_view(page, query, shared=form.data["shared"])
            user_id = get_signed_in_user(page.request).pk
            row = saved_views.save_view(
                company=page.company, context=page.audit_context, person_id=user_id, query=query, **form.data
            )
            messages.success(page.request, gettext("View “{name}” saved.").format(name=row.name))
    if not form.is_valid:
        messages.error(page.request, " ".join([gettext("View not saved."), *form.errors.values()]))
    return redirect(f"{reverse('transactions', args=[page.company.id])}?{query}")


def strip_view_parameters(text: str) -> str:
    """Return a query without parameters that only say where in the list the user is."""
    query = QueryDict(text, mutable=True)
    for name in (*VIEW_PARAMETERS, "total"):
        query.pop(name, None)
    return urlencode(list_query_items(query))


def normalize_query_amounts(text: str) -> str:
    """Return a query with amounts as the API writes them, because other users may type them in another format."""
    query = QueryDict(text, mutable=True)
    typed_amounts = {name: query.get(name, "") for name in AMOUNT_FILTERS}
    api_amounts, _ = parse_form_amounts(typed_amounts, AMOUNT_FILTERS, currency=query.get("currency", ""))
    for name, amount in api_amounts.items():
        is_ambiguous = len(amount.partition(".")[2]) == 3  # three decimals could be read as thousands
        query[name] = f"{amount}0" if is_ambiguous else amount
    return urlencode(list_query_items(query))


def check_saved_view(page: CompanyPage, query: str, *, shared: bool) -> None:
    """Check that the filters are valid and that the user may share views.

    Raises:
        ValidationFailed: `invalid_filter`, `permission_denied`.
    """
    if len(query) > MAX_QUERY_LENGTH or not parse_list_query(page, QueryDict(query)).form.is_valid:
        raise ValidationFailed([("#/query", "invalid_filter", gettext("Correct the filter first."))])
    if shared and not page.has_permission(Permission.TRANSACTIONS_WRITE):
        raise ValidationFailed(
            [("#/shared", "permission_denied", gettext("You do not have permission to share views."))]
        )


@company_page(writes=Permission.TRANSACTIONS_READ)
def delete_view_page(page: CompanyPage, view_id: UUID) -> HttpResponse:
    """Delete one of the user's own views."""
    with page.handle_errors():
        row = saved_views.delete_view(
            company=page.company,
            context=page.audit_context,
            person_id=get_signed_in_user(page.request).pk,
            view_id=view_id,
        )
        return page.redirect_with_message(gettext("View “{name}” deleted.").format(name=row.name), "transactions")
    return page.redirect("transactions")
