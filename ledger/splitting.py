"""Splitting one transaction over categories: the map of parts is replaced as a whole."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from companies.errors import UNKNOWN_ID, FieldErrors
from companies.models import AuditEntry, Company, Stamp, new_id
from ledger.calc.money import too_fine
from ledger.categorizing import COLUMNS, SplitExceedsAmount, TransactionLinked
from ledger.copying import copy_rows
from ledger.dating import Rule, invoice_dates, period
from ledger.models import Categorization, Category, Counterparty, Transaction
from ledger.posting import LINES, unpost
from ledger.totals import parts_changed

Fault = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Given:
    """One part as it was asked for; its value is the sum of its lines and the tax passed through."""

    key: str
    category_id: UUID
    lines: dict[str, Decimal]
    counterparty_id: UUID | None = None
    counterparty_type: str | None = None
    rule: Rule = field(default_factory=Rule)
    pass_through_tax: Decimal | None = None
    source_note: str | None = None

    @property
    def value(self) -> Decimal:
        return sum(self.lines.values(), self.pass_through_tax or Decimal(0))

    @property
    def pointer(self) -> str:
        return "#/categorizations/" + self.key.replace("~", "~0").replace("/", "~1")


def replace_parts(*, company: Company, row: Transaction, stamp: Stamp, given: list[Given]) -> None:
    """Replaces the parts of a transaction. Call with the row locked.

    Keys that are ids of its parts stay; keys that are no UUID are replaced. Legs of transfers must be among the parts,
    unchanged. Raises FieldErrors, SplitExceedsAmount, TransactionLinked, RateMissing, PeriodTooLong.
    """
    stored = {part.id: part for part in Categorization.objects.of(company.id).filter(transaction=row)}
    ids = part_ids(company, row, given)
    faults = [fault for each in given for fault in faults_of(each, row.amount_value, row.amount_currency)]
    faults += reference_faults(company, given)
    if faults:
        raise FieldErrors(faults)
    keep_legs(stored, dict(zip(ids, given, strict=True)))
    if abs(sum((each.value for each in given), Decimal(0))) > abs(row.amount_value):
        raise SplitExceedsAmount
    known = invoice_dates(company_id=company.id, transaction_ids=[row.id]).get(row.id)
    legs = {part.id for part in stored.values() if part.counter_id}
    unpost(company=company, transaction_ids=[row.id])
    Categorization.objects.of(company.id).filter(transaction=row).unlinked().delete()
    write_parts(company=company, row=row, ids=ids, given=given, legs=legs, known_invoice_date=known)
    parts_changed(company=company, transaction_ids=[row.id], stamp=stamp)
    AuditEntry.objects.record(
        stamp,
        company_id=company.id,
        action="transaction.split",
        entity_type="transaction",
        entity_id=row.id,
        before={str(part.id): told(part.category_id, part.value) for part in stored.values()},
        after={str(part_id): told(each.category_id, each.value) for part_id, each in zip(ids, given, strict=True)},
    )


def told(category_id: UUID, value: Decimal) -> dict[str, str]:
    return {"category_id": str(category_id), "value": str(value)}


def write_parts(
    *,
    company: Company,
    row: Transaction,
    ids: list[UUID],
    given: list[Given],
    legs: set[UUID],
    known_invoice_date: Any,
) -> None:
    """Stores the parts in their order; of legs only what is not fixed by the link."""
    rows = []
    for position, (part_id, each) in enumerate(zip(ids, given, strict=True)):
        if part_id in legs:
            Categorization.objects.of(company.id).filter(id=part_id).update(
                position=position, counterparty_id=each.counterparty_id, source_note=each.source_note
            )
            continue
        dates = period(
            each.rule,
            day=row.date,
            known_invoice_date=known_invoice_date,
            moves_revenue=company.pl_recognize_revenue_on_invoice,
            has_revenue="revenue" in each.lines,
        )
        rows.append((part_id, position, each, dates))
    copy_rows(
        "ledger_categorization",
        {**COLUMNS, "source_note": "text"},
        (
            (
                *(company.id, part_id, row.id, position, each.category_id, each.counterparty_id),
                *(each.rule.type, each.rule.start, each.rule.end, each.rule.invoice_date, *dates),
                *(each.lines.get(line) for line in LINES),
                *(each.pass_through_tax, each.value, each.source_note),
            )
            for part_id, position, each, dates in rows
        ),
    )


def part_ids(company: Company, row: Transaction, given: list[Given]) -> list[UUID]:
    """The ids of the parts: their keys where they are UUIDs, else new ones. Raises FieldErrors for another's part."""
    ids = [as_id(each.key) or new_id() for each in given]
    taken = set(Categorization.objects.of(company.id).filter(id__in=ids).exclude(transaction=row).values_list("id"))
    faults = [
        (each.pointer, "id_in_use" if (part_id,) in taken else "repeated_id", "Another part has this id.")
        for position, (part_id, each) in enumerate(zip(ids, given, strict=True))
        if (part_id,) in taken or part_id in ids[:position]
    ]
    if faults:
        raise FieldErrors(faults)
    return ids


