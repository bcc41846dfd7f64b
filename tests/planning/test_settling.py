"""Settling, over HTTP: what is due, what settles it, and what could."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from companies.models import AuditEntry
from ledger.calc.fx import convert
from ledger.calc.money import round_half_up
from ledger.models import Transaction
from ledger.money.rates import rate_table
from ledger.transactions.answers import read
from planning.models import PlannedOverride
from planning.occurring import due_in
from tests.days import TODAY

pytestmark = pytest.mark.django_db

UNKNOWN = "00000000-0000-7000-8000-000000000000"


def on(days: int) -> str:
    return str(TODAY + timedelta(days=days))


@pytest.fixture
def plan(api, account) -> Any:
    """Something expected once, so many days from today."""

    def make(days: int, amount: str = "-100.00", **values: Any) -> dict[str, Any]:
        body = {"accountId": str(account.id), "name": "Rent", "startDate": on(days), "amountValue": amount}
        made = api.post("planned_transactions", body | {"autoSettle": False} | values)
        assert made.status_code == 201, made.content
        return made.json()

    return make


@pytest.fixture
def book(api, account) -> Any:
    def make(days: int, amount: str = "-100.00", **values: Any) -> dict[str, Any]:
        made = api.post(
            "transactions", {"accountId": str(account.id), "date": on(days), "amountValue": amount} | values
        )
        assert made.status_code == 201, made.content
        return made.json()

    return make


def settle(api: Any, planned: dict[str, Any], paid: Any, day: str | None = None) -> Any:
    transaction_id = paid["id"] if isinstance(paid, dict) else paid
    body = {"date": day or planned["startDate"], "transactionId": transaction_id}
    return api.post(f"planned_transactions/{planned['id']}/settle", body)


def unsettle(api: Any, planned: dict[str, Any], day: str | None = None) -> Any:
    return api.post(f"planned_transactions/{planned['id']}/unsettle", {"date": day or planned["startDate"]})


def due(api: Any, first: int = -90, last: int = 90) -> list[dict[str, Any]]:
    answer = api.get("planned_transactions/due", {"startDate": on(first), "endDate": on(last)})
    assert answer.status_code == 200, answer.content
    return answer.json()


def states(api: Any) -> dict[str, str]:
    return {each["date"]: each["state"] for each in due(api)}


def matches(api: Any, first: int = -90, last: int = 90) -> list[tuple[str, str, str, str, int]]:
    answer = api.post("planned_transactions/matches", {"startDate": on(first), "endDate": on(last)})
    assert answer.status_code == 200, answer.content
    names = ("plannedTransactionId", "date", "transactionId", "difference", "days")
    return [tuple(each[name] for name in names) for each in answer.json()]


def settles(api: Any, paid: dict[str, Any]) -> Any:
    return api.get(f"transactions/{paid['id']}").json()["settles"]


# ---------------------------------------------------------------------------------------------- due


def test_what_is_due_overdue_settled_and_skipped_says_so_and_what_lapsed_is_absent(api, plan, book):
    for days in (-61, -60, -1, 0, 1):
        plan(days)
    paid, skipped = plan(-10), plan(-20)
    settle(api, paid, book(-9))
    api.put(f"planned_transactions/{skipped['id']}/overrides/{on(-20)}", {"skipped": True})
    assert states(api) == {
        on(-60): "overdue",
        on(-20): "skipped",
        on(-10): "settled",
        on(-1): "overdue",
        on(0): "due",
        on(1): "due",
    }


def test_a_due_occurrence_is_the_occurrence_with_its_rule_and_state(api, plan, book):
    planned, paid = plan(-3), book(-3)
    api.put(f"planned_transactions/{planned['id']}/overrides/{on(-3)}", {"date": on(-2), "name": "Late"})
    settle(api, planned, paid)
    within = {"startDate": on(-3), "endDate": on(0)}
    (occurrence,) = api.get(f"planned_transactions/{planned['id']}/occurrences", within).json()
    assert occurrence["transactionId"] == paid["id"]
    assert due(api, -3, 0) == [occurrence | {"plannedTransactionId": planned["id"], "state": "settled"}]
    assert due(api, -3, -3) == [], "it goes by the day that it is moved to"


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"startDate": on(1), "endDate": on(0)}, "end_before_start"),
        ({"startDate": on(0), "endDate": on(3700)}, "window_too_long"),
        ({"startDate": on(0)}, "required"),
    ],
)
def test_a_wrong_window_is_refused(api, asked, code):
    for answer in (api.get("planned_transactions/due", asked), api.post("planned_transactions/matches", asked)):
        assert [error["code"] for error in answer.json()["errors"]] == [code]


def test_a_window_with_too_many_occurrences_is_refused(api, plan, monkeypatch):
    monkeypatch.setattr("planning.occurring.MOST_AT_ONCE", 20)
    plan(0, recurrence={"frequency": "day"})
    window = {"startDate": on(0), "endDate": on(20)}
    for answer in (api.get("planned_transactions/due", window), api.post("planned_transactions/matches", window)):
        assert [error["code"] for error in answer.json()["errors"]] == ["window_too_long"]
    assert len(due(api, 0, 19)) == 20


def test_what_is_due_is_asked_for_in_two_statements_however_many_rules(acme, api, plan, django_assert_num_queries):
    for count in (1, 20):
        for _ in range(count):
            plan(0)
        with django_assert_num_queries(2):
            due_in(acme, window_start=TODAY, window_end=TODAY, today=TODAY)


# ---------------------------------------------------------------------------------------------- settling


def test_a_settled_occurrence_and_its_transaction_say_each_other(api, plan, book):
    planned, paid = plan(-3), book(-2, "-104.00")
    assert paid["settles"] is None
    answer = settle(api, planned, paid)
    assert answer.status_code == 200
    assert answer.json()["overrides"] == {on(-3): {"transactionId": paid["id"]}}
    assert answer.headers["ETag"] == api.get(f"planned_transactions/{planned['id']}").headers["ETag"]
    told = {"plannedTransactionId": planned["id"], "date": on(-3)}
    assert settles(api, paid) == told
    assert [each["settles"] for each in api.get("transactions").json()] == [told]
    assert AuditEntry.objects.filter(action="plannedTransaction.settled").count() == 1
    assert settle(api, planned, paid).json() == answer.json(), "again is no change"
    answer = unsettle(api, planned)
    assert (answer.status_code, answer.json()["overrides"]) == (200, {})
    assert settles(api, paid) is None
    assert states(api) == {on(-3): "overdue"}


def test_a_transaction_has_changed_when_what_it_settles_has(api, plan, book):
    planned, paid = plan(-3), book(-3)
    path = f"transactions/{paid['id']}"
    seen = [api.get(path).headers["ETag"]]
    for change in (settle, lambda *both: unsettle(*both[:2]), settle):
        assert change(api, planned, paid).status_code == 200
        seen.append(api.get(path).headers["ETag"])
    api.put(f"planned_transactions/{planned['id']}", {"name": "Other"})
    assert api.get(path).headers["ETag"] == seen[-1]
    api.delete(f"planned_transactions/{planned['id']}")
    seen.append(api.get(path).headers["ETag"])
    assert len(set(seen)) == 5
    assert settles(api, paid) is None


def test_what_else_differs_stays_with_the_occurrence(api, plan, book):
    planned, paid = plan(-3), book(-3)
    api.put(f"planned_transactions/{planned['id']}/overrides/{on(-3)}", {"date": on(2), "amountValue": "-90.00"})
    kept = {"date": on(2), "amountValue": "-90.00"}
    assert settle(api, planned, paid).json()["overrides"] == {on(-3): kept | {"transactionId": paid["id"]}}
    assert unsettle(api, planned).json()["overrides"] == {on(-3): kept}


def refused(answer: Any) -> tuple[int, str]:
    body = answer.json()
    return answer.status_code, body["errors"][0]["code"] if body["code"] == "validation_failed" else body["code"]


def test_an_occurrence_is_settled_once_and_by_a_transaction_that_settles_nothing_else(api, plan, book):
    planned, other, paid = plan(-3), plan(-3), book(-3)
    settle(api, planned, paid)
    assert refused(settle(api, planned, book(-3))) == (409, "occurrence_settled")
    assert refused(settle(api, other, paid)) == (409, "transaction_settles_another")
    assert refused(unsettle(api, other)) == (409, "occurrence_not_settled")
    assert PlannedOverride.objects.count() == 1


def test_what_does_not_occur_is_not_settled(api, plan, book):
    planned, paid = plan(-3), book(-3)
    assert refused(settle(api, planned, paid, on(-2))) == (400, "not_an_occurrence")
    api.put(f"planned_transactions/{planned['id']}/overrides/{on(-3)}", {"skipped": True})
    assert refused(settle(api, planned, paid)) == (409, "occurrence_skipped")


def test_what_is_settled_is_not_skipped_before_it_is_unsettled(api, plan, book):
    planned = plan(-3)
    settle(api, planned, book(-3))
    answer = api.put(f"planned_transactions/{planned['id']}/overrides/{on(-3)}", {"skipped": True})
    assert refused(answer) == (409, "occurrence_skipped")
    unsettle(api, planned)
    answer = api.put(f"planned_transactions/{planned['id']}/overrides/{on(-3)}", {"skipped": True})
    assert answer.status_code == 200


def test_money_in_settles_no_money_out_and_a_pending_one_nothing(api, plan, book, account):
    planned = plan(-3)
    opening = api.put(f"accounts/{account.id}/initial_balance", {"date": on(-90), "amountValue": "-100.00"})
    assert opening.status_code == 200, opening.content
    (initial,) = api.get("transactions").json()
    cases = {
        book(-3, "100.00")["id"]: (400, "wrong_direction"),
        book(-3, pending=True)["id"]: (409, "transaction_pending"),
        initial["id"]: (409, "transaction_is_initial_balance"),
        UNKNOWN: (400, "unknown_id"),
        "x": (400, "unknown_id"),
    }
    for paid, expected in cases.items():
        assert refused(settle(api, planned, paid)) == expected
        path = f"planned_transactions/{planned['id']}/overrides/{on(-3)}"
        assert refused(api.put(path, {"transactionId": paid})) == expected, "at the other door too"
    assert not PlannedOverride.objects.exists()


def test_another_companys_transaction_is_not_there(api, globex, plan, make_account, make_transaction):
    planned, theirs = plan(-3), make_transaction(make_account(globex))
    assert refused(settle(api, planned, str(theirs.id))) == (400, "unknown_id")
    assert settle(api, {**planned, "id": UNKNOWN}, UNKNOWN).status_code == 404


def test_a_deleted_transaction_settles_nothing_any_more(api, plan, book):
    planned, paid = plan(-3), book(-3)
    settle(api, planned, paid)
    assert api.delete(f"transactions/{paid['id']}").status_code == 200
    assert states(api) == {on(-3): "overdue"}


def test_one_that_is_booked_by_hand_settles_and_one_that_is_pending_again_does_not(api, plan, book):
    planned, paid = plan(-3, autoSettle=True), book(-3, pending=True)
    assert settles(api, paid) is None
    assert api.put(f"transactions/{paid['id']}", {"pending": False}).status_code == 200
    assert settles(api, paid) == {"plannedTransactionId": planned["id"], "date": on(-3)}
    assert states(api) == {on(-3): "settled"}
    assert api.put(f"transactions/{paid['id']}", {"pending": True}).status_code == 200
    assert settles(api, paid) is None
    assert states(api) == {on(-3): "overdue"}


def test_what_settles_keeps_its_direction_until_it_is_unsettled(api, plan, book):
    planned, paid = plan(-3), book(-3, "-99.00")
    settle(api, planned, paid)
    for amount in ("99.00", "0.00"):
        refused = api.put(f"transactions/{paid['id']}", {"amountValue": amount})
        (error,) = refused.json()["errors"]
        assert (refused.status_code, error["pointer"], error["code"]) == (400, "#/amountValue", "wrong_direction")
    assert api.put(f"transactions/{paid['id']}", {"amountValue": "-98.00"}).status_code == 200
    unsettle(api, planned)
    assert api.put(f"transactions/{paid['id']}", {"amountValue": "99.00"}).status_code == 200


def test_a_rule_does_not_leave_a_day_that_is_settled(api, plan, book):
    planned, paid = plan(-3), book(-3, "-99.00")
    settle(api, planned, paid)
    path = f"planned_transactions/{planned['id']}"
    refused = api.put(path, {"startDate": on(-2)})
    assert refused.status_code == 400
    (error,) = refused.json()["errors"]
    assert (error["pointer"], error["code"]) == (f"#/overrides/{on(-3)}", "occurrence_settled")
    assert api.put(path, {"name": "Renamed"}).status_code == 200
    unsettle(api, planned)
    assert api.put(path, {"startDate": on(-2)}).status_code == 200


def test_what_pages_of_transactions_settle_is_asked_for_at_once(acme, api, plan, book, django_assert_num_queries):
    for count in (1, 10):
        for _ in range(count):
            settle(api, plan(-3), book(-3))
        with django_assert_num_queries(3):
            read(Transaction.objects.of(acme.id), company_id=acme.id)


# ---------------------------------------------------------------------------------------------- matches


def test_a_match_is_near_in_time_and_amount_and_of_one_direction(api, plan, book):
    planned = plan(-20)
    for days, amount in [(-31, "-100.00"), (-9, "-100.00"), (-20, "-110.01"), (-20, "-89.99"), (-20, "100.00")]:
        book(days, amount)
    assert matches(api) == []
    late = book(-10, "-110.00")
    assert matches(api) == [(planned["id"], on(-20), late["id"], "-10.00", 10)]
    near = book(-19, "-90.00")
    assert matches(api) == [(planned["id"], on(-20), near["id"], "10.00", 1)]
    assert matches(api, -19, 0) == [], "the window is of occurrences"


def test_the_nearest_come_first_and_each_once(api, plan, book):
    first, second = plan(-20), plan(-18, "-101.00")
    paid, other = book(-18, "-100.00"), book(-12, "-100.00")
    assert matches(api) == [
        (second["id"], on(-18), paid["id"], "1.00", 0),
        (first["id"], on(-20), other["id"], "0.00", 8),
    ]


def test_of_one_day_the_nearest_amount_comes_first(api, plan, book):
    planned = plan(-20)
    book(-20, "-101.00")
    equal = book(-20, "-100.00")
    assert [each[2] for each in matches(api)] == [equal["id"]]
    assert planned["id"] == matches(api)[0][0]


def test_a_match_is_on_the_account_of_the_plan_or_on_any_where_it_has_none(api, acme, plan, book, make_account):
    plan(-20)
    elsewhere = book(-20, accountId=str(make_account(acme, name="Other").id))
    assert matches(api) == []
    anywhere = plan(-20, accountId=None, amountCurrency="EUR")
    assert matches(api) == [(anywhere["id"], on(-20), elsewhere["id"], "0.00", 0)]


def test_what_settles_or_is_settled_or_skipped_is_no_match(api, plan, book):
    settled, skipped = plan(-20), plan(-40)
    settle(api, settled, book(-20))
    api.put(f"planned_transactions/{skipped['id']}/overrides/{on(-40)}", {"skipped": True})
    book(-40)
    book(-15, pending=True)
    assert matches(api) == []
    plan(-21)
    assert matches(api) == [], "the one transaction near it settles another"
    unsettle(api, settled)
    assert len(matches(api)) == 1


def test_an_occurrence_is_matched_by_what_differs_about_it(api, plan, book):
    planned = plan(-50)
    moved = {"date": on(-5), "amountValue": "-300.00"}
    api.put(f"planned_transactions/{planned['id']}/overrides/{on(-50)}", moved)
    paid = book(-4, "-310.00")
    (match,) = matches(api)
    assert match == (planned["id"], on(-50), paid["id"], "-10.00", 1)
    assert settle(api, planned, paid, match[1]).status_code == 200, "a match is settled as it came"


def test_amounts_of_another_currency_match_at_the_days_rate(api, plan, book):
    planned = plan(-20, "-100.00", amountCurrency="USD")
    day = TODAY - timedelta(days=19)
    euros = round_half_up(convert(Decimal(-95), source="USD", target="EUR", day=day, rates=rate_table()), "EUR")
    book(-19, f"{euros * 2}")
    assert matches(api) == []
    paid = book(-19, f"{euros}")
    (match,) = matches(api)
    assert match[:3] == (planned["id"], on(-20), paid["id"])
    assert abs(Decimal(match[3]) - 5) <= Decimal("0.01"), "in the currency of the plan"


def test_matches_are_for_those_who_may_see_transactions(make_api, acme, plan, book):
    plan(-20)
    book(-20)
    asked = {"startDate": on(-30), "endDate": on(0)}
    for permissions, status in (("planning:read", 403), ("transactions:read", 403)):
        assert make_api(acme, permissions).post("planned_transactions/matches", asked).status_code == status
    both = make_api(acme, "planning:read", "transactions:read")
    assert len(both.post("planned_transactions/matches", asked).json()) == 1


# ---------------------------------------------------------------------------------------------- by themselves


def bring(api: Any, account: Any, *rows: tuple[int, str], **values: Any) -> dict[str, Any]:
    """Imports transactions."""
    items = [{"accountId": str(account.id), "date": on(days), "amountValue": amount} | values for days, amount in rows]
    answer = api.post("transactions/import", {"transactions": items})
    assert answer.status_code == 200, answer.content
    return answer.json()


def settled_days(api: Any) -> list[str]:
    return [each["date"] for each in due(api) if each["state"] == "settled"]


def test_an_import_settles_what_is_equal_and_at_most_five_days_away(api, account, plan):
    made = plan(-20, autoSettle=True)
    assert made["autoSettle"] is True
    bring(api, account, (-26, "-100.00"), (-14, "-100.00"), (-20, "-100.01"), (-20, "100.00"))
    assert settled_days(api) == []
    bring(api, account, (-25, "-100.00"))
    assert settled_days(api) == [on(-20)]
    entry = AuditEntry.objects.get(action="plannedTransactions.settled")
    assert entry.after["settled"] == 1


def test_what_is_planned_settles_by_itself_unless_it_says_otherwise(api, account, body):
    assert api.post("planned_transactions", body).json()["autoSettle"] is True
    plain = api.post("planned_transactions", body | {"autoSettle": False}).json()
    assert plain["autoSettle"] is False
    assert api.put(f"planned_transactions/{plain['id']}", {"name": "Other"}).json()["autoSettle"] is False
    assert api.put(f"planned_transactions/{plain['id']}", {"autoSettle": True}).json()["autoSettle"] is True


def test_what_does_not_settle_by_itself_waits_for_a_person(api, account, plan):
    plan(-20, autoSettle=False)
    bring(api, account, (-20, "-100.00"))
    assert settled_days(api) == []
    assert len(matches(api)) == 1


def test_one_transaction_that_is_booked_settles_too_and_answers_it(api, plan, book):
    planned = plan(-20, autoSettle=True)
    assert book(-18, "-100.00")["settles"] == {"plannedTransactionId": planned["id"], "date": on(-20)}


def test_of_many_each_settles_one_the_nearest_first(api, account, plan):
    plan(-30, autoSettle=True, recurrence={"frequency": "day", "interval": 7})
    bring(api, account, (-30, "-100.00"), (-24, "-100.00"), (-24, "-100.00"), (-18, "-100.00"))
    assert settled_days(api) == [on(-30), on(-23), on(-16)]
    rows = [each["settles"] for each in api.get("transactions").json()]
    assert rows.count(None) == 1


def test_an_import_settles_on_the_account_and_in_the_currency_of_the_plan(api, acme, account, plan, make_account):
    plan(-20, autoSettle=True)
    plan(-20, autoSettle=True, amountCurrency="USD")
    bring(api, make_account(acme, name="Other"), (-20, "-100.00"))
    assert settled_days(api) == []
    bring(api, account, (-20, "-100.00"), amountCurrency="USD")
    assert [each["amountCurrency"] for each in due(api) if each["state"] == "settled"] == ["USD"]


def test_an_import_settles_what_differs_by_what_it_was_changed_to(api, account, plan):
    planned = plan(-50, autoSettle=True)
    moved = {"date": on(-5), "amountValue": "-300.00", "name": "Late"}
    api.put(f"planned_transactions/{planned['id']}/overrides/{on(-50)}", moved)
    bring(api, account, (-50, "-100.00"), (-6, "-300.00"))
    (settled,) = api.get(f"planned_transactions/{planned['id']}").json()["overrides"].values()
    assert {name: settled[name] for name in moved} == moved
    assert settled["transactionId"]


def test_pending_and_tried_rows_settle_nothing(api, account, plan):
    plan(-20, autoSettle=True)
    bring(api, account, (-20, "-100.00"), pending=True)
    items = [{"accountId": str(account.id), "date": on(-20), "amountValue": "-100.00"}]
    assert api.post("transactions/import", {"transactions": items, "dryRun": True}).json()["count"] == 1
    assert settled_days(api) == []


def test_undoing_an_import_unsettles(api, account, plan):
    plan(-20, autoSettle=True)
    done = bring(api, account, (-20, "-100.00"))
    assert states(api) == {on(-20): "settled"}
    assert api.delete(f"imports/{done['importId']}").json()["changedCount"] == 0, "by the import, and nobody since"
    assert states(api) == {on(-20): "overdue"}


def test_another_companys_plans_stay_as_they_are(globex_api, api, account, plan):
    plan(-20, autoSettle=True)
    theirs = globex_api.post("accounts", {"name": "Theirs", "type": "bank"}).json()
    row = {"accountId": theirs["id"], "date": on(-20), "amountValue": "-100.00"}
    assert globex_api.post("transactions/import", {"transactions": [row]}).json()["count"] == 1
    assert states(api) == {on(-20): "overdue"}


def test_parts_of_an_imported_transaction_count_by_the_invoice_of_its_plan(api, account, category, plan):
    plan(-20, autoSettle=True, invoiceDate="2024-02-15")
    bring(api, account, (-20, "-100.00"), categoryId=str(category.id))
    (row,) = api.get("transactions").json()
    assert row["settles"]["date"] == on(-20)


def test_however_many_are_settled_the_statements_are_the_same(acme, api, account, plan, django_assert_max_num_queries):
    counted = []
    for count in (1, 20):
        for _ in range(count):
            plan(-20, autoSettle=True)
        with django_assert_max_num_queries(60) as seen:
            bring(api, account, *[(-20, "-100.00")] * count)
        counted.append(len(seen.captured_queries))
    assert len(settled_days(api)) == 21
    assert counted[0] == counted[1]
