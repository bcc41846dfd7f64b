"""Nightly work in parts: those who name the same round share the companies, and each company is done once."""

import io
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from analytics.queries import company_metrics
from companies import hooks
from companies.maintenance import company_batches
from companies.models import Company, IdempotencyRecord, MaintenanceCheckpoint
from ledger.models import DayMovement
from ledger.money.calc.fx import RateLookupError
from ledger.recognition.actions import account_movements
from tests import factories

pytestmark = pytest.mark.django_db
COMPANY_COUNT = 12
PROCESS_COUNT = 3


class Killed(BaseException):
    """Ends a run in the middle of a company, as a signal would."""


@pytest.fixture
def company_ids(db):
    """The ids of several companies, in processing order."""
    made = [factories.make_company(name=f"Company {number}") for number in range(COMPANY_COUNT)]
    return sorted(company.id for company in made)


@pytest.fixture
def computed_company_ids(monkeypatch):
    """The ids of the companies whose metrics were computed, once per computation."""
    results = []
    remaining = company_metrics.store_company_metrics

    def counting(*, company, context):
        remaining(company=company, context=context)
        results.append(company.id)

    monkeypatch.setattr(company_metrics, "store_company_metrics", counting)
    return results


def run_command(command, *words, **options):
    output = io.StringIO()
    try:
        call_command(command, *words, stdout=output, stderr=output, **options)
    finally:
        if threading.current_thread() is not threading.main_thread():
            connection.close()
    return output.getvalue()


def run_concurrently(command, **options):
    """What each of several says that run at the same time, with connections of their own."""
    with ThreadPoolExecutor(PROCESS_COUNT) as pool:
        return [each.result() for each in [pool.submit(run_command, command, **options) for _ in range(PROCESS_COUNT)]]


def sum_numbers(texts):
    """The sum of the numbers in what was said."""
    return sum(int(word) for text in texts for word in text.split() if word.isdigit())


@pytest.mark.django_db(transaction=True)
def test_concurrent_nightly_runs_of_one_round_process_each_company_once(company_ids, computed_company_ids):
    concurrently = run_concurrently("refresh_metrics", round="monday")
    assert sorted(computed_company_ids) == company_ids
    assert sum_numbers(concurrently) == COMPANY_COUNT
    assert not Company.objects.filter(computed_metrics_time=None).exists()


def test_nightly_round_skips_finished_companies_and_new_round_starts_over(company_ids, computed_company_ids):
    for name, done in (("monday", COMPANY_COUNT), ("monday", 0), ("tuesday", COMPANY_COUNT), ("tuesday", 0)):
        assert f"Metrics of {done} companies" in run_command("refresh_metrics", round=name)
    assert sorted(computed_company_ids) == sorted(company_ids * 2)
    assert MaintenanceCheckpoint.objects.count() == COMPANY_COUNT


def test_nightly_run_without_round_processes_all_and_stores_no_mark(company_ids, computed_company_ids):
    for _ in range(2):
        assert f"Metrics of {COMPANY_COUNT} companies" in run_command("refresh_metrics")
    assert not MaintenanceCheckpoint.objects.exists()


def test_nightly_round_retries_company_of_interrupted_run(company_ids, computed_company_ids, monkeypatch):
    counting = company_metrics.store_company_metrics

    def killed(*, company, context):
        counting(company=company, context=context)
        if company.id == company_ids[4]:
            raise Killed

    monkeypatch.setattr(company_metrics, "store_company_metrics", killed)
    with pytest.raises(Killed):
        run_command("refresh_metrics", round="monday")
    assert Company.objects.exclude(computed_metrics_time=None).count() == 4, "nothing of the fifth is stored"
    monkeypatch.setattr(company_metrics, "store_company_metrics", counting)
    assert f"Metrics of {COMPANY_COUNT - 4} companies" in run_command("refresh_metrics", round="monday")
    assert sorted(computed_company_ids) == sorted([*company_ids, company_ids[4]])


