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
from analytics.overview.tables import Variance, format_variance, linked
from analytics.queries import results
from ledger.calc.money import WIDE
from ledger.models import EXPENSES, PlType, category_called
from ledger.transactions.pages.words import LINES

ZERO = Decimal(0)
Named = tuple[UUID, str]  # a category


@dataclass(frozen=True, slots=True)
class Amounts:
    """Of a row in a period. ``compared`` is None without a comparison."""

    actual: Decimal = ZERO
    planned: Decimal = ZERO
    compared: Decimal | None = None
    link: str = ""

    def __add__(self, other: "Amounts") -> "Amounts":
        both = [each.compared for each in (self, other) if each.compared is not None]
        compared = sum(both, start=ZERO) if both else None
        return Amounts(self.actual + other.actual, self.planned + other.planned, compared)

    def __neg__(self) -> "Amounts":
        return Amounts(-self.actual, -self.planned, None if self.compared is None else -self.compared)


@dataclass(frozen=True, slots=True)
class Row:
    """``kind`` is line, category or sum; a cell for each period, and what they come to together. ``line`` is the line
    of the statement that it is of; None where it is a sum of several."""

    name: str
    kind: str
    cells: Sequence[Amounts]
    line: PlType | None = None

    @property
    def taken_off(self) -> bool:
        """Whether sums are less by it."""
        return self.line in EXPENSES

    @property
    def total(self) -> Amounts:
        return sum(self.cells, start=Amounts())


@dataclass(frozen=True, slots=True)
class Statement:
    """``head`` names the periods, ``before`` those that they are compared with; ``percentages`` says of each whether
    its variances are shown in percent too."""

    head: Sequence[str]
    rows: Sequence[Row]
    currency: str
    percentages: Sequence[bool]
    before: Sequence[str] = ()

    @property
    def body(self) -> SafeString:
        """The rows as HTML: a template's loop over as many cells would take most of the page's time."""
        words = _("plan {amount}"), _("before {amount} ({change})")
        return SafeString("".join(self._row(row, words) for row in self.rows))

    def _row(self, row: Row, words: tuple[str, str]) -> str:
        cells = "".join(
            self._cell(amounts, words, line=row.line, in_percent=in_percent)
            for amounts, in_percent in zip(row.cells, self.percentages, strict=True)
        )
        total = self._cell(row.total, words, line=row.line, in_percent=False)
        return f'<tr class="of-{row.kind}"><th scope="row">{escape(row.name)}</th>{cells}{total}</tr>'

    def _cell(self, amounts: Amounts, words: tuple[str, str], *, line: PlType | None, in_percent: bool) -> str:
        plan, before = words
        lines = [linked(whole(amounts.actual, self.currency), amounts.link if amounts.actual else "")]
        if amounts.planned:
            variance = amounts.actual - amounts.planned
            told = Variance(variance, results.is_favourable(line or PlType.REVENUE, variance))
            lines.append(f'<span class="meta">{plan.format(amount=whole(amounts.planned, self.currency))}</span>')
            lines.append(f'<span class="meta">{format_variance(told, self.currency)}</span>')
            if in_percent:
                share = WIDE.divide(variance, abs(amounts.planned))
                lines.append(f'<span class="meta">{percent(share, plus=True)}</span>')
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
    """``heads`` are the periods' names by their first days, ``shares`` those whose variances are shown in percent too.

    ``listed`` is the address of the list of transactions, "" where the viewer may not see it.
    """
    by_line: defaultdict[str, defaultdict[Named, dict[date, Amounts]]] = defaultdict(lambda: defaultdict(dict))
    for each in found:
        query = results_query(each.first, each.last, line=each.pl_type, categories=[each.category_id], up_to=each.up_to)
        by_line[each.pl_type][each.category_id, each.category_name][each.month] = Amounts(
            each.actual, each.planned, each.compared, f"{listed}?{query}" if listed else ""
        )
    nothing = Amounts(compared=ZERO if compares else None)
    rows: list[Row] = []
    periods = list(heads)

    left = [nothing] * len(periods)
    for line in PlType:
        categories = [
            Row(category_called(name), "category", [cells.get(period, nothing) for period in periods], line)
            for (_, name), cells in by_line[line].items()
        ]
        sums = [sum((row.cells[place] for row in categories), start=nothing) for place in range(len(periods))]
        if categories:
            rows += [Row(str(LINES[line]), "line", sums, line), *categories]
        if line != PlType.NEUTRAL:
            changes = [-each for each in sums] if line in EXPENSES else sums
            left = [before + change for before, change in zip(left, changes, strict=True)]
        if line in SUMS:
            rows.append(Row(str(SUMS[line]), "sum", left))
    return Statement(list(heads.values()), rows, currency, [period in shares for period in periods], before)
