"""A CAMT.053 of 100,000 entries over HTTP against a raw COPY of as many rows into the same table; memory.

Run with ``make bench`` or ``python -m tests.bench.statements``. Every figure is a ratio within this run.
"""

import http.client
import json
import random
from typing import Any

from tests.bench.figures import AT_MOST, figure
from tests.bench.imports import ROWS, copied, items, lines
from tests.bench.served import Served, alternating, served
from tests.ledger.banks import camt, detail, entry, statement

GOAL_SPEED, GOAL_MEMORY = 0.20, 4.0
ROUNDS = 3


def content(seed: int, iban: str) -> bytes:
    """A year of an account, as banks write it: about 450 bytes an entry."""
    chance = random.Random(seed)
    entries = [
        entry(
            f"{chance.uniform(-900, 1000):.2f}",
            f"2025-{1 + number * 12 // ROWS:02}-{1 + number % 28:02}",
            ref=f"{seed}{number:015}",
            details=detail(
                name=f"Counterparty {chance.randrange(5000)}",
                text=f"Invoice {chance.randrange(10**6)} for services",
                end_to_end=f"E2E-{number:012}",
                of="1",
            ),
        )
        for number in range(ROWS)
    ]
    return camt(statement(*entries, iban=iban, start="2025-01-01", end="2025-12-31", opening="0.00", closing="1.00"))


def sent(bench: Served, file: bytes) -> Any:
    """The answer to a file that is sent as browsers do."""
    edge = "----------------------------edge"
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="a.xml"\r\n\r\n'
    body = head.encode() + file + f"\r\n--{edge}--\r\n".encode()
    connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=600)
    headers = {"Authorization": f"Bearer {bench.key}", "Content-Type": f"multipart/form-data; boundary={edge}"}
    connection.request("POST", f"{bench.path}/statements", body, headers)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    assert answer.status == 200, data[:2000]
    return json.loads(data)


def main() -> None:
    with served() as bench:
        numbers = [f"DE{number:020}" for number in range(ROUNDS + 1)]
        accounts = [
            bench.call("POST", f"{bench.path}/accounts", {"type": "bank", "name": number, "accountNumber": number})[
                "id"
            ]
            for number in numbers
        ]
        files = [content(seed, number) for seed, number in enumerate(numbers)]
        bench.call("GET", f"{bench.path}/accounts")
        started = bench.worker_memory()
        assert sent(bench, files.pop())["count"] == ROWS
        growth = (bench.worker_memory() - started) / len(files[0])
        euros = dict.fromkeys(accounts, "EUR")
        rows = [lines(bench, items(accounts, ROWS, 100 + seed), euros) for seed in range(ROUNDS)]
        waiting, copies = iter(files), iter(rows)
        over_http, by_copy = alternating(
            lambda: sent(bench, next(waiting)), lambda: copied(bench.database, next(copies)), rounds=ROUNDS
        )
        figure(
            "CAMT.053 of 100,000 entries over HTTP",
            by_copy / over_http,
            "of raw COPY's speed",
            goal=GOAL_SPEED,
            behind=f"{ROWS / over_http:,.0f} against {ROWS / by_copy:,.0f} rows a second",
        )
        figure("memory of the worker, a statement", growth, "× the file", goal=GOAL_MEMORY, way=AT_MOST)


if __name__ == "__main__":
    main()
