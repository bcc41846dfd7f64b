"""Lists on pages: an address of a page that does not exist is answered alike everywhere."""

import pytest

from tests.ledger.conftest import get_page_text

pytestmark = pytest.mark.django_db
LISTS = (
    "settings/activity",
    "planned/rules",
    "receivables",
    "payables",
    "invoice-imports",
    "notifications",
    "settings/counterparties",
    "documents",
    "imports",
    "recurring-revenue/events",
    "recurring-revenue/events/imports",
)
NUMBERED_LISTS = ("recurring-revenue/customers", "recurring-revenue/movements", "plan")
MESSAGE = "This page of the list does not exist. Open the list again from the start."


def list_queries_without_page_error(owner, acme, queries):
    """The (path, query) below the company that are not answered with the message."""
    wrong = []
    for path, query in queries:
        answer = owner.get(f"/app/companies/{acme.id}/{path}?{query}")
        if (answer.status_code, MESSAGE in get_page_text(answer)) != (400, True):
            wrong.append((path, query))
    return wrong


@pytest.mark.parametrize("cursor", ["abc", "", "%00", "WyJ4IiwieSJd"])
def test_invalid_cursor_is_a_bad_request(owner, acme, cursor):
    assert list_queries_without_page_error(owner, acme, [(path, f"cursor={cursor}") for path in LISTS]) == []


def test_invalid_cursor_of_own_log_is_a_bad_request(owner):
    answer = owner.get("/app/security", {"cursor": "abc"})
    assert (answer.status_code, MESSAGE in get_page_text(answer)) == (400, True)


@pytest.mark.parametrize("number", ["0", "-1", "x", "%00", "99999999999999999999"])
def test_invalid_page_number_is_a_bad_request(owner, acme, number):
    assert list_queries_without_page_error(owner, acme, [(path, f"page={number}") for path in NUMBERED_LISTS]) == []


def test_invalid_cursor_of_transactions_is_a_bad_request(owner, acme):
    queries = [("transactions", f"{name}=abc") for name in ("cursor", "before")]
    assert list_queries_without_page_error(owner, acme, queries) == []


@pytest.mark.parametrize("value", ["\0", "x", "x\0"])
def test_unknown_filter_of_the_audit_log_is_an_error(owner, acme, value):
    for name in ("person", "kind", "from", "to"):
        answer = owner.get(f"/app/companies/{acme.id}/settings/activity", {name: value})
        assert answer.status_code == 400, name
        assert f'id="{name}-error"' in answer.content.decode()


def test_unknown_record_of_the_audit_log_has_no_changes(owner, acme):
    for value in ("\0", "x"):
        answer = owner.get(f"/app/companies/{acme.id}/settings/activity", {"thing": value})
        assert (answer.status_code, "No changes of this record alone" in get_page_text(answer)) == (200, True)
