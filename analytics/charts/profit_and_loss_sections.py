"""Chart sections of the profit and loss: revenue and expenses by month, and actual against plan."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.calc import chart_layout
from analytics.charts.amount_format import format_compact_amount
from analytics.charts.chart_data import ChartData
from analytics.charts.chart_tables import (
    Cell,
    ChartTable,
    ColumnKind,
    TableColumn,
    TableRow,
    Variance,
    build_month_rows,
)
from analytics.charts.comparison_section import build_comparison_section
from analytics.charts.sections import LegendKey, Section, build_month_chart, build_named_chart, get_smallest_step
from analytics.queries import profit_and_loss
from companies.locales import get_current_locale
from ledger.calc.months import MONTHS_PER_YEAR, add_months, get_first_day_of_month, get_last_day_of_month
from ledger.models import EXPENSE_LINES as LINES_OF_EXPENSES
from ledger.models import PlType
from ledger.transactions.pages.labels import LINE_LABELS as NAMES

ZERO = Decimal(0)
REVENUE_KEYS = (
    LegendKey("revenueRecurring", gettext_lazy("Recurring")),
    LegendKey("revenueUsage", gettext_lazy("Usage")),
    LegendKey("revenueOneOff", gettext_lazy("One-off")),
    LegendKey("revenueOther", gettext_lazy("Other revenue")),
)
EXPENSE_KEYS = tuple(LegendKey(line.value, NAMES[line]) for line in LINES_OF_EXPENSES)


def build_bar_section(data: ChartData) -> Section:
    """Build the chart of revenue and expenses by the months they belong to, whenever they were paid."""
    currency, calendar = data.currency, data.calendar
    rows = data.bars
    chart = chart_layout.build_column_chart(
        [[build_bar_stack(row, REVENUE_KEYS), build_bar_stack(row, EXPENSE_KEYS)] for row in rows],
        smallest=get_smallest_step(currency),
    )
    revenues, expenses = (
        [sum_series(row, REVENUE_KEYS) for row in rows],
        [sum_series(row, EXPENSE_KEYS) for row in rows],
    )
    cells = (
        (
            revenue,
            *(row[key.series] for key in REVENUE_KEYS),
            expense,
            *(row[key.series] for key in EXPENSE_KEYS),
            revenue - expense,
        )
        for row, revenue, expense in zip(rows, revenues, expenses, strict=True)
    )
    intro = _("Paid amounts by service period, without one by payment date. Annual contracts are spread day by day.")
    if calendar[-1] == get_first_day_of_month(data.today):
        note = _("{month} is still in progress but shown as a whole month.")
        intro = f"{intro} {note.format(month=get_current_locale().format_month(calendar[-1], full=True))}"
    return Section(
        id="revenue-expenses",
        title=_("Revenue and expenses"),
        intro=intro,
        description=_("{first} to {last}: revenue {revenue}, expenses {expenses}.").format(
            first=get_current_locale().format_month(calendar[0], full=True),
            last=get_current_locale().format_month(calendar[-1], full=True),
            revenue=format_compact_amount(sum(revenues, start=ZERO), currency),
            expenses=format_compact_amount(sum(expenses, start=ZERO), currency),
        ),
        empty_text=_("No categorized transactions in this period. Categorize transactions in the inbox."),
        keys=list_legend_keys(rows),
        picture=build_month_chart(chart, months=calendar, currency=currency, today=data.today),
        table=ChartTable(
            first=_("Month"),
            columns=[
                TableColumn(_("Revenue")),
                *(TableColumn(key.label, series=key.series) for key in REVENUE_KEYS),
                TableColumn(_("Expenses")),
                *(TableColumn(key.label, series=key.series) for key in EXPENSE_KEYS),
                TableColumn(_("Operating result")),
            ],
            rows=build_month_rows(calendar, cells, build_bar_links(data), today=data.today),
            currency=currency,
        ),
    )


def list_legend_keys(rows: Sequence[dict[str, Decimal]]) -> list[LegendKey]:
    """Return the keys of the series with amounts. Other revenue is all revenue where there is no other one."""
    revenue, expenses = (
        [key for key in keys if any(row[key.series] for row in rows)] for keys in (REVENUE_KEYS, EXPENSE_KEYS)
    )
    if [key.series for key in revenue] == [profit_and_loss.OTHER_REVENUE_KEY]:
        revenue = [LegendKey(profit_and_loss.OTHER_REVENUE_KEY, NAMES[PlType.REVENUE])]
    return [*revenue, *expenses]


def build_bar_links(data: ChartData) -> list[list[str]]:
    """Return the URLs behind the cells of each month."""
    links = data.links
    category_ids: dict[str, list[UUID]] = {key.series: [] for key in REVENUE_KEYS}
    for category in data.posted_results.categories.values():
        if PlType.REVENUE in category.pl_types:
            category_ids[profit_and_loss.get_bar_key(PlType.REVENUE, category)].append(category.id)
    return [
        [
            "",  # sums of separately rounded sums have no page
            *(
                links.get_results_url(month, line=PlType.REVENUE, categories=category_ids[key.series])
                if category_ids[key.series]
                else ""
                for key in REVENUE_KEYS
            ),
            "",
            *(links.get_results_url(month, line=key.series) for key in EXPENSE_KEYS),
            "",
        ]
        for month in data.calendar
    ]


def build_results_comparison_section(data: ChartData) -> Section:
    """Build the table of revenue and expenses beside the compared months."""
    months_back = data.period.months_back
    bars, compared_bars = data.bars, data.compared_bars
    first, last = data.calendar[0], get_last_day_of_month(data.month)
    (revenue, expenses), (compared_revenue, compared_expenses) = (
        [sum((sum_series(row, keys) for row in rows), start=ZERO) for keys in (REVENUE_KEYS, EXPENSE_KEYS)]
        for rows in (bars, compared_bars)
    )
    return build_comparison_section(
        data,
        id="results-compared",
        title=_("Revenue and expenses compared"),
        rows=[
            (_("Revenue"), revenue, compared_revenue),
            (_("Expenses"), expenses, compared_expenses),
            (_("Operating result"), revenue - expenses, compared_revenue - compared_expenses),
        ],
        days=(first, last),
        before_days=(add_months(first, -months_back), get_last_day_of_month(add_months(data.month, -months_back))),
        note=_("Whole months, including the current one."),
    )


def build_bar_stack(row: dict[str, Decimal], keys: Sequence[LegendKey]) -> list[tuple[str, Decimal]]:
    return [(key.series, row[key.series]) for key in keys]


def sum_series(row: dict[str, Decimal], keys: Sequence[LegendKey]) -> Decimal:
    return sum((row[key.series] for key in keys), start=ZERO)


# ---------------------------------------------------------------------------------------------- plan against actual

PLAN_LINES = (PlType.REVENUE, PlType.COGS, PlType.CAC, PlType.PD, PlType.GA, PlType.NO)
SHORT_LINE_LABELS = gettext_lazy("Rev., COGS, S&M, R&D, G&A, Other")  # short labels for narrow screens
PLAN_KEYS = (LegendKey("actual", gettext_lazy("Actual")), LegendKey("planned", gettext_lazy("Planned")))
ActualAndPlanned = tuple[Decimal, Decimal]
"""(actual, planned)"""


def build_plan_section(data: ChartData) -> Section:
    """Build the chart of each line beside its plan, for the current month and the year so far.

    The year starts with its first month that has actual amounts: the plan of earlier months has none beside it.
    """
    currency, results = data.currency, data.results_of_year
    first = min(
        (month for (month, _line), (actual, _planned) in results.items() if actual), default=data.month.replace(month=1)
    )
    month = sum_by_line({key: pair for key, pair in results.items() if key[0] == data.month})
    year = sum_by_line({key: pair for key, pair in results.items() if key[0] >= first})
    chart = chart_layout.build_column_chart(
        [[[("actual", year[line][0])], [("planned", year[line][1])]] for line in PLAN_LINES],
        smallest=get_smallest_step(currency),
    )
    month_name, year_name = get_current_locale().format_month(data.month), f"{data.month:%Y}"
    if 1 < first.month < data.month.month:
        first_name = get_current_locale().format_month(first)
        year_name = _("{first} to {last}").format(first=first_name, last=month_name)
    elif data.month.month < MONTHS_PER_YEAR:
        year_name = _("{year} through {month}").format(year=year_name, month=month_name)
    names = [str(NAMES[line]) for line in PLAN_LINES]
    revenue, result = year[PlType.REVENUE], compute_result(year)
    return Section(
        id="plan-actual",
        title=_("Plan vs. actual"),
        intro=_(
            "{period}. Whole months, including the current one; without neutral amounts. Planned amounts are hatched."
        ).format(period=year_name),
        description=_(
            "{period}: revenue {revenue} of {planned} planned, result {result} of {planned_result} planned."
        ).format(
            period=year_name,
            revenue=format_compact_amount(revenue[0], currency),
            planned=format_compact_amount(revenue[1], currency),
            result=format_compact_amount(result[0], currency),
            planned_result=format_compact_amount(result[1], currency),
        ),
        empty_text=_("Nothing to compare yet. Fill in the plan and categorize transactions."),
        start=(data.links.plan_url, _("Fill in the plan")) if data.can_write_plan else None,
        keys=PLAN_KEYS,
        picture=build_named_chart(
            chart, names=list(zip(names, SHORT_LINE_LABELS.split(", "), strict=True)), currency=currency
        ),
        table=ChartTable(
            first=_("Line"),
            columns=[
                TableColumn(text.format(period=period), kind)
                for period in (month_name, year_name)
                for text, kind in (
                    (_("{period}, actual"), ColumnKind.MONEY),
                    (_("{period}, planned"), ColumnKind.MONEY),
                    (_("{period}, variance"), ColumnKind.VARIANCE),
                    (_("{period}, variance in %"), ColumnKind.PERCENT),
                )
            ],
            rows=[
                *(
                    TableRow(
                        name,
                        name,
                        (*compare_with_plan(month[line], line=line), *compare_with_plan(year[line], line=line)),
                        link=data.links.get_line_url(line),
                    )
                    for line, name in zip(PLAN_LINES, names, strict=True)
                ),
                TableRow(
                    _("Result"),
                    _("Result"),
                    (*compare_with_plan(compute_result(month)), *compare_with_plan(result)),
                    sum=True,
                ),
            ],
            currency=currency,
        ),
    )


def sum_by_line(sums: Mapping[tuple[date, str], ActualAndPlanned]) -> dict[PlType, ActualAndPlanned]:
    """Sum the months by line."""
    sums_by_line = dict.fromkeys(PLAN_LINES, (ZERO, ZERO))
    for key, pair in sums.items():
        line = PlType(key[1])
        if line in sums_by_line:
            actual, planned = sums_by_line[line]
            sums_by_line[line] = (actual + pair[0], planned + pair[1])
    return sums_by_line


def compute_result(sums: dict[PlType, ActualAndPlanned]) -> ActualAndPlanned:
    """Return the result: revenue less expenses, which are positive, and other income."""
    actual, planned = (
        sum((-pair[side] if line in LINES_OF_EXPENSES else pair[side] for line, pair in sums.items()), start=ZERO)
        for side in (0, 1)
    )
    return actual, planned


def compare_with_plan(pair: ActualAndPlanned, *, line: str = PlType.REVENUE) -> tuple[Cell, Cell, Cell, Cell]:
    """Return actual, planned, the variance, and the variance in percent of the plan.

    The last two are None without a plan. A result is compared like revenue: more is favourable.
    """
    actual, planned = pair
    if not planned:
        return actual, planned, None, None
    variance = actual - planned
    variance_cell = Variance(variance, profit_and_loss.is_favourable(line, variance))
    return actual, planned, variance_cell, profit_and_loss.compute_percentage(variance, abs(planned))
