"""Pages of transactions against a constant view and a ModelSerializer page in one server; acts on 10,000 of them.

Run with ``make bench`` or ``python -m tests.bench.ledger``. Every figure is a ratio within this run.
"""

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

from tests.bench.figures import AT_MOST, figure
from tests.bench.imports import items, open_accounts
from tests.bench.served import Served, alternating, seconds, served
from tests.machine import ROOT, free_port

ROWS, MANY = 50_000, 10_000
GOAL_CONSTANT, GOAL_SERIALIZER, GOAL_THOUSAND = 0.08, 4.0, 11.0
ROUNDS, REQUESTS = 15, 40


class Client:
    """One kept connection that asks for the same page again and again, and does nothing with the answers."""

    def __init__(self, port: int, path: str, key: str = ""):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        credential = f"Authorization: Bearer {key}\r\n" if key else ""
        self.request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{credential}\r\n".encode()
        self.size = len(self.once())

    def once(self) -> bytes:
        self.socket.sendall(self.request)
        data = self.socket.recv(1 << 20)
        while b"\r\n\r\n" not in data:
            data += self.socket.recv(1 << 20)
        head, _, body = data.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), data[:500]
        length = int(
            next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")).split()[1]
        )
        chunks = [body]
        missing = length - len(body)
        while missing:
            chunks.append(self.socket.recv(1 << 20))
            missing -= len(chunks[-1])
        return b"".join(chunks)

    def often(self) -> None:
        for _ in range(REQUESTS):
            self.once()


@contextlib.contextmanager
def with_plain_page(bench: Served) -> Iterator[int]:
    """Our gunicorn with our settings, one worker, and the addresses to compare with."""
    port = free_port()
    environment = bench.machine.environment(PORT=port, RATE_LIMIT=10_000_000)
    words = ["-m", "gunicorn", "-c", "config/gunicorn.py", "-w", "1", "tests.bench.page_app"]
    with subprocess.Popen([sys.executable, *words], cwd=ROOT, env=environment) as process:
        try:
            for _ in range(200):
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                time.sleep(0.1)
            yield port
        finally:
            process.terminate()


def main() -> None:
    with served() as bench:
        accounts, _ = open_accounts(bench, 10)
        body = json.dumps({"transactions": items(accounts, ROWS, 1)}).encode()
        bench.call("POST", f"{bench.path}/transactions/import", body)
        hosting, other = categories(bench)
        selections = [{"mode": "ids", "ids": ids(bench, 1)}, {"mode": "ids", "ids": ids(bench, MANY)}]
        all_of_them = {"selection": {"mode": "filter", "filter": {}, "confirm": True}, "categoryId": hosting}
        bench.call("POST", f"{bench.path}/transactions/categorize", all_of_them)
        bench.database.execute("VACUUM ANALYZE")
        pages(bench)
        acts(bench, selections, other)


def categories(bench: Served) -> tuple[str, str]:
    rows = bench.call("GET", f"{bench.path}/categories")
    by_key = {row["systemKey"]: row["id"] for row in rows}
    return by_key["hosting"], by_key["marketing"]


def ids(bench: Served, count: int) -> list[str]:
    rows = bench.database.execute("SELECT id FROM ledger_transaction ORDER BY id LIMIT %s", [count]).fetchall()
    return [str(row[0]) for row in rows]


def pages(bench: Served) -> None:
    with with_plain_page(bench) as port:
        ours = f"{bench.path}/transactions?limit="
        clients = [
            Client(port, "/constant"),
            Client(port, f"{ours}100", bench.key),
            Client(port, f"/plain/{bench.company}?limit=100", bench.key),
            Client(port, f"{ours}1000", bench.key),
            Client(port, f"{ours}100&sort=amount", bench.key),
            Client(port, "/companies", bench.key),
        ]
        for client in clients:
            client.often()
        constant, page, plain, thousand, by_amount, companies = alternating(
            *[client.often for client in clients], rounds=ROUNDS
        )
    milliseconds = f"{1000 * page / REQUESTS:.2f} ms, constant {1000 * constant / REQUESTS:.2f} ms"
    figure(
        f"page of 100 transactions, {clients[1].size // 1024} KiB",
        constant / page,
        "of a constant view's requests a second",
        goal=GOAL_CONSTANT,
        behind=milliseconds,
    )
    figure("the same page", plain / page, "× as fast as by ModelSerializer", goal=GOAL_SERIALIZER)
    figure("page of 1,000", thousand / page, "× the time of one of 100", goal=GOAL_THOUSAND, way=AT_MOST)
    figure(f"page of 100 by amount, of {ROWS:,}", by_amount / page, "× one by date")
    figure("GET /companies", constant / companies, "of a constant view's requests a second")


def acts(bench: Served, selections: list[dict], category: str) -> None:
    """Time and statements of acts on 10,000 transactions, against one."""
    path = f"{bench.path}/transactions"
    calls = {
        "categorize": lambda selection: ("categorize", {"selection": selection, "categoryId": category}),
        "categorization_status": lambda selection: ("categorization_status", {"transactionIds": selection["ids"]}),
        "uncategorize": lambda selection: ("uncategorize", {"selection": selection}),
    }
    for name, call in calls.items():
        took = []
        for selection in selections:
            address, body = call(selection)
            raw = json.dumps(body).encode()
            took.append(seconds(lambda address=address, raw=raw: bench.call("POST", f"{path}/{address}", raw)))
        figure(f"{name} of {MANY:,}", took[1] / took[0], "× the time of one", behind=f"{took[1]:.2f} s")


if __name__ == "__main__":
    main()
