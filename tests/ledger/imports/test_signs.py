"""Signs on the page: what is asked about a minus and about the first row, and what of it is kept."""

import pytest

from tests.ledger.imports.sample_files import read_file
from tests.ledger.imports.test_import_pages import confirm_import, open_check_page
from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import get_status_and_code, upload_statement
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db


def settings_of(api, account):
    return api.get(f"accounts/{account}").json()["importSettings"]["csv"]


def test_meaning_of_minus_with_direction_is_asked_once_and_saved(editor, api, acme, bank):
    address, answer = open_check_page(editor, acme, bank, read_file("72_direction_with_reversal"))
    assert "What does the minus sign mean?" in get_page_text(answer)
    assert b"confirm-row" not in answer.content
    confirm_import(editor, f"{address}&answer:minusMeans.direction=%22reverses%22")
    assert [row[1] for row in list_stored(acme)] == ["-500.00", "20.50", "99.00"]
    assert settings_of(api, bank)["minusMeans"] == {"direction": "reverses"}
    _, answer = open_check_page(editor, acme, bank, read_file("72_direction_with_reversal").replace(b"-03-", b"-04-"))
    assert "What does the minus" not in get_page_text(answer)
    assert "€20.50" in get_page_text(answer)


def test_sign_of_unproven_row_is_asked_for_each_file(editor, api, acme, bank):
    address, answer = open_check_page(editor, acme, bank, read_file("84_unsigned_balance"))
    assert "One amount has no clear sign. Is it money in or money out?" in get_page_text(answer)
    confirm_import(editor, f"{address}&answer:unprovenSign=%22out%22")
    assert [row[1] for row in list_stored(acme)] == ["-500.00", "120.50"]
    remaining = settings_of(api, bank)
    assert (remaining["signFromBalance"], "unprovenSign" in remaining) == (True, False)
    answer = upload_statement(api, read_file("84_unsigned_balance").replace(b"-03-", b"-04-"), accountId=bank)
    assert get_status_and_code(answer) == (400, "mapping_ambiguous")
    assert [choice["field"] for choice in answer.json()["choices"]] == ["unprovenSign"]


def test_balances_listed_before_rows_determine_opening_balance(api, upload_statement_file, bank):
    (statements,) = upload_statement_file(read_file("77_balance_before"), accountId=bank)["statements"]
    assert (statements["openingBalance"], statements["closingBalance"]) == ("2000.00", "1619.50")


def test_amount_column_set_without_sign_still_asks_for_sign(api, bank):
    content = b"Date,Text,Amount\n2024-03-24,Rent,500.00\n"
    settings = '{"csv": {"columns": {"amount": "Amount"}}}'
    answer = upload_statement(api, content, accountId=bank, importSettings=settings)
    assert [choice["field"] for choice in answer.json()["choices"]] == ["flipSign"]


def test_balance_rows_are_left_out_but_similar_payments_are_imported(upload_statement_file, acme, bank):
    assert upload_statement_file(read_file("81_named_balances"), accountId=bank)["leftOut"] == 10
    assert upload_statement_file(read_file("81_payments_like_balances"), accountId=bank)["leftOut"] == 0


@pytest.mark.parametrize("footer", ["Total,,-99,", ",Total,-99,"])
def test_footer_does_not_give_an_amount_its_sign(api, acme, bank, footer):
    text = f"Date,Text,Amount,Balance\n2026-01-15,Rent,99,3138.28\n{footer}\n"
    answer = upload_statement(api, text.encode(), name="rows.csv", accountId=bank)
    assert get_status_and_code(answer) == (400, "mapping_ambiguous")
    assert [choice["field"] for choice in answer.json()["choices"]] == ["flipSign"]
