"""Bank statements settle what is planned, as imports and single bookings do (`test_settling.py`)."""

from typing import Any

import pytest

from tests.ledger.bank_file_builders import build_camt, build_entry, build_statement
from tests.ledger.statement_upload import upload_statement
from tests.planning.planned_transactions.test_settlements import format_day, list_settled_days, list_states

pytestmark = pytest.mark.django_db


@pytest.fixture
def planned_payment(api, account) -> Any:
    """A planned payment of 100.00, due twenty days ago, that settles automatically."""
    body = {"accountId": str(account.id), "name": "Rent", "startDate": format_day(-20), "amountValue": "-100.00"}
    made = api.post("planned_transactions", body | {"autoSettle": True})
    assert made.status_code == 201, made.content
    return made.json()


def build_statement_file(days: int, amount: str, status: str = "BOOK") -> bytes:
    """A bank statement with one movement, booked or still pending (`PDNG`)."""
    start, end = format_day(days - 10), format_day(days + 10)
    return build_camt(
        build_statement(build_entry(amount, format_day(days), ref="R1", status=status), start=start, end=end)
    )


def test_bank_statement_settles_and_import_undo_unsettles(api, account, planned_payment):
    statement = upload_statement(api, build_statement_file(-18, "-100.00"), accountId=str(account.id))
    assert statement.status_code == 200, statement.content
    (row,) = api.get("transactions").json()
    assert [(each["plannedTransactionId"], each["date"]) for each in row["settlements"]] == [
        (planned_payment["id"], format_day(-20))
    ]
    assert api.delete(f"imports/{statement.json()['importId']}").status_code == 200
    assert list_states(api) == {format_day(-20): "overdue"}


def test_pending_statement_row_settles_once_booked(api, account, planned_payment):
    assert (
        upload_statement(api, build_statement_file(-20, "-100.00", "PDNG"), accountId=str(account.id)).status_code
        == 200
    )
    assert list_settled_days(api) == []
    assert upload_statement(api, build_statement_file(-20, "-100.00"), accountId=str(account.id)).status_code == 200
    (row,) = api.get("transactions").json()
    assert [(each["plannedTransactionId"], each["date"]) for each in row["settlements"]] == [
        (planned_payment["id"], format_day(-20))
    ]
