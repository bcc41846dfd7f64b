"""Review of a company's first month: suggestions by kind of payment, missing categories, and repeating a choice."""

import re
from uuid import uuid4

import pytest
from django.utils.translation import gettext, override

from ledger.inbox.missing_categories import ADDABLE_CATEGORIES
from ledger.rules.calc.kind_categories import CategoryOption, find_kind_category
from tests.ledger.conftest import get_page_text as text
from tests.ledger.conftest import list_pl_amounts

pytestmark = pytest.mark.django_db
ADD_CATEGORIES = "Add categories for your payments"


def add_categories(editor, path, *kinds):
    return editor.post(path, {"act": "add-categories", "kind": kinds}, follow=True)


@pytest.fixture
def inbox_path(acme):
    return f"/app/companies/{acme.id}/inbox"


def propose(api, row, **body):
    answer = api.post("transactions/proposals", {"transactionIds": [row], **body})
    assert answer.status_code == 200, answer.content
    return answer.json()[row]


# ---------------------------------------------------------------------------------------------- suggestions


def test_kind_of_payment_is_suggested_where_the_caller_asks_for_it(api, books, bank):
    row = books.create_transaction(bank, "-312.40", fromTo="Hetzner Online GmbH", description="Rechnung R0022334")["id"]
    assert propose(api, row) == []
    assert propose(api, row, paymentKinds=False) == []
    (proposal,) = propose(api, row, paymentKinds=True)
    assert proposal == {
        "categoryId": books.get_category_id("hosting"),
        "plType": "cogs",
        "counterparty": None,
        "confidence": 0.75,
        "basis": {"kind": "paymentKind", "seen": 0, "agreed": 0},
    }
    assert books.list_categorizations(row) == []


def test_history_comes_before_the_kind_of_payment(api, books, bank):
    past = books.create_transaction(bank, "-300.00", fromTo="Hetzner Online GmbH")["id"]
    api.post(
        "transactions/categorize",
        {"selection": {"mode": "ids", "ids": [past]}, "categoryId": books.get_category_id("support")},
    )
    row = books.create_transaction(bank, "-312.40", fromTo="Hetzner Online GmbH")["id"]
    (proposal,) = propose(api, row, paymentKinds=True)
    assert (proposal["categoryId"], proposal["basis"]["kind"]) == (books.get_category_id("support"), "counterparty")


def test_one_payment_to_the_tax_office_says_little_of_another_tax(api, books, bank):
    past = books.create_transaction(bank, "-4000.00", fromTo="Finanzamt München", description="Umsatzsteuer August")[
        "id"
    ]
    selection = {"mode": "ids", "ids": [past]}
    api.post("transactions/categorize", {"selection": selection, "categoryId": books.get_category_id("taxPayments")})
    row = books.create_transaction(bank, "-900.00", fromTo="Finanzamt München", description="Körperschaftsteuer Q3")[
        "id"
    ]
    first, second = propose(api, row, paymentKinds=True)
    assert [each["basis"]["kind"] for each in (first, second)] == ["paymentKind", "counterparty"]
    assert first["categoryId"] == books.get_category_id("incomeTax")


@pytest.fixture
def bank_fee(api, books, bank):
    """A bank fee that was categorized as office costs."""
    past = books.create_transaction(bank, "-28.90", fromTo="Sparkasse KölnBonn", description="Entgeltabschluss")["id"]
    selection = {"mode": "ids", "ids": [past]}
    api.post("transactions/categorize", {"selection": selection, "categoryId": books.get_category_id("officeAndAdmin")})
    return past


def test_bank_fee_says_little_of_interest_of_the_same_bank(api, books, bank, bank_fee):
    row = books.create_transaction(bank, "-14.22", fromTo="Sparkasse KölnBonn", description="Sollzinsen III/26")["id"]
    first, second = propose(api, row, paymentKinds=True)
    assert (first["categoryId"], first["basis"]["kind"]) == (books.get_category_id("interest"), "paymentKind")
    assert (second["categoryId"], second["basis"]["kind"]) == (books.get_category_id("officeAndAdmin"), "counterparty")


