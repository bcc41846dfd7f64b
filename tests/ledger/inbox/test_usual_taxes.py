"""Suggestions from the history of a counterparty include the tax rate of its latest transaction."""

import re

import pytest

from tests.ledger.conftest import get_page_text, list_pl_amounts

pytestmark = pytest.mark.django_db


@pytest.fixture
def marketing(books):
    return books.get_category_id("marketing")


@pytest.fixture
def inbox_url(acme):
    return f"/app/companies/{acme.id}/inbox"


def categorize(api, transaction_id, category_id, tax=None):
    selection = {"mode": "ids", "ids": [transaction_id]}
    body = {"selection": selection, "categoryId": category_id} | ({"passThroughTax": float(tax)} if tax else {})
    response = api.post("transactions/categorize", body)
    assert response.status_code == 200, response.content


@pytest.fixture
def make_history(api, books, bank):
    """Categorizes an earlier transaction of a name, with tax."""

    def make(name, amount, category_id, tax=None, date="2026-02-10"):
        transaction_id = books.create_transaction(bank, amount, date, fromTo=name, description="earlier")["id"]
        categorize(api, transaction_id, category_id, tax)
        return transaction_id

    return make


def list_taxes(books, transaction_id):
    """Return P&L amounts and tax of each categorization."""
    return [(list_pl_amounts(part), part["passThroughTax"]) for part in books.list_categorizations(transaction_id)]


def read_form(page, transaction_id):
    """Return the hidden fields and the button of the first suggestion of a transaction."""
    item = re.search(rf'<li [^>]*id="t-{transaction_id}".*?</li>', page.content.decode(), re.DOTALL)[0]
    form = re.search(r"<form.*?</form>", item, re.DOTALL)[0]
    fields = dict(re.findall(r'name="([^"]+)"\s+value="([^"]*)"', form))
    return fields, " ".join(re.search(r"<button[^>]*>(.*?)</button>", form, re.DOTALL)[1].split())


def test_suggestion_names_the_tax_rate_and_includes_it(editor, inbox_url, books, bank, marketing, make_history):
    make_history("Messe Köln GmbH", "-3570.00", marketing, "-570.00")
    transaction_id = books.create_transaction(bank, "-1190.00", fromTo="Messe Köln GmbH", description="March")["id"]
    page = editor.get(inbox_url)
    fields, button = read_form(page, transaction_id)
    assert (button, fields["tax"]) == ("Marketing, 19 % tax", "19")
    assert "1 of 1 transaction with this name · includes 19 % tax" in get_page_text(page)
    done = editor.post(inbox_url, fields, follow=True)
    assert "1 transaction categorized. Includes 19 % tax." in get_page_text(done)
    assert list_taxes(books, transaction_id) == [({"cac": -1000}, -190)]


def test_category_of_the_list_gets_its_usual_tax(editor, inbox_url, books, bank, marketing, office, make_history):
    make_history("Messe Köln GmbH", "-3570.00", marketing, "-570.00")
    first, second = (books.create_transaction(bank, "-1190.00", fromTo="Messe Köln GmbH")["id"] for _ in range(2))
    for transaction_id, category in ((first, f"{marketing}:cac"), (second, f"{office}:ga")):
        fields, _ = read_form(editor.get(inbox_url), transaction_id)
        form = {name: fields[name] for name in ("act", "id", "seen")}
        assert editor.post(inbox_url, form | {"category": category}).status_code == 303
    assert list_taxes(books, first) == [({"cac": -1000}, -190)]
    assert list_taxes(books, second) == [({"ga": -1190}, None)], "no transaction of the name had this category"


def test_latest_transaction_of_the_direction_decides(editor, inbox_url, books, bank, marketing, make_history):
    make_history("Messe Köln GmbH", "-1190.00", marketing, "-190.00", "2026-01-10")
    make_history("Messe Köln GmbH", "-1081.00", marketing, "-81.00", "2026-02-10")
    bill = books.create_transaction(bank, "-2162.00", fromTo="Messe Köln GmbH")["id"]
    refund = books.create_transaction(bank, "119.00", fromTo="Messe Köln GmbH")["id"]
    page = editor.get(inbox_url)
    assert read_form(page, bill)[0]["tax"] == "8.1"
    assert "tax" not in read_form(page, refund)[0]
    german = editor.get(inbox_url, headers={"accept-language": "de"})
    fields, button = read_form(german, bill)
    assert (fields["tax"], button) == ("8,1", "Marketing, 8,1 % USt.")
    assert editor.post(inbox_url, fields, headers={"accept-language": "de"}).status_code == 303
    assert list_taxes(books, bill) == [({"cac": -2000}, -162)]


