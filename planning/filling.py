"""Filling in the plan: cells by themselves, rows by a rule, rows emptied; and the last such change taken back."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.changing import WHEN, Change, changing
from companies.errors import Conflict
from companies.models import AuditEntry, Company, Stamp
from ledger.calc.fx import MissingRate, RateTable
from ledger.calc.money import round_half_up
from ledger.calc.months import add_months, months_between, months_from
from ledger.models import Category
from ledger.recognition.posting import NoRate
from planning import budgeting
from planning.calc.filling import making
from planning.calc.plan import LARGEST
from planning.forecasting import Result, planned_in_base
from planning.models import PlanItem
from planning.references import Checks

ZERO = Decimal(0)
MADE_BEFORE = {"created_time", "created_user_id"}


class NothingToTakeBack(Conflict):
    """There is no such change of the plan by you."""

    code = "nothing_to_take_back"


class PlanChangedSince(Conflict):
    """The plan was changed there since: nothing was taken back."""

    code = "plan_changed_since"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the plan: what is planned for a category on a line of the statement."""

    pl_type: str
    category_id: UUID


@dataclass(frozen=True, slots=True)
class Cell:
    """What was typed for a row and a month, and what stood there when it was, both in the base currency.

    ``pointer`` is where its mistakes are told.
    """

    row: Row
    month: dt.date
    amount: Decimal
    was: Decimal
    pointer: str

    @property
    def key(self) -> Result:
        return self.month, self.row.pl_type, self.row.category_id


def fill_in(
    *,
    company: Company,
    stamp: Stamp,
    cells: Sequence[Cell],
    rates: RateTable,
    emptied: Sequence[Row] = (),
    months: Sequence[dt.date] = (),
) -> None:
    """Makes each cell come to what was typed, by an item of its month alone: what rules bring there stays, and the item
    makes up the difference. Rows are ``emptied`` in the months, which are consecutive, and in no other.

    All of it or nothing. Raises NoRate, and FieldErrors at the cells: for amounts that cannot be kept, rows that
    are not the company's, and what somebody else changed meanwhile.
    """
    with changing(company, stamp=stamp) as change:
        store(change, cells, rates)
        for row in emptied:
            clear(change, row, first=months[0], last=months[-1])
        store(change, left_in(company, emptied, months, rates) if emptied else [], rates)


def store(change: Change, cells: Sequence[Cell], rates: RateTable) -> None:
    company = change.company
    checks = Checks(company)
    check_rows(checks, cells)
    found = planned(company, cells, rates)
    alone = items_alone(company, cells)
    amounts = [needed(checks, cell, found, alone.get(cell.key)) for cell in cells]
    checks.pass_or_raise()
    for cell, amount in zip(cells, amounts, strict=True):
        keep(change, cell, alone.get(cell.key), amount)


def check_rows(checks: Checks, cells: Sequence[Cell]) -> None:
    """The categories must be the company's, and post to these lines."""
    wanted = {cell.row.category_id for cell in cells}
    known = {row.id: row for row in Category.objects.of(checks.company.id).filter(id__in=wanted)}
    for cell in cells:
        category = known.get(cell.row.category_id)
        if category is None:
            checks.wrong(cell.pointer, "unknown_id", _("There is no such category in this company."))
        elif cell.row.pl_type not in category.pl_types:
            told = _("{name} does not post to this line.").format(name=category.name)
            checks.wrong(cell.pointer, "pl_type_not_allowed", told)


def planned(company: Company, cells: Sequence[Cell], rates: RateTable) -> dict[Result, Decimal]:
    """What is planned in the months of the cells, as it is told. Raises NoRate."""
    if not cells:
        return {}
    months = months_from(min(cell.month for cell in cells), max(cell.month for cell in cells))
    try:
        return planned_in_base(company, months, rates)
    except MissingRate as missing:
        raise NoRate(_("There is no exchange rate for {currency}.").format(currency=missing.currency)) from None


def items_alone(company: Company, cells: Sequence[Cell]) -> dict[Result, PlanItem]:
    """The item of each cell's month alone, in the base currency; of several the first."""
    rows = PlanItem.objects.of(company.id).filter(
        frequency=0, amount_currency=company.base_currency, month__in={cell.month for cell in cells}
    )
    found: dict[Result, PlanItem] = {}
    for item in rows.order_by("id"):
        item.company = company
        found.setdefault((item.month, item.pl_type, item.category_id), item)
    return found


def needed(checks: Checks, cell: Cell, found: dict[Result, Decimal], alone: PlanItem | None) -> Decimal:
    """What the item of the cell's month alone must be."""
    base, now = checks.company.base_currency, found.get(cell.key, ZERO)
    if round_half_up(now, base) != cell.was:
        checks.wrong(cell.pointer, "concurrent_change", _("Somebody changed this meanwhile."))
    others = now - (alone.amount_value if alone else ZERO)
    amount = making(cell.amount, others=others, currency=base)
    if abs(amount) > LARGEST:
        checks.wrong(cell.pointer, "out_of_range", _("This is too far from what rules bring here."))
    return amount


def keep(change: Change, cell: Cell, item: PlanItem | None, amount: Decimal) -> None:
    if item is None:
        if amount:
            change.create(
                PlanItem(
                    company=change.company,
                    month=cell.month,
                    pl_type=cell.row.pl_type,
                    category_id=cell.row.category_id,
                    amount_type="fixed",
                    amount_value=amount,
                    amount_currency=change.company.base_currency,
                    frequency=0,
                ),
                "planItem.created",
            )
    elif amount:
        change.update(item, "planItem.updated", amount_value=amount)
    else:
        change.delete(item, "planItem.deleted")


