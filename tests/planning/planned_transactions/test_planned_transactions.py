"""Planned transactions over HTTP: what is taken, what is refused, what is kept."""

from typing import Any

import pytest

from companies.models import AuditEntry
from ledger.models import AccountType
from planning.models import PlannedOverride, PlannedTransaction

pytestmark = pytest.mark.django_db

UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


def build_path(planned: dict[str, Any], more: str = "") -> str:
    return f"planned_transactions/{planned['id']}{more}"


def test_planned_transaction_is_returned_as_created(api, body, acme):
    made = api.post("planned_transactions", body)
    assert made.status_code == 201, made.content
    answer = made.json()
    assert made["Location"] == f"/companies/{acme.id}/planned_transactions/{answer['id']}"
    assert answer["amountCurrency"] == "EUR"
    assert answer["recurrence"] == {
        "frequency": "month",
        "interval": 1,
        "lastDayOfMonth": False,
        "end": {"type": "never", "date": None, "count": None},
    }
    assert answer["usingDateRule"] == {
        "type": "transactionDate",
        "startDate": None,
        "endDate": None,
        "invoiceDate": None,
    }
    assert answer["overrides"] == {}
    assert answer["source"] == "api"
    assert {answer[name] for name in ("categoryId", "counterparty", "externalId", "externalData")} == {None}
    read = api.get(build_path(answer))
    assert read.json() == answer
    assert api.get(build_path(answer), if_none_match=read["ETag"]).status_code == 304
    assert api.get("planned_transactions").json() == [answer]


def test_planned_transaction_stores_all_fields(api, body, category, acme, make_counterparty):
    vendor = make_counterparty(acme)
    sent = body | {
        "amountValue": "-1190.00",
        "amountCurrency": "USD",
        "passThroughTaxAmount": "-190.00",
        "categoryId": str(category.id),
        "counterparty": {"type": "vendor", "id": str(vendor.id)},
        "usingDateRule": {
            "type": "servicePeriod",
            "startDate": "2026-01-01",
            "endDate": "2026-12-31",
            "invoiceDate": "2026-01-15",
        },
        "recurrence": {
            "frequency": "year",
            "interval": 2,
            "lastDayOfMonth": True,
            "end": {"type": "count", "date": None, "count": 5},
        },
        "overrides": {"2026-01-31": {"skipped": True}, "2028-01-31": {"amountValue": "-1200.00", "name": "More rent"}},
        "externalId": "e",
        "externalSubscriptionId": "s",
        "externalInvoiceId": "i",
        "invoiceDate": "2026-01-15",
        "serviceStartDate": "2026-01-01",
        "serviceEndDate": "2026-12-31",
        "externalData": {
            "invoiceNumber": "R-1",
            "invoiceUrl": "https://example.com/R-1",
            "collectionMethod": "charge_automatically",
            "attempted": True,
            "attemptCount": 2,
            "nextPaymentAttemptDate": "2026-02-03",
            "dueDate": "2026-02-01",
        },
    }
    made = api.post("planned_transactions", sent)
    assert made.status_code == 201, made.content
    assert {name: made.json()[name] for name in sent} == sent
    assert api.get(build_path(made.json())).json() == made.json()


def test_planned_transaction_from_a_session_is_manual(sign_in_browser, alice, acme, body):
    assert sign_in_browser(alice, acme).post("planned_transactions", body).json()["source"] == "manual"


def test_source_cannot_be_set_by_client(api, body):
    made = api.post("planned_transactions", body | {"source": "manual", "nonsense": 1})
    assert made.json()["source"] == "api"
    assert made["Ignored-Fields"] == "nonsense"


def test_currency_defaults_to_account_currency(api, body, acme, make_account):
    yen = make_account(acme, default_currency="JPY")
    made = api.post("planned_transactions", body | {"accountId": str(yen.id), "amountValue": "5"}).json()
    assert (made["amountValue"], made["amountCurrency"]) == ("5", "JPY")


