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


@pytest.mark.parametrize("cursor", ["abc", "", "%00", "WyJ4IiwieSJd"])
@pytest.mark.parametrize("path", LISTS)
def test_invalid_cursor_is_a_bad_request(owner, acme, path, cursor):
    answer = owner.get(f"/app/companies/{acme.id}/{path}?cursor={cursor}")
    assert (answer.status_code, MESSAGE in get_page_text(answer)) == (400, True)


@pytest.mark.parametrize("path", ["/app/security", "/app/security?x=1"])
def test_invalid_cursor_of_own_log_is_a_bad_request(owner, path):
    answer = owner.get(path, {"cursor": "abc"})
    assert (answer.status_code, MESSAGE in get_page_text(answer)) == (400, True)


@pytest.mark.parametrize("number", ["0", "-1", "x", "%00", "99999999999999999999"])
@pytest.mark.parametrize("path", NUMBERED_LISTS)
def test_invalid_page_number_is_a_bad_request(owner, acme, path, number):
    answer = owner.get(f"/app/companies/{acme.id}/{path}?page={number}")
    assert (answer.status_code, MESSAGE in get_page_text(answer)) == (400, True)


@pytest.mark.parametrize("name", ["cursor", "before"])
def test_invalid_cursor_of_transactions_is_a_bad_request(owner, acme, name):
    answer = owner.get(f"/app/companies/{acme.id}/transactions", {name: "abc"})
    assert (answer.status_code, MESSAGE in get_page_text(answer)) == (400, True)


@pytest.mark.parametrize("value", ["\0", "x", "x\0"])
@pytest.mark.parametrize("name", ["person", "kind", "from", "to"])
def test_unknown_filter_of_the_audit_log_is_an_error(owner, acme, name, value):
    answer = owner.get(f"/app/companies/{acme.id}/settings/activity", {name: value})
    assert answer.status_code == 400
    assert f'id="{name}-error"' in answer.content.decode()


def test_unknown_record_of_the_audit_log_has_no_changes(owner, acme):
    for value in ("\0", "x"):
        answer = owner.get(f"/app/companies/{acme.id}/settings/activity", {"thing": value})
        assert (answer.status_code, "No changes of this record alone" in get_page_text(answer)) == (200, True)
