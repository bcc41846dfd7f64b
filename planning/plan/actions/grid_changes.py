"""Changes of the plan grid: save cells, fill or clear rows, and undo the last change."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.change import TIME_FIELDS, CompanyChange, change_company
from companies.errors import ConflictError
from companies.models import AuditContext, AuditEntry, Company, IdIn
from ledger.calc.months import add_months, count_months_between, list_months
from ledger.models import Category, translate_category_name
from ledger.money.calc.fx import RateLookupError, RateTable
from ledger.money.calc.money import round_half_up
from ledger.recognition.actions.postings import MissingRateError
from planning.body_checks import BodyChecks
from planning.calc.plan_adjustment import compute_adjustment
from planning.calc.plan_postings import MAX_AMOUNT
from planning.forecast.queries import ResultKey, sum_planned_results_in_base
from planning.models import PlanItem
from planning.plan.actions import plan_items

ZERO = Decimal(0)
CREATION_FIELDS = {"created_time", "created_user_id"}


class NothingToTakeBack(ConflictError):
    """You have no change to undo."""

    code = "nothing_to_take_back"


class PlanChangedSince(ConflictError):
    """The plan was changed since. Your change cannot be undone."""

    code = "plan_changed_since"


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A row of the plan grid: a category on a line of the profit and loss."""

    pl_type: str
    category_id: UUID


@dataclass(frozen=True, slots=True)
class PlanCell:
    """A changed cell: the new amount and the amount shown before, both in the base currency.

    `pointer` is the JSON pointer of its errors.
    """

    row: PlanRow
    month: dt.date
    amount: Decimal
    previous_amount: Decimal
    pointer: str

    @property
    def key(self) -> ResultKey:
        return self.month, self.row.pl_type, self.row.category_id


def save_plan_cells(
    *,
    company: Company,
    context: AuditContext,
    cells: Sequence[PlanCell],
    rates: RateTable,
    cleared_rows: Sequence[PlanRow] = (),
    months: Sequence[dt.date] = (),
) -> None:
    """Save changed cells and clear rows, all or nothing.

    A cell is saved as an adjustment item of its month: amounts of other items stay. Rows are cleared in
    `months`, which are consecutive.

    Raises:
        MissingRateError: a currency has no exchange rate.
        ValidationFailed: at the cells, for amounts out of range, unknown rows and concurrent changes.
    """
    with change_company(company, context=context) as change:
        store_plan_cells(change, cells, rates)
        for row in cleared_rows:
            clear_plan_row_between(change, row, first=months[0], last=months[-1])
        store_plan_cells(
            change, build_clearing_cells(company, cleared_rows, months, rates) if cleared_rows else [], rates
        )


def store_plan_cells(change: CompanyChange, cells: Sequence[PlanCell], rates: RateTable) -> None:
    """Create, update or delete the adjustment items of cells."""
    company = change.company
    checks = BodyChecks(company)
    check_plan_rows(checks, cells)
    planned_amounts = get_planned_amounts(company, cells, rates)
    items = find_adjustment_items(company, cells)
    amounts = [compute_item_amount(checks, cell, planned_amounts, items.get(cell.key)) for cell in cells]
    checks.raise_if_invalid()
    new_items, changes, emptied_items = list[PlanItem](), list[tuple[PlanItem, dict[str, Any]]](), list[PlanItem]()
    for cell, amount in zip(cells, amounts, strict=True):
        item = items.get(cell.key)
        if item is None and amount:
            new_items.append(build_adjustment_item(company, cell, amount))
        elif item is not None and amount:
            changes.append((item, {"amount_value": amount}))
        elif item is not None:
            emptied_items.append(item)
    change.create_many(new_items, "planItem.created")
    change.update_many(changes, "planItem.updated")
    change.delete_many(emptied_items, "planItem.deleted")


def check_plan_rows(checks: BodyChecks, cells: Sequence[PlanCell]) -> None:
    """Check that the categories belong to the company and can post to their lines."""
    category_ids = {cell.row.category_id for cell in cells}
    categories = {row.id: row for row in Category.objects.for_company(checks.company.id).filter(id__in=category_ids)}
    for cell in cells:
        category = categories.get(cell.row.category_id)
        if category is None:
            checks.add_error(cell.pointer, "unknown_id", _("The category does not exist."))
        elif cell.row.pl_type not in category.pl_types:
            message = _("{name} does not post to this P&L line.").format(name=translate_category_name(category.name))
            checks.add_error(cell.pointer, "pl_type_not_allowed", message)


def get_planned_amounts(company: Company, cells: Sequence[PlanCell], rates: RateTable) -> dict[ResultKey, Decimal]:
    """Return what is planned in the months of the cells, in the base currency.

    Raises:
        MissingRateError: a currency has no exchange rate.
    """
    if not cells:
        return {}
    return sum_planned_amounts(company, min(cell.month for cell in cells), max(cell.month for cell in cells), rates)


