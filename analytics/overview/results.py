"""Revenue and expenses by month, side by side, and the profit and loss statement beside its plan."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.calc import charts
from analytics.overview.amounts import compact
from analytics.overview.compared import against
from analytics.overview.facts import Facts
from analytics.overview.links import Links
from analytics.overview.shape import Key, Section, month_picture, named_picture, smallest
from analytics.overview.tables import Cell, Column, Kind, Row, Table, Variance, month_rows
from analytics.queries import results
from companies.locales import current
from ledger.calc.months import MONTHS_A_YEAR, add_months, first_of_month, last_of_month
from ledger.models import EXPENSES as LINES_OF_EXPENSES
from ledger.models import PlType
from ledger.transactions.pages.words import LINES as NAMES

ZERO = Decimal(0)
REVENUE = (
    Key("revenueRecurring", gettext_lazy("Recurring")),
    Key("revenueUsage", gettext_lazy("Usage")),
    Key("revenueOneOff", gettext_lazy("One-off")),
    Key("revenueOther", gettext_lazy("Other revenue")),
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
    lead = _(
        "By the month they belong to, whenever they were paid; a contract for a year counts in each month by the "
        "days that it has there."
    )
    if calendar[-1] == first_of_month(facts.today):
        whole = _("{month} is not over: it counts whole, with what is known of the days to come.")
        lead = f"{lead} {whole.format(month=current().month(calendar[-1], full=True))}"
    return Section(
        id="revenue-expenses",
        title=_("Revenue and expenses"),
        lead=lead,
        described=_("{first} to {last}: revenue {revenue}, expenses {expenses}.").format(
            first=current().month(calendar[0], full=True),
            last=current().month(calendar[-1], full=True),
            revenue=compact(sum(earned, start=ZERO), currency),
            expenses=compact(sum(spent, start=ZERO), currency),
        ),
        nothing=_("No transaction with a category belongs to these months. Categories are given under Transactions."),
        keys=[key for key in (*REVENUE, *EXPENSES) if any(row[key.series] for row in rows)],
        picture=month_picture(drawn, months=calendar, currency=currency, today=facts.today),
        table=Table(
            first=_("Month"),
            columns=[
                Column(_("Revenue")),
                *(Column(key.label, series=key.series) for key in REVENUE),
                Column(_("Expenses")),
                *(Column(key.label, series=key.series) for key in EXPENSES),
                Column(_("Operating result")),
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
    back = facts.period.back
    now, then = facts.bars, facts.bars_before
    first, last = facts.calendar[0], last_of_month(facts.month)
    (earned, spent), (earned_then, spent_then) = (
        [sum((total(row, keys) for row in rows), start=ZERO) for keys in (REVENUE, EXPENSES)] for rows in (now, then)
    )
    return against(
        facts,
        id="results-compared",
        title=_("Revenue and expenses compared"),
        rows=[
            (_("Revenue"), earned, earned_then),
            (_("Expenses"), spent, spent_then),
            (_("Operating result"), earned - spent, earned_then - spent_then),
        ],
        days=(first, last),
        before_days=(add_months(first, -back), last_of_month(add_months(facts.month, -back))),
        note=_("Months count whole, also one that is not over."),
    )


def stack_of(row: dict[str, Decimal], keys: Sequence[Key]) -> list[tuple[str, Decimal]]:
    return [(key.series, row[key.series]) for key in keys]


def total(row: dict[str, Decimal], keys: Sequence[Key]) -> Decimal:
    return sum((row[key.series] for key in keys), start=ZERO)


# ---------------------------------------------------------------------------------------------- plan against actual

LINES = (PlType.REVENUE, PlType.COGS, PlType.CAC, PlType.PD, PlType.GA, PlType.NO)
SHORT = gettext_lazy("Rev., COGS, S&M, R&D, G&A, Other")  # theirs where there is little room
PLAN_KEYS = (Key("actual", gettext_lazy("Actual")), Key("planned", gettext_lazy("Planned")))
Pair = tuple[Decimal, Decimal]
"""(actual, planned)"""


def plan_section(facts: Facts) -> Section:
    """Each line of the profit and loss statement beside its plan, for the month under way and the year so far."""
    currency = facts.currency
    month = by_line({key: pair for key, pair in facts.year.items() if key[0] == facts.month})
    year = by_line(facts.year)
    drawn = charts.columns(
        [[[("actual", year[line][0])], [("planned", year[line][1])]] for line in LINES], smallest=smallest(currency)
    )
    month_name, year_name = current().month(facts.month), f"{facts.month:%Y}"
    if facts.month.month < MONTHS_A_YEAR:
        year_name = _("{year} up to {month}").format(year=year_name, month=month_name)
    names = [str(NAMES[line]) for line in LINES]
    revenue, result = year[PlType.REVENUE], result_of(year)
    return Section(
        id="plan-actual",
        title=_("Plan against actual"),
        lead=_(
            "The chart shows {period}, planned amounts hatched. Months count whole, and so do their plans. Neutral "
            "movements are left out."
        ).format(period=year_name),
        described=_("In {period}: revenue {revenue} of {planned} planned, result {result} of {planned_result}.").format(
            period=year_name,
            revenue=compact(revenue[0], currency),
            planned=compact(revenue[1], currency),
            result=compact(result[0], currency),
            planned_result=compact(result[1], currency),
        ),
        nothing=_(
            "Nothing to compare yet: what is planned stands in the financial plan, and what became of it comes from "
            "transactions with a category."
        ),
        start=(Links(facts).plan, _("Fill in the financial plan")) if facts.writes_plan else None,
        keys=PLAN_KEYS,
        picture=named_picture(drawn, names=list(zip(names, SHORT.split(", "), strict=True)), currency=currency),
        table=Table(
            first=_("Line"),
            columns=[
                Column(text.format(period=period), kind)
                for period in (month_name, year_name)
                for text, kind in (
                    (_("{period}, actual"), Kind.MONEY),
                    (_("{period}, planned"), Kind.MONEY),
                    (_("{period}, variance"), Kind.VARIANCE),
                    (_("{period}, variance in percent"), Kind.PERCENT),
                )
            ],
            rows=[
                *(
                    Row(name, name, (*compare(month[line], line=line), *compare(year[line], line=line)))
                    for line, name in zip(LINES, names, strict=True)
                ),
                Row(_("Result"), _("Result"), (*compare(result_of(month)), *compare(result)), sum=True),
            ],
            currency=currency,
        ),
    )


def by_line(sums: Mapping[tuple[date, str], Pair]) -> dict[PlType, Pair]:
    """The months together; the sums are sums of what the data query answers."""
    found = dict.fromkeys(LINES, (ZERO, ZERO))
    for key, pair in sums.items():
        line = PlType(key[1])
        if line in found:
            actual, planned = found[line]
            found[line] = (actual + pair[0], planned + pair[1])
    return found


def result_of(sums: dict[PlType, Pair]) -> Pair:
    """What is left: revenue less expenses, which are positive, and what else came and went."""
    actual, planned = (
        sum((-pair[side] if line in LINES_OF_EXPENSES else pair[side] for line, pair in sums.items()), start=ZERO)
        for side in (0, 1)
    )
    return actual, planned


def compare(pair: Pair, *, line: str = PlType.REVENUE) -> tuple[Cell, Cell, Cell, Cell]:
    """Return actual, planned, the variance, and the variance in hundredths of what is planned.

    The last two are None without a plan. A result is compared like revenue: more is favourable.
    """
    actual, planned = pair
    if not planned:
        return actual, planned, None, None
    variance = actual - planned
    told = Variance(variance, results.is_favourable(line, variance))
    return actual, planned, told, results.percentage(variance, abs(planned))
