"""Bank statements settle what is planned, as imports and single bookings do (`test_settling.py`)."""

from typing import Any

import pytest

from tests.ledger.banks import camt, entry, statement
from tests.ledger.receiving import send
from tests.planning.test_settling import on, settled_days, states

pytestmark = pytest.mark.django_db


@pytest.fixture
def planned(api, account) -> Any:
    """100.00 to be paid twenty days ago, which settles by itself."""
    body = {"accountId": str(account.id), "name": "Rent", "startDate": on(-20), "amountValue": "-100.00"}
    made = api.post("planned_transactions", body | {"autoSettle": True})
    assert made.status_code == 201, made.content
    return made.json()


def statement_of(days: int, amount: str, status: str = "BOOK") -> bytes:
    """A bank statement with one movement, booked or still pending (`PDNG`)."""
    start, end = on(days - 10), on(days + 10)
    return camt(statement(entry(amount, on(days), ref="R1", status=status), start=start, end=end))


def test_a_bank_statement_settles_and_undoing_it_unsettles(api, account, planned):
    told = send(api, statement_of(-18, "-100.00"), accountId=str(account.id))
    assert told.status_code == 200, told.content
    (row,) = api.get("transactions").json()
    assert row["settles"] == {"plannedTransactionId": planned["id"], "date": on(-20)}
    assert api.delete(f"imports/{told.json()['importId']}").status_code == 200
    assert states(api) == {on(-20): "overdue"}


def test_a_pending_row_of_a_statement_settles_once_the_bank_has_booked_it(api, account, planned):
    assert send(api, statement_of(-20, "-100.00", "PDNG"), accountId=str(account.id)).status_code == 200
    assert settled_days(api) == []
    assert send(api, statement_of(-20, "-100.00"), accountId=str(account.id)).status_code == 200
    (row,) = api.get("transactions").json()
    assert row["settles"] == {"plannedTransactionId": planned["id"], "date": on(-20)}
