"""The way back from one transaction: to its page, to the list as it was seen before, which the address tells, or to the
row of the inbox that comes next."""

import re
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from companies.pages.visits import Visit

LONGEST_QUERY = 2000  # as a saved view keeps them
SAID = "said"  # of an address: the transaction of which somebody has just said what it was for
A_ROW = re.compile(r"(?:t-|p-|o-)[0-9a-f-]{1,36}|done", re.ASCII)  # of the inbox, as its page names them


def list_before(visit: Visit, query: str, **more: str) -> str:
    """The list as it was seen before the page of one: ``query`` is what its address asked for."""
    return asked_before(visit, "transactions", query, **more)


def asked_before(visit: Visit, page: str, query: str, **more: str) -> str:
    """A list of the company by its page's name, asked as it was before."""
    asked = QueryDict(query.replace("\0", "")[:LONGEST_QUERY], mutable=True)
    asked.update(more)
    path = reverse(page, kwargs={"company_id": visit.company.id})
    return f"{path}?{asked.urlencode()}" if asked else path


def then(visit: Visit, page: str) -> str:
    """That list as the address of one of its rows tells it, in ``then``."""
    return asked_before(visit, page, visit.request.GET.get("then", ""))


def back_to(visit: Visit, page: str, said: str) -> HttpResponse:
    """Says what was done, on that list."""
    messages.success(visit.request, said)
    return redirect(then(visit, page))


def kept(visit: Visit, *names: str) -> str:
    """To stand behind an address below the list, so that it knows the way back too; ``names`` of what more is kept."""
    asked = {each: visit.request.GET.get(each, "").replace("\0", "")[:LONGEST_QUERY] for each in ("then", *names)}
    asked = {name: text for name, text in asked.items() if text}
    return f"?{urlencode(asked)}" if asked else ""


def ways(visit: Visit, transaction_id: UUID) -> dict[str, str]:
    """For the templates of forms about a transaction: ``own`` is its page, ``back`` the list before that, or the inbox
    that it was opened from."""
    own = reverse("transaction", kwargs={"company_id": visit.company.id, "transaction_id": transaction_id})
    if visit.request.GET.get("from") == "inbox":
        return {"own": own, "back": inbox_at(visit, f"t-{transaction_id}")}
    return {"own": f"{own}{kept(visit)}", "back": list_before(visit, visit.request.GET.get("then", ""))}


def inbox_at(visit: Visit, row: str | None, *, said_of: UUID | None = None, **undo: object) -> str:
    """The inbox, at one of its rows where one is named: that has the focus then, with JavaScript or without.

    ``said_of``, here and below: the transaction of which was just said what it was for. ``undo`` names what was done.
    """
    path = reverse("inbox", kwargs={"company_id": visit.company.id})
    asked = {name: value for name, value in {SAID: said_of, **undo}.items() if value}
    if asked:
        path += f"?{urlencode(asked)}"
    return f"{path}#{row}" if row and A_ROW.fullmatch(row) else path


def to_its_page(visit: Visit, transaction_id: UUID, said: str = "", *, said_of: UUID | None = None) -> HttpResponse:
    """Says what was done, if something was, on the transaction's page, or where that was opened from."""
    if said:
        messages.success(visit.request, said)
    if visit.request.GET.get("from") == "inbox":
        return redirect(inbox_at(visit, visit.request.GET.get("next"), said_of=said_of))
    own = ways(visit, transaction_id)["own"]
    if said_of:
        own += f"{'&' if '?' in own else '?'}{urlencode({SAID: said_of})}"
    return redirect(own)
