"""Occurrences and what differs about single ones, over HTTP."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from companies.change import change_company
from companies.models import AuditEntry
from ledger.models import Categorization
from ledger.transactions.actions.transactions import delete_transaction_rows
from planning.models import PlannedOverride, PlannedTransaction

pytestmark = pytest.mark.django_db

UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


def build_path(planned: dict[str, Any], more: str = "") -> str:
    return f"planned_transactions/{planned['id']}{more}"


def list_occurrences(api: Any, planned: dict[str, Any], start: str, end: str) -> list[dict[str, Any]]:
    answer = api.get(build_path(planned, "/occurrences"), {"startDate": start, "endDate": end})
    assert answer.status_code == 200, answer.content
    return answer.json()


def list_occurrence_dates(api: Any, planned: dict[str, Any], start: str, end: str) -> list[str]:
    return [occurrence["date"] for occurrence in list_occurrences(api, planned, start, end)]


def put_override(api: Any, planned: dict[str, Any], day: str, **patch: Any) -> Any:
    return api.put(build_path(planned, f"/overrides/{day}"), patch)


def test_last_day_rule_starts_on_last_day_of_first_month(api, body):
    made = api.post(
        "planned_transactions",
        body | {"startDate": "2026-01-15", "recurrence": {"frequency": "month", "lastDayOfMonth": True}},
    )
    assert list_occurrence_dates(api, made.json(), "2026-01-01", "2026-03-31") == [
        "2026-01-31",
        "2026-02-28",
        "2026-03-31",
    ]


@pytest.mark.parametrize(
    ("end", "last"),
    [
        ({"type": "date", "date": "2026-03-31"}, "2026-03-31"),
        ({"type": "date", "date": "2026-03-30"}, "2026-02-28"),
        ({"type": "count", "count": 2}, "2026-02-28"),
    ],
)
def test_last_occurrence_respects_end_date_and_count(api, body, end, last):
    made = api.post("planned_transactions", body | {"recurrence": {"frequency": "month", "end": end}}).json()
    assert list_occurrence_dates(api, made, "2026-01-01", "2026-12-31")[-1] == last


def test_occurrence_is_returned_with_its_overrides(api, rent, category):
    answer = put_override(
        api,
        rent,
        "2026-01-31",
        date="2026-02-02",
        amountValue="-2500.5",
        name="Rent, late",
        categoryId=str(category.id),
    )
    assert answer.json()["overrides"] == {
        "2026-01-31": {
            "date": "2026-02-02",
            "amountValue": "-2500.50",
            "name": "Rent, late",
            "categoryId": str(category.id),
        }
    }
    nothing = {
        "basis": "startDate",
        "settledAmountValue": "0.00",
        "writtenOffAmountValue": "0.00",
        "settlements": [],
        "transactionId": None,
        "state": "overdue",
    }
    plain = {"accountId": rent["accountId"], "amountCurrency": "EUR"}
    assert list_occurrences(api, rent, "2026-02-01", "2026-02-28") == [
        {
            "date": "2026-02-02",
            "originalDate": "2026-01-31",
            "name": "Rent, late",
            "categoryId": str(category.id),
            "amountValue": "-2500.50",
            "openAmountValue": "-2500.50",
            "overridden": True,
            **plain,
            **nothing,
            "expectedDate": "2026-02-02",
            "basis": "person",
        },
        {
            "date": "2026-02-28",
            "expectedDate": "2026-02-28",
            "originalDate": "2026-02-28",
            "name": "Rent",
            "categoryId": None,
            "amountValue": "-2400.00",
            "openAmountValue": "-2400.00",
            "overridden": False,
            **plain,
            **nothing,
        },
    ]
    assert list_occurrence_dates(api, rent, "2026-01-01", "2026-01-31") == []


def test_override_update_changes_only_sent_fields(api, rent):
    put_override(api, rent, "2026-01-31", amountValue="-1.00", name="One")
    both = {"2026-01-31": {"amountValue": "-1.00", "name": "Two"}}
    changed = put_override(api, rent, "2026-01-31", name="Two").json()
    assert changed["overrides"] == both
    assert put_override(api, rent, "2026-01-31").json() == changed
    assert put_override(api, rent, "2026-01-31", name=None).json()["overrides"] == {
        "2026-01-31": {"amountValue": "-1.00"}
    }
    entry = AuditEntry.objects.filter(action="plannedTransaction.overridden").latest("time")
    assert entry.before == {"2026-01-31": {"amount_value": "-1.0000", "name": "Two"}}
    assert entry.after == {"2026-01-31": {"amount_value": "-1.0000"}}


def test_null_values_remove_fields_and_empty_override_is_deleted(api, rent):
    answer = put_override(api, rent, "2026-01-31", amountValue="-1.00", name=None)
    assert answer.json()["overrides"] == {"2026-01-31": {"amountValue": "-1.00"}}
    assert put_override(api, rent, "2026-01-31", amountValue=None).json()["overrides"] == {}
    assert not PlannedOverride.objects.exists()


def test_override_can_be_deleted(api, rent):
    put_override(api, rent, "2026-02-28", skipped=True)
    answer = api.delete(build_path(rent, "/overrides/2026-02-28"))
    assert (answer.status_code, answer.json()["overrides"]) == (200, {})
    assert list_occurrence_dates(api, rent, "2026-02-01", "2026-02-28") == ["2026-02-28"]
    assert api.delete(build_path(rent, "/overrides/2026-02-28")).status_code == 404


@pytest.mark.parametrize("day", ["2026-02-01", "2025-12-31", "2026-01-30"])
def test_override_of_date_without_occurrence_is_rejected(api, rent, day):
    answer = put_override(api, rent, day, skipped=True)
    assert (answer.status_code, answer.json()["code"]) == (400, "not_an_occurrence")
    assert api.get(build_path(rent)).json() == rent


@pytest.mark.parametrize("day", ["2026-02-30", "soon", "20260131"])
def test_invalid_date_in_the_path_is_not_found(api, rent, day):
    assert put_override(api, rent, day, skipped=True).status_code == 404


def test_invalid_override_is_rejected_and_not_stored(api, rent):
    for patch, pointer, code in [
        ({"skipped": 1}, "#/skipped", "invalid_value"),
        ({"date": "soon"}, "#/date", "invalid_value"),
        ({"amountValue": 1}, "#/amountValue", "invalid_decimal"),
        ({"amountValue": "1.001"}, "#/amountValue", "too_many_decimals"),
        ({"accountId": UNKNOWN_ID}, "#/accountId", "unknown_id"),
        ({"categoryId": "x"}, "#/categoryId", "unknown_id"),
        ({"name": ""}, "#/name", "blank"),
    ]:
        answer = put_override(api, rent, "2026-01-31", **patch)
        assert answer.status_code == 400, answer.content
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(pointer, code)], patch
        assert not PlannedOverride.objects.exists(), patch


def test_stale_override_has_no_effect_and_can_be_sent_back_or_deleted(api, rent):
    put_override(api, rent, "2026-02-28", amountValue="-1.00")
    moved = api.put(build_path(rent), {"startDate": "2026-01-15"})
    assert moved.status_code == 200
    assert moved.json()["overrides"] == {"2026-02-28": {"amountValue": "-1.00"}}
    assert list_occurrence_dates(api, rent, "2026-02-01", "2026-02-28") == ["2026-02-15"]
    assert api.put(build_path(rent), moved.json()).status_code == 200
    changed = {"2026-02-28": {"amountValue": "-2.00"}}
    refused = api.put(build_path(rent), {"overrides": changed})
    assert [e["code"] for e in refused.json()["errors"]] == ["not_an_occurrence"]
    assert api.delete(build_path(rent, "/overrides/2026-02-28")).json()["overrides"] == {}


def test_overrides_update_replaces_all_overrides(api, rent):
    put_override(api, rent, "2026-01-31", skipped=True)
    answer = api.put(build_path(rent), {"overrides": {"2026-02-28": {"name": "Two"}, "2026-03-31": None}})
    assert answer.json()["overrides"] == {"2026-02-28": {"name": "Two"}}
    assert answer.json()["lastUpdatedTime"] > rent["lastUpdatedTime"]
    entry = AuditEntry.objects.filter(action="plannedTransaction.updated").latest("time")
    assert entry.before["overrides"] == {"2026-01-31": {"skipped": True}}


def settle(api: Any, planned: dict[str, Any], day: str, transaction: Any) -> None:
    answer = api.post(build_path(planned, "/settle"), {"date": day, "transactionId": str(transaction.id)})
    assert answer.status_code == 200, answer.content


def test_deleting_transaction_unsettles_and_keeps_other_overrides(
    api, acme, audit_context, rent, account, make_transaction
):
    paid, bare = make_transaction(account), make_transaction(account)
    put_override(api, rent, "2026-01-31", name="Paid")
    settle(api, rent, "2026-01-31", paid)
    settle(api, rent, "2026-02-28", bare)
    with change_company(acme, context=audit_context) as change:
        delete_transaction_rows(change, [paid.id, bare.id])
    assert PlannedTransaction.objects.get().last_updated_time == audit_context.time
    assert PlannedOverride.objects.count() == 1
    assert api.get(build_path(rent)).json()["overrides"] == {"2026-01-31": {"name": "Paid"}}
    (first, second) = list_occurrences(api, rent, "2026-01-01", "2026-02-28")
    assert (first["settlements"], first["overridden"]) == ([], True)
    assert (second["settlements"], second["overridden"]) == ([], False)
    assert put_override(api, rent, "2026-02-28", skipped=True).status_code == 200


def test_settling_transaction_cannot_be_deleted_in_database(api, rent, account, make_transaction):
    paid = make_transaction(account)
    settle(api, rent, "2026-01-31", paid)
    with pytest.raises(IntegrityError), transaction.atomic():
        paid.delete()


def test_settled_occurrence_counts_by_the_planned_service_period(
    api, rent, account, acme, make_transaction, make_category
):
    """A part by invoiceDate follows the plan that its transaction settles, from settling to deleting it."""
    paid = make_transaction(account)
    Categorization.objects.create(
        company=acme,
        transaction=paid,
        category=make_category(acme),
        rule="invoiceDate",
        computed_start_date=paid.date,
        computed_end_date=paid.date,
        ga=-10,
        value=-10,
    )

    def counts_on() -> str:
        return str(Categorization.objects.get().computed_start_date)

    api.put(build_path(rent), {"invoiceDate": "2025-12-15"})
    settle(api, rent, "2026-01-31", paid)
    assert counts_on() == "2025-12-15"
    api.put(build_path(rent), {"invoiceDate": "2025-11-15"})
    assert counts_on() == "2025-11-15"
    assert api.post(build_path(rent, "/unsettle"), {"date": "2026-01-31"}).status_code == 200
    assert counts_on() == "2026-01-31"
    settle(api, rent, "2026-01-31", paid)
    assert counts_on() == "2025-11-15"
    api.put(build_path(rent), {"invoiceDate": None})
    assert counts_on() == "2026-01-31"
    api.put(build_path(rent), {"invoiceDate": "2025-12-15"})
    assert counts_on() == "2025-12-15"
    assert api.delete(build_path(rent)).status_code == 200
    assert counts_on() == "2026-01-31"


def test_invalid_occurrence_window_is_rejected(api, rent):
    for params, pointer, code in [
        ({}, "#/startDate", "required"),
        ({"startDate": "2026-01-01"}, "#/endDate", "required"),
        ({"startDate": "x", "endDate": "2026-01-01"}, "#/startDate", "invalid_value"),
        ({"startDate": "2026-01-02", "endDate": "2026-01-01"}, "#/endDate", "end_before_start"),
        ({"startDate": "2026-01-01", "endDate": "2036-01-02"}, "#/endDate", "window_too_long"),
        ({"startDate": "2026-01-01", "endDate": "2026-01-02", "limit": "5"}, "#/limit", "unknown_parameter"),
    ]:
        answer = api.get(build_path(rent, "/occurrences"), params)
        assert answer.status_code == 400, params
        errors = answer.json()["errors"]
        assert (errors[0]["pointer"], errors[0]["code"]) == (pointer, code), params


def test_occurrence_window_may_span_ten_years_up_to_calendar_end(api, rent):
    assert len(list_occurrence_dates(api, rent, "2026-01-01", "2036-01-01")) == 120
    assert list_occurrence_dates(api, rent, "9999-11-01", "9999-12-31") == ["9999-11-30", "9999-12-31"]


def test_occurrence_queries_do_not_grow_with_occurrences(api, rent, django_assert_num_queries):
    with django_assert_num_queries(4):  # the key, the rule, its overrides and settlements
        list_occurrences(api, rent, "2026-01-01", "2035-12-31")


RULES = st.fixed_dictionaries(
    {
        "startDate": st.dates(date(2024, 1, 1), date(2026, 12, 31)).map(str),
        "recurrence": st.none()
        | st.one_of(
            st.fixed_dictionaries(
                {"frequency": st.sampled_from(["month", "year"]), "interval": st.integers(1, 7)},
                optional={"lastDayOfMonth": st.booleans()},
            ),
            st.fixed_dictionaries({"frequency": st.sampled_from(["day", "week"]), "interval": st.integers(1, 40)}),
        ),
    }
)


@settings(max_examples=12)
@given(rule=RULES, start=st.dates(date(2024, 1, 1), date(2026, 1, 1)), data=st.data())
def test_occurrences_of_adjacent_windows_equal_their_union(api, body, rule, start, data):
    planned = api.post("planned_transactions", body | rule).json()
    end = start + timedelta(days=700)
    named = list_occurrences(api, planned, "2024-01-01", "2028-01-01")
    for occurrence in data.draw(st.lists(st.sampled_from(named), max_size=4, unique_by=str)) if named else []:
        moved = date.fromisoformat(occurrence["date"]) + timedelta(days=data.draw(st.integers(-60, 60)))
        patch = data.draw(st.sampled_from([{"skipped": True}, {"date": str(moved)}, {"amountValue": "-1.00"}]))
        assert put_override(api, planned, occurrence["originalDate"], **patch).status_code == 200
    cut = start + timedelta(days=data.draw(st.integers(0, 699)))
    before = list_occurrences(api, planned, str(start), str(cut))
    after = list_occurrences(api, planned, str(cut + timedelta(days=1)), str(end))
    assert before + after == list_occurrences(api, planned, str(start), str(end))
