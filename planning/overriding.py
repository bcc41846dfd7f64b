"""What differs about single occurrences: moved, skipped, changed or settled."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from companies.errors import Conflict, Invalid, Missing
from companies.models import Stamp, record_change
from ledger.models import Account, Category, Transaction
from planning.calc.recurrence import is_occurrence
from planning.models import PlannedOverride, PlannedTransaction
from planning.references import Checks
from planning.settling import redate_settled

Patches = Mapping[dt.date, Mapping[str, Any]]


class NotAnOccurrence(Invalid):
    """The planned transaction does not occur on this date."""

    code = "not_an_occurrence"


class SettlesAnother(Conflict):
    """This transaction settles another occurrence already."""

    code = "transaction_settles_another"


def override(
    *, planned: PlannedTransaction, stamp: Stamp, original_date: dt.date, patch: Mapping[str, Any]
) -> PlannedTransaction:
    """Puts a patch in the place of the date's; an empty one removes it.

    ``planned`` is locked and has its overrides. Raises NotAnOccurrence, FieldErrors, SettlesAnother.
    """
    if not is_occurrence(planned.recurrence_rule(), original_date):
        raise NotAnOccurrence
    checks = Checks(planned.company)
    columns = patch_columns(checks, patch, currency=planned.amount_currency, pointer="#")
    checks.pass_or_raise()
    return put(planned, stamp, {original_date: columns}, removed=set())


def clear(*, planned: PlannedTransaction, stamp: Stamp, original_date: dt.date) -> PlannedTransaction:
    """The occurrence is as the rule says again. Raises Missing where nothing differs about it."""
    if original_date not in planned.overrides:
        raise Missing
    return put(planned, stamp, {}, removed={original_date})


def put(planned: PlannedTransaction, stamp: Stamp, patches: Patches, *, removed: set[dt.date]) -> PlannedTransaction:
    """Stores patches of checked columns and says so in the log, where anything differs."""
    before = {day: shown(planned.overrides[day]) for day in (*patches, *removed) if day in planned.overrides}
    if store(planned, patches, removed=removed, stamp=stamp):
        planned.last_updated_time, planned.last_updated_user_id = stamp.time, stamp.actor
        planned.save(update_fields=["last_updated_time", "last_updated_user_id"])
        after = {day: shown(planned.overrides[day]) for day in patches if day in planned.overrides}
        record_change(stamp, planned, "plannedTransaction.overridden", before=by_text(before), after=by_text(after))
    return planned


def patch_columns(checks: Checks, patch: Mapping[str, Any], *, currency: str, pointer: str) -> dict[str, Any]:
    """A patch as it was sent, as columns: its amount as a Decimal, its ids noted for the look-up."""
    columns = dict(patch)
    if "amount_value" in patch:
        columns["amount_value"] = checks.amount(patch["amount_value"], currency, f"{pointer}/amountValue")
    checks.refers(Account, patch.get("account_id"), f"{pointer}/accountId")
    checks.refers(Category, patch.get("category_id"), f"{pointer}/categoryId")
    checks.refers(Transaction, patch.get("transaction_id"), f"{pointer}/transactionId")
    return columns


def store(planned: PlannedTransaction, patches: Patches, *, removed: set[dt.date], stamp: Stamp) -> bool:
    """Writes the patches that differ from the stored ones; True where one did. Raises SettlesAnother."""
    stored = {day: row.patch() for day, row in planned.overrides.items()}
    changed = {day: patch for day, patch in patches.items() if stored.get(day, {}) != patch}
    gone = {day for day in (removed | set(changed)) if day in planned.overrides}
    if not changed and not gone:
        return False
    settle_once(planned, changed, replaced=gone)
    rows = PlannedOverride.objects.of(planned.company_id).filter(planned=planned.id)
    rows.filter(original_date__in=gone).delete()
    fresh = [
        PlannedOverride(company_id=planned.company_id, planned=planned, original_date=day, **patch)
        for day, patch in changed.items()
        if patch
    ]
    PlannedOverride.objects.bulk_create(fresh)
    if planned.invoice_date is not None:
        redate_settled(planned, [planned.overrides[day].transaction_id for day in gone], stamp=stamp)
        redate_settled(planned, [row.transaction_id for row in fresh], stamp=stamp)
    kept = {day: row for day, row in planned.overrides.items() if day not in gone}
    planned.overrides = dict(sorted((kept | {row.original_date: row for row in fresh}).items()))
    return True


def settle_once(planned: PlannedTransaction, changed: Patches, *, replaced: set[dt.date]) -> None:
    """Locks the transactions that settle, so that of two occurrences settled at once by one, one is refused."""
    wanted = [patch["transaction_id"] for patch in changed.values() if "transaction_id" in patch]
    if not wanted:
        return
    if len(set(wanted)) < len(wanted):
        raise SettlesAnother
    transactions = Transaction.objects.of(planned.company_id).filter(id__in=wanted)
    list(transactions.select_for_update(no_key=True).order_by("id").values_list("id"))
    others = PlannedOverride.objects.of(planned.company_id).filter(transaction__in=wanted)
    if others.exclude(planned=planned.id, original_date__in=replaced).exists():
        raise SettlesAnother


def shown(row: PlannedOverride) -> dict[str, Any]:
    return dict(row.patch())


def by_text(patches: Mapping[dt.date, Any]) -> dict[str, Any]:
    return {day.isoformat(): patch for day, patch in patches.items()}
