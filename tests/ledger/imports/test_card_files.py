"""Files of cards, whose numbers are masked: which account they are of, and what their balance column proves."""

import re

import pytest

from ledger.models import Account
from tests import factories
from tests.ledger.bank_file_builders import build_ofx, build_simple_camt
from tests.ledger.bank_statements.test_statement_pages import confirm_import as confirm_statements
from tests.ledger.bank_statements.test_statement_pages import open_check_page as open_statements
from tests.ledger.imports.test_import_pages import confirm_import, open_check_page
from tests.ledger.imports.test_new_accounts import create_proposed_accounts, find_account_forms
from tests.ledger.statement_upload import get_status_and_code, list_stored_rows, upload_statement
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db

HEAD = (
    "Kreditkarte;{};;;\nZeitraum;01.11.2026 - 30.11.2026;;;\n\n"
    "Belegdatum;Buchungsdatum;Beschreibung;Betrag (EUR);Saldo (EUR)\n"
)
MASKED = "5412********1188"
ROWS = (
    "2026-11-02;2026-11-02;CLAUDE.AI ANTHROPIC;-178,50;-2.135,00",
    "2026-11-06;2026-11-06;UBER *TRIP;-34,20;-2.169,20",
    "2026-11-16;2026-11-16;ZAHLUNG ERHALTEN BESTEN DANK;1.956,50;-212,70",
)
SIGN_QUESTION = "Are amounts without a minus sign money in or money out?"


def build_card_file(*rows, number=MASKED):
    return HEAD.format(number) + "".join(f"{row}\n" for row in rows or ROWS)


@pytest.fixture
def card(books):
    return books.create_account(name="Company card", type="creditCard", accountNumber="1188")


def is_chosen(answer, account):
    return f'<input type="hidden" name="account" value="{account}">' in answer.content.decode()


# ---------------------------------------------------------------------------------------------- masked numbers


@pytest.mark.parametrize(
    ("stored", "stated"),
    [
        ("1188", MASKED),
        ("5412 3456 1234 1188", MASKED),
        ("XXXX-1188", "5412 34XX XXXX 1188"),
        ("1188", "XXXX-1188"),
        ("DE12500105170648481234", "DE12 **** **** 1234"),
    ],
)
def test_masked_number_chooses_the_account_that_has_its_digits(editor, acme, books, bank, stored, stated):
    account = books.create_account(name="Company card", type="creditCard", accountNumber=stored)
    _, check = open_check_page(editor, acme, "", build_card_file(number=stated))
    assert "Import 3 transactions" in get_page_text(check)
    assert is_chosen(check, account)


@pytest.mark.parametrize("stored", ["4929 3456 1234 1188", "2299", "41188"])
def test_masked_number_chooses_no_account_with_other_digits(editor, acme, books, stored):
    books.create_account(name="Company card", type="creditCard", accountNumber=stored)
    _, check = open_check_page(editor, acme, "", build_card_file())
    assert f"No account has the number {MASKED}." in get_page_text(check)


def test_masked_number_of_two_accounts_chooses_none_and_offers_no_third(editor, acme, books, card):
    books.create_account(name="Second card", type="creditCard", accountNumber="5412********1188")
    _, check = open_check_page(editor, acme, "", build_card_file())
    assert "Several accounts have the number" in get_page_text(check)
    assert find_account_forms(check) == []


def test_archived_account_with_the_number_is_named_and_none_is_offered(editor, acme, card, bank):
    Account.objects.for_company(acme.id).filter(id=card).update(archived=True)
    batch = ("giro.xml", build_simple_camt("-40.00")), ("november.csv", build_card_file().encode())
    for check in (
        open_check_page(editor, acme, "", build_card_file())[1],
        open_statements(editor, acme, *batch)[1],
    ):
        assert "Archived account Company card has the number" in get_page_text(check)
        assert MASKED not in [form["accountNumber"] for form in find_account_forms(check)]


def test_account_of_a_card_without_number_is_found_by_the_digits_in_its_name(editor, acme, books, bank):
    account = books.create_account(name="Credit card 1188", type="creditCard")
    _, check = open_check_page(editor, acme, "", build_card_file())
    assert is_chosen(check, account)


def test_masked_number_in_the_name_of_a_file_chooses_its_account(editor, acme, card, bank):
    text = build_card_file().partition("\n\n")[2]
    _, check = open_check_page(editor, acme, "", text, name="Umsatz_XXXX-1188_2026-11.csv")
    assert is_chosen(check, card)
    _, check = open_check_page(editor, acme, "", text, name="Umsatz_2026-11.csv")
    assert "The file contains no account number." in get_page_text(check)


