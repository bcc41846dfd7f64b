"""Documents over HTTP: what is taken, what is refused, and where the bytes go."""

import io
import json
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from PIL import Image

from ledger.models import File, FileTransaction
from tests.conftest import Api
from tests.ledger.conftest import get_error_codes

pytestmark = pytest.mark.django_db

PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
CSV = b"date;amount\n2026-01-01;-5,00\n"
XML = b'<?xml version="1.0"?><invoice><total>5</total></invoice>'


def build_image(image_format):
    out = io.BytesIO()
    Image.new("RGB", (8, 8), "navy").save(out, format=image_format)
    return out.getvalue()


def upload_file(api, content, name="invoice.pdf", **fields):
    document = SimpleUploadedFile(name, content, content_type="application/octet-stream")
    return api.client.post(api.path("files"), {"file": document} | fields, headers=api.headers)


def test_file_upload_stores_content_and_returns_metadata(api, books, bank, acme):
    one, two = books.create_transaction(bank)["id"], books.create_transaction(bank)["id"]
    answer = upload_file(api, PDF, transactionIds=[one, two])
    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert set(body) == {
        *("id", "companyId", "transactionIds", "filename", "fileExtension", "size", "storagePath", "parseStatus"),
        *(
            "parseData",
            "parseError",
            "plannedTransactionId",
            "createdTime",
            "createdUserId",
            "lastUpdatedTime",
            "lastUpdatedUserId",
        ),
    }
    assert body["transactionIds"] == sorted([one, two])
    assert (body["filename"], body["fileExtension"], body["size"]) == ("invoice.pdf", "pdf", len(PDF))
    assert (body["parseStatus"], body["parseData"]) == ("open", None)
    assert body["storagePath"] == f"{acme.id}/{body['id']}.pdf"
    assert default_storage.open(body["storagePath"]).read() == PDF
    assert answer["Location"].endswith(f"/files/{body['id']}")
    read = api.get(f"files/{body['id']}")
    assert read.json() == body
    assert read["ETag"] == answer["ETag"]


def test_file_content_is_served_as_nosniff_attachment(api):
    made = upload_file(api, PDF, "rechnung März.pdf").json()
    answer = api.get(f"files/{made['id']}/content", accept="application/pdf")
    assert answer.status_code == 200
    assert b"".join(answer.streaming_content) == PDF
    assert answer["Content-Type"] == "application/pdf"
    assert answer["Content-Disposition"].startswith("attachment;")
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_file_type_is_detected_from_content(api):
    for content, name, extension in [
        (PDF, "photo.png", "pdf"),
        (build_image("PNG"), "x.exe", "png"),
        (build_image("JPEG"), "x", "jpg"),
        (build_image("JPEG"), "x.jpeg", "jpeg"),
        (CSV, "x.txt", "csv"),
        ('Datum,Betrag\n1.1.2026,"5,00"\n'.encode("cp1252"), "x.csv", "csv"),
        ("a\tb\n1\t2\n".encode("utf-16"), "x.csv", "csv"),
        (XML, "x.xml", "xml"),
        (b"\xef\xbb\xbf<a/>", "x.xml", "xml"),
        ("<a>\n<b>1,2</b>\n</a>".encode("utf-16"), "x.csv", "xml"),
    ]:
        answer = upload_file(api, content, name)
        assert answer.status_code == 201, answer.content
        assert answer.json()["fileExtension"] == extension, content


