"""What the line of balances ahead costs beside the flows it is made of: three years, 10,000 recurrence rules.

Run with ``make bench`` or ``python -m tests.bench.forecasts``: both over HTTP, in turn, in one run.
"""

import random
from datetime import date, timedelta
from functools import partial

from tests.bench.bench_server import BenchServer, measure_alternating, serve_bench
from tests.bench.figures import AT_MOST, print_figure
from tests.bench.imports import open_accounts

RULES, POSTED_RULES, YEARS = 10_000, 100, 3
GOAL = 1.5
ROUNDS = 11

# Those posted, again with other days and ids: what is measured is reading them.
COPY_RULES = """
    INSERT INTO planning_plannedtransaction
    SELECT (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'start_date', p.start_date + n))).*
      FROM planning_plannedtransaction p, generate_series(1, %s) n
"""


def create_planned_rule(bench: BenchServer, account: str, chance: random.Random) -> None:
    """One rule: mostly monthly, as in cash planning."""
    frequency = chance.choices(["day", "week", "month", "year"], [1, 3, 12, 2])[0]
    body = {
        "accountId": account,
        "name": "Planned",
        "startDate": str(date.today() - timedelta(days=chance.randrange(300))),
        "amountValue": f"{chance.uniform(-1000, 1000):.2f}",
        "recurrence": {"frequency": frequency, "interval": chance.choice([1, 1, 1, 2, 3])},
    }
    bench.call("POST", f"{bench.path}/planned_transactions", body)


def main() -> None:
    chance = random.Random(1)
    with serve_bench() as bench:
        accounts, _ = open_accounts(bench, 20)
        for _ in range(POSTED_RULES):
            create_planned_rule(bench, chance.choice(accounts), chance)
        bench.database.execute(COPY_RULES, [RULES // POSTED_RULES - 1])
        bench.database.execute("VACUUM ANALYZE")
        today = date.today()
        body = {"startDate": str(today), "endDate": str(today + timedelta(days=365 * YEARS))}
        paths = [f"{bench.path}/data/forecast{name}TimeSeries" for name in ("Balance", "CashFlow")]
        for interval in ("day", "month"):
            parameters = body | {"interval": interval}
            balances, flows = measure_alternating(
                *(partial(bench.call, "POST", path, parameters) for path in paths), rounds=ROUNDS
            )
            print_figure(
                f"forecast of {YEARS} years of balances by {interval}, {RULES:,} rules",
                balances / flows,
                "× that of flows",
                goal=GOAL,
                way=AT_MOST,
                behind=f"{1000 * balances:.0f} against {1000 * flows:.0f} ms",
            )


if __name__ == "__main__":
    main()