def test_masked_number_chooses_the_account_in_a_batch(editor, acme, main_account, card):
    headless = build_card_file().partition("\n\n")[2].encode()
    for name, text in (("november.csv", build_card_file().encode()), ("XXXX-1188.csv", headless)):
        _, check = open_statements(editor, acme, ("giro.xml", build_simple_camt("-40.00")), (name, text))
        assert "Import 4 transactions" in get_page_text(check), name
        assert "Company card" in get_page_text(check), name
        assert find_account_forms(check) == [], name


def test_masked_number_chooses_the_account_over_the_api(upload_statement_file, card, bank):
    (statement,) = upload_statement_file(build_card_file().encode())["statements"]
    assert (statement["accountId"], statement["count"]) == (card, 3)


@pytest.mark.parametrize("stored", ["1188", MASKED, "5412345612341188"])
def test_masked_number_of_a_statement_finds_its_account(upload_statement_file, books, stored):
    account = books.create_account(name="Company card", type="creditCard", accountNumber=stored)
    movement = {"TRNTYPE": "DEBIT", "DTPOSTED": "20261102", "TRNAMT": "-178.50", "FITID": "1", "NAME": "CLAUDE.AI"}
    content = build_ofx(movement, account="XXXXXXXXXXXX1188")
    for account_id in ({}, {"accountId": account}):
        (statement,) = upload_statement_file(content, dryRun="true", **account_id)["statements"]
        assert (statement["accountId"], statement["count"]) == (account, 1)


def test_file_of_one_card_is_refused_for_another_one_that_is_not_it(api, books, card):
    other = books.create_account(name="Second card", type="creditCard", accountNumber="2299")
    answer = upload_statement(api, build_card_file().encode(), accountId=other)
    assert get_status_and_code(answer) == (400, "account_differs")


def test_masked_number_is_accepted_for_an_account_with_the_number_of_a_contract(upload_statement_file, books):
    account = books.create_account(name="Card", type="creditCard", accountNumber="4711123456")
    assert upload_statement_file(build_card_file().encode(), accountId=account)["count"] == 3


def test_second_card_does_not_go_to_the_first_one_with_the_same_columns(editor, acme, card):
    address, _ = open_check_page(editor, acme, "", build_card_file())
    confirm_import(editor, address)
    assert len(list_stored_rows(acme)) == 3
    _, check = open_check_page(editor, acme, "", build_card_file(number="5412********2299"))
    assert [form["name"] for form in find_account_forms(check)] == ["Credit card 2299"]


def test_next_month_finds_the_account_that_was_created_for_the_first(editor, acme, bank):
    _, check = open_check_page(editor, acme, "", build_card_file())
    check = create_proposed_accounts(editor, check)
    confirm_import(editor, check.redirect_chain[-1][0])
    account = Account.objects.for_company(acme.id).get(type="creditCard")
    assert (account.name, account.account_number) == ("Credit card 1188", MASKED)
    next_month = build_card_file("2026-12-02;2026-12-02;NOTION LABS;-20,00;-232,70")
    _, check = open_check_page(editor, acme, "", next_month)
    assert is_chosen(check, account.id)


def test_page_shows_no_error_before_it_is_submitted(editor, acme, bank):
    _, check = open_check_page(editor, acme, "", build_card_file())
    assert not re.search(r"aria-invalid|field-error", check.content.decode())
    assert "This field is required." not in get_page_text(check)


# ---------------------------------------------------------------------------------------------- signs


@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1], ROWS[1:], ROWS[:0:-1], ROWS[:2], ROWS[1::-1]])
@pytest.mark.parametrize("day_first", [False, True])
def test_negative_balances_prove_the_signs_in_any_order(editor, acme, card, rows, day_first):
    """Of two rows one may be money in, as of a card whose charges have no minus."""
    text = build_card_file(*rows)
    if day_first:
        text = re.sub(r"(\d{4})-(\d\d)-(\d\d)", r"\3.\2.\1", text)
    address, check = open_check_page(editor, acme, "", text)
    assert SIGN_QUESTION not in get_page_text(check)
    confirm_import(editor, address)
    amounts = {"CLAUDE.AI ANTHROPIC": "-178.50", "UBER *TRIP": "-34.20", "ZAHLUNG ERHALTEN BESTEN DANK": "1956.50"}
    stored = {row[3]: row[1] for row in list_stored_rows(acme)}
    assert stored == {name: amount for name, amount in amounts.items() if any(name in row for row in rows)}