def test_own_choice_for_the_same_kind_and_payee_wins(api, books, bank, bank_fee):
    past = books.create_transaction(bank, "-14.22", fromTo="Sparkasse KölnBonn", description="Sollzinsen II/26")["id"]
    selection = {"mode": "ids", "ids": [past]}
    api.post("transactions/categorize", {"selection": selection, "categoryId": books.get_category_id("paymentFees")})
    for name in ("Sparkasse KölnBonn", "SPARKASSE KÖLNBONN"):
        row = books.create_transaction(bank, "-9000.00", fromTo=name, description="Sollzinsen III/26")["id"]
        assert propose(api, row, paymentKinds=True)[0]["categoryId"] == books.get_category_id("paymentFees")
    fee = books.create_transaction(bank, "-28.90", fromTo="Sparkasse KölnBonn", description="Entgeltabschluss")["id"]
    assert propose(api, fee, paymentKinds=True)[0]["categoryId"] == books.get_category_id("officeAndAdmin")
    other = books.create_transaction(bank, "-3.00", fromTo="Volksbank", description="Sollzinsen III/26")["id"]
    assert propose(api, other, paymentKinds=True)[0]["categoryId"] == books.get_category_id("interest")


def test_kind_keeps_the_counterparty_of_the_name(api, books, bank):
    office = api.post("counterparties", {"type": "vendor", "name": "Tax office"}).json()["id"]
    vat, income_tax = ("Umsatzsteuer", "taxPayments", "neutral"), ("KSt", "incomeTax", "no")
    for tax, category, line in (vat, income_tax, income_tax, income_tax):
        row = books.create_transaction(bank, "-100.00", fromTo="Finanzamt Köln", description=f"{tax} 8/26")["id"]
        part = {"categoryId": books.get_category_id(category), "plSplit": {line: -100}, "counterparty": {"id": office}}
        assert books.set_categorizations(row, part).status_code == 200
    row = books.create_transaction(bank, "-100.00", fromTo="Finanzamt Köln", description="UMS.ST 9/26")["id"]
    first = propose(api, row, paymentKinds=True)[0]
    assert (first["categoryId"], first["basis"]["kind"]) == (books.get_category_id("taxPayments"), "paymentKind")
    assert first["counterparty"] == {"type": "vendor", "id": office}


def test_kind_of_payment_comes_before_what_the_account_alone_suggests(api, books, bank):
    ids = [books.create_transaction(bank, "-9.00", fromTo=f"Party {n}")["id"] for n in range(5)]
    api.post(
        "transactions/categorize",
        {"selection": {"mode": "ids", "ids": ids}, "categoryId": books.get_category_id("sales")},
    )
    row = books.create_transaction(bank, "-312.40", fromTo="Hetzner Online GmbH")["id"]
    assert [each["basis"]["kind"] for each in propose(api, row)] == ["account"]
    assert [each["basis"]["kind"] for each in propose(api, row, paymentKinds=True)] == ["paymentKind", "account"]


def test_kind_of_payment_is_never_assigned_automatically(api, books, bank):
    assert api.put("", {"autoCategorize": True}).status_code == 200
    assert books.create_transaction(bank, "-312.40", fromTo="Hetzner Online GmbH")["categorizations"] == {}


def test_closed_months_have_no_suggestion_by_kind(api, books, bank):
    row = books.create_transaction(bank, "-1.00", "2026-02-20", fromTo="Hetzner Online GmbH")["id"]
    assert api.post("closings", {"month": "2026-02", "acknowledge": True}).status_code == 201
    assert propose(api, row, paymentKinds=True) == []


