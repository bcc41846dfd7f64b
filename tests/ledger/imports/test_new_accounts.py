"""Creating the account of a file while its import is reviewed."""

from urllib.parse import urlsplit

import pytest

from companies.errors import ConflictError
from ledger.accounts.actions.accounts import create_account
from ledger.imports.pages import new_account
from ledger.models import Account, Transaction
from tests import factories
from tests.ledger.bank_file_builders import build_qif, build_simple_camt
from tests.ledger.bank_statements.test_statement_pages import confirm_import as confirm_statements
from tests.ledger.bank_statements.test_statement_pages import open_check_page as open_statements
from tests.ledger.closings.page_forms import parse_forms
from tests.ledger.imports.test_import_pages import build_page_path, confirm_import, open_check_page
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db

IBAN = "DE02120300000000202051"
STATED = f"Konto;{IBAN}\n\nDatum;Text;Betrag;Währung\n03.01.2026;Miete;-1.000,00;CHF\n04.01.2026;Lohn;2.000,00;CHF\n"
CARD = "Kreditkarte;5412********1188\n\nDatum;Text;Betrag\n03.01.2026;Hotel;-100,00\n"


@pytest.fixture
def editor(sign_in_browser, alice, acme):
    return sign_in_browser(alice, acme).client


FIELDS = ("name", "type", "defaultCurrency", "accountNumber")


def find_review_form(answer):
    """The form of the review that creates accounts, without those that only read."""
    forms = parse_forms(answer.request["PATH_INFO"], answer.content.decode())
    return next((form for form in forms if any(name == "create" for name, _, _ in form.buttons)), None)


def find_account_forms(answer):
    """The fields and chosen options of each account that can be created."""
    form = find_review_form(answer)
    fields = {field.name: field.value for field in form.fields} if form else {}
    positions = [name.removeprefix("name-") for name in fields if name.startswith("name-")]
    return [{name: fields[f"{name}-{position}"] for name in FIELDS} for position in positions]


def list_create_buttons(answer):
    return [value for name, value, _ in find_review_form(answer).buttons if name == "create"]


def create_proposed_accounts(client, answer, button=None, **changes):
    """Press the button that creates all accounts, or the one with this value; changes by field such as `name_0`."""
    form = find_review_form(answer)
    body = form.build_body() | {"create": [button or list_create_buttons(answer)[0]]}
    body |= {name.replace("_", "-"): [value] for name, value in changes.items()}
    return client.post(answer.request["PATH_INFO"], body, follow=True)


def list_accounts(company):
    rows = Account.objects.for_company(company.id).order_by("created_time")
    return [(row.name, row.type, row.default_currency, row.account_number) for row in rows]


def test_first_file_of_a_company_needs_no_account(editor, acme):
    assert b'name="file"' in editor.get(build_page_path(acme, "/new")).content
    _, check = open_check_page(editor, acme, "", STATED)
    assert f"No account has the number {IBAN}." in get_page_text(check)
    check = create_proposed_accounts(editor, check)
    assert list_accounts(acme) == [("Bank account 2051", "bank", "CHF", IBAN)]
    assert "Bank account 2051 created." in get_page_text(check)
    assert "Import 2 transactions" in get_page_text(check)
    confirm_import(editor, check.redirect_chain[-1][0])
    amounts = Transaction.objects.for_company(acme.id).order_by("date").values_list("amount_value", flat=True)
    assert list(amounts) == [-1000, 2000]


def test_form_that_is_sent_twice_creates_one_account(editor, acme):
    _, check = open_check_page(editor, acme, "", STATED)
    for _ in range(2):
        create_proposed_accounts(editor, check)
    assert len(list_accounts(acme)) == 1


def test_card_file_proposes_a_credit_card(editor, acme):
    _, check = open_check_page(editor, acme, "", CARD)
    assert "No account has the number 5412********1188." in get_page_text(check)
    create_proposed_accounts(editor, check, name_0="Company card")
    assert list_accounts(acme) == [("Company card", "creditCard", "EUR", "5412********1188")]
    assert not Account.objects.for_company(acme.id).get().include_in_cash_balance


