"""Rows with a day that name a balance or a sum instead of a movement, told from payments with such a word in them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from ledger.imports.calc.balance_steps import BACKWARD, Amounts, find_time_order
from ledger.imports.calc.vocabulary import find_balance_name_kind, is_carried_forward, is_carried_forward_name

WORDLESS = "wordless"  # the kind of a row that says nothing in words, which may be a balance
CARRIED = "carried"  # the kind of a row that names a balance carried forward, or a transfer
CARRIED_NAME = "carriedName"  # the kind of a row that names a balance carried forward and nothing else
CARRIED_KINDS = (CARRIED, CARRIED_NAME)


@dataclass(frozen=True, slots=True)
class DatedRow:
    """What a row with a day says: ``kind`` is that of the balance or sum it is the name of, empty for others."""

    line: int
    day: date | None
    amount: Decimal | None
    balance: Decimal | None
    kind: str


def find_balance_line_kind(texts: Sequence[str]) -> str:
    """The kind of balance or sum that the texts of a row name; empty where they name none.

    "Opening balance" is one beside any words, "Balance" alone beside none.

    >>> [find_balance_line_kind(texts) for texts in (["Opening balance", "Giro"], ["Saldo"], ["Client", "Saldo"])]
    ['balance', 'word', '']
    >>> find_balance_line_kind(["Sparkasse", "Übertrag auf Tagesgeld"]), find_balance_line_kind(["Übertrag Vormonat"])
    ('carried', 'carriedName')
    """
    kinds = [find_balance_name_kind(text) for text in texts if text]
    if certain := next((kind for kind in kinds if kind in ("balance", "sum")), None):
        return certain
    if any(map(is_carried_forward, texts)):
        return CARRIED_NAME if all(map(is_carried_forward_name, filter(None, texts))) else CARRIED
    return kinds[0] or "" if kinds and all(kinds) else ""


class BalanceLines:
    """Tells which rows of a table are no movements. ``read_rows`` reads them when the first such name is met."""

    def __init__(self, read_rows: Callable[[], list[DatedRow]]):
        self.read_rows = read_rows
        self.lines: frozenset[int] | None = None

    def has_line(self, line: int) -> bool:
        if self.lines is None:
            self.lines = find_balance_lines(self.read_rows())
        return line in self.lines


def find_balance_lines(rows: Sequence[DatedRow]) -> frozenset[int]:
    """The lines of rows that name a balance or a sum and are no movements.

    A row by whose amount the balance changes is a movement. What firms are called too, such as Total, is a sum where
    it is the sum of rows. What transfers are called too, such as "Übertrag", is a balance where it moves nothing or
    repeats the balance.
    """
    wordless = find_wordless_balances(rows)
    rows = [replace(row, kind="") if row.kind == WORDLESS and row.line not in wordless else row for row in rows]
    is_backward = find_time_order([row.day for row in rows]) == BACKWARD
    ordered = list(reversed(rows)) if is_backward else list(rows)
    line_numbers: set[int] = set()
    before: Decimal | None = None
    for position, row in enumerate(ordered):
        step = row.balance - before if row.balance is not None and before is not None else None
        is_movement = bool(step) and row.amount is not None and abs(step or 0) == abs(row.amount)
        if (
            row.kind
            and not is_movement
            and (row.kind != "name" or is_sum_of_rows(row, ordered[:position], ordered[position + 1 :]))
            and (row.kind not in CARRIED_KINDS or repeats_balance(row, ordered[:position], line_numbers))
        ):
            line_numbers.add(row.line)
        before = row.balance if row.balance is not None else before
    return frozenset(line_numbers)


def repeats_balance(row: DatedRow, above: Sequence[DatedRow], balance_lines: Collection[int]) -> bool:
    """Whether a row's amount is zero or the balance there: of its cell, or the last named one and what moved since.

    Without balances in cells, a row that names nothing but a balance carried forward is one above all movements, and
    where its amount is what moved so far.
    """
    if row.amount in (0, row.balance):
        return True
    if row.kind == CARRIED_NAME and row.balance is None:
        moved = [each.amount for each in above if each.line not in balance_lines]
        if not moved or row.amount == sum((amount for amount in moved if amount is not None), Decimal(0)):
            return True
    last = next((place for place in reversed(range(len(above))) if above[place].line in balance_lines), None)
    if last is None or row.amount is None or above[last].amount is None:
        return False
    return row.amount == sum((each.amount for each in above[last:] if each.amount is not None), Decimal(0))


def find_wordless_balances(rows: Sequence[DatedRow]) -> frozenset[int]:
    """The lines of two rows without words that are the balances before and after all movements: no movement is outside
    of their days, and all movements together are the one less the other."""
    pair = sorted((row for row in rows if row.kind == WORDLESS), key=lambda row: row.day or date.max)
    moved = [row for row in rows if not row.kind]
    if len(pair) != 2 or not moved or any(row.amount is None or row.day is None for row in (*pair, *moved)):
        return frozenset()
    start, end = pair
    is_around = all(start.day <= row.day <= end.day for row in moved)  # type: ignore[operator]
    total = sum(row.amount for row in moved)  # type: ignore[misc]
    change = end.amount - start.amount  # type: ignore[operator]
    is_total = change == total or (start.day == end.day and -change == total)
    return frozenset({start.line, end.line}) if is_around and is_total else frozenset()


def is_sum_of_rows(row: DatedRow, above: Sequence[DatedRow], below: Sequence[DatedRow]) -> bool:
    """Whether a row's amount is a sum of rows: of all others or those before it, money in, money out or both, or of
    the balance before and the movements since."""
    if row.amount is None:
        return True
    last = next((position for position in reversed(range(len(above))) if above[position].kind), None)
    sums = []
    for part in (above, [*above, *below], above[last + 1 :] if last is not None else []):
        amounts: Amounts = [each.amount for each in part if each.amount and not each.kind]
        came = sum(amount for amount in amounts if amount and amount > 0)
        went = sum(amount for amount in amounts if amount and amount < 0)
        if amounts:
            sums += [came + went, came, went, came - went]
    if last is not None and above[last].amount is not None:
        sums.append(above[last].amount + sum(each.amount for each in above[last + 1 :] if each.amount))  # type: ignore[operator]
    return abs(row.amount) in {abs(total) for total in sums if total}