def sum_planned_amounts(company: Company, first: dt.date, last: dt.date, rates: RateTable) -> dict[ResultKey, Decimal]:
    """Return what is planned in the months from `first` to `last`, in the base currency.

    Raises:
        MissingRateError: a currency has no exchange rate.
    """
    try:
        return sum_planned_results_in_base(company, list_months(first, last), rates)
    except RateLookupError as missing:
        raise MissingRateError(
            _("No exchange rate for {currency}. Ask the operator to load exchange rates.").format(
                currency=missing.currency
            )
        ) from None


def find_adjustment_items(company: Company, cells: Sequence[PlanCell]) -> dict[ResultKey, PlanItem]:
    """Return the one-month item in the base currency of each cell; the first where there are several."""
    rows = PlanItem.objects.for_company(company.id).filter(
        frequency=0, amount_currency=company.base_currency, month__in={cell.month for cell in cells}
    )
    items: dict[ResultKey, PlanItem] = {}
    for item in rows.order_by("id"):
        item.company = company
        items.setdefault((item.month, item.pl_type, item.category_id), item)
    return items


def compute_item_amount(
    checks: BodyChecks, cell: PlanCell, planned_amounts: dict[ResultKey, Decimal], item: PlanItem | None
) -> Decimal:
    """Compute the amount of a cell's adjustment item; add errors for concurrent changes and bad amounts."""
    base, current_amount = checks.company.base_currency, planned_amounts.get(cell.key, ZERO)
    if round_half_up(current_amount, base) != cell.previous_amount:
        checks.add_error(
            cell.pointer, "concurrent_change", _("This value was changed in the meantime. Review it and save again.")
        )
    other_amount = current_amount - (item.amount_value if item else ZERO)
    amount = compute_adjustment(cell.amount, other_items=other_amount, currency=base)
    if abs(amount) > MAX_AMOUNT:
        checks.add_error(cell.pointer, "out_of_range", _("The value is too large."))
    return amount


def build_adjustment_item(company: Company, cell: PlanCell, amount: Decimal) -> PlanItem:
    """Return a new adjustment item of a cell."""
    return PlanItem(
        company=company,
        month=cell.month,
        pl_type=cell.row.pl_type,
        category_id=cell.row.category_id,
        amount_type="fixed",
        amount_value=amount,
        amount_currency=company.base_currency,
        frequency=0,
    )


def fill_plan_row(*, company: Company, context: AuditContext, values: dict[str, Any], replaces: bool) -> PlanItem:
    """Create a plan item; with `replaces`, first clear its row from its month on.

    Raises:
        ValidationFailed: the values do not fit together.
    """
    with change_company(company, context=context) as change:
        if replaces:
            clear_plan_row_from(change, PlanRow(values["pl_type"], values["category_id"]), first=values["month"])
        return plan_items.create_plan_item(company=company, context=context, values=values)


def clear_plan_row_from(change: CompanyChange, row: PlanRow, *, first: dt.date) -> None:
    """Clear a row from a month on: later items are deleted, earlier ones end before it."""
    items = PlanItem.objects.for_company(change.company.id).filter(pl_type=row.pl_type, category=row.category_id)
    for item in items.order_by("id"):
        item.company = change.company
        age_months = count_months_between(item.month, first)
        if age_months <= 0:
            change.delete(item, "planItem.deleted")
        elif item.frequency and (item.duration is None or item.duration > age_months):
            change.update(item, "planItem.updated", duration=age_months)


def clear_plan_row_between(change: CompanyChange, row: PlanRow, *, first: dt.date, last: dt.date) -> None:
    """Clear a row in the months from `first` to `last`.

    Items within these months and items of a fixed amount are cut out; what they post before and after stays. An
    item whose amount changes over time and that reaches beyond the months stays.
    """
    items = PlanItem.objects.for_company(change.company.id).filter(pl_type=row.pl_type, category=row.category_id)
    for item in items.filter(month__lte=last).order_by("id"):
        item.company = change.company
        end = get_last_posting_month(item)
        age_months = count_months_between(item.month, first)
        inside = age_months <= 0 and end is not None and end <= last
        if (end is not None and end < first) or not (inside or item.amount_type == "fixed"):
            continue
        if not inside:
            create_continuation_item(change, item, after=last)
        if age_months <= 0:
            change.delete(item, "planItem.deleted")
        else:
            change.update(item, "planItem.updated", duration=age_months)


def get_last_posting_month(item: PlanItem) -> dt.date | None:
    """Return the last month in which an item may post; None if it has no end."""
    if not item.frequency:
        return item.month
    months_left = count_months_between(item.month, dt.date.max)
    return None if item.duration is None or item.duration > months_left else add_months(item.month, item.duration - 1)


