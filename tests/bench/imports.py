"""Import of 100,000 transactions over HTTP against a raw COPY of the same rows into the same table; memory; balances.

Run with ``make bench`` or ``python -m tests.bench.imports``. Every figure is a ratio within this run.
"""

import json
import random
import uuid
from datetime import date, timedelta

import psycopg
import uuid_utils.compat

from tests.bench.bench_server import BenchServer, measure_alternating, serve_bench
from tests.bench.figures import AT_MOST, print_figure

ROWS = 100_000
GOAL_IMPORT, GOAL_MEMORY, GOAL_GROWTH = 0.60, 4.0, 1.6


def build_items(accounts: list[str], count: int, seed: int) -> list[dict[str, str]]:
    """Movements over three years, sorted by day, as a history backfill sends them."""
    chance = random.Random(seed)
    first = date(2023, 1, 1)
    days = sorted(chance.randrange(1096) for _ in range(count))
    return [
        {
            "accountId": accounts[chance.randrange(len(accounts))],
            "date": str(first + timedelta(days=day)),
            "fromTo": f"Counterparty {chance.randrange(5000)}",
            "description": f"Invoice {chance.randrange(10**6)} for services",
            "amountValue": f"{chance.uniform(-900, 1000):.2f}",
        }
        for day in days
    ]


def format_copy_lines(bench: BenchServer, rows: list[dict[str, str]], currencies: dict[str, str]) -> str:
    """The same rows in COPY's text format, with everything that the import adds."""
    batch, now = str(uuid_utils.compat.uuid7()), "2026-01-01T00:00:00Z"
    bench.database.execute(
        "INSERT INTO ledger_importbatch (company_id, id, source, count, skipped_before_data_start, duplicates, "
        "created_time, account_ids) VALUES (%s, %s, 'import', 0, 0, 0, now(), '{}')",
        [bench.company, batch],
    )
    return "".join(
        f"{bench.company}\t{uuid_utils.compat.uuid7()}\t{row['accountId']}\t{row['date']}\t{row['fromTo']}\t"
        f"{row['description']}\t{row['amountValue']}\t{currencies[row['accountId']]}\tf\timport\tf\tf\t0\t0\t{now}\t{now}"
        f"\t{batch}\n"
        for row in rows
    )


COLUMNS = (
    "company_id, id, account_id, date, from_to, description, amount_value, amount_currency, pending, source, "
    "categorizations_auto_assigned, exclude_from_auto_categorization, categorized_value, transferred_value, "
    "created_time, last_updated_time, import_batch_id"
)


def copy_rows(database: psycopg.Connection, text: str) -> None:
    """One committed COPY into the same table: same keys, references, indexes and triggers."""
    with database.cursor() as cursor, cursor.copy(f"COPY ledger_transaction ({COLUMNS}) FROM STDIN") as copy:
        copy.write(text)


def main() -> None:
    with serve_bench() as bench:
        accounts, currencies = open_accounts(bench, 20)
        path = f"{bench.path}/transactions/import"
        bench.call("POST", path, {"transactions": build_items(accounts, 1000, 0)})
        started = bench.worker_memory()
        rounds = 5
        bodies = [json.dumps({"transactions": build_items(accounts, ROWS, seed)}).encode() for seed in range(rounds)]
        bench.call("POST", path, json.dumps({"transactions": build_items(accounts, ROWS, 99)}).encode())
        growth = (bench.worker_memory() - started) / len(bodies[0])
        prepared = [
            format_copy_lines(bench, build_items(accounts, ROWS, 100 + seed), currencies) for seed in range(rounds)
        ]
        sent, copies = iter(bodies), iter(prepared)
        over_http, by_copy = measure_alternating(
            lambda: bench.call("POST", path, next(sent)), lambda: copy_rows(bench.database, next(copies)), rounds=rounds
        )
        in_the_end = (bench.worker_memory() - started) / len(bodies[0])
        print_figure(
            "import of 100,000 transactions over HTTP",
            by_copy / over_http,
            "of raw COPY's speed",
            goal=GOAL_IMPORT,
            behind=f"{ROWS / over_http:,.0f} against {ROWS / by_copy:,.0f} rows a second",
        )
        print_figure("memory of the worker, first import", growth, "× the body", goal=GOAL_MEMORY, way=AT_MOST)
        print_figure("memory, highest of six imports in a row", in_the_end, "× the body", goal=GOAL_MEMORY, way=AT_MOST)
        measure_balances(bench, accounts)


