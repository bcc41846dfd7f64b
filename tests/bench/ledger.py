"""Pages of transactions against a constant view and a ModelSerializer page in one server; bulk operations against COPY.

Run with ``make bench`` or ``python -m tests.bench.ledger``. Every figure is a ratio within this run.
"""

import json
import socket
from collections.abc import Iterator

from tests.bench.bench_server import BenchServer, measure_alternating, measure_seconds, serve_bench, serve_page_app
from tests.bench.figures import AT_MOST, print_figure
from tests.bench.imports import build_items, copy_rows, format_copy_lines, open_accounts

ROWS, MANY = 100_000, 10_000
GOAL_CONSTANT, GOAL_SERIALIZER, GOAL_THOUSAND, GOAL_BULK = 0.08, 4.0, 11.0, 0.4
ROUNDS, REQUESTS, BULK_ROUNDS = 15, 40, 5


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


def main() -> None:
    with serve_bench() as bench:
        accounts, currencies = open_accounts(bench, 10)
        body = json.dumps({"transactions": build_items(accounts, ROWS, 1)}).encode()
        bench.call("POST", f"{bench.path}/transactions/import", body)
        hosting, other = find_categories(bench)
        selections = [{"mode": "ids", "ids": list_ids(bench, 1)}, {"mode": "ids", "ids": list_ids(bench, MANY)}]
        all_of_them = {"selection": {"mode": "filter", "filter": {}, "confirm": True}, "categoryId": hosting}
        everything = measure_seconds(lambda: bench.call("POST", f"{bench.path}/transactions/categorize", all_of_them))
        bench.database.execute("VACUUM ANALYZE")
        measure_pages(bench)
        measure_bulk_operations(
            bench,
            selections,
            other,
            iter(
                [
                    format_copy_lines(bench, build_items(accounts, MANY, seed), currencies)
                    for seed in range(2, 2 + BULK_ROUNDS)
                ]
            ),
        )
        text = format_copy_lines(bench, build_items(accounts, ROWS, 99), currencies)
        copy = measure_seconds(lambda: copy_rows(bench.database, text))
        print_figure(
            f"categorize of {ROWS:,}",
            copy / everything,
            "of raw COPY's speed",
            goal=GOAL_BULK,
            behind=f"{everything:.2f} s, COPY {copy:.2f} s",
        )


def find_categories(bench: BenchServer) -> tuple[str, str]:
    rows = bench.call("GET", f"{bench.path}/categories")
    by_key = {row["systemKey"]: row["id"] for row in rows}
    return by_key["hosting"], by_key["marketing"]


def list_ids(bench: BenchServer, count: int) -> list[str]:
    rows = bench.database.execute("SELECT id FROM ledger_transaction ORDER BY id LIMIT %s", [count]).fetchall()
    return [str(row[0]) for row in rows]


def measure_pages(bench: BenchServer) -> None:
    with serve_page_app(bench) as port:
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
        constant, page, plain, thousand, by_amount, companies = measure_alternating(
            *[client.often for client in clients], rounds=ROUNDS
        )
    milliseconds = f"{1000 * page / REQUESTS:.2f} ms, constant {1000 * constant / REQUESTS:.2f} ms"
    print_figure(
        f"page of 100 transactions, {clients[1].size // 1024} KiB",
        constant / page,
        "of a constant view's requests a second",
        goal=GOAL_CONSTANT,
        behind=milliseconds,
    )
    print_figure("the same page", plain / page, "× as fast as by ModelSerializer", goal=GOAL_SERIALIZER)
    print_figure("page of 1,000", thousand / page, "× the time of one of 100", goal=GOAL_THOUSAND, way=AT_MOST)
    print_figure(f"page of 100 by amount, of {ROWS:,}", by_amount / page, "× one by date")
    print_figure("GET /companies", constant / companies, "of a constant view's requests a second")


def measure_bulk_operations(bench: BenchServer, selections: list[dict], category: str, copies: Iterator[str]) -> None:
    """Print the time of operations on 10,000 transactions against one, and against a COPY of as many."""
    path = f"{bench.path}/transactions"
    bodies = {
        "categorize": lambda selection: {"selection": selection, "categoryId": category},
        "categorization_status": lambda selection: {"transactionIds": selection["ids"]},
        "uncategorize": lambda selection: {"selection": selection},
    }
    requests = [
        (f"{path}/{name}", json.dumps(body(selection)).encode())
        for name, body in bodies.items()
        for selection in selections
    ]
    bench.call("POST", *requests[-1])  # every round begins with transactions that are uncategorized
    *times, copy = measure_alternating(
        *[lambda request=request: bench.call("POST", *request) for request in requests],
        lambda: copy_rows(bench.database, next(copies)),
        rounds=BULK_ROUNDS,
    )
    for name, one, many in zip(bodies, times[::2], times[1::2], strict=True):
        print_figure(f"{name} of {MANY:,}", many / one, "× the time of one", behind=f"{many:.2f} s")
        if name != "categorization_status":
            print_figure(
                f"{name} of {MANY:,}", copy / many, "of raw COPY's speed", goal=GOAL_BULK, behind=f"COPY {copy:.2f} s"
            )


if __name__ == "__main__":
    main()
