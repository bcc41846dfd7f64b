"""Tell the rows of an imported plan that are categories from its headings, subtotals and totals."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from uuid import UUID

from ledger.imports.calc.column_mapping import fold_setting_value
from ledger.imports.calc.vocabulary import find_balance_name_kind
from planning.plan.calc.plan_table import PlanTableRow

ZERO = Decimal(0)
SUBTOTAL, TOTAL = "subtotal", "total"  # what a row is that is neither a category nor a P&L line


@dataclass(frozen=True, slots=True)
class PlanRowNames:
    """The folded names that rows may have: label → P&L line, subtotals, and name → ids of categories."""

    lines: dict[str, str] = field(default_factory=dict)
    subtotals: set[str] = field(default_factory=set)
    categories: dict[str, set[UUID]] = field(default_factory=dict)


@dataclass(slots=True)
class PlacedRow:
    """A row with its place in the statement.

    `line` is the P&L line that its section proves, `is_signed` whether a subtotal proves that its amounts have the
    sign that pages show. Rows that are not a category are left out.
    """

    row: PlanTableRow
    is_left_out: bool = False
    line: str = ""
    is_signed: bool = False


def place_plan_rows(rows: Sequence[PlanTableRow], names: PlanRowNames) -> list[PlacedRow]:
    """Place the rows of a plan in the statement.

    A row named after a P&L line proves the line of the rows below it, up to the next such row or subtotal, if it has
    no amounts or is their sum. A subtotal that is the sum of the rows above it proves their signs.
    """
    kinds = find_row_kinds(rows, names)
    placed = [PlacedRow(row, bool(kind) or not row.amounts) for row, kind in zip(rows, kinds, strict=True)]
    for place, kind in enumerate(kinds):
        if kind == SUBTOTAL:
            above = [each for each in placed[:place] if not each.is_left_out]
            if rows[place].amounts and is_sum_of(rows[place], above):
                for each in above:
                    each.is_signed = True
        elif kind and kind != TOTAL:
            end = next((other for other in range(place + 1, len(rows)) if kinds[other]), len(rows))
            if not rows[place].amounts or is_sum_of(rows[place], placed[place + 1 : end]):
                for each in placed[place + 1 : end]:
                    each.line = kind
    return placed


def find_row_kinds(rows: Sequence[PlanTableRow], names: PlanRowNames) -> list[str]:
    """Return what each row is by its name: the P&L line, a subtotal or total; empty for a category.

    A name that a category has too means a P&L line in the first of several rows with names of the category, if no
    other row is named after that line.
    """
    folded_names = [fold_setting_value(row.name) for row in rows]
    named_categories = [frozenset(names.categories.get(name, ())) for name in folded_names]
    counts, seen, kinds = Counter(named_categories), set[frozenset[UUID]](), list[str]()
    headings = {names.lines[name] for name in folded_names if name in names.lines and name not in names.categories}
    for name, categories in zip(folded_names, named_categories, strict=True):
        line = names.lines.get(name, "")
        if not categories:
            kinds.append(line or (SUBTOTAL if name in names.subtotals else find_total_kind(name)))
        else:
            kinds.append(line if counts[categories] > 1 and categories not in seen and line not in headings else "")
        seen.add(categories)
    return kinds


def find_total_kind(name: str) -> str:
    """Return whether a name is that of a total or a balance.

    >>> [find_total_kind(name) for name in ("Summe", "Summe Personal", "Total", "Total Energies")]
    ['total', 'total', 'total', '']
    """
    is_total = find_balance_name_kind(name) or find_balance_name_kind(name.partition(" ")[0]) == "sum"
    return TOTAL if is_total else ""


def is_sum_of(row: PlanTableRow, parts: Iterable[PlacedRow]) -> bool:
    """Whether the amounts of a row are the sums of others in every month."""
    sums: dict[date, Decimal] = {}
    for part in parts:
        for month, written in part.row.amounts.items():
            sums[month] = sums.get(month, ZERO) + written.amount
    months = sums.keys() | row.amounts.keys()
    return all(
        sums.get(month, ZERO) == (row.amounts[month].amount if month in row.amounts else ZERO) for month in months
    )