def create_continuation_item(change: CompanyChange, item: PlanItem, *, after: dt.date) -> None:
    """Create an item that posts what `item` posts after a month, where it does."""
    age_months = (count_months_between(item.month, after) // item.frequency + 1) * item.frequency
    if age_months > count_months_between(item.month, dt.date.max) or (
        item.duration is not None and item.duration <= age_months
    ):
        return
    values = {field.attname: field.value_from_object(item) for field in PlanItem._meta.concrete_fields}
    values = {
        name: value
        for name, value in values.items()
        if name not in TIME_FIELDS | CREATION_FIELDS | {"id", "company_id"}
    }
    values["month"] = add_months(item.month, age_months)
    values["duration"] = None if item.duration is None else item.duration - age_months
    change.create(PlanItem(company=change.company, **values), "planItem.created")


def build_clearing_cells(
    company: Company, rows: Sequence[PlanRow], months: Sequence[dt.date], rates: RateTable
) -> list[PlanCell]:
    """Return cells with amount 0 for everything that is still planned in the rows.

    Raises:
        MissingRateError: a currency has no exchange rate.
    """
    cells = [PlanCell(row, month, ZERO, ZERO, "#/") for row in rows for month in months]
    planned_amounts = get_planned_amounts(company, cells, rates)
    return [
        replace(cell, previous_amount=round_half_up(planned_amounts[cell.key], company.base_currency))
        for cell in cells
        if planned_amounts.get(cell.key)
    ]


# ---------------------------------------------------------------------------------------------- undo


def find_last_plan_change(*, company: Company, actor: str | None) -> dt.datetime | None:
    """Return when the actor last changed the plan; None if never, or if it was changed again since."""
    entries_of_actor = AuditEntry.objects.for_company(company.id).filter(actor=actor, entity_type="planItem")
    changed_time = entries_of_actor.order_by("-time").values_list("time", flat=True).first()
    if changed_time is None:
        return None
    entries = dict(entries_of_actor.filter(time=changed_time).order_by("id").values_list("entity_id", "after"))
    updated_times = dict(
        PlanItem.objects.for_company(company.id).filter(id__in=entries).values_list("id", "last_updated_time")
    )
    item_times = {str(item_id): moment for item_id, moment in updated_times.items()}
    is_unchanged = all(
        item_times.get(item_id) == (None if after is None else changed_time) for item_id, after in entries.items()
    )
    return changed_time if is_unchanged else None


def undo_last_plan_change(*, company: Company, context: AuditContext, changed_time: dt.datetime) -> None:
    """Undo what the author of `context` changed in the plan at a time, as recorded in the audit log.

    Raises:
        NothingToTakeBack: there is no such change.
        PlanChangedSince: an item was changed again since.
    """
    with change_company(company, context=context) as change:
        log = AuditEntry.objects.for_company(company.id).filter(
            time=changed_time, actor=context.actor, entity_type="planItem"
        )
        entries = list(log.order_by("-id"))
        if not entries:
            raise NothingToTakeBack
        reverse_plan_entries(change, entries, changed_time=changed_time)


def reverse_plan_entries(change: CompanyChange, entries: Sequence[AuditEntry], *, changed_time: dt.datetime) -> None:
    """Reverse the audit entries of plan items, one an item."""
    company, item_ids = change.company, [UUID(entry.entity_id) for entry in entries]
    rows = PlanItem.objects.for_company(company.id).filter(IdIn("id", item_ids)).select_for_update(of=("self",))
    items = {str(item.id): item for item in rows}
    new_items, changes, created_items = list[PlanItem](), list[tuple[PlanItem, dict[str, Any]]](), list[PlanItem]()
    if len(set(item_ids)) < len(entries):
        raise PlanChangedSince
    for entry in entries:
        item = items.get(entry.entity_id)
        if (item.last_updated_time if item else None) != (None if entry.after is None else changed_time):
            raise PlanChangedSince
        if item is None:
            new_items.append(PlanItem(company=company, **parse_logged_columns(entry.before)))
        elif entry.before is None:
            created_items.append(item)
        else:
            changes.append((item, parse_logged_columns(entry.before)))
    change.create_many(new_items, "planItem.created")
    change.update_many(changes, "planItem.updated")
    change.delete_many(created_items, "planItem.deleted")


def parse_logged_columns(logged_values: dict[str, Any] | None) -> dict[str, Any]:
    """Convert values of the audit log to columns of a plan item."""
    fields = {field.attname: field for field in PlanItem._meta.concrete_fields}
    return {
        name: fields[name].to_python(value)
        for name, value in (logged_values or {}).items()
        if name not in TIME_FIELDS | CREATION_FIELDS
    }
