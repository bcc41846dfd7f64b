"""One machine under a working day's mix: 80 % reads of pages and reports, 15 % single writes, 4 % imports, 1 % exports.

Run with ``make load`` or ``python -m tests.bench.working_day``. COMPANIES (1,000), LARGEST (100,000 transactions of
the largest; the smallest has ten), SECONDS (60) a level, CLIENTS ("1 4 16 64") and WORKERS (3) make other runs. Every
answer is looked at: its status, and whether it is the right company's. The clients run on the same machine.
"""

import http.client
import json
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.bench_server import BenchServer, serve_bench
from tests.bench.imports import build_items
from tests.machine import list_workers

COMPANIES = int(os.environ.get("COMPANIES", "1000"))
SMALLEST, LARGEST = 10, int(os.environ.get("LARGEST", "100000"))
SECONDS = float(os.environ.get("SECONDS", "60"))
CLIENTS = [int(word) for word in os.environ.get("CLIENTS", "1 4 16 64").split()]
WORKERS = int(os.environ.get("WORKERS", "3"))
WINDOW = {"startDate": "2025-01-01", "endDate": "2025-12-31"}
MONTHS = {"startMonth": "2025-01", "endMonth": "2025-12"}
ROWS_AN_IMPORT = 100
MIB = 2**20
CONSTANT = "/healthz"
HEAD = (
    "| Clients | Requests/s | p50 ms | p99 ms | The same, of a constant view | p50 ÷ constant | p99 ÷ constant "
    "| Errors | Memory MiB, first → most | Connections, most |\n|--:|--:|--:|--:|---|--:|--:|--:|---|--:|\n"
)


@dataclass
class Books:
    """One company, and how its owner and its key get in."""

    number: int
    id: str
    key: str
    session: str
    accounts: list[str] = field(default_factory=list)
    category: str = ""

    @property
    def name(self) -> str:
        return get_company_name(self.number)

    @property
    def account_name(self) -> str:
        return f"Bank of {self.name}."


def get_company_name(number: int) -> str:
    return f"Load No. {number:05d}"


