"""The profit and loss statement as a table: lines and their categories by periods, each amount beside its plan and what
it is compared with, each leading to the transactions that it adds up."""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.overview.amounts import percent, whole
from analytics.overview.links import results_query
from analytics.overview.tables import linked
from analytics.queries import results
from ledger.calc.money import WIDE
from ledger.models import EXPENSES, PlType, category_called
from ledger.transactions.pages.words import LINES

ZERO = Decimal(0)
Named = tuple[UUID, str]  # a category


@dataclass(frozen=True, slots=True)
class Amounts:
    """Of a row in a period. ``compared`` is None without a comparison, ``percentage`` where it is not to be told."""

    actual: Decimal = ZERO
    planned: Decimal = ZERO
    compared: Decimal | None = None
    percentage: Decimal | None = None
    link: str = ""

    def __add__(self, other: "Amounts") -> "Amounts":
        both = [each.compared for each in (self, other) if each.compared is not None]
        compared = sum(both, start=ZERO) if both else None
        return Amounts(self.actual + other.actual, self.planned + other.planned, compared)

    def __neg__(self) -> "Amounts":
        return Amounts(-self.actual, -self.planned, None if self.compared is None else -self.compared)


@dataclass(frozen=True, slots=True)
class Row:
    """``kind`` is line, category or sum; a cell for each period, and what they come to together. ``taken_off`` says
    whether sums are less by it."""

    name: str
    kind: str
    cells: Sequence[Amounts]
    taken_off: bool = False

    @property
    def total(self) -> Amounts:
        return sum(self.cells, start=Amounts())


@dataclass(frozen=True, slots=True)
class Statement:
    """``head`` names the periods, ``before`` those that they are compared with."""

    head: Sequence[str]
    rows: Sequence[Row]
    currency: str
    before: Sequence[str] = ()

    @property
    def body(self) -> SafeString:
        """The rows as HTML: a template's loop over as many cells would take most of the page's time."""
        words = _("plan {amount}"), _("before {amount} ({change})")
        return SafeString("".join(self._row(row, words) for row in self.rows))

    def _row(self, row: Row, words: tuple[str, str]) -> str:
        cells = "".join(self._cell(amounts, words) for amounts in row.cells)
        total = self._cell(row.total, words)
        return f'<tr class="of-{row.kind}"><th scope="row">{escape(row.name)}</th>{cells}{total}</tr>'

    def _cell(self, amounts: Amounts, words: tuple[str, str]) -> str:
        plan, before = words
        lines = [linked(whole(amounts.actual, self.currency), amounts.link if amounts.actual else "")]
        if amounts.planned:
            told = amounts.percentage is not None
            of_plan = f" · {percent(WIDE.divide(amounts.actual, amounts.planned))}" if told else ""
            planned = plan.format(amount=whole(amounts.planned, self.currency))
            lines.append(f'<span class="meta">{planned}{of_plan}</span>')
        if amounts.compared is not None:
            change = whole(amounts.actual - amounts.compared, self.currency, plus=True)
            compared = before.format(amount=whole(amounts.compared, self.currency), change=change)
            lines.append(f'<span class="meta">{compared}</span>')
        return f"<td>{''.join(lines)}</td>"


SUMS = {  # behind which line, what is left there
    PlType.COGS: gettext_lazy("Gross profit"),
    PlType.GA: gettext_lazy("Operating result"),
    PlType.NO: gettext_lazy("Result"),
}


def statement(
    found: Iterable[results.Result],
    *,
    heads: Mapping[date, str],
    shares: Container[date],
    currency: str,
    listed: str,
    compares: bool,
    before: Sequence[str] = (),
) -> Statement:
    """``heads`` are the periods' names by their first days, ``shares`` those that are shown as a share of their plan.

    ``listed`` is the address of the list of transactions, "" where the viewer may not see it.
    """
    by_line: defaultdict[str, defaultdict[Named, dict[date, Amounts]]] = defaultdict(lambda: defaultdict(dict))
    for each in found:
        query = results_query(each.first, each.last, line=each.pl_type, categories=[each.category_id], up_to=each.up_to)
        by_line[each.pl_type][each.category_id, each.category_name][each.month] = Amounts(
            each.actual, each.planned, each.compared, each.percentage, f"{listed}?{query}" if listed else ""
        )
    nothing = Amounts(compared=ZERO if compares else None)
    rows: list[Row] = []
    periods = list(heads)

    def shared(sums: Sequence[Amounts]) -> list[Amounts]:
        return [share(each) if period in shares else each for period, each in zip(periods, sums, strict=True)]

    left = [nothing] * len(periods)
    for line in PlType:
        categories = [
            Row(category_called(name), "category", [cells.get(period, nothing) for period in periods])
            for (_, name), cells in by_line[line].items()
        ]
        sums = [sum((row.cells[place] for row in categories), start=nothing) for place in range(len(periods))]
        if categories:
            rows += [Row(str(LINES[line]), "line", shared(sums), taken_off=line in EXPENSES), *categories]
        if line != PlType.NEUTRAL:
            changes = [-each for each in sums] if line in EXPENSES else sums
            left = [before + change for before, change in zip(left, changes, strict=True)]
        if line in SUMS:
            rows.append(Row(str(SUMS[line]), "sum", shared(left)))
    return Statement(list(heads.values()), rows, currency, before)


def share(amounts: Amounts) -> Amounts:
    """The same with its share of the plan, where both have one sign."""
    if not amounts.planned or amounts.actual * amounts.planned < 0:
        return amounts
    found = results.percentage(amounts.actual, amounts.planned)
    return Amounts(amounts.actual, amounts.planned, amounts.compared, found)
