"""The pages of documents: dropped, looked at, and laid beside transactions."""

import io
import re
from html import unescape

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from ledger.files import pages
from ledger.models import File
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"
PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"


def build_page_path(company, path=""):
    return f"/app/companies/{company.id}/{path}"


def build_pdf(name="Invoice 7.pdf"):
    return SimpleUploadedFile(name, PDF)


def build_png(name="Receipt.png"):
    picture = io.BytesIO()
    Image.new("RGB", (4, 4), "white").save(picture, "PNG")
    return SimpleUploadedFile(name, picture.getvalue())


@pytest.fixture
def transaction_id(api):
    account = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    row = {"accountId": account, "date": "2026-03-15", "amountValue": "-119.00", "fromTo": "Nimbus"}
    return api.post("transactions", row).json()["id"]


@pytest.fixture
def invoice_file_id(owner, acme):
    assert owner.post(build_page_path(acme, "documents"), {"file": build_pdf()}).status_code == 303
    return str(File.objects.for_company(acme.id).get().id)


def test_several_documents_can_be_uploaded_at_once(owner, viewer, acme):
    assert owner.post(build_page_path(acme, "documents"), {"file": [build_pdf(), build_png()]}).status_code == 303
    seen = get_page_text(viewer.get(build_page_path(acme, "documents")))
    assert "Invoice 7.pdf" in seen
    assert "Receipt.png" in seen
    assert "none yet" in seen
    assert "Upload files" not in seen
    answer = owner.post(
        build_page_path(acme, "documents"), {"file": build_pdf("c.pdf")}, headers={"Accept": "application/json"}
    )
    assert answer.json() == {"location": build_page_path(acme, "documents")}


def test_one_invalid_document_rejects_the_whole_upload(owner, acme):
    answer = owner.post(
        build_page_path(acme, "documents"), {"file": [build_pdf(), SimpleUploadedFile("run.exe", b"MZ\x00")]}
    )
    assert (answer.status_code, "“run.exe”: The file content is not PDF" in get_page_text(answer)) == (400, True)
    assert not File.objects.for_company(acme.id).exists()
    assert list_folders(str(acme.id)) == []


def list_folders(folder):
    try:
        return default_storage.listdir(folder)[1]
    except FileNotFoundError:
        return []


def test_empty_and_oversized_document_uploads_are_rejected(owner, acme, monkeypatch):
    answer = owner.post(build_page_path(acme, "documents"), {})
    assert (answer.status_code, "Select a file." in get_page_text(answer)) == (400, True)
    monkeypatch.setattr(pages, "MAX_FILES_PER_UPLOAD", 1)
    answer = owner.post(build_page_path(acme, "documents"), {"file": [build_pdf(), build_png()]})
    assert (answer.status_code, "Upload at most 20 files at once." in get_page_text(answer)) == (400, True)


def test_safe_documents_are_shown_inline_and_others_downloaded(owner, viewer, acme):
    xml = SimpleUploadedFile("a.xml", b"<a xmlns='http://www.w3.org/1999/xhtml'><script>1</script></a>")
    owner.post(build_page_path(acme, "documents"), {"file": [build_pdf(), build_png(), xml]})
    for row in File.objects.for_company(acme.id):
        answer = viewer.get(build_page_path(acme, f"documents/{row.id}/content"))
        how = "attachment" if row.file_extension == "xml" else "inline"
        assert answer["Content-Disposition"].startswith(how), row.filename
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in answer["Content-Security-Policy"]
        assert "object-src 'self'" in answer["Content-Security-Policy"]
        assert answer["Content-Type"] == row.content_type
        assert b"".join(answer.streaming_content)
        shown = viewer.get(build_page_path(acme, f"documents/{row.id}")).content.decode()
        assert ("<img src=" in shown.partition("</header>")[2].partition("<main")[2]) == (row.file_extension == "png")


def test_document_can_be_attached_to_transaction_found_by_text_or_amount(
    owner, api, acme, transaction_id, invoice_file_id
):
    address = build_page_path(acme, f"documents/{invoice_file_id}")
    assert transaction_id not in owner.get(address).content.decode()
    for query in ("nimb", "119,00", "-119"):
        assert transaction_id in owner.get(address, {"q": query}).content.decode()
    assert "No other transaction" in get_page_text(owner.get(address, {"q": "zzz"}))
    assert owner.post(f"{address}/attach", {"transactionId": transaction_id}).status_code == 303
    assert api.get(f"files/{invoice_file_id}").json()["transactionIds"] == [transaction_id]
    assert "Nimbus" in get_page_text(owner.get(build_page_path(acme, "documents")))
    assert "No files found" in get_page_text(owner.get(build_page_path(acme, "documents"), {"loose": "true"}))
    there = owner.get(build_page_path(acme, f"transactions/{transaction_id}"))
    assert "Invoice 7.pdf" in get_page_text(there)
    form = {"transactionId": transaction_id, "from": "transaction"}
    answer = owner.post(f"{address}/detach", form)
    assert answer["Location"] == build_page_path(acme, f"transactions/{transaction_id}")
    assert api.get(f"files/{invoice_file_id}").json()["transactionIds"] == []


