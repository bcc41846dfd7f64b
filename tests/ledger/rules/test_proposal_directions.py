"""Suggestions of history respect the direction of money: what was received says little of what is paid."""

import re

import pytest

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


@pytest.fixture
def create_history(api, books, bank):
    """Create transactions with a name and categorize them."""

    def create(name, category, amount, *, times=5, **values):
        row = {"amountValue": amount, "fromTo": name} | values
        ids = books.import_transactions(bank, *([row] * times))
        body = {"selection": {"mode": "ids", "ids": ids}, "categoryId": books.get_category_id(category)}
        assert api.post("transactions/categorize", body).status_code == 200

    return create


@pytest.fixture
def list_proposals(api, books, bank):
    """Create an uncategorized transaction; return its proposals as (system key, confidence)."""

    def list_proposals(name, amount, **values):
        row = books.create_transaction(bank, amount, fromTo=name, **values)["id"]
        keys = {each["id"]: each["systemKey"] for each in api.get("categories").json()}
        proposals = api.post("transactions/proposals", {"transactionIds": [row]}).json()[row]
        return [(keys[each["categoryId"]], each["confidence"]) for each in proposals]

    return list_proposals


@pytest.mark.parametrize(
    ("category", "known", "waiting"),
    [("revenueRecurring", "2000.00", "-1190.00"), ("marketing", "-600.00", "995.00")],
)
def test_opposite_movements_are_never_applied_by_key_or_at_once(
    acme, editor, books, bank, create_history, category, known, waiting
):
    create_history("Heron Consulting", category, known, times=20)
    books.create_transaction(bank, waiting, fromTo="Heron Consulting")
    inbox = editor.get(f"/app/companies/{acme.id}/inbox").content.decode()
    assert f'value="{books.get_category_id(category)}:' in inbox
    assert "20 of 20 transactions with this name" in inbox
    assert not re.search(r'class="button small primary" type="submit"\s+name="category"', inbox)
    assert 'name="category" data-shortcut-key' not in inbox
    assert not re.search(r'name="category"\s+value="[^"]+"\s+data-shortcut-key', inbox)
    accept = editor.get(f"/app/companies/{acme.id}/inbox/accept", {"confidence": "50"})
    assert 'name="suggestion"' not in accept.content.decode()


def test_opposite_movements_have_at_most_even_odds(create_history, list_proposals):
    create_history("Heron Consulting", "revenueRecurring", "2000.00", times=20)
    assert list_proposals("Heron Consulting", "-1190.00") == [("revenueRecurring", 0.5)]
    ((category, confidence),) = list_proposals("Heron Consulting", "2000.00")
    assert category == "revenueRecurring"
    assert confidence > 0.9


def test_choice_of_the_same_direction_comes_first(create_history, list_proposals):
    create_history("Heron Consulting", "revenueRecurring", "2000.00", times=9)
    create_history("Heron Consulting", "hosting", "-10.00", times=1)
    assert [key for key, _ in list_proposals("Heron Consulting", "-2000.00")] == ["hosting", "revenueRecurring"]
    assert [key for key, _ in list_proposals("Heron Consulting", "10.00")] == ["revenueRecurring", "hosting"]


def test_names_with_a_common_word_respect_the_direction(create_history, list_proposals):
    create_history("Cobalt Security", "revenueRecurring", "300.00", times=9)
    create_history("Granite Security", "hosting", "-300.00", times=1)
    assert [key for key, _ in list_proposals("Basalt Security", "-530.00")] == ["hosting", "revenueRecurring"]
    assert [key for key, _ in list_proposals("Basalt Security", "530.00")] == ["revenueRecurring", "hosting"]
    create_history("Great Northern Railways Leeds Depot", "revenueRecurring", "300.00", times=20)
    ((_, opposite),) = list_proposals("Great Northern Railways Leeds Depot York", "-530.00")
    ((_, same),) = list_proposals("Great Northern Railways Leeds Depot York", "530.00")
    assert opposite == 0.5 < same


def test_direction_counts_for_counterparties_chosen_under_other_names(api, books, bank, list_proposals):
    vendor = api.post("counterparties", {"type": "vendor", "name": "Nimbus"}).json()["id"]
    part = {
        "categoryId": books.get_category_id("hosting"),
        "plSplit": {"cogs": -10},
        "counterparty": {"type": "vendor", "id": vendor},
    }
    for number in range(5):
        books.set_categorizations(books.create_transaction(bank, "-10.00", fromTo=f"NMB {number}")["id"], part)
    ((_, same),) = list_proposals("Nimbus", "-10.00")
    ((_, opposite),) = list_proposals("Nimbus", "10.00")
    assert same > 0.5 >= opposite


def test_history_never_assigns_the_category_of_opposite_movements(api, books, bank, create_history):
    create_history("Heron Consulting", "revenueRecurring", "2000.00", times=20)
    assert api.put("", {"autoCategorize": True}).status_code == 200
    assert books.create_transaction(bank, "-1190.00", fromTo="Heron Consulting")["categorizations"] == {}
    assert books.create_transaction(bank, "1190.00", fromTo="Heron Consulting")["categorizations"]
