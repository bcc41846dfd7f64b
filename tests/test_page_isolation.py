"""Lists and pages of a company show no row of another: its ids are in no list, and in the address of no page."""

import re
from typing import Any

import pytest

from tests.rollback import undo_changes
from tests.test_company_pages import PAGES
from tests.test_isolation import (
    ROW_OF_FIELD,
    create_tenant_rows,
    digest_all_rows,
    list_operations,
    read_whole_answer,
)

pytestmark = pytest.mark.django_db

# Whose row an id in an address names, where the API calls it otherwise; the others are those of ROW_OF_FIELD.
ROW_OF_PAGE_ID = {
    "consent_id": "connected_apps",
    "group_id": "account_groups",
    "event_id": "subscription_events",
    "event_import_id": "subscription_event_imports",
    "planned_id": "planned_transactions",
    "entry_id": "categorization_rules",
}
OTHER_PARTS = {"month": "2024-01", "day": "2024-01-31", "kind": "hire", "position": "0", "name": "x", "chart": "x"}
WINDOW = {"startDate": "2024-01-01", "endDate": "2024-12-31"}
NO_ROWS = {"view_id", "upload_id"}  # private to a person; the tests of views and of uploads open those of others


@pytest.fixture
def acme_rows(api, alice) -> dict[str, str]:
    return create_tenant_rows(api, alice)


@pytest.fixture
def globex_rows(globex_api, carol) -> dict[str, str]:
    return create_tenant_rows(globex_api, carol)


def find_row_kind(page_id: str) -> str:
    head, *words = page_id.split("_")
    return ROW_OF_PAGE_ID.get(page_id) or ROW_OF_FIELD[head + "".join(word.title() for word in words)]


def fill_address(address: str, company_id: Any, rows: dict[str, str]) -> str:
    path = address.replace("<str:company_id>", str(company_id))
    path = re.sub(r"<str:(\w+)>", lambda part: OTHER_PARTS[part[1]], path)
    return "/" + re.sub(r"<uuid:(\w+)>", lambda part: rows[find_row_kind(part[1])], path)


def test_lists_contain_no_row_of_another_company(api, acme_rows, globex_rows):
    paths = [path for method, path, _ in list_operations() if method == "GET" and path.count("{") == 1]
    assert len(paths) > 30
    for path in paths:
        query = WINDOW if path.endswith("/due") else {}
        answer = read_whole_answer(api.get(path.replace("{companyId}", str(api.company.id)), query))
        assert answer.status_code == 200, path
        content = answer.content.decode(errors="replace")
        assert {name for name, row_id in globex_rows.items() if len(row_id) == 36 and row_id in content} == set(), path


# What a page needs in its form to look for the row in its address.
FORM_OF_PAGE = {
    "member-change": {"role": "viewer"},
    "document-attach": {"transactionId": "transactions"},
    "document-detach": {"transactionId": "transactions"},
}
# Pages that answer one's own row and another's alike, each with its reason; of the other nothing changes.
ANSWERED_ALIKE = {
    "notification-delete": "a notification that is gone is deleted already",
    "planned-proposal-plan": "without a proposal for it, the page says so",
    "transaction-settle-sum": "without amounts nothing is settled, and the page says so",
    "rules-created-undo": "rules that are gone are undone already",
    "closing-link-revoke": "the link of the rows is that of a report",
}


def test_id_of_other_company_in_page_address_is_not_found(api, acme_rows, globex_rows, sign_in_browser, alice, globex):
    client, before, wrong = sign_in_browser(alice, api.company).client, digest_all_rows(globex), {}
    for name, address, _ in PAGES:
        page_ids = {*re.findall(r"<uuid:(\w+)>", address)}
        form = {field: acme_rows.get(value, value) for field, value in FORM_OF_PAGE.get(name, {}).items()}
        for method in ("get", "post") if page_ids and not page_ids & NO_ROWS else ():
            send = getattr(client, method)
            with undo_changes():
                theirs = send(fill_address(address, api.company.id, globex_rows), form)
                assert method == "get" or digest_all_rows(globex) == before, address
                mine = send(fill_address(address, api.company.id, acme_rows), form)
            statuses = (theirs.status_code, mine.status_code)
            is_found = statuses != (405, 405) and (statuses[0] != 404 or statuses[1] == 404)
            if is_found and name not in ANSWERED_ALIKE:
                wrong[method, address] = statuses
    assert wrong == {}
