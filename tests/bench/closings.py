"""Closing a company of 100,000 transactions, its differences, and what closed months cost an import.

Run with ``make bench`` or ``python -m tests.bench.closings``. Times are seconds of whole requests.
"""

import json
from datetime import date, timedelta

from tests.bench.bench_server import BenchServer, measure_alternating, measure_seconds, serve_bench
from tests.bench.figures import AT_MOST, print_figure
from tests.bench.imports import build_items, open_accounts
from tests.bench.ledger import find_categories

ROWS, ROUNDS = 100_000, 5
GOAL_CLOSE_SECONDS, GOAL_DIFFERENCES_SECONDS, GOAL_IMPORT = 1.0, 0.1, 1.05
LAST_MONTH = "2025-12"


def main() -> None:
    with serve_bench() as bench:
        accounts, _ = open_accounts(bench, 10)
        body = json.dumps({"transactions": build_items(accounts, ROWS, 1)}).encode()
        bench.call("POST", f"{bench.path}/transactions/import", body)
        hosting, _ = find_categories(bench)
        everything = {"selection": {"mode": "filter", "filter": {}, "confirm": True}, "categoryId": hosting}
        bench.call("POST", f"{bench.path}/transactions/categorize", everything)
        bench.database.execute("VACUUM ANALYZE")
        close = {"month": LAST_MONTH, "acknowledge": True}
        taken = measure_seconds(lambda: bench.call("POST", f"{bench.path}/closings", close))
        print_figure(f"closing 36 months of {ROWS:,}", taken, "s", goal=GOAL_CLOSE_SECONDS, way=AT_MOST)
        measure_import(bench, accounts)
        measure_differences(bench, accounts)


def shift_four_years(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """The same movements four years later, in open months."""
    return [row | {"date": str(date.fromisoformat(row["date"]) + timedelta(days=1461))} for row in rows]


def measure_import(bench: BenchServer, accounts: list[str]) -> None:
    """Import into open months of a company with closed ones, with the triggers of closings and without them."""
    bodies = iter(
        [
            json.dumps({"transactions": shift_four_years(build_items(accounts, ROWS, n))}).encode()
            for n in range(2 * ROUNDS)
        ]
    )
    tables = ("ledger_daymovement", "ledger_monthmovement", "ledger_monthresult")

    def run(*, protected: bool) -> None:
        bench.call("POST", f"{bench.path}/transactions/import", next(bodies))
        for table in tables:  # for the next one
            word = "DISABLE" if protected else "ENABLE"
            kind = {"ledger_daymovement": "day", "ledger_monthmovement": "month", "ledger_monthresult": "result"}[table]
            bench.database.execute(f"ALTER TABLE {table} {word} TRIGGER ledger_note_{kind}")

    protected, plain = measure_alternating(lambda: run(protected=True), lambda: run(protected=False), rounds=ROUNDS)
    print_figure(
        f"import of {ROWS:,} with the triggers of closings",
        protected / plain,
        "× the time without them",
        goal=GOAL_IMPORT,
        way=AT_MOST,
        behind=f"{protected:.2f} s",
    )


def measure_differences(bench: BenchServer, accounts: list[str]) -> None:
    bench.call("POST", f"{bench.path}/closings/{LAST_MONTH}/reopen", {"reason": "bench"})
    row = {"accountId": accounts[0], "date": f"{LAST_MONTH}-15", "amountValue": "-1.00"}
    bench.call("POST", f"{bench.path}/transactions", row)
    path = f"{bench.path}/closings/{LAST_MONTH}/differences"
    assert bench.call("GET", path)
    (taken,) = measure_alternating(lambda: bench.call("GET", path), rounds=ROUNDS)
    print_figure("differences of a month", taken, "s", goal=GOAL_DIFFERENCES_SECONDS, way=AT_MOST)


if __name__ == "__main__":
    main()
