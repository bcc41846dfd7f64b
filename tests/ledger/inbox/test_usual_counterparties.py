"""A category chosen from the list of the inbox comes with the counterparty that the suggestion would set."""

import re

import pytest

pytestmark = pytest.mark.django_db


@pytest.fixture
def save(browser_of, alice, acme):
    """Saves a category chosen from the list for an open transaction."""
    client = browser_of(alice, acme).client

    def choose(transaction_id, category, **values):
        body = {"act": "accept", "id": transaction_id, "category": category} | values
        answer = client.post(f"/app/companies/{acme.id}/inbox", body)
        assert answer.status_code == 303, answer.content

    choose.client, choose.address = client, f"/app/companies/{acme.id}/inbox"
    return choose


@pytest.fixture
def add_party(api):
    def create(name, kind="customer"):
        return api.post("counterparties", {"type": kind, "name": name}).json()["id"]

    return create


@pytest.fixture
def revenue(books):
    return f"{books.category('revenueRecurring')}:revenue"


def split_wholly(books, row, category, pl_type, amount, counterparty):
    party = {"type": "customer", "id": counterparty}
    books.split(row, {"categoryId": category, "plSplit": {pl_type: amount}, "counterparty": party})


def get_party(books, row):
    (part,) = books.parts(row)
    return part["counterparty"] and part["counterparty"]["id"]


def test_list_and_suggestion_set_the_same_counterparty(books, bank, save, add_party, revenue):
    customer = add_party("Heron Consulting GmbH")
    for _ in range(3):
        known = books.book(bank, "500.00", fromTo="HERON CONSULTING")["id"]
        split_wholly(books, known, books.category("revenueRecurring"), "revenue", 500, customer)
    pressed, chosen, other = (books.book(bank, "500.00", fromTo="Heron Consulting")["id"] for _ in range(3))
    inbox = save.client.get(save.address).content.decode()
    suggested = re.search(r'name="counterparty" value="([^"]*)"', inbox)[1]
    save(pressed, revenue, counterparty=suggested)
    save(chosen, revenue)
    save(other, f"{books.category('revenueUsage')}:revenue")
    assert [get_party(books, row) for row in (pressed, chosen, other)] == [customer] * 3


def test_known_counterparty_of_the_same_name_is_set(books, bank, save, add_party, revenue):
    add_party("Brightwater", "vendor")
    customer = add_party("Brightwater")
    row, unknown, nameless = (
        books.book(bank, "995.00", fromTo=name)["id"] for name in ("BRIGHTWATER", "Somebody else", "")
    )
    for each in (row, unknown, nameless):
        save(each, revenue)
    assert [get_party(books, each) for each in (row, unknown, nameless)] == [customer, None, None]


def test_chosen_counterparty_wins(books, bank, save, add_party, revenue):
    add_party("Brightwater")
    other = add_party("Brightwater Holding")
    row, without = (books.book(bank, "995.00", fromTo="Brightwater")["id"] for _ in range(2))
    save(row, revenue, counterparty=other)
    save(without, revenue, counterparty="")
    assert [get_party(books, each) for each in (row, without)] == [other, None]


def test_counterparty_of_other_names_on_the_account_is_not_taken(books, bank, save, add_party, revenue):
    customer = add_party("Heron Consulting")
    for _ in range(4):
        known = books.book(bank, "500.00", fromTo="Heron Consulting")["id"]
        split_wholly(books, known, books.category("revenueRecurring"), "revenue", 500, customer)
    row = books.book(bank, "995.00", fromTo="Brightwater")["id"]
    save(row, revenue)
    assert get_party(books, row) is None


def test_own_transfer_has_no_counterparty(books, bank, save, add_party):
    add_party("Acme")
    row = books.book(bank, "995.00", fromTo="Acme")["id"]
    save(row, f"{books.category('transfer')}:neutral")
    assert get_party(books, row) is None