@pytest.mark.parametrize("tax", [None, "-123.45"])
def test_bill_without_tax_or_with_several_rates_suggests_none(
    editor, inbox_url, books, bank, marketing, make_history, tax
):
    make_history("Messe Köln GmbH", "-1190.00", marketing, "-190.00", "2026-01-10")
    make_history("Messe Köln GmbH", "-1190.00", marketing, tax, "2026-02-10")
    transaction_id = books.create_transaction(bank, "-1190.00", fromTo="Messe Köln GmbH")["id"]
    fields, button = read_form(editor.get(inbox_url), transaction_id)
    assert button == "Marketing"
    assert "tax" not in fields


def test_suggestion_by_kind_of_payment_has_the_usual_tax(
    editor, inbox_url, books, bank, hosting, marketing, office, make_history
):
    for category, tax in ((hosting, "-19.00"), (marketing, None), (office, None)):
        make_history("Hetzner Online GmbH", "-119.00", category, tax)
    transaction_id = books.create_transaction(bank, "-238.00", fromTo="Hetzner Online GmbH")["id"]
    page = editor.get(inbox_url)
    fields, button = read_form(page, transaction_id)
    assert (button, fields["tax"]) == ("Hosting, 19 % tax", "19")
    assert "Hosting: Looks like hosting · includes 19 % tax" in get_page_text(page)


def test_group_has_the_usual_rate_of_each_transaction(editor, inbox_url, books, bank, marketing, make_history):
    for name, amount, tax in (("Messe Köln GmbH", "-119.00", "-19.00"), ("Verlag AG", "-107.00", "-7.00")):
        make_history(name, amount, marketing, tax)
    fair, paper = (
        [books.create_transaction(bank, amount, fromTo=name)["id"] for _ in range(2)]
        for name, amount in (("Messe Köln GmbH", "-238.00"), ("Verlag AG", "-214.00"))
    )
    page = editor.get(f"{inbox_url}/groups").content.decode()
    (form,) = re.findall(r'<form method="post" class="card transaction-group".*?</form>', page, re.DOTALL)
    rates = dict(re.findall(r'name="(tax-[^"]+)"[^>]*value="([^"]*)"', form))
    assert rates == {f"tax-{row}": "19" for row in fair} | {f"tax-{row}": "7" for row in paper}
    values = re.findall(r'name="transaction" value="([^"]+)"', form)
    posted = {"act": "categorize", "transaction": values, "category": f"{marketing}:cac", **rates}
    assert editor.post(f"{inbox_url}/groups", posted).status_code == 303
    assert [list_taxes(books, row) for row in fair] == [[({"cac": -200}, -38)]] * 2
    assert [list_taxes(books, row) for row in paper] == [[({"cac": -200}, -14)]] * 2


def test_accepting_all_suggestions_includes_tax(editor, inbox_url, books, bank, marketing, office, make_history):
    make_history("Messe Köln GmbH", "-119.00", marketing, "-19.00")
    make_history("Insurance AG", "-100.00", office)
    taxed = books.create_transaction(bank, "-238.00", fromTo="Messe Köln GmbH")["id"]
    untaxed = books.create_transaction(bank, "-100.00", fromTo="Insurance AG")["id"]
    page = editor.get(f"{inbox_url}/accept?confidence=50")
    assert "includes 19 % tax" in get_page_text(page)
    values = re.findall(r'name="suggestion" value="([^"]+)"', page.content.decode())
    assert editor.post(f"{inbox_url}/accept", {"suggestion": values}).status_code == 303
    assert list_taxes(books, taxed) == [({"cac": -200}, -38)]
    assert list_taxes(books, untaxed) == [({"ga": -100}, None)]


def test_automatic_categorization_from_history_includes_tax(api, acme, books, bank, marketing, make_history):
    for day in range(10, 16):
        make_history("Messe Köln GmbH", "-119.00", marketing, "-19.00", f"2026-02-{day}")
    company = api.get().json()
    response = api.put("", {"name": company["name"], "autoCategorize": True})
    assert response.status_code == 200, response.content
    transaction_id = books.create_transaction(bank, "-238.00", fromTo="Messe Köln GmbH")["id"]
    (part,) = books.list_categorizations(transaction_id)
    assert (part["sourceNote"], list_pl_amounts(part), part["passThroughTax"]) == ("history", {"cac": -200}, -38)
