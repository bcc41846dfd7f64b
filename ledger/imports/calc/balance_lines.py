"""Rows with a day that name a balance or a sum instead of a movement, told from payments with such a word in them."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from ledger.imports.calc.balance_steps import BACKWARD, find_time_order
from ledger.imports.calc.vocabulary import find_balance_name_kind, is_carried_forward, is_carried_forward_name

WORDLESS = "wordless"  # the kind of a row that says nothing in words, which may be a balance
CARRIED = "carried"  # the kind of a row that names a balance carried forward, or a transfer
CARRIED_NAME = "carriedName"  # the kind of a row that names a balance carried forward and nothing else
CARRIED_FROM = "carriedFrom"  # the kind of a row that names a balance carried forward, and where it is from
CARRIED_KINDS = (CARRIED, CARRIED_NAME, CARRIED_FROM)


@dataclass(frozen=True, slots=True)
class DatedRow:
    """What a row with a day says: ``kind`` is that of the balance or sum it is the name of, empty for others.

    ``is_like_payment``: whether it has a direction or a reference, as payments have.
    """

    line: int
    day: date | None
    amount: Decimal | None
    balance: Decimal | None
    kind: str
    is_like_payment: bool = False


def find_balance_line_kind(texts: Sequence[str]) -> str:
    """The kind of balance or sum that the texts of a row name; empty where they name none.

    "Opening balance" is one beside any words, "Balance" alone beside none.

    >>> [find_balance_line_kind(texts) for texts in (["Opening balance", "Giro"], ["Saldo"], ["Client", "Saldo"])]
    ['balance', 'word', '']
    >>> find_balance_line_kind(["Sparkasse", "Übertrag auf Tagesgeld"]), find_balance_line_kind(["Übertrag Vormonat"])
    ('carried', 'carriedFrom')
    """
    kinds = [find_balance_name_kind(text) for text in texts if text]
    if certain := next((kind for kind in kinds if kind in ("balance", "sum")), None):
        return certain
    if any(map(is_carried_forward, texts)):
        names = [text for text in texts if text]
        if not all(map(is_carried_forward_name, names)):
            return CARRIED
        return CARRIED_FROM if any(len(text.split()) > 1 for text in names) else CARRIED_NAME
    return kinds[0] or "" if kinds and all(kinds) else ""


@dataclass(frozen=True, slots=True)
class Totals:
    """The money in and the money out of several movements, and how many they are."""

    came: Decimal = Decimal(0)
    went: Decimal = Decimal(0)
    count: int = 0


@dataclass(frozen=True, slots=True)
class NamedRows:
    """The lines of rows that name a balance or a sum: those that are one, and those that may be a payment as well."""

    balances: frozenset[int]
    unproven: frozenset[int]


class BalanceLines:
    """Tells which rows of a table are no movements. ``read_rows`` reads them when the first such name is met."""

    def __init__(self, read_rows: Callable[[], list[DatedRow]]):
        self.read_rows = read_rows
        self.named_rows: NamedRows | None = None

    def find(self) -> NamedRows:
        if self.named_rows is None:
            self.named_rows = find_balance_lines(self.read_rows())
        return self.named_rows


def find_balance_lines(rows: Sequence[DatedRow]) -> NamedRows:
    """Tell which rows that name a balance or a sum are one, and which may be a payment as well.

    A row by whose amount the balance changes is a movement. A balance or a sum is proven by its amount: it is zero, or
    the balance there, or a sum of rows. Above all movements the full name of a balance, such as "Opening balance", is
    enough. Without a proof, a direction or a reference says that a row is a payment, and
    so do names of firms and transfers, such as Total and "Übertrag".
    """
    wordless = find_wordless_balances(rows)
    rows = [replace(row, kind="") if row.kind == WORDLESS and row.line not in wordless else row for row in rows]
    is_backward = find_time_order([row.day for row in rows]) == BACKWARD
    ordered = drop_names_of_payments(list(reversed(rows)) if is_backward else list(rows))
    totals = list_totals(ordered)
    repeated = find_repeated_balances(ordered)
    balances: set[int] = set()
    unproven: set[int] = set()
    last_named: int | None = None
    before: Decimal | None = None
    for position, row in enumerate(ordered):
        is_unchanged = row.balance is not None and row.balance == before
        before = row.balance if row.balance is not None else before
        if not row.kind:
            continue
        is_sum = row.kind in ("sum", "name") and is_sum_of_rows(ordered, totals, position, last_named)
        last_named = position
        is_first = not totals[position].count
        is_proven = is_sum or is_unchanged or is_proven_balance(row, totals[position]) or row.line in repeated
        is_opening = is_first and (row.kind == CARRIED_FROM or (row.kind == "balance" and row.balance is None))
        if is_proven or is_opening or row.kind == WORDLESS:
            balances.add(row.line)
        elif not is_payment(row, is_first=is_first):
            unproven.add(row.line)
    return NamedRows(frozenset(balances), frozenset(unproven))


def drop_names_of_payments(ordered: Sequence[DatedRow]) -> list[DatedRow]:
    """Return the rows, of which those by whose amount the balance changes name nothing."""
    result: list[DatedRow] = []
    before: Decimal | None = None
    for row in ordered:
        step = row.balance - before if row.balance is not None and before is not None else None
        is_movement = bool(step) and row.amount is not None and abs(step or 0) == abs(row.amount)
        result.append(replace(row, kind="") if is_movement else row)
        before = row.balance if row.balance is not None else before
    return result


def list_totals(ordered: Sequence[DatedRow]) -> list[Totals]:
    """Return what moved before each row, and before the end of all."""
    totals = [Totals()]
    for row in ordered:
        total, amount = totals[-1], row.amount
        if amount and not row.kind:
            came, went = max(amount, Decimal(0)), min(amount, Decimal(0))
            total = Totals(total.came + came, total.went + went, total.count + 1)
        totals.append(total)
    return totals


def is_proven_balance(row: DatedRow, total: Totals) -> bool:
    """Whether the amount of a row proves that it names a balance: it has none, or it is zero, the balance in its cell
    or what moved so far, which one word may also say of money in or out alone. A row that cannot be read is no payment
    either."""
    if row.amount is None or row.amount in (0, row.balance):
        return True
    sums = {total.came + total.went}
    sums |= {"word": {total.came, total.went}, "balance": {-total.came - total.went}}.get(row.kind, set())
    return row.kind not in (CARRIED, "name") and total.count > 0 and row.amount in sums


def find_repeated_balances(ordered: Sequence[DatedRow]) -> frozenset[int]:
    """The lines of rows that name the balances of one and the same opening balance, which proves each of them.

    Movements are between them, or they are of one day and one is certain by its name.
    """
    has_time_order = bool(find_time_order([row.day for row in ordered]))
    rows = ordered if has_time_order else sorted(ordered, key=lambda row: row.day or date.max)
    groups: dict[Decimal, list[tuple[DatedRow, int]]] = {}
    for row, total in zip(rows, list_totals(rows), strict=False):
        if row.kind and row.kind != "name" and row.amount is not None:
            groups.setdefault(row.amount - total.came - total.went, []).append((row, total.count))
    lines: set[int] = set()
    for group in groups.values():
        days = Counter(row.day for row, _ in group)
        certain_days = {row.day for row, _ in group if row.kind in ("balance", "sum")}
        is_apart = len({count for _, count in group}) > 1
        lines |= {row.line for row, _ in group if is_apart or (days[row.day] > 1 and row.day in certain_days)}
    return frozenset(lines)


def is_payment(row: DatedRow, *, is_first: bool) -> bool:
    """Whether a row is a payment that nothing proves to be a balance or a sum. ``is_first``: above all movements."""
    if row.kind in ("name", CARRIED) or row.is_like_payment:
        return True
    if row.balance is not None and row.kind != "sum":
        return True  # a balance would be the one in its cell
    return row.kind in CARRIED_KINDS and not is_first


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


def is_sum_of_rows(
    ordered: Sequence[DatedRow], totals: Sequence[Totals], position: int, last_named: int | None
) -> bool:
    """Whether a row's amount is a sum of rows: of all others or those before it, money in, money out or both, or of
    the balance before and the movements since."""
    amount = ordered[position].amount
    if amount is None:
        return True
    above = totals[position]
    parts = [above, totals[-1]]
    sums: list[Decimal] = []
    if last_named is not None:
        start = totals[last_named + 1]
        parts.append(Totals(above.came - start.came, above.went - start.went))
        sums.append((ordered[last_named].amount or Decimal(0)) + parts[-1].came + parts[-1].went)
    for part in parts:
        sums += [part.came + part.went, part.came, part.went, part.came - part.went]
    return abs(amount) in {abs(total) for total in sums if total}
