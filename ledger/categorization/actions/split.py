"""Split one transaction over categories: its categorizations are replaced as a whole."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.change import change_company
from companies.closed_periods import is_day_closed
from companies.errors import ValidationFailed, build_unknown_id_entry
from companies.models import AuditContext, Company, generate_id, parse_id
from ledger.bulk.copy import copy_rows
from ledger.bulk.request_bodies import describe_too_many_decimals
from ledger.categorization.actions.bulk_categorization import CATEGORIZATION_COLUMN_TYPES
from ledger.categorization.queries.references import find_settled_counterparties
from ledger.models import (
    Categorization,
    Category,
    Counterparty,
    SplitExceedsAmount,
    Transaction,
    TransactionIsInitialBalance,
    TransactionLinked,
    is_counted_in_results,
)
from ledger.money.calc.money import has_too_many_decimals
from ledger.recognition.actions.postings import PL_TYPES, delete_postings
from ledger.recognition.actions.transaction_totals import recompute_totals_and_postings
from ledger.recognition.closed_categorizations import check_period_open_for_recognition, get_first_open_day
from ledger.recognition.service_periods import RecognitionRule, find_invoice_dates, resolve_service_period

ErrorEntry = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class CategorizationInput:
    """One requested categorization. Its value is the sum of its amounts and the pass-through tax."""

    key: str
    category_id: UUID
    lines: dict[str, Decimal]
    counterparty_id: UUID | None = None
    counterparty_type: str | None = None
    counterparty_by_settlement: bool | None = None
    rule: RecognitionRule = field(default_factory=RecognitionRule)
    pass_through_tax: Decimal | None = None
    source_note: str | None = None

    @property
    def value(self) -> Decimal:
        return sum(self.lines.values(), self.pass_through_tax or Decimal(0))

    @property
    def pointer(self) -> str:
        return "#/categorizations/" + self.key.replace("~", "~0").replace("/", "~1")


def replace_categorizations(
    *, company: Company, context: AuditContext, transaction_id: UUID | str, inputs: list[CategorizationInput]
) -> Transaction:
    """Replace the categorizations of a transaction.

    Keys that are ids of its categorizations keep them; keys that are no UUID get new ids. Legs of transfers
    must be sent unchanged. Nothing is written if the same categorizations are sent, unless they were assigned
    automatically: then the transaction is taken over.

    Raises NotFoundError, PreconditionFailed, InitialBalanceFixed, ValidationFailed, SplitExceedsAmount,
    TransactionLinked, MissingRateError, PeriodTooLong, PeriodClosed.
    """
    with change_company(company, context=context, closed_pointers=("#/categorizations",)) as change:
        row = change.lock(Transaction, transaction_id)
        if row.is_initial:
            raise TransactionIsInitialBalance
        stored_categorizations = (
            Categorization.objects.for_company(company.id).filter(transaction=row).order_by("position", "id")
        )
        existing = {categorization.id: categorization for categorization in stored_categorizations}
        categorizations = validate_categorizations(row, existing, inputs)
        legs = {part.id: build_stored_input(part) for part in existing.values() if part.counter_id}
        categorizations |= {leg_id: merge_leg_input(leg, categorizations[leg_id]) for leg_id, leg in legs.items()}
        categorizations = set_settled_counterparty(row, categorizations, existing)
        before = {str(part.id): build_categorization_snapshot(build_stored_input(part)) for part in existing.values()}
        after = {str(part_id): build_categorization_snapshot(part) for part_id, part in categorizations.items()}
        is_unchanged = list(before.items()) == list(after.items())  # in the same order too
        if is_unchanged and not row.categorizations_auto_assigned:
            return row
        delete_postings(company=company, transaction_ids=[row.id])
        Categorization.objects.for_company(company.id).filter(transaction=row).unlinked().delete()
        write_split_categorizations(row, categorizations, leg_ids=legs.keys(), stored_categorizations=existing.values())
        recompute_totals_and_postings(change, [row.id])
        row.last_updated_time, row.last_updated_user_id = context.time, context.actor
        change.record_bulk("transaction.split", "transaction", entity_id=row.id, before=before, after=after)
    return row


def build_stored_input(categorization: Categorization) -> CategorizationInput:
    """Return a stored categorization as the request that leaves it unchanged."""
    return CategorizationInput(
        key=str(categorization.id),
        category_id=categorization.category_id,
        lines=categorization.split,
        counterparty_id=categorization.counterparty_id,
        counterparty_by_settlement=categorization.counterparty_by_settlement,
        rule=RecognitionRule.from_categorization(categorization),
        pass_through_tax=categorization.pass_through_tax,
        source_note=categorization.source_note,
    )


def set_settled_counterparty(
    row: Transaction,
    categorizations: Mapping[UUID, CategorizationInput],
    existing: Mapping[UUID, Categorization],
) -> dict[UUID, CategorizationInput]:
    """Return categorizations where new ones without counterparty have that of what the transaction settles.

    One that a person takes away from an existing categorization is not set again.
    """
    settled_id = find_settled_counterparties(company_id=row.company_id, transaction_ids=[row.id]).get(row.id)
    completed = dict(categorizations)
    for part_id, part in categorizations.items():
        if part_id not in existing:
            if settled_id is not None and part.counterparty_id is None:
                completed[part_id] = replace(part, counterparty_id=settled_id, counterparty_by_settlement=True)
        elif part.counterparty_id == existing[part_id].counterparty_id:
            completed[part_id] = replace(part, counterparty_by_settlement=existing[part_id].counterparty_by_settlement)
    return completed


def merge_leg_input(leg: CategorizationInput, sent: CategorizationInput) -> CategorizationInput:
    """Return a leg of a transfer with what can be changed of it: counterparty and note."""
    return replace(leg, counterparty_id=sent.counterparty_id, source_note=sent.source_note)


def build_categorization_snapshot(categorization: CategorizationInput) -> dict[str, Any]:
    """Return what the audit log keeps of a categorization: the fields that a person can set."""
    rule = categorization.rule
    return {
        "category_id": categorization.category_id,
        "value": categorization.value,
        "counterparty_id": categorization.counterparty_id,
        "pl_split": categorization.lines,
        "rule": rule.type,
        "rule_start_date": rule.start,
        "rule_end_date": rule.end,
        "invoice_date": rule.invoice_date,
        "pass_through_tax": categorization.pass_through_tax,
        "source_note": categorization.source_note,
    }


def validate_categorizations(
    row: Transaction, existing: dict[UUID, Categorization], inputs: list[CategorizationInput]
) -> dict[UUID, CategorizationInput]:
    """Return the requested categorizations by id. Raises ValidationFailed, TransactionLinked, SplitExceedsAmount."""
    ids = assign_categorization_ids(row, inputs)
    pl_types = load_pl_types_by_category(row.company, inputs)
    inputs = [
        replace(
            categorization, lines=drop_zero_amounts(categorization, pl_types.get(categorization.category_id, PL_TYPES))
        )
        for categorization in inputs
    ]
    errors = [
        error
        for categorization in inputs
        for error in find_categorization_amount_errors(categorization, row.amount_value, row.amount_currency)
    ]
    errors += find_reference_errors(row.company, inputs, pl_types)
    if errors:
        raise ValidationFailed(errors)
    inputs_by_id = dict(zip(ids, inputs, strict=True))
    check_legs_unchanged(existing, inputs_by_id)
    if abs(sum((categorization.value for categorization in inputs), Decimal(0))) > abs(row.amount_value):
        raise SplitExceedsAmount
    return inputs_by_id


def write_split_categorizations(
    row: Transaction,
    categorizations: dict[UUID, CategorizationInput],
    *,
    leg_ids: Collection[UUID] = (),
    first_position: int = 0,
    stored_categorizations: Iterable[Categorization] = (),
) -> None:
    """Store categorizations in order, from position ``first_position``; legs get only position, counterparty, note.

    Args:
        stored_categorizations: the categorizations before; those that stay the same may be recognized in closed months.

    Raises: PeriodClosed.
    """
    company = row.company
    known_invoice_date = find_invoice_dates(company_id=company.id, transaction_ids=[row.id]).get(row.id)
    rows = []
    for position, (categorization_id, categorization) in enumerate(categorizations.items(), first_position):
        if categorization_id in leg_ids:
            Categorization.objects.for_company(company.id).filter(id=categorization_id).update(
                position=position,
                counterparty_id=categorization.counterparty_id,
                source_note=categorization.source_note,
            )
            continue
        period_dates = resolve_service_period(
            categorization.rule,
            day=row.date,
            known_invoice_date=known_invoice_date,
            recognize_revenue_on_invoice=company.pl_recognize_revenue_on_invoice,
            has_revenue="revenue" in categorization.lines,
        )
        rows.append((categorization_id, position, categorization, period_dates))
    recognition_starts = find_recognition_starts(
        row, [(categorization, period_dates) for _, _, categorization, period_dates in rows], stored_categorizations
    )
    copy_rows(
        "ledger_categorization",
        {
            **CATEGORIZATION_COLUMN_TYPES,
            "source_note": "text",
            "recognized_from": "date",
            "counterparty_by_settlement": "bool",
        },
        (
            (
                *(
                    company.id,
                    categorization_id,
                    row.id,
                    position,
                    categorization.category_id,
                    categorization.counterparty_id,
                ),
                *(
                    categorization.rule.type,
                    categorization.rule.start,
                    categorization.rule.end,
                    categorization.rule.invoice_date,
                    *period_dates,
                ),
                *(categorization.lines.get(pl_type) for pl_type in PL_TYPES),
                *(categorization.pass_through_tax, categorization.value, categorization.source_note, recognized_from),
                categorization.counterparty_by_settlement,
            )
            for (categorization_id, position, categorization, period_dates), recognized_from in zip(
                rows, recognition_starts, strict=True
            )
        ),
    )


def find_recognition_starts(
    row: Transaction,
    periods: list[tuple[CategorizationInput, tuple[date, date]]],
    stored_categorizations: Iterable[Categorization],
) -> list[date | None]:
    """Return the month in which each categorization recognizes what lies in closed months; None if nothing does.

    A categorization that had the same category, amounts and period before stays recognized as it was.

    Raises: PeriodClosed.
    """
    company = row.company
    stored_starts = {
        build_recognition_key(categorization.category_id, categorization.split, categorization.service_period): (
            categorization.recognized_from
        )
        for categorization in stored_categorizations
    }
    counts = is_counted_in_results(pending=row.pending, source=row.source)
    starts: list[date | None] = []
    closed_pointers = []
    for categorization, dates in periods:
        key = build_recognition_key(categorization.category_id, categorization.lines, dates)
        if key in stored_starts:
            starts.append(stored_starts[key])
        elif counts and is_day_closed(company, dates[0]):
            starts.append(get_first_open_day(company))
            if not categorization.rule.is_catch_up:
                closed_pointers.append((f"{categorization.pointer}/usingDateRule", dates[0]))
        else:
            starts.append(None)
    check_period_open_for_recognition(company, closed_pointers)
    return starts


def build_recognition_key(category_id: UUID, lines: dict[str, Decimal], dates: tuple[date, date]) -> tuple[Any, ...]:
    """Return what of a categorization makes figures: category, amounts by P&L line and period."""
    return category_id, frozenset((line, value.normalize()) for line, value in lines.items()), dates


def assign_categorization_ids(row: Transaction, inputs: list[CategorizationInput]) -> list[UUID]:
    """Return the ids: keys that are UUIDs, else new ones. Raises ValidationFailed for another transaction's id."""
    ids = [parse_id(categorization.key) or generate_id() for categorization in inputs]
    other_categorizations = Categorization.objects.for_company(row.company_id).exclude(transaction=row)
    used_ids = set(other_categorizations.filter(id__in=ids).values_list("id"))
    errors = [
        (
            categorization.pointer,
            "id_in_use" if (categorization_id,) in used_ids else "repeated_id",
            _("Another categorization has this ID."),
        )
        for position, (categorization_id, categorization) in enumerate(zip(ids, inputs, strict=True))
        if (categorization_id,) in used_ids or categorization_id in ids[:position]
    ]
    if errors:
        raise ValidationFailed(errors)
    return ids


