"""Review of a company's first month: suggestions by kind of payment, missing categories, and repeating a choice."""

import re

import pytest

from tests.ledger.conftest import get_page_text as text
from tests.ledger.conftest import list_pl_amounts

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(acme):
    return f"/app/companies/{acme.id}/inbox"


def propose(api, row, **body):
    answer = api.post("transactions/proposals", {"transactionIds": [row], **body})
    assert answer.status_code == 200, answer.content
    return answer.json()[row]


# ---------------------------------------------------------------------------------------------- suggestions


def test_kind_of_payment_is_suggested_where_the_caller_asks_for_it(api, books, bank):
    row = books.book(bank, "-312.40", fromTo="Hetzner Online GmbH", description="Rechnung R0022334")["id"]
    assert propose(api, row) == []
    assert propose(api, row, paymentKinds=False) == []
    (proposal,) = propose(api, row, paymentKinds=True)
    assert proposal == {
        "categoryId": books.category("hosting"),
        "plType": "cogs",
        "counterparty": None,
        "confidence": 0.75,
        "basis": {"kind": "paymentKind", "seen": 0, "agreed": 0},
    }
    assert books.parts(row) == []


def test_history_comes_before_the_kind_of_payment(api, books, bank):
    past = books.book(bank, "-300.00", fromTo="Hetzner Online GmbH")["id"]
    api.post(
        "transactions/categorize",
        {"selection": {"mode": "ids", "ids": [past]}, "categoryId": books.category("support")},
    )
    row = books.book(bank, "-312.40", fromTo="Hetzner Online GmbH")["id"]
    (proposal,) = propose(api, row, paymentKinds=True)
    assert (proposal["categoryId"], proposal["basis"]["kind"]) == (books.category("support"), "counterparty")


def test_one_payment_to_the_tax_office_says_little_of_another_tax(api, books, bank):
    past = books.book(bank, "-4000.00", fromTo="Finanzamt München", description="Umsatzsteuer August")["id"]
    selection = {"mode": "ids", "ids": [past]}
    api.post("transactions/categorize", {"selection": selection, "categoryId": books.category("taxPayments")})
    row = books.book(bank, "-900.00", fromTo="Finanzamt München", description="Körperschaftsteuer Q3")["id"]
    first, second = propose(api, row, paymentKinds=True)
    assert [each["basis"]["kind"] for each in (first, second)] == ["paymentKind", "counterparty"]
    assert first["categoryId"] == books.category("incomeTax")


def test_kind_of_payment_comes_before_what_the_account_alone_suggests(api, books, bank):
    ids = [books.book(bank, "-9.00", fromTo=f"Party {n}")["id"] for n in range(5)]
    api.post(
        "transactions/categorize", {"selection": {"mode": "ids", "ids": ids}, "categoryId": books.category("sales")}
    )
    row = books.book(bank, "-312.40", fromTo="Hetzner Online GmbH")["id"]
    assert [each["basis"]["kind"] for each in propose(api, row)] == ["account"]
    assert [each["basis"]["kind"] for each in propose(api, row, paymentKinds=True)] == ["paymentKind", "account"]


def test_kind_of_payment_is_never_assigned_automatically(api, books, bank):
    assert api.put("", {"autoCategorize": True}).status_code == 200
    assert books.book(bank, "-312.40", fromTo="Hetzner Online GmbH")["categorizations"] == {}


def test_closed_months_have_no_suggestion_by_kind(api, books, bank):
    row = books.book(bank, "-1.00", "2026-02-20", fromTo="Hetzner Online GmbH")["id"]
    assert api.post("closings", {"month": "2026-02", "acknowledge": True}).status_code == 201
    assert propose(api, row, paymentKinds=True) == []


def test_inbox_offers_the_category_of_the_kind_with_the_reason(editor, address, books, bank):
    row = books.book(bank, "-312.40", fromTo="Hetzner Online GmbH")["id"]
    shown = editor.get(address)
    assert "Hosting: Looks like hosting" in text(shown)
    button = re.search(r'<button class="button small primary"[^>]*name="category"[^>]*>', shown.content.decode())[0]
    assert f'value="{books.category("hosting")}:cogs"' in button
    assert 'data-shortcut-key="a"' in button
    form = {"act": "accept", "id": row, "category": f"{books.category('hosting')}:cogs", "counterparty": ""}
    editor.post(address, form)
    assert [list_pl_amounts(part) for part in books.parts(row)] == [{"cogs": -312.4}]


def test_vague_kind_is_no_primary_suggestion(editor, address, books, bank):
    books.book(bank, "119.00", fromTo="Novatec AG", description="Rechnung RE-2026-1002")
    shown = editor.get(address)
    assert "Recurring revenue: Looks like a payment by a customer" in text(shown)
    assert not re.search(r'class="button small primary"[^>]*name="category"', shown.content.decode())
    assert "Accept" not in text(editor.get(f"{address}/accept"))


