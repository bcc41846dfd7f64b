"""Subscription events against raw COPY, recurring revenue against ``select 1``, flows and bars against DuckDB.

Run with ``make bench`` or ``python -m tests.bench.analytics``. Every figure is a ratio within this run.
"""

import json
import random
import sys
import tempfile
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import psycopg
import uuid_utils.compat

from tests.bench.bench_server import BenchServer, measure_alternating, measure_seconds, serve_bench
from tests.bench.figures import AT_MOST, print_figure
from tests.bench.imports import ROWS, open_accounts

EVENT_COUNT = CUSTOMER_COUNT = 100_000
TRANSACTION_COUNT = 1_000_000
GOAL_IMPORT, GOAL_MONTHS, GOAL_SERIES, GOAL_BARS, GOAL_BALANCES = 0.4, 10, 1.0, 1.0, 1.5
FIRST, LAST = date(2022, 1, 1), date(2025, 12, 1)
SHELL_TIMEOUT = 900


# Subscription events


def build_new_customers(seed: int) -> list[dict[str, str]]:
    """One event for each of 100,000 customers that nobody knows yet, over four years and in three currencies."""
    chance = random.Random(seed)
    return [
        {
            "subscriptionExternalId": f"sub_{seed}_{number}",
            "customerExternalId": f"cus_{seed}_{number}",
            "customerName": f"Customer {number}",
            "productExternalId": f"prod_{number % 5}",
            "effectiveDate": str(FIRST + timedelta(days=chance.randrange(1400))),
            "amountValue": chance.choice(["9.00", "29.00", "49.00", "99.00", "499.00", f"{chance.randrange(999)}.50"]),
            "amountCurrency": chance.choice(["EUR", "EUR", "USD", "GBP"]),
            "interval": chance.choice(["month", "month", "year"]),
            "externalId": f"e_{seed}_{number}",
        }
        for number in range(CUSTOMER_COUNT)
    ]


def build_events(seed: int, subscriptions: list[str]) -> list[dict[str, str]]:
    """100,000 later events of known subscriptions: upgrades, downgrades, ends."""
    chance = random.Random(seed)
    return [
        {
            "subscriptionId": chance.choice(subscriptions),
            "effectiveDate": str(FIRST + timedelta(days=chance.randrange(1460))),
            "amountValue": chance.choice(["0.00", "9.00", "29.00", "49.00", "99.00", "499.00"]),
            "amountCurrency": chance.choice(["EUR", "EUR", "USD", "GBP"]),
            "externalId": f"e_{seed}_{number}",
        }
        for number in range(EVENT_COUNT)
    ]


COLUMNS = (
    "company_id, id, subscription_id, effective_date, committed_date, amount_value, amount_currency, interval, "
    "interval_count, external_id, created_time, last_updated_time"
)


def format_copy_lines(bench: BenchServer, rows: list[dict[str, str]]) -> str:
    """The same rows in COPY's text format, with everything that the import adds."""
    now = "2026-01-01T00:00:00Z"
    return "".join(
        f"{bench.company}\t{uuid_utils.compat.uuid7()}\t{row['subscriptionId']}\t{row['effectiveDate']}\t"
        f"{row['effectiveDate']}\t{row['amountValue']}\t{row['amountCurrency']}\tmonth\t1\t{row['externalId']}\t"
        f"{now}\t{now}\n"
        for row in rows
    )


def copy_events(database: psycopg.Connection, text: str) -> None:
    """One committed COPY into the same table: same keys, references and indexes."""
    with database.cursor() as cursor, cursor.copy(f"COPY ledger_subscriptionevent ({COLUMNS}) FROM STDIN") as copy:
        copy.write(text)


def measure_import(bench: BenchServer, rounds: int = 5) -> None:
    path = f"{bench.path}/subscription_events/import"
    first = json.dumps({"events": build_new_customers(0)}).encode()
    taken = measure_seconds(lambda: bench.call("POST", path, first))
    result = bench.database.execute("SELECT id FROM ledger_subscription WHERE company_id = %s", [bench.company])
    subscriptions = [str(row_id) for (row_id,) in result.fetchall()]
    bodies = iter([json.dumps({"events": build_events(seed, subscriptions)}).encode() for seed in range(1, 1 + rounds)])
    prepared = iter([format_copy_lines(bench, build_events(100 + seed, subscriptions)) for seed in range(rounds)])
    bench.database.execute("VACUUM ANALYZE")
    over_http, by_copy = measure_alternating(
        lambda: bench.call("POST", path, next(bodies)),
        lambda: copy_events(bench.database, next(prepared)),
        rounds=rounds,
    )
    print_figure(
        f"import of {EVENT_COUNT:,} subscription events",
        by_copy / over_http,
        "of raw COPY's speed",
        goal=GOAL_IMPORT,
        behind=f"{EVENT_COUNT / over_http:,.0f} against {EVENT_COUNT / by_copy:,.0f} rows a second; "
        f"the first one, creating {CUSTOMER_COUNT:,} customers, {taken:.1f} s",
    )
    # What COPY brought past the service is put into the book by adding everything up again, as rates do.
    bench.database.execute("UPDATE ledger_recurringbook SET stale = true")


