"""Planned transactions: what comes next, and the rules that say so."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from companies.models import Currency
from companies.pages.typed import Typed
from companies.pages.unchanged import seen, unless_changed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.months import add_months, first_of_month
from ledger.pages.words import names_for
from ledger.rates import rate_table
from planning import scheduling
from planning.models import Frequency, PlannedTransaction, Source, with_overrides
from planning.occurring import next_of
from planning.pages import outlook, plan_form

MOST_SHOWN = 200  # occurrences on one page
A_YEAR = 12  # months that the page of one rule looks ahead
FREQUENCIES = {
    Frequency.DAY: "Every day",
    Frequency.WEEK: "Every week",
    Frequency.MONTH: "Every month",
    Frequency.YEAR: "Every year",
}


@company_page(reads=Permission.PLANNING_READ)
def coming(visit: Visit) -> HttpResponse:
    """What comes in the next months, and what that adds up to."""
    start, end = outlook.window(visit.today)
    accounts = visible_accounts(visit)
    found = outlook.coming_of_company(visit.company, start=start, end=end, accounts=accounts)
    months, missing = outlook.told_months(visit.company, today=visit.today, end=end, rates=rate_table())
    return visit.show(
        "planning/planned.html",
        tab="planned",
        coming=found[:MOST_SHOWN],
        more=max(len(found) - MOST_SHOWN, 0),
        end=end,
        months=months,
        under_way=first_of_month(visit.today),
        missing=missing,
        any=bool(found) or PlannedTransaction.objects.of(visit.company.id).exists(),
        writes=visit.may(Permission.PLANNING_WRITE),
    )


@company_page(reads=Permission.PLANNING_READ)
def rules(visit: Visit) -> HttpResponse:
    """The rules, the latest first, each with its next occurrence."""
    accounts = visible_accounts(visit)
    rows, cursor = visit.page_of(PlannedTransaction.objects.of(visit.company.id), order=("-id",))
    shown = [
        {
            "row": row,
            "next": next_of(row, today=visit.today),
            "words": outlook.in_words(row),
            "account": accounts.get(row.account_id, "") if row.account_id else "",
        }
        for row in with_overrides(rows)
    ]
    writes = visit.may(Permission.PLANNING_WRITE)
    return visit.show("planning/rules.html", tab="planned", rules=shown, cursor=cursor, writes=writes)


def visible_accounts(visit: Visit) -> dict[UUID, str]:
    """The names of the accounts, where the visitor may see them."""
    return outlook.account_names(visit.company) if visit.may(Permission.ACCOUNTS_READ) else {}


@company_page(reads=Permission.PLANNING_READ)
def one(visit: Visit, planned_id: UUID) -> HttpResponse:
    """A rule, what comes of it within a year, and what differs about single occurrences."""
    planned = found(visit, planned_id)
    known, accounts = names_for(visit), visible_accounts(visit)
    end = add_months(visit.today, A_YEAR)
    coming_rows = outlook.coming_of([planned], start=visit.today, end=end, accounts=accounts)
    return visit.show(
        "planning/rule.html",
        tab="planned",
        planned=planned,
        words=outlook.in_words(planned),
        account=known.account(planned.account_id) if planned.account_id else "",
        category=known.category(planned.category_id) if planned.category_id else "",
        counterparty=known.counterparty(planned.counterparty) if planned.counterparty else "",
        coming=coming_rows[:MOST_SHOWN],
        differing=list(planned.overrides.values()),
        writes=visit.may(Permission.PLANNING_WRITE),
    )


# ---------------------------------------------------------------------------------------------- new and changed


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def new(visit: Visit) -> HttpResponse:
    """Plans something."""
    if visit.request.method != "POST":
        return plan_page(visit, plan_form.blank(startDate=visit.today.isoformat(), frequency="month"))
    form = plan_form.read(visit.request.POST, planned=None, hidden=hidden(visit))
    if form.valid:
        with visit.change() as change:
            planned = scheduling.plan(company=visit.company, stamp=visit.stamp, source=Source.MANUAL, values=form.data)
        if change.refusal is None:
            messages.success(visit.request, f"{planned.name} was planned.")
            return redirect("planned-one", company_id=visit.company.id, planned_id=planned.id)
        plan_form.refuse(form, change.refusal)
    return plan_page(visit, form)


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def edit(visit: Visit, planned_id: UUID) -> HttpResponse:
    """Changes a rule. What differs about single occurrences stays."""
    planned = found(visit, planned_id)
    if visit.request.method != "POST":
        return plan_page(visit, plan_form.of_row(planned), planned=planned)
    form = plan_form.of_row(planned)
    with visit.change() as change:
        locked = found(visit, planned_id, locked=True)
        form = plan_form.read(visit.request.POST, planned=locked, hidden=hidden(visit))
        unless_changed(locked, visit.request.POST)
        if form.valid:
            scheduling.change(planned=locked, stamp=visit.stamp, values=form.data)
    if change.refusal:
        plan_form.refuse(form, change.refusal)
    if not form.valid:
        return plan_page(visit, form, planned=planned)
    messages.success(visit.request, f"{locked.name} was saved.")
    return redirect("planned-one", company_id=visit.company.id, planned_id=planned_id)


def hidden(visit: Visit) -> set[str]:
    """The fields that the form does not show to somebody who may not see what they name."""
    needed = {"accountId": Permission.ACCOUNTS_READ, "categoryId": Permission.CATEGORIES_READ}
    return {name for name, permission in needed.items() if not visit.may(permission)}


def plan_page(visit: Visit, form: Typed, *, planned: PlannedTransaction | None = None) -> HttpResponse:
    return visit.show(
        "planning/plan_form.html",
        status=400 if form.errors else 200,
        tab="planned",
        form=form,
        planned=planned,
        seen=seen(planned) if planned else "",
        hidden=hidden(visit),
        accounts=[(str(key), name) for key, name in visible_accounts(visit).items()],
        categories=names_for(visit).category_choices(),
        currencies=Currency.values,
        frequencies=FREQUENCIES,
    )


@company_page(writes=Permission.PLANNING_WRITE)
def delete(visit: Visit, planned_id: UUID) -> HttpResponse:
    """It is expected no longer."""
    with visit.change() as change:
        planned = found(visit, planned_id, locked=True)
        scheduling.remove(planned=planned, stamp=visit.stamp)
    if change.refusal:
        messages.error(visit.request, change.refusal.detail)
    else:
        messages.success(visit.request, f"{planned.name} is planned no longer.")
    return redirect("planned", company_id=visit.company.id)


def found(visit: Visit, planned_id: UUID, *, locked: bool = False) -> PlannedTransaction:
    """The planned transaction of the address, with its overrides. Raises Http404."""
    rows: Any = PlannedTransaction.objects.of(visit.company.id).with_counterparty()
    rows = rows.select_for_update(of=("self",)) if locked else rows
    row = rows.filter(id=planned_id).first()
    if row is None:
        raise Http404
    row.company = visit.company
    return with_overrides([row])[0]
