"""A running service that is broken on purpose, and a caller that notices."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.machine import ROOT, Machine, create_prepared_machine, find_free_port, get_status, list_workers, wait_until

WORKER_COUNT = 2
RECOVERY_SECONDS = 180  # seconds within which the service answers again by itself


class ConnectionCutOff(Exception):
    """The connection ended without an answer: the caller cannot know whether its change was made."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: Any

    @property
    def fine(self) -> bool:
        return self.status < 300


@dataclass
class Caller:
    """One client with one kept connection."""

    port: int
    headers: dict[str, str]
    connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """The answer; ``body`` is sent as JSON unless it is bytes, an empty header not at all. Raises CutOff."""
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        given = self.headers | {name.replace("_", "-"): value for name, value in headers.items()}
        given = {name: value for name, value in given.items() if value}
        connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        self.connection = None
        try:
            connection.request(method, path, raw, given)
            answer = connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise ConnectionCutOff from error
        if answer.will_close:
            connection.close()
        else:
            self.connection = connection
        parsed = json.loads(data) if "json" in (answer.getheader("Content-Type") or "") else data
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, parsed)

    def close(self) -> None:
        if self.connection:
            self.connection.close()


@dataclass
class Service:
    """``up`` with two workers on a data directory of its own, one company, and an owner-level key."""

    machine: Machine
    port: int = field(default_factory=find_free_port)
    company: str = ""
    key: str = ""
    process: Any = None
    _running: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    # ------------------------------------------------------------------ life

    def start(self) -> None:
        """Return once it answers."""
        output = self._running.enter_context(self.log.open("a"))
        self.process = self._running.enter_context(
            self.machine.starting(self.port, "--workers", str(WORKER_COUNT), output=output)
        )
        self.answers_again()

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(120)
        self._running.close()

    def use_company(self, name: str) -> None:
        """Call for one of the companies that are there already."""
        self.company, self.key = self.machine.companies[name]

    @property
    def log(self) -> Path:
        return self.machine.home / "log"

    # ------------------------------------------------------------------ faults

    def kill(self, victim: str) -> None:
        """``kill -9``, and up again: by itself but for the whole server, which its supervisor starts anew."""
        match victim:
            case "worker":
                gone = self.workers()[0]
                os.kill(gone, signal.SIGKILL)
                assert wait_until(lambda: gone not in self.workers(), seconds=RECOVERY_SECONDS)
            case "server":
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
                self._running.close()
                self.start()
            case "database":
                gone = self.machine.postmaster
                os.kill(gone, signal.SIGKILL)
                assert wait_until(lambda: self.postmaster() not in (gone, None), seconds=RECOVERY_SECONDS)
        self.answers_again()

    def answers_again(self) -> None:
        def well() -> bool:
            return len(self.workers()) == WORKER_COUNT and get_status(self.port, "/readyz") == 200

        assert wait_until(well, seconds=RECOVERY_SECONDS), self.log.read_text()[-5000:]

    def workers(self) -> list[int]:
        """The processes that answer requests."""
        return list_workers(self.process.pid)

    def postmaster(self) -> int | None:
        try:
            return self.machine.postmaster
        except (OSError, ValueError):
            return None

    # ------------------------------------------------------------------ looking

    def caller(self, **headers: str) -> Caller:
        own = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        return Caller(self.port, own | {name.replace("_", "-"): value for name, value in headers.items()})

    def path(self, path: str = "") -> str:
        return f"/companies/{self.company}/{path}".rstrip("/")

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """What the database itself says."""
        where = {"host": str(self.machine.embedded.path), "user": "postgres", "dbname": "app", "autocommit": True}
        with psycopg.connect(**where) as database:
            cursor = database.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def cash(self, account: str) -> float:
        """An account's balance as the API tells it."""
        window = {"startDate": "2020-01-01", "endDate": "2029-12-31"}
        answer = self.caller().ask("POST", self.path("data/accountBalanceByAccount"), window)
        assert answer.fine, answer
        return answer.body[account]["value"]

    def account(self, name: str) -> str:
        answer = self.caller().ask("POST", self.path("accounts"), {"type": "bank", "name": name})
        assert answer.fine, answer
        return answer.body["id"]

    def printed(self, code: str, *words: str) -> list[str]:
        """The words that a script prints which runs on the service's database."""
        script = f"import sys, django\ndjango.setup()\nsys.argv = {['', *words]!r}\n{code}"
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False,
            env=self.machine.environment(DJANGO_SETTINGS_MODULE="config.settings", PORT=self.port),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    def proves_its_figures(self) -> None:
        """Every derived table says what the facts say, and each transaction what its parts say."""
        done = self.machine.run("rebuild_derived", "--check")
        assert done.returncode == 0, done.stderr
        self.check_categorized_values()

    def check_categorized_values(self) -> None:
        """Each transaction says what its parts say."""
        assert self.rows(MISCOUNTED_QUERY) == []


MISCOUNTED_QUERY = """
    SELECT t.id, t.amount_value, t.categorized_value, t.transferred_value FROM ledger_transaction t
      LEFT JOIN (SELECT company_id, transaction_id, sum(value) AS whole,
                        sum(value) FILTER (WHERE counter_id IS NOT NULL) AS legs
                   FROM ledger_categorization GROUP BY 1, 2) c
        ON c.company_id = t.company_id AND c.transaction_id = t.id
     WHERE t.categorized_value <> coalesce(c.whole, 0) OR t.transferred_value <> coalesce(c.legs, 0)
"""


@contextlib.contextmanager
def start_service(**settings: object) -> Iterator[Service]:
    with create_prepared_machine() as machine:
        machine.settings |= {"RATE_LIMIT": 10_000_000, "REQUESTS_PER_CREDENTIAL": 200, "THREADS": 16} | settings
        service = Service(machine)
        try:
            service.start()
            service.use_company("Acme")
            yield service
        finally:
            service.stop()
