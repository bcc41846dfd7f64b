"""Files of several kinds uploaded at once: each is imported, and a table that asks waits for its answers."""

import re
from html import unescape

import pytest

from ledger.imports.actions import uploads
from ledger.models import ImportBatch, Transaction
from tests.ledger.bank_file_builders import build_qif, build_simple_camt
from tests.ledger.bank_statements.test_statement_pages import (
    build_page_path,
    confirm_import,
    open_check_page,
)
from tests.ledger.conftest import get_page_text
from tests.ledger.imports.test_import_pages import parse_choices

pytestmark = pytest.mark.django_db
CLEAR = b"Date,Text,Amount\n2026-01-15,Rent,-10.50\n2026-01-16,Sale,20.00\n"
ASKS = b"Date,Text,Amount\n01/02/2026,Rent,-7.00\n03/04/2026,Sale,8.00\n"  # day or month first
BLANK = b"What,Who\nx,y\n"  # its columns are not known
STATEMENT = build_simple_camt("-40.00", "25.50")


def answer_questions(client, answer):
    """Choose the first option of each question of a page, and import."""
    while 'type="radio"' in (html := answer.content.decode()):
        form = next(each for each in re.findall(r"<form.*?</form>", html, re.DOTALL) if 'type="radio"' in each)
        sent: dict[str, str] = {}
        for tag in re.findall(r"<input[^>]*>", form):
            name, value = re.search(r'name="([^"]*)"', tag)[1], re.search(r'value="([^"]*)"', tag)
            sent.setdefault(unescape(name), unescape(value[1]) if value else "")
        answer = client.get(answer.request["PATH_INFO"], sent)
    return client.post(answer.request["PATH_INFO"], parse_choices(answer), follow=True)


def list_amounts(company):
    rows = Transaction.objects.for_company(company.id).without_initial_balances()
    return sorted(float(amount) for amount in rows.values_list("amount_value", flat=True))


def test_first_csv_file_is_imported_beside_a_statement(editor, acme, main_account):
    address, answer = open_check_page(editor, acme, ("a.csv", CLEAR), ("b.xml", STATEMENT), account=main_account)
    assert "4 transactions imported from 2 files." in get_page_text(confirm_import(editor, address, answer))
    assert list_amounts(acme) == [-40, -10.5, 20, 25.5]


def test_file_that_asks_gets_its_page_after_the_others_are_imported(editor, acme, main_account):
    address, answer = open_check_page(editor, acme, ("asks.csv", ASKS), ("b.xml", STATEMENT), account=main_account)
    text = get_page_text(answer)
    assert "You are asked about it once the other files are imported." in text
    assert "Import 2 transactions" in text
    assert list_amounts(acme) == []
    question = confirm_import(editor, address, answer)
    text = get_page_text(question)
    assert "2 transactions imported from 1 file." in text
    assert "Choose how to read “asks.csv”." in text
    assert list_amounts(acme) == [-40, 25.5]
    assert "asks.csv" in get_page_text(editor.get(build_page_path(acme))), "it can be answered later"
    done = answer_questions(editor, question)
    assert list_amounts(acme) == [-40, -7, 8, 25.5]
    assert done.request["PATH_INFO"] == build_page_path(acme)
    assert "Files that wait for your answer" not in get_page_text(done)


def test_files_that_ask_are_asked_one_after_the_other(editor, acme, main_account):
    files = (("first.csv", ASKS), ("second.csv", ASKS.replace(b"7.00", b"9.00").replace(b"8.00", b"6.00")))
    address, answer = open_check_page(editor, acme, *files, account=main_account)
    assert "Continue" in get_page_text(answer)
    question = confirm_import(editor, address, answer)
    assert "Choose how to read “first.csv”." in get_page_text(question)
    assert not ImportBatch.objects.exists()
    question = answer_questions(editor, question)
    assert "Choose how to read “second.csv”." in get_page_text(question)
    answer_questions(editor, question)
    assert list_amounts(acme) == [-9, -7, 6, 8]


def test_table_without_known_columns_waits_too(editor, acme, main_account):
    address, answer = open_check_page(editor, acme, ("blank.csv", BLANK), ("b.xml", STATEMENT), account=main_account)
    question = confirm_import(editor, address, answer)
    assert "Choose how to read “blank.csv”." in get_page_text(question)
    assert "First lines of the file" in get_page_text(question)


def test_rejected_file_stops_all_and_nothing_is_stored(editor, acme, main_account):
    files = (("asks.csv", ASKS), ("b.xml", STATEMENT), ("broken.xml", STATEMENT[:-40]))
    address, answer = open_check_page(editor, acme, *files, account=main_account)
    assert re.search(r'<button class="button primary" type="submit" disabled>', answer.content.decode())
    refused = confirm_import(editor, address, answer)
    assert refused.status_code == 400
    assert (list_amounts(acme), ImportBatch.objects.count()) == ([], 0)
    others = unescape(re.search(r'href="(\?[^"]*upload=[^"]*)"', answer.content.decode())[1])
    remaining = editor.get(answer.request["PATH_INFO"] + others)
    question = confirm_import(editor, answer.request["PATH_INFO"], remaining)
    assert "Choose how to read “asks.csv”." in get_page_text(question)
    assert list_amounts(acme) == [-40, 25.5]


def test_expired_file_no_longer_waits(editor, acme, main_account, monkeypatch):
    address, answer = open_check_page(editor, acme, ("asks.csv", ASKS), ("b.xml", STATEMENT), account=main_account)
    confirm_import(editor, address, answer)
    monkeypatch.setattr(uploads, "is_upload_stored", lambda **key: False)
    assert "Files that wait for your answer" not in get_page_text(editor.get(build_page_path(acme)))


@pytest.mark.parametrize(("name", "content", "is_asked"), [("b.xml", STATEMENT, False), ("b.qif", b"", True)])
def test_date_format_is_asked_of_qif_alone(editor, acme, main_account, name, content, is_asked):
    content = content or build_qif(["D02/03/2026", "T-6.00"])
    _, answer = open_check_page(editor, acme, ("a.csv", CLEAR), (name, content), account=main_account)
    assert ("Date format (QIF)" in get_page_text(answer)) is is_asked
