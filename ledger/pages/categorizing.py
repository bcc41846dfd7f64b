"""What is done with the ticked rows of the list, or with all that match its filters: the acts of the API."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect

from companies.amounts import counted
from companies.errors import FieldErrors
from companies.pages.typed import Typed
from companies.pages.visits import Visit
from companies.permissions import Permission
from ledger import booking, categorizing, uncategorizing
from ledger.calc.recognition import DateRule
from ledger.pages.changes import ledger_change, parsed, show_refusal
from ledger.pages.counterparties import counterparty_called
from ledger.pages.listing import asked, show_list
from ledger.pages.words import of_line
from ledger.serializers import transactions as shapes
from ledger.serializers.selections import MOST_IDS, SelectionShape, selected

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


def act(visit: Visit) -> HttpResponse:
    """Does what the pressed button says and shows the list again. Raises PermissionDenied."""
    if not visit.may(Permission.TRANSACTIONS_READ):
        raise PermissionDenied  # the answer is the list
    posted = visit.request.POST
    form = Typed(values={name: posted.get(name, "").strip() for name in TEXTS} | {"whole": "whole" in posted})
    ticked = frozenset(posted.getlist("id"))
    said = ""
    with ledger_change(visit) as change:
        said = ACTS.get(posted.get("act", ""), unknown)(visit, form, selection(visit, form))
    if change.refusal:
        show_refusal(form, change.refusal, fields=FIELDS)
        return show_list(visit, bulk=form, ticked=ticked)
    messages.success(visit.request, said)
    return redirect(visit.request.get_full_path())


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
        company=visit.company,
        rows=selected(visit, values["selection"]),
        stamp=visit.stamp,
        **shapes.choice_of(values),
    )
    return f"{counted(count, 'transaction')} categorized."


def date_rule(rule: str, start: str, end: str, *, invoice: str = "") -> dict[str, Any]:
    """``usingDateRule`` of what was typed; days that were left empty are not sent."""
    days = {"startDate": start, "endDate": end, "invoiceDate": invoice}
    return {"type": rule or DateRule.TRANSACTION_DATE.value} | {name: day for name, day in days.items() if day}


def uncategorize(visit: Visit, form: Typed, chosen: dict[str, Any]) -> str:
    """POST transactions/uncategorize."""
    values = parsed(shapes.UncategorizeRequest, {"selection": chosen})
    rows = selected(visit, values["selection"])
    done = uncategorizing.uncategorize(company=visit.company, rows=rows, stamp=visit.stamp)
    said = f"{counted(len(done.affected), 'transaction')} uncategorized."
    if done.counters_created:
        said += f" {counted(done.counters_created, 'other leg')} of transfers opened again."
    return said


def delete(visit: Visit, form: Typed, chosen: dict[str, Any]) -> str:
    """POST transactions/batch_delete, of the ids that were chosen."""
    rows = selected(visit, parsed(SelectionShape, chosen))
    ids = list(rows.order_by("id").values_list("id", flat=True)[: MOST_IDS + 1])
    if len(ids) > MOST_IDS:
        detail = f"At most {MOST_IDS:,} are deleted at once: narrow the filter."
        raise FieldErrors([("#/selection", "too_many_ids", detail)])
    count = booking.remove_many(company=visit.company, stamp=visit.stamp, ids=ids)
    return f"{counted(count, 'transaction')} deleted."


def unknown(visit: Visit, form: Typed, chosen: dict[str, Any]) -> str:
    raise FieldErrors([("#/selection", "required", "Say what to do with them.")])


ACTS: dict[str, Callable[[Visit, Typed, dict[str, Any]], str]] = {
    "categorize": categorize,
    "uncategorize": uncategorize,
    "delete": delete,
}
