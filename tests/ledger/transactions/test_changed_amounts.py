"""Editing the amount of a categorized transaction on its page: one category follows, several say what is left."""

import pytest

from tests.ledger.conftest import get_page_text as text
from tests.ledger.conftest import list_pl_amounts

pytestmark = pytest.mark.django_db


@pytest.fixture
def save_amount(owner, acme, bank):
    """Save another amount on the form of a transaction; return the next page."""

    def save(transaction_id, amount, **more):
        address = f"/app/companies/{acme.id}/transactions/{transaction_id}/edit"
        values = {"accountId": bank, "date": "2026-03-15", "amountValue": amount, "amountCurrency": "EUR"}
        return owner.post(address, values | {"fromTo": "Shop", "description": "", "notes": ""} | more, follow=True)

    return save


def read_form(owner, acme, transaction_id):
    return text(owner.get(f"/app/companies/{acme.id}/transactions/{transaction_id}/edit"))


@pytest.mark.parametrize("amount", ["-112.00", "-88.00", "88.00"])
def test_only_category_of_the_whole_amount_follows(api, owner, acme, books, bank, save_amount, amount):
    row = books.create_transaction(bank, "-100.00")["id"]
    books.set_categorizations(row, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}})
    assert "The category applies to the new amount." in read_form(owner, acme, row)
    shown = text(save_amount(row, amount))
    assert "Transaction saved." in shown
    assert "uncategorized" not in shown.split("Transaction saved.")[1][:60]
    [part] = books.list_categorizations(row)
    assert list_pl_amounts(part) == {"cogs": float(amount)}
    assert books.get_transaction(row)["categorizationsAutoAssigned"] is False
    rows = api.post("data/profitAndLoss", {"startMonth": "2026-03", "endMonth": "2026-03"}).json()
    assert [each["actual"] for each in rows] == [-float(amount)]


def test_lines_and_tax_of_the_category_keep_their_shares(books, bank, save_amount):
    row = books.create_transaction(bank, "-119.00")["id"]
    part = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}, "passThroughTax": -19}
    assert books.set_categorizations(row, part).status_code == 200
    save_amount(row, "-238.00")
    [part] = books.list_categorizations(row)
    assert (list_pl_amounts(part), part["passThroughTax"]) == ({"cogs": -200}, -38)


def test_several_categories_keep_their_amounts_and_say_what_is_left(owner, acme, books, bank, save_amount):
    row = books.create_transaction(bank, "-100.00")["id"]
    hosting = books.get_category_id("hosting")
    books.set_categorizations(row, *({"categoryId": hosting, "plSplit": {"cogs": each}} for each in (-40, -60)))
    shown = read_form(owner, acme, row)
    assert "Categorizations keep their amounts. The difference becomes uncategorized." in shown
    assert "Transaction saved. −€12.00 is now uncategorized." in text(save_amount(row, "-112.00"))
    assert [list_pl_amounts(part) for part in books.list_categorizations(row)] == [{"cogs": -40}, {"cogs": -60}]
    assert books.get_transaction(row)["amountValue"] == "-112.00"


def test_category_of_a_part_stays(books, bank, save_amount):
    row = books.create_transaction(bank, "-100.00")["id"]
    books.set_categorizations(row, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -40}})
    assert "−€72.00 is now uncategorized." in text(save_amount(row, "-112.00"))
    [part] = books.list_categorizations(row)
    assert list_pl_amounts(part) == {"cogs": -40}


def test_api_keeps_categorizations_as_they_are(api, books, bank):
    row = books.create_transaction(bank, "-100.00")["id"]
    books.set_categorizations(row, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}})
    assert api.put(f"transactions/{row}", {"amountValue": "-112.00"}).status_code == 200
    [part] = books.list_categorizations(row)
    assert list_pl_amounts(part) == {"cogs": -100}
