"""Values in the audit log: labels instead of codes, amounts and percentages as pages write them."""

import pytest
from django.utils import timezone

from companies.models import AuditEntry
from tests.change_tables import list_changes

pytestmark = pytest.mark.django_db


@pytest.fixture
def list_changed_fields(owner, acme):
    """Return the fields of the latest change that matches a filter."""

    def list_changed_fields(**query):
        return list_changes(owner.get(f"/app/companies/{acme.id}/settings/activity", query))[0].fields

    return list_changed_fields


@pytest.fixture
def account(api):
    return api.post("accounts", {"name": "Main", "type": "bank", "defaultCurrency": "USD"}).json()["id"]


@pytest.fixture
def hosting(api):
    return api.get_category_id("hosting")


def test_rules_have_labels_amounts_and_percentages(api, hosting, list_changed_fields):
    action = {
        "categoryId": hosting, "passThroughTaxPercent": 19, "usingDateRule": {"type": "previousMonth"},
        "splits": [{"categoryId": hosting, "percent": 25}],
    }  # fmt: skip
    rule = api.post("categorization_rules", {"name": "r", "conditions": {"minAmount": "1.5"}, "action": action})
    assert rule.status_code == 201, rule.content
    fields = list_changed_fields(thing=rule.json()["id"])
    assert fields["Minimum amount"] == ("—", "1.50")
    assert fields["Pass-through tax rate"] == ("—", "19%")
    assert fields["Date rule"] == ("—", "Previous month")
    assert fields["Splits"] == ("—", "share 25%, P&L line Cost of revenue, category Hosting")


def test_planned_transactions_have_labels(api, account, hosting, list_changed_fields):
    body = {
        "accountId": account, "name": "Cloud", "startDate": "2026-02-10", "amountValue": "-5.00", "categoryId": hosting,
        "plType": "cogs", "frequency": "monthly", "weekendShift": "after", "settledBy": "category",
    }  # fmt: skip
    planned = api.post("planned_transactions", body)
    assert planned.status_code == 201, planned.content
    fields = list_changed_fields(thing=planned.json()["id"])
    assert fields["Settled by"] == ("—", "All transactions in its category that month")
    assert fields["Weekend"] == ("—", "Pay on the Monday after")


def test_changed_amounts_have_their_currency(api, account, hosting, list_changed_fields):
    opening = f"accounts/{account}/initial_balance"
    made = api.put(opening, {"date": "2026-01-01", "amountValue": "5.00"})
    assert made.status_code == 200, made.content
    assert api.put(opening, {"date": "2026-01-01", "amountValue": "7.00"}).status_code == 200
    assert list_changed_fields(kind="initialBalance")["Amount"] == ("$5.00", "$7.00")
    item = {"month": "2026-03", "plType": "cogs", "categoryId": hosting, "frequency": 1}
    amount = {"type": "fixed", "amount": {"value": 7, "currency": "EUR"}}
    planned = api.post("plan_items", item | {"amount": amount})
    assert planned.status_code == 201, planned.content
    changed = item | {"amount": {"type": "fixed", "amount": {"value": 8, "currency": "EUR"}}}
    assert api.put(f"plan_items/{planned.json()['id']}", changed).status_code == 200
    assert list_changed_fields(thing=planned.json()["id"])["Amount"] == ("€7.00", "€8.00")


def test_products_and_import_settings_have_labels(api, account, list_changed_fields):
    product = api.post("products", {"name": "Pro", "externalIds": ["p1", "p2"]})
    assert product.status_code == 201, product.content
    assert list_changed_fields(thing=product.json()["id"])["External IDs"] == ("—", "p1, p2")
    settings = {"csv": {"dateOrder": "dayFirst", "decimalMark": "comma", "skipAbove": 2}}
    assert api.put(f"accounts/{account}", {"importSettings": settings}).status_code == 200
    text = list_changed_fields(thing=account)["Import settings"][1]
    assert "Date format Day first: 31.01.2026" in text
    assert "Decimal mark Comma: 1.234,56" in text
    assert "Lines before the headings 2" in text


def test_codes_and_labels_are_translated(api, account, alice, hosting, list_changed_fields):
    alice.locale = "de"
    alice.save()
    body = {
        "accountId": account, "name": "Cloud", "startDate": "2026-02-10", "amountValue": "-5.00", "categoryId": hosting,
        "plType": "cogs", "frequency": "monthly", "weekendShift": "before",
    }  # fmt: skip
    planned = api.post("planned_transactions", body)
    assert planned.status_code == 201, planned.content
    fields = list_changed_fields(thing=planned.json()["id"])
    assert fields["Wochenende"] == ("—", "Am Freitag davor zahlen")
    assert fields["Ausgeglichen durch"] == ("—", "Eine Buchung")
    assert fields["Datumsregel"] == ("—", "Buchungsdatum")


def test_digests_and_storage_paths_are_hidden(acme, owner, list_changed_fields):
    for action, column, value in (
        ("closing.closed", "digest", "ab" * 32),
        ("company.updated", "custom_logo_path", "logos/1"),
    ):
        AuditEntry.objects.create(
            company=acme, time=timezone.now(), actor=None, action=action, entity_type=action.partition(".")[0],
            entity_id=str(acme.id), before={column: None, "name": "a"}, after={column: value, "name": "b"},
        )  # fmt: skip
        assert list_changed_fields(thing=str(acme.id)) == {"Name": ("a", "b")}
