"""What tests of period close stand on: a company with two booked months, and short words for closing them."""

from contextlib import contextmanager

import pytest
from django.db import connection, transaction

from ledger.closings.queries.closings import list_closings
from ledger.closings.queries.figures import compute_figures
from ledger.money.rates import get_rate_table


@pytest.fixture
def close(api):
    """Closes a month over HTTP, whatever is unfinished."""

    def closed(month="2026-03", **more):
        answer = api.post("closings", {"month": month, "acknowledge": True} | more)
        assert answer.status_code == 201, answer.content
        return answer.json()

    return closed


@pytest.fixture
def reopen(api):
    def reopened(month="2026-03", reason="Late invoice"):
        answer = api.post(f"closings/{month}/reopen", {"reason": reason})
        assert answer.status_code == 200, answer.content
        return answer.json()

    return reopened


@pytest.fixture
def costs(books):
    return books.category("officeAndAdmin")


@pytest.fixture
def march(books, bank, costs):
    """A categorized payment in March and an open one in April; returns both."""
    paid = books.book(bank, "-100.00", "2026-03-15")
    books.split(paid["id"], {"categoryId": costs, "plSplit": {"ga": -100}})
    later = books.book(bank, "-40.00", "2026-04-10")
    return paid["id"], later["id"]


@pytest.fixture
def closed(march, close):
    close()
    return march


@pytest.fixture
def differences(api):
    def of(month="2026-03", **params):
        answer = api.get(f"closings/{month}/differences", params)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return of


def get_closed_pointers(answer, closed_through="2026-03-31"):
    """The pointers of the error of a closed period."""
    body = answer.json()
    assert (answer.status_code, body["code"]) == (409, "period_closed"), answer.content
    assert body["closedThrough"] == closed_through
    return [each["pointer"] for each in body.get("errors", [])]


def read_closed_figures(company):
    """The figures of every closed month as the books stand now, and how far they are closed."""
    company.refresh_from_db()
    closings = list_closings(company)
    months = sorted(closing.month for closing in closings)
    figures = compute_figures(company, months, rates=get_rate_table())
    return company.closed_through, [(closing.digest, closing.status) for closing in closings], figures


def run_statement(statement):
    """Run SQL, and have the database check what it would at the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


@pytest.fixture
def rollback(books, costs):
    """A context that gives a driver over two accounts, and takes back what was done in it."""
    from tests.ledger.closings.test_random_books import Driver

    accounts = [books.account(name="A"), books.account(name="B")]

    @contextmanager
    def context():
        with transaction.atomic():
            yield Driver(books.api, accounts, costs)
            transaction.set_rollback(True)

    return context
