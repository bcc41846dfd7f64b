"""Rescale categorizations when the bank reports another amount: each keeps its share."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from uuid import UUID

from django.db import connection

from companies.change import CompanyChange
from ledger.calc.proportional_shares import scale_proportionally
from ledger.models import Categorization, Transaction
from ledger.recognition.actions.postings import PL_TYPES
from ledger.recognition.actions.transaction_totals import recompute_totals, recompute_totals_and_postings

AMOUNT_COLUMNS = (*PL_TYPES, "pass_through_tax")
_STORE = f"""
    UPDATE ledger_categorization c
       SET value = b.value, {", ".join(f"{name} = b.{name}" for name in AMOUNT_COLUMNS)}
      FROM unnest(%s::uuid[], %s::numeric[], {", ".join(["%s::numeric[]"] * len(AMOUNT_COLUMNS))})
           AS b (id, value, {", ".join(AMOUNT_COLUMNS)})
     WHERE c.company_id = %s AND c.id = b.id
"""  # noqa: S608 - our own words


@contextmanager
def rescale_categorizations(
    change: CompanyChange, amounts: Mapping[UUID, Decimal], *, instead: Mapping[UUID, bool] | None = None
) -> Iterator[None]:
    """Context manager around a change of amounts: categorizations follow in proportion, open shares stay open.

    A leg of a transfer stays if it fits, and with it all categorizations of its transaction; else it is
    unlinked. A constant number of statements. Raises MissingRateError.

    Args:
        instead: transactions whose categorizations the caller replaces, with whether they are automatic.
    """
    replaced = dict(instead or {})
    transactions = (
        Transaction.objects.for_company(change.company.id).filter(id__in=[*amounts]).exclude(id__in=[*replaced])
    )
    rescaled_transactions = [
        row for row in transactions.exclude(categorized_value=0) if row.amount_value != amounts[row.id]
    ]
    unchanged_ids = store_rescaled_categorizations(change, rescaled_transactions, amounts)
    totals = {
        row.id: row.categorizations_auto_assigned for row in rescaled_transactions if row.id not in unchanged_ids
    } | replaced
    changed_transactions = Transaction.objects.for_company(change.company.id).filter(id__in=[*totals])
    changed_transactions.update(
        categorized_value=0, transferred_value=0
    )  # the parts are within the amount at every moment
    yield
    recompute_totals_by_automatic_flag(change, totals)


def recompute_totals_by_automatic_flag(change: CompanyChange, rows: Mapping[UUID, bool]) -> None:
    """Recompute totals; the value tells whether the categorizations are automatic."""
    for automatic in (True, False):
        ids = [row_id for row_id, of_kind in rows.items() if of_kind == automatic]
        if ids:
            recompute_totals(change, ids, automatic=automatic)


def store_rescaled_categorizations(
    change: CompanyChange, rows: list[Transaction], amounts: Mapping[UUID, Decimal]
) -> set[UUID]:
    """Store rescaled categorizations; return the transactions whose legs keep them unchanged."""
    if not rows:
        return set()
    parts: dict[UUID, list[Categorization]] = defaultdict(list)
    categorizations = Categorization.objects.for_company(change.company.id).filter(
        transaction_id__in=[row.id for row in rows]
    )
    for part in categorizations.order_by("position", "id"):
        parts[part.transaction_id].append(part)
    linked = [row for row in rows if any(part.counter_id for part in parts[row.id])]
    unchanged_ids = {row.id for row in linked if has_room_for_amount(row, amounts[row.id])}
    unlink_transfer_legs(
        change, [part for row in linked if row.id not in unchanged_ids for part in parts[row.id] if part.counter_id]
    )
    rescaled = []
    for row in rows:
        own_parts = [part for part in parts[row.id] if not part.counter_id]
        if own_parts and row.id not in unchanged_ids:
            values = [getattr(part, name) for part in own_parts for name in AMOUNT_COLUMNS]
            new_values = scale_proportionally(
                values, of=row.amount_value, to=amounts[row.id], currency=row.amount_currency
            )
            for position, part in enumerate(own_parts):
                part_values = new_values[position * len(AMOUNT_COLUMNS) : (position + 1) * len(AMOUNT_COLUMNS)]
                rescaled.append((part.id, sum(filter(None, part_values), Decimal(0)), *part_values))
    if rescaled:
        with connection.cursor() as cursor:
            cursor.execute(_STORE, [*(list(column) for column in zip(*rescaled, strict=True)), change.company.id])
    return unchanged_ids


def has_room_for_amount(row: Transaction, amount: Decimal) -> bool:
    """Whether the new amount leaves room for the sum of the categorizations."""
    return row.amount_value * amount > 0 and abs(row.categorized_value) <= abs(amount)


def unlink_transfer_legs(change: CompanyChange, legs: list[Categorization]) -> None:
    """Delete legs with their other ends, whose transactions are uncategorized again."""
    if not legs:
        return
    counter_legs = Categorization.objects.for_company(change.company.id).filter(id__in=[leg.counter_id for leg in legs])
    partner_ids = sorted(set(counter_legs.values_list("transaction_id", flat=True)))
    leg_ids = [*(leg.id for leg in legs), *(leg.counter_id for leg in legs)]
    Categorization.objects.for_company(change.company.id).filter(id__in=leg_ids).delete()
    recompute_totals_and_postings(change, partner_ids)
