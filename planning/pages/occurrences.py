"""Single occurrences of a rule: settled, skipped, moved, of another amount, and as the rule says again."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from companies.locales import current
from companies.pages.typed import Typed, read_amounts, typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.money import format_amount
from ledger.money.amounts import amount_in
from ledger.transactions.pages.ways import inbox_at
from ledger.transactions.pages.words import names_for
from planning import overriding
from planning.calc.recurrence import is_occurrence
from planning.matching import candidates
from planning.models import PlannedTransaction
from planning.occurring import occurrence_of
from planning.pages.plan_form import direction_of, mistakes, signed
from planning.pages.plans import found, hidden, visible_accounts
from planning.serializers import OccurrenceOverride, as_date

BESIDES = {"name": "name", "accountId": "account_id", "categoryId": "category_id"}
STOOD_ON = {"plan": "planned", "inbox": "inbox"}  # other pages that have the buttons


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def change(visit: Visit, planned_id: UUID, day: str) -> HttpResponse:
    """Moves an occurrence, or gives it another amount, name, account or category."""
    original = as_day(day)
    planned = found(visit, planned_id)
    if not is_occurrence(planned.recurrence_rule(), original):
        raise Http404
    if visit.request.method != "POST":
        return change_page(visit, planned, original, as_it_is(planned, original))
    form = read(visit.request.POST, currency=planned.amount_currency, hidden=hidden(visit))
    if form.valid:
        with visit.sending(form):
            patch = {"skipped": None, **differing(planned, original, form.data)}
            overriding.override(
                company=visit.company, stamp=visit.stamp, planned_id=planned_id, original_date=original, patch=patch
            )
            said = of_day(_("{name} of {day} was changed."), planned, original)
            return visit.done(said, "planned-one", planned_id=planned_id)
    return change_page(visit, planned, original, form)


def change_page(visit: Visit, planned: PlannedTransaction, original: dt.date, form: Typed) -> HttpResponse:
    return visit.show(
        "planning/occurrence.html",
        status=400 if form.errors else 200,
        tab="planned",
        planned=planned,
        original=original,
        form=form,
        seen=visit.seen(planned),
        differs=original in planned.overrides,
        hidden=hidden(visit),
        accounts=[(str(key), name) for key, name in visible_accounts(visit).items()],
        categories=names_for(visit).category_choices(),
    )


def as_it_is(planned: PlannedTransaction, original: dt.date) -> Typed:
    patch: Mapping[str, Any] = planned.overrides[original].patch() if original in planned.overrides else {}
    amount = format_amount(patch.get("amount_value", planned.amount_value), planned.amount_currency)
    named = {at: str(patch.get(column) or getattr(planned, column) or "") for at, column in BESIDES.items()}
    return Typed(values={"date": patch.get("date", original).isoformat(), **direction_of(amount), **named})


def read(posted: Mapping[str, Any], *, currency: str, hidden: set[str]) -> Typed:
    """The day, the amount and what else was typed; what the form does not show stays as it is."""
    besides = [name for name in BESIDES if name in posted and name not in hidden]
    direction, amount = posted.get("direction", ""), posted.get("amountValue", "").strip()
    read, wrong = read_amounts({"amountValue": amount}, ["amountValue"], currency=currency)
    texts = {"date": posted.get("date", ""), "amountValue": signed(direction, read.get("amountValue", amount))}
    texts |= {name: posted[name].strip() for name in besides}
    form = typed(OccurrenceOverride, texts, texts=("date", "amountValue", *besides))
    form.values = {**form.values, "date": posted.get("date", ""), "direction": direction, "amountValue": amount}
    form.errors |= wrong | mistakes(direction, read.get("amountValue", ""))
    return form


def differing(planned: PlannedTransaction, original: dt.date, data: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed; None where it is as the rule says anyway. Raises FieldErrors."""
    found = dict(data)
    if found.get("date") == original:
        found["date"] = None
    text = found.get("amount_value")
    if text and amount_in(text, planned.amount_currency, pointer="#/amountValue") == planned.amount_value:
        found["amount_value"] = None
    for column in BESIDES.values():
        if found.get(column) == getattr(planned, column):
            found[column] = None
    return found