def test_inbox_offers_the_category_of_the_kind_with_the_reason(editor, inbox_path, books, bank):
    row = books.create_transaction(bank, "-312.40", fromTo="Hetzner Online GmbH")["id"]
    shown = editor.get(inbox_path)
    assert "Hosting: Looks like hosting" in text(shown)
    button = re.search(r'<button class="button small primary"[^>]*name="category"[^>]*>', shown.content.decode())[0]
    assert f'value="{books.get_category_id("hosting")}:cogs"' in button
    assert 'data-shortcut-key="a"' in button
    form = {"act": "accept", "id": row, "category": f"{books.get_category_id('hosting')}:cogs", "counterparty": ""}
    editor.post(inbox_path, form)
    assert [list_pl_amounts(part) for part in books.list_categorizations(row)] == [{"cogs": -312.4}]


def test_vague_kind_is_no_primary_suggestion(editor, inbox_path, books, bank):
    books.create_transaction(bank, "-119.00", fromTo="Finanzamt München", description="StNr 143/123/45678")
    shown = editor.get(inbox_path)
    assert "Tax payments: Looks like a tax payment" in text(shown)
    assert not re.search(r'class="button small primary"[^>]*name="category"', shown.content.decode())
    assert "Accept" not in text(editor.get(f"{inbox_path}/accept"))


def test_recruiting_needs_its_own_category(editor, inbox_path, api, books, bank):
    row = books.create_transaction(bank, "-650.00", fromTo="LinkedIn Ireland", description="LinkedIn Recruiter")["id"]
    assert propose(api, row, paymentKinds=True) == []
    assert f"{ADD_CATEGORIES} Recruiting (1)" in text(editor.get(inbox_path))
    assert "Recruiting: Looks like recruiting" in text(add_categories(editor, inbox_path, "recruiting"))


def test_vendor_of_another_kind_is_not_taken_for_one_with_a_similar_name(api, books, bank):
    """Amazon sells keyboards, Amazon Web Services hosting."""
    past = books.create_transaction(bank, "-90.00", fromTo="Amazon Web Services EMEA SARL")["id"]
    selection = {"mode": "ids", "ids": [past]}
    api.post("transactions/categorize", {"selection": selection, "categoryId": books.get_category_id("hosting")})
    row = books.create_transaction(bank, "-9.00", fromTo="Amazon Business EU", description="Tastaturen")["id"]
    assert propose(api, row, paymentKinds=True)[0]["categoryId"] == books.get_category_id("officeAndAdmin")


@pytest.mark.parametrize(
    ("description", "reason"),
    [
        ("Abo Oktober", "Recurring revenue: Looks like revenue from a subscription"),
        ("Workshop Oktober", "One-off revenue: Looks like revenue from a project or service"),
    ],
)
def test_payment_of_a_customer_has_the_revenue_that_its_text_names(
    editor, inbox_path, books, bank, description, reason
):
    books.create_transaction(bank, "119.00", fromTo="Novatec AG", description=description)
    shown = editor.get(inbox_path)
    assert reason in text(shown)
    assert re.search(r'class="button small primary"[^>]*name="category"', shown.content.decode())


@pytest.mark.parametrize("description", ["RE-2026-118", "Rechnung 7 Workshop und Lizenzen", "Zahlung wie besprochen"])
def test_payment_of_a_customer_for_something_unsaid_has_no_suggestion(api, books, bank, description):
    row = books.create_transaction(bank, "119.00", fromTo="Novatec AG", description=description)["id"]
    assert propose(api, row, paymentKinds=True) == []


def test_own_category_of_revenue_is_suggested_if_it_is_the_only_one(api, books, bank):
    row = books.create_transaction(bank, "119.00", fromTo="Novatec AG", description="Workshop Oktober")["id"]
    own = api.post("categories", {"name": "Erlöse Projekte", "plTypes": ["revenue"]}).json()["id"]
    assert [each["categoryId"] for each in propose(api, row, paymentKinds=True)] == [own]
    api.post("categories", {"name": "Erlöse Beratung", "plTypes": ["revenue"]})
    assert propose(api, row, paymentKinds=True) == []


# ---------------------------------------------------------------------------------------------- missing categories


