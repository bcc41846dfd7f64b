"""Suggestions without history include the company's standard VAT rate where the payment usually includes VAT."""

import re

import pytest

from tests.ledger.conftest import get_page_text, list_pl_amounts

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def german_company(api):
    """Acme in Germany, with a standard VAT rate of 19 %."""
    answer = api.put("", {"timeZone": "Europe/Berlin", "standardTaxPercent": 19})
    assert answer.status_code == 200, answer.content


@pytest.fixture
def inbox_path(acme):
    return f"/app/companies/{acme.id}/inbox"


def read_suggestion(page, transaction_id):
    """Return the hidden tax rate, the button and the reason of the first suggestion of a transaction."""
    item = re.search(rf'<li [^>]*id="t-{transaction_id}".*?</li>', page.content.decode(), re.DOTALL)[0]
    form = re.search(r"<form.*?</form>", item, re.DOTALL)[0]
    tax = re.search(r'name="tax" value="([^"]*)"', form)
    button = " ".join(re.search(r"<button[^>]*>(.*?)</button>", form, re.DOTALL)[1].split())
    reason = re.search(r'review-item-reason meta">(.*?)</p>', item, re.DOTALL)[1]
    return tax[1] if tax else None, button, reason


@pytest.mark.parametrize(
    ("name", "text", "amount", "tax", "reason"),
    [
        ("Hetzner Online GmbH", "", "-119.00", "19", "Hosting: Looks like hosting · 19 % VAT suggested"),
        (
            *("AWS EMEA SARL", "", "-119.00", None),
            "Hosting: Looks like hosting · Supplier abroad: no VAT (reverse charge)",
        ),
        (
            *("Hetzner Online GmbH", "inkl. 7 % MwSt", "-107.00", "7"),
            "Hosting: Looks like hosting · 7 % VAT according to the description",
        ),
        (
            *("DB Vertrieb GmbH", "Bahn-Tickets", "-107.00", "7"),
            "Office and administration: Looks like travel · 7 % VAT suggested (reduced rate)",
        ),
        ("Allianz AG", "", "-100.00", None, "Office and administration: Looks like insurance"),
        (
            *("Novatec GmbH", "Rechnung 7 Abo", "119.00", "19"),
            "Recurring revenue: Looks like revenue from a subscription · 19 % VAT suggested",
        ),
        (
            *("Novatec B.V.", "Rechnung 7 Workshop", "119.00", None),
            "One-off revenue: Looks like revenue from a project or service · Customer abroad: no VAT",
        ),
    ],
)
def test_inbox_suggests_the_rate_with_its_reason(editor, inbox_path, books, bank, name, text, amount, tax, reason):
    row = books.create_transaction(bank, amount, fromTo=name, description=text)["id"]
    shown_tax, _, shown_reason = read_suggestion(editor.get(inbox_path), row)
    assert (shown_tax, shown_reason) == (tax, reason)


def test_accepted_suggestion_includes_the_standard_rate(editor, inbox_path, books, bank):
    row = books.create_transaction(bank, "-119.00", fromTo="Hetzner Online GmbH")["id"]
    assert read_suggestion(editor.get(inbox_path), row)[1] == "Hosting, 19 % tax"
    page = editor.get(f"{inbox_path}/accept")
    assert "Looks like hosting · 19 % VAT suggested" in get_page_text(page)
    values = re.findall(r'name="suggestion" value="([^"]+)"', page.content.decode())
    assert editor.post(f"{inbox_path}/accept", {"suggestion": values}).status_code == 303
    (part,) = books.list_categorizations(row)
    assert (list_pl_amounts(part), part["passThroughTax"]) == ({"cogs": -100}, -19)


