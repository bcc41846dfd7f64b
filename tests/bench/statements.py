"""Statements of 100,000 entries, CAMT.053 and CSV, over HTTP against a raw COPY of as many rows; memory; detection.

Run with ``make bench`` or ``python -m tests.bench.statements``. Every figure is a ratio within this run.
"""

import http.client
import io
import json
import random
import time
from collections.abc import Callable
from typing import Any

from ledger.calc.delimited_text import read_delimited_lines
from ledger.imports.calc.detection import detect_mapping
from tests.bench.bench_server import BenchServer, measure_alternating, serve_bench
from tests.bench.figures import AT_MOST, print_figure
from tests.bench.imports import ROWS, build_items, copy_rows, format_copy_lines
from tests.ledger.bank_file_builders import build_camt, build_detail, build_entry, build_statement

GOAL_SPEED, GOAL_MEMORY, GOAL_DETECTION = 0.20, 4.0, 0.2
ROUNDS = 3
MIB = 1024 * 1024


def build_camt_statement(seed: int, iban: str) -> bytes:
    """A year of an account, as banks write it: about 450 bytes an entry."""
    chance = random.Random(seed)
    entries = [
        build_entry(
            f"{chance.uniform(-900, 1000):.2f}",
            f"2025-{1 + number * 12 // ROWS:02}-{1 + number % 28:02}",
            ref=f"{seed}{number:015}",
            details=build_detail(
                name=f"Counterparty {chance.randrange(5000)}",
                text=f"Invoice {chance.randrange(10**6)} for services",
                end_to_end=f"E2E-{number:012}",
                entry_value="1",
            ),
        )
        for number in range(ROWS)
    ]
    return build_camt(
        build_statement(*entries, iban=iban, start="2025-01-01", end="2025-12-31", opening="0.00", closing="1.00")
    )


def build_csv(seed: int, iban: str, rows: int = ROWS) -> bytes:
    """The same as a CSV file whose account column has the number, with a balance: about 120 bytes a row."""
    chance = random.Random(seed)
    lines, cents = ["Account,Date,Value date,Counterparty,Text,Reference,Amount,Balance"], 0
    for number in range(rows):
        day = f"2025-{1 + number * 12 // rows:02}-{1 + number % 28:02}"
        amount = chance.randrange(-90_000, 100_000)
        cents += amount
        lines.append(
            f"{iban},{day},{day},Counterparty {chance.randrange(5000)},Invoice {chance.randrange(10**6)} for services,"
            f"{seed}{number:015},{amount / 100:.2f},{cents / 100:.2f}"
        )
    return "\n".join(lines).encode()


# Sent to a worker that may hold four times their bytes.
BAD_FILES = {
    "10,000 columns": b",".join([b"ab"] * 10_000) + b"\n" + (b"," * 9_999 + b"\n") * 1_000,
    "cells of 1 MiB": b"Date,Text,Amount\n" + (b"2026-01-31," + b"x" * MIB + b",-1.00\n") * 24,
    "a quoted cell of 24 MiB": b'Date,Text,Amount\n2026-01-31,"' + b"x\n" * 12 * MIB,
    "alternating encodings": b"Date,Text,Amount\n"
    + (b"2026-01-31,M\xc3\xbcller,-1.00\n2026-01-31,M\xfcller,1e5\n") * (16 * MIB // 50),
    "no table": b"\x81\x8d\xff\x00" * 6 * MIB,
}


def upload_file(bench: BenchServer, file: bytes, *, path: str = "statements", status: int = 200, **fields: str) -> Any:
    """The answer to a file that is sent as browsers do."""
    edge = "----------------------------edge"
    texts = "".join(
        f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    )
    head = f'{texts}--{edge}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    body = head.encode() + file + f"\r\n--{edge}--\r\n".encode()
    connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=600)
    headers = {"Authorization": f"Bearer {bench.key}", "Content-Type": f"multipart/form-data; boundary={edge}"}
    connection.request("POST", f"{bench.path}/{path}", body, headers)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    assert answer.status == status or (status != 200 and answer.status >= 400), data[:2000]
    return json.loads(data)


def measure_format(bench: BenchServer, what: str, make: Callable[[int, str], bytes], *, first: int) -> None:
    """Print how fast files of a kind are and what they hold."""
    numbers = [f"DE{number:020}" for number in range(first, first + ROUNDS + 1)]
    accounts = [
        bench.call("POST", f"{bench.path}/accounts", {"type": "bank", "name": number, "accountNumber": number})["id"]
        for number in numbers
    ]
    files = [make(seed, number) for seed, number in enumerate(numbers, start=first)]
    bench.call("GET", f"{bench.path}/accounts")
    started = bench.worker_memory()
    assert upload_file(bench, files.pop())["count"] == ROWS
    growth = (bench.worker_memory() - started) / len(files[0])
    euros = dict.fromkeys(accounts, "EUR")
    rows = [format_copy_lines(bench, build_items(accounts, ROWS, 100 + first + seed), euros) for seed in range(ROUNDS)]
    waiting, copies = iter(files), iter(rows)
    over_http, by_copy = measure_alternating(
        lambda: upload_file(bench, next(waiting)), lambda: copy_rows(bench.database, next(copies)), rounds=ROUNDS
    )
    print_figure(
        f"{what} of 100,000 entries over HTTP",
        by_copy / over_http,
        "of raw COPY's speed",
        goal=GOAL_SPEED,
        behind=f"{ROWS / over_http:,.0f} against {ROWS / by_copy:,.0f} rows a second",
    )
    print_figure(f"memory of the worker, a {what}", growth, "× the file", goal=GOAL_MEMORY, way=AT_MOST)


def measure_rejection(bench: BenchServer) -> None:
    """Print what bad files hold, the highest until then, and how their time grows with their length."""
    account_id = bench.call("POST", f"{bench.path}/accounts", {"type": "bank", "name": "Bad"})["id"]
    bench.call("GET", f"{bench.path}/accounts")
    started = bench.worker_memory()
    for what, content in BAD_FILES.items():
        begun = time.perf_counter()
        refused = upload_file(bench, content, status=400, accountId=account_id)
        half = time.perf_counter()
        upload_file(bench, content[: len(content) // 2], status=400, accountId=account_id)
        whole, part = half - begun, time.perf_counter() - half
        growth = max(0, bench.worker_memory() - started) / len(content)
        behind = f"{refused['code']}, {whole:.2f} s; half of it {part:.2f} s"
        print_figure(f"memory, a file of {what}", growth, "× the file", goal=GOAL_MEMORY, way=AT_MOST, behind=behind)


def measure_detection() -> None:
    """Print how long the columns of 1,000 rows take to be found; the shortest of five."""
    rows = read_delimited_lines(io.StringIO(build_csv(0, "DE1", rows=1000).decode()), max_lines=2000)
    seconds = []
    for _ in range(5):
        begun = time.perf_counter()
        detect_mapping(rows)
        seconds.append(time.perf_counter() - begun)
    print_figure("detection of 1,000 rows of CSV", min(seconds), "s", goal=GOAL_DETECTION, way=AT_MOST)


def main() -> None:
    measure_detection()
    with serve_bench() as bench:  # a server for each, for what counts of memory is its highest
        measure_rejection(bench)
    with serve_bench() as bench:
        measure_format(bench, "CSV", build_csv, first=0)
    with serve_bench() as bench:
        measure_format(bench, "CAMT.053", build_camt_statement, first=100)


if __name__ == "__main__":
    main()
