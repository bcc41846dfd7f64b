"""Transactions and accounts as somebody reads them in German; what programs are told stays English."""

import io
import re

import openpyxl
import pytest

from ledger.models import DEFAULT_CATEGORIES, Category, PlType, Transaction
from tests.change_tables import list_changes
from tests.ledger.bank_file_builders import build_camt, build_entry, build_statement
from tests.ledger.conftest import get_page_text
from tests.ledger.imports.test_import_pages import confirm_import, open_check_page

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


@pytest.fixture
def german_pages(pages):
    pages.client.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    return pages


@pytest.fixture
def bill_id(books, bank):
    return books.create_transaction(bank, "-119.00", fromTo="Nimbus Cloud", description="March hosting")["id"]


def test_transaction_history_is_german(german_pages, books, bill_id, alice):
    german_pages.post(f"/{bill_id}/edit", amountValue="-120,00", fromTo="Nimbus", description="March hosting", notes="")
    german_pages.post(act="categorize", id=bill_id, category=f"{books.get_category_id('hosting')}:cogs")
    answer = german_pages.get(f"/{bill_id}")
    assert [(change.label, change.actor, change.fields) for change in list_changes(answer)] == [
        ("Buchungen kategorisiert (1)", alice.display_name, {
            "Kategorie": ("—", "Hosting"), "GuV-Zeile": ("—", "Herstellungskosten"),
        }),
        ("Buchung geändert", alice.display_name, {
            "Betrag": ("−119,00 €", "−120,00 €"), "Auftraggeber/Empfänger": ("Nimbus Cloud", "Nimbus"),
        }),
        ("Buchung angelegt", "API-Schlüssel „test“", {
            "Betrag": ("—", "−119,00 €"), "Datum": ("—", "15.03.2026"), "Konto": ("—", "Main"),
            "Auftraggeber/Empfänger": ("—", "Nimbus Cloud"),
        }),
    ]  # fmt: skip
    assert "Buchungsdatum" in get_page_text(answer)


def test_transaction_list_and_filter_errors_are_german(german_pages, bill_id):
    text = get_page_text(german_pages.get())
    assert "1 Buchung · −119,00 €" in text
    assert "Alle Buchungen" in text
    refused = get_page_text(german_pages.get("?sort=colour&categoryId=x&open=maybe"))
    assert "Wählen Sie eine der Möglichkeiten." in refused
    assert "Zulässige Werte: -date, date, -amount, amount." in refused


def test_page_export_header_is_german_but_api_export_is_english(german_pages, bill_id, api):
    book = openpyxl.load_workbook(io.BytesIO(b"".join(german_pages.get("/export/transactions.xlsx"))))
    headings = ["Datum", "Konto", "Auftraggeber/Empfänger", "Beschreibung", "Betrag"]
    assert [cell.value for cell in book["Buchungen"][1]][:5] == headings
    page_text = b"".join(api.get("exports/transactions.csv", headers={"Accept-Language": "de"})).decode()
    assert page_text.startswith("Date,Account,From/to,")


def test_transfer_link_error_is_german(german_pages, books, bill_id, bank):
    other = books.create_transaction(bank, "119.00")["id"]
    text = get_page_text(german_pages.post(f"/{bill_id}/link", part="", target=other))
    assert "Beide Buchungen sind auf demselben Konto. Wählen Sie Buchungen auf zwei Konten." in text


def test_unknown_id_error_is_german(german_pages, books, bill_id, bank):
    nobody, answer = "00000000-0000-7000-8000-000000000000", "Dieser Datensatz existiert in diesem Unternehmen nicht."
    parts = {"category-0": f"{nobody}:cogs", "amount-0": "-119,00"}
    assert answer in get_page_text(german_pages.post(f"/{bill_id}/split", **parts))
    assert answer in get_page_text(
        german_pages.post(act="categorize", id=nobody, category=f"{books.get_category_id('hosting')}:cogs")
    )


