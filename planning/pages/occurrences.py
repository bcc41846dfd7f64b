"""Single occurrences of a rule: skipped, moved, of another amount, and as the rule says again."""

import datetime as dt
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from companies.errors import Missing
from companies.pages.typed import Typed, typed
from companies.pages.unchanged import seen, unless_changed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.money import format_amount
from ledger.serializers.money import amount_in
from planning import overriding
from planning.calc.recurrence import is_occurrence
from planning.models import PlannedTransaction
from planning.pages.plan_form import direction_of, mistakes, signed
from planning.pages.plans import found
from planning.serializers import OccurrenceOverride, as_date

CHANGED_HERE = ("date", "amount_value", "skipped")


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def change(visit: Visit, planned_id: UUID, day: str) -> HttpResponse:
    """Moves an occurrence, or gives it another amount."""
    original = as_day(day)
    planned = found(visit, planned_id)
    if not is_occurrence(planned.recurrence_rule(), original):
        raise Http404
    if visit.request.method != "POST":
        return change_page(visit, planned, original, as_it_is(planned, original))
    form = read(visit.request.POST)
    if form.valid:
        with visit.change() as done:
            locked = found(visit, planned_id, locked=True)
            unless_changed(locked, visit.request.POST)
            patch = {**patch_of(locked, original, but=CHANGED_HERE), **differing(locked, original, form.data)}
            overriding.override(planned=locked, stamp=visit.stamp, original_date=original, patch=patch)
        if done.refusal is None:
            messages.success(visit.request, f"{planned.name} of {told(original)} was changed.")
            return redirect("planned-one", company_id=visit.company.id, planned_id=planned_id)
        form.refuse(done.refusal)
    return change_page(visit, planned, original, form)


def change_page(visit: Visit, planned: PlannedTransaction, original: dt.date, form: Typed) -> HttpResponse:
    return visit.show(
        "planning/occurrence.html",
        status=400 if form.errors else 200,
        tab="planned",
        planned=planned,
        original=original,
        form=form,
        seen=seen(planned),
        differs=original in planned.overrides,
    )


def as_it_is(planned: PlannedTransaction, original: dt.date) -> Typed:
    patch: Mapping[str, Any] = planned.overrides[original].patch() if original in planned.overrides else {}
    amount = format_amount(patch.get("amount_value", planned.amount_value), planned.amount_currency)
    return Typed(values={"date": patch.get("date", original).isoformat(), **direction_of(amount)})


def read(posted: Mapping[str, Any]) -> Typed:
    """The day and the amount that were typed."""
    direction, amount = posted.get("direction", ""), posted.get("amountValue", "").strip()
    texts = {"date": posted.get("date", ""), "amountValue": signed(direction, amount)}
    form = typed(OccurrenceOverride, texts, texts=("date", "amountValue"))
    form.values = {"date": posted.get("date", ""), "direction": direction, "amountValue": amount}
    form.errors |= mistakes(direction, amount)
    return form


def differing(planned: PlannedTransaction, original: dt.date, data: Mapping[str, Any]) -> dict[str, Any]:
    """Of what was typed, that which is not as the rule says anyway. Raises FieldErrors."""
    found = dict(data)
    if found.get("date") == original:
        del found["date"]
    text = found.get("amount_value")
    if text and amount_in(text, planned.amount_currency, pointer="#/amountValue") == planned.amount_value:
        del found["amount_value"]
    return found


def patch_of(planned: PlannedTransaction, original: dt.date, *, but: tuple[str, ...] = ()) -> dict[str, Any]:
    """What differs about an occurrence already, as it would be sent."""
    stored = planned.overrides.get(original)
    patch: dict[str, Any] = dict(stored.patch()) if stored else {}
    if "amount_value" in patch:
        patch["amount_value"] = format_amount(patch["amount_value"], planned.amount_currency)
    return {name: value for name, value in patch.items() if name not in but}


@company_page(writes=Permission.PLANNING_WRITE)
def skip(visit: Visit, planned_id: UUID, day: str) -> HttpResponse:
    """This one does not take place."""
    original = as_day(day)
    with visit.change() as done:
        planned = found(visit, planned_id, locked=True)
        patch = {**patch_of(planned, original), "skipped": True}
        overriding.override(planned=planned, stamp=visit.stamp, original_date=original, patch=patch)
    if done.refusal:
        messages.error(visit.request, done.refusal.detail)
    else:
        messages.success(visit.request, f"{planned.name} of {told(original)} is skipped.")
    return redirect("planned-one", company_id=visit.company.id, planned_id=planned_id)


@company_page(writes=Permission.PLANNING_WRITE)
def restore(visit: Visit, planned_id: UUID, day: str) -> HttpResponse:
    """The occurrence is as the rule says again."""
    original = as_day(day)
    with visit.change() as done:
        planned = found(visit, planned_id, locked=True)
        overriding.clear(planned=planned, stamp=visit.stamp, original_date=original)
    if isinstance(done.refusal, Missing):
        raise Http404
    if done.refusal:
        messages.error(visit.request, done.refusal.detail)
    else:
        messages.success(visit.request, f"{planned.name} of {told(original)} is as planned again.")
    return redirect("planned-one", company_id=visit.company.id, planned_id=planned_id)


def as_day(text: str) -> dt.date:
    """The date in the address. Raises Http404."""
    day = as_date(text)
    if day is None:
        raise Http404
    return day


def told(day: dt.date) -> str:
    return f"{day:%-d %b %Y}"
