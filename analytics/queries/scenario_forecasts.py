"""Balance forecasts of several scenarios at once: what they share is read and added up once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from uuid import UUID

from analytics.calc.time_series import Interval
from analytics.queries.balance_forecast import (
    BalanceForecast,
    ForecastBasis,
    list_booked_after,
    project_from_basis,
    sum_held_by_currency,
)
from analytics.queries.balances import compute_cash_at_day
from companies.models import Company
from ledger.accounts.queries import sum_account_balances
from ledger.calc.months import get_first_day_of_month, get_last_day_of_month
from ledger.models import Account
from ledger.money.calc.fx import RateTable
from planning.calc.scenario_changes import DayWindow
from planning.forecast.expected_cash import (
    ExpectedCash,
    add_expected_cash,
    get_first_expected_day,
    sum_expected_cash,
)
from planning.forecast.queries import build_expectations, find_transit_account_ids
from planning.planned_transactions.queries.planned_rules import RuleWithOverrides, read_planned_rules
from planning.scenarios.queries import (
    LoadedScenario,
    PlannedTarget,
    apply_changes_to_rules,
    find_planned_targets,
    list_invoices_of_scenario,
)

Targets = dict[UUID, PlannedTarget]


@dataclass(frozen=True, slots=True)
class SharedAndChangedRules:
    """Planned transactions that no scenario touches, and all others; planned totals share bookings, so they are
    among the others.
    """

    shared: list[RuleWithOverrides]
    changed: list[RuleWithOverrides]


def forecast_scenarios(
    scenarios: Sequence[LoadedScenario | None],
    *,
    company: Company,
    end: date,
    today: date,
    interval: Interval,
    rates: RateTable,
) -> list[BalanceForecast]:
    """Forecast the cash of each scenario from today to `end`; None is the plan as it is.

    Each is as `compute_balance_forecast` computes it alone.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    account_ids = set(Account.objects.for_company(company.id).cash().values_list("id", flat=True))
    balances = sum_account_balances(company_id=company.id, day=today)
    cash = compute_cash_at_day(company=company, day=today, rates=rates)
    movements = list_booked_after(today, company=company, end=end, accounts=account_ids)
    return [
        project_from_basis(
            ForecastBasis(
                balances={today: cash},
                balances_at_cutover=sum_held_by_currency(account_ids, balances),
                movements=movements,
                expected_cash=expected_cash,
            ),
            company=company,
            start=today,
            end=end,
            cutover=today,
            today=today,
            interval=interval,
            rates=rates,
        )
        for expected_cash in compute_expected_cash_by_scenario(
            scenarios, company=company, end=end, today=today, rates=rates, accounts={*account_ids, None}
        )
    ]


def compute_expected_cash_by_scenario(
    scenarios: Sequence[LoadedScenario | None],
    *,
    company: Company,
    end: date,
    today: date,
    rates: RateTable,
    accounts: set[UUID | None],
) -> list[ExpectedCash]:
    """Return the expected cash of each scenario on the given accounts."""
    start = get_first_expected_day(cutover=today, today=today)
    window = (get_first_day_of_month(start), get_last_day_of_month(end))
    targets = [find_planned_targets(company.id, scenario.changes) if scenario else Targets() for scenario in scenarios]
    rules = load_shared_and_changed_rules(company, scenarios, targets, window=window)
    build = partial(
        build_expectations,
        company=company,
        window_start=start,
        window_end=end,
        today=today,
        rates=rates,
        excluded_account_ids=find_transit_account_ids(company),
    )
    add_up = partial(sum_expected_cash, cutover=today, end=end, today=today, accounts=accounts)
    shared_cash = add_up(build(rules.shared, []))
    results = []
    for scenario, targets_of_scenario in zip(scenarios, targets, strict=True):
        own_rules = rules.changed
        if scenario is not None:
            days = scenario.build_window(*window)
            own_rules = list(
                apply_changes_to_rules(own_rules, scenario=scenario, targets=targets_of_scenario, window=days)
            )
        invoices = list_invoices_of_scenario(company.id, end=window[1], scenario=scenario)
        results.append(add_expected_cash(shared_cash, add_up(build(own_rules, invoices))))
    return results


def load_shared_and_changed_rules(
    company: Company,
    scenarios: Sequence[LoadedScenario | None],
    targets: Sequence[Targets],
    *,
    window: tuple[date, date],
) -> SharedAndChangedRules:
    """Read all planned transactions that a scenario can bring into the window. One statement."""
    touched_ids = {planned_id for each in targets for planned_id in each}
    widest = max((scenario.reach_days for scenario in scenarios if scenario), default=0)
    days = DayWindow(*window).widen(widest)
    split = SharedAndChangedRules([], [])
    for rule in read_planned_rules(company.id, days.start, days.end):
        is_touched = rule.planned.is_total or rule.planned.id in touched_ids
        (split.changed if is_touched else split.shared).append(rule)
    return split
