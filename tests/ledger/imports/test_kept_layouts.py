"""What is kept of a file and does not fit the next one: it is proven anew or asked, never applied silently."""

import pytest

from tests.ledger.imports.sample_files import read_file
from tests.ledger.imports.test_import_pages import confirm_import, open_check_page
from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import upload_statement
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db


def keep_settings(api, account, **settings):
    assert api.put(f"accounts/{account}", {"importSettings": {"csv": settings}}).status_code == 200


# ---------------------------------------------------------------------------------------------- currencies and fees


def test_kept_amount_column_is_replaced_where_the_balance_contradicts_it(editor, upload_statement_file, acme, bank):
    confirm_import(editor, open_check_page(editor, acme, bank, read_file("121_revolut_business_a"))[0])
    _, answer = open_check_page(editor, acme, bank, read_file("121_revolut_business_b"))
    assert "−€20.10" in get_page_text(answer)
    assert "−€101.00" in get_page_text(answer)
    upload_statement_file(read_file("121_revolut_business_b"), accountId=bank)
    assert [row[1:] for row in list_stored(acme)[2:]] == [("-20.10", "EUR"), ("-101.00", "EUR")]


def test_kept_column_of_original_currencies_gives_way_to_that_of_the_amount(api, upload_statement_file, acme, bank):
    keep_settings(api, bank, columns={"amount": "Total amount", "currency": "Orig currency"})
    upload_statement_file(read_file("121_revolut_business_b"), accountId=bank)
    assert [row[1:] for row in list_stored(acme)] == [("-20.10", "EUR"), ("-101.00", "EUR")]


def test_fee_is_taken_off_where_the_balance_shows_it_after_an_answer(api, acme, bank):
    settings = '{"csv": {"columns": {"amount": "Amount", "currency": "Payment currency"}}}'
    answer = upload_statement(api, read_file("121_revolut_business_b"), accountId=bank, importSettings=settings)
    assert answer.status_code == 200, answer.content
    assert [row[1] for row in list_stored(acme)] == ["-20.10", "-101.00"]


# ---------------------------------------------------------------------------------------------- signs of other layouts

TRANSACTIONS = "Transaction Date,Type,Order,Amount\n2025-03-01,charge,#1,50.00\n2025-03-02,charge,#2,20.00\n"
PAYOUTS = "Payout Date,Status,Total\n2025-03-03,paid,70.00\n2025-03-04,paid,30.00\n"


@pytest.mark.parametrize(("first", "second"), [(TRANSACTIONS, PAYOUTS), (PAYOUTS, TRANSACTIONS)])
def test_kept_sign_is_asked_anew_for_other_headings(editor, acme, bank, first, second):
    address, answer = open_check_page(editor, acme, bank, first)
    assert "Are amounts without a minus sign money in or money out?" in get_page_text(answer)
    confirm_import(editor, f"{address}&answer:flipSign=false")
    _, answer = open_check_page(editor, acme, bank, second)
    assert "Are amounts without a minus sign money in or money out?" in get_page_text(answer)
    assert b"confirm-row" not in answer.content


def test_kept_sign_is_used_for_the_same_headings(editor, acme, bank):
    address, _ = open_check_page(editor, acme, bank, PAYOUTS)
    confirm_import(editor, f"{address}&answer:flipSign=true")
    _, answer = open_check_page(editor, acme, bank, PAYOUTS.replace("-03-", "-04-"))
    assert "Questions about the file" not in get_page_text(answer)
    assert "−€70.00" in get_page_text(answer)


def test_kept_settings_without_fee_ask_for_the_fee_of_other_headings(editor, api, acme, bank):
    confirm_import(
        editor, open_check_page(editor, acme, bank, "Date,Text,Amount\n2025-03-01,a,-1.00\n2025-03-02,b,2.00\n")[0]
    )
    fees = b"Date,Text,Amount,Fee\n2025-04-01,a,-1.00,0.10\n2025-04-02,b,2.00,0.20\n"
    answer = upload_statement(api, fees, accountId=bank)
    assert [choice["field"] for choice in answer.json()["choices"]] == ["columns.fee"]