def test_balance_before_the_first_row_becomes_the_opening_balance(editor, acme):
    _, check = open_check_page(editor, acme, "", f"{CARD}01.02.2026;Bahn;-20,00\n")
    assert "On 2 Jan 2026. Negative for debts" in get_page_text(check)
    _, check = open_check_page(editor, acme, "", CARD)  # of one month: a bank's file of it has no other rows
    assert "On 31 Dec 2025. Negative for debts" in get_page_text(check)
    refused = create_proposed_accounts(editor, check, openingBalance_0="1.2.3x")
    assert refused.status_code == 400
    assert "No account was created." in get_page_text(refused)
    check = create_proposed_accounts(editor, check, openingBalance_0="-1,187.40")
    confirm_import(editor, check.redirect_chain[-1][0])
    rows = Transaction.objects.for_company(acme.id).order_by("date")
    assert [(str(row.date), f"{row.amount_value:.2f}", row.is_initial) for row in rows] == [
        ("2025-12-31", "-1187.40", True),
        ("2026-01-03", "-100.00", False),
    ]


def test_file_with_balances_is_not_asked_for_one(editor, acme):
    _, check = open_check_page(
        editor, acme, "", "Datum;Text;Betrag;Saldo\n03.01.2026;Hotel;-100,00;900,00\n04.01.2026;Bahn;-50,00;850,00\n"
    )
    assert find_account_forms(check)
    assert "openingBalance" not in check.content.decode()


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
    check = create_proposed_accounts(editor, check)
    assert list_accounts(acme)[-1][1:] == ("bank", "EUR", form["accountNumber"])
    assert "Import 1 transaction" in get_page_text(check)


def open_three_files(client, company):
    files = [(f"{n}.qif", build_qif(["D01/31/2026", f"T-{n}.00", "PCoffee bar"])) for n in (1, 2, 3)]
    return open_statements(client, company, *files)


def test_each_file_without_number_gets_its_own_new_account(editor, acme, bank):
    _, check = open_three_files(editor, acme)
    assert "Create 3 accounts" in get_page_text(check)
    names = {"name_0": "First", "name_1": "Second", "name_2": "Third", "type_0": "cash"}
    check = create_proposed_accounts(editor, check, **names)
    assert "3 accounts created." in get_page_text(check)
    assert find_review_form(check) is None
    confirm_statements(editor, check.redirect_chain[-1][0], check)
    stored = Transaction.objects.for_company(acme.id).without_initial_balances().select_related("account")
    found = {row.account.name: row.amount_value for row in stored}
    assert found == {"First": -1, "Second": -2, "Third": -3}
    assert Account.objects.for_company(acme.id).get(name="First").type == "cash"


def test_one_account_is_created_and_the_others_keep_what_was_typed(editor, acme, bank):
    _, check = open_three_files(editor, acme)
    check = create_proposed_accounts(editor, check, "1", name_0="First", name_1="Second", type_2="cash")
    assert [row[0] for row in list_accounts(acme)][1:] == ["Second"]
    assert [(form["name"], form["type"]) for form in find_account_forms(check)] == [("First", "bank"), ("", "cash")]
    check = create_proposed_accounts(editor, check, name_2="Third")
    assert [row[0] for row in list_accounts(acme)][1:] == ["Second", "First", "Third"]
    assert "Import 3 transactions" in get_page_text(check)


def test_preview_keeps_what_was_typed(editor, acme, bank):
    _, check = open_three_files(editor, acme)
    body = find_review_form(check).build_body() | {"name-1": ["Second"], "account": [bank, "", ""]}
    check = editor.post(check.request["PATH_INFO"], body)
    assert [form["name"] for form in find_account_forms(check)] == ["Second", ""]
    assert "Create 2 accounts" in get_page_text(check)


def test_invalid_name_creates_no_account_and_says_which(editor, acme, bank):
    _, check = open_three_files(editor, acme)
    check = create_proposed_accounts(editor, check, name_0="First", name_1=" ", name_2="Third", defaultCurrency_2="XXX")
    assert check.status_code == 400
    assert len(list_accounts(acme)) == 1
    content, shown = check.content.decode(), get_page_text(check)
    assert "No account was created. Check the new accounts." in shown
    assert [f'id="{name}-error"' in content for name in ("name-0", "name-1", "defaultCurrency-2")] == [
        False,
        True,
        True,
    ]
    assert [form["name"] for form in find_account_forms(check)] == ["First", "", "Third"]


def test_failure_of_one_account_creates_none(editor, acme, bank, monkeypatch):
    names = []

    def fail_for_second(**values):
        names.append(values["values"]["name"])
        if len(names) == 2:
            raise ConflictError("Another change was made.")
        return create_account(**values)

    _, check = open_three_files(editor, acme)
    monkeypatch.setattr(new_account, "create_account", fail_for_second)
    check = create_proposed_accounts(editor, check, name_0="First", name_1="Second", name_2="Third")
    assert len(list_accounts(acme)) == 1
    assert "Another change was made." in get_page_text(check)
    assert [form["name"] for form in find_account_forms(check)] == ["First", "Second", "Third"]


