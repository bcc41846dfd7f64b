"""What transactions were for, when the bank gives them another amount: each part keeps its share of it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from uuid import UUID

from django.db import connection

from companies.changing import Change
from ledger.models import Categorization, Transaction
from ledger.recognition.posting import LINES
from ledger.recognition.totals import parts_changed, retotal
from ledger.statements.calc.shares import in_proportion

AMOUNTS = (*LINES, "pass_through_tax")
_STORE = f"""
    UPDATE ledger_categorization c
       SET value = b.value, {", ".join(f"{name} = b.{name}" for name in AMOUNTS)}
      FROM unnest(%s::uuid[], %s::numeric[], {", ".join(["%s::numeric[]"] * len(AMOUNTS))})
           AS b (id, value, {", ".join(AMOUNTS)})
     WHERE c.company_id = %s AND c.id = b.id
"""  # noqa: S608 - our own words


@contextmanager
def shared_anew(
    change: Change, amounts: Mapping[UUID, Decimal], *, instead: Mapping[UUID, bool] | None = None
) -> Iterator[None]:
    """Around what gives transactions other amounts: their parts follow in proportion, and what was open stays open.

    A leg of a transfer stays as it is while there is room for it, and with it all parts of its transaction; else it is
    unlinked. Of those in ``instead`` whoever calls puts other parts there, and says whether nobody decided them.
    A constant number of statements. Raises NoRate.
    """
    given = dict(instead or {})
    rows = Transaction.objects.of(change.company.id).filter(id__in=[*amounts]).exclude(id__in=[*given])
    others = [row for row in rows.exclude(categorized_value=0) if row.amount_value != amounts[row.id]]
    held = shared(change, others, amounts)
    totals = {row.id: row.categorizations_auto_assigned for row in others if row.id not in held} | given
    changed = Transaction.objects.of(change.company.id).filter(id__in=[*totals])
    changed.update(categorized_value=0, transferred_value=0)  # the parts are within the amount at every moment
    yield
    retotal_as_before(change, totals)


def retotal_as_before(change: Change, rows: Mapping[UUID, bool]) -> None:
    """The totals of transactions; the value says whether nobody decided their parts."""
    for automatic in (True, False):
        ids = [row_id for row_id, of_kind in rows.items() if of_kind == automatic]
        if ids:
            retotal(change, ids, automatic=automatic)


def shared(change: Change, rows: list[Transaction], amounts: Mapping[UUID, Decimal]) -> set[UUID]:
    """Stores the shares; returns the transactions whose legs hold their parts as they are."""
    if not rows:
        return set()
    parts: dict[UUID, list[Categorization]] = defaultdict(list)
    found = Categorization.objects.of(change.company.id).filter(transaction_id__in=[row.id for row in rows])
    for part in found.order_by("position", "id"):
        parts[part.transaction_id].append(part)
    linked = [row for row in rows if any(part.counter_id for part in parts[row.id])]
    held = {row.id for row in linked if fits(row, amounts[row.id])}
    unlink(change, [part for row in linked if row.id not in held for part in parts[row.id] if part.counter_id])
    stored = []
    for row in rows:
        own = [part for part in parts[row.id] if not part.counter_id]
        if own and row.id not in held:
            values = [getattr(part, name) for part in own for name in AMOUNTS]
            new = in_proportion(values, of=row.amount_value, to=amounts[row.id], currency=row.amount_currency)
            for place, part in enumerate(own):
                each = new[place * len(AMOUNTS) : (place + 1) * len(AMOUNTS)]
                stored.append((part.id, sum(filter(None, each), Decimal(0)), *each))
    if stored:
        with connection.cursor() as cursor:
            cursor.execute(_STORE, [*(list(column) for column in zip(*stored, strict=True)), change.company.id])
    return held


def fits(row: Transaction, amount: Decimal) -> bool:
    """Whether another amount leaves room for what the parts add up to."""
    return row.amount_value * amount > 0 and abs(row.categorized_value) <= abs(amount)


def unlink(change: Change, legs: list[Categorization]) -> None:
    """Takes legs away with their other ends, whose transactions are open again."""
    if not legs:
        return
    counters = Categorization.objects.of(change.company.id).filter(id__in=[leg.counter_id for leg in legs])
    partners = sorted(set(counters.values_list("transaction_id", flat=True)))
    ids = [*(leg.id for leg in legs), *(leg.counter_id for leg in legs)]
    Categorization.objects.of(change.company.id).filter(id__in=ids).delete()
    parts_changed(change, partners)
