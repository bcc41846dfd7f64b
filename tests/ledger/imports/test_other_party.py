"""Who the other party of a row is: the payee where money goes out, the payer where it comes in."""

import json

import pytest

from tests.ledger.statement_upload import list_stored_rows, upload_statement
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db

PAIRS = [
    ("Payer", "Payee"),
    ("Zahlungspflichtige*r", "Zahlungsempfänger*in"),
    ("Auftraggeber", "Empfänger"),
    ("Nadawca", "Odbiorca"),
    ("Ordinante", "Beneficiario"),
    ("Avsändare", "Mottagare"),
    ("Maksaja", "Maksunsaaja"),
    ("From", "To"),
    ("Source name", "Target name"),
    ("Ordonnateur", "Bénéficiaire"),
]


def list_parties(company):
    return [row[2] for row in list_stored_rows(company)]


def test_other_party_is_the_payee_of_money_out_and_the_payer_of_money_in(upload_statement_file, acme, bank):
    out, came = ("Acme", "Shop"), ("Client", "Acme")
    for turned in [False, True]:
        for pair in PAIRS:
            with undo_changes():
                rows = [";".join(each[::-1] if turned else each) for each in (pair, out, came)]
                text = f"Date;{rows[0]};Amount\n2025-05-05;{rows[1]};-5,00\n2025-05-06;{rows[2]};6,00\n"
                upload_statement_file(text.encode(), accountId=bank)
                assert list_parties(acme) == ["Shop", "Client"], (turned, pair)


def test_own_name_beside_that_of_the_other_party_is_left_out(upload_statement_file, acme, bank):
    text = "Datum;Naam;Naam tegenpartij;Bedrag\n05/05/2025;Acme;Shop;-5,00\n26/05/2025;Acme;Client;6,00\n"
    upload_statement_file(text.encode(), accountId=bank)
    assert list_parties(acme) == ["Shop", "Client"]


def test_payer_of_a_card_payment_is_not_the_other_party(upload_statement_file, acme, bank):
    text = "Date;Description;Payer;Amount\n2025-05-05;Shop;Jane Doe;-5,00\n2025-05-06;Money in;Client;6,00\n"
    upload_statement_file(text.encode(), accountId=bank)
    assert [row[2:] for row in list_stored_rows(acme)] == [("", "Shop"), ("Client", "Money in")]


def test_merchant_counts_where_no_payee_is_named(upload_statement_file, acme, bank):
    text = (
        "Date;Payer Name;Payee Name;Merchant;Amount\n2025-05-05;;Landlord;;-5,00\n2025-05-06;;;Coffee bar;-6,00\n"
        "2025-05-07;Client;;;7,00\n"
    )
    upload_statement_file(text.encode(), accountId=bank)
    assert list_parties(acme) == ["Landlord", "Coffee bar", "Client"]


WISE = (
    'ID,Status,Direction,"Created on","Finished on","Source fee amount","Source fee currency","Source name",'
    '"Source amount (after fees)","Source currency","Target name","Target amount (after fees)","Target currency"\n'
    "T-1,COMPLETED,OUT,2025-03-01 10:00:00,2025-03-02 10:00:00,4.10,EUR,Acme,500.00,EUR,Landlord,540.00,USD\n"
    "T-2,COMPLETED,IN,2025-03-03 10:00:00,2025-03-03 11:00:00,0.00,EUR,Client,1000.00,EUR,Acme,1000.00,EUR\n"
    "T-3,CANCELLED,OUT,2025-03-05 10:00:00,,1.00,EUR,Acme,50.00,EUR,Bob,50.00,EUR\n"
)


def test_wise_history_asks_for_the_amount_and_then_for_its_fee(api, acme, bank):
    answer = upload_statement(api, WISE.encode(), accountId=bank)
    assert [choice["field"] for choice in answer.json()["choices"]] == ["columns.amount"]
    columns = {"amount": "Source amount (after fees)"}
    answer = upload_statement(
        api, WISE.encode(), accountId=bank, importSettings=json.dumps({"csv": {"columns": columns}})
    )
    assert [choice["field"] for choice in answer.json()["choices"]] == ["columns.fee"]
    settings = json.dumps({"csv": {"columns": {**columns, "fee": "Source fee amount"}}})
    answer = upload_statement(api, WISE.encode(), accountId=bank, importSettings=settings)
    assert answer.status_code == 200, answer.content
    assert [row[:3] for row in list_stored_rows(acme)] == [
        ("2025-03-02", "-504.10", "Landlord"),
        ("2025-03-03", "1000.00", "Client"),
    ]
