"""Closing months and reopening them."""

from itertools import pairwise

import pytest
from django.utils import timezone

from companies.permissions import Role
from tests import factories

pytestmark = pytest.mark.django_db


def test_closing_answers_the_closing(api, transaction_ids, close_month, bank, office):
    closing = close_month(note="Done")
    assert set(closing) == {
        *("id", "month", "version", "status", "note", "closedTime", "closedUserId"),
        *("reopenedTime", "reopenedUserId", "reopenReason", "digest", "previousDigest"),
        "acknowledgedChecks",
    }
    assert (closing["month"], closing["version"], closing["status"], closing["note"]) == (
        "2026-03",
        1,
        "closed",
        "Done",
    )
    assert closing["closedUserId"].startswith("apiKey:")
    assert closing["previousDigest"] is None
    assert len(closing["digest"]) == 64
    assert api.get().json()["closedThrough"] == "2026-03-31"
    assert api.get("/companies").json()[0]["closedThrough"] == "2026-03-31"
    one = api.get("closings/2026-03")
    assert one.headers["ETag"]
    figures = one.json()["figures"]
    assert figures == [
        {"figure": "balance", "accountId": bank, "value": -100},
        {"figure": "outflow", "accountId": bank, "value": 100},
        {"figure": "profitAndLoss", "categoryId": office, "plType": "ga", "value": 100},
    ]
    assert {name: value for name, value in one.json().items() if name != "figures"} == closing


def test_closing_closes_every_open_month_before(api, books, bank, transaction_ids, close_month):
    books.create_transaction(bank, "5.00", "2026-01-05")
    last = close_month("2026-04", note="Year-end done")
    listed = api.get("closings").json()
    assert [each["note"] for each in listed] == ["Year-end done", None, None, None]
    assert [each["month"] for each in listed] == ["2026-04", "2026-03", "2026-02", "2026-01"]
    assert listed[0] == last
    for closing, earlier in pairwise(listed):
        assert closing["previousDigest"] == earlier["digest"]
    events = api.get("events", {"type": "closing.closed"}).json()
    assert [each["entityType"] for each in events] == ["closing"] * 4


@pytest.mark.parametrize(
    ("month", "status", "code"),
    [("2026-03", 409, "already_closed"), ("2026-02", 400, "month_before_data"), ("2026-13", 400, "validation_failed")],
)
def test_closing_is_refused(api, transaction_ids, close_month, month, status, code):
    close_month()
    answer = api.post("closings", {"month": month, "acknowledge": True})
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_month_that_is_not_over_is_not_closed(api, transaction_ids):
    this_month = timezone.now().date().isoformat()[:7]
    for month in (this_month, "2999-01"):
        answer = api.post("closings", {"month": month, "acknowledge": True})
        assert (answer.status_code, answer.json()["code"]) == (400, "month_not_over")


def test_a_month_before_any_booking_is_not_closed(api, bank, transaction_ids):
    answer = api.post("closings", {"month": "2026-02", "acknowledge": True})
    assert (answer.status_code, answer.json()["code"]) == (400, "month_before_data")


def test_a_company_without_bookings_has_nothing_to_close(api, bank):
    answer = api.post("closings", {"month": "2026-02"})
    assert (answer.status_code, answer.json()["code"]) == (400, "month_before_data")


def test_unfinished_work_is_acknowledged(api, books, bank, transaction_ids):
    books.create_transaction(bank, "-7.00", "2026-03-20", pending=True)
    books.create_transaction(bank, "-8.00", "2026-03-21")
    answer = api.post("closings", {"month": "2026-03"})
    assert (answer.status_code, answer.json()["code"]) == (409, "close_checks_failed")
    assert answer.json()["checks"] == {
        "uncategorized": 1,
        "pending": 1,
        "unreconciledAccounts": [],
        "overdue": 0,
        "missingRates": [],
    }
    assert api.get("closings").json() == []
    assert api.post("closings", {"month": "2026-03", "acknowledge": True}).status_code == 201


def test_missing_rates_always_refuse(api, books, transaction_ids):
    dollars = books.create_account(name="Dollars", defaultCurrency="USD")
    books.create_transaction(dollars, "-10.00", "1998-03-15", amountCurrency="USD")
    answer = api.post("closings", {"month": "1998-03", "acknowledge": True})
    assert (answer.status_code, answer.json()["code"]) == (409, "close_checks_failed")
    assert answer.json()["checks"]["missingRates"] == ["USD"]


def test_reopening_reopens_all_later_months(api, books, bank, transaction_ids, close_month, reopen_month, alice):
    books.create_transaction(bank, "5.00", "2026-01-05")
    close_month("2026-04")
    opened = reopen_month("2026-02", "Wrong bank file")
    assert (opened["month"], opened["status"], opened["reopenReason"]) == ("2026-02", "reopened", "Wrong bank file")
    assert opened["reopenedTime"]
    assert opened["reopenedUserId"].startswith("apiKey:")
    assert api.get().json()["closedThrough"] == "2026-01-31"
    states = {each["month"]: each["status"] for each in api.get("closings").json()}
    assert states == {"2026-04": "reopened", "2026-03": "reopened", "2026-02": "reopened", "2026-01": "closed"}
    assert len(api.get("events", {"type": "closing.reopened"}).json()) == 3


def test_owners_and_admins_are_told_of_reopening(
    api, transaction_ids, close_month, reopen_month, alice, sign_in_browser, acme
):
    admin = factories.make_member(acme, "admin@acme.example", role=Role.ADMIN)
    close_month()
    reopen_month(reason="Late invoice")
    for person in (alice, admin):
        body = sign_in_browser(person, acme).get("notifications").json()[0]
        assert body["type"] == "closing.reopened"
        assert "Late invoice" in body["payload"]["body"]


@pytest.mark.parametrize("month", ["2026-03", "2026-04", "1900-01"])
def test_only_closed_months_are_reopened(api, transaction_ids, close_month, reopen_month, month):
    close_month()
    reopen_month()
    answer = api.post(f"closings/{month}/reopen", {"reason": "x"})
    assert (answer.status_code, answer.json()["code"]) == (409, "not_closed")


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "  "}, {"reason": "x" * 501}])
def test_reopening_needs_a_reason(api, transaction_ids, close_month, body):
    close_month()
    assert api.post("closings/2026-03/reopen", body).status_code == 400
    assert api.get().json()["closedThrough"] == "2026-03-31"


def test_closing_again_makes_the_next_version(api, books, bank, transaction_ids, close_month, reopen_month):
    first = close_month()
    reopen_month()
    books.create_transaction(bank, "-1.00", "2026-03-31")
    second = close_month()
    assert (second["version"], second["previousDigest"]) == (2, first["digest"])
    assert [each["version"] for each in api.get("closings").json()] == [2]
    earlier = api.get("closings/2026-03", {"version": 1}).json()
    assert (earlier["version"], earlier["status"]) == (1, "reopened")
    assert api.get("closings/2026-03", {"version": 3}).status_code == 404
    assert api.get("closings/2026-03", {"version": "x"}).status_code == 400


@pytest.mark.parametrize("path", ["closings/2026-03", "closings/2026-3", "closings/x", "closings/2026-03/differences"])
def test_a_month_that_was_never_closed_is_not_found(api, transaction_ids, path):
    assert api.get(path).status_code == 404