# Movements of money


def import_movements(bench: BenchServer) -> None:
    """A million transactions over three years, each with what it was for."""
    accounts, _ = open_accounts(bench, 20)
    categories = {each["systemKey"]: each["id"] for each in bench.call("GET", f"{bench.path}/categories")}
    revenue = [categories[f"revenue{kind}"] for kind in ("Recurring", "OneOff", "Usage", "Other")]
    expenses = [categories[key] for key in ("hosting", "marketing", "productDevelopment", "officeAndAdmin")]
    chance = random.Random(1)
    for _ in range(0, TRANSACTION_COUNT, ROWS):
        items = []
        for _ in range(ROWS):
            income = chance.random() < 0.5
            amount = chance.uniform(1, 1000)
            items.append(
                {
                    "accountId": chance.choice(accounts),
                    "date": str(date(2023, 1, 1) + timedelta(days=chance.randrange(1096))),
                    "amountValue": f"{amount if income else -amount:.2f}",
                    "categoryId": chance.choice(revenue if income else expenses),
                }
            )
        answer = bench.call("POST", f"{bench.path}/transactions/import", json.dumps({"transactions": items}).encode())
        assert answer["count"] == ROWS


def main() -> None:
    with serve_bench() as bench:
        measure_import(bench)
        import_movements(bench)
        bench.database.execute("VACUUM ANALYZE")
        for call in ("months", "against_duckdb"):
            code = f"from tests.bench import analytics; analytics.{call}('{bench.company}')"
            done = bench.machine.run("shell", "-v", "0", "-c", code)
            print(done.stdout, end="")
            if done.returncode:
                sys.exit(done.stderr)
        body = {"mrrType": "mrr", "startMonth": "2022-01", "endMonth": "2025-12"}
        query, nothing = measure_alternating(
            lambda: bench.call("POST", f"{bench.path}/data/monthlyData", body),
            lambda: bench.call("GET", "/companies"),
            rounds=21,
        )
        print_figure("the same over HTTP", query / nothing, "× GET /companies", behind=f"{1000 * query:.1f} ms")
        measure_balances(bench)


def measure_balances(bench: BenchServer) -> None:
    """A year's balances by day over HTTP, against DuckDB in this process over the same rows."""
    import duckdb

    body = {"startDate": "2024-01-01", "endDate": "2024-12-31"}
    with tempfile.TemporaryDirectory() as folder:
        store = duckdb.connect(str(Path(folder) / "bench.duckdb"))
        export_to_duckdb(bench.database, store, bench.company, Path(folder))

        def ours() -> list[Decimal]:
            answer = bench.call("POST", f"{bench.path}/data/balanceByCashType", body)
            return [Decimal(str(point["value"])) for point in answer["cash"]]

        def theirs() -> list[Decimal]:
            result = store.execute(DUCKDB_BALANCES, {"first": date(2024, 1, 1), "last": date(2024, 12, 31)}).fetchall()
            return [cash for _, cash, _ in result]

        assert all(abs(float(our) - float(their)) < 0.1 for our, their in zip(ours(), theirs(), strict=True))
        query, added_up, nothing = measure_alternating(ours, theirs, lambda: bench.call("GET", "/companies"), rounds=21)
    print_figure(
        f"a year's daily balances of {TRANSACTION_COUNT:,} transactions over HTTP",
        query / added_up,
        f"× the time of DuckDB {duckdb.__version__} in process",
        goal=GOAL_BALANCES,
        way=AT_MOST,
        behind=f"{1000 * query:.1f} against {1000 * added_up:.1f} ms; GET /companies {1000 * nothing:.1f} ms",
    )


# Inside the service's own process: each is called by ``manage.py shell``


