"""A streaming replica answers what only reads, and never with older figures than the caller has written."""

import contextlib
import json
import os
import urllib.request
from dataclasses import dataclass

import psycopg
import pytest

from config.databases.embedded_server import SUPERUSER, EmbeddedServer, find_binaries
from tests.machine import Machine, create_prepared_machine, find_free_port


@dataclass
class PrimaryAndReplica:
    """A running service, and the replica of its database."""

    machine: Machine
    replica: EmbeddedServer
    address: str
    key: str
    account: str = ""

    def call(self, path: str, body: object = None) -> object:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}{path}", data)
        request.add_header("Authorization", f"Bearer {self.key}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=180) as answer:
            return json.load(answer)

    def book(self, amount: int) -> None:
        row = {"accountId": self.account, "date": "2026-01-10", "amountValue": str(amount), "amountCurrency": "EUR"}
        self.call("/transactions/import", {"transactions": [row]})

    def balance(self) -> int:
        found = self.call("/data/accountBalanceByAccount", {"startDate": "2026-01-01", "endDate": "2026-01-31"})
        return found[self.account]["value"]

    def replica_answered(self) -> bool:
        """Whether the last thing that the service asked the replica was more than how far it is."""
        statement = (
            "SELECT query FROM pg_stat_activity WHERE datname = 'app' AND pid <> pg_backend_pid() "
            "ORDER BY query_start DESC LIMIT 1"
        )
        with self.of_replica() as database:
            (last,) = database.execute(statement).fetchone()
        return "pg_last_wal_replay_lsn" not in last

    @contextlib.contextmanager
    def of_replica(self):
        where = {"host": str(self.replica.path), "user": SUPERUSER, "dbname": "app", "autocommit": True}
        with psycopg.connect(**where) as database:
            yield database


def create_standby(machine: Machine) -> EmbeddedServer:
    """A hot standby, made from a base backup as an administrator would."""
    primary = machine.embedded._get_server()
    standby = EmbeddedServer(path=primary.path.parent / "standby", account=primary.account)
    standby.path.mkdir(mode=0o700)
    if standby.account:
        os.chown(standby.path, standby.account.uid, standby.account.gid)
    done = standby._run(
        str(find_binaries() / "pg_basebackup"), "-h", str(primary.path), "-U", SUPERUSER, "-D", str(standby.path), "-R",
        "-c", "fast", "-X", "stream",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert standby.start() is None
    return standby


@pytest.fixture(scope="module")
def pair():
    port = find_free_port()
    with create_prepared_machine() as machine, machine.embedded.hold():
        company = machine.run("create_company", "--name", "A", "--currency", "EUR", "--owner", "a@x.example")
        key = machine.run("create_api_key", "--company", company.stdout.strip()).stdout.strip()
        standby = create_standby(machine)
        machine.settings["DATABASE_REPLICA_URL"] = f"postgresql://{SUPERUSER}@/app?host={standby.path}"
        try:
            with machine.up(port, "--workers", "1"):
                pair = PrimaryAndReplica(
                    machine, standby, f"http://127.0.0.1:{port}/companies/{company.stdout.strip()}", key
                )
                pair.account = pair.call("/accounts", {"type": "bank", "name": "Bank"})["id"]
                yield pair
        finally:
            standby.stop()


def test_replica_answers_include_recent_writes(pair):
    expected = pair.balance()
    for amount in range(1, 21):
        pair.book(amount)
        expected += amount
        assert pair.balance() == expected
    assert pair.replica_answered()


def test_lists_and_single_resources_are_answered_by_it_too(pair):
    before = len(pair.call("/transactions?limit=1000"))
    for added in range(1, 6):
        pair.book(7)
        assert len(pair.call("/transactions?limit=1000")) == before + added
        assert pair.replica_answered()
    assert pair.call(f"/accounts/{pair.account}")["name"] == "Bank"
    assert pair.replica_answered()


def test_a_replica_that_is_behind_does_not_answer(pair):
    expected = pair.balance()
    with pair.of_replica() as database:
        database.execute("SELECT pg_wal_replay_pause()")
        try:
            pair.book(100)
            assert pair.balance() == expected + 100
            assert not pair.replica_answered()
        finally:
            database.execute("SELECT pg_wal_replay_resume()")
    assert pair.balance() == expected + 100
    assert pair.replica_answered()


def test_other_requests_and_idempotent_questions_are_answered_as_ever(pair):
    request = urllib.request.Request(
        f"{pair.address}/data/balanceByCashType",
        b'{"startDate": "2026-01-01", "endDate": "2026-01-31"}',
        {"Authorization": f"Bearer {pair.key}", "Content-Type": "application/json", "Idempotency-Key": "once"},
    )
    answers = [urllib.request.urlopen(request, timeout=180).read() for _ in range(2)]
    assert answers[0] == answers[1]
    assert pair.call("/data/monthlyData", {"mrrType": "mrr"})


def test_a_replica_that_is_lost_does_not_answer(pair):
    """The last test of the pair: it ends the replica's life."""
    expected = pair.balance()
    pair.replica.stop()
    pair.book(1000)
    assert pair.balance() == expected + 1000
    assert pair.balance() == expected + 1000


def test_an_unreachable_replica_is_reported_and_the_service_starts():
    with create_prepared_machine() as machine:
        machine.settings["DATABASE_REPLICA_URL"] = "postgresql://u:hunter2@127.0.0.1:1/app"
        port = find_free_port()
        with machine.up(port, "--workers", "1") as process:
            process.terminate()
            printed = process.communicate(timeout=180)[0]
    assert printed.count("Warning: DATABASE_REPLICA_URL: the database at 127.0.0.1:1/app cannot be reached") == 1
    assert "hunter2" not in printed
