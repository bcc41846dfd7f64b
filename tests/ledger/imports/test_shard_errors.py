"""What a worker of a cluster refuses reaches the caller as what one machine would have said.

The coordinator is played by a trigger, which says what it would: the worker's words with the shard's number, without
the constraint's name as a field, and for what it copies as an internal error.
"""

import pytest
from django.apps import apps
from django.db import connection

from companies import db_errors
from ledger.imports.actions import imports
from tests import cluster
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db

COPIED = "XX000"
LONGEST_SHARD = len("_102008") + 4  # its number begins at 102008; behind a longer name Citus puts a digest instead

ACCOUNT = (
    'insert or update on table "ledger_transaction_102008" violates foreign key constraint '
    '"ledger_transaction_account_102008"'
)
DUPLICATE_MESSAGE = 'duplicate key value violates unique constraint "transaction_external_id_once_per_account_102008"'
UNKNOWN = 'new row for relation "ledger_transaction_102008" violates check constraint "{}"'
KNOWN = "transaction_source_known"
EMPTY = 'null value in column "date" of relation "ledger_transaction_102008" violates not-null constraint'
DEADLOCK = "canceling the transaction since it was involved in a distributed deadlock"


def test_account_deleted_during_import_returns_conflict(api, bank, monkeypatch):
    """By the database's own words: on a cluster the coordinator's, of what a worker said."""
    copying = imports.copy_lines

    def too_late(table, *what):
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM ledger_account WHERE company_id = %s AND id = %s", [api.company.id, bank])
        copying(table, *what)

    monkeypatch.setattr(imports, "copy_lines", too_late)
    row = {"accountId": bank, "date": "2026-11-18", "amountValue": "-1.00"}
    answer = api.post("transactions/import", {"transactions": [row, row | {"amountValue": "-2.00"}]})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert api.get("transactions").json() == []


@pytest.fixture
def refuse_transactions(db):
    """Make the database reject every new transaction with this error."""

    def refuse(message, state):
        quoted = message.replace("'", "''")
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE FUNCTION coordinator() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$BEGIN RAISE EXCEPTION '{quoted}' USING ERRCODE = '{state}'; END$$"
            )
            cursor.execute(
                "CREATE TRIGGER coordinator BEFORE INSERT ON ledger_transaction EXECUTE FUNCTION coordinator()"
            )

    return refuse


def test_shard_error_returns_same_code_as_single_server(api, bank, refuse_transactions):
    for state in [COPIED, "same"]:
        for message, own_state, code in [
            (ACCOUNT, "23503", "conflict"),
            (UNKNOWN.format(KNOWN), "23514", "conflict"),
            (UNKNOWN.format(f"{KNOWN}_102008"), "23514", "conflict"),
            (EMPTY, "23502", "conflict"),
            ("deadlock detected", "40P01", "concurrent_change"),
            (DEADLOCK, "40P01", "concurrent_change"),
        ]:
            for many in [True, False]:
                with undo_changes():
                    refuse_transactions(message, own_state if state == "same" else state)
                    row = {"accountId": bank, "date": "2026-11-18", "amountValue": "-1.00"}
                    answer = (
                        api.post("transactions/import", {"transactions": [row]})
                        if many
                        else api.post("transactions", row)
                    )
                    assert (answer.status_code, answer.json()["code"]) == (409, code), (state, message, many)


@pytest.mark.parametrize("state", [COPIED, "23505"])
@pytest.mark.parametrize(
    "message", [DUPLICATE_MESSAGE, DUPLICATE_MESSAGE.replace("_102008", "")], ids=["shard", "no shard"]
)
def test_constraint_error_code_is_found_with_shard_suffix(api, bank, refuse_transactions, message, state):
    refuse_transactions(message, state)
    row = {"accountId": bank, "date": "2026-11-18", "amountValue": "-1.00"}
    answer = api.post("transactions", row)
    assert (answer.status_code, answer.json()["code"]) == (409, "external_id_taken")


CONNECTION_LOST_MESSAGE = (
    "server closed the connection unexpectedly"  # as a worker was killed between the coordinator's words and its own
)


def test_lost_shard_connection_returns_unavailable(api, bank, refuse_transactions):
    for message in [
        CONNECTION_LOST_MESSAGE,
        f"{CONNECTION_LOST_MESSAGE}\n\tbefore or while processing the request.",
        "no connection to the server",
    ]:
        for many in [True, False]:
            with undo_changes():
                refuse_transactions(message, COPIED)
                row = {"accountId": bank, "date": "2026-11-18", "amountValue": "-1.00"}
                answer = (
                    api.post("transactions/import", {"transactions": [row]}) if many else api.post("transactions", row)
                )
                assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (
                    503,
                    "unavailable",
                    "5",
                ), (
                    message,
                    many,
                )


@pytest.mark.parametrize("many", [True, False], ids=["import", "one"])
def test_full_disk_returns_storage_full(api, bank, refuse_transactions, many):
    if many and cluster.TESTS_RUN_ON_CLUSTER:
        pytest.skip("of what it copies a cluster tells no kind of error")
    refuse_transactions("could not extend file", "53100")
    row = {"accountId": bank, "date": "2026-11-18", "amountValue": "-1.00"}
    answer = api.post("transactions/import", {"transactions": [row]}) if many else api.post("transactions", row)
    assert (answer.status_code, answer.json()["code"]) == (507, "storage_full")


@pytest.mark.parametrize("message", ["could not open file", "somebody says: violates constraint"])
def test_other_shard_errors_stay_server_errors(api, bank, refuse_transactions, message):
    refuse_transactions(message, COPIED)
    api.client.raise_request_exception = False
    row = {"accountId": bank, "date": "2026-11-18", "amountValue": "-1.00"}
    answer = api.post("transactions/import", {"transactions": [row]})
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")


def test_constraint_names_leave_room_for_shard_suffix():
    every = [each for model in apps.get_models() for each in model._meta.constraints if each.violation_error_code]
    assert every
    assert [each.name for each in every if len(each.name) + LONGEST_SHARD > 62] == []
    assert all(db_errors.find_constraint(f"{each.name}_102008") is each for each in every)
