"""Linking two movements as the legs of one transfer: money that only changed its place.

Both stay in their balances; neither is a flow, and neither stands in the profit and loss.
"""

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Q

from companies.changing import changing
from companies.errors import Conflict, Invalid, Missing
from companies.models import Company, Stamp, new_id
from ledger.calc.fx import MissingRate, convert
from ledger.models import (
    Account,
    AccountType,
    Categorization,
    Category,
    InitialBalanceFixed,
    LinkKind,
    PlType,
    Transaction,
)
from ledger.money.rates import rate_table
from ledger.recognition.posting import NoRate
from ledger.recognition.totals import parts_changed
from ledger.transactions.touching import touched

TOLERANCE = Decimal("0.10")  # between currencies: fees and the bank's own rate


class AlreadyLinked(Conflict):
    """A leg is linked to another transaction already."""

    code = "already_linked"


class NotLinked(Conflict):
    """This categorization is no leg of a transfer."""

    code = "not_linked"


class SameAccount(Invalid):
    """Both transactions are on one account."""

    code = "transfer_same_account"


class SameSign(Invalid):
    """One leg must be money out and the other money in."""

    code = "transfer_same_sign"


class SourceClosed(Invalid):
    """Nothing of the source is open; name the categorization that is the leg, or uncategorize it first."""

    code = "transfer_source_closed"


class TargetClosed(Invalid):
    """Nothing of the target is open; uncategorize it first."""

    code = "transfer_target_closed"


class AmountsDiffer(Invalid):
    """The legs are not equal and opposite (within 10 % across currencies); force accepts the difference."""

    code = "transfer_amounts_differ"


def link(
    *,
    company: Company,
    stamp: Stamp,
    source_id: UUID,
    source_part_id: UUID | None,
    target_id: UUID,
    force: bool = False,
) -> bool:
    """Links a part of the source (its open remainder where none is named) with the open remainder of the target.

    False where this very pair is linked already. Raises, in this order: Missing, InitialBalanceFixed, AlreadyLinked,
    SameAccount, SameSign, SourceClosed, TargetClosed, AmountsDiffer, NoRate.
    """
    with changing(company, stamp=stamp) as change:
        source, target = movements(company, source_id, target_id)
        both = [source.id, target.id]
        parts = list(Categorization.objects.of(company.id).filter(transaction_id__in=both).select_related("counter"))
        part = named_part(parts, source, source_part_id)
        if linked_pair(parts, source, target, part):
            return False
        check_free(parts, source, target, part)
        source_value = part.value if part else source.amount_value - source.categorized_value
        check_pair(source, source_value, target, force=force)
        write_legs(company=company, source=source, part=part, source_value=source_value, target=target)
        parts_changed(change, both)
        entry = change.record_many(
            "transfer.linked",
            "transaction",
            entity_id=source.id,
            after={"source": str(source.id), "target": str(target.id), "forced": force},
        )
        touched(change, entry, (), partners=[target.id])
    return True


def movements(company: Company, source_id: UUID, target_id: UUID) -> tuple[Transaction, Transaction]:
    """Source and target. Raises Missing, InitialBalanceFixed."""
    rows = Transaction.objects.of(company.id).in_bulk([source_id, target_id])
    if source_id not in rows or target_id not in rows:
        raise Missing
    if any(row.is_initial for row in rows.values()):
        raise InitialBalanceFixed
    return rows[source_id], rows[target_id]


def named_part(parts: list[Categorization], source: Transaction, part_id: UUID | None) -> Categorization | None:
    """The part of the source that is named, None where none is. Raises Missing."""
    if part_id is None:
        return None
    for part in parts:
        if part.id == part_id and part.transaction_id == source.id:
            return part
    raise Missing


def linked_pair(
    parts: list[Categorization], source: Transaction, target: Transaction, part: Categorization | None
) -> bool:
    """Whether the source (this part of it, where one is named) and the target are linked with each other."""
    legs = [each for each in parts if each.transaction_id == source.id and each.counter and part in (None, each)]
    return any(each.counter and each.counter.transaction_id == target.id for each in legs)


def check_free(
    parts: list[Categorization], source: Transaction, target: Transaction, part: Categorization | None
) -> None:
    """Raises AlreadyLinked where a leg is taken: the part that is named, or all that a transaction had to give."""
    if part is not None and part.counter_id:
        raise AlreadyLinked
    for row in (target,) if part is not None else (source, target):
        taken = any(each.counter_id for each in parts if each.transaction_id == row.id)
        if taken and not row.is_open:
            raise AlreadyLinked