def months(company_id: str) -> None:
    """48 months of 100,000 customers, added up anew and served, against ``select 1``."""
    from django.db import connection

    from analytics.queries import monthly_rows, recurring_revenue
    from companies.api.rendering import render_json
    from companies.models import Company

    company = Company.objects.get(id=company_id)

    def one() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchall()

    def ask() -> None:
        rows = recurring_revenue.compute_monthly_data(company=company, mrr_type="mrr", first=FIRST, last=LAST)
        render_json([monthly_rows.monthly_row_to_dict(row) for row in rows])

    def fetch() -> None:
        list(recurring_revenue.select_events(company.id, recurring_revenue.EventSelection()))

    assert len(recurring_revenue.compute_monthly_data(company=company, mrr_type="mrr", first=FIRST, last=LAST)) == 48
    again, fetched = measure_alternating(
        lambda: recurring_revenue.refresh_recurring_revenue(company, is_forced=True), fetch, rounds=3
    )
    query, nothing = measure_alternating(ask, one, rounds=201)
    assert not recurring_revenue.find_recurring_revenue_differences(company.id)
    print_figure(
        f"48 months of recurring revenue of {CUSTOMER_COUNT:,} customers",
        query / nothing,
        "× select 1",
        goal=GOAL_MONTHS,
        way=AT_MOST,
        behind=f"{1000 * query:.2f} ms",
    )
    print_figure("the same added up anew", again / fetched, "× the fetch of its events", behind=f"{again:.2f} s")


def against_duckdb(company_id: str) -> None:
    """A year's daily flows and 36 months of bars at a million transactions, against DuckDB over the same rows."""
    import duckdb
    from django.db import connection

    from analytics.queries import cash_flow, profit_and_loss
    from companies.models import Company
    from ledger.calc.months import list_months
    from ledger.money.rates import get_rate_table

    company, rates = Company.objects.get(id=company_id), get_rate_table()
    with tempfile.TemporaryDirectory() as folder:
        store = duckdb.connect(str(Path(folder) / "bench.duckdb"))
        export_to_duckdb(connection, store, company_id, Path(folder))
    start, end = date(2024, 1, 1), date(2024, 12, 31)
    months = list_months(date(2023, 1, 1), date(2025, 12, 1))

    def our_series() -> cash_flow.FlowSeries:
        return cash_flow.compute_cash_flow(company=company, start=start, end=end, interval="day", rates=rates)

    def their_series() -> list[tuple[date, Decimal, Decimal]]:
        return store.execute(DUCKDB_SERIES, [start, end]).fetchall()

    def our_bars() -> list[dict[str, Decimal]]:
        return profit_and_loss.list_bar_amounts(company=company, months=months)

    def their_bars() -> list[tuple[date, str, Decimal]]:
        return store.execute(DUCKDB_BARS, [months[0], months[-1]]).fetchall()

    check_series(our_series(), their_series())
    check_bars(our_bars(), their_bars(), months)
    times = measure_alternating(our_series, their_series, our_bars, their_bars, rounds=21)
    ours, theirs, bars_ours, bars_theirs = (1000 * each for each in times)
    unit = f"× the time of DuckDB {duckdb.__version__}"
    print_figure(
        f"a year's daily flows of {TRANSACTION_COUNT:,} transactions",
        ours / theirs,
        unit,
        goal=GOAL_SERIES,
        way=AT_MOST,
        behind=f"{ours:.1f} against {theirs:.1f} ms",
    )
    print_figure(
        "36 months of revenue and expense bars of the same",
        bars_ours / bars_theirs,
        unit,
        goal=GOAL_BARS,
        way=AT_MOST,
        behind=f"{bars_ours:.1f} against {bars_theirs:.1f} ms",
    )


