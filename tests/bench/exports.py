"""Exports of 100,000 categorized transactions over HTTP against a COPY TO of them; memory of the worker.

Run with ``make bench`` or ``python -m tests.bench.exports``. Every figure is a ratio within this run.
"""

import contextlib
import http.client
import json
from pathlib import Path

from tests.bench.bench_server import BenchServer, measure_alternating, serve_bench
from tests.bench.figures import AT_MOST, print_figure
from tests.bench.imports import build_items, open_accounts
from tests.bench.ledger import find_categories

ROWS = 100_000
GOAL_TIME = 4.0
NAMES = ("transactions.csv", "journal.beancount", "journal.hledger", "transactions.xlsx")
ROUNDS = {"transactions.xlsx": 3}
MIB = 2**20


def measure_export_size(bench: BenchServer, name: str) -> int:
    """How many bytes an export has; none of them is kept."""
    connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=600)
    connection.request("GET", f"{bench.path}/exports/{name}", headers={"Authorization": f"Bearer {bench.key}"})
    answer, size = connection.getresponse(), 0
    assert answer.status == 200, answer.read()
    while piece := answer.read(MIB):
        size += len(piece)
    connection.close()
    return size


def copy_transactions(bench: BenchServer) -> int:
    """The same transactions with their parts, as the database writes them."""
    size = 0
    for table in ("ledger_transaction", "ledger_categorization"):
        statement = f"COPY (SELECT * FROM {table} WHERE company_id = '{bench.company}') TO STDOUT"
        with bench.database.cursor() as cursor, cursor.copy(statement) as copy:
            size += sum(map(len, copy))
    return size


def fill_company(bench: BenchServer, count: int, seed: int) -> None:
    accounts, _ = open_accounts(bench, 10)
    body = json.dumps({"transactions": build_items(accounts, count, seed)}).encode()
    bench.call("POST", f"{bench.path}/transactions/import", body)
    hosting, _ = find_categories(bench)
    everything = {"selection": {"mode": "filter", "filter": {}, "confirm": True}, "categoryId": hosting}
    bench.call("POST", f"{bench.path}/transactions/categorize", everything)
    bench.database.execute("VACUUM ANALYZE")


def forget_peaks(bench: BenchServer) -> None:
    """What a worker took at most is counted anew from here on (proc(5), clear_refs)."""
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            if f"PPid:\t{bench.up_pid}\n" in status.read_text():
                status.with_name("clear_refs").write_text("5")


def measure_growth(bench: BenchServer, name: str) -> tuple[int, float]:
    """(bytes of the file, MiB that the worker grew by at most while it was made)."""
    forget_peaks(bench)
    before = bench.worker_memory()
    size = measure_export_size(bench, name)
    return size, (bench.worker_memory() - before) / MIB


def main() -> None:
    with serve_bench() as bench:
        fill_company(bench, ROWS, 2)
        for name in NAMES:
            measure_export_size(bench, name)
            size, more = measure_growth(bench, name)
            by_copy, over_http = measure_alternating(
                lambda: copy_transactions(bench),
                lambda name=name: measure_export_size(bench, name),
                rounds=ROUNDS.get(name, 7),
            )
            print_figure(
                f"{name} of {ROWS:,} transactions",
                over_http / by_copy,
                "× the time of COPY TO",
                goal=GOAL_TIME,
                way=AT_MOST,
                behind=f"{over_http:.2f} against {by_copy:.2f} s; {size / MIB:.0f} MiB, worker + {more:.0f} MiB",
            )


if __name__ == "__main__":
    main()