def test_list_of_categories_keeps_the_suggested_rate(editor, inbox_path, books, bank):
    row = books.create_transaction(bank, "-119.00", fromTo="Hetzner Online GmbH")["id"]
    picker = re.search(
        rf'class="inline category-picker">(?:(?!</form>).)*name="id"\s+value="{row}".*?</form>',
        editor.get(inbox_path).content.decode(),
        re.DOTALL,
    )[0]
    fields = dict(re.findall(r'name="(\w+)"[^>]*?\bvalue="([^"]*)"', picker))
    assert fields["tax"] == "19"
    chosen = f"{books.get_category_id('marketing')}:cac"
    assert editor.post(inbox_path, fields | {"category": chosen}).status_code == 303
    (part,) = books.list_categorizations(row)
    assert (list_pl_amounts(part), part["passThroughTax"]) == ({"cac": -100}, -19)


def test_german_page_names_the_rate_and_reverse_charge(editor, inbox_path, books, bank):
    for name in ("Hetzner Online GmbH", "AWS EMEA SARL"):
        books.create_transaction(bank, "-119.00", fromTo=name)
    text = get_page_text(editor.get(inbox_path, headers={"accept-language": "de"}))
    assert "19 % USt. vorgeschlagen" in text
    assert "Lieferant im Ausland: keine Umsatzsteuer (Reverse Charge)" in text


@pytest.mark.parametrize(("tax", "suggested"), [(None, None), ("-7.79", "7")])
def test_earlier_transaction_of_the_counterparty_wins(api, editor, inbox_path, books, bank, hosting, tax, suggested):
    past = books.create_transaction(bank, "-119.00", "2026-02-10", fromTo="Hetzner Online GmbH")["id"]
    body = {"selection": {"mode": "ids", "ids": [past]}, "categoryId": hosting}
    api.post("transactions/categorize", body | ({"passThroughTax": float(tax)} if tax else {}))
    row = books.create_transaction(bank, "-119.00", fromTo="Hetzner Online GmbH")["id"]
    shown_tax, button, reason = read_suggestion(editor.get(inbox_path), row)
    assert shown_tax == suggested
    assert button == ("Hosting, 7 % tax" if suggested else "Hosting")
    assert "19 %" not in reason


@pytest.mark.parametrize(
    ("text", "suggested"),
    [("inkl. 7 % MwSt", "7"), ("inkl. 7 % MwSt und 19 % MwSt", None), ("inkl. 40 % MwSt", None), ("Server", "19")],
)
def test_rate_in_the_text_comes_before_that_of_the_last_transaction(
    api, editor, inbox_path, books, bank, hosting, text, suggested
):
    past = books.create_transaction(bank, "-119.00", "2026-02-10", fromTo="Hetzner Online GmbH")["id"]
    body = {"selection": {"mode": "ids", "ids": [past]}, "categoryId": hosting, "passThroughTax": -19}
    assert api.post("transactions/categorize", body).status_code == 200
    row = books.create_transaction(bank, "-119.00", fromTo="Hetzner Online GmbH", description=text)["id"]
    assert read_suggestion(editor.get(inbox_path), row)[0] == suggested


@pytest.mark.parametrize("percent", [None, 0])
def test_company_without_standard_rate_gets_no_suggestion(api, editor, inbox_path, books, bank, percent):
    api.put("", {"standardTaxPercent": percent})
    row = books.create_transaction(bank, "-119.00", fromTo="Hetzner Online GmbH", description="inkl. 19 % MwSt")["id"]
    assert read_suggestion(editor.get(inbox_path), row) == (None, "Hosting", "Hosting: Looks like hosting")


def test_standard_rate_is_never_assigned_automatically(api, books, bank, hosting):
    api.put("", {"autoCategorize": True})
    for day in range(10, 16):
        past = books.create_transaction(bank, "-119.00", f"2026-02-{day}", fromTo="Hetzner Online GmbH")["id"]
        api.post("transactions/categorize", {"selection": {"mode": "ids", "ids": [past]}, "categoryId": hosting})
    row = books.create_transaction(bank, "-119.00", fromTo="Hetzner Online GmbH")["id"]
    (part,) = books.list_categorizations(row)
    assert (part["sourceNote"], part["passThroughTax"]) == ("history", None)
    other = books.create_transaction(bank, "-119.00", fromTo="netcup GmbH")["id"]
    assert books.list_categorizations(other) == []