@pytest.mark.django_db(transaction=True)
def test_nightly_batch_takes_over_company_of_dead_process(company_ids, computed_company_ids, monkeypatch):
    counting, at_it, die = company_metrics.store_company_metrics, threading.Event(), threading.Event()

    def hanging(*, company, context):
        if company.id == company_ids[0] and not at_it.is_set():
            at_it.set()
            assert die.wait(60)
            raise Killed
        counting(company=company, context=context)

    monkeypatch.setattr(company_metrics, "store_company_metrics", hanging)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(run_command, "refresh_metrics", round="monday")
        assert at_it.wait(60)
        second = pool.submit(run_command, "refresh_metrics", round="monday")
        while len(computed_company_ids) < COMPANY_COUNT - 1:
            assert not second.done(), second.result()
        assert sorted(computed_company_ids) == company_ids[1:]
        die.set()
        assert f"Metrics of {COMPANY_COUNT} companies" in second.result()
        assert isinstance(first.exception(), Killed)
    assert sorted(computed_company_ids) == company_ids


def test_nightly_round_retries_failed_company(company_ids, computed_company_ids, monkeypatch):
    counting = company_metrics.store_company_metrics

    def lacking(*, company, context):
        if company.id == company_ids[4]:
            raise RateLookupError("USD")
        counting(company=company, context=context)

    monkeypatch.setattr(company_metrics, "store_company_metrics", lacking)
    for _ in range(2):
        with pytest.raises(CommandError, match="1 companies failed"):
            run_command("refresh_metrics", round="monday")
    monkeypatch.setattr(company_metrics, "store_company_metrics", counting)
    assert "Metrics of 1 companies" in run_command("refresh_metrics", round="monday")
    assert sorted(computed_company_ids) == company_ids


@pytest.mark.django_db(transaction=True)
def test_concurrent_rebuild_derived_runs_process_each_company_once(books, bank, acme, globex, monkeypatch):
    books.create_transaction(bank, "-10.00", "2026-01-05")
    seen = []
    for hook, function in (
        (hooks.rebuild_derived_tables, account_movements.rebuild_account_movements),
        (hooks.find_derived_differences, account_movements.find_account_movement_differences),
    ):
        others = [other for other in hook.functions if other is not function]
        counted = lambda company_id, function=function: seen.append(company_id) or function(company_id)  # noqa: E731
        monkeypatch.setattr(hook, "functions", [counted, *others])
    DayMovement.objects.all().delete()
    for text in run_concurrently("rebuild_derived", round="monday"):
        assert "rebuilt" in text
    assert sorted(seen) == sorted([acme.id, globex.id])
    for text in run_concurrently("rebuild_derived", check=True, round="monday"):
        assert "All derived tables are correct." in text
    assert sorted(seen) == sorted([acme.id, globex.id] * 2)


def test_failed_derived_check_fails_for_all_runs_of_its_round(books, bank, acme):
    books.create_transaction(bank, "-10.00", "2026-01-05")
    DayMovement.objects.all().delete()
    for _ in range(2):
        with pytest.raises(CommandError):
            run_command("rebuild_derived", check=True, round="monday")
    run_command("rebuild_derived", round="monday")
    assert "All derived tables are correct." in run_command("rebuild_derived", check=True, round="monday")


@pytest.mark.parametrize("name", ["", "x" * 41])
def test_round_name_is_limited_to_forty_characters(name):
    with pytest.raises(CommandError, match="--round"):
        call_command("refresh_metrics", "--round", name)


