"""Splitting one transaction over categories: the map of parts is replaced as a whole."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from uuid import UUID

from django.utils.translation import gettext as _

from companies.changing import changing
from companies.errors import FieldErrors, unknown_at
from companies.models import Company, Stamp, id_from, new_id
from ledger.bulk.copying import copy_rows
from ledger.calc.money import too_fine
from ledger.models import (
    Categorization,
    Category,
    Counterparty,
    InitialBalanceFixed,
    SplitExceedsAmount,
    Transaction,
    TransactionLinked,
)
from ledger.purposes.categorizing import COLUMNS
from ledger.recognition.dating import Rule, invoice_dates, period
from ledger.recognition.posting import LINES, unpost
from ledger.recognition.totals import parts_changed

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


def replace_parts(*, company: Company, stamp: Stamp, transaction_id: UUID | str, given: list[Given]) -> Transaction:
    """Replaces the parts of a transaction.

    Keys that are ids of its parts stay; keys that are no UUID are replaced. Legs of transfers must be among the parts,
    unchanged. Raises Missing, Stale, InitialBalanceFixed, FieldErrors, SplitExceedsAmount, TransactionLinked,
    NoRate, PeriodTooLong.
    """
    with changing(company, stamp=stamp) as change:
        row = change.locked(Transaction, transaction_id)
        if row.is_initial:
            raise InitialBalanceFixed
        stored = {part.id: part for part in Categorization.objects.of(company.id).filter(transaction=row)}
        parts = checked_parts(row, stored, given)
        unpost(company=company, transaction_ids=[row.id])
        Categorization.objects.of(company.id).filter(transaction=row).unlinked().delete()
        write_parts(row, parts, legs={part.id for part in stored.values() if part.counter_id})
        parts_changed(change, [row.id])
        row.last_updated_time, row.last_updated_user_id = stamp.time, stamp.actor
        before = {str(part.id): in_log(part.category_id, part.value) for part in stored.values()}
        after = {str(part_id): in_log(each.category_id, each.value) for part_id, each in parts.items()}
        change.record_many("transaction.split", "transaction", entity_id=row.id, before=before, after=after)
    return row


def in_log(category_id: UUID, value: Decimal) -> dict[str, str]:
    return {"category_id": str(category_id), "value": str(value)}


def checked_parts(row: Transaction, stored: dict[UUID, Categorization], given: list[Given]) -> dict[UUID, Given]:
    """The parts as they are stored, by id. Raises FieldErrors, TransactionLinked, SplitExceedsAmount."""
    ids = part_ids(row, given)
    pl_types = lines_by_category(row.company, given)
    given = [replace(each, lines=own_lines(each, pl_types.get(each.category_id, LINES))) for each in given]
    faults = [fault for each in given for fault in faults_of(each, row.amount_value, row.amount_currency)]
    faults += reference_faults(row.company, given, pl_types)
    if faults:
        raise FieldErrors(faults)
    parts = dict(zip(ids, given, strict=True))
    keep_legs(stored, parts)
    if abs(sum((each.value for each in given), Decimal(0))) > abs(row.amount_value):
        raise SplitExceedsAmount
    return parts


def write_parts(row: Transaction, parts: dict[UUID, Given], *, legs: Collection[UUID] = (), first: int = 0) -> None:
    """Stores the parts in their order, from the place ``first``; of legs only what is not fixed by the link."""
    company = row.company
    known_invoice_date = invoice_dates(company_id=company.id, transaction_ids=[row.id]).get(row.id)
    rows = []
    for position, (part_id, each) in enumerate(parts.items(), first):
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


def part_ids(row: Transaction, given: list[Given]) -> list[UUID]:
    """The ids of the parts: their keys where they are UUIDs, else new ones. Raises FieldErrors for another's part."""
    ids = [id_from(each.key) or new_id() for each in given]
    others = Categorization.objects.of(row.company_id).exclude(transaction=row)
    taken = set(others.filter(id__in=ids).values_list("id"))
    faults = [
        (each.pointer, "id_in_use" if (part_id,) in taken else "repeated_id", _("Another part has this id."))
        for position, (part_id, each) in enumerate(zip(ids, given, strict=True))
        if (part_id,) in taken or part_id in ids[:position]
    ]
    if faults:
        raise FieldErrors(faults)
    return ids


def faults_of(each: Given, amount: Decimal, currency: str) -> Iterator[Fault]:
    """What is wrong with the amounts of a part: none at all, finer than the currency, or against the sign."""
    values = {f"plSplit/{line}": value for line, value in each.lines.items()}
    if each.pass_through_tax is not None:
        values["passThroughTax"] = each.pass_through_tax
    if not values:
        detail = _("Must have a line, unless passThroughTax is all there is.")
        yield f"{each.pointer}/plSplit", "must_not_be_empty", detail
    for name, value in values.items():
        if value * amount < 0:
            yield f"{each.pointer}/{name}", "wrong_sign", _("Must have the sign of the transaction.")
        elif too_fine(value, currency):
            detail = _("{currency} has fewer decimals.").format(currency=currency)
            yield f"{each.pointer}/{name}", "too_many_decimals", detail


def lines_by_category(company: Company, given: list[Given]) -> dict[UUID, list[str]]:
    """The lines that each known category of the parts posts to."""
    wanted = {each.category_id for each in given}
    return dict(Category.objects.of(company.id).filter(id__in=wanted).values_list("id", "pl_types"))


def own_lines(each: Given, pl_types: Sequence[str]) -> dict[str, Decimal]:
    """Without lines of 0, which answers have for every line; a part of nothing has it on a line of its category."""
    filled = {line: value for line, value in each.lines.items() if value}
    if filled or each.pass_through_tax:
        return filled
    return dict.fromkeys([line for line in each.lines if line in pl_types][:1], Decimal(0))


def reference_faults(company: Company, given: list[Given], pl_types: dict[UUID, list[str]]) -> Iterator[Fault]:
    """Categories and counterparties that the company does not have, and lines that a category does not post to."""
    wanted = {each.counterparty_id for each in given if each.counterparty_id}
    types = dict(Counterparty.objects.of(company.id).filter(id__in=wanted).values_list("id", "type"))
    for each in given:
        if each.category_id not in pl_types:
            yield unknown_at(f"{each.pointer}/categoryId")
        else:
            for line in each.lines.keys() - pl_types[each.category_id]:
                yield (
                    f"{each.pointer}/plSplit/{line}",
                    "pl_type_not_allowed",
                    _("The category does not post to this line."),
                )
        yield from counterparty_fault(each, types)


def counterparty_fault(each: Given, types: dict[UUID, str]) -> Iterator[Fault]:
    if each.counterparty_id is None:
        return
    if each.counterparty_id not in types:
        yield unknown_at(f"{each.pointer}/counterparty/id")
    elif each.counterparty_type not in (None, types[each.counterparty_id]):
        detail = _("It is a {type}.").format(type=types[each.counterparty_id])
        yield f"{each.pointer}/counterparty/type", "wrong_type", detail


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
