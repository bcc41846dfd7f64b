"""Revenue and expenses by month, side by side, and the profit and loss statement beside its plan."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from uuid import UUID

from analytics import results
from analytics.calc import charts
from analytics.overview.amounts import compact
from analytics.overview.compared import against
from analytics.overview.facts import Facts
from analytics.overview.links import Links
from analytics.overview.shape import Key, Section, month_picture, named_picture, smallest
from analytics.overview.tables import Cell, Column, Kind, Row, Table, month_rows
from ledger.models import EXPENSES as LINES_OF_EXPENSES
from ledger.models import PlType
from ledger.transactions.pages.words import LINES as NAMES

ZERO = Decimal(0)
REVENUE = (
    Key("revenueRecurring", "Recurring"),
    Key("revenueUsage", "Usage"),
    Key("revenueOneOff", "One-off"),
    Key("revenueOther", "Other revenue"),
)
EXPENSES = tuple(Key(line.value, NAMES[line]) for line in LINES_OF_EXPENSES)


def bar_section(facts: Facts) -> Section:
    """What was earned and spent by the months it belongs to, whenever it was paid."""
    currency, calendar = facts.currency, facts.calendar
    rows = facts.bars
    drawn = charts.columns(
        [[stack_of(row, REVENUE), stack_of(row, EXPENSES)] for row in rows], smallest=smallest(currency)
    )
    earned, spent = [total(row, REVENUE) for row in rows], [total(row, EXPENSES) for row in rows]
    cells = (
        (
            plus,
            *(row[key.series] for key in REVENUE),
            minus,
            *(row[key.series] for key in EXPENSES),
            plus - minus,
        )
        for row, plus, minus in zip(rows, earned, spent, strict=True)
    )
    return Section(
        id="revenue-expenses",
        title="Revenue and expenses",
        lead="By the month they belong to, whenever they were paid; contracts for a year count a twelfth each month.",
        described=(
            f"{calendar[0]:%B %Y} to {calendar[-1]:%B %Y}: revenue {compact(sum(earned, start=ZERO), currency)}, "
            f"expenses {compact(sum(spent, start=ZERO), currency)}."
        ),
        nothing="No transaction with a category belongs to these months. Categories are given under Transactions.",
        keys=[key for key in (*REVENUE, *EXPENSES) if any(row[key.series] for row in rows)],
        picture=month_picture(drawn, months=calendar, currency=currency, today=facts.today),
        table=Table(
            first="Month",
            columns=[
                Column("Revenue"),
                *(Column(key.label, series=key.series) for key in REVENUE),
                Column("Expenses"),
                *(Column(key.label, series=key.series) for key in EXPENSES),
                Column("Operating result"),
            ],
            rows=month_rows(calendar, cells, bar_links(facts)),
            currency=currency,
        ),
    )


def bar_links(facts: Facts) -> list[list[str]]:
    """Where the cells of each month lead."""
    links = Links(facts)
    chosen: dict[str, list[UUID]] = {key.series: [] for key in REVENUE}
    for category in facts.posted.categories.values():
        if PlType.REVENUE in category.pl_types:
            chosen[results.bar_of(PlType.REVENUE, category)].append(category.id)
    return [
        [
            "",  # sums of sums, rounded one by one
            *(
                links.results(month, line=PlType.REVENUE, categories=chosen[key.series]) if chosen[key.series] else ""
                for key in REVENUE
            ),
            "",
            *(links.results(month, line=key.series) for key in EXPENSES),
            "",
        ]
        for month in facts.calendar
    ]


def compared_section(facts: Facts) -> Section:
    """Revenue and expenses beside those of the months that the period is compared with."""
    now, then = facts.bars, facts.bars_compared
    (earned, spent), (earned_then, spent_then) = (
        [sum((total(row, keys) for row in rows), start=ZERO) for keys in (REVENUE, EXPENSES)] for rows in (now, then)
    )
    return against(
        facts,
        id="results-compared",
        title="Revenue and expenses compared",
        rows=[
            ("Revenue", earned, earned_then),
            ("Expenses", spent, spent_then),
            ("Operating result", earned - spent, earned_then - spent_then),
        ],
        note=" Whole months, but for the one under way: it is beside what was booked by the same day.",
    )


def stack_of(row: dict[str, Decimal], keys: Sequence[Key]) -> list[tuple[str, Decimal]]:
    return [(key.series, row[key.series]) for key in keys]


def total(row: dict[str, Decimal], keys: Sequence[Key]) -> Decimal:
    return sum((row[key.series] for key in keys), start=ZERO)


# ---------------------------------------------------------------------------------------------- plan against actual

SHORT = {  # where there is little room
    PlType.REVENUE: "Rev.",
    PlType.COGS: "COGS",
    PlType.CAC: "S&M",
    PlType.PD: "R&D",
    PlType.GA: "G&A",
    PlType.NO: "Other",
}
LINES = {line: (NAMES[line], short) for line, short in SHORT.items()}
PLAN_KEYS = (Key("actual", "Actual"), Key("planned", "Planned"))
Pair = tuple[Decimal, Decimal]
"""(actual, planned)"""


def plan_section(facts: Facts) -> Section:
    """Each line of the profit and loss statement beside its plan, for the month under way and the year so far."""
    currency = facts.currency
    month = by_line(each for each in facts.year if each.month == facts.month)
    year = by_line(facts.year)
    drawn = charts.columns(
        [[[("actual", year[line][0])], [("planned", year[line][1])]] for line in LINES], smallest=smallest(currency)
    )
    so_far = " so far" if facts.month == facts.today.replace(day=1) else ""
    month_name, year_name = f"{facts.month:%b %Y}{so_far}", f"{facts.month:%Y} so far"
    revenue, result = year[PlType.REVENUE], result_of(year)
    return Section(
        id="plan-actual",
        title="Plan against actual",
        lead=f"The chart shows {facts.month:%Y} so far, planned amounts hatched; the plan of a month under way "
        "counts by the days so far. Neutral movements are no part of it.",
        described=(
            f"In {year_name}: revenue {compact(revenue[0], currency)} of {compact(revenue[1], currency)} planned, "
            f"result {compact(result[0], currency)} of {compact(result[1], currency)}."
        ),
        nothing="Nothing to compare yet: plan items are made through the API, and what became of them comes from "
        "transactions with a category.",
        keys=PLAN_KEYS,
        picture=named_picture(drawn, names=list(LINES.values()), currency=currency),
        table=Table(
            first="Line",
            columns=[
                Column(f"{span}, {word}", kind)
                for span in (month_name, year_name)
                for word, kind in (("actual", Kind.MONEY), ("planned", Kind.MONEY), ("of plan", Kind.PERCENT))
            ],
            rows=[
                *(
                    Row(name, name, (*compared(month[line]), *compared(year[line])))
                    for line, (name, _) in LINES.items()
                ),
                Row("Result", "Result", (*compared(result_of(month)), *compared(result)), sum=True),
            ],
            currency=currency,
        ),
    )


def by_line(rows: Iterable[results.Result]) -> dict[PlType, Pair]:
    """The categories of each line together; the sums are sums of what the data query answers."""
    found = dict.fromkeys(LINES, (ZERO, ZERO))
    for row in rows:
        line = PlType(row.pl_type)
        if line in found:
            actual, planned = found[line]
            found[line] = (actual + row.actual, planned + row.planned)
    return found


def result_of(sums: dict[PlType, Pair]) -> Pair:
    """What is left: revenue less expenses, which are positive, and what else came and went."""
    actual, planned = (
        sum((-pair[side] if line in LINES_OF_EXPENSES else pair[side] for line, pair in sums.items()), start=ZERO)
        for side in (0, 1)
    )
    return actual, planned


def compared(pair: Pair) -> tuple[Cell, Cell, Cell]:
    """Actual, planned, and actual in hundredths of planned where anything is planned and both have one sign."""
    actual, planned = pair
    told = planned and actual * planned >= 0
    return actual, planned, results.percentage(actual, planned) if told else None
