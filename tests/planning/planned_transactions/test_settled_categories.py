"""What settles a plan gets the plan's category, unless somebody said something else."""

import re

import pytest

from tests.ledger.conftest import get_page_text
from tests.planning.planned_transactions.test_settlements import (
    create_payment,
    format_day,
    plan_payment,
    settle_occurrence,
    unsettle_occurrence,
)

__all__ = ["create_payment", "plan_payment"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def rent(api):
    return api.post("categories", {"name": "Rent", "plTypes": ["ga"]}).json()["id"]


def get_categories(api, transaction):
    body = api.get(f"transactions/{transaction['id']}").json()
    categorized = [
        (each["categoryId"], each["plSplit"]["ga"], each["sourceNote"]) for each in body["categorizations"].values()
    ]
    return categorized, body["categorizationsAutoAssigned"]


def test_settling_assigns_category_of_plan_until_unsettled(api, plan_payment, create_payment, rent):
    planned, paid = plan_payment(0, categoryId=rent), create_payment(-1, "-95.00")
    assert settle_occurrence(api, planned, paid).status_code == 200
    assert get_categories(api, paid) == ([(rent, -95, "plan")], True)
    assert unsettle_occurrence(api, planned).status_code == 200
    assert get_categories(api, paid) == ([], False)


def test_settling_keeps_what_a_person_said(api, plan_payment, create_payment, rent):
    other = api.post("categories", {"name": "Other", "plTypes": ["ga"]}).json()["id"]
    planned, paid = plan_payment(0, categoryId=rent), create_payment(-1)
    selection = {"mode": "ids", "ids": [paid["id"]]}
    api.post("transactions/categorize", {"selection": selection, "categoryId": other})
    assert settle_occurrence(api, planned, paid).status_code == 200
    assert get_categories(api, paid) == ([(other, -100, None)], False)
    unsettle_occurrence(api, planned)
    assert get_categories(api, paid) == ([(other, -100, None)], False)


def test_unsettling_keeps_category_that_was_changed_since(api, plan_payment, create_payment, rent):
    other = api.post("categories", {"name": "Other", "plTypes": ["ga"]}).json()["id"]
    planned, paid = plan_payment(0, categoryId=rent), create_payment(-1)
    settle_occurrence(api, planned, paid)
    selection = {"mode": "ids", "ids": [paid["id"]]}
    api.post("transactions/categorize", {"selection": selection, "categoryId": other})
    unsettle_occurrence(api, planned)
    assert get_categories(api, paid) == ([(other, -100, None)], False)


def test_split_that_a_person_edits_is_no_longer_that_of_the_plan(
    api, plan_payment, create_payment, rent, sign_in_browser, alice, acme
):
    client, paid = sign_in_browser(alice, acme).client, create_payment(-1)
    settle_occurrence(api, plan_payment(0, categoryId=rent), paid)
    address = f"/app/companies/{acme.id}/transactions/{paid['id']}"
    assert "Categorized by: A planned transaction" in get_page_text(client.get(address))
    form = client.get(f"{address}/split").content.decode()
    assert 'name="note-0" value=""' in form
    (key,) = re.findall(r'name="key-0" value="([^"]+)"', form)
    row = {"key-0": key, "category-0": f"{rent}:ga", "amount-0": "-60", "rule-0": "transactionDate", "note-0": ""}
    assert client.post(f"{address}/split", row).status_code == 303
    assert get_categories(api, paid) == ([(rent, -60, None)], False)
    assert "Categorized by" not in get_page_text(client.get(address))


def test_page_names_no_assigner_where_a_person_kept_its_note(
    api, plan_payment, create_payment, rent, sign_in_browser, alice, acme
):
    client, paid = sign_in_browser(alice, acme).client, create_payment(-1)
    settle_occurrence(api, plan_payment(0, categoryId=rent), paid)
    (key,) = api.get(f"transactions/{paid['id']}").json()["categorizations"]
    part = {"categoryId": rent, "plSplit": {"ga": -60}, "sourceNote": "plan"}
    answer = api.put(f"transactions/{paid['id']}/categorizations", {"categorizations": {key: part}})
    assert answer.status_code == 200, answer.content
    shown = client.get(f"/app/companies/{acme.id}/transactions/{paid['id']}")
    assert "Categorized by" not in get_page_text(shown)
    assert not re.search(r">\s*plan\s*<", shown.content.decode())


def test_automatic_settlement_assigns_category_of_plan(api, plan_payment, create_payment, rent):
    planned = plan_payment(0, categoryId=rent, autoSettle=True)
    paid = create_payment(-1)
    (settlement,) = paid["settlements"]
    assert (settlement["plannedTransactionId"], settlement["date"]) == (planned["id"], format_day(0))
    assert paid["categorizationsAutoAssigned"] is True
    assert get_categories(api, paid) == ([(rent, -100, "plan")], True)


def test_settling_leaves_category_with_several_lines_to_a_person(api, plan_payment, create_payment):
    several = api.post("categories", {"name": "Several", "plTypes": ["ga", "pd"]}).json()["id"]
    paid = create_payment(-1)
    assert settle_occurrence(api, plan_payment(0, categoryId=several), paid).status_code == 200
    assert get_categories(api, paid) == ([], False)


def test_list_finds_transactions_categorized_by_a_plan(api, plan_payment, create_payment, rent):
    paid = create_payment(-1)
    create_payment(-2, "-7.00")
    settle_occurrence(api, plan_payment(0, categoryId=rent), paid)
    assert [each["id"] for each in api.get("transactions", {"assignedBy": "plan"}).json()] == [paid["id"]]
