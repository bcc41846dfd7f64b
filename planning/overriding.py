"""What differs about single occurrences: moved, skipped, changed or settled."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.changing import Change, changing
from companies.errors import Conflict, Invalid, Missing, unknown_id
from companies.models import Company, Stamp
from ledger.models import Account, Category, InitialBalanceFixed, Transaction
from ledger.transactions.booking import OtherDirection
from ledger.transactions.touching import touched
from planning.calc.recurrence import is_occurrence
from planning.models import OccurrenceSkipped, PlannedOverride, PlannedTransaction, SettlesAnother, with_overrides
from planning.references import Checks
from planning.settling import settlement_changed

Patches = Mapping[dt.date, Mapping[str, Any]]


class NotAnOccurrence(Invalid):
    """The planned transaction does not occur on this date."""

    code = "not_an_occurrence"


class AlreadySettled(Conflict):
    """Another transaction settles this occurrence."""

    code = "occurrence_settled"


class NotSettled(Conflict):
    """Nothing settles this occurrence."""

    code = "occurrence_not_settled"


class StillPending(Conflict):
    """The transaction is pending: it counts in no balance yet, and settles nothing."""

    code = "transaction_pending"


UNFIT = (SettlesAnother, OccurrenceSkipped, OtherDirection, StillPending, InitialBalanceFixed)  # wherever one settles


def locked(change: Change, planned_id: UUID | str, *, versioned: bool = True) -> PlannedTransaction:
    """The planned transaction that a change is about, with its overrides. Raises Missing, Stale."""
    rows = PlannedTransaction.objects.with_counterparty()
    return with_overrides([change.locked(rows, planned_id, versioned=versioned)])[0]


def override(
    *,
    company: Company,
    stamp: Stamp,
    planned_id: UUID | str,
    original_date: dt.date,
    patch: Mapping[str, Any],
) -> PlannedTransaction:
    """Lays a patch over the date's: what it does not name stays, what it names with None is as the rule says again.

    Raises Missing, Stale, NotAnOccurrence, FieldErrors, and UNFIT.
    """
    with changing(company, stamp=stamp) as change:
        planned = locked(change, planned_id)
        if not is_occurrence(planned.recurrence_rule(), original_date):
            raise NotAnOccurrence
        checks = Checks(company)
        columns = patch_columns(checks, patch, currency=planned.amount_currency, pointer="#")
        checks.pass_or_raise()
        laid = {**patch_of(planned, original_date), **columns}
        merged = {name: value for name, value in laid.items() if value is not None}
        return put(change, planned, {original_date: merged}, removed=set())


def clear(*, company: Company, stamp: Stamp, planned_id: UUID | str, original_date: dt.date) -> PlannedTransaction:
    """The occurrence is as the rule says again. Raises Missing (also where nothing differs about it), Stale."""
    with changing(company, stamp=stamp) as change:
        planned = locked(change, planned_id)
        if original_date not in planned.overrides:
            raise Missing
        return put(change, planned, {}, removed={original_date})


def settle(
    *, company: Company, stamp: Stamp, planned_id: UUID | str, original_date: dt.date, transaction_id: UUID | str
) -> PlannedTransaction:
    """The transaction is what was expected of the occurrence, which leaves the forecast.

    Nothing happens where it settles this very one already. Raises Missing, FieldErrors (unknown_id),
    NotAnOccurrence, AlreadySettled, and UNFIT.
    """
    with changing(company, stamp=stamp) as change:
        planned = locked(change, planned_id, versioned=False)
        paid = change.locked_or_none(Transaction, transaction_id)
        if paid is None:
            raise unknown_id("#/transactionId")
        if not is_occurrence(planned.recurrence_rule(), original_date):
            raise NotAnOccurrence(pointer="#/date")
        patch = patch_of(planned, original_date)
        if patch.get("transaction_id", paid.id) != paid.id:
            raise AlreadySettled
        settled = {**patch, "transaction_id": paid.id}
        return put(change, planned, {original_date: settled}, removed=set(), act="settled")


def unsettle(*, company: Company, stamp: Stamp, planned_id: UUID | str, original_date: dt.date) -> PlannedTransaction:
    """The occurrence is expected again, and the transaction free. Raises Missing, NotSettled."""
    with changing(company, stamp=stamp) as change:
        planned = locked(change, planned_id, versioned=False)
        patch = patch_of(planned, original_date)
        if patch.pop("transaction_id", None) is None:
            raise NotSettled
        return put(change, planned, {original_date: patch}, removed=set(), act="unsettled")


def patch_of(planned: PlannedTransaction, original_date: dt.date) -> dict[str, Any]:
    """What differs about the occurrence of a date."""
    stored = planned.overrides.get(original_date)
    return dict(stored.patch()) if stored else {}


def put(
    change: Change, planned: PlannedTransaction, patches: Patches, *, removed: set[dt.date], act: str = "overridden"
) -> PlannedTransaction:
    """Stores patches of checked columns and says so in the log, where anything differs."""
    before = {day: patch_of(planned, day) for day in (*patches, *removed) if day in planned.overrides}
    if store(change, planned, patches, removed=removed):
        planned.touch(change.stamp)
        after = {day: patch_of(planned, day) for day in patches if day in planned.overrides}
        entry = change.record(planned, f"plannedTransaction.{act}", before=by_text(before), after=by_text(after))
        was, now = (
            {each["transaction_id"] for each in side.values() if "transaction_id" in each} for side in (before, after)
        )
        touched(change, entry, was ^ now)
    return planned


def patch_columns(checks: Checks, patch: Mapping[str, Any], *, currency: str, pointer: str) -> dict[str, Any]:
    """A patch as it was sent, as columns: its amount as a Decimal, its ids noted for the look-up."""
    columns = dict(patch)
    if patch.get("amount_value") is not None:
        columns["amount_value"] = checks.amount(patch["amount_value"], currency, f"{pointer}/amountValue")
    checks.refers(Account, patch.get("account_id"), f"{pointer}/accountId")
    checks.refers(Category, patch.get("category_id"), f"{pointer}/categoryId")
    checks.refers(Transaction, patch.get("transaction_id"), f"{pointer}/transactionId")
    return columns


def store(change: Change, planned: PlannedTransaction, patches: Patches, *, removed: set[dt.date]) -> bool:
    """Writes the patches that differ from the stored ones; True where one did. Raises UNFIT."""
    stored = {day: row.patch() for day, row in planned.overrides.items()}
    changed = {day: patch for day, patch in patches.items() if stored.get(day, {}) != patch}
    gone = {day for day in (removed | set(changed)) if day in planned.overrides}
    if not changed and not gone:
        return False
    may_settle(planned, changed, replaced=gone)
    rows = PlannedOverride.objects.of(planned.company_id).filter(planned=planned.id)
    rows.filter(original_date__in=gone).delete()
    fresh = [
        PlannedOverride(company_id=planned.company_id, planned=planned, original_date=day, **patch)
        for day, patch in changed.items()
        if patch
    ]
    PlannedOverride.objects.bulk_create(fresh)
    before = {planned.overrides[day].transaction_id for day in gone}
    settlement_changed(change, before ^ {row.transaction_id for row in fresh}, redated=planned.invoice_date is not None)
    kept = {day: row for day, row in planned.overrides.items() if day not in gone}
    planned.overrides = dict(sorted((kept | {row.original_date: row for row in fresh}).items()))
    return True


def may_settle(planned: PlannedTransaction, changed: Patches, *, replaced: set[dt.date]) -> None:
    """Whether the transactions that patches name may settle what they are named for; two statements. Raises UNFIT."""
    named = [(day, patch) for day, patch in changed.items() if "transaction_id" in patch]
    if not named:
        return
    wanted = {patch["transaction_id"] for _, patch in named}
    found = Transaction.objects.of(planned.company_id).in_bulk(wanted)
    for day, patch in named:
        before = planned.overrides.get(day)
        if before is None or before.transaction_id != patch["transaction_id"]:
            refuse_unfit(found[patch["transaction_id"]], expected=patch.get("amount_value", planned.amount_value))
        if patch.get("skipped"):
            raise OccurrenceSkipped
    others = PlannedOverride.objects.of(planned.company_id).filter(transaction__in=wanted)
    if len(wanted) < len(named) or others.exclude(planned=planned.id, original_date__in=replaced).exists():
        raise SettlesAnother


def refuse_unfit(paid: Transaction, *, expected: Decimal) -> None:
    """Raises InitialBalanceFixed, StillPending, OtherDirection."""
    if paid.is_initial:
        raise InitialBalanceFixed
    if paid.pending:
        raise StillPending
    if paid.amount_value * expected <= 0:
        raise OtherDirection


def transaction_edited(*, company: Company, transaction: Transaction, changed: set[str], stamp: Stamp) -> None:
    """What is settled stays settled by money in the same direction. Raises OtherDirection."""
    if "amount_value" not in changed:
        return
    rows = PlannedOverride.objects.of(company.id).filter(transaction=transaction.id).select_related("planned")
    for row in rows:
        expected = row.planned.amount_value if row.amount_value is None else row.amount_value
        if transaction.amount_value * expected <= 0:
            raise OtherDirection(
                _("It settles what is planned in the other direction: unsettle that first."), pointer="#/amountValue"
            )


def by_text(patches: Mapping[dt.date, Any]) -> dict[str, Any]:
    return {day.isoformat(): patch for day, patch in patches.items()}