def test_balance_that_does_not_agree_with_each_row_proves_no_signs(editor, acme, card):
    rows = [ROWS[0], ROWS[1].replace("-2.169,20", "-2.169,21"), ROWS[2]]
    _, check = open_check_page(editor, acme, "", build_card_file(*rows))
    assert SIGN_QUESTION in get_page_text(check)


OWED = (
    "2026-11-02;2026-11-02;CLAUDE.AI ANTHROPIC;178,50;2.135,00",
    "2026-11-06;2026-11-06;UBER *TRIP;34,20;2.169,20",
    "2026-11-16;2026-11-16;ZAHLUNG ERHALTEN BESTEN DANK;-1.956,50;212,70",
)


def test_balance_of_what_is_owed_is_asked_about(editor, acme, card):
    _, check = open_check_page(editor, acme, "", build_card_file(*OWED))
    assert SIGN_QUESTION in get_page_text(check)


@pytest.fixture
def october(books, card):
    """The balance of the card before November."""
    return books.create_transaction(card, "-1956.50", "2026-10-30")


@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], OWED, OWED[::-1], OWED[:1]])
def test_balance_of_the_account_before_the_file_proves_the_signs(editor, acme, card, october, rows):
    address, check = open_check_page(editor, acme, "", build_card_file(*rows))
    assert SIGN_QUESTION not in get_page_text(check)
    confirm_import(editor, address)
    assert [row[1] for row in list_stored_rows(acme)] == ["-1956.50", "-178.50", "-34.20", "1956.50"][: len(rows) + 1]


@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1], ROWS[:1], OWED, OWED[:1]])
def test_balance_of_the_account_before_the_file_proves_the_first_row_without_signs(editor, acme, card, october, rows):
    unsigned = [";".join((*row.split(";")[:3], row.split(";")[3].lstrip("-"), row.split(";")[4])) for row in rows]
    address, check = open_check_page(editor, acme, "", build_card_file(*unsigned))
    assert "Questions about the file" not in get_page_text(check)
    confirm_import(editor, address)
    assert [row[1] for row in list_stored_rows(acme)] == ["-1956.50", "-178.50", "-34.20", "1956.50"][: len(rows) + 1]


def test_balance_of_the_account_that_the_file_does_not_continue_proves_nothing(editor, acme, card, october):
    row = "2026-11-02;2026-11-02;CLAUDE.AI ANTHROPIC;178,50;2.500,00"
    _, check = open_check_page(editor, acme, "", build_card_file(row))
    assert SIGN_QUESTION in get_page_text(check)


def test_answer_for_one_month_is_kept_for_the_next(editor, acme, card):
    address, _ = open_check_page(editor, acme, "", build_card_file(*OWED))
    confirm_import(editor, f"{address}&answer:flipSign=true")
    after_a_gap = "2026-12-02;2026-12-02;NOTION LABS;20,00;500,00"
    address, check = open_check_page(editor, acme, "", build_card_file(after_a_gap))
    assert SIGN_QUESTION not in get_page_text(check)
    confirm_import(editor, address)
    assert list_stored_rows(acme)[-1][:2] == ("2026-12-02", "-20.00")


def test_signs_proven_in_a_batch_are_kept_for_the_next_month(editor, acme, main_account, card):
    batch = ("giro.xml", build_simple_camt("-40.00")), ("november.csv", build_card_file().encode())
    confirm_statements(editor, *open_statements(editor, acme, *batch))
    refund = "2026-12-02;2026-12-02;ERSTATTUNG;20,00;-500,00"  # alone it may be what is owed
    _, check = open_check_page(editor, acme, "", build_card_file(refund))
    assert SIGN_QUESTION not in get_page_text(check)
    assert Account.objects.for_company(acme.id).get(id=card).import_settings["csv"]["flipSign"] is False


def test_batch_without_permission_for_accounts_keeps_no_settings(sign_in_browser, acme, main_account, card):
    held = ["transactions:read", "transactions:write", "accounts:read"]
    client = sign_in_browser(factories.make_member(acme, "some@acme.example", permissions=held), acme).client
    batch = ("giro.xml", build_simple_camt("-40.00")), ("november.csv", build_card_file().encode())
    confirm_statements(client, *open_statements(client, acme, *batch))
    assert len(list_stored_rows(acme)) == 4
    assert not (Account.objects.for_company(acme.id).get(id=card).import_settings or {}).get("csv")
