"""Uploaded electronic invoices: what is read from them, and what happens to those that cannot be read."""

from datetime import date
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from ledger.models import File
from tests.ledger.files.einvoice_documents import (
    build_blank_pdf,
    build_cii,
    build_facturx,
    build_pdf_with_files,
    build_ubl,
)

pytestmark = pytest.mark.django_db

EXAMPLES = Path(__file__).parents[2] / "data" / "einvoices"
DOCTYPE = b'<!DOCTYPE Invoice [<!ENTITY a "aaaa">]>'


def upload_file(api, content, name="invoice.xml", **fields):
    document = SimpleUploadedFile(name, content, content_type="application/octet-stream")
    return api.client.post(api.path("files"), {"file": document} | fields, headers=api.headers)


@pytest.mark.parametrize(
    ("content", "name"),
    [(build_ubl(), "invoice.xml"), (build_cii(), "invoice.xml"), (build_facturx(build_cii()), "invoice.pdf")],
    ids=["UBL", "CII", "Factur-X"],
)
def test_uploaded_einvoice_is_read(api, content, name):
    answer = upload_file(api, content, name)
    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert (body["parseStatus"], body["parseError"]) == ("parsed", None)
    assert body["parseData"] == {
        "amount": {"value": 119, "currency": "EUR"},
        "date": "2026-03-02",
        "type": "invoice",
        "invoiceNumber": "NW-2026-17",
        "dueDate": "2026-04-01",
        "currency": "EUR",
        "taxAmount": "19.00",
        "seller": {
            "name": "Nordwind GmbH", "tradingName": None, "vatId": "DE123456789", "iban": "DE89370400440532013000",
        },
        "buyer": {"name": "Acme", "tradingName": None, "vatId": "FR40303265045", "iban": None},
        "iban": "DE89370400440532013000",
        "lines": [
            {"description": "Design", "quantity": "1", "unitPrice": "100", "amount": "100.00", "taxPercent": "19"}
        ],
        "differences": [],
    }  # fmt: skip
    assert api.get(f"files/{body['id']}").json() == body
    assert [each["id"] for each in api.get("files", {"parseStatus": "parsed"}).json()] == [body["id"]]


def test_official_example_is_read_on_upload(api):
    for path in sorted(EXAMPLES.glob("*.xml")):
        body = upload_file(api, path.read_bytes(), path.name).json()
        assert (body["parseStatus"], body["parseData"]["differences"]) == ("parsed", []), path


def test_credit_note_keeps_its_stated_amount_and_type(api):
    parse_data = upload_file(api, build_ubl(type="381")).json()["parseData"]
    assert (parse_data["type"], parse_data["amount"]["value"]) == ("creditNote", 119)


def test_differences_are_returned_and_the_stated_amount_is_stored(api):
    body = upload_file(api, build_ubl(totals={"payable": "120.50"})).json()
    assert body["parseStatus"] == "parsed"
    assert body["parseData"]["amount"] == {"value": 120.5, "currency": "EUR"}
    assert body["parseData"]["differences"] == [{"code": "payable", "stated": "120.50", "computed": "119.00"}]


def test_the_last_of_several_payment_terms_is_the_due_date(api):
    days = [date(2026, 3, 15), date(2026, 5, 1), date(2026, 4, 1)]
    for build in (build_ubl, build_cii):
        assert upload_file(api, build(due=days)).json()["parseData"]["dueDate"] == "2026-05-01"


def test_invoice_with_many_lines_is_read_without_them(api):
    lines = [("Work", "1", "1.00", "0")] * 201
    body = upload_file(api, build_ubl(lines=lines)).json()
    assert (body["parseStatus"], body["parseData"]["lines"], body["parseData"]["amount"]["value"]) == (
        "parsed",
        None,
        201,
    )


