"""Eight writers on one company: no deadlock, no error of ours, and every figure adds up in the end."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.service import Service
from tests.faults.writers import ROWS, SharedState, Writer, create_shared_state

pytestmark = pytest.mark.server

WRITER_COUNT = 8
SECONDS = 4 if int(os.environ.get("FAULT_ROUNDS", "1")) == 1 else 60
# What is good to ask again, and then changes nothing: a key can be revoked once, an event be retracted once.
ONCE = ("DELETE api_keys/", "DELETE subscription_events/")
AGAIN = {"POST transactions/link_transfer"}  # this very pair


def has_enough_writes(shared: SharedState) -> bool:
    """Whether there is something to look at; a machine with much else to do takes longer."""
    return len(shared.acknowledged) > 100 and bool(shared.undone)


@pytest.fixture(scope="module")
def written(service: Service) -> SharedState:
    """What eight writers left behind."""
    service.use_company("Globex")
    shared = create_shared_state(service)
    end, latest = time.monotonic() + SECONDS, time.monotonic() + 15 * SECONDS

    def write(seed: int) -> None:
        writer = Writer(shared, seed=seed)
        while time.monotonic() < (end if has_enough_writes(shared) else latest):
            writer.act()

    with ThreadPoolExecutor(WRITER_COUNT) as pool:
        for each in [pool.submit(write, seed) for seed in range(WRITER_COUNT)]:
            each.result()
    return shared


def test_concurrent_writers_get_only_success_or_explained_conflicts(written, record_property):
    assert written.surprises == []
    by_status: dict[int, int] = {}
    for (_, status), count in written.counts.items():
        by_status[status] = by_status.get(status, 0) + count
    status_counts = ", ".join(f"{count} × {status}" for status, count in sorted(by_status.items()))
    record_property(
        "report",
        f"{WRITER_COUNT} writers for {SECONDS} s: {len(written.acknowledged)} changes acknowledged; {status_counts}",
    )
    assert len(written.acknowledged) > 100
    assert by_status.keys() <= {200, 201, 400, 404, 409, 412}


def test_concurrent_writers_cause_no_deadlock(written):
    ((deadlocks,),) = written.service.rows("SELECT deadlocks FROM pg_stat_database WHERE datname = 'app'")
    assert deadlocks == 0
    assert not any(status == 409 and "concurrent_change" in str(body) for *_, status, body in written.surprises)


def test_balances_equal_sum_of_booked_transactions(written):
    service = written.service
    for account in written.accounts:
        ((whole,),) = service.rows(
            "SELECT coalesce(sum(amount_value), 0) FROM ledger_transaction WHERE account_id = %s AND NOT pending",
            account,
        )
        assert service.cash(account) == float(whole)
    service.proves_its_figures()


def test_open_list_is_exact_and_transfer_legs_reference_each_other(written):
    service, caller = written.service, written.service.caller()
    shown, path = 0, "transactions?open=true&limit=1000"
    while path:
        answer = caller.ask("GET", service.path(path))
        shown += len(answer.body)
        path = answer.headers.get("link", "").partition(f"/companies/{service.company}/")[2].partition(">")[0]
    ((stored,),) = service.rows(
        "SELECT count(*) FROM ledger_transaction t WHERE company_id = %s AND amount_value <> (SELECT "
        "coalesce(sum(value), 0) FROM ledger_categorization c WHERE c.company_id = t.company_id "
        "AND c.transaction_id = t.id)",
        service.company,
    )
    assert shown == stored
    assert (
        service.rows(
            "SELECT a.id FROM ledger_categorization a LEFT JOIN ledger_categorization b ON b.company_id = a.company_id "
            "AND b.id = a.counter_id WHERE a.counter_id IS NOT NULL AND b.counter_id IS DISTINCT FROM a.id"
        )
        == []
    )


def test_audit_log_has_one_entry_per_acknowledged_change(written):
    logged = dict(
        written.service.rows(
            "SELECT request_id, count(*) FROM companies_auditentry WHERE company_id = %s AND request_id LIKE 'w%%' "
            "GROUP BY 1",
            written.service.company,
        )
    )
    changes: dict[str, list[int]] = {}
    for request, act in written.acknowledged.items():
        changes.setdefault(act, []).append(logged.get(request, 0))
    for act, rows in changes.items():
        if act in AGAIN:
            assert set(rows) <= {0, 1}, act
        elif act.startswith(ONCE):
            assert sum(rows) == 1, act
        else:
            assert set(rows) == {1}, act
    assert not set(written.idle) & set(logged)


def test_imports_are_stored_completely_or_undone_completely(written):
    stored = dict(
        written.service.rows(
            "SELECT from_to, count(*) FROM ledger_transaction WHERE company_id = %s AND from_to LIKE 'rows %%' "
            "GROUP BY 1",
            written.service.company,
        )
    )
    remaining = {name for batch, name in written.imports.items() if batch not in written.undone}
    assert written.undone
    assert stored == dict.fromkeys(remaining, ROWS)