def find_categorization_amount_errors(
    categorization: CategorizationInput, amount: Decimal, currency: str
) -> Iterator[ErrorEntry]:
    """Yield errors of the amounts: none at all, too many decimals for the currency, or the wrong sign."""
    values = {f"plSplit/{pl_type}": value for pl_type, value in categorization.lines.items()}
    if categorization.pass_through_tax is not None:
        values["passThroughTax"] = categorization.pass_through_tax
    if not values:
        detail = _("Must have a P&L line unless the whole amount is passThroughTax.")
        yield f"{categorization.pointer}/plSplit", "must_not_be_empty", detail
    for name, value in values.items():
        if value * amount < 0:
            yield f"{categorization.pointer}/{name}", "wrong_sign", _("Must have the same sign as the transaction.")
        elif has_too_many_decimals(value, currency):
            detail = describe_too_many_decimals(f"{value.normalize():f}", currency)
            yield f"{categorization.pointer}/{name}", "too_many_decimals", detail


def load_pl_types_by_category(company: Company, inputs: list[CategorizationInput]) -> dict[UUID, list[str]]:
    """Return the P&L lines of each known category that is requested."""
    category_ids = {categorization.category_id for categorization in inputs}
    return dict(Category.objects.for_company(company.id).filter(id__in=category_ids).values_list("id", "pl_types"))


