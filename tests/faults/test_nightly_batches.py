"""``kill -9`` of nightly work that several processes share: each company is done once, by whoever is left."""

import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable

import psycopg
import pytest

from tests.faults.service import Service
from tests.machine import ROOT, wait_until

pytestmark = pytest.mark.server

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "1"))
COMPANIES, PROCESSES = 60, 3
TIMEOUT_SECONDS = 120  # seconds

CREATE_COMPANIES = """
import sys
from datetime import UTC, datetime
from companies.actions.companies import create_company
from companies.models import AuditContext, User
owner, _ = User.objects.get_or_create(email="many@example.com")
for number in range(int(sys.argv[1])):
    context = AuditContext(time=datetime.now(tz=UTC))
    print(create_company(context=context, name=f"Company {number}", base_currency="EUR", owner=owner)[0].id)
"""
# Whatever is committed of a round is counted with it, and with nothing that was not.
RECORD_DONE = """
    CREATE TABLE IF NOT EXISTS done (company_id uuid, name text);
    CREATE OR REPLACE FUNCTION count_done() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO done VALUES (NEW.company_id, NEW.name); RETURN NULL; END';
    CREATE OR REPLACE TRIGGER count_done AFTER INSERT OR UPDATE ON companies_lastround
        FOR EACH ROW EXECUTE FUNCTION count_done();
"""


@pytest.fixture(scope="module")
def many(service: Service) -> list[str]:
    service.printed(CREATE_COMPANIES, str(COMPANIES))
    service.rows(RECORD_DONE)
    return [str(result) for (result,) in service.rows("SELECT id FROM companies_company ORDER BY id")]


def start_refresh(service: Service, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "manage.py", "refresh_metrics", "--round", name], cwd=ROOT, text=True,
        env=service.machine.environment(PORT=service.port), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def list_done(service: Service, name: str) -> list[str]:
    return [str(result) for (result,) in service.rows("SELECT company_id FROM done WHERE name = %s ORDER BY 1", name)]


def wait_for_end(process: subprocess.Popen[str]) -> str:
    text, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, text
    return text


def is_waiting_for_lock(service: Service) -> bool:
    return bool(service.rows("SELECT 1 FROM pg_locks WHERE NOT granted"))


def test_nightly_round_survives_kills_and_is_finished_by_remaining_process(
    service: Service, many: list[str], record_property: Callable[[str, object], None]
):
    for number in range(ROUNDS):
        name = f"round {number} {time.monotonic()}"
        *killed, left = [start_refresh(service, name) for _ in range(PROCESSES)]
        assert wait_until(lambda name=name: list_done(service, name) != [], seconds=TIMEOUT_SECONDS)
        for process in killed:
            time.sleep(random.uniform(0, 0.2))
            process.kill()
            process.communicate()
        wait_for_end(left)
        assert list_done(service, name) == many
        assert "Metrics of 0 companies" in wait_for_end(start_refresh(service, name))
    record_property(
        "report", f"{ROUNDS * (PROCESSES - 1)} of {ROUNDS * PROCESSES} nightly runs killed, each company once"
    )
    record_property("kills survived", ROUNDS * (PROCESSES - 1))


def test_nightly_process_killed_within_company_leaves_company_to_another(service: Service, many: list[str]):
    name = f"middle {time.monotonic()}"
    with contextlib.ExitStack() as held:
        where = {"host": str(service.machine.embedded.path), "user": "postgres", "dbname": "app"}
        database = held.enter_context(psycopg.connect(**where))
        database.execute("SELECT 1 FROM companies_company WHERE id = %s FOR UPDATE", [many[0]])
        first = start_refresh(service, name)
        assert wait_until(lambda: is_waiting_for_lock(service), seconds=TIMEOUT_SECONDS), (
            "it comes to the company and waits for its row"
        )
        second = start_refresh(service, name)
        assert wait_until(lambda: list_done(service, name) == many[1:], seconds=TIMEOUT_SECONDS), (
            "and another does all others"
        )
        first.kill()
        first.communicate()
        assert second.poll() is None, "which waits for whether the first one ends it"
    assert f"Metrics of {len(many)} companies" in wait_for_end(second)
    assert list_done(service, name) == many
