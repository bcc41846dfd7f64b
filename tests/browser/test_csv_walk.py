"""CSV files of five kinds of banks and shops from drop to booked, each asked about at most twice; in a real browser."""

import pytest
from playwright.sync_api import expect

from ledger.models import Account, Transaction
from tests.browser.test_import_walk import books, open_page

__all__ = ["books"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SPARKASSE = """"Auftragskonto";"Buchungstag";"Valutadatum";"Buchungstext";"Verwendungszweck";\
"Kundenreferenz (End-to-End)";\
"Beguenstigter/Zahlungspflichtiger";"Kontonummer/IBAN";"BIC (SWIFT-Code)";"Betrag";"Waehrung";"Info"
"DE89370400440532013000";"24.03.24";"25.03.24";"FOLGELASTSCHRIFT";"Miete";"";"Vermieter";"DE02120300000000202051";\
"BYLADEM1001";"-1.500,00";"EUR";"Umsatz gebucht"
"DE89370400440532013000";"25.03.24";"25.03.24";"GUTSCHRIFT";"RE 1042";"";"Initech";"DE02120300000000202052";\
"BYLADEM1001";"120,50";"EUR";"Umsatz gebucht"
"""
REVOLUT = """Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance
CARD_PAYMENT,Current,2024-03-01 10:00:00,2024-03-02 11:00:00,Coffee,-3.50,0.00,EUR,COMPLETED,96.50
EXCHANGE,Current,2024-03-03 10:00:00,2024-03-03 11:00:00,Exchanged,-20.00,0.20,EUR,COMPLETED,76.30
CARD_PAYMENT,Current,2024-03-04 10:00:00,,Hotel,-50.00,0.00,EUR,REVERTED,
TOPUP,Current,2024-03-05 10:00:00,2024-03-05 11:00:00,Top-up,100.00,0.00,EUR,COMPLETED,176.30
"""
WISE = """"TransferWise ID",Date,Amount,Currency,Description,"Payment Reference","Running Balance","Exchange Rate",\
"Payer Name","Payee Name",Merchant,"Card Last Four Digits",Note,"Total fees"
CARD-1,25-03-2024,-12.00,EUR,"Card transaction",,488.00,1.0833,,,Acme,1234,,0.10
TRANSFER-2,24-03-2024,500.00,EUR,"Received money",INV 1,500.00,,X Ltd,,,,,0.00
"""
STRIPE = """id,Type,Source,Amount,Fee,Net,Currency,Created (UTC),Available On (UTC),Description
txn_1,charge,ch_1,100.00,3.20,96.80,eur,2024-03-24 10:00,2024-03-31 00:00,Invoice 1
txn_2,refund,re_1,-20.00,0.00,-20.00,eur,2024-03-25 10:00,2024-03-31 00:00,Refund
"""
SHOPIFY = """Transaction Date,Type,Order,Card Brand,Payout Status,Payout Date,Amount,Fee,Net,Currency
2024-03-24 10:00:00 +0100,charge,#1001,visa,paid,2024-03-27,50.00,1.75,48.25,EUR
2024-03-25 10:00:00 +0100,refund,#1002,visa,paid,2024-03-27,-20.00,0.00,-20.00,EUR
"""
FILES = {
    "sparkasse": (SPARKASSE, [], ["-1500.00", "120.50"]),
    "revolut": (REVOLUT, [], ["-3.50", "-20.20", "100.00"]),
    "wise": (WISE, [], ["500.00", "-12.00"]),
    "stripe": (STRIPE, ["Net"], ["96.80", "-20.00"]),
    "shopify": (SHOPIFY, ["Net"], ["48.25", "-20.00"]),
}


@pytest.mark.parametrize("name", FILES)
def test_csv_import_from_upload_to_booking_asks_few_questions(page, complaints, site, books, tmp_path, name):
    text, answers, amounts = FILES[name]
    path = tmp_path / f"{name}.csv"
    path.write_text(text, "utf-8")
    open_page(page, site, books, "/imports/new")
    page.get_by_label("Files").set_input_files(str(path))
    page.get_by_role("button", name="Upload and review").click()
    for answer in answers:
        expect(page.get_by_role("heading", name="Questions about the file")).to_be_visible()
        page.get_by_role("radio", name=answer).check()
        page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name=f"Import {len(amounts)} transactions").click()
    expect(page.get_by_role("status")).to_contain_text(f"{len(amounts)} transactions imported into Main.")
    acme, _owner = books
    rows = Transaction.objects.for_company(acme.id).without_initial_balances().order_by("date")
    assert [f"{row.amount_value:.2f}" for row in rows] == amounts
    settings = Account.objects.for_company(acme.id).get().import_settings["csv"]
    assert settings["columns"]["date"]
