"""Creating the account of a file while its import is reviewed."""

import re
from html import unescape
from urllib.parse import urlsplit

import pytest

from ledger.models import Account, Transaction
from tests import factories
from tests.ledger.bank_file_builders import build_qif, build_simple_camt
from tests.ledger.bank_statements.test_statement_pages import confirm_import as confirm_statements
from tests.ledger.bank_statements.test_statement_pages import open_check_page as open_statements
from tests.ledger.imports.test_import_pages import build_page_path, confirm_import, open_check_page
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db

IBAN = "DE02120300000000202051"
STATED = f"Konto;{IBAN}\n\nDatum;Text;Betrag;Währung\n03.01.2026;Miete;-1.000,00;CHF\n04.01.2026;Lohn;2.000,00;CHF\n"
CARD = "Kreditkarte;5412********1188\n\nDatum;Text;Betrag\n03.01.2026;Hotel;-100,00\n"


@pytest.fixture
def editor(sign_in_browser, alice, acme):
    return sign_in_browser(alice, acme).client


def find_account_forms(answer):
    """The fields and chosen options of each form that creates an account."""
    forms = re.findall(r"<form [^>]*accounts/new-for-import.*?</form>", answer.content.decode(), re.DOTALL)
    return [parse_form(form) for form in forms]


def parse_form(form):
    inputs = re.findall(r'<input [^>]*name="([^"]+)"[^>]* value="([^"]*)"', form)
    selects = re.findall(r'<select [^>]*name="([^"]+)".*?<option value="([^"]*)" selected', form, re.DOTALL)
    return {name: unescape(value) for name, value in [*inputs, *selects] if name != "csrfmiddlewaretoken"}


def create_proposed_account(client, company, answer, *, form=0, **changes):
    path = f"/app/companies/{company.id}/accounts/new-for-import"
    return client.post(path, find_account_forms(answer)[form] | changes, follow=True)


def list_accounts(company):
    rows = Account.objects.for_company(company.id).order_by("created_time")
    return [(row.name, row.type, row.default_currency, row.account_number) for row in rows]


def test_first_file_of_a_company_needs_no_account(editor, acme):
    assert b'name="file"' in editor.get(build_page_path(acme, "/new")).content
    _, check = open_check_page(editor, acme, "", STATED)
    assert f"No account has the number {IBAN}." in get_page_text(check)
    check = create_proposed_account(editor, acme, check)
    assert list_accounts(acme) == [("Bank account 2051", "bank", "CHF", IBAN)]
    assert "Bank account 2051 created." in get_page_text(check)
    assert "Import 2 transactions" in get_page_text(check)
    confirm_import(editor, check.redirect_chain[-1][0])
    amounts = Transaction.objects.for_company(acme.id).order_by("date").values_list("amount_value", flat=True)
    assert list(amounts) == [-1000, 2000]


def test_form_that_is_sent_twice_creates_one_account(editor, acme):
    _, check = open_check_page(editor, acme, "", STATED)
    for _ in range(2):
        create_proposed_account(editor, acme, check)
    assert len(list_accounts(acme)) == 1


def test_card_file_proposes_a_credit_card(editor, acme):
    _, check = open_check_page(editor, acme, "", CARD)
    assert "No account has the number 5412********1188." in get_page_text(check)
    create_proposed_account(editor, acme, check, name="Company card")
    assert list_accounts(acme) == [("Company card", "creditCard", "EUR", "5412********1188")]
    assert not Account.objects.for_company(acme.id).get().include_in_cash_balance


@pytest.mark.parametrize(
    ("above", "name"),
    [
        ("Kreditkarte;5412********1188;;", "Credit card 1188"),
        ("Card number: XXXX XXXX XXXX 1188", "Credit card 1188"),
        ("Card;**** 1188;**** 2299;", "Credit card"),
        ("Card;********11885;;", "Credit card"),
    ],
)
def test_card_is_named_by_the_last_digits_of_its_masked_number(editor, acme, above, name):
    _, check = open_check_page(editor, acme, "", CARD.replace("Kreditkarte;5412********1188", above))
    assert find_account_forms(check)[0]["name"] == name


def test_account_is_chosen_before_the_file_is_read(editor, acme, bank, savings):
    address, check = open_check_page(editor, acme, "", CARD)
    assert "Import settings" not in get_page_text(check)
    read = editor.get(urlsplit(address).path, {"account": savings, "name": "bank.csv"})
    assert "Import 1 transaction" in get_page_text(read)