def test_document_can_be_uploaded_and_attached_on_transaction_page(owner, api, acme, transaction_id, invoice_file_id):
    address = build_page_path(acme, f"transactions/{transaction_id}/documents")
    assert owner.post(address, {"file": [build_png()]}).status_code == 303
    assert owner.post(address, {"document": invoice_file_id}).status_code == 303
    body = api.get(f"files?transactionId={transaction_id}").json()
    assert {each["filename"] for each in body} == {"Receipt.png", "Invoice 7.pdf"}
    for wrong in ({"document": "nothing"}, {"document": UNKNOWN_ID}):
        assert owner.post(address, wrong).status_code == 404
    nothing = owner.post(address, {}, follow=True)
    assert "Select a file." in get_page_text(nothing)


def test_document_actions_on_transaction_page_keep_link_back_to_list(owner, acme, transaction_id, invoice_file_id):
    there = f"{build_page_path(acme, f'transactions/{transaction_id}')}?then=q%3Dnimbus"
    owner.post(build_page_path(acme, f"documents/{invoice_file_id}/attach"), {"transactionId": transaction_id})
    actions = re.findall(r'action="(\S+/(?:detach|documents)\S*)"', owner.get(there).content.decode())
    assert [each.rpartition("/")[2] for each in actions] == ["detach?then=q%3Dnimbus", "documents?then=q%3Dnimbus"]
    form = {"transactionId": transaction_id, "from": "transaction"}
    assert owner.post(actions[0], form)["Location"] == there
    assert owner.post(actions[1], {"document": invoice_file_id})["Location"] == there


def test_document_data_is_stored_and_finds_its_transaction(owner, api, acme, transaction_id, invoice_file_id):
    address = build_page_path(acme, f"documents/{invoice_file_id}")
    form = {"parseStatus": "parsed", "amount": "119,00", "currency": "EUR", "date": "2026-03-01", "kind": "invoice"}
    assert owner.post(address, form).status_code == 303
    stored = api.get(f"files/{invoice_file_id}").json()
    amount = {"value": 119, "currency": "EUR"}
    assert stored["parseStatus"] == "parsed"
    assert {name: value for name, value in stored["parseData"].items() if value} == {
        "amount": amount, "date": "2026-03-01", "type": "invoice",
    }  # fmt: skip
    assert transaction_id in owner.get(address).content.decode(), "it has the amount"
    answer = owner.post(address, form | {"amount": "much", "date": "soon", "parseStatus": "lost"})
    assert answer.status_code == 400
    assert set(re.findall(r'id="(\w+)-error"', answer.content.decode())) == {"parseStatus", "amount", "date"}
    empty = {"parseStatus": "open", "amount": "", "currency": "EUR", "date": "", "kind": ""}
    assert owner.post(address, empty).status_code == 303
    assert api.get(f"files/{invoice_file_id}").json()["parseData"] is None


def test_deleting_document_deletes_its_content(
    owner, api, acme, transaction_id, invoice_file_id, django_capture_on_commit_callbacks
):
    assert len(list_folders(str(acme.id))) == 1
    with django_capture_on_commit_callbacks(execute=True):
        assert owner.post(build_page_path(acme, f"documents/{invoice_file_id}/delete")).status_code == 303
    assert api.get(f"files/{invoice_file_id}").status_code == 404
    assert list_folders(str(acme.id)) == []
    assert api.get(f"transactions/{transaction_id}").status_code == 200


def test_document_cannot_be_attached_to_other_company(owner, acme, globex_api, invoice_file_id):
    account = globex_api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    row = {"accountId": account, "date": "2026-03-15", "amountValue": "-119.00", "fromTo": "Umbrella"}
    foreign = globex_api.post("transactions", row).json()["id"]
    address = build_page_path(acme, f"documents/{invoice_file_id}")
    assert foreign not in owner.get(address, {"q": "Umbrella"}).content.decode()
    answer = owner.post(f"{address}/attach", {"transactionId": foreign}, follow=True)
    assert "This record does not exist in this company." in get_page_text(answer)
    assert (
        owner.post(
            build_page_path(acme, f"transactions/{foreign}/documents"), {"document": invoice_file_id}
        ).status_code
        == 404
    )


def test_unlinked_file_cannot_be_unlinked(owner, acme, transaction_id, invoice_file_id):
    answer = owner.post(
        build_page_path(acme, f"documents/{invoice_file_id}/detach"), {"transactionId": transaction_id}, follow=True
    )
    assert "detached from the transaction" not in get_page_text(answer)


def test_document_page_keeps_list_filters_and_search(owner, acme, invoice_file_id, transaction_id):
    listed = build_page_path(acme, "documents?loose=true&status=open")
    address = re.search(r'href="([^"]+/documents/[0-9a-f-]+\?[^"]+)"', owner.get(listed).content.decode())[1]
    seen = unescape(owner.get(f"{unescape(address)}&q=Nimbus").content.decode())
    assert f'<a href="{listed}">Files</a>' in seen
    attach = re.search(r'action="([^"]+/attach[^"]*)"', seen)[1]
    there = owner.post(attach, {"transactionId": transaction_id})["Location"]
    assert there == build_page_path(acme, f"documents/{invoice_file_id}?then=loose%3Dtrue%26status%3Dopen&q=Nimbus")
    gone = re.search(r'action="([^"]+/delete[^"]*)"', unescape(owner.get(there).content.decode()))[1]
    assert owner.post(gone)["Location"] == listed