def test_currency_defaults_to_company_currency_without_account(api, body):
    made = api.post("planned_transactions", body | {"accountId": None})
    assert (made.status_code, made.json()["accountId"], made.json()["amountCurrency"]) == (201, None, "EUR")


INVALID_BODIES: list[tuple[dict[str, Any], str, str]] = [
    ({"accountId": ...}, "#/accountId", "required"),
    ({"name": ...}, "#/name", "required"),
    ({"startDate": ...}, "#/startDate", "required"),
    ({"amountValue": ...}, "#/amountValue", "required"),
    ({"accountId": UNKNOWN_ID}, "#/accountId", "unknown_id"),
    ({"accountId": "nope"}, "#/accountId", "unknown_id"),
    ({"categoryId": UNKNOWN_ID}, "#/categoryId", "unknown_id"),
    ({"counterparty": {"type": "vendor", "id": UNKNOWN_ID}}, "#/counterparty/id", "unknown_id"),
    ({"counterparty": {"type": "alien", "id": UNKNOWN_ID}}, "#/counterparty/type", "invalid_choice"),
    ({"counterparty": "Landlord"}, "#/counterparty", "invalid_value"),
    ({"name": None}, "#/name", "must_not_be_null"),
    ({"name": "x" * 301}, "#/name", "too_long"),
    ({"startDate": "2026-02-30"}, "#/startDate", "invalid_date"),
    ({"startDate": "31.01.2026"}, "#/startDate", "invalid_value"),
    ({"amountValue": -2400}, "#/amountValue", "invalid_decimal"),
    ({"amountValue": "1e3"}, "#/amountValue", "invalid_decimal"),
    ({"amountValue": "1234567890123456"}, "#/amountValue", "invalid_decimal"),
    ({"amountValue": "1.001"}, "#/amountValue", "too_many_decimals"),
    ({"amountValue": "1.50", "amountCurrency": "JPY"}, "#/amountValue", "too_many_decimals"),
    ({"amountCurrency": "XXX"}, "#/amountCurrency", "invalid_choice"),
    ({"passThroughTaxAmount": "1.00"}, "#/passThroughTaxAmount", "tax_exceeds_amount"),
    ({"passThroughTaxAmount": "-2400.01"}, "#/passThroughTaxAmount", "tax_exceeds_amount"),
    ({"passThroughTaxAmount": "x"}, "#/passThroughTaxAmount", "invalid_decimal"),
    ({"usingDateRule": {"type": "someday"}}, "#/usingDateRule/type", "invalid_choice"),
    ({"usingDateRule": {"type": "custom", "startDate": "2026-01-01"}}, "#/usingDateRule/endDate", "required"),
    (
        {"usingDateRule": {"type": "servicePeriod", "startDate": "2026-01-02", "endDate": "2026-01-01"}},
        "#/usingDateRule/endDate",
        "period_not_in_order",
    ),
    ({"recurrence": {}}, "#/recurrence/frequency", "required"),
    ({"recurrence": {"frequency": "hour"}}, "#/recurrence/frequency", "invalid_choice"),
    ({"recurrence": {"frequency": "day", "interval": 0}}, "#/recurrence/interval", "out_of_range"),
    ({"recurrence": {"frequency": "day", "interval": "1"}}, "#/recurrence/interval", "invalid_value"),
    (
        {"recurrence": {"frequency": "week", "lastDayOfMonth": True}},
        "#/recurrence/lastDayOfMonth",
        "last_day_needs_months",
    ),
    ({"recurrence": {"frequency": "day", "end": {"type": "date"}}}, "#/recurrence/end/date", "required"),
    ({"recurrence": {"frequency": "day", "end": {"type": "count"}}}, "#/recurrence/end/count", "required"),
    (
        {"recurrence": {"frequency": "day", "end": {"type": "count", "count": 0}}},
        "#/recurrence/end/count",
        "out_of_range",
    ),
    (
        {"recurrence": {"frequency": "day", "end": {"type": "never", "count": 3}}},
        "#/recurrence/end/count",
        "contradicts_end_type",
    ),
    (
        {"recurrence": {"frequency": "day", "end": {"type": "date", "date": "2026-01-30"}}},
        "#/recurrence/end/date",
        "end_before_start",
    ),
    ({"serviceStartDate": "2026-02-01", "serviceEndDate": "2026-01-01"}, "#/serviceEndDate", "period_not_in_order"),
    ({"serviceStartDate": "1899-12-31"}, "#/serviceStartDate", "out_of_range"),
    ({"serviceEndDate": "9999-12-31"}, "#/serviceEndDate", "out_of_range"),
    ({"externalData": {"attemptCount": "2"}}, "#/externalData/attemptCount", "invalid_value"),
    ({"externalData": []}, "#/externalData", "invalid_value"),
    ({"overrides": []}, "#/overrides", "invalid_value"),
    ({"overrides": {"soon": {}}}, "#/overrides/soon", "invalid_date"),
    ({"overrides": {"2026-02-01": {"skipped": True}}}, "#/overrides/2026-02-01", "not_an_occurrence"),
    ({"overrides": {"2026-01-31": {"skipped": "yes"}}}, "#/overrides/2026-01-31/skipped", "invalid_value"),
    (
        {"overrides": {"2026-01-31": {"amountValue": "1.234"}}},
        "#/overrides/2026-01-31/amountValue",
        "too_many_decimals",
    ),
    ({"overrides": {"2026-01-31": {"accountId": UNKNOWN_ID}}}, "#/overrides/2026-01-31/accountId", "unknown_id"),
    ({"overrides": {"2026-01-31": {"categoryId": UNKNOWN_ID}}}, "#/overrides/2026-01-31/categoryId", "unknown_id"),
]