def build_truncated_png():
    """A good header and a picture that is cut off."""
    out = io.BytesIO()
    Image.effect_noise((200, 200), 50).save(out, format="PNG")
    return out.getvalue()[: len(out.getvalue()) // 2]


def build_forged_png():
    """The signature and a header chunk with a right checksum, and nothing else."""
    header = b"IHDR" + (100).to_bytes(4, "big") + (100).to_bytes(4, "big") + b"\x08\x02\0\0\0"
    return b"\x89PNG\r\n\x1a\n\0\0\0\x0d" + header + zlib.crc32(header).to_bytes(4, "big") + b"MZ" * 100


def test_unsupported_file_type_is_rejected_and_nothing_is_stored(api, stored_files):
    for content, name in [
        (b"MZ\x90\0\x03" + bytes(200), "invoice.pdf"),
        (b"\x7fELF" + bytes(200), "statement.csv"),
        (b"#!/bin/sh\nrm -rf /\n", "statement.csv"),
        (build_truncated_png(), "receipt.png"),
        (build_forged_png(), "receipt.png"),
        (b"\xff\xd8\xff\xe0" + bytes(50), "receipt.jpg"),
        (b"%PDF-1.7 and nothing else", "invoice.pdf"),
        (b"<html><body>hello", "invoice.xml"),
        (b'{"a": 1, "b": 2}', "x.csv"),
        (b"", "empty.csv"),
        (b"PK\x03\x04" + bytes(50), "book.xlsx"),
    ]:
        answer = upload_file(api, content, name)
        assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_file_type"), content
        assert not File.objects.exists(), content
        assert not list(stored_files.rglob("*.*")), content


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("a" * 300 + ".pdf", ("a" * 300 + ".pdf")[-255:]),
        ("in\nvoice.pdf", "invoice.pdf"),
    ],
)
def test_filename_is_never_used_as_a_path(api, acme, name, shown, stored_files):
    document = io.BytesIO(PDF)
    document.name = "x.pdf"
    boundary = "b0undary"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = head.encode() + PDF + f"\r\n--{boundary}--\r\n".encode()
    answer = api.client.post(
        api.path("files"), body, content_type=f"multipart/form-data; boundary={boundary}", headers=api.headers
    )
    if "\n" in name:
        assert answer.status_code in (201, 400)
        return
    assert answer.status_code == 201, answer.content
    assert answer.json()["filename"] == shown
    stored = [path.relative_to(stored_files) for path in stored_files.rglob("*.*")]
    assert [str(path) for path in stored] == [answer.json()["storagePath"]] == [f"{acme.id}/{answer.json()['id']}.pdf"]


def test_file_over_20_mib_is_rejected(api, stored_files):
    answer = upload_file(api, PDF + bytes(20 * 1024 * 1024) + PDF)
    assert (answer.status_code, answer.json()["code"]) == (413, "file_too_large")
    assert not File.objects.exists()
    assert not list(stored_files.rglob("*.*"))
    padded = PDF[:-6] + b" " * (20 * 1024 * 1024 - len(PDF)) + b"%%EOF\n"
    assert upload_file(api, padded).status_code == 201


def test_file_upload_over_body_limit_is_rejected(api, settings):
    settings.MAX_UPLOAD_MB = 0
    answer = upload_file(api, PDF)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


def test_file_over_company_quota_is_rejected_until_space_is_freed(api, globex_api, settings, stored_files):
    settings.STORAGE_QUOTA_MB = 1
    large = PDF[:-6] + b" " * 600_000 + b"%%EOF\n"
    first = upload_file(api, large).json()
    refused = upload_file(api, large)
    assert (refused.status_code, refused.json()["code"]) == (413, "quota_exceeded")
    assert "1 MB" in refused.json()["detail"]
    assert File.objects.count() == len(list(stored_files.rglob("*.*"))) == 1
    assert upload_file(globex_api, large).status_code == 201, "each company has its own room"
    assert upload_file(api, PDF).status_code == 201
    assert api.delete(f"files/{first['id']}").status_code == 200
    assert upload_file(api, large).status_code == 201


