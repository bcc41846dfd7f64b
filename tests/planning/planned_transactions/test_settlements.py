"""Settling, over HTTP: what is due, what settles it, and what could."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from companies.models import AuditEntry
from ledger.models import Transaction
from ledger.money.calc.fx import convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from ledger.transactions.representation import list_transaction_dicts
from planning.models import Settlement
from planning.planned_transactions.queries.occurrences import list_due_occurrences
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db

UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


def format_day(days: int) -> str:
    return str(TODAY + timedelta(days=days))


@pytest.fixture
def plan_payment(api, account) -> Any:
    """Plan a payment, some days from today."""

    def plan(days: int, amount: str = "-100.00", **values: Any) -> dict[str, Any]:
        body = {"accountId": str(account.id), "name": "Rent", "startDate": format_day(days), "amountValue": amount}
        made = api.post("planned_transactions", body | {"autoSettle": False} | values)
        assert made.status_code == 201, made.content
        return made.json()

    return plan


@pytest.fixture
def create_payment(api, account) -> Any:
    def create(days: int, amount: str = "-100.00", **values: Any) -> dict[str, Any]:
        made = api.post(
            "transactions", {"accountId": str(account.id), "date": format_day(days), "amountValue": amount} | values
        )
        assert made.status_code == 201, made.content
        return made.json()

    return create


def settle_occurrence(api: Any, planned: dict[str, Any], paid: Any, day: str | None = None) -> Any:
    transaction_id = paid["id"] if isinstance(paid, dict) else paid
    body = {"date": day or planned["startDate"], "transactionId": transaction_id}
    return api.post(f"planned_transactions/{planned['id']}/settle", body)


def unsettle_occurrence(api: Any, planned: dict[str, Any], day: str | None = None) -> Any:
    return api.post(f"planned_transactions/{planned['id']}/unsettle", {"date": day or planned["startDate"]})


def list_due(api: Any, first: int = -90, last: int = 90) -> list[dict[str, Any]]:
    answer = api.get("planned_transactions/due", {"startDate": format_day(first), "endDate": format_day(last)})
    assert answer.status_code == 200, answer.content
    return answer.json()


def list_states(api: Any) -> dict[str, str]:
    return {each["date"]: each["state"] for each in list_due(api)}


def list_matches(api: Any, first: int = -90, last: int = 90) -> list[tuple[str, str, str, str, int]]:
    answer = api.post("planned_transactions/matches", {"startDate": format_day(first), "endDate": format_day(last)})
    assert answer.status_code == 200, answer.content
    names = ("plannedTransactionId", "date", "transactionId", "difference", "days")
    return [tuple(each[name] for name in names) for each in answer.json()]


def list_settlements(api: Any, paid: dict[str, Any]) -> list[Any]:
    """What a transaction settles: (planned transaction, date, amount)."""
    names = ("plannedTransactionId", "date", "amountValue")
    return [tuple(each[name] for name in names) for each in api.get(f"transactions/{paid['id']}").json()["settlements"]]


def test_due_list_shows_states_and_omits_lapsed_occurrences(api, plan_payment, create_payment):
    for days in (-61, -60, -1, 0, 1):
        plan_payment(days)
    paid, skipped = plan_payment(-10), plan_payment(-20)
    settle_occurrence(api, paid, create_payment(-9))
    api.put(f"planned_transactions/{skipped['id']}/overrides/{format_day(-20)}", {"skipped": True})
    assert list_states(api) == {
        format_day(-60): "overdue",
        format_day(-20): "skipped",
        format_day(-10): "paid",
        format_day(-1): "overdue",
        format_day(0): "open",
        format_day(1): "open",
    }


def test_due_occurrence_includes_its_planned_transaction_and_state(api, plan_payment, create_payment):
    planned, paid = plan_payment(-3), create_payment(-3)
    api.put(
        f"planned_transactions/{planned['id']}/overrides/{format_day(-3)}", {"date": format_day(-2), "name": "Late"}
    )
    settle_occurrence(api, planned, paid)
    within = {"startDate": format_day(-3), "endDate": format_day(0)}
    (occurrence,) = api.get(f"planned_transactions/{planned['id']}/occurrences", within).json()
    assert (occurrence["state"], occurrence["settledAmountValue"], occurrence["openAmountValue"]) == (
        "paid", "-100.00", "0.00",
    )  # fmt: skip
    settlement = {"transactionId": paid["id"], "date": format_day(-3), "amountValue": "-100.00", "reason": None}
    assert occurrence["settlements"] == [settlement]
    assert list_due(api, -3, 0) == [occurrence | {"plannedTransactionId": planned["id"]}]
    assert list_due(api, -3, -3) == [], "it goes by New date of the occurrence."


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"startDate": format_day(1), "endDate": format_day(0)}, "end_before_start"),
        ({"startDate": format_day(0), "endDate": format_day(3700)}, "window_too_long"),
        ({"startDate": format_day(0)}, "required"),
    ],
)
def test_invalid_window_is_rejected(api, parameters, code):
    due, matches = "planned_transactions/due", "planned_transactions/matches"
    for answer in (api.get(due, parameters), api.post(matches, parameters)):
        assert [error["code"] for error in answer.json()["errors"]] == [code]


def test_window_with_too_many_occurrences_is_rejected(api, plan_payment, monkeypatch):
    monkeypatch.setattr("planning.planned_transactions.queries.occurrences.MAX_OCCURRENCES", 20)
    plan_payment(0, recurrence={"frequency": "day"})
    window = {"startDate": format_day(0), "endDate": format_day(20)}
    for answer in (api.get("planned_transactions/due", window), api.post("planned_transactions/matches", window)):
        assert [error["code"] for error in answer.json()["errors"]] == ["window_too_long"]
    assert len(list_due(api, 0, 19)) == 20


def test_due_occurrence_queries_do_not_grow_with_rules(acme, api, plan_payment, django_assert_num_queries):
    for count in (1, 20):
        for _ in range(count):
            plan_payment(0)
        with django_assert_num_queries(3):
            list_due_occurrences(acme, window_start=TODAY, window_end=TODAY, today=TODAY)


def test_settled_occurrence_and_transaction_reference_each_other(api, plan_payment, create_payment):
    planned, paid = plan_payment(-3), create_payment(-2, "-104.00")
    assert paid["settlements"] == []
    answer = settle_occurrence(api, planned, paid)
    assert answer.status_code == 200
    assert answer.headers["ETag"] == api.get(f"planned_transactions/{planned['id']}").headers["ETag"]
    assert list_settlements(api, paid) == [(planned["id"], format_day(-3), "-100.00")]
    assert len(api.get("transactions").json()[0]["settlements"]) == 1
    assert AuditEntry.objects.filter(action="plannedTransaction.settled").count() == 1
    assert settle_occurrence(api, planned, paid).json() == answer.json(), "again is no change"
    answer = unsettle_occurrence(api, planned)
    assert answer.status_code == 200
    assert list_settlements(api, paid) == []
    assert list_states(api) == {format_day(-3): "overdue"}


def test_transaction_etag_changes_with_settlement(api, plan_payment, create_payment):
    planned, paid = plan_payment(-3), create_payment(-3)
    path = f"transactions/{paid['id']}"
    seen = [api.get(path).headers["ETag"]]
    for change in (settle_occurrence, lambda *both: unsettle_occurrence(*both[:2]), settle_occurrence):
        assert change(api, planned, paid).status_code == 200
        seen.append(api.get(path).headers["ETag"])
    api.put(f"planned_transactions/{planned['id']}", {"name": "Other"})
    assert api.get(path).headers["ETag"] == seen[-1]
    api.delete(f"planned_transactions/{planned['id']}")
    seen.append(api.get(path).headers["ETag"])
    assert len(set(seen)) == 5
    assert list_settlements(api, paid) == []


def test_settling_and_unsettling_keep_other_overrides(api, plan_payment, create_payment):
    planned, paid = plan_payment(-3), create_payment(-3)
    api.put(
        f"planned_transactions/{planned['id']}/overrides/{format_day(-3)}",
        {"date": format_day(2), "amountValue": "-90.00"},
    )
    remaining = {"date": format_day(2), "amountValue": "-90.00"}
    assert settle_occurrence(api, planned, paid).json()["overrides"] == {format_day(-3): remaining}
    assert unsettle_occurrence(api, planned).json()["overrides"] == {format_day(-3): remaining}


def get_error(answer: Any) -> tuple[int, str]:
    body = answer.json()
    return answer.status_code, body["errors"][0]["code"] if body["code"] == "validation_failed" else body["code"]


def test_nothing_is_settled_beyond_either_side(api, plan_payment, create_payment):
    planned, other, paid = plan_payment(-3), plan_payment(-3), create_payment(-3)
    settle_occurrence(api, planned, paid)
    assert get_error(settle_occurrence(api, planned, create_payment(-3))) == (409, "nothing_open")
    assert get_error(settle_occurrence(api, other, paid)) == (409, "settles_too_much")
    assert get_error(unsettle_occurrence(api, other)) == (409, "occurrence_not_settled")
    assert Settlement.objects.count() == 1


def test_nonexistent_occurrence_cannot_be_settled(api, plan_payment, create_payment):
    planned, paid = plan_payment(-3), create_payment(-3)
    assert get_error(settle_occurrence(api, planned, paid, format_day(-2))) == (400, "not_an_occurrence")
    api.put(f"planned_transactions/{planned['id']}/overrides/{format_day(-3)}", {"skipped": True})
    assert get_error(settle_occurrence(api, planned, paid)) == (409, "occurrence_skipped")


def test_settled_occurrence_cannot_be_skipped(api, plan_payment, create_payment):
    planned = plan_payment(-3)
    settle_occurrence(api, planned, create_payment(-3))
    answer = api.put(f"planned_transactions/{planned['id']}/overrides/{format_day(-3)}", {"skipped": True})
    assert get_error(answer) == (409, "occurrence_settled")
    unsettle_occurrence(api, planned)
    answer = api.put(f"planned_transactions/{planned['id']}/overrides/{format_day(-3)}", {"skipped": True})
    assert answer.status_code == 200


def test_wrong_direction_or_pending_transaction_cannot_settle(api, plan_payment, create_payment, account):
    planned = plan_payment(-3)
    opening = api.put(f"accounts/{account.id}/initial_balance", {"date": format_day(-90), "amountValue": "-100.00"})
    assert opening.status_code == 200, opening.content
    (initial,) = api.get("transactions").json()
    cases = {
        create_payment(-3, "100.00")["id"]: (400, "wrong_direction"),
        create_payment(-3, pending=True)["id"]: (409, "transaction_pending"),
        initial["id"]: (409, "transaction_is_initial_balance"),
        UNKNOWN_ID: (400, "unknown_id"),
        "x": (400, "unknown_id"),
    }
    for paid, expected in cases.items():
        assert get_error(settle_occurrence(api, planned, paid)) == expected
    assert not Settlement.objects.exists()


def test_deleting_transaction_unsettles_occurrence(api, plan_payment, create_payment):
    planned, paid = plan_payment(-3), create_payment(-3)
    settle_occurrence(api, planned, paid)
    assert api.delete(f"transactions/{paid['id']}").status_code == 200
    assert list_states(api) == {format_day(-3): "overdue"}


def test_transaction_settles_when_booked_and_unsettles_when_pending_again(api, plan_payment, create_payment):
    planned, paid = plan_payment(-3, autoSettle=True), create_payment(-3, pending=True)
    assert list_settlements(api, paid) == []
    assert api.put(f"transactions/{paid['id']}", {"pending": False}).status_code == 200
    assert list_settlements(api, paid) == [(planned["id"], format_day(-3), "-100.00")]
    assert list_states(api) == {format_day(-3): "paid"}
    assert api.put(f"transactions/{paid['id']}", {"pending": True}).status_code == 200
    assert list_settlements(api, paid) == []
    assert list_states(api) == {format_day(-3): "overdue"}


def test_settling_transaction_keeps_its_direction(api, plan_payment, create_payment):
    planned, paid = plan_payment(-3), create_payment(-3, "-99.00")
    settle_occurrence(api, planned, paid)
    for amount in ("99.00", "0.00"):
        refused = api.put(f"transactions/{paid['id']}", {"amountValue": amount})
        (error,) = refused.json()["errors"]
        assert (refused.status_code, error["pointer"], error["code"]) == (400, "#/amountValue", "wrong_direction")
    assert get_error(api.put(f"transactions/{paid['id']}", {"amountValue": "-98.00"})) == (409, "settles_too_much")
    assert get_error(api.put(f"transactions/{paid['id']}", {"amountCurrency": "USD"})) == (409, "occurrence_settled")
    assert api.put(f"transactions/{paid['id']}", {"amountValue": "-98.00", "notes": "x"}).status_code == 409
    assert api.put(f"transactions/{paid['id']}", {"amountValue": "-105.00"}).status_code == 200
    unsettle_occurrence(api, planned)
    assert api.put(f"transactions/{paid['id']}", {"amountValue": "99.00"}).status_code == 200


def test_rule_change_cannot_drop_a_settled_occurrence(api, plan_payment, create_payment):
    planned, paid = plan_payment(-3), create_payment(-3, "-99.00")
    settle_occurrence(api, planned, paid)
    path = f"planned_transactions/{planned['id']}"
    assert get_error(api.put(path, {"startDate": format_day(-2)})) == (409, "occurrence_settled")
    assert api.put(path, {"name": "Renamed"}).status_code == 200
    unsettle_occurrence(api, planned)
    assert api.put(path, {"startDate": format_day(-2)}).status_code == 200


def test_settlement_queries_do_not_grow_with_transactions(
    acme, api, plan_payment, create_payment, django_assert_num_queries
):
    for count in (1, 10):
        for _ in range(count):
            settle_occurrence(api, plan_payment(-3), create_payment(-3))
        with django_assert_num_queries(3):
            list_transaction_dicts(Transaction.objects.for_company(acme.id), company_id=acme.id)


def test_match_requires_near_date_and_amount_and_same_direction(api, plan_payment, create_payment):
    planned = plan_payment(-20)
    for days, amount in [(-31, "-100.00"), (-9, "-100.00"), (-20, "-110.01"), (-20, "-89.99"), (-20, "100.00")]:
        create_payment(days, amount)
    assert list_matches(api) == []
    late = create_payment(-10, "-110.00")
    assert list_matches(api) == [(planned["id"], format_day(-20), late["id"], "-10.00", 10)]
    near = create_payment(-19, "-90.00")
    assert list_matches(api) == [(planned["id"], format_day(-20), near["id"], "10.00", 1)]
    assert list_matches(api, -19, 0) == [], "the window is of occurrences"


def test_match_requires_account_of_plan_or_any_if_plan_has_none(api, acme, plan_payment, create_payment, make_account):
    plan_payment(-20)
    elsewhere = create_payment(-20, accountId=str(make_account(acme, name="Other").id))
    assert list_matches(api) == []
    anywhere = plan_payment(-20, accountId=None, amountCurrency="EUR")
    assert list_matches(api) == [(anywhere["id"], format_day(-20), elsewhere["id"], "0.00", 0)]


def test_settled_and_skipped_occurrences_are_not_matched(api, plan_payment, create_payment):
    settled, skipped = plan_payment(-20), plan_payment(-40)
    settle_occurrence(api, settled, create_payment(-20))
    api.put(f"planned_transactions/{skipped['id']}/overrides/{format_day(-40)}", {"skipped": True})
    create_payment(-40)
    create_payment(-15, pending=True)
    assert list_matches(api) == []
    plan_payment(-21)
    assert list_matches(api) == [], "the one transaction near it settles another"
    unsettle_occurrence(api, settled)
    assert len(list_matches(api)) == 1


def test_occurrence_is_matched_by_its_overridden_values(api, plan_payment, create_payment):
    planned = plan_payment(-50)
    moved = {"date": format_day(-5), "amountValue": "-300.00"}
    api.put(f"planned_transactions/{planned['id']}/overrides/{format_day(-50)}", moved)
    paid = create_payment(-4, "-310.00")
    (match,) = list_matches(api)
    assert match == (planned["id"], format_day(-50), paid["id"], "-10.00", 1)
    assert settle_occurrence(api, planned, paid, match[1]).status_code == 200, "a match is settled as it came"


def test_foreign_amount_matches_at_rate_of_the_day(api, plan_payment, create_payment):
    planned = plan_payment(-20, "-100.00", amountCurrency="USD")
    day = TODAY - timedelta(days=19)
    euros = round_half_up(
        convert_currency(Decimal(-95), source="USD", target="EUR", day=day, rates=get_rate_table()), "EUR"
    )
    create_payment(-19, f"{euros * 2}")
    assert list_matches(api) == []
    paid = create_payment(-19, f"{euros}")
    (match,) = list_matches(api)
    assert match[:3] == (planned["id"], format_day(-20), paid["id"])
    assert abs(Decimal(match[3]) - 5) <= Decimal("0.01"), "in the currency of the plan"


def test_matches_require_transaction_permission(make_api, acme, plan_payment, create_payment):
    plan_payment(-20)
    create_payment(-20)
    query = {"startDate": format_day(-30), "endDate": format_day(0)}
    for permissions, status in (("planning:read", 403), ("transactions:read", 403)):
        assert make_api(acme, permissions).post("planned_transactions/matches", query).status_code == status
    both = make_api(acme, "planning:read", "transactions:read")
    assert len(both.post("planned_transactions/matches", query).json()) == 1


def import_transactions(api: Any, account: Any, *rows: tuple[int, str], **values: Any) -> dict[str, Any]:
    """Imports transactions."""
    items = [
        {"accountId": str(account.id), "date": format_day(days), "amountValue": amount} | values
        for days, amount in rows
    ]
    answer = api.post("transactions/import", {"transactions": items})
    assert answer.status_code == 200, answer.content
    return answer.json()


def list_settled_days(api: Any) -> list[str]:
    return [each["date"] for each in list_due(api) if each["state"] == "paid"]


def test_import_settles_equal_amount_within_five_days(api, account, plan_payment):
    made = plan_payment(-20, autoSettle=True)
    assert made["autoSettle"] is True
    import_transactions(api, account, (-26, "-100.00"), (-14, "-100.00"), (-20, "-100.01"), (-20, "100.00"))
    assert list_settled_days(api) == []
    import_transactions(api, account, (-25, "-100.00"))
    assert list_settled_days(api) == [format_day(-20)]
    entry = AuditEntry.objects.get(action="plannedTransactions.settled")
    assert entry.after["settled"] == 1


def test_plans_settle_automatically_by_default(api, account, body):
    assert api.post("planned_transactions", body).json()["autoSettle"] is True
    plain = api.post("planned_transactions", body | {"autoSettle": False}).json()
    assert plain["autoSettle"] is False
    assert api.put(f"planned_transactions/{plain['id']}", {"name": "Other"}).json()["autoSettle"] is False
    assert api.put(f"planned_transactions/{plain['id']}", {"autoSettle": True}).json()["autoSettle"] is True


def test_plans_without_auto_settlement_wait(api, account, plan_payment):
    plan_payment(-20, autoSettle=False)
    import_transactions(api, account, (-20, "-100.00"))
    assert list_settled_days(api) == []
    assert len(list_matches(api)) == 1


def test_created_transaction_settles_and_returns_its_occurrence(api, plan_payment, create_payment):
    planned = plan_payment(-20, autoSettle=True)
    (settlement,) = create_payment(-18, "-100.00")["settlements"]
    assert settlement == {
        "plannedTransactionId": planned["id"], "date": format_day(-20), "amountValue": "-100.00",
    }  # fmt: skip


def test_imported_transactions_settle_nearest_occurrence_one_each(api, account, plan_payment):
    plan_payment(-30, autoSettle=True, recurrence={"frequency": "day", "interval": 7})
    import_transactions(api, account, (-30, "-100.00"), (-24, "-100.00"), (-24, "-100.00"), (-18, "-100.00"))
    assert list_settled_days(api) == [format_day(-30), format_day(-23), format_day(-16)]
    rows = [each["settlements"] for each in api.get("transactions").json()]
    assert rows.count([]) == 1


def test_import_settles_only_on_account_and_currency_of_plan(api, acme, account, plan_payment, make_account):
    plan_payment(-20, autoSettle=True)
    plan_payment(-20, autoSettle=True, amountCurrency="USD")
    import_transactions(api, make_account(acme, name="Other"), (-20, "-100.00"))
    assert list_settled_days(api) == []
    import_transactions(api, account, (-20, "-100.00"), amountCurrency="USD")
    assert [each["amountCurrency"] for each in list_due(api) if each["state"] == "paid"] == ["USD"]


def test_import_settles_overridden_occurrence_by_its_new_values(api, account, plan_payment):
    planned = plan_payment(-50, autoSettle=True)
    moved = {"date": format_day(-5), "amountValue": "-300.00", "name": "Late"}
    api.put(f"planned_transactions/{planned['id']}/overrides/{format_day(-50)}", moved)
    import_transactions(api, account, (-50, "-100.00"), (-6, "-300.00"))
    assert api.get(f"planned_transactions/{planned['id']}").json()["overrides"] == {format_day(-50): moved}
    assert list_settled_days(api) == [format_day(-5)]


def test_pending_and_dry_run_rows_settle_nothing(api, account, plan_payment):
    plan_payment(-20, autoSettle=True)
    import_transactions(api, account, (-20, "-100.00"), pending=True)
    items = [{"accountId": str(account.id), "date": format_day(-20), "amountValue": "-100.00"}]
    assert api.post("transactions/import", {"transactions": items, "dryRun": True}).json()["count"] == 1
    assert list_settled_days(api) == []


def test_import_undo_unsettles(api, account, plan_payment):
    plan_payment(-20, autoSettle=True)
    done = import_transactions(api, account, (-20, "-100.00"))
    assert list_states(api) == {format_day(-20): "paid"}
    assert api.delete(f"imports/{done['importId']}").json()["changedCount"] == 0, "by the import, and nobody since"
    assert list_states(api) == {format_day(-20): "overdue"}


def test_import_does_not_settle_plans_of_other_companies(globex_api, api, account, plan_payment):
    plan_payment(-20, autoSettle=True)
    theirs = globex_api.post("accounts", {"name": "Theirs", "type": "bank"}).json()
    row = {"accountId": theirs["id"], "date": format_day(-20), "amountValue": "-100.00"}
    assert globex_api.post("transactions/import", {"transactions": [row]}).json()["count"] == 1
    assert list_states(api) == {format_day(-20): "overdue"}


def test_imported_categorized_transaction_settles_plan_with_invoice_date(api, account, category, plan_payment):
    plan_payment(-20, autoSettle=True, invoiceDate="2024-02-15", externalData={"invoiceNumber": "R-2024"})
    texts = {"categoryId": str(category.id), "description": "R-2024"}
    import_transactions(api, account, (-20, "-100.00"), **texts)
    (row,) = api.get("transactions").json()
    assert [each["date"] for each in row["settlements"]] == [format_day(-20)]


def test_import_settlement_queries_do_not_grow_with_settlements(
    acme, api, account, plan_payment, django_assert_max_num_queries
):
    counted = []
    for count in (1, 20):
        for _ in range(count):
            plan_payment(-20, autoSettle=True)
        with django_assert_max_num_queries(60) as seen:
            import_transactions(api, account, *[(-20, "-100.00")] * count)
        counted.append(len(seen.captured_queries))
    assert len(list_settled_days(api)) == 21
    assert counted[0] == counted[1]