def fill_by_rule(*, company: Company, stamp: Stamp, values: dict[str, Any], replaces: bool) -> PlanItem:
    """A new item; where it ``replaces``, nothing else is planned in its row from its month on. Raises FieldErrors."""
    with changing(company, stamp=stamp) as change:
        if replaces:
            empty(change, Row(values["pl_type"], values["category_id"]), first=values["month"])
        return budgeting.add(company=company, stamp=stamp, values=values)


def empty(change: Change, row: Row, *, first: dt.date) -> None:
    """From the month on nothing is planned in the row: what begins then goes, what began before ends before it."""
    items = PlanItem.objects.of(change.company.id).filter(pl_type=row.pl_type, category=row.category_id)
    for item in items.order_by("id"):
        item.company = change.company
        lived = months_between(item.month, first)
        if lived <= 0:
            change.delete(item, "planItem.deleted")
        elif item.frequency and (item.duration is None or item.duration > lived):
            change.update(item, "planItem.updated", duration=lived)


def clear(change: Change, row: Row, *, first: dt.date, last: dt.date) -> None:
    """Takes out of the months what is planned in the row alone or evenly; what begins before them ends before them,
    and goes on behind them as it was. What grows and reaches beyond them stays."""
    items = PlanItem.objects.of(change.company.id).filter(pl_type=row.pl_type, category=row.category_id)
    for item in items.filter(month__lte=last).order_by("id"):
        item.company = change.company
        end = end_of(item)
        lived = months_between(item.month, first)
        inside = lived <= 0 and end is not None and end <= last
        if (end is not None and end < first) or not (inside or item.amount_type == "fixed"):
            continue
        if not inside:
            resume(change, item, behind=last)
        if lived <= 0:
            change.delete(item, "planItem.deleted")
        else:
            change.update(item, "planItem.updated", duration=lived)


def end_of(item: PlanItem) -> dt.date | None:
    """The last month that an item may post in; None where it has no end."""
    if not item.frequency:
        return item.month
    room = months_between(item.month, dt.date.max)
    return None if item.duration is None or item.duration > room else add_months(item.month, item.duration - 1)


def resume(change: Change, item: PlanItem, *, behind: dt.date) -> None:
    """Another item that posts what this one does behind a month, where it posts there."""
    lived = (months_between(item.month, behind) // item.frequency + 1) * item.frequency
    if lived > months_between(item.month, dt.date.max) or (item.duration is not None and item.duration <= lived):
        return
    kept = {field.attname: field.value_from_object(item) for field in PlanItem._meta.concrete_fields}
    kept = {name: value for name, value in kept.items() if name not in WHEN | MADE_BEFORE | {"id", "company_id"}}
    kept["month"] = add_months(item.month, lived)
    kept["duration"] = None if item.duration is None else item.duration - lived
    change.create(PlanItem(company=change.company, **kept), "planItem.created")


def left_in(company: Company, rows: Sequence[Row], months: Sequence[dt.date], rates: RateTable) -> list[Cell]:
    """Cells that make nothing of what is still planned in the rows. Raises NoRate."""
    cells = [Cell(row, month, ZERO, ZERO, "#/") for row in rows for month in months]
    found = planned(company, cells, rates)
    return [
        replace(cell, was=round_half_up(found[cell.key], company.base_currency))
        for cell in cells
        if found.get(cell.key)
    ]


# ---------------------------------------------------------------------------------------------- taking back


def last_change(*, company: Company, actor: str | None) -> dt.datetime | None:
    """When somebody changed the plan last; None where they never did, or where it can no longer be taken back."""
    log = AuditEntry.objects.of(company.id).filter(actor=actor, entity_type="planItem")
    changed = log.order_by("-time").values_list("time", flat=True).first()
    if changed is None:
        return None
    entries = dict(log.filter(time=changed).order_by("id").values_list("entity_id", "after"))
    now = dict(PlanItem.objects.of(company.id).filter(id__in=entries).values_list("id", "last_updated_time"))
    found = {str(item_id): moment for item_id, moment in now.items()}
    kept = all(found.get(item_id) == (None if after is None else changed) for item_id, after in entries.items())
    return changed if kept else None


def take_back(*, company: Company, stamp: Stamp, changed: dt.datetime) -> None:
    """Takes back what its author changed of the plan at that moment, exactly that, by what the log says of it.

    Raises NothingToTakeBack, and PlanChangedSince where an item of it is another by now.
    """
    with changing(company, stamp=stamp) as change:
        log = AuditEntry.objects.of(company.id).filter(time=changed, actor=stamp.actor, entity_type="planItem")
        entries = list(log.order_by("-id"))
        if not entries:
            raise NothingToTakeBack
        for entry in entries:
            reverse(change, entry, changed=changed)


def reverse(change: Change, entry: AuditEntry, *, changed: dt.datetime) -> None:
    item = change.locked_or_none(PlanItem, entry.entity_id)
    if entry.after is None:
        if item is not None:
            raise PlanChangedSince
        change.create(PlanItem(company=change.company, **columns(entry.before)), "planItem.created")
        return
    if item is None or item.last_updated_time != changed:
        raise PlanChangedSince
    if entry.before is None:
        change.delete(item, "planItem.deleted")
    else:
        change.update(item, "planItem.updated", **columns(entry.before))


def columns(logged: dict[str, Any] | None) -> dict[str, Any]:
    """A row's columns from the log."""
    fields = {field.attname: field for field in PlanItem._meta.concrete_fields}
    return {
        name: fields[name].to_python(value) for name, value in (logged or {}).items() if name not in WHEN | MADE_BEFORE
    }