def test_non_form_upload_is_rejected(api):
    answer = api.client.post(api.path("files"), b"--x", content_type="multipart/form-data", headers=api.headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_form")


@pytest.mark.django_db(transaction=True)
def test_concurrent_uploads_do_not_exceed_quota(api, settings, stored_files):
    settings.STORAGE_QUOTA_MB = 1
    large = PDF[:-6] + b" " * 300_000 + b"%%EOF\n"

    def one(_):
        try:
            return upload_file(Api(api.company, key=api.key), large).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        statuses = sorted(pool.map(one, range(6)))
    assert statuses == [201, 201, 201, 413, 413, 413]
    assert len(list(stored_files.rglob("*.pdf"))) == 3


def test_file_is_served_with_extension_of_its_content(api):
    for content, name, handed_out in [
        (PDF, "Invoice.hta", "Invoice.pdf"),
        (CSV, "statement.bat", "statement.csv"),
        (build_image("PNG"), "scan.html", "scan.png"),
        (build_image("JPEG"), "photo.JPEG", "photo.JPEG"),
        (build_image("JPEG"), "photo.exe", "photo.jpg"),
        (PDF, "Invoice.PDF", "Invoice.PDF"),
        (PDF, "Invoice.pdf.exe", "Invoice.pdf.pdf"),
        (PDF, "Invoice.hta. .", "Invoice.hta.pdf"),
        (PDF, "noname", "noname.pdf"),
        (PDF, "Rechnung Nr. 5", "Rechnung Nr. 5.pdf"),
        (PDF, "statement.2026", "statement.2026.pdf"),
        (PDF, ".htaccess", ".htaccess.pdf"),
        (XML, "x.settingcontent-ms", "x.settingcontent-ms.xml"),
    ]:
        made = upload_file(api, content, name).json()
        assert made["filename"] == name, "what its sender called it"
        extension = handed_out.rpartition(".")[2].lower()
        assert made["fileExtension"] == extension, content
        assert made["storagePath"].endswith(f".{extension.replace('jpeg', 'jpg')}"), content
        answer = api.get(f"files/{made['id']}/content")
        assert answer["Content-Disposition"] == f'attachment; filename="{handed_out}"', content


def test_file_upload_requires_multipart_form_with_file(api):
    assert api.post("files", {"file": "x"}).status_code == 415
    empty = api.client.post(api.path("files"), {"other": "x"}, headers=api.headers)
    assert get_error_codes(empty) == {"#/file": "required"}
    assert not File.objects.exists()


def test_file_transactions_accept_json_array_and_must_exist(api, globex_api, books, bank):
    one = books.create_transaction(bank)["id"]
    assert upload_file(api, PDF, transactionIds=json.dumps([one])).json()["transactionIds"] == [one]
    account = globex_api.post("accounts", {"name": "G", "type": "bank"}).json()["id"]
    body = {"accountId": account, "date": "2026-03-15", "amountValue": "1"}
    theirs = globex_api.post("transactions", body).json()["id"]
    for wrong in (theirs, "x", "00000000-0000-7000-8000-000000000000"):
        answer = upload_file(api, PDF, transactionIds=[one, wrong])
        assert get_error_codes(answer) == {"#/transactionIds/1": "unknown_id"}
    assert upload_file(api, PDF, transactionIds="[5").status_code == 400
    assert File.objects.count() == 1


def test_file_update_changes_only_sent_metadata(api, books, bank):
    one, two = books.create_transaction(bank)["id"], books.create_transaction(bank)["id"]
    made = upload_file(api, PDF, transactionIds=[one]).json()
    path = f"files/{made['id']}"
    data = {"amount": {"value": 119.5, "currency": "EUR"}, "date": "2026-02-28", "type": "invoice"}
    changed = api.put(path, {"transactionIds": [two], "parseStatus": "parsed", "parseData": data, "filename": "x"})
    assert changed.status_code == 200, changed.content
    assert (changed.json()["transactionIds"], changed.json()["parseStatus"]) == ([two], "parsed")
    parse_data = changed.json()["parseData"]
    assert {name: value for name, value in parse_data.items() if value not in (None, [])} == data
    assert changed.json()["filename"] == "invoice.pdf"
    assert api.put(path, changed.json()).json() == changed.json()
    assert api.put(path, {}, if_match=made and api.get(path)["ETag"]).status_code == 200
    assert api.put(path, {"parseStatus": "failed"}, if_match='"old"').status_code == 412
    for wrong in (
        {"parseStatus": "done"},
        {"parseData": {"amount": {"value": "1", "currency": "EUR"}}},
        {"parseData": {"amount": {"value": 1, "currency": "XXX"}}},
        {"parseData": {"amount": {"value": 1}}},
        {"parseData": {"date": "28.2.2026"}},
        {"parseData": []},
        {"transactionIds": ["x"]},
    ):
        assert api.put(path, wrong).status_code == 400
    assert api.get(path).json() == changed.json()
    assert api.put(path, {"parseData": None, "transactionIds": []}).json()["parseData"] is None
    assert not FileTransaction.objects.exists()


def test_attached_invoice_date_sets_recognition_date(api, books, bank, check_derived_rows):
    made = books.create_transaction(bank, date="2026-03-15")["id"]
    rule = {"type": "invoiceDate"}
    books.set_categorizations(
        made, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -5}, "usingDateRule": rule}
    )
    document = upload_file(api, PDF, transactionIds=[made]).json()
    path = f"files/{document['id']}"

    def dated():
        return books.list_categorizations(made)[0]["computedStartDate"]

    assert dated() == "2026-03-15"
    api.put(path, {"parseData": {"date": "2026-02-27", "type": "invoice"}})
    assert dated() == "2026-02-27"
    api.put(path, {"transactionIds": []})
    assert dated() == "2026-03-15"
    api.put(path, {"transactionIds": [made]})
    assert dated() == "2026-02-27"
    etag = api.get(f"transactions/{made}")["ETag"]
    api.delete(path)
    assert dated() == "2026-03-15"
    assert api.get(f"transactions/{made}", if_none_match=etag).status_code == 200