def as_id(key: str) -> UUID | None:
    try:
        return UUID(key)
    except ValueError:
        return None


def faults_of(each: Given, amount: Decimal, currency: str) -> Iterator[Fault]:
    """What is wrong with the amounts of a part: none at all, finer than the currency, or against the sign."""
    values = {f"plSplit/{line}": value for line, value in each.lines.items()}
    if each.pass_through_tax is not None:
        values["passThroughTax"] = each.pass_through_tax
    if not values:
        yield f"{each.pointer}/plSplit", "must_not_be_empty", "Must have a line, unless passThroughTax is all there is."
    for name, value in values.items():
        if value * amount < 0:
            yield f"{each.pointer}/{name}", "wrong_sign", "Must have the sign of the transaction."
        elif too_fine(value, currency):
            yield f"{each.pointer}/{name}", "too_many_decimals", f"{currency} has fewer decimals."


def reference_faults(company: Company, given: list[Given]) -> Iterator[Fault]:
    """Categories and counterparties that the company does not have, and lines that a category does not post to."""
    wanted = {each.category_id for each in given}
    pl_types = dict(Category.objects.of(company.id).filter(id__in=wanted).values_list("id", "pl_types"))
    wanted = {each.counterparty_id for each in given if each.counterparty_id}
    types = dict(Counterparty.objects.of(company.id).filter(id__in=wanted).values_list("id", "type"))
    for each in given:
        if each.category_id not in pl_types:
            yield f"{each.pointer}/categoryId", "unknown_id", UNKNOWN_ID
        else:
            for line in each.lines.keys() - pl_types[each.category_id]:
                yield (
                    f"{each.pointer}/plSplit/{line}",
                    "pl_type_not_allowed",
                    "The category does not post to this line.",
                )
        yield from counterparty_fault(each, types)


def counterparty_fault(each: Given, types: dict[UUID, str]) -> Iterator[Fault]:
    if each.counterparty_id is None:
        return
    if each.counterparty_id not in types:
        yield f"{each.pointer}/counterparty/id", "unknown_id", UNKNOWN_ID
    elif each.counterparty_type not in (None, types[each.counterparty_id]):
        yield f"{each.pointer}/counterparty/type", "wrong_type", f"It is a {types[each.counterparty_id]}."


def keep_legs(stored: dict[UUID, Categorization], wanted: dict[UUID, Given]) -> None:
    """Raises TransactionLinked where a leg of a transfer would go, or change what it is."""
    for part_id, part in stored.items():
        if part.counter_id is None:
            continue
        each = wanted.get(part_id)
        if each is None or each.category_id != part.category_id or each.lines != part.split:
            raise TransactionLinked
        if (each.pass_through_tax or 0) != (part.pass_through_tax or 0):
            raise TransactionLinked
