"""Creating the other leg of a transfer of which only one transaction is booked."""

from uuid import uuid4

import pytest

from companies.models import AuditEntry
from ledger.models import Transaction
from tests.ledger.bank_file_builders import build_simple_camt
from tests.ledger.conftest import get_page_text
from tests.ledger.statement_upload import upload_statement

pytestmark = pytest.mark.django_db

DAY = "2026-03-15"


@pytest.fixture
def editor(sign_in_browser, alice, acme):
    return sign_in_browser(alice, acme).client


@pytest.fixture
def outgoing_id(books, bank):
    return books.create_transaction(bank, "-100.00", DAY, fromTo="To savings", description="Reserve")["id"]


def build_path(acme, transaction, path=""):
    return f"/app/companies/{acme.id}/transactions/{transaction}{path}"


def create_leg(editor, acme, transaction, **form):
    return editor.post(build_path(acme, transaction, "/other-leg"), form, follow=True)


def list_rows(acme, account):
    rows = Transaction.objects.for_company(acme.id).filter(account_id=account)
    return [(str(row.date), row.amount_value, row.from_to, row.is_open, row.transferred_value) for row in rows]


def test_other_leg_is_booked_and_linked_in_one_act(editor, acme, books, bank, savings, outgoing_id):
    link_page = editor.get(build_path(acme, outgoing_id, "/link"))
    assert build_path(acme, outgoing_id, "/other-leg") in link_page.content.decode()
    form = get_page_text(editor.get(build_path(acme, outgoing_id, "/other-leg")))
    assert "−€100.00 on 15 Mar 2026, Main." in form
    answer = create_leg(editor, acme, outgoing_id, accountId=savings)
    assert "Other side created on Savings and linked as a transfer." in get_page_text(answer)
    assert list_rows(acme, savings) == [(DAY, 100, "Main", False, 100)]
    (part,) = books.list_categorizations(outgoing_id)
    other_leg = Transaction.objects.for_company(acme.id).get(account_id=savings)
    assert [
        each["transferCounterPosition"]["transactionId"] for each in (part, *books.list_categorizations(other_leg.id))
    ] == [
        str(other_leg.id),
        outgoing_id,
    ]
    entries = AuditEntry.objects.for_company(acme.id).filter(action="transfer.linked")
    assert entries.count() == 1


def test_unlinked_transfer_offers_the_other_leg_on_its_page(editor, api, acme, books, bank, savings, outgoing_id):
    assert "Create the other side" not in get_page_text(editor.get(build_path(acme, outgoing_id)))
    selection = {"mode": "ids", "ids": [outgoing_id]}
    body = {"selection": selection, "categoryId": books.get_category_id("transfer")}
    assert api.post("transactions/categorize", body).status_code == 200
    assert "Create the other side" in get_page_text(editor.get(build_path(acme, outgoing_id)))
    create_leg(editor, acme, outgoing_id, accountId=savings)
    assert list_rows(acme, savings) == [(DAY, 100, "Main", False, 100)]
    assert "Create the other side" not in get_page_text(editor.get(build_path(acme, outgoing_id)))
    again = create_leg(editor, acme, outgoing_id, accountId=savings)
    assert "fully categorized" in get_page_text(again)
    assert len(list_rows(acme, savings)) == 1


def test_amount_is_stated_in_another_currency(editor, acme, books, outgoing_id):
    dollars = books.create_account(name="Dollars", defaultCurrency="USD")
    missing = create_leg(editor, acme, outgoing_id, accountId=dollars)
    assert missing.status_code == 400
    assert "Enter the amount in USD." in get_page_text(missing)
    far = create_leg(editor, acme, outgoing_id, accountId=dollars, amountValue="900.00")
    assert far.status_code == 400
    assert "The amounts differ" in get_page_text(far)
    assert "Link although the amounts differ" in get_page_text(far)
    assert list_rows(acme, dollars) == []
    create_leg(editor, acme, outgoing_id, accountId=dollars, amountValue="900.00", force="on")
    assert list_rows(acme, dollars) == [(DAY, 900, "Main", False, 900)]


def test_invalid_other_leg_is_refused_and_stores_nothing(editor, acme, bank, savings, outgoing_id):
    for form, message in (
        ({}, "Select the account."),
        ({"accountId": str(uuid4())}, "This record does not exist in this company."),
        ({"accountId": "x"}, "This record does not exist in this company."),
        ({"accountId": bank}, "Both transactions are on the same account."),
        ({"accountId": savings, "amountValue": "99.00"}, "Leave it empty: the account is in EUR too."),
        ({"accountId": savings, "amountValue": "1,2.3"}, "Enter an amount such as"),
        ({"accountId": savings, "amountValue": "0"}, "Enter an amount other than 0."),
    ):
        answer = create_leg(editor, acme, outgoing_id, **form)
        assert answer.status_code == 400, form
        assert message in get_page_text(answer), form
    assert list_rows(acme, savings) == []
    assert Transaction.objects.for_company(acme.id).get(id=outgoing_id).is_open


def test_account_with_an_import_of_the_day_is_refused(editor, api, acme, books, savings, outgoing_id):
    camt = build_simple_camt("-10.00", start="2026-03-01", end="2026-03-31", day="2026-03-20", opening="60.00")
    assert upload_statement(api, camt, accountId=savings).status_code == 200
    assert "All other accounts have an import of this day." in get_page_text(
        editor.get(build_path(acme, outgoing_id, "/other-leg"))
    )
    books.create_account(name="Cash")
    before = list_rows(acme, savings)
    assert f'value="{savings}"' not in editor.get(build_path(acme, outgoing_id, "/other-leg")).content.decode()
    answer = create_leg(editor, acme, outgoing_id, accountId=savings)
    assert answer.status_code == 400
    assert "Transactions of this day were imported into the account." in get_page_text(answer)
    assert list_rows(acme, savings) == before


def test_other_leg_in_closed_month_is_refused(editor, api, acme, savings, outgoing_id):
    assert api.post("closings", {"month": "2026-03", "acknowledge": True}).status_code == 201
    answer = create_leg(editor, acme, outgoing_id, accountId=savings)
    assert answer.status_code == 400
    assert "The period is closed." in get_page_text(answer)
    assert list_rows(acme, savings) == []


def test_readers_and_members_without_accounts_have_no_such_page(sign_in_browser, bob, acme, outgoing_id):
    reader = sign_in_browser(bob, acme).client
    assert reader.get(build_path(acme, outgoing_id, "/other-leg")).status_code == 403
    assert reader.post(build_path(acme, outgoing_id, "/other-leg")).status_code == 403