FACTS = {
    "flows": """
        SELECT t.date, t.amount_currency AS currency, t.amount_value AS amount
          FROM ledger_transaction t JOIN ledger_account a ON a.company_id = t.company_id AND a.id = t.account_id
         WHERE t.company_id = '{company}' AND NOT t.pending AND a.type <> 'transit' AND t.source <> 'initialBalance'
    """,
    "moves": """
        SELECT t.date, t.account_id, a.include_in_cash_balance, t.amount_currency, t.amount_value
          FROM ledger_transaction t JOIN ledger_account a ON a.company_id = t.company_id AND a.id = t.account_id
         WHERE t.company_id = '{company}' AND NOT t.pending
    """,
    "postings": """
        SELECT p.month, p.pl_type, c.system_key, p.base_amount
          FROM ledger_posting p JOIN ledger_category c ON c.company_id = p.company_id AND c.id = p.category_id
         WHERE p.company_id = '{company}'
    """,
    # The rate of each day, so that DuckDB joins by equality.
    "rates": """
        SELECT DISTINCT ON (d.day, r.currency) d.day::date AS date, r.currency, r.per_euro
          FROM generate_series('2023-01-01'::date, '2025-12-31', '1 day') AS d (day)
          JOIN ledger_rate r ON r.date <= d.day AND r.date > d.day - interval '30 days'
         ORDER BY d.day, r.currency, r.date DESC
    """,
}
TYPES = {
    "flows": "date DATE, currency VARCHAR, amount DECIMAL(19, 4)",
    "moves": "date DATE, account VARCHAR, cash BOOLEAN, currency VARCHAR, amount DECIMAL(19, 4)",
    "postings": "month DATE, pl_type VARCHAR, system_key VARCHAR, base_amount DECIMAL(30, 10)",
    "rates": "date DATE, currency VARCHAR, per_euro DECIMAL(18, 8)",
}
DUCKDB_SERIES = """
    WITH summed AS (
        SELECT date, currency, sum(CASE WHEN amount > 0 THEN amount ELSE 0 END) AS inflow,
               sum(CASE WHEN amount < 0 THEN -amount ELSE 0 END) AS outflow
          FROM flows WHERE date BETWEEN ? AND ? GROUP BY date, currency
    ) SELECT s.date, sum(inflow / coalesce(r.per_euro, 1)), sum(outflow / coalesce(r.per_euro, 1))
        FROM summed s LEFT JOIN rates r ON r.date = s.date AND r.currency = s.currency GROUP BY s.date ORDER BY s.date
"""
DUCKDB_BALANCES = """
    WITH moved AS (
        SELECT account, currency, cash, date, sum(amount) AS amount FROM moves WHERE date <= $last GROUP BY ALL
    ), days AS (
        SELECT unnest(generate_series($first, $last, INTERVAL 1 DAY))::date AS date
    ), opened AS (
        SELECT account, currency, cash, coalesce(sum(amount) FILTER (WHERE date < $first), 0) AS before
          FROM moved GROUP BY ALL
    ), held AS (
        SELECT o.cash, o.currency, d.date, coalesce(sum(m.amount) OVER grown, 0) + o.before AS amount
          FROM opened o CROSS JOIN days d
          LEFT JOIN moved m ON m.account = o.account AND m.currency = o.currency AND m.date = d.date
        WINDOW grown AS (PARTITION BY o.account, o.currency ORDER BY d.date)
    ), valued AS (
        SELECT h.date, cash, round(amount / coalesce(r.per_euro, 1), 2) AS worth
          FROM held h LEFT JOIN rates r ON r.date = h.date AND r.currency = h.currency
    ) SELECT date, sum(worth) FILTER (WHERE cash), sum(worth) FILTER (WHERE NOT cash)
        FROM valued GROUP BY date ORDER BY date
"""
DUCKDB_BARS = """
    SELECT month, CASE WHEN pl_type <> 'revenue' THEN pl_type ELSE system_key END AS bar, sum(base_amount)
      FROM postings WHERE month BETWEEN ? AND ? GROUP BY month, bar ORDER BY month
"""


def export_to_duckdb(connection, store, company_id, folder: Path) -> None:
    """The facts, copied into DuckDB's own tables."""
    for name, query in FACTS.items():
        path = folder / f"{name}.csv"
        statement = f"COPY ({query.format(company=company_id)}) TO STDOUT (FORMAT CSV)"
        with connection.cursor() as cursor, path.open("wb") as file, cursor.copy(statement) as copy:
            for block in copy:
                file.write(block)
        store.execute(f"CREATE TABLE {name} ({TYPES[name]})")
        store.execute(f"COPY {name} FROM '{path}' (FORMAT CSV)")


def check_series(ours, theirs) -> None:
    assert len(ours.points) == len(theirs) == 366
    for day, inflow, outflow, (their_day, their_in, their_out) in zip(
        ours.points, ours.inflow, ours.outflow, theirs, strict=True
    ):
        assert day == their_day
        assert abs(float(inflow) - float(their_in)) < 0.011, day
        assert abs(float(outflow) - float(their_out)) < 0.011, day


def check_bars(ours, theirs, months) -> None:
    expenses = {"cogs", "cac", "pd", "ga"}
    for month, bar, amount in theirs:
        shown = -amount if bar in expenses else amount
        assert abs(ours[months.index(month)][bar] - shown) <= Decimal("0.005"), (month, bar)


if __name__ == "__main__":
    main()