@company_page(writes=Permission.PLANNING_WRITE)
def skip(visit: Visit, planned_id: UUID, day: str) -> HttpResponse:
    """This one does not take place."""
    original = as_day(day)
    with visit.sending():
        planned = overriding.override(
            company=visit.company,
            stamp=visit.stamp,
            planned_id=planned_id,
            original_date=original,
            patch={"skipped": True},
        )
        return done(visit, planned, of_day(_("{name} of {day} is skipped."), planned, original))
    return visit.to("planned-one", planned_id=planned_id)


@company_page(writes=Permission.PLANNING_WRITE)
def restore(visit: Visit, planned_id: UUID, day: str) -> HttpResponse:
    """The occurrence is as the rule says again."""
    original = as_day(day)
    with visit.sending():
        planned = overriding.clear(
            company=visit.company, stamp=visit.stamp, planned_id=planned_id, original_date=original
        )
        return done(visit, planned, of_day(_("{name} of {day} is as planned again."), planned, original))
    return visit.to("planned-one", planned_id=planned_id)


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def settle(visit: Visit, planned_id: UUID, day: str) -> HttpResponse:
    """Chooses the transaction that was expected."""
    original = as_day(day)
    if visit.sent:
        with visit.sending():
            planned = overriding.settle(
                company=visit.company,
                stamp=visit.stamp,
                planned_id=planned_id,
                original_date=original,
                transaction_id=visit.request.POST.get("transactionId", ""),
            )
            said = of_day(_("{name} of {day} is settled."), planned, original)
            return done(visit, planned, said, settled=f"{planned.id}.{original}")
        return visit.to("planned-one", planned_id=planned_id)
    planned = found(visit, planned_id)
    if not is_occurrence(planned.recurrence_rule(), original):
        raise Http404
    awaited = occurrence_of(planned, original)
    sees = visit.may(Permission.TRANSACTIONS_READ)
    names = names_for(visit)
    rows = candidates(planned=planned, awaited=awaited) if sees else []
    return visit.show(
        "planning/settle.html",
        tab="planned",
        planned=planned,
        original=original,
        awaited=awaited,
        amount=Decimal(awaited.amount_value),
        rows=[(row, names.account(row.account_id)) for row in rows],
    )


@company_page(writes=Permission.PLANNING_WRITE)
def unsettle(visit: Visit, planned_id: UUID, day: str) -> HttpResponse:
    """It is expected again."""
    original = as_day(day)
    with visit.sending():
        planned = overriding.unsettle(
            company=visit.company, stamp=visit.stamp, planned_id=planned_id, original_date=original
        )
        return done(visit, planned, of_day(_("{name} of {day} is expected again."), planned, original))
    return visit.to("planned-one", planned_id=planned_id)


def done(visit: Visit, planned: PlannedTransaction, said: str, *, settled: str = "") -> HttpResponse:
    """Back to the page on which the button stood: the cash plan, the inbox or the rule's own.

    ``settled`` names the occurrence that was just settled; the inbox takes that back.
    """
    page = STOOD_ON.get(visit.request.POST.get("from", ""))
    if page == "inbox":
        messages.success(visit.request, said)
        return redirect(inbox_at(visit, visit.request.POST.get("next"), settled=settled))
    if page:
        return visit.done(said, page)
    return visit.done(said, "planned-one", planned_id=planned.id)


def of_day(text: str, planned: PlannedTransaction, original: dt.date) -> str:
    """A sentence about an occurrence."""
    return text.format(name=planned.name, day=told(original))


def as_day(text: str) -> dt.date:
    """The date in the address. Raises Http404."""
    day = as_date(text)
    if day is None:
        raise Http404
    return day


def told(day: dt.date) -> str:
    return current().day_of(day)
