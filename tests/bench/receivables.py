"""Aging over 100,000 invoices against ``select 1``; one in twenty is open. Import of 10,000 open invoices from a file.

Run with ``make bench`` or ``python -m tests.bench.receivables``. Every figure is a ratio within this run.
"""

import sys
from datetime import date

from tests.bench.bench_server import BenchServer, measure_alternating, serve_bench
from tests.bench.figures import AT_MOST, print_figure
from tests.bench.imports import open_accounts
from tests.bench.statements import upload_file

INVOICES, CUSTOMERS, OPEN_SHARE = 100_000, 200, 20  # one of so many is open
GOAL_AGING, ROUNDS = 50, 201
IMPORTED, IMPORT_ROUNDS = 10_000, 3
GOAL_GROWTH = 1.6  # of the time a row, at ten times the rows

FILL_CUSTOMERS = """
    INSERT INTO ledger_counterparty (company_id, id, type, name, payment_terms, created_time, last_updated_time)
    SELECT %(company)s, gen_random_uuid(), 'customer', 'Customer ' || n, 30, now(), now()
      FROM generate_series(1, %(customers)s) AS n
"""
FILL_INVOICES = """
    WITH customers AS (
        SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM ledger_counterparty WHERE company_id = %(company)s)
    INSERT INTO planning_plannedtransaction
    SELECT (jsonb_populate_record(p, jsonb_build_object(
               'id', gen_random_uuid(), 'counterparty_id', c.id, 'amount_value', 100 + n %% 900,
               'invoice_date', p.invoice_date + n %% 1000, 'start_date', p.start_date + n %% 1000))).*
      FROM planning_plannedtransaction AS p, generate_series(1, %(invoices)s) AS n
      JOIN customers AS c ON c.place = n %% %(customers)s
     WHERE p.company_id = %(company)s
"""
# Each paid invoice by a transaction of its own, ten days after it was issued.
FILL_PAYMENTS = """
    INSERT INTO ledger_transaction
    SELECT (jsonb_populate_record(t, jsonb_build_object(
               'id', p.id, 'date', p.invoice_date + 40, 'amount_value', p.amount_value))).*
      FROM ledger_transaction AS t, planning_plannedtransaction AS p
     WHERE t.company_id = %(company)s AND p.company_id = %(company)s AND p.amount_value %% %(share)s <> 0
"""
FILL_SETTLEMENTS = """
    INSERT INTO planning_settlement
           (company_id, id, planned_id, original_date, transaction_id, amount_value, transaction_amount_value)
    SELECT p.company_id, gen_random_uuid(), p.id, p.start_date, p.id, p.amount_value, p.amount_value
      FROM planning_plannedtransaction AS p
     WHERE p.company_id = %(company)s AND p.amount_value %% %(share)s <> 0
"""
CLOSE = """
    UPDATE planning_plannedtransaction SET is_closed = true, settled_value = amount_value
     WHERE company_id = %(company)s AND amount_value %% %(share)s <> 0
"""


def fill(bench: BenchServer) -> None:
    accounts, _ = open_accounts(bench, 1)
    body = {
        "accountId": accounts[0], "name": "Invoice", "startDate": "2023-01-01", "invoiceDate": "2023-01-01",
        "amountValue": "1000.00", "autoSettle": False,
    }  # fmt: skip
    bench.call("POST", f"{bench.path}/planned_transactions", body)
    bench.call(
        "POST", f"{bench.path}/transactions", {"accountId": accounts[0], "date": "2023-02-01", "amountValue": "1.00"}
    )
    values = {"company": bench.company, "customers": CUSTOMERS, "invoices": INVOICES, "share": OPEN_SHARE}
    for statement in (FILL_CUSTOMERS, FILL_INVOICES, FILL_PAYMENTS, FILL_SETTLEMENTS, CLOSE):
        bench.database.execute(statement, values)
    bench.database.execute("VACUUM ANALYZE")


def main() -> None:
    with serve_bench() as bench:
        fill(bench)
        code = f"from tests.bench import receivables; receivables.aging('{bench.company}')"
        done = bench.machine.run("shell", "-v", "0", "-c", code)
        sys.stdout.write(done.stdout)
        if done.returncode:
            sys.exit(done.stderr)
        report_seconds, company_seconds = measure_alternating(
            lambda: bench.call("POST", f"{bench.path}/data/aging", {"kind": "receivables"}),
            lambda: bench.call("GET", bench.path),
            rounds=ROUNDS,
        )
        print_figure(
            "the same over HTTP",
            report_seconds / company_seconds,
            "× GET of the company",
            behind=f"{1000 * report_seconds:.1f} ms",
        )
        measure_import(bench)


def measure_import(bench: BenchServer) -> None:
    """Import of files of new invoices, each of a tenth as many new customers, against one of a tenth of the size."""
    sizes = (IMPORTED, IMPORTED // 10)
    files = {size: iter([build_invoice_file(size, number) for number in range(IMPORT_ROUNDS)]) for size in sizes}
    large, small = measure_alternating(
        *[lambda size=size: import_file(bench, next(files[size]), size) for size in sizes], rounds=IMPORT_ROUNDS
    )
    print_figure(
        f"import of {IMPORTED:,} open invoices, a row",
        large / small / 10,
        f"× a row of {IMPORTED // 10:,}",
        goal=GOAL_GROWTH,
        way=AT_MOST,
        behind=f"{large:.2f} s, {IMPORTED / large:,.0f} rows a second",
    )


def build_invoice_file(count: int, number: int) -> bytes:
    """A CSV file of invoices that no other file has."""
    rows = [
        f"RE-{count}-{number}-{row},Import {count}-{number}-{row % (count // 10)},2026-01-{1 + row % 28:02d},"
        f"2026-03-{1 + row % 28:02d},{100 + row % 900}.50"
        for row in range(count)
    ]
    return "\n".join(["Invoice number,Counterparty,Invoice date,Due date,Amount", *rows]).encode()


def import_file(bench: BenchServer, content: bytes, count: int) -> None:
    """Import a file of open invoices over HTTP."""
    assert upload_file(bench, content, path="receivables/import")["count"] == count


# Inside the service's own process: called by ``manage.py shell``


def aging(company_id: str) -> None:
    """Aging of today, and of a day a year earlier, against ``select 1``."""
    from django.db import connection

    from companies.models import Company
    from ledger.money.rates import get_rate_table
    from planning.invoices.queries import DEFAULT_INTERVAL, compute_aging

    company, rates, today = Company.objects.get(id=company_id), get_rate_table(), date.today()

    def one() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchall()

    def age(day: date) -> None:
        compute_aging(company, kind="receivables", as_of=day, interval=DEFAULT_INTERVAL, rates=rates)

    aging_seconds, select_seconds = measure_alternating(lambda: age(today), one, rounds=ROUNDS)
    earlier_seconds, _ = measure_alternating(lambda: age(today.replace(year=today.year - 1, day=1)), one, rounds=11)
    print_figure(
        f"aging of {INVOICES:,} invoices, one of {OPEN_SHARE} open",
        aging_seconds / select_seconds,
        "× select 1",
        goal=GOAL_AGING,
        way=AT_MOST,
        behind=f"{1000 * aging_seconds:.2f} against {1000 * select_seconds:.2f} ms; "
        f"a year earlier {1000 * earlier_seconds:.1f} ms",
    )


if __name__ == "__main__":
    sys.exit(main())
