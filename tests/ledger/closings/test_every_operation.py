"""Every operation of the OpenAPI document is tried on a company whose months are closed: no figure of them changes."""

import pytest
from django.db import transaction

from tests.api.request_bodies import create_all_rows, get_second_id
from tests.ledger.closings.conftest import read_closed_figures
from tests.test_audit_coverage import OPERATIONS, build_changed_body, get_row_id
from tests.test_isolation import send_request

pytestmark = pytest.mark.django_db

CLOSED = "2024-06"
EXEMPT = {"POST closings/{}/reopen"}


def test_no_operation_changes_a_closed_figure(api, acme, alice):
    rows = create_all_rows(api)
    answer = api.post("closings", {"month": CLOSED, "acknowledge": True})
    assert answer.status_code == 201, answer.content
    before = read_closed_figures(acme)
    refused = set()
    for path, method in OPERATIONS:
        operation = f"{method} {path}"
        if method == "GET" or operation in EXEMPT or "members" in path:
            continue
        with transaction.atomic():
            try:
                row = get_row_id(operation, api, rows)
            except KeyError:  # what is to be deleted cannot be made while it is closed
                row = rows.get(path.partition("/")[0], "")
            there = path.replace("{}", row, 1).replace("{}", get_second_id(path, rows))
            answer = send_request(
                api, method, there, body=None if method == "DELETE" else build_changed_body(operation, rows), query=None
            )
            assert answer.status_code < 500, (operation, answer.content)
            if answer.status_code == 409 and answer.json()["code"] == "period_closed":
                refused.add(operation)
            assert read_closed_figures(acme) == before, operation
            transaction.set_rollback(True)
    assert {
        *("POST transactions", "POST transactions/categorize", "POST transactions/import"),
        *("DELETE transactions/{}", "POST transactions/batch_delete", "DELETE imports/{}"),
        *("POST subscription_events", "DELETE subscription_events/{}", "PUT "),
        "DELETE subscription_event_imports/{}",
        *("PUT transactions/{}/categorizations", "PUT accounts/{}/initial_balance"),
    } <= refused