def check_pair(source: Transaction, source_value: Decimal, target: Transaction, *, force: bool) -> None:
    """Raises SameAccount, SameSign, SourceClosed, TargetClosed, AmountsDiffer, NoRate."""
    target_value = target.amount_value - target.categorized_value
    if source.account_id == target.account_id:
        raise SameAccount
    if source.amount_value * target.amount_value >= 0:
        raise SameSign
    if not source_value:
        raise SourceClosed
    if not target_value:
        raise TargetClosed
    if not force and differ(source, source_value, target, target_value):
        raise AmountsDiffer


def differ(source: Transaction, source_value: Decimal, target: Transaction, target_value: Decimal) -> bool:
    """Whether the legs are too far apart. Raises NoRate."""
    if source.amount_currency == target.amount_currency:
        return source_value + target_value != 0
    try:
        expected = convert(
            source_value,
            source=source.amount_currency,
            target=target.amount_currency,
            day=source.date,
            rates=rate_table(),
        )
    except MissingRate as missing:
        raise NoRate.of(missing) from None
    return abs(expected + target_value) > TOLERANCE * abs(expected)


def write_legs(
    *,
    company: Company,
    source: Transaction,
    part: Categorization | None,
    source_value: Decimal,
    target: Transaction,
) -> None:
    """Stores the legs, each referring to the other, as neutral parts of the category for transfers."""
    transfer = Category.objects.of(company.id).system("transfer").get()
    kind = link_kind(company, source, target)
    target_value = target.amount_value - target.categorized_value
    if part is None:
        legs = [leg_of(source, source_value, transfer, kind), leg_of(target, target_value, transfer, kind)]
        legs[0].counter_id, legs[1].counter_id = legs[1].id, legs[0].id
        Categorization.objects.bulk_create(legs)
        return
    counter = leg_of(target, target_value, transfer, kind)
    counter.counter_id = part.id
    counter.save(force_insert=True)
    Categorization.objects.of(company.id).filter(id=part.id).update(
        **leg_values(source, source_value, transfer, kind), counter_id=counter.id
    )


def leg_of(row: Transaction, value: Decimal, category: Category, kind: str) -> Categorization:
    return Categorization(
        id=new_id(), company_id=row.company_id, transaction=row, **leg_values(row, value, category, kind)
    )


def leg_values(row: Transaction, value: Decimal, category: Category, kind: str) -> dict[str, Any]:
    """What every leg is: all of it neutral, on the day of its transaction."""
    lines = {line: value if line == PlType.NEUTRAL else None for line in PlType.values}
    return {
        **lines,
        "category": category,
        "rule": "transactionDate",
        "rule_start_date": None,
        "rule_end_date": None,
        "invoice_date": None,
        "computed_start_date": row.date,
        "computed_end_date": row.date,
        "pass_through_tax": None,
        "value": value,
        "link_kind": kind,
    }


def link_kind(company: Company, source: Transaction, target: Transaction) -> str:
    """transit where one of the accounts holds money on its way."""
    ids = (source.account_id, target.account_id)
    transit = Account.objects.of(company.id).filter(Q(id__in=ids), type=AccountType.TRANSIT)
    return LinkKind.TRANSIT if transit.exists() else LinkKind.TRANSFER


def unlink(*, company: Company, stamp: Stamp, transaction_id: UUID, part_id: UUID) -> None:
    """Removes both legs of a transfer, named by either; their parts are open again. Raises Missing, NotLinked."""
    with changing(company, stamp=stamp) as change:
        parts = Categorization.objects.of(company.id)
        part = parts.filter(id=part_id, transaction_id=transaction_id).select_related("counter").first()
        if part is None:
            raise Missing
        if part.counter is None:
            raise NotLinked
        ids = sorted((part.transaction_id, part.counter.transaction_id))
        parts.filter(id__in=(part.id, part.counter_id)).delete()
        parts_changed(change, ids)
        entry = change.record_many(
            "transfer.unlinked",
            "transaction",
            entity_id=part.transaction_id,
            before={"legs": [str(each) for each in ids]},
        )
        touched(change, entry, (), partners={*ids} - {part.transaction_id})