def test_missing_categories_are_added_when_somebody_asks(editor, inbox_path, api, books, bank):
    books.create_transaction(bank, "-9.00", fromTo="Somebody", description="Lunch")
    assert ADD_CATEGORIES not in text(editor.get(inbox_path))
    salary = books.create_transaction(bank, "-2500.00", fromTo="Anna Schneider", description="Gehalt Oktober")["id"]
    books.create_transaction(bank, "-2600.00", fromTo="Ben Schneider", description="Gehalt Oktober")
    books.create_transaction(bank, "-900.00", fromTo="Techniker Krankenkasse", description="Beitrag 10.2026")
    books.create_transaction(bank, "-700.00", fromTo="Hausverwaltung Beck GbR", description="Miete Büro Oktober")
    assert propose(api, salary, paymentKinds=True) == []
    before = len(api.get("categories").json())
    shown = editor.get(inbox_path)
    assert f"{ADD_CATEGORIES} Salaries (2) Social security (1) Rent (1)" in text(shown)
    assert len(api.get("categories").json()) == before
    nothing = editor.post(inbox_path, {"act": "add-categories"})
    assert nothing.status_code == 400
    assert "Select a category to add." in text(nothing)
    done = add_categories(editor, inbox_path, "salary", "socialSecurity")
    assert "Categories added: Salaries and Social security." in text(done)
    assert f"{ADD_CATEGORIES} Rent (1)" in text(done)
    added = {each["name"]: each for each in api.get("categories").json()[before:]}
    assert added["Salaries"]["plTypes"] == ["cogs", "cac", "pd", "ga"]
    assert (added["Salaries"]["system"], added["Salaries"]["systemKey"]) == (False, None)
    (proposal,) = propose(api, salary, paymentKinds=True)
    assert (proposal["categoryId"], proposal["plType"]) == (added["Salaries"]["id"], "ga")
    assert "Salaries · General and administration: Looks like a salary" in text(done)
    assert "The categories exist already." in text(add_categories(editor, inbox_path, "salary"))
    assert len(api.get("categories").json()) == before + 2


def test_added_category_takes_the_place_of_the_general_one(editor, inbox_path, api, books, bank):
    rent = books.create_transaction(bank, "-700.00", fromTo="Hausverwaltung Beck GbR", description="Miete Büro")["id"]
    (general,) = propose(api, rent, paymentKinds=True)
    assert general["categoryId"] == books.get_category_id("officeAndAdmin")
    add_categories(editor, inbox_path, "rent")
    (proposal,) = propose(api, rent, paymentKinds=True)
    category = next(each for each in api.get("categories").json() if each["id"] == proposal["categoryId"])
    assert (category["name"], category["plTypes"]) == ("Rent", ["ga"])


def test_no_category_is_offered_once_the_general_one_is_used(editor, inbox_path, api, books, bank):
    books.create_transaction(bank, "-700.00", fromTo="Hausverwaltung Beck GbR", description="Miete Büro")
    used = books.create_transaction(bank, "-9.00", fromTo="Somebody", description="Lunch")["id"]
    assert f"{ADD_CATEGORIES} Rent (1)" in text(editor.get(inbox_path))
    part = {"categoryId": books.get_category_id("officeAndAdmin"), "plSplit": {"ga": -9}}
    assert books.set_categorizations(used, part).status_code == 200
    assert ADD_CATEGORIES not in text(editor.get(inbox_path))


def test_names_of_added_categories_are_those_of_their_kinds():
    for kind, (name, _) in ADDABLE_CATEGORIES.items():
        for language in ("en", "de"):
            with override(language):
                option = CategoryOption(uuid4(), gettext(name), None, ("ga",))
            assert find_kind_category(kind, [option]) == (option.id, "ga"), (name, language)


def test_own_category_for_salaries_needs_no_other(editor, inbox_path, api, books, bank):
    api.post("categories", {"name": "Personalkosten", "plTypes": ["ga"]})
    books.create_transaction(bank, "-2500.00", fromTo="Anna Schneider", description="Gehalt Oktober")
    books.create_transaction(bank, "-900.00", fromTo="Techniker Krankenkasse", description="Beitrag 10.2026")
    shown = text(editor.get(inbox_path))
    assert ADD_CATEGORIES not in shown
    assert shown.count("Personalkosten: Looks like") == 2


