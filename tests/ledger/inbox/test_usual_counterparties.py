"""A category chosen from the list of the inbox comes with the counterparty that the suggestion would set."""

import re

import pytest

pytestmark = pytest.mark.django_db


@pytest.fixture
def accept_category(sign_in_browser, alice, acme):
    """Accept a category from the list for a transaction in the inbox."""
    client = sign_in_browser(alice, acme).client

    def accept(transaction_id, category, **values):
        body = {"act": "accept", "id": transaction_id, "category": category} | values
        answer = client.post(f"/app/companies/{acme.id}/inbox", body)
        assert answer.status_code == 303, answer.content

    accept.client, accept.address = client, f"/app/companies/{acme.id}/inbox"
    return accept


@pytest.fixture
def create_counterparty(api):
    def create(name, kind="customer"):
        return api.post("counterparties", {"type": kind, "name": name}).json()["id"]

    return create


@pytest.fixture
def revenue_choice(books):
    return f"{books.get_category_id('revenueRecurring')}:revenue"


def split_wholly(books, row, category, pl_type, amount, counterparty):
    party = {"type": "customer", "id": counterparty}
    books.set_categorizations(row, {"categoryId": category, "plSplit": {pl_type: amount}, "counterparty": party})


def get_party(books, row):
    (part,) = books.list_categorizations(row)
    return part["counterparty"] and part["counterparty"]["id"]


def test_list_and_suggestion_set_the_same_counterparty(
    books, bank, accept_category, create_counterparty, revenue_choice
):
    customer = create_counterparty("Heron Consulting GmbH")
    for _ in range(3):
        known = books.create_transaction(bank, "500.00", fromTo="HERON CONSULTING")["id"]
        split_wholly(books, known, books.get_category_id("revenueRecurring"), "revenue", 500, customer)
    pressed, chosen, other = (
        books.create_transaction(bank, "500.00", fromTo="Heron Consulting")["id"] for _ in range(3)
    )
    inbox = accept_category.client.get(accept_category.address).content.decode()
    suggested = re.search(r'name="counterparty" value="([^"]*)"', inbox)[1]
    accept_category(pressed, revenue_choice, counterparty=suggested)
    accept_category(chosen, revenue_choice)
    accept_category(other, f"{books.get_category_id('revenueUsage')}:revenue")
    assert [get_party(books, row) for row in (pressed, chosen, other)] == [customer] * 3


def test_known_counterparty_of_the_same_name_is_set(books, bank, accept_category, create_counterparty, revenue_choice):
    create_counterparty("Brightwater", "vendor")
    customer = create_counterparty("Brightwater")
    row, unknown, nameless = (
        books.create_transaction(bank, "995.00", fromTo=name)["id"] for name in ("BRIGHTWATER", "Somebody else", "")
    )
    for each in (row, unknown, nameless):
        accept_category(each, revenue_choice)
    assert [get_party(books, each) for each in (row, unknown, nameless)] == [customer, None, None]


def test_chosen_counterparty_wins(books, bank, accept_category, create_counterparty, revenue_choice):
    create_counterparty("Brightwater")
    other = create_counterparty("Brightwater Holding")
    row, without = (books.create_transaction(bank, "995.00", fromTo="Brightwater")["id"] for _ in range(2))
    accept_category(row, revenue_choice, counterparty=other)
    accept_category(without, revenue_choice, counterparty="")
    assert [get_party(books, each) for each in (row, without)] == [other, None]


def test_counterparty_of_other_names_on_the_account_is_not_taken(
    books, bank, accept_category, create_counterparty, revenue_choice
):
    customer = create_counterparty("Heron Consulting")
    for _ in range(4):
        known = books.create_transaction(bank, "500.00", fromTo="Heron Consulting")["id"]
        split_wholly(books, known, books.get_category_id("revenueRecurring"), "revenue", 500, customer)
    row = books.create_transaction(bank, "995.00", fromTo="Brightwater")["id"]
    accept_category(row, revenue_choice)
    assert get_party(books, row) is None


@pytest.mark.parametrize("act", ["accept", "categorize"])
def test_counterparty_of_a_similar_text_is_only_taken_without_a_name(
    books, bank, accept_category, create_counterparty, revenue_choice, act
):
    """Customers of one product have texts that differ in a number only."""
    customer = create_counterparty("Immobilien Schäfer KG")
    for name, text in (("Immobilien Schäfer KG", "Abo Oktober KD 2207"), ("", "Abo September KD 2207")):
        known = books.create_transaction(bank, "595.00", fromTo=name, description=text)["id"]
        split_wholly(books, known, books.get_category_id("revenueRecurring"), "revenue", 595, customer)
    named = books.create_transaction(bank, "357.00", fromTo="Kita-App UG", description="Abo Oktober KD 2201")["id"]
    nameless = books.create_transaction(bank, "595.00", fromTo="", description="Abo November KD 2207")["id"]
    if act == "accept":
        for row in (named, nameless):
            accept_category(row, revenue_choice)
    else:
        path = f"{accept_category.address}/groups"
        page = accept_category.client.get(path).content.decode()
        values = re.findall(r'name="transaction" value="([^"]+)"', page)
        assert len(values) == 2
        for value in values:
            body = {"act": act, "transaction": value, "other": revenue_choice}
            assert accept_category.client.post(path, body).status_code == 303
    assert [get_party(books, row) for row in (named, nameless)] == [None, customer]


def test_own_transfer_has_no_counterparty(books, bank, accept_category, create_counterparty):
    create_counterparty("Acme")
    row = books.create_transaction(bank, "995.00", fromTo="Acme")["id"]
    accept_category(row, f"{books.get_category_id('transfer')}:neutral")
    assert get_party(books, row) is None
