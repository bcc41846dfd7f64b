"""Two formats of one bank: what both tell of a day is there once, what only one of them tells is there too."""

import pytest

from tests.ledger.bank_file_builders import build_camt, build_entry, build_statement
from tests.ledger.statement_upload import list_stored_rows
from tests.rollback import undo_changes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]

COLUMNS = {
    "csv": {
        "headings": 1,
        "columns": {"date": "Date", "amount": "Amount", "from_to": "Name", "description": "Text"},
        "dateOrder": "iso",
        "decimalSign": "point",
    }
}


def build_csv(*lines):
    return "\n".join(["Date;Amount;Name;Text", *(f"2026-01-15;-90.00;{name};{text}" for name, text in lines)]).encode()


def build_camt_file(*lines):
    return build_camt(build_statement(*(build_entry("-90.00", name=name, text=text) for name, text in lines)))


def test_payments_of_same_day_and_amount_match_unless_texts_conflict(api, upload_statement_file, acme, main_account):
    for in_csv, in_camt, together in [
        ([("Initech GmbH", "Invoice 1042")], [("Globex GmbH", "Invoice 77")], 2),
        ([("Initech GmbH", "Invoice 1042")], [("Initech GmbH", "Invoice 1043")], 2),
        ([("Initech GmbH", "Invoice 1042")], [("INITECH", "SEPA EREF 20260115 RE 1042")], 1),
        ([("", "Card INITECH GMBH 1042")], [("Initech GmbH", "")], 1),
        ([("", "Rent")], [("", "Coffee")], 2),
        ([("", "")], [("Initech GmbH", "Invoice 1042")], 1),
        ([("Bäckerei Müller", "")], [("BAECKEREI MUELLER", "Brot")], 1),
        ([("Coffee bar", "")] * 2, [("COFFEE BAR", "Card")] * 2, 2),
        ([("Coffee bar", "")] * 2, [("COFFEE BAR", "Card")], 2),
        ([("Coffee bar", "")], [("COFFEE BAR", "Card")] * 2, 2),
        ([("Coffee bar", ""), ("Initech", "1042")], [("Initech GmbH", "No. 1042"), ("Globex", "Rent")], 3),
        ([("", ""), ("Initech", "")], [("Initech GmbH", "No. 1042"), ("Globex", "Rent")], 2),
    ]:
        for first in ["csv", "camt"]:
            with undo_changes():
                assert api.put(f"accounts/{main_account}", {"importSettings": COLUMNS}).status_code == 200, (
                    in_csv,
                    first,
                )
                files = [(build_csv(*in_csv), {"accountId": main_account}), (build_camt_file(*in_camt), {})]
                for content, fields in files if first == "csv" else files[::-1]:
                    upload_statement_file(content, **fields)
                assert len(list_stored_rows(acme)) == together, (in_csv, first)
                for content, fields in files:
                    assert upload_statement_file(content, **fields)["count"] == 0, (in_csv, first)