def test_einvoice_that_cannot_be_read_is_stored_with_the_reason(api):
    for content, name, code in [
        (b"<order><total>5</total></order>", "order.xml", "not_an_invoice"),
        (build_ubl(number=""), "invoice.xml", "invalid_invoice"),
        (build_ubl(currency="KWD", decimals=3), "invoice.xml", "unsupported_currency"),
        (build_pdf_with_files(first=build_ubl(), second=build_cii()), "invoice.pdf", "several_invoices"),
        (build_pdf_with_files(invoice=DOCTYPE + build_ubl()), "invoice.pdf", "unsafe_xml"),
        (build_pdf_with_files(invoice=build_ubl()[:-5]), "invoice.pdf", "unreadable_xml"),
    ]:
        body = upload_file(api, content, name).json()
        assert (body["parseStatus"], body["parseData"], body["parseError"]) == ("failed", None, code), content
        assert default_storage.open(body["storagePath"]).read() == content
        changed = api.put(f"files/{body['id']}", {"parseStatus": "ignored"})
        assert (changed.json()["parseStatus"], changed.json()["parseError"]) == ("ignored", None), content


@pytest.mark.parametrize(
    "content",
    [
        DOCTYPE + build_ubl(),
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        ('<?xml version="1.0" encoding="utf-16"?>' + DOCTYPE.decode() + build_ubl().decode()).encode("utf-16"),
    ],
)
def test_xml_with_a_document_type_is_refused(api, content, tmp_path):
    answer = upload_file(api, content)
    assert (answer.status_code, answer.json()["code"]) == (400, "unsafe_xml")
    assert not File.objects.exists()
    assert not list((tmp_path / "files").rglob("*.*"))


def test_bank_statement_is_no_broken_invoice(api):
    statement = b'<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt/></Document>'
    body = upload_file(api, statement, "statement.xml").json()
    assert (body["parseStatus"], body["parseError"]) == ("open", None)


def test_pdf_without_xml_stays_open(api):
    body = upload_file(api, build_blank_pdf(), "scan.pdf").json()
    assert (body["parseStatus"], body["parseData"], body["parseError"]) == ("open", None, None)


def test_date_of_an_einvoice_sets_the_recognition_date_of_its_transaction(api, books, bank):
    made = books.create_transaction(bank, date="2026-03-15")["id"]
    rule = {"type": "invoiceDate"}
    books.set_categorizations(
        made, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}, "usingDateRule": rule}
    )
    upload_file(api, build_ubl(date=date(2026, 2, 27)), transactionIds=[made])
    assert books.list_categorizations(made)[0]["computedStartDate"] == "2026-02-27"


def test_einvoice_that_would_change_a_closed_month_is_refused(api, books, bank):
    made = books.create_transaction(bank, date="2026-03-15")["id"]
    rule = {"type": "invoiceDate"}
    books.set_categorizations(
        made, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}, "usingDateRule": rule}
    )
    assert api.post("closings", {"month": "2026-03", "acknowledge": True}).status_code == 201
    answer = upload_file(api, build_ubl(date=date(2026, 4, 3)), transactionIds=[made])
    assert (answer.status_code, answer.json()["code"]) == (409, "period_closed")
    assert not File.objects.exists()
    assert upload_file(api, build_ubl(date=date(2026, 4, 3))).status_code == 201


def test_parse_data_can_be_sent_back_as_returned(api):
    made = upload_file(api, build_cii(totals={"payable": "120.50"})).json()
    changed = api.put(f"files/{made['id']}", made)
    assert changed.json()["parseData"] == made["parseData"]
    corrected = made["parseData"] | {"dueDate": "2026-06-01"}
    assert api.put(f"files/{made['id']}", {"parseData": corrected}).json()["parseData"] == corrected
    assert File.objects.get().parse_data["paymentReference"] == "RF18539007547034"


def test_invalid_parse_data_is_refused(api):
    made = upload_file(api, build_ubl()).json()
    for change in [
        {"taxAmount": "1e5"},
        {"taxAmount": 19},
        {"seller": "Nordwind"},
        {"currency": "XXX"},
        {"lines": [{}]},
        {"differences": [{"code": "other", "stated": None, "computed": "1"}]},
        {"invoiceNumber": "1" * 201},
        {"lines": [{"amount": "1"}] * 201},
    ]:
        assert api.put(f"files/{made['id']}", {"parseData": change}).status_code == 400
        assert api.get(f"files/{made['id']}").json() == made, change