def drop_zero_amounts(categorization: CategorizationInput, pl_types: Sequence[str]) -> dict[str, Decimal]:
    """Return the amounts without zeros. A categorization of nothing keeps one zero on a line of its category."""
    nonzero_amounts = {pl_type: value for pl_type, value in categorization.lines.items() if value}
    if nonzero_amounts or categorization.pass_through_tax:
        return nonzero_amounts
    return dict.fromkeys([pl_type for pl_type in categorization.lines if pl_type in pl_types][:1], Decimal(0))


def find_reference_errors(
    company: Company, inputs: list[CategorizationInput], pl_types: dict[UUID, list[str]]
) -> Iterator[ErrorEntry]:
    """Yield errors for unknown categories and counterparties, and for P&L lines a category does not have."""
    counterparty_ids = {categorization.counterparty_id for categorization in inputs if categorization.counterparty_id}
    types = dict(Counterparty.objects.for_company(company.id).filter(id__in=counterparty_ids).values_list("id", "type"))
    for categorization in inputs:
        if categorization.category_id not in pl_types:
            yield build_unknown_id_entry(f"{categorization.pointer}/categoryId")
        else:
            for pl_type in categorization.lines.keys() - pl_types[categorization.category_id]:
                yield (
                    f"{categorization.pointer}/plSplit/{pl_type}",
                    "pl_type_not_allowed",
                    _("The category does not post to this P&L line."),
                )
        yield from find_counterparty_errors(categorization, types)


def find_counterparty_errors(categorization: CategorizationInput, types: dict[UUID, str]) -> Iterator[ErrorEntry]:
    """Yield the error of an unknown counterparty or of a wrong type."""
    if categorization.counterparty_id is None:
        return
    if categorization.counterparty_id not in types:
        yield build_unknown_id_entry(f"{categorization.pointer}/counterparty/id")
    elif categorization.counterparty_type not in (None, types[categorization.counterparty_id]):
        detail = _("The type of the counterparty is {type}.").format(type=types[categorization.counterparty_id])
        yield f"{categorization.pointer}/counterparty/type", "wrong_type", detail


def check_legs_unchanged(existing: dict[UUID, Categorization], inputs_by_id: dict[UUID, CategorizationInput]) -> None:
    """Check that every leg of a transfer is sent unchanged. Raises TransactionLinked."""
    for leg_id, leg in existing.items():
        if leg.counter_id is None:
            continue
        categorization = inputs_by_id.get(leg_id)
        if categorization is None or categorization.category_id != leg.category_id or categorization.lines != leg.split:
            raise TransactionLinked
        if (categorization.pass_through_tax or 0) != (leg.pass_through_tax or 0):
            raise TransactionLinked
