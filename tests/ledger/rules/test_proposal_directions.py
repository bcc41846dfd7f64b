"""Suggestions of history respect the direction of money: what was received says little of what is paid."""

import re

import pytest

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("exact")]


@pytest.fixture
def learn(api, books, bank):
    """Books transactions with a name and categorizes them."""

    def categorize(name, category, amount, *, times=5, **values):
        ids = [books.book(bank, amount, **({"fromTo": name} | values))["id"] for _ in range(times)]
        body = {"selection": {"mode": "ids", "ids": ids}, "categoryId": books.category(category)}
        assert api.post("transactions/categorize", body).status_code == 200

    return categorize


@pytest.fixture
def propose(api, books, bank):
    """Books an open transaction and returns its proposals as (system key, confidence)."""

    def list_proposals(name, amount, **values):
        row = books.book(bank, amount, fromTo=name, **values)["id"]
        keys = {each["id"]: each["systemKey"] for each in api.get("categories").json()}
        proposals = api.post("transactions/proposals", {"transactionIds": [row]}).json()[row]
        return [(keys[each["categoryId"]], each["confidence"]) for each in proposals]

    return list_proposals


@pytest.mark.parametrize(
    ("category", "known", "waiting"),
    [("revenueRecurring", "2000.00", "-1190.00"), ("marketing", "-600.00", "995.00")],
)
def test_opposite_movements_are_never_applied_by_key_or_at_once(
    acme, editor, books, bank, learn, category, known, waiting
):
    learn("Heron Consulting", category, known, times=20)
    books.book(bank, waiting, fromTo="Heron Consulting")
    inbox = editor.get(f"/app/companies/{acme.id}/inbox").content.decode()
    assert f'value="{books.category(category)}:' in inbox
    assert "20 of 20 transactions with this name" in inbox
    assert not re.search(r'class="button small primary" type="submit"\s+name="category"', inbox)
    assert 'name="category" data-shortcut-key' not in inbox
    assert not re.search(r'name="category"\s+value="[^"]+"\s+data-shortcut-key', inbox)
    accept = editor.get(f"/app/companies/{acme.id}/inbox/accept", {"confidence": "50"})
    assert 'name="suggestion"' not in accept.content.decode()


def test_opposite_movements_have_at_most_even_odds(learn, propose):
    learn("Heron Consulting", "revenueRecurring", "2000.00", times=20)
    assert propose("Heron Consulting", "-1190.00") == [("revenueRecurring", 0.5)]
    ((category, confidence),) = propose("Heron Consulting", "2000.00")
    assert category == "revenueRecurring"
    assert confidence > 0.9


def test_choice_of_the_same_direction_comes_first(learn, propose):
    learn("Heron Consulting", "revenueRecurring", "2000.00", times=9)
    learn("Heron Consulting", "hosting", "-10.00", times=1)
    assert [key for key, _ in propose("Heron Consulting", "-2000.00")] == ["hosting", "revenueRecurring"]
    assert [key for key, _ in propose("Heron Consulting", "10.00")] == ["revenueRecurring", "hosting"]


def test_names_with_a_common_word_respect_the_direction(learn, propose):
    learn("Cobalt Security", "revenueRecurring", "300.00", times=9)
    learn("Granite Security", "hosting", "-300.00", times=1)
    assert [key for key, _ in propose("Basalt Security", "-530.00")] == ["hosting", "revenueRecurring"]
    assert [key for key, _ in propose("Basalt Security", "530.00")] == ["revenueRecurring", "hosting"]
    learn("Great Northern Railways Leeds Depot", "revenueRecurring", "300.00", times=20)
    ((_, opposite),) = propose("Great Northern Railways Leeds Depot York", "-530.00")
    ((_, same),) = propose("Great Northern Railways Leeds Depot York", "530.00")
    assert opposite == 0.5 < same


def test_direction_counts_for_counterparties_chosen_under_other_names(api, books, bank, propose):
    vendor = api.post("counterparties", {"type": "vendor", "name": "Nimbus"}).json()["id"]
    part = {
        "categoryId": books.category("hosting"),
        "plSplit": {"cogs": -10},
        "counterparty": {"type": "vendor", "id": vendor},
    }
    for number in range(5):
        books.split(books.book(bank, "-10.00", fromTo=f"NMB {number}")["id"], part)
    ((_, same),) = propose("Nimbus", "-10.00")
    ((_, opposite),) = propose("Nimbus", "10.00")
    assert same > 0.5 >= opposite


def test_history_never_assigns_the_category_of_opposite_movements(api, books, bank, learn):
    learn("Heron Consulting", "revenueRecurring", "2000.00", times=20)
    assert api.put("", {"autoCategorize": True}).status_code == 200
    assert books.book(bank, "-1190.00", fromTo="Heron Consulting")["categorizations"] == {}
    assert books.book(bank, "1190.00", fromTo="Heron Consulting")["categorizations"]