@dataclass
class Client:
    """One kept connection, which whoever waits at it shares with nobody."""

    port: int
    connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, headers: dict[str, str], body: Any = None) -> tuple[int, bytes]:
        raw = None if body is None else json.dumps(body).encode()
        connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        self.connection = None
        connection.request(method, path, raw, headers)
        answer = connection.getresponse()
        data = answer.read()
        if not answer.will_close:
            self.connection = connection
        return answer.status, data

    def api(self, books: Books, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {books.key}", "Content-Type": "application/json"}
        return self.ask(method, f"/companies/{books.id}/{path}", headers, body)

    def page(self, books: Books, path: str = "") -> tuple[int, bytes]:
        return self.ask("GET", f"/app/companies/{books.id}{path}", {"Cookie": f"svc-session={books.session}"})


class WrongAnswer(Exception):
    """An answer that is a refusal, or another company's."""


def check_answer(books: Books, answer: tuple[int, bytes], *expected_texts: str) -> bytes:
    """What came, where it is fine and tells each of these. Raises Wrong."""
    status, data = answer
    if not 200 <= status < 300:
        raise WrongAnswer(f"{status} {data[:120]!r}")
    if missing := [each for each in expected_texts if each.encode() not in data]:
        raise WrongAnswer(f"200 without {'its own' if books.id in missing or books.name in missing else missing}")
    return data


# ------------------------------------------------------------------ what is asked


def build_page_act(path: str) -> Callable[[Client, Books, random.Random], None]:
    def act(client: Client, books: Books, chance: random.Random) -> None:
        check_answer(books, client.page(books, path), books.name)

    return act


def list_transactions(client: Client, books: Books, chance: random.Random) -> None:
    for row in json.loads(check_answer(books, client.api(books, "GET", "transactions?limit=50"))):
        if row["companyId"] != books.id:
            raise WrongAnswer("another company's row")


def query_balances(client: Client, books: Books, chance: random.Random) -> None:
    results = json.loads(check_answer(books, client.api(books, "POST", "data/accountBalanceByAccount", WINDOW)))
    if not set(results) <= set(books.accounts):
        raise WrongAnswer("another company's account")


def build_report_act(name: str, window: dict[str, str]) -> Callable[[Client, Books, random.Random], None]:
    def act(client: Client, books: Books, chance: random.Random) -> None:
        check_answer(books, client.api(books, "POST", f"data/{name}", window))

    return act


def create_transaction(client: Client, books: Books, chance: random.Random) -> str:
    (row,) = build_items(books.accounts, 1, chance.getrandbits(32))
    made = json.loads(check_answer(books, client.api(books, "POST", "transactions", row), books.id))
    return str(made["id"])


def book_transaction(client: Client, books: Books, chance: random.Random) -> None:
    create_transaction(client, books, chance)


def create_and_delete_group(client: Client, books: Books, chance: random.Random) -> None:
    """What else people write: small, and beside the figures."""
    body = {"name": f"Group {chance.getrandbits(48)}"}
    made = json.loads(check_answer(books, client.api(books, "POST", "account_groups", body), books.id))
    check_answer(books, client.api(books, "DELETE", f"account_groups/{made['id']}"))


def import_rows(client: Client, books: Books, chance: random.Random) -> None:
    rows = build_items(books.accounts, ROWS_AN_IMPORT, chance.getrandbits(32))
    answers = json.loads(check_answer(books, client.api(books, "POST", "transactions/import", {"transactions": rows})))
    if answers["count"] != ROWS_AN_IMPORT:
        raise WrongAnswer(f"{answers['count']} rows imported")


def export_csv(client: Client, books: Books, chance: random.Random) -> None:
    days = f"startDate={WINDOW['startDate']}&endDate={WINDOW['endDate']}"
    check_answer(books, client.api(books, "GET", f"exports/transactions.csv?{days}"), "Amount")


MIX: list[tuple[str, int, Callable[[Client, Books, random.Random], None]]] = [
    ("overview", 14, build_page_act("")),
    ("transactions, page", 12, build_page_act("/transactions")),
    ("profit and loss, page", 8, build_page_act("/profit-and-loss")),
    ("transactions, 50", 14, list_transactions),
    ("balances", 12, query_balances),
    ("cash flow", 10, build_report_act("cashFlowTimeSeries", WINDOW)),
    ("profit and loss", 10, build_report_act("profitAndLoss", MONTHS)),
    ("one transaction", 10, book_transaction),
    ("a group, and gone", 5, create_and_delete_group),
    ("import", 4, import_rows),
    ("export", 1, export_csv),
]
NAMES, WEIGHTS, ACTS = zip(*MIX, strict=True)


# ------------------------------------------------------------------ a level


@dataclass
class Level:
    """What came of one number of clients."""

    taken: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    memory: list[int] = field(default_factory=list)
    connections: list[int] = field(default_factory=list)

    def all(self) -> list[float]:
        return sorted(each for times in self.taken.values() for each in times)


def compute_percentile(times: list[float], share: float) -> float:
    """In milliseconds; 0 of nothing."""
    return 1000 * times[min(int(len(times) * share), len(times) - 1)] if times else 0.0


def drive_clients(bench: BenchServer, every: list[Books], clients: int, seed: int) -> Level:
    """So many clients, each asking one thing after the other as soon as it has its answer."""
    level, over, guard = Level(), threading.Event(), threading.Lock()

    def lane(number: int) -> None:
        chance, client = random.Random(seed * 1000 + number), Client(bench.port)
        while not over.is_set():
            (which,) = chance.choices(range(len(MIX)), WEIGHTS)
            start = time.perf_counter()
            try:
                ACTS[which](client, chance.choice(every), chance)
            except (WrongAnswer, OSError, http.client.HTTPException, ValueError, KeyError) as error:
                with guard:
                    level.errors[f"{NAMES[which]}: {type(error).__name__} {error}"] += 1
                client.connection = None
            else:
                with guard:
                    level.taken.setdefault(NAMES[which], []).append(time.perf_counter() - start)

    with ThreadPoolExecutor(clients) as pool:
        lanes = [pool.submit(lane, number) for number in range(clients)]
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            level.memory.append(measure_memory(bench))
            level.connections.append(count_connections(bench))
            time.sleep(min(1.0, SECONDS / 10))
        over.set()
        for each in lanes:
            each.result()
    return level


def measure_constant(port: int, clients: int) -> list[float]:
    """Times of a view that asks nothing of anything, by as many clients for a tenth as long."""
    until = time.monotonic() + max(SECONDS / 10, 1)

    def lane(_: int) -> list[float]:
        client, result = Client(port), []
        while time.monotonic() < until:
            start = time.perf_counter()
            status, _data = client.ask("GET", CONSTANT, {})
            assert status == 200, status
            result.append(time.perf_counter() - start)
        return result

    with ThreadPoolExecutor(clients) as pool:
        return sorted(each for times in pool.map(lane, range(clients)) for each in times)


def measure_memory(bench: BenchServer) -> int:
    """What the main process and its workers take, pages they share counted once, in MiB."""
    total = 0
    for pid in (bench.up_pid, *list_workers(bench.up_pid)):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue  # it was replaced
        total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total // 1024


def count_connections(bench: BenchServer) -> int:
    """Of clients to the database, but for our own."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    (count,) = bench.database.execute(query).fetchone() or (0,)
    return int(count)


# ------------------------------------------------------------------ the books


def found(count: int) -> None:
    """Companies with an owner, a key and a session each, as lines of JSON; called by ``manage.py shell``."""
    from datetime import UTC, datetime

    from django.conf import settings
    from django.test import Client as Browser

    from companies.actions.companies import create_company
    from companies.auth import api_keys
    from companies.models import AuditContext, SystemStatus, User
    from companies.permissions import ALL_PERMISSIONS

    settings.ALLOWED_HOSTS = ["testserver"]
    for number in range(count):
        audit_context = AuditContext(time=datetime.now(tz=UTC))
        owner = User.objects.create(email=f"owner{number}@load.example")
        company, _ = create_company(
            name=get_company_name(number),
            base_currency="EUR",
            owner=owner,
            context=audit_context,
            status=SystemStatus.FREE,
        )
        minted = api_keys.create_api_key(
            company=company, context=audit_context, name="load", permissions=ALL_PERMISSIONS, creator=None
        )
        browser = Browser()
        browser.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
        session = browser.cookies[settings.SESSION_COOKIE_NAME].value
        answer = {"number": number, "id": str(company.id), "key": minted.text, "session": session}
        sys.stdout.write(json.dumps(answer) + "\n")


def compute_size(number: int) -> int:
    """Transactions of a company: evenly spread over the powers of ten from the smallest to the largest."""
    share = number / max(COMPANIES - 1, 1)
    return round(SMALLEST * (LARGEST / SMALLEST) ** share)


def fill_company(bench: BenchServer, books: Books) -> None:
    client = Client(bench.port)
    for number in range(3):
        body = {"type": "bank", "name": f"{books.account_name} {number}", "defaultCurrency": "EUR"}
        books.accounts.append(json.loads(check_answer(books, client.api(books, "POST", "accounts", body)))["id"])
    rows = json.loads(check_answer(books, client.api(books, "GET", "categories")))
    books.category = next(row["id"] for row in rows if row["systemKey"] == "hosting")
    rows = [
        each | {"categoryId": books.category}
        for each in build_items(books.accounts, compute_size(books.number), books.number)
    ]
    check_answer(books, client.api(books, "POST", "transactions/import", {"transactions": rows}))


def main() -> None:
    with serve_bench(workers=WORKERS) as bench:
        start = time.monotonic()
        answer = bench.machine.run(
            "shell", "-v", "0", "-c", f"from tests.bench import working_day as w; w.found({COMPANIES})"
        )
        if answer.returncode:
            sys.exit(answer.stderr)
        every = [Books(**json.loads(line)) for line in answer.stdout.splitlines()]
        with ThreadPoolExecutor(WORKERS) as pool:
            for filled in [pool.submit(fill_company, bench, books) for books in reversed(every)]:  # the largest first
                filled.result()
        bench.database.execute("ANALYZE")
        print_report(bench, every, filled_in=time.monotonic() - start)


def print_report(bench: BenchServer, every: list[Books], *, filled_in: float) -> None:
    total = sum(compute_size(number) for number in range(COMPANIES))
    print(
        f"{COMPANIES:,} companies of {SMALLEST} to {LARGEST:,} transactions, {total:,} in all, "
        f"made in {filled_in:.0f} s; ", end="",
    )  # fmt: skip
    print(f"{WORKERS} workers of two threads, {SECONDS:.0f} s a level, {os.cpu_count()} processors\n\n{HEAD}", end="")
    driven_once = drive_clients(bench, every, 2, 0)  # what is read for the first time is nobody's usual day
    levels = []
    for clients in CLIENTS:
        base, level = measure_constant(bench.port, clients), drive_clients(bench, every, clients, clients)
        levels.append(level)
        times = level.all()
        middle, slow = compute_percentile(times, 0.5), compute_percentile(times, 0.99)
        still, late = compute_percentile(base, 0.5), compute_percentile(base, 0.99)
        print(
            f"| {clients} | {len(times) / SECONDS:.0f} | {middle:.0f} | {slow:.0f} | {still:.1f}, {late:.1f} "
            f"| {middle / still:.0f} | {slow / late:.0f} | {sum(level.errors.values())} "
            f"| {level.memory[0]} → {max(level.memory)} | {max(level.connections)} |",
            flush=True,
        )
    print("\n| p50, p99 in ms | " + " | ".join(f"{clients} clients" for clients in CLIENTS) + " |")
    print("|---|" + "--:|" * len(CLIENTS))
    for name in NAMES:
        shown = [sorted(level.taken.get(name, [])) for level in levels]
        cells = [f"{compute_percentile(times, 0.5):.0f}, {compute_percentile(times, 0.99):.0f}" for times in shown]
        print(f"| {name} | " + " | ".join(cells) + " |")
    for error, count in sum((level.errors for level in [driven_once, *levels]), Counter()).most_common():
        print(f"- {count} × {error}")


if __name__ == "__main__":
    main()
