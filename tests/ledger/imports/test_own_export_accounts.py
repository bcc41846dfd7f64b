"""Our own export sent to the API without an account: the answer says what is missing."""

import pytest

from tests.ledger.statement_upload import upload_statement

pytestmark = pytest.mark.django_db


def test_own_export_without_account_says_that_account_id_is_missing(api, books, bank):
    books.create_transaction(bank, "-10.00", "2026-03-10", fromTo="Landlord")
    export = b"".join(api.get("exports/transactions.csv?startDate=2026-01-01&endDate=2026-12-31"))
    answer = upload_statement(api, export, "transactions.csv")
    assert (answer.status_code, answer.json()["code"]) == (400, "account_unknown")
    assert answer.json()["detail"].startswith("accountId is missing.")
    known = upload_statement(api, export, "transactions.csv", accountId=bank)
    assert (known.status_code, known.json()["duplicates"]) == (200, 1)


def test_other_table_without_account_keeps_its_reason(api, bank):
    table = b"Date,Account,Amount\n2026-03-10,Main,-10.00\n"
    answer = upload_statement(api, table, "bank.csv")
    assert (answer.status_code, answer.json()["code"]) == (400, "account_unknown")
    assert "accountId is missing." not in answer.json()["detail"]
