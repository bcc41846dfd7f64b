"""CSV files of pages in German: their format, and that our import reads the same values back."""

import csv
import io
from datetime import date
from decimal import Decimal
from types import SimpleNamespace

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from companies.pages.csv_escaping import escape_formulas
from companies.pages.csv_files import API_CSV_FORMAT, CsvFormat
from ledger.exports.transaction_table import HEADINGS, TRANSACTIONS, stream_csv
from ledger.imports.calc.detection import detect_mapping
from ledger.imports.own_export_settings import find_own_export_settings
from ledger.imports.table_items import TableItems, read_uploaded_table
from ledger.models import Account
from ledger.money.calc.money import format_amount

GERMAN_FORMAT = CsvFormat(";", ",", has_byte_order_mark=True)
CURRENCIES = ("EUR", "JPY")
texts = st.text("aßÄ€漢1;,.\"'=+-@ ", max_size=20).map(lambda text: " ".join(text.split()))  # no names of balances
rows = st.tuples(
    st.dates(date(1950, 1, 1), date(2049, 12, 31)),
    st.decimals(Decimal("-999999.999"), Decimal("999999.999"), places=3).filter(lambda amount: abs(amount) >= 1),
    texts.filter(bool),
)


def export_rows(values, *, csv_format, language, currency):
    """The file of a page with transactions of these values."""

    def iterate_rows():
        for number, (day, amount, description) in enumerate(values):
            cells = dict.fromkeys(HEADINGS[TRANSACTIONS], "")
            cells |= {"date": day.isoformat(), "account": "Giro", "description": escape_formulas(description)}
            cells |= {"amount": format_amount(amount, currency), "currency": currency, "id": f"id-{number}"}
            yield tuple(cells.values())

    with override(language):
        headings = [str(heading) for heading in HEADINGS[TRANSACTIONS].values()]
    table = SimpleNamespace(
        columns=list(HEADINGS[TRANSACTIONS]), headings=headings, csv_format=csv_format, iterate_rows=iterate_rows
    )
    return b"".join(stream_csv(table))


def read_rows(content, *, currency):
    """What the import stores of the file."""
    account = Account(name="Giro", default_currency=currency)
    lines = read_uploaded_table(content)
    detection = detect_mapping(lines, settings=find_own_export_settings(account, lines))
    request = TableItems(detection.table, detection.mapping, account=account).build_request()
    assert request.errors == []
    return [(item.date, item.amount_value, item.description) for item in request.items]


@given(st.lists(rows, min_size=1, max_size=8), st.sampled_from(CURRENCIES))
def test_import_reads_back_both_formats(values, currency):
    stored = [(day, format_amount(amount, currency), text) for day, amount, text in values]
    for csv_format, language in ((GERMAN_FORMAT, "de"), (API_CSV_FORMAT, "en")):
        content = export_rows(values, csv_format=csv_format, language=language, currency=currency)
        assert read_rows(content, currency=currency) == stored, language


@pytest.fixture
def german_reader(sign_in_browser, alice, acme):
    alice.locale = "de"
    alice.save()
    return sign_in_browser(alice, acme).client


@pytest.mark.django_db
def test_page_downloads_semicolons_in_german_and_the_api_does_not(german_reader, api, acme, books, bank):
    books.create_transaction(bank, "-1234.50", fromTo="Müller; Söhne")
    export = f"/app/companies/{acme.id}/transactions/export/transactions.csv"
    categorized = b"".join(german_reader.get(f"{export}?rows=categorizations"))
    content = b"".join(german_reader.get(export))
    for each in (content, categorized, german_reader.get(f"/app/companies/{acme.id}/accounts.csv").content):
        assert each.startswith("\ufeff".encode())
        assert each.count("\ufeff".encode()) == 1
    [row] = csv.DictReader(io.StringIO(content.decode("utf-8-sig")), delimiter=";")
    assert (row["Betrag"], row["Auftraggeber/Empfänger"]) == ("-1234,50", "Müller; Söhne")
    plain = b"".join(api.get("exports/transactions.csv")).decode()
    assert ",-1234.50,EUR," in plain
    assert "\ufeff" not in plain
