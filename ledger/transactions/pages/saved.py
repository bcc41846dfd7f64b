"""The visitor's views of the list: kept from what its address asks for, and forgotten again."""

from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext

from companies.errors import FieldErrors
from companies.pages.typed import read_amounts, typed
from companies.pages.visits import Visit, company_page, person
from companies.permissions import Permission
from ledger.models.saved import MOST_QUERY
from ledger.transactions import saved
from ledger.transactions.pages.chips import AMOUNTS
from ledger.transactions.pages.listing import BESIDE, asked, query_items
from ledger.transactions.shapes import ViewShape


@company_page(writes=Permission.TRANSACTIONS_READ)
def save(visit: Visit) -> HttpResponse:
    """Keeps the filters and the order of the list under a name; sharing takes the permission to write."""
    query = for_everybody(known_part(visit.request.POST.get("query", "")))
    form = typed(ViewShape, visit.request.POST, texts=["name"], flags=["shared"])
    if form.valid:
        with visit.sending(form):
            check(visit, query, shared=form.data["shared"])
            who = person(visit.request).pk
            row = saved.save_view(company=visit.company, stamp=visit.stamp, person_id=who, query=query, **form.data)
            messages.success(visit.request, gettext("The view {name} was kept.").format(name=row.name))
    if not form.valid:
        messages.error(visit.request, " ".join([gettext("The view was not kept."), *form.errors.values()]))
    return redirect(f"{reverse('transactions', args=[visit.company.id])}?{query}")


def known_part(text: str) -> str:
    """A query without what says only where on the list one is."""
    query = QueryDict(text, mutable=True)
    for name in (*BESIDE, "total"):
        query.pop(name, None)
    return urlencode(query_items(query))


def for_everybody(text: str) -> str:
    """A query with amounts as the API writes them: who opens the view later may write them another way."""
    query = QueryDict(text, mutable=True)
    typed = {name: query.get(name, "") for name in AMOUNTS}
    read, _ = read_amounts(typed, AMOUNTS, currency=query.get("currency", ""))
    for name, amount in read.items():
        thousandths = len(amount.partition(".")[2]) == 3  # which could be read as thousands
        query[name] = f"{amount}0" if thousandths else amount
    return urlencode(query_items(query))


def check(visit: Visit, query: str, *, shared: bool) -> None:
    """Raises FieldErrors for a filter that cannot be read, and for sharing without the permission to write."""
    if len(query) > MOST_QUERY or not asked(visit, QueryDict(query)).form.valid:
        raise FieldErrors([("#/query", "invalid_filter", gettext("Mend the filter first."))])
    if shared and not visit.may(Permission.TRANSACTIONS_WRITE):
        raise FieldErrors([("#/shared", "permission_denied", gettext("Your role does not share views."))])


@company_page(writes=Permission.TRANSACTIONS_READ)
def forget(visit: Visit, view_id: UUID) -> HttpResponse:
    """Forgets one of the visitor's own."""
    with visit.sending():
        row = saved.delete_view(
            company=visit.company, stamp=visit.stamp, person_id=person(visit.request).pk, view_id=view_id
        )
        return visit.done(gettext("The view {name} was forgotten.").format(name=row.name), "transactions")
    return visit.to("transactions")
