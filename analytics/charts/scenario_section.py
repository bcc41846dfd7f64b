"""The comparison of scenarios: the cash of each as a line, its lowest point, runway and planned result."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.utils.translation import gettext as _

from analytics.calc import chart_layout
from analytics.calc.chart_layout import PLOT_HEIGHT_PX
from analytics.charts.chart_tables import ChartTable, TableColumn, TableRow
from analytics.charts.sections import LegendKey, Section, build_day_chart, get_smallest_step
from analytics.queries.balance_forecast import BalanceForecast
from analytics.queries.scenario_forecasts import forecast_scenarios
from companies.locales import get_current_locale
from companies.models import Company
from ledger.calc.months import add_months, count_months_between, get_first_day_of_month, list_months
from ledger.models import EXPENSE_LINES, PlType
from ledger.money.calc.fx import RateTable
from ledger.money.calc.money import round_half_up
from planning.forecast.queries import sum_planned_results_in_base
from planning.models import Scenario
from planning.scenarios.queries import MAX_COMPARED, LoadedScenario, load_scenario

MONTHS_COMPARED = 12
MONTHS_OF_RUNWAY = 36  # how far ahead the end of the cash is looked for
ZERO = Decimal(0)
SERIES = ("cash", *(f"scenario-{number}" for number in range(1, MAX_COMPARED + 1)))


@dataclass(frozen=True, slots=True)
class ComparedScenario:
    """A row of the comparison; `scenario` is None for the plan as it is.

    Money is in the base currency. `result` is the planned result of the months compared; cash fields are None without
    the permission to read balances, or where nothing is planned.
    """

    scenario: Scenario | None
    series: str
    lowest: tuple[date, Decimal] | None
    below_zero: date | None
    runway_months: int | None
    revenue: Decimal
    result: Decimal
    has_broken_changes: bool


@dataclass(frozen=True, slots=True)
class ScenarioComparison:
    """The plan and up to four scenarios side by side, with the chart of their cash."""

    rows: Sequence[ComparedScenario]
    section: Section | None
    end: date


def compare_scenarios(
    scenarios: Sequence[Scenario], *, company: Company, today: date, rates: RateTable, can_read_balances: bool
) -> ScenarioComparison:
    """Compare the plan with up to four scenarios over the next twelve months.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    compared = scenarios[:MAX_COMPARED]
    loaded_scenarios = [None, *(load_scenario(scenario, today=today) for scenario in compared)]
    names = [_("Plan"), *(scenario.name for scenario in compared)]
    end = add_months(today, MONTHS_COMPARED)
    forecasts: list[BalanceForecast | None] = [None] * len(loaded_scenarios)
    if can_read_balances:
        horizon = add_months(today, MONTHS_OF_RUNWAY)
        forecasts = [
            *forecast_scenarios(
                loaded_scenarios, company=company, end=horizon, today=today, interval="month", rates=rates
            )
        ]
    months = list_months(add_months(get_first_day_of_month(today), 1), end)
    rows = [
        build_comparison_row(
            scenario, loaded_scenario, forecast, company=company, series=series, months=months, today=today, rates=rates
        )
        for scenario, loaded_scenario, forecast, series in zip(
            (None, *compared), loaded_scenarios, forecasts, SERIES, strict=False
        )
    ]
    section = None
    if can_read_balances:
        section = build_scenario_section(names, [each for each in forecasts if each], company=company, end=end)
    return ScenarioComparison(rows=rows, section=section, end=end)


def build_comparison_row(
    scenario: Scenario | None,
    loaded_scenario: LoadedScenario | None,
    forecast: BalanceForecast | None,
    *,
    company: Company,
    series: str,
    months: Sequence[date],
    today: date,
    rates: RateTable,
) -> ComparedScenario:
    """Build one row of the comparison."""
    revenue, result = sum_planned_result(company, months, rates, loaded_scenario)
    below_zero = forecast.below_zero[0] if forecast and forecast.below_zero else None
    return ComparedScenario(
        scenario=scenario,
        series=series,
        lowest=forecast.lowest if forecast and forecast.has_plans else None,
        below_zero=below_zero,
        runway_months=None if below_zero is None else count_whole_months(today, below_zero),
        revenue=revenue,
        result=result,
        has_broken_changes=loaded_scenario is not None and bool(loaded_scenario.broken_changes),
    )


def count_whole_months(start: date, end: date) -> int:
    """Count the whole months between two days.

    >>> count_whole_months(date(2026, 1, 31), date(2026, 3, 30))
    1
    """
    months = count_months_between(start, end)
    return months if add_months(start, months) <= end else months - 1


def sum_planned_result(
    company: Company, months: Sequence[date], rates: RateTable, scenario: LoadedScenario | None
) -> tuple[Decimal, Decimal]:
    """Return the planned revenue, and the planned result before neutral lines."""
    revenue, result = ZERO, ZERO
    for (_month, line, _category), amount in sum_planned_results_in_base(
        company, months, rates, scenario=scenario
    ).items():
        value = round_half_up(amount, company.base_currency)
        if line == PlType.REVENUE:
            revenue += value
        if line != PlType.NEUTRAL:
            result += -value if line in EXPENSE_LINES else value
    return revenue, result


def build_scenario_section(
    names: Sequence[str], forecasts: Sequence[BalanceForecast], *, company: Company, end: date
) -> Section:
    """Build the chart of the cash at the end of each month."""
    base, locale = company.base_currency, get_current_locale()
    values = [[(day, value) for day, value in forecast.projected if day <= end] for forecast in forecasts]
    days = [day for day, _value in values[0]]
    columns = [[value for _day, value in points] for points in values]
    chart = chart_layout.build_line_chart(columns, smallest=get_smallest_step(base))
    series = SERIES[: len(columns)]
    return Section(
        id="scenarios",
        title=_("Cash by scenario"),
        intro=_("In {currency}, at the end of each month.").format(currency=base),
        description=_("{name} from {first} to {last}.").format(
            name=", ".join(names), first=locale.format_long_day(days[0]), last=locale.format_long_day(end)
        ),
        keys=[LegendKey(name, label, line=True) for name, label in zip(series, names, strict=True)],
        picture=build_day_chart(chart, series=series, days=days, currency=base, height=PLOT_HEIGHT_PX),
        table=ChartTable(
            first=_("Month"),
            columns=[TableColumn(name) for name in names],
            rows=[
                TableRow(day.isoformat()[:7], locale.format_month(day), cells)
                for day, *cells in zip(days, *columns, strict=True)
            ],
            currency=base,
        ),
        file=False,
    )
