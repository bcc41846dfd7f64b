"""Columns that say only that a row is booked: no part of the description, and no reason to import a row again."""

import pytest

from ledger.models import Transaction
from tests.ledger.imports.test_import_pages import confirm_import, open_check_page
from tests.ledger.statement_upload import list_stored_rows
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db

HEADINGS = "Buchungstag;Buchungstext;Verwendungszweck;Name;Betrag;Waehrung;Info\n"
ROWS = (
    "30.10.2026;FOLGELASTSCHRIFT;Jobticket Oktober;BVG;-588,00;EUR;Umsatz gebucht\n"
    "30.10.2026;ENTGELTABSCHLUSS;Entgelt siehe Anlage;Sparkasse;-28,90;EUR;Umsatz gebucht\n"
)
KEPT_COLUMNS = {
    "date": "Buchungstag",
    "amount": "Betrag",
    "counterparty": "Name",
    "description": ["Buchungstext", "Verwendungszweck", "Info"],
    "status": None,
}


def import_table(editor, acme, bank, text):
    address, check = open_check_page(editor, acme, bank, text)
    confirm_import(editor, address)
    return check


def list_descriptions(acme):
    return sorted(row[3] for row in list_stored_rows(acme))


@pytest.mark.parametrize("status", ["Umsatz gebucht", "gebucht", "Booked", "Posted"])
def test_description_has_no_status(editor, acme, bank, status):
    import_table(editor, acme, bank, HEADINGS + ROWS.replace("Umsatz gebucht", status))
    assert list_descriptions(acme) == ["ENTGELTABSCHLUSS Entgelt siehe Anlage", "FOLGELASTSCHRIFT Jobticket Oktober"]


def test_description_of_kept_columns_has_no_status(editor, api, acme, bank):
    api.put(f"accounts/{bank}", {"importSettings": {"csv": {"columns": KEPT_COLUMNS}}})
    import_table(editor, acme, bank, HEADINGS + ROWS)
    assert list_descriptions(acme) == ["ENTGELTABSCHLUSS Entgelt siehe Anlage", "FOLGELASTSCHRIFT Jobticket Oktober"]


def test_rows_that_were_imported_with_their_status_are_duplicates(editor, acme, bank):
    import_table(editor, acme, bank, HEADINGS + ROWS)
    for row in Transaction.objects.for_company(acme.id):
        Transaction.objects.filter(pk=row.pk).update(description=f"{row.description} Umsatz gebucht")
    _, check = open_check_page(editor, acme, bank, HEADINGS + ROWS)
    assert "To import 0 Duplicates 2" in get_page_text(check)


def test_same_file_has_only_duplicates_and_equal_rows_stay_apart(editor, acme, bank):
    text = HEADINGS + ROWS + ROWS
    import_table(editor, acme, bank, text)
    assert len(list_stored_rows(acme)) == 4
    _, check = open_check_page(editor, acme, bank, text)
    assert "To import 0 Duplicates 4" in get_page_text(check)


def test_pending_row_is_booked_by_the_next_file(editor, acme, bank):
    import_table(editor, acme, bank, HEADINGS + ROWS.replace("Umsatz gebucht", "Umsatz vorgemerkt", 1))
    pending = Transaction.objects.for_company(acme.id).filter(pending=True)
    assert [row.description for row in pending] == ["FOLGELASTSCHRIFT Jobticket Oktober"]
    import_table(editor, acme, bank, HEADINGS + ROWS)
    assert not pending.all()
    assert len(list_stored_rows(acme)) == 2


def test_word_within_a_sentence_stays(editor, acme, bank):
    import_table(editor, acme, bank, HEADINGS + ROWS.replace("Jobticket Oktober", "Hotel gebucht"))
    assert "FOLGELASTSCHRIFT Hotel gebucht" in list_descriptions(acme)
