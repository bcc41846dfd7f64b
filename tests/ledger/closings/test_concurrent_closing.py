"""Closing beside other writers, in transactions that are really committed."""

import pytest
from django.db import IntegrityError, connection, transaction

from tests.ledger.test_concurrent_writers import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_month_is_closed_once_by_two_who_close_it_at_once(api, transaction_ids):
    answers = []

    def close():
        answers.append(api.post("closings", {"month": "2026-03", "acknowledge": True}))

    run_concurrently(close, close, close)
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409]
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"already_closed"}
    assert len(api.get("closings").json()) == 1


def test_an_import_beside_a_closing_is_in_its_figures_or_refused(api, bank, transaction_ids):
    answers = {}
    rows = [{"accountId": bank, "date": "2026-03-20", "amountValue": "-1.00"} for _ in range(200)]

    def close():
        answers["close"] = api.post("closings", {"month": "2026-03", "acknowledge": True})

    def bring():
        answers["import"] = api.post("transactions/import", {"transactions": rows})

    run_concurrently(bring, close)
    assert answers["close"].status_code == 201
    [balance] = [each for each in api.get("closings/2026-03").json()["figures"] if each["figure"] == "balance"]
    assert (answers["import"].status_code, balance["value"]) in {(200, -300), (409, -100)}
    assert api.get("closings/2026-03/differences").json() == []


def test_a_statement_that_commits_by_itself_is_refused(transaction_ids, close_month):
    close_month()
    with connection.cursor() as cursor:
        with pytest.raises(IntegrityError, match="closed through"):
            cursor.execute("DELETE FROM ledger_transaction WHERE date < '2026-04-01'")
        cursor.execute("SELECT count(*) FROM ledger_transaction WHERE date < '2026-04-01'")
        assert cursor.fetchone() == (1,)


def test_the_name_of_an_earlier_change_lets_nothing_through(
    api, books, bank, transaction_ids, close_month, reopen_month
):
    close_month()
    reopen_month()
    books.create_transaction(bank, "-5.00", "2026-03-20")
    close_month()
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT token FROM ledger_figurechange")
        tokens = [token for (token,) in cursor.fetchall()]
        assert tokens
    for token in [*tokens, *(token.partition(" ")[0] for token in tokens)]:
        with pytest.raises(IntegrityError, match="closed through"):
            delete_in_change(token)
    assert api.get("closings/2026-03/differences").json() == []


def delete_in_change(token):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL tidebook.change = '{token}'")
        cursor.execute("DELETE FROM ledger_transaction WHERE date = '2026-03-20'")
