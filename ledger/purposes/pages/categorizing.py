"""The list of transactions, and what is done with its ticked rows or with all that match: the acts of the API."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect

from companies.errors import FieldErrors
from companies.pages.amounts import counted
from companies.pages.typed import Typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.recognition import DateRule
from ledger.purposes import categorizing, shapes, uncategorizing
from ledger.transactions import booking
from ledger.transactions.pages.counterparties import counterparty_called
from ledger.transactions.pages.listing import asked, show_list
from ledger.transactions.pages.words import of_line
from ledger.transactions.selections import MOST_IDS, selected
from ledger.transactions.shapes import SelectionShape

TEXTS = ("category", "counterparty", "rule", "ruleStart", "ruleEnd")
FIELDS = {  # where the page shows what is wrong with a field of the body
    "categoryId": "category",
    "plType": "category",
    "counterparty": "counterparty",
    "usingDateRule": "rule",
    "usingDateRule/startDate": "ruleStart",
    "usingDateRule/endDate": "ruleEnd",
    "selection": "selection",
}


@company_page(reads=Permission.TRANSACTIONS_READ, writes=Permission.TRANSACTIONS_WRITE)
def transactions(visit: Visit) -> HttpResponse:
    """The list with its filters; its form does something with rows of it. Raises PermissionDenied."""
    if not visit.sent:
        return show_list(visit)
    if not visit.may(Permission.TRANSACTIONS_READ):
        raise PermissionDenied  # the answer is the list
    posted = visit.request.POST
    values = {name: posted.get(name, "").strip() for name in TEXTS} | {"whole": "whole" in posted}
    form = Typed(values=values, fields=FIELDS)
    with visit.sending(form):
        said = ACTS.get(posted.get("act", ""), unknown)(visit, form, selection(visit, form))
        messages.success(visit.request, said)
        return redirect(visit.request.get_full_path())
    return show_list(visit, bulk=form, ticked=frozenset(posted.getlist("id")))


def selection(visit: Visit, form: Typed) -> dict[str, Any]:
    """The body's selection: the rows that were ticked, or what the address asks for. Raises FieldErrors."""
    if form.values["whole"]:
        wanted = asked(visit)
        if not wanted.form.valid:  # without the filter that is wrong, others would match
            raise FieldErrors([("#/selection", "invalid_filter", "Mend the filter first.")])
        return wanted.selection()
    ids = visit.request.POST.getlist("id")
    if not ids:
        raise FieldErrors([("#/selection", "required", "Tick transactions first, or all that match.")])
    return {"mode": "ids", "ids": ids}


def parsed(shape: Any, body: Any) -> dict[str, Any]:
    """A body through a shape of the API. Raises ValidationError."""
    serializer = shape(data=body)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def categorize(visit: Visit, form: Typed, chosen: dict[str, Any]) -> str:
    """POST transactions/categorize."""
    if not form.values["category"]:
        raise FieldErrors([("#/categoryId", "required", "Choose a category.")])
    category_id, line = of_line(form.values["category"])
    body: dict[str, Any] = {"selection": chosen, "categoryId": category_id, "plType": line}
    if name := form.values["counterparty"]:
        body["counterparty"] = {"id": str(counterparty_called(visit, name).id)}
    body["usingDateRule"] = date_rule(form.values["rule"], form.values["ruleStart"], form.values["ruleEnd"])
    values = parsed(shapes.CategorizeRequest, body)
    count = categorizing.categorize(
        company=visit.company, stamp=visit.stamp, selection=values["selection"], **shapes.choice_of(values)
    )
    return f"{counted(count, 'transaction')} categorized."


def date_rule(rule: str, start: str, end: str, *, invoice: str = "") -> dict[str, Any]:
    """``usingDateRule`` of what was typed; days that were left empty are not sent."""
    days = {"startDate": start, "endDate": end, "invoiceDate": invoice}
    return {"type": rule or DateRule.TRANSACTION_DATE.value} | {name: day for name, day in days.items() if day}


def uncategorize(visit: Visit, form: Typed, chosen: dict[str, Any]) -> str:
    """POST transactions/uncategorize."""
    values = parsed(shapes.UncategorizeRequest, {"selection": chosen})
    done = uncategorizing.uncategorize(company=visit.company, stamp=visit.stamp, selection=values["selection"])
    said = f"{counted(len(done.affected), 'transaction')} uncategorized."
    if done.counters_created:
        said += f" {counted(done.counters_created, 'other leg')} of transfers opened again."
    return said


def delete(visit: Visit, form: Typed, chosen: dict[str, Any]) -> str:
    """POST transactions/batch_delete, of the ids that were chosen."""
    rows = selected(visit.company, parsed(SelectionShape, chosen))
    ids = list(rows.order_by("id").values_list("id", flat=True)[: MOST_IDS + 1])
    if len(ids) > MOST_IDS:
        detail = f"At most {MOST_IDS:,} are deleted at once: narrow the filter."
        raise FieldErrors([("#/selection", "too_many_ids", detail)])
    count = booking.remove_many(company=visit.company, stamp=visit.stamp, ids={str(each): each for each in ids})
    return f"{counted(count, 'transaction')} deleted."


def unknown(visit: Visit, form: Typed, chosen: dict[str, Any]) -> str:
    raise FieldErrors([("#/selection", "required", "Say what to do with them.")])


ACTS: dict[str, Callable[[Visit, Typed, dict[str, Any]], str]] = {
    "categorize": categorize,
    "uncategorize": uncategorize,
    "delete": delete,
}