def change_body(body: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """The body with the change; ... leaves a field out."""
    return {name: value for name, value in (body | change).items() if value is not ...}


def test_invalid_plan_is_rejected(api, body):
    for change, pointer, code in INVALID_BODIES:
        answer = api.post("planned_transactions", change_body(body, change))
        assert answer.status_code == 400, answer.content
        assert answer.json()["code"] == "validation_failed", change
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(pointer, code)], change
        assert not PlannedTransaction.objects.exists(), change
        assert not PlannedOverride.objects.exists(), change


def test_invalid_update_is_rejected_and_changes_nothing(api, rent):
    for change, pointer, code in [
        row for row in INVALID_BODIES if ... not in row[0].values() and row[1] != "#/recurrence/end"
    ]:
        answer = api.put(build_path(rent), change)
        assert answer.status_code == 400, answer.content
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(pointer, code)], change
        assert api.get(build_path(rent)).json() == rent, change


def test_all_validation_errors_are_returned_at_once(api, body):
    wrong = {"amountValue": "x", "accountId": UNKNOWN_ID, "recurrence": {"frequency": "week", "lastDayOfMonth": True}}
    answer = api.post("planned_transactions", body | wrong)
    assert {error["code"] for error in answer.json()["errors"]} == {
        "invalid_decimal",
        "unknown_id",
        "last_day_needs_months",
    }


def test_counterparty_type_must_match(api, body, acme, make_counterparty):
    vendor = make_counterparty(acme)
    answer = api.post("planned_transactions", body | {"counterparty": {"type": "customer", "id": str(vendor.id)}})
    assert [e["code"] for e in answer.json()["errors"]] == ["wrong_type"]
    assert not PlannedTransaction.objects.exists()


def test_update_keeps_fields_not_sent(api, rent):
    answer = api.put(build_path(rent), {"name": "Rent of the office"})
    assert answer.status_code == 200
    expected = rent | {"name": "Rent of the office", "lastUpdatedTime": answer.json()["lastUpdatedTime"]}
    assert answer.json() == expected