@pytest.mark.parametrize(
    ("name", "pl_type"),
    [("Bürobedarf", "ga"), ("BÜROBEDARF", "pd"), ("Buerobedarf", "neutral"), ("Office supplies", "revenue")],
)
def test_own_category_of_the_name_needs_no_other_whatever_its_line(editor, inbox_path, api, books, bank, name, pl_type):
    books.create_transaction(bank, "-187.43", fromTo="Büro & Mehr GmbH", description="Bürobedarf RG 556677")
    assert f"{ADD_CATEGORIES} Office supplies (1)" in text(editor.get(inbox_path))
    assert api.post("categories", {"name": name, "plTypes": [pl_type]}).status_code == 201
    assert ADD_CATEGORIES not in text(editor.get(inbox_path))


# ---------------------------------------------------------------------------------------------- repeating a choice


@pytest.fixture
def novatec_ids(books, bank):
    """The ids of three payments of a customer, and one to it."""
    ids = [
        books.create_transaction(bank, amount, fromTo=name)["id"]
        for amount, name in (("1.00", "Novatec"), ("2.00", "NOVATEC"))
    ]
    ids.append(books.create_transaction(bank, "3.00", fromTo="novatec")["id"])
    return [*ids, books.create_transaction(bank, "-4.00", fromTo="Novatec")["id"]]


def test_choice_is_repeated_for_the_others_of_a_counterparty(editor, inbox_path, books, novatec_ids):
    form = {"act": "accept", "id": novatec_ids[0], "category": f"{books.get_category_id('revenueUsage')}:revenue"}
    done = editor.post(inbox_path, form, follow=True)
    assert "2 more transactions of “Novatec” are uncategorized." in text(done)
    assert "Categorize 2 as Usage-based revenue" in text(done)
    repeated = editor.post(inbox_path, {"act": "repeat", "id": novatec_ids[0]}, follow=True)
    assert "2 transactions categorized." in text(repeated)
    assert [bool(books.list_categorizations(row)) for row in novatec_ids] == [True, True, True, False]
    assert list_pl_amounts(books.list_categorizations(novatec_ids[2])[0]) == {"revenue": 3}
    run = re.search(r'name="run" value="([^"]+)"', repeated.content.decode())[1]
    editor.post(inbox_path, {"act": "undo", "run": run})
    assert [bool(books.list_categorizations(row)) for row in novatec_ids] == [True, False, False, False]


def test_choice_is_repeated_with_its_tax(editor, inbox_path, books, novatec_ids):
    part = {"categoryId": books.get_category_id("revenueUsage"), "plSplit": {"revenue": 0.84}, "passThroughTax": 0.16}
    books.set_categorizations(novatec_ids[0], part)
    editor.post(inbox_path, {"act": "repeat", "id": novatec_ids[0]})
    (other,) = books.list_categorizations(novatec_ids[2])
    assert (other["passThroughTax"], list_pl_amounts(other)) == (0.48, {"revenue": 2.52})


def test_uncategorized_transaction_offers_nothing_to_repeat(editor, inbox_path, books, novatec_ids):
    shown = editor.get(inbox_path, {"said": novatec_ids[0]})
    assert "more transactions of" not in text(shown)
    refused = editor.post(inbox_path, {"act": "repeat", "id": novatec_ids[0]})
    assert refused.status_code == 400
    assert "No other transactions of this counterparty." in text(refused)


def test_last_of_a_counterparty_offers_nothing_to_repeat(editor, inbox_path, books, novatec_ids):
    form = {"act": "accept", "id": novatec_ids[3], "category": f"{books.get_category_id('hosting')}:cogs"}
    assert "more transaction of" not in text(editor.post(inbox_path, form, follow=True))
