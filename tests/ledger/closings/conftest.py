"""Fixtures for period close: transactions in two months, and closing and reopening a month."""

from contextlib import contextmanager

import pytest
from django.db import connection, transaction

from ledger.closings.queries.closings import list_closings
from ledger.closings.queries.figures import compute_figures
from ledger.money.rates import get_rate_table


@pytest.fixture
def close_month(api):
    """Close a month over HTTP, whatever is unfinished; return the closing."""

    def close(month="2026-03", **values):
        response = api.post("closings", {"month": month, "acknowledge": True} | values)
        assert response.status_code == 201, response.content
        return response.json()

    return close


@pytest.fixture
def reopen_month(api):
    """Reopen a closed month over HTTP."""

    def reopen(month="2026-03", reason="Late invoice"):
        response = api.post(f"closings/{month}/reopen", {"reason": reason})
        assert response.status_code == 200, response.content
        return response.json()

    return reopen


@pytest.fixture
def transaction_ids(books, bank, office):
    """The ids of a categorized payment in March and an uncategorized one in April."""
    march = books.create_transaction(bank, "-100.00", "2026-03-15")
    books.set_categorizations(march["id"], {"categoryId": office, "plSplit": {"ga": -100}})
    april = books.create_transaction(bank, "-40.00", "2026-04-10")
    return march["id"], april["id"]


@pytest.fixture
def closed_month(transaction_ids, close_month):
    """Close March 2026; gives the ids of `transaction_ids`."""
    close_month()
    return transaction_ids


@pytest.fixture
def list_differences(api):
    """Return the differences of a closed month from the present figures."""

    def list_differences(month="2026-03", **params):
        response = api.get(f"closings/{month}/differences", params)
        assert response.status_code == 200, response.content
        return response.json()

    return list_differences


def get_closed_pointers(response, closed_through="2026-03-31"):
    """Return the pointers of a `period_closed` error."""
    body = response.json()
    assert (response.status_code, body["code"]) == (409, "period_closed"), response.content
    assert body["closedThrough"] == closed_through
    return [error["pointer"] for error in body.get("errors", [])]


def read_closed_figures(company):
    """Return the last closed day, each closing's digest and status, and the present figures of closed months."""
    company.refresh_from_db()
    closings = list_closings(company)
    months = sorted(closing.month for closing in closings)
    figures = compute_figures(company, months, rates=get_rate_table())
    return company.closed_through, [(closing.digest, closing.status) for closing in closings], figures


def run_statement(statement):
    """Run SQL and check deferred constraints at once."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


@pytest.fixture
def open_driver(books, office):
    """Context manager with a Driver of two accounts; rolls back at its end."""
    from tests.ledger.closings.test_random_books import Driver

    accounts = [books.create_account(name="A"), books.create_account(name="B")]

    @contextmanager
    def open_driver():
        with transaction.atomic():
            yield Driver(books.api, accounts, office)
            transaction.set_rollback(True)

    return open_driver