def test_planned_transaction_as_read_can_be_sent_back_unchanged(api, rent):
    api.put(build_path(rent, "/overrides/2026-02-28"), {"amountValue": "-1.00", "skipped": False})
    read = api.get(build_path(rent))
    entries = AuditEntry.objects.count()
    again = api.put(build_path(rent), read.json(), if_match=read["ETag"])
    assert again.status_code == 200
    assert again.json() == read.json()
    assert "Ignored-Fields" not in again
    assert again["ETag"] == read["ETag"]
    assert api.put(build_path(rent), {}).json() == read.json()
    assert AuditEntry.objects.count() == entries


def test_currency_not_fitting_the_amount_is_rejected(api, rent):
    api.put(build_path(rent), {"amountValue": "-2400"})
    answer = api.put(build_path(rent), {"amountCurrency": "JPY"})
    assert [e["code"] for e in answer.json()["errors"]] == ["too_many_decimals"]
    both = api.put(build_path(rent), {"amountCurrency": "JPY", "amountValue": "-2400"})
    assert (both.status_code, both.json()["amountValue"]) == (200, "-2400")


def test_null_recurrence_means_occurring_once(api, rent):
    assert api.put(build_path(rent), {"recurrence": None}).json()["recurrence"] is None
    window = {"startDate": "2026-01-01", "endDate": "2026-12-31"}
    assert [o["date"] for o in api.get(build_path(rent, "/occurrences"), window).json()] == ["2026-01-31"]


def test_deleting_planned_transaction_deletes_its_overrides(api, rent):
    api.put(build_path(rent, "/overrides/2026-02-28"), {"skipped": True})
    answer = api.delete(build_path(rent))
    assert (answer.status_code, answer.json()) == (200, {"success": True})
    assert api.get(build_path(rent)).status_code == 404
    assert not PlannedOverride.objects.exists()


def test_audit_log_records_changes_with_their_actor(api, rent):
    api.put(build_path(rent), {"name": "Other"})
    entry = AuditEntry.objects.get(action="plannedTransaction.updated")
    assert (entry.before["name"], entry.after["name"]) == ("Rent", "Other")
    assert entry.actor.startswith("apiKey:")


def test_deleting_account_keeps_planned_transaction(api, rent, account):
    assert api.delete(f"accounts/{account.id}").status_code == 200
    assert api.get(build_path(rent)).json()["accountId"] is None


def test_deleting_account_removes_override_with_only_that_account(api, rent, acme, make_account):
    other = make_account(acme, type=AccountType.CASH)
    api.put(build_path(rent, "/overrides/2026-02-28"), {"accountId": str(other.id)})
    assert api.delete(f"accounts/{other.id}").status_code == 200
    assert api.get(build_path(rent)).json()["overrides"] == {}


def test_planned_transaction_list_is_paged_with_constant_queries(api, body, django_assert_max_num_queries):
    made = [api.post("planned_transactions", body | {"name": f"n{i}"}).json() for i in range(5)]
    api.put(build_path(made[0], "/overrides/2026-01-31"), {"skipped": True})
    first = api.get("planned_transactions", {"limit": 3})
    link = first["Link"].split(";")[0].strip("<>")
    api.post("planned_transactions", body)
    rest = api.get(link)
    names = [row["name"] for row in first.json() + rest.json()]
    assert names == ["n4", "n3", "n2", "n1", "n0"]
    assert "Link" not in rest
    assert rest.json()[-1]["overrides"] == {"2026-01-31": {"skipped": True}}
    with django_assert_max_num_queries(3):  # the key, the page, its overrides
        api.get("planned_transactions")


@pytest.mark.parametrize("params", [{"limit": "0"}, {"limit": "x"}, {"cursor": "x"}, {"accountId": UNKNOWN_ID}])
def test_invalid_list_parameter_is_rejected(api, params):
    assert api.get("planned_transactions", params).status_code == 400