def test_deleting_file_deletes_its_content(api, django_capture_on_commit_callbacks):
    made = upload_file(api, PDF).json()
    with django_capture_on_commit_callbacks(execute=True):
        assert api.delete(f"files/{made['id']}").json() == {"success": True}
    assert not default_storage.exists(made["storagePath"])
    assert api.get(f"files/{made['id']}").status_code == api.get(f"files/{made['id']}/content").status_code == 404


def test_file_list_is_paged_and_filtered_with_one_query(api, books, bank, django_assert_num_queries):
    one = books.create_transaction(bank)["id"]
    ids = [upload_file(api, PDF, transactionIds=[one] if n == 1 else []).json()["id"] for n in range(3)]
    with django_assert_num_queries(2):
        whole = api.get("files").json()
    assert [each["id"] for each in whole] == ids[::-1]
    page = api.get("files", {"limit": 2})
    assert [each["id"] for each in page.json()] == ids[:0:-1]
    assert 'rel="next"' in page["Link"]
    assert [each["id"] for each in api.get("files", {"transactionId": one}).json()] == [ids[1]]
    assert api.get("files", {"parseStatus": "parsed"}).json() == []
    for name, value in (("parseStatus", "x"), ("transactionId", "x"), ("color", "x")):
        assert api.get("files", {name: value}).status_code == 400


def test_deleting_a_transaction_keeps_its_documents(api, books, bank):
    one = books.create_transaction(bank)["id"]
    made = upload_file(api, PDF, transactionIds=[one]).json()
    api.delete(f"transactions/{one}")
    assert api.get(f"files/{made['id']}").json()["transactionIds"] == []


def test_retried_upload_stores_one_file(api):
    for _ in range(2):
        document = SimpleUploadedFile("a.pdf", PDF)
        answer = api.client.post(api.path("files"), {"file": document}, headers=api.headers | {"Idempotency-Key": "k1"})
        assert answer.status_code == 201
    assert answer["Idempotency-Replayed"] == "true"
    assert File.objects.count() == 1


def test_invoice_date_moves_revenue_but_not_cost_if_recognized_by_invoice(api, books, bank):
    api.put("", {"plRecognizeRevenueOnInvoice": True})
    sale = books.create_transaction(bank, date="2026-03-15", amountValue="100.00")["id"]
    cost = books.create_transaction(bank, date="2026-03-15", amountValue="-100.00")["id"]
    books.set_categorizations(sale, {"categoryId": books.get_category_id("revenueOther"), "plSplit": {"revenue": 100}})
    books.set_categorizations(cost, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}})
    document = upload_file(api, PDF, transactionIds=[sale, cost]).json()
    api.put(f"files/{document['id']}", {"parseData": {"date": "2026-02-27", "type": "invoice"}})
    assert books.list_categorizations(sale)[0]["computedStartDate"] == "2026-02-27"
    assert books.list_categorizations(cost)[0]["computedStartDate"] == "2026-03-15"