def test_statement_with_an_unknown_number_creates_its_account(editor, acme, bank):
    _, check = open_statements(editor, acme, ("january.xml", build_simple_camt("-40.00")))
    [form] = find_account_forms(check)
    check = create_proposed_account(editor, acme, check)
    assert list_accounts(acme)[-1][1:] == ("bank", "EUR", form["accountNumber"])
    assert "Import 1 transaction" in get_page_text(check)


def test_each_file_without_number_gets_its_own_new_account(editor, acme, bank):
    files = [(f"{n}.qif", build_qif(["D01/31/2026", f"T-{n}.00", "PCoffee bar"])) for n in (1, 2)]
    _, check = open_statements(editor, acme, *files)
    check = create_proposed_account(editor, acme, check, form=1, name="Second")
    assert len(find_account_forms(check)) == 1
    check = create_proposed_account(editor, acme, check, name="First", type="cash")
    confirm_statements(editor, check.redirect_chain[-1][0], check)
    stored = Transaction.objects.for_company(acme.id).without_initial_balances().select_related("account")
    assert {row.account.name: row.amount_value for row in stored} == {"First": -1, "Second": -2}


def test_invalid_account_is_refused_and_the_review_stays(editor, acme):
    _, check = open_check_page(editor, acme, "", STATED)
    for changes, message in [
        ({"name": ""}, "Name"),
        ({"type": "vault"}, "Type"),
        ({"defaultCurrency": "XXX"}, "Currency"),
    ]:
        again = create_proposed_account(editor, acme, check, **changes)
        assert message in get_page_text(again), changes
        assert find_account_forms(again), changes
    assert list_accounts(acme) == []


def test_address_to_return_to_is_a_review_of_the_company(editor, acme, globex):
    _, check = open_check_page(editor, acme, "", STATED)
    for review in (
        "https://evil.example/",
        "//evil.example",
        f"/app/companies/{globex.id}/imports/new",
        "",
        "/sign-in",
    ):
        path = f"/app/companies/{acme.id}/accounts/new-for-import"
        answer = editor.post(path, find_account_forms(check)[0] | {"review": review})
        assert answer["Location"] == build_page_path(acme, "/new"), review


def test_malformed_place_of_a_file_is_ignored(editor, acme):
    _, check = open_check_page(editor, acme, "", STATED)
    for place in ("9" * 5000, "-1", "x", "٣"):
        assert "Import 2 transactions" in get_page_text(create_proposed_account(editor, acme, check, file=place))
        Account.objects.for_company(acme.id).delete()


def test_without_permission_for_accounts_none_is_offered(sign_in_browser, acme, bank, savings):
    held = ["transactions:read", "transactions:write", "accounts:read"]
    client = sign_in_browser(factories.make_member(acme, "some@acme.example", permissions=held), acme).client
    _, check = open_check_page(client, acme, "", STATED)
    assert find_account_forms(check) == []
    assert "Choose an account" in get_page_text(check)
    path = f"/app/companies/{acme.id}/accounts/new-for-import"
    assert client.post(path, {"name": "Mine", "type": "bank", "defaultCurrency": "EUR"}).status_code == 403


def test_only_account_is_not_chosen_for_the_file_of_another(editor, acme, books):
    books.create_account(name="Current", accountNumber="DE89370400440532013000")
    for text in (STATED, CARD):
        _, check = open_check_page(editor, acme, "", text)
        assert len(find_account_forms(check)) == 1


def test_account_can_be_created_where_the_chosen_one_is_wrong(editor, acme, books):
    account = books.create_account(name="Current", accountNumber="DE89370400440532013000")
    _, check = open_check_page(editor, acme, account, STATED)
    assert f"The file belongs to account {IBAN}, not to Current." in get_page_text(check)
    check = create_proposed_account(editor, acme, check)
    assert "Import 2 transactions" in get_page_text(check)


def test_card_file_beside_statements_proposes_a_credit_card(editor, acme, main_account):
    _, check = open_statements(editor, acme, ("january.xml", build_simple_camt("-40.00")), ("card.csv", CARD.encode()))
    [form] = find_account_forms(check)
    assert (form["name"], form["type"], form["accountNumber"]) == ("Credit card 1188", "creditCard", "5412********1188")