def open_accounts(bench: BenchServer, count: int) -> tuple[list[str], dict[str, str]]:
    """Account ids, and their currencies: three of them in turn."""
    currencies = {}
    for number in range(count):
        currency = ("EUR", "USD", "GBP")[number % 3]
        kind = ("bank", "cash", "loan")[number % 3]
        body = {"type": kind, "name": f"Account {number}", "defaultCurrency": currency}
        currencies[bench.call("POST", f"{bench.path}/accounts", body)["id"]] = currency
    return list(currencies), currencies


def measure_balances(bench: BenchServer, accounts: list[str]) -> None:
    """Balance per account at 20,000, 200,000 and 1,000,000 transactions, each against ``select 1``."""
    sizes = {}
    for size in (20_000, 200_000, 1_000_000):
        company = create_company_of_size(bench, size)
        sizes[size] = company
    bench.database.execute("VACUUM ANALYZE")
    window = {"startDate": "2025-06-01", "endDate": "2025-06-30", "accountTypes": ["bank", "cash", "loan"]}

    def ask(company: tuple[str, str]) -> None:
        other = BenchServer(bench.machine, bench.port, company[0], company[1], bench.database)
        other.call("POST", f"{other.path}/data/accountBalanceByAccount", window)

    def query(company: tuple[str, str]) -> None:
        bench.database.execute(
            "SELECT account_id, currency, sum(amount) FROM ("
            " SELECT account_id, currency, amount FROM ledger_monthmovement WHERE company_id = %(c)s AND month < %(m)s"
            " UNION ALL SELECT account_id, currency, amount FROM ledger_daymovement"
            " WHERE company_id = %(c)s AND date >= %(m)s AND date <= %(d)s) AS moved GROUP BY 1, 2",
            {"c": company[0], "m": "2025-06-01", "d": "2025-06-30"},
        ).fetchall()

    acts = [lambda c=c: query(c) for c in sizes.values()]
    *sql, one = measure_alternating(*acts, lambda: bench.database.execute("SELECT 1").fetchall(), rounds=21)
    *http_, _ = measure_alternating(*[lambda c=c: ask(c) for c in sizes.values()], lambda: None, rounds=11)
    for size, query_time, http_time in zip(sizes, sql, http_, strict=True):
        print_figure(
            f"balances per account at {size:,} transactions",
            query_time / sql[0],
            "× the query at 20,000",
            goal=GOAL_GROWTH,
            way=AT_MOST,
            behind=f"{query_time / one:.1f} × select 1; over HTTP {http_time / http_[0]:.2f} × that at 20,000",
        )


def create_company_of_size(bench: BenchServer, size: int) -> tuple[str, str]:
    """(id, key) of another company with so many transactions on 20 accounts in three currencies."""
    company = bench.machine.run(
        "create_company", "--name", f"Of {size}", "--currency", "EUR", "--owner", "bench@example.com"
    ).stdout.strip()
    key = bench.machine.run("create_api_key", "--company", company).stdout.strip()
    other = BenchServer(bench.machine, bench.port, company, key, bench.database)
    accounts, _ = open_accounts(other, 20)
    for start in range(0, size, ROWS):
        count = min(ROWS, size - start)
        body = json.dumps({"transactions": build_items(accounts, count, start)}).encode()
        assert other.call("POST", f"{other.path}/transactions/import", body)["count"] == count
    assert uuid.UUID(company)
    return company, key


if __name__ == "__main__":
    main()