@pytest.mark.django_db(transaction=True)
def test_prune_deletes_expired_rows_once(now):
    for number in range(20):
        IdempotencyRecord.objects.create(
            credential="apiKey:x", method="POST", path="/companies", key=str(number), request_digest=b"", status=201,
            body=b"{}", created_time=now - timedelta(days=2),
        )  # fmt: skip
    assert sum_numbers(run_concurrently("prune")) == 20
    assert not IdempotencyRecord.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_prune_does_not_block_on_work_of_another_process(monkeypatch, now):
    """The first run is at its only part and is told to end once the second one waits."""
    at_it, go_on, order = threading.Event(), threading.Event(), []

    def slow(*, now):
        if not at_it.is_set():
            at_it.set()
            assert go_on.wait(60)
        order.append("slow")
        return 1

    def quick(*, now):
        order.append("quick")
        go_on.set()
        return 1

    monkeypatch.setattr(hooks.prune_expired, "functions", [slow, quick])
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(run_command, "prune")
        assert at_it.wait(60)
        second = pool.submit(run_command, "prune")
        assert (sum_numbers([first.result()]), sum_numbers([second.result()])) == (2, 2)
    assert order[0] == "quick", "the second goes on with what is free"


def test_company_ids_are_iterated_in_order_across_batches(company_ids, monkeypatch):
    monkeypatch.setattr(company_batches, "ID_BATCH_SIZE", 5)
    assert list(company_batches.iter_company_ids(Company.objects.all())) == company_ids


def test_metrics_refresh_names_failed_company_and_processes_the_others(
    company_ids, computed_company_ids, monkeypatch, caplog
):
    store = company_metrics.store_company_metrics

    def fails_for_one(*, company, context):
        if company.id == company_ids[3]:
            Company.objects.filter(id=company.id).update(computed_active_customer_count=10**30)  # a database error
        store(company=company, context=context)

    monkeypatch.setattr(company_metrics, "store_company_metrics", fails_for_one)
    output = io.StringIO()
    with pytest.raises(CommandError, match="1 companies failed"):
        call_command("refresh_metrics", "--round", "monday", stdout=output, stderr=output)
    assert str(company_ids[3]) in output.getvalue()
    assert f"Metrics of {COMPANY_COUNT - 1} companies" in output.getvalue()
    assert any(str(company_ids[3]) in record.getMessage() for record in caplog.records)
    monkeypatch.undo()
    assert "Metrics of 1 companies" in run_command("refresh_metrics", round="monday")


def test_rebuild_derived_continues_after_a_company_fails(company_ids, monkeypatch):
    rebuild = account_movements.rebuild_account_movements
    rebuilt = []

    def fails_for_one(company_id):
        if company_id == company_ids[0]:
            raise ZeroDivisionError
        rebuilt.append(company_id)
        rebuild(company_id)

    monkeypatch.setattr(hooks.rebuild_derived_tables, "functions", [fails_for_one])
    output = io.StringIO()
    with pytest.raises(CommandError, match="1 companies failed"):
        call_command("rebuild_derived", stdout=output, stderr=output)
    assert f"{company_ids[0]} ZeroDivisionError" in output.getvalue()
    assert len(rebuilt) == COMPANY_COUNT - 1


def test_prune_continues_after_a_hook_fails(db, monkeypatch):
    called = []

    def fail(*, now):
        raise ZeroDivisionError

    def succeed(*, now):
        called.append(now)
        return 1

    monkeypatch.setattr(hooks.prune_expired, "functions", [fail, succeed])
    with pytest.raises(CommandError, match=re.escape(f"{__name__}.")):
        run_command("prune")
    assert len(called) == 1


def test_metrics_of_company_with_many_large_subscriptions_are_stored(api, acme, audit_context):
    events = [
        {
            "customerExternalId": "c",
            "subscriptionExternalId": f"s{n}",
            "effectiveDate": "2024-01-01",
            "amountValue": "999999999999999.00",
            "amountCurrency": "EUR",
        }
        for n in range(101)
    ]
    factories.make_customer(acme, external_id="c")
    answer = api.post("subscription_events/import", {"events": events})
    assert (answer.status_code, answer.json()["count"]) == (200, 101), answer.content
    assert "Metrics of" in run_command("refresh_metrics", company=str(acme.id))
    acme.refresh_from_db()
    assert acme.computed_committed_mrr_eur > 10**17