# ---------------------------------------------------------------------------------------------- groups


@pytest.fixture
def hosting_rows(books, bank):
    """Two payments of the kind hosting: to a German supplier, and to one abroad."""
    names = ("Hetzner Online GmbH", "AWS EMEA SARL")
    return [books.create_transaction(bank, "-119.00", fromTo=name)["id"] for name in names]


def read_group(page):
    """Return the values, the tax fields and the suggested category of the only group of a page."""
    (form,) = re.findall(
        r'<form method="post" class="card transaction-group".*?</form>', page.content.decode(), re.DOTALL
    )
    rates = dict(re.findall(r'name="(tax-[^"]+)"[^>]*value="([^"]*)"', form))
    values = re.findall(r'name="transaction" value="([^"]+)"', form)
    return values, rates, re.search(r'name="category" value="([^"]+)"', form)[1]


def list_stored_taxes(books, ids):
    return [part["passThroughTax"] for row in ids for part in books.list_categorizations(row)]


def test_one_group_has_suppliers_at_home_and_abroad(editor, inbox_path, books, hosting_rows):
    page = editor.get(f"{inbox_path}/groups")
    values, rates, category = read_group(page)
    german, irish = (f"tax-{row}" for row in hosting_rows)
    assert rates == {german: "19", irish: ""}
    text = get_page_text(page)
    assert "19 % VAT suggested" in text
    assert "Supplier abroad: no VAT (reverse charge)" in text
    form = {"act": "categorize", "transaction": values, "category": category, **rates}
    assert editor.post(f"{inbox_path}/groups", form).status_code == 303
    assert list_stored_taxes(books, hosting_rows) == [-19, None]


def test_customer_without_a_category_has_the_rate_in_its_group(editor, inbox_path, books, bank):
    """The text says that revenue is paid, but not which: the category is chosen, the rate is filled in."""
    ids = [
        books.create_transaction(bank, "119.00", fromTo=name, description=text)["id"]
        for name, text in (("Novatec AG", "Rechnung 7"), ("Novatec B.V.", "Rechnung 8"), ("Weber", "Danke"))
    ]
    page = editor.get(f"{inbox_path}/groups")
    form = re.search(r'<form method="post" class="card transaction-group".*?</form>', page.content.decode(), re.DOTALL)[
        0
    ]
    rates = dict(re.findall(r'name="(tax-[^"]+)"[^>]*value="([^"]*)"', form))
    assert [rates[f"tax-{row}"] for row in ids] == ["19", "", ""]
    assert "Looks like a payment by a customer · 19 % VAT suggested" in form
    assert "Customer abroad: no VAT" in form
    assert 'name="category"' not in form
    values = re.findall(r'name="transaction" value="([^"]+)"', form)
    body = {"act": "categorize", "transaction": values, "other": f"{books.get_category_id('revenueOneOff')}:revenue"}
    assert editor.post(f"{inbox_path}/groups", body | rates).status_code == 303
    assert list_stored_taxes(books, ids) == [19, None, None]


@pytest.mark.parametrize(("typed", "stored"), [("19", 19), ("7", 7.79), ("", None)])
def test_customer_without_a_category_has_the_rate_beside_the_list(editor, inbox_path, books, bank, typed, stored):
    row = books.create_transaction(bank, "119.00", fromTo="Novatec AG", description="RE-2026-118")["id"]
    page = editor.get(inbox_path)
    assert "Looks like a payment by a customer · 19 % VAT suggested" in get_page_text(page)
    assert re.findall(r'<input name="tax"[^>]*value="([^"]*)"', page.content.decode()) == ["19"]
    form = {"act": "accept", "id": row, "category": f"{books.get_category_id('revenueOneOff')}:revenue", "tax": typed}
    assert editor.post(inbox_path, form).status_code == 303
    assert list_stored_taxes(books, [row]) == [stored]