def test_several_accounts_that_are_sent_twice_are_created_once(editor, acme, bank):
    _, check = open_three_files(editor, acme)
    names = {"name_0": "First", "name_1": "Second", "name_2": "Third"}
    for _ in range(2):
        again = create_proposed_accounts(editor, check, **names)
    assert len(list_accounts(acme)) == 4
    assert "already submitted" in get_page_text(again)


def test_files_of_one_number_share_a_new_account(editor, acme):
    files = [("january.xml", build_simple_camt("-40.00")), ("again.xml", build_simple_camt("-40.00", "-2.00"))]
    _, check = open_statements(editor, acme, *files)
    assert len(find_account_forms(check)) == 1
    assert "january.xml, again.xml" in get_page_text(check)
    check = create_proposed_accounts(editor, check)
    assert len(list_accounts(acme)) == 1
    assert find_review_form(check) is None


def test_invalid_account_is_refused_and_the_review_stays(editor, acme):
    _, check = open_check_page(editor, acme, "", STATED)
    for changes in ({"name_0": ""}, {"type_0": "vault"}, {"defaultCurrency_0": "XXX"}):
        again = create_proposed_accounts(editor, check, **{"accountNumber_0": "typed"} | changes)
        [field] = [name.replace("_", "-") for name in changes]
        assert again.status_code == 400, changes
        assert f'id="{field}-error"' in again.content.decode(), changes
        assert find_account_forms(again)[0]["accountNumber"] == "typed", changes
    assert list_accounts(acme) == []


def test_malformed_button_creates_nothing(editor, acme):
    _, check = open_check_page(editor, acme, "", STATED)
    for place in ("9" * 5000, "-1", "x", "٣", "1"):
        assert create_proposed_accounts(editor, check, place).status_code == 400, place
    assert list_accounts(acme) == []


def test_without_permission_for_accounts_none_is_offered(sign_in_browser, acme, bank, savings):
    held = ["transactions:read", "transactions:write", "accounts:read"]
    client = sign_in_browser(factories.make_member(acme, "some@acme.example", permissions=held), acme).client
    _, check = open_check_page(client, acme, "", STATED)
    assert find_account_forms(check) == []
    assert "Choose an account" in get_page_text(check)
    body = {"create": "all", "name-0": "Mine", "type-0": "bank", "defaultCurrency-0": "EUR"}
    assert client.post(check.request["PATH_INFO"], body).status_code == 403
    assert len(list_accounts(acme)) == 2


def test_only_account_is_not_chosen_for_the_file_of_another(editor, acme, books):
    books.create_account(name="Current", accountNumber="DE89370400440532013000")
    for text in (STATED, CARD):
        _, check = open_check_page(editor, acme, "", text)
        assert len(find_account_forms(check)) == 1


def test_account_can_be_created_where_the_chosen_one_is_wrong(editor, acme, books):
    account = books.create_account(name="Current", accountNumber="DE89370400440532013000")
    _, check = open_check_page(editor, acme, account, STATED)
    assert f"The file belongs to account {IBAN}, not to Current." in get_page_text(check)
    check = create_proposed_accounts(editor, check)
    assert "Import 2 transactions" in get_page_text(check)


def test_card_file_beside_statements_proposes_a_credit_card(editor, acme, main_account):
    _, check = open_statements(editor, acme, ("january.xml", build_simple_camt("-40.00")), ("card.csv", CARD.encode()))
    [form] = find_account_forms(check)
    assert (form["name"], form["type"], form["accountNumber"]) == ("Credit card 1188", "creditCard", "5412********1188")


def test_review_asks_for_accounts_in_german(editor, alice, acme):
    alice.locale = "de"
    alice.save()
    _, check = open_three_files(editor, acme)
    assert "3 Konten anlegen" in get_page_text(check)
    _, check = open_check_page(editor, acme, "", STATED)
    assert "Neues Konto" in get_page_text(check)
    assert "Konto anlegen" in get_page_text(check)


def test_each_file_without_balances_is_asked_for_one(editor, acme):
    table = f"Konto;Datum;Text;Betrag\n{IBAN};14.10.26;Umbuchung;100,00\n{IBAN};30.10.26;Zinsen;1,00\n"
    camt = ("bank.xml", build_simple_camt("-40.00"))
    _, check = open_statements(editor, acme, camt, ("savings.csv", table.encode()))
    assert "On 30 Sep 2026. Negative for debts" in get_page_text(check)
    assert check.content.decode().count("On 30 Sep 2026.") == check.content.decode().count("Negative for debts") == 1
