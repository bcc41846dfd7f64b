"""Import of open invoices from CSV files and workbooks over HTTP: what is stored, what is asked, what is refused."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from openpyxl import Workbook

from companies.models import AuditEntry
from ledger.models import Counterparty
from planning.models import PlannedTransaction
from tests.planning.invoices.conftest import get_error

pytestmark = pytest.mark.django_db


def list_errors(answer):
    return [(each["pointer"], each["code"]) for each in answer.json()["errors"]]


def list_stored():
    rows = PlannedTransaction.objects.order_by("id")
    return [(row.external_data["invoice_number"], f"{row.amount_value:.2f}", row.amount_currency) for row in rows]


def test_receivables_are_stored_with_their_dates_and_customers(api, account, upload_invoices):
    globex = api.post("counterparties", {"type": "customer", "name": "Globex GmbH"}).json()["id"]
    answer = upload_invoices(
        'R-1,GLOBEX,2025-03-01,2025-03-31,"1,190.00"', "R-2,Initech,2025-04-01,,-20.50", accountId=str(account.id)
    )
    assert answer.status_code == 200, answer.content
    made = answer.json()
    assert made == {
        "count": 2, "duplicates": 0, "leftOut": 0, "createdCounterparties": 1, "dryRun": False,
        "importId": made["importId"],
    }  # fmt: skip
    first, second = api.get("receivables").json()
    assert (first["invoiceNumber"], first["name"], first["counterparty"]["id"]) == ("R-1", "GLOBEX R-1", globex)
    assert (first["invoiceDate"], first["dueDate"], first["basis"]) == ("2025-03-01", "2025-03-31", "dueDate")
    assert (first["openAmountValue"], first["amountCurrency"], first["accountId"]) == (
        "1190.00",
        "EUR",
        str(account.id),
    )
    assert (second["counterpartyName"], second["openAmountValue"]) == ("Initech", "-20.50")
    assert (second["dueDate"], second["basis"]) == ("2025-04-01", "startDate")
    entry = AuditEntry.objects.get(action="invoices.imported")
    assert (entry.after["count"], entry.after["filename"]) == (2, "open.csv")
    assert entry.after["import_id"] == made["importId"]


@pytest.mark.parametrize("settings", [{}, {"HTTP_ACCEPT_LANGUAGE": "de"}], ids=["English", "German"])
def test_export_of_one_company_is_imported_into_another(api, globex_api, ledger, settings):
    customer = ledger.create_counterparty("=Cust & Co")
    values = {"counterparty": customer, "externalInvoiceId": "ext-1"}
    owed = ledger.create_invoice("100.00", externalData={"invoiceNumber": "R-7"}, name="Work in May", **values)
    ledger.pay_invoice(owed, "40.00", -1)
    exported = api.client.get(api.path("exports/receivables.csv"), headers=api.headers, **settings)
    content = exported.getvalue()
    assert b"'=Cust" in content
    file = SimpleUploadedFile("receivables.csv", content)
    path = globex_api.path("receivables/import")
    answer = globex_api.client.post(path, {"file": file}, headers=globex_api.headers)
    assert answer.status_code == 200, answer.content
    (row,) = globex_api.get("receivables").json()
    assert (row["invoiceNumber"], row["counterpartyName"], row["name"]) == ("R-7", "=Cust & Co", "Work in May")
    assert (row["openAmountValue"], row["dueDate"], row["externalInvoiceId"]) == ("60.00", owed["startDate"], "ext-1")


@pytest.mark.parametrize("language", ["en", "de"])
def test_download_of_a_page_is_imported_into_another_company(
    sign_in_browser, alice, acme, globex_api, ledger, language
):
    customer = ledger.create_counterparty("Müller; Söhne")
    for number, amount in (("R-7", "1234.50"), ("R-8", "1000.00"), ("R-9", "-0.05")):
        ledger.create_invoice(amount, externalData={"invoiceNumber": number}, counterparty=customer)
    client = sign_in_browser(alice, acme).client
    address = f"/app/companies/{acme.id}/receivables.csv"
    content = client.get(address, headers={"Accept-Language": language}).getvalue()
    assert (b";1234,50;" in content) == (language == "de")
    file = SimpleUploadedFile("receivables.csv", content)
    answer = globex_api.client.post(globex_api.path("receivables/import"), {"file": file}, headers=globex_api.headers)
    assert answer.status_code == 200, answer.content
    stored = {row["invoiceNumber"]: row["openAmountValue"] for row in globex_api.get("receivables").json()}
    assert stored == {"R-7": "1234.50", "R-8": "1000.00", "R-9": "-0.05"}
    assert {row["counterpartyName"] for row in globex_api.get("receivables").json()} == {"Müller; Söhne"}


def test_payables_are_negative_and_vendors_are_created(api, upload_invoices):
    api.post("counterparties", {"type": "customer", "name": "Initech"})
    assert upload_invoices("B-1,Initech,2025-03-01,,10.00", kind="payables").json()["createdCounterparties"] == 1
    (row,) = api.get("payables").json()
    assert (row["openAmountValue"], row["counterparty"]["type"]) == ("-10.00", "vendor")


@pytest.mark.parametrize(
    ("negative", "amounts"),
    [("invoices", ["-10.00", "3.00"]), ("creditNotes", ["10.00", "-3.00"])],
)
def test_negative_payables_are_asked_for(upload_invoices, negative, amounts):
    lines = ["B-1,Initech,2025-03-01,,-10.00", "B-2,Initech,2025-03-01,,3.00"]
    assert list_errors(upload_invoices(*lines, kind="payables")) == [("#/negativeAmounts", "ambiguous")]
    assert not PlannedTransaction.objects.exists()
    assert upload_invoices(*lines, kind="payables", negativeAmounts=negative).status_code == 200
    assert [amount for _, amount, _ in list_stored()] == amounts


@pytest.mark.parametrize(
    ("line", "options", "day", "amount"),
    [
        ("R-1,A,03/04/2025,,1.234", {"dateOrder": "dayFirst", "decimalMark": "comma"}, "2025-04-03", "1234.00"),
        ("R-1,A,03/04/2025,,1.50", {"dateOrder": "monthFirst"}, "2025-03-04", "1.50"),
        ("R-1,A,31/12/2025,,1.50", {}, "2025-12-31", "1.50"),
        ('R-1,A,31.12.2025,,"1.234,50 €"', {}, "2025-12-31", "1234.50"),
    ],
)
def test_dates_and_amounts_that_can_mean_two_things_are_asked_for(upload_invoices, line, options, day, amount):
    response = upload_invoices(line)
    expected = [(f"#/{name}", "ambiguous") for name in options]
    assert (response.status_code, response.json().get("errors") and list_errors(response)) == (
        (400, expected) if expected else (200, None)
    )
    if options:
        assert upload_invoices(line, **options).status_code == 200
    (stored,) = PlannedTransaction.objects.all()
    assert (str(stored.invoice_date), f"{stored.amount_value:.2f}") == (day, amount)


def test_errors_point_to_their_rows_and_nothing_is_stored(upload_invoices):
    answer = upload_invoices(
        "R-1,Globex,2025-03-01,,1.00",
        ",Globex,2025-03-01,,1.00",
        "R-3,,someday,,1.00",
        "R-4,Globex,2025-03-01,2025-13-01,12.3.4",
        f"{'9' * 201},Globex,2025-03-01,,1.001",
    )
    assert answer.status_code == 400
    assert sorted(list_errors(answer)) == [
        ("#/invoices/1/invoiceNumber", "required"),
        ("#/invoices/2/counterparty", "required"),
        ("#/invoices/2/invoiceDate", "invalid_date"),
        ("#/invoices/3/amount", "invalid_decimal"),
        ("#/invoices/3/dueDate", "invalid_date"),
        ("#/invoices/4/amount", "too_many_decimals"),
        ("#/invoices/4/invoiceNumber", "too_long"),
    ]
    assert answer.json()["errors"][0]["detail"].startswith("Line 3: ")
    assert not PlannedTransaction.objects.exists()
    assert not Counterparty.objects.filter(name="Globex").exists()


def test_day_that_does_not_exist_is_an_error(upload_invoices):
    answer = upload_invoices("R-1,Globex,2025-02-30,2025-04-31,1.00")
    assert list_errors(answer) == [
        ("#/invoices/0/invoiceDate", "invalid_date"),
        ("#/invoices/0/dueDate", "invalid_date"),
    ]


def test_row_with_more_cells_than_headings_is_an_error(upload_invoices):
    answer = upload_invoices("R-1,Globex,2025-02-28,,1,50")
    assert (answer.status_code, answer.json()["code"]) == (415, "unreadable_table")
    assert not PlannedTransaction.objects.exists()


def test_same_number_and_counterparty_twice_is_refused_or_left_out(api, acme, upload_invoices):
    upload_invoices("B-1,Initech,2025-03-01,,10.00", kind="payables")
    lines = [
        "B-2,Initech,2025-03-01,,1.00",
        "b-1,INITECH Inc.,2025-03-01,,10.00",
        "B-1,Globex,2025-03-01,,2.00",
        "B-2,Initech,2025-03-02,,1.00",
        "B-9,New Ltd,2025-03-02,,1.00",
        "b-9,new,2025-03-02,,1.00",
    ]
    answer = upload_invoices(*lines, kind="payables")
    assert (answer.status_code, answer.json()["code"]) == (409, "duplicate_invoice")
    assert [pointer for pointer, _ in list_errors(answer)] == [
        f"#/invoices/{place}/invoiceNumber" for place in (1, 3, 5)
    ]
    (planned,) = PlannedTransaction.objects.all()
    assert answer.json()["plannedTransactionId"] == str(planned.id)
    assert answer.json()["url"] == f"/app/companies/{acme.id}/planned/{planned.id}"
    skipped = upload_invoices(*lines, kind="payables", duplicates="skip").json()
    assert (skipped["count"], skipped["duplicates"]) == (3, 3)
    assert upload_invoices(*lines, kind="payables", duplicates="skip").json()["count"] == 0


def test_own_invoice_number_is_used_once_whoever_the_customer_is(upload_invoices):
    answer = upload_invoices("R-1,Globex,2025-03-01,,1.00", "R-1,Initech,2025-03-01,,1.00")
    assert get_error(answer) == (409, "duplicate_invoice")
    assert answer.json()["plannedTransactionId"] is None


def test_rows_without_an_open_amount_are_left_out(upload_invoices):
    headings = "Rechnungsnummer;Kunde;Rechnungsdatum;Betrag;Offener Betrag"
    lines = ["1;Globex;01.03.2025;100,00;0,00", "2;Globex;01.03.2025;100,00;40,00"]
    answer = upload_invoices(*lines, headings=headings)
    assert (answer.json()["count"], answer.json()["leftOut"]) == (1, 1)
    assert list_stored() == [("2", "40.00", "EUR")]


def test_status_leaves_out_what_is_paid_and_asks_for_the_open_amount(upload_invoices):
    headings = "Invoice,Customer,Date,Total,Status"
    lines = ["1,Globex,2025-03-31,1.00,Paid", "2,Globex,2025-03-31,2.00,Overdue", "3,Globex,2025-03-31,3.00,Draft"]
    assert upload_invoices(*lines, headings=headings).json()["leftOut"] == 2
    assert list_stored() == [("2", "2.00", "EUR")]
    wrong = ["4,Globex,2025-03-31,1.00,Partially paid", "5,Globex,2025-03-31,1.00,Whatever"]
    assert list_errors(upload_invoices(*wrong, headings=headings)) == [
        ("#/invoices/0/status", "required"),
        ("#/invoices/1/status", "invalid_choice"),
    ]


def test_currency_is_taken_from_column_amount_or_heading(upload_invoices):
    headings = "Invoice,Customer,Date,{amount}"
    assert upload_invoices("1,A,2025-03-31,$1.00", headings=headings.format(amount="Total")).status_code == 200
    assert upload_invoices("2,A,2025-03-31,1.00", headings=headings.format(amount="Total (GBP)")).status_code == 200
    columns = "Invoice,Customer,Date,Total,Currency"
    assert upload_invoices("3,A,2025-03-31,500,JPY", headings=columns).status_code == 200
    assert list_stored() == [("1", "1.00", "USD"), ("2", "1.00", "GBP"), ("3", "500.00", "JPY")]
    wrong = upload_invoices("4,A,2025-03-31,£1.00,EUR", "5,A,2025-03-31,1.00,XTS", headings=columns)
    assert list_errors(wrong) == [
        ("#/invoices/0/currency", "contradicts_amount"),
        ("#/invoices/1/currency", "invalid_choice"),
    ]


def test_workbook_is_read_like_csv(upload_invoices):
    book, content = Workbook(), io.BytesIO()
    book.active.append(["Invoice number", "Customer", "Invoice date", "Terms", "Amount due"])
    book.active.append([1042, "Globex", "2025-03-01", "30 days", 1190.5])
    book.save(content)
    assert upload_invoices(content=content.getvalue(), name="open.xlsx").status_code == 200
    (stored,) = PlannedTransaction.objects.all()
    assert (stored.external_data["invoice_number"], stored.payment_terms, str(stored.start_date)) == (
        *("1042", 30, "2025-03-31"),
    )
    assert list_stored() == [("1042", "1190.50", "EUR")]


def test_dry_run_stores_nothing(upload_invoices):
    answer = upload_invoices("R-1,Globex,2025-03-01,,1.00", dryRun="true")
    assert (answer.json()["count"], answer.json()["createdCounterparties"], answer.json()["dryRun"]) == (1, 1, True)
    assert not PlannedTransaction.objects.exists()
    assert not Counterparty.objects.filter(name="Globex").exists()


def build_zip_bomb():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * 1_000_000)
    return packed.getvalue()


def test_unusable_file_or_option_is_refused(upload_invoices):
    for request_values, expected in [
        ({"content": b"a,b\n1,2\n"}, (400, "columns_unknown")),
        ({"headings": "Invoice,Invoice,Customer,Date,Total"}, (400, "columns_unknown")),
        ({"content": b"\x00\x01\x02"}, (415, "unreadable_table")),
        ({"content": b""}, (415, "unreadable_table")),
        ({"content": build_zip_bomb()}, (413, "table_too_large")),
        ({"accountId": "00000000-0000-7000-8000-000000000000"}, (400, "unknown_id")),
        ({"accountId": "x"}, (400, "unknown_id")),
        ({"duplicates": "maybe"}, (400, "invalid_choice")),
        ({"dateOrder": "any"}, (400, "invalid_choice")),
    ]:
        assert get_error(upload_invoices("R-1,Globex,2025-03-01,,1.00", **request_values)) == expected
        assert not PlannedTransaction.objects.exists(), request_values


def test_import_takes_a_constant_number_of_statements(upload_invoices, django_assert_max_num_queries):
    counted = []
    for count in (1, 200):
        lines = [f"R{count}-{number},Customer {count}-{number},2025-03-01,,1.00" for number in range(count)]
        with django_assert_max_num_queries(60) as seen:
            assert upload_invoices(*lines).status_code == 200
        counted.append(len(seen.captured_queries))
    assert counted[1] <= counted[0]


def test_more_rows_than_an_import_takes_are_refused(upload_invoices, monkeypatch):
    monkeypatch.setattr("planning.invoices.actions.invoice_imports.MAX_INVOICES", 1)
    lines = ["R-1,Globex,2025-03-01,,1.00", "R-2,Globex,2025-03-01,,1.00"]
    assert get_error(upload_invoices(*lines)) == (413, "too_many_rows")


def test_contradicting_dates_name_the_first_row(upload_invoices):
    answer = upload_invoices("1,Globex,15/03/2026,,50.00", "2,Globex,04/20/2026,,60.00")
    assert answer.status_code == 400, answer.content
    error = answer.json()["errors"][0]
    assert (error["pointer"], error["code"]) == ("#/invoices/1/invoiceDate", "invalid_date")
    assert "04/20/2026" in error["detail"]


def test_file_with_headings_only_is_rejected(upload_invoices):
    answer = upload_invoices()
    assert (answer.status_code, answer.json()["code"]) == (415, "unreadable_table")


@pytest.mark.parametrize(
    ("row", "column"),
    [("R\x01-1,Globex,2025-03-01,,100.00", "invoiceNumber"), ("R-1,Glo\x01bex,2025-03-01,,100.00", "counterparty")],
)
def test_control_characters_in_names_are_rejected(api, account, upload_invoices, row, column):
    answer = upload_invoices(row, accountId=str(account.id))
    assert answer.status_code == 400, answer.content
    assert list_errors(answer) == [(f"#/invoices/0/{column}", "invalid_characters")]
    assert not Counterparty.objects.exists()
    assert list_stored() == []