def test_default_categories_are_translated_and_show_only_chosen_emojis(german_pages, api, acme):
    """Names and signs in the API stay; no page shows an emoji that nobody of the company has chosen."""
    rows = {row["name"]: row for row in api.get("categories").json()}
    changed = {"name": "Werbung", "emoji": "🦊", "plTypes": ["cac"]}
    assert api.put(f"categories/{rows['Marketing']['id']}", changed).status_code == 200
    assert api.post("categories", {"name": "Coffee", "emoji": "☕", "plTypes": ["ga"]}).status_code == 201
    text = get_page_text(german_pages.client.get(f"/app/companies/{acme.id}/settings/categories"))
    for part in ("Einmaliger Umsatz", "Ertragsteuern", "Umsatzsteuerzahlungen", "🦊 Werbung", "☕ Coffee"):
        assert part in text, part
    assert "Income tax" not in text
    assert [row["name"] for row in rows.values() if row["emoji"] in text] == []
    assert rows["Income tax"] in api.get("categories").json()


def test_labels_of_default_categories_are_translated(german_pages, acme):
    """For readers who only hear them."""
    page = german_pages.client.get(f"/app/companies/{acme.id}/settings/categories").content.decode()
    labels = re.findall(r'aria-label="([^"]*)"', page)
    assert "Wiederkehrender Umsatz nach unten verschieben" in labels
    assert [label for label in labels for _, name, _ in DEFAULT_CATEGORIES[PlType.REVENUE] if name in label] == []
    first = Category.objects.for_company(acme.id).get(system_key="revenueRecurring")
    for path in (f"{first.id}", f"{first.id}/delete"):
        form = german_pages.client.get(f"/app/companies/{acme.id}/settings/categories/{path}").content.decode()
        assert "Wiederkehrender Umsatz" in re.search(r"<h1>(.*?)</h1>", form)[1], path


def test_generated_texts_are_german_but_user_texts_are_not_translated(
    german_pages, books, api, upload_statement_file, main_account
):
    late = build_entry("-4.20", "2026-01-16", value_day="2026-01-15", text="Fee")
    upload_statement_file(build_camt(build_statement(late, opening="100", closing="95.80")))
    first, second = sorted(api.get("transactions").json(), key=lambda row: row["amountValue"])
    assert (first["notes"], second["description"]) == ("Value date 2026-01-15", "Opening balance")
    assert "Wertstellung 15.01.2026" in get_page_text(german_pages.get(f"/{first['id']}"))
    for page in ("", f"/{second['id']}"):
        text = get_page_text(german_pages.get(page))
        assert "Anfangsbestand" in text
        assert "Opening balance" not in text
    theirs = books.create_transaction(
        main_account, "-1.00", description="Opening balance", notes="Value date 2026-01-15"
    )
    text = get_page_text(german_pages.get(f"/{theirs['id']}"))
    assert "Opening balance" in text
    assert "Value date 2026-01-15" in text


def test_names_of_opening_balances_in_older_companies_are_shown_as_today(
    german_pages, acme, upload_statement_file, main_account
):
    upload_statement_file(build_camt(build_statement(opening="100", closing="100")))
    Category.objects.filter(company_id=acme.id, system_key="initialBalance").update(name="Initial balances")
    Transaction.objects.filter(company_id=acme.id).update(description="Initial balance")
    text = get_page_text(german_pages.get(""))
    assert "Anfangsbestände" in text
    assert "Initial balance" not in text


def test_notes_of_an_imported_table_are_german(german_pages, acme, books, main_account, api):
    client = german_pages.client
    content = "Buchungstag;Wertstellung;Betrag;Empfänger;IBAN;Kategorie\n20.01.2026;21.01.2026;-5,00;Shop;DE2;Reisen\n"
    address, shown = open_check_page(client, acme, main_account, content)
    assert "Wertstellung 21.01.2026" in get_page_text(shown)
    confirm_import(client, address)
    [row] = [each for each in api.get("transactions").json() if each["fromTo"] == "Shop"]
    assert row["notes"].split("\n")[0] == "Value date 2026-01-21"
    text = get_page_text(german_pages.get(f"/{row['id']}"))
    assert "Wertstellung 21.01.2026" in text
    assert "Value date" not in text
    assert "Category" not in text