# ---------------------------------------------------------------------------------------------- missing categories


def test_missing_categories_are_added_when_somebody_asks(editor, address, api, books, bank):
    books.book(bank, "-9.00", fromTo="Somebody", description="Lunch")
    assert "categories that you do not have yet" not in text(editor.get(address))
    salary = books.book(bank, "-2500.00", fromTo="Anna Schneider", description="Gehalt Oktober")["id"]
    books.book(bank, "-900.00", fromTo="Techniker Krankenkasse", description="Beitrag 10.2026")
    assert propose(api, salary, paymentKinds=True) == []
    before = len(api.get("categories").json())
    shown = editor.get(address)
    assert "Your payments need categories that you do not have yet: Salaries and Social security." in text(shown)
    assert len(api.get("categories").json()) == before
    done = editor.post(address, {"act": "add-categories"}, follow=True)
    assert "Categories added: Salaries and Social security." in text(done)
    assert "categories that you do not have yet" not in text(done)
    added = {each["name"]: each for each in api.get("categories").json()[before:]}
    assert added["Salaries"]["plTypes"] == ["cogs", "cac", "pd", "ga"]
    assert (added["Salaries"]["system"], added["Salaries"]["systemKey"]) == (False, None)
    (proposal,) = propose(api, salary, paymentKinds=True)
    assert (proposal["categoryId"], proposal["plType"]) == (added["Salaries"]["id"], "ga")
    assert "Salaries · General and administration: Looks like a salary" in text(done)
    again = editor.post(address, {"act": "add-categories"}, follow=True)
    assert "The categories exist already." in text(again)
    assert len(api.get("categories").json()) == before + 2


def test_own_category_for_salaries_needs_no_other(editor, address, api, books, bank):
    api.post("categories", {"name": "Personalkosten", "plTypes": ["ga"]})
    books.book(bank, "-2500.00", fromTo="Anna Schneider", description="Gehalt Oktober")
    books.book(bank, "-900.00", fromTo="Techniker Krankenkasse", description="Beitrag 10.2026")
    shown = text(editor.get(address))
    assert "categories that you do not have yet" not in shown
    assert shown.count("Personalkosten: Looks like") == 2


# ---------------------------------------------------------------------------------------------- repeating a choice


@pytest.fixture
def novatec(books, bank):
    """Three payments of a customer, and one to it."""
    ids = [books.book(bank, amount, fromTo=name)["id"] for amount, name in (("1.00", "Novatec"), ("2.00", "NOVATEC"))]
    ids.append(books.book(bank, "3.00", fromTo="novatec")["id"])
    return [*ids, books.book(bank, "-4.00", fromTo="Novatec")["id"]]


def test_choice_is_repeated_for_the_others_of_a_counterparty(editor, address, books, novatec):
    form = {"act": "accept", "id": novatec[0], "category": f"{books.category('revenueUsage')}:revenue"}
    done = editor.post(address, form, follow=True)
    assert "2 more transactions of “Novatec” are uncategorized." in text(done)
    assert "Categorize 2 as Usage-based revenue" in text(done)
    repeated = editor.post(address, {"act": "repeat", "id": novatec[0]}, follow=True)
    assert "2 transactions categorized." in text(repeated)
    assert [bool(books.parts(row)) for row in novatec] == [True, True, True, False]
    assert list_pl_amounts(books.parts(novatec[2])[0]) == {"revenue": 3}
    run = re.search(r'name="run" value="([^"]+)"', repeated.content.decode())[1]
    editor.post(address, {"act": "undo", "run": run})
    assert [bool(books.parts(row)) for row in novatec] == [True, False, False, False]


def test_choice_is_repeated_with_its_tax(editor, address, books, novatec):
    part = {"categoryId": books.category("revenueUsage"), "plSplit": {"revenue": 0.84}, "passThroughTax": 0.16}
    books.split(novatec[0], part)
    editor.post(address, {"act": "repeat", "id": novatec[0]})
    (other,) = books.parts(novatec[2])
    assert (other["passThroughTax"], list_pl_amounts(other)) == (0.48, {"revenue": 2.52})


def test_uncategorized_transaction_offers_nothing_to_repeat(editor, address, books, novatec):
    shown = editor.get(address, {"said": novatec[0]})
    assert "more transactions of" not in text(shown)
    refused = editor.post(address, {"act": "repeat", "id": novatec[0]})
    assert refused.status_code == 400
    assert "No other transactions of this counterparty." in text(refused)


def test_last_of_a_counterparty_offers_nothing_to_repeat(editor, address, books, novatec):
    form = {"act": "accept", "id": novatec[3], "category": f"{books.category('hosting')}:cogs"}
    assert "more transaction of" not in text(editor.post(address, form, follow=True))
