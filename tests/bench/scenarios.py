"""What comparing five scenarios costs beside one forecast: three years, 10,000 recurrence rules.

Run with ``make bench`` or ``python -m tests.bench.scenarios``: in one process, in turn, in one run. Five scenarios, one
of each kind of change and one of them all, are forecast at once as pages do; a forecast is that of the plan alone.
"""

import random
from datetime import date, timedelta
from typing import Any

from tests.bench.bench_server import BenchServer, serve_bench
from tests.bench.figures import AT_MOST, print_figure
from tests.bench.forecasts import COPY_RULES, POSTED_RULES, RULES, create_planned_rule
from tests.bench.imports import open_accounts

GOAL = 2.0
# Run inside the machine: prints the seconds of one forecast, and of five at once.
SCRIPT = """
from statistics import median
from time import perf_counter
from django.utils import timezone
from analytics.queries.balance_forecast import compute_balance_forecast
from analytics.queries.scenario_forecasts import forecast_scenarios
from companies.models import Company
from ledger.calc.months import add_months
from ledger.money.rates import get_rate_table
from planning.models import Scenario
from planning.scenarios.queries import load_scenario
company, today, rates = Company.objects.get(), timezone.now().date(), get_rate_table()
parameters = dict(company=company, end=add_months(today, 36), today=today, interval="month", rates=rates)
def forecast_five():
    rows = list(Scenario.objects.for_company(company.id))
    assert len(rows) == 5
    return forecast_scenarios([load_scenario(row, today=today) for row in rows], **parameters)
acts = (lambda: compute_balance_forecast(start=today, cutover=today, **parameters), forecast_five)
taken = ([], [])
for _ in range(9):
    for times, act in zip(taken, acts):
        start = perf_counter()
        act()
        times.append(perf_counter() - start)
print(*(median(times) for times in taken))
"""


def list_scenario_changes(planned_id: str, account_id: str, customer_id: str) -> list[list[dict[str, Any]]]:
    """The changes of five scenarios."""
    ahead = str(date.today() + timedelta(days=60))
    hire = {"accountId": account_id, "name": "Hire", "startDate": ahead, "amountValue": "-6000.00"}
    kinds: list[dict[str, Any]] = [
        {"kind": "add", "plannedTransaction": hire | {"recurrence": {"frequency": "month"}}},
        {"kind": "scale", "plannedTransactionId": planned_id, "percent": 10, "from": ahead},
        {"kind": "shift", "counterpartyId": customer_id, "days": 30, "from": ahead},
        {"kind": "stop", "counterpartyId": customer_id, "from": str(date.today() + timedelta(days=900))},
    ]
    return [*([change] for change in kinds), kinds[:3]]


def create_scenarios(bench: BenchServer, planned_id: str, account_id: str) -> None:
    customer = bench.call("POST", f"{bench.path}/counterparties", {"type": "customer", "name": "Initech"})["id"]
    share = {"counterparty": {"id": customer}}
    bench.call("PUT", f"{bench.path}/planned_transactions/{planned_id}", share)
    for number, changes in enumerate(list_scenario_changes(planned_id, account_id, customer)):
        bench.call("POST", f"{bench.path}/scenarios", {"name": f"Scenario {number}", "changes": changes})


def main() -> None:
    chance = random.Random(1)
    with serve_bench() as bench:
        accounts, _ = open_accounts(bench, 20)
        for _ in range(POSTED_RULES):
            create_planned_rule(bench, chance.choice(accounts), chance)
        planned = bench.call("GET", f"{bench.path}/planned_transactions?limit=1")[0]
        create_scenarios(bench, planned["id"], accounts[0])
        bench.database.execute(COPY_RULES, [RULES // POSTED_RULES - 1])
        bench.database.execute("VACUUM ANALYZE")
        one, five = map(float, bench.machine.run("shell", "-c", SCRIPT).stdout.split()[-2:])
        print_figure(
            f"five scenarios of three years, {RULES:,} rules",
            five / one,
            "× one forecast",
            goal=GOAL,
            way=AT_MOST,
            behind=f"{1000 * five:.0f} against {1000 * one:.0f} ms",
        )


if __name__ == "__main__":
    main()