def test_other_payments_have_no_rate_beside_the_list(editor, inbox_path, books, bank):
    for amount, name, text in (("119.00", "Weber", "Danke"), ("-119.00", "Novatec AG", "Rechnung 7")):
        books.create_transaction(bank, amount, fromTo=name, description=text)
    assert '<input name="tax"' not in editor.get(inbox_path).content.decode()


@pytest.mark.parametrize(
    ("changes", "for_all", "stored"),
    [
        ({}, "7", [-7.79, -7.79]),
        ({"german": "19,5"}, "7", [-19.42, -7.79]),
        ({"german": ""}, "7", [None, -7.79]),
        ({}, "0", [None, None]),
        ({"irish": "19"}, "", [-19, -19]),
    ],
)
def test_rate_for_all_replaces_rates_that_were_not_changed(
    editor, inbox_path, books, hosting_rows, changes, for_all, stored
):
    values, rates, category = read_group(editor.get(f"{inbox_path}/groups"))
    names = dict(zip(("german", "irish"), hosting_rows, strict=True))
    rates |= {f"tax-{names[name]}": rate for name, rate in changes.items()}
    form = {"act": "categorize", "transaction": values, "category": category, "tax": for_all, **rates}
    assert editor.post(f"{inbox_path}/groups", form).status_code == 303
    assert list_stored_taxes(books, hosting_rows) == stored


def test_invalid_rate_names_the_transaction_and_stores_nothing(editor, inbox_path, books, hosting_rows):
    values, _rates, category = read_group(editor.get(f"{inbox_path}/groups"))
    german, irish = (f"tax-{row}" for row in hosting_rows)
    form = {"act": "categorize", "transaction": values, "category": category, "next": "o-1"}
    refused = editor.post(f"{inbox_path}/groups", form | {german: "7", irish: "much"})
    assert refused.status_code == 400
    text = get_page_text(refused)
    assert "AWS EMEA SARL, " in text
    assert ": Enter a percentage, such as 19 %." in text
    assert "Hetzner Online GmbH, " not in text
    assert read_group(refused)[1] == {german: "7", irish: "much"}
    assert re.findall(r'name="(tax-[^"]+)"[^>]* aria-invalid="true"', refused.content.decode()) == [irish]
    assert list_stored_taxes(books, hosting_rows) == []


def test_invalid_rate_of_a_transaction_that_is_not_selected_is_ignored(editor, inbox_path, books, hosting_rows):
    values, rates, category = read_group(editor.get(f"{inbox_path}/groups"))
    selected = [value for value in values if value.startswith(hosting_rows[0])]
    form = {"act": "categorize", "transaction": selected, "category": category, **rates}
    form[f"tax-{hosting_rows[1]}"] = "much"
    assert editor.post(f"{inbox_path}/groups", form).status_code == 303
    assert list_stored_taxes(books, hosting_rows) == [-19]


def test_rows_of_groups_show_no_words_on_how_the_payment_was_made(editor, inbox_path, books, bank):
    text = "FOLGELASTSCHRIFT Server Sept Umsatz gebucht"
    books.create_transaction(bank, "-119.00", fromTo="Hetzner Online GmbH", description=text)
    shown = get_page_text(editor.get(f"{inbox_path}/groups"))
    assert "· Server Sept" in shown
    assert "FOLGELASTSCHRIFT" not in shown
    assert "Umsatz gebucht" not in shown


def test_folded_transactions_say_how_many_have_a_rate(editor, inbox_path, books, bank):
    for _ in range(6):
        books.create_transaction(bank, "-119.00", fromTo="Hetzner Online GmbH")
    assert "Show 2 more · 2 with VAT" in get_page_text(editor.get(f"{inbox_path}/groups"))
