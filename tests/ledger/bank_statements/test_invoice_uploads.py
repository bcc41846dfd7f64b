"""Invoice files among the files of the import page: they are stored as files and listed with the review."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from ledger.models import File, Transaction
from tests import factories
from tests.ledger.bank_file_builders import build_simple_camt
from tests.ledger.conftest import get_page_text
from tests.ledger.files.einvoice_documents import build_blank_pdf, build_cii, build_facturx, build_ubl

pytestmark = pytest.mark.django_db
STATEMENT = ("january.xml", build_simple_camt("-40.00"))
TABLE = ("bank.csv", b"Date;Text;Amount\n2026-01-15;Rent;-40.00\n2026-01-16;Cafe;-3.50\n")
INVOICE = ("bill.xml", build_ubl())


def upload(client, company, *files, **values):
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    return client.post(f"/app/companies/{company.id}/imports/new", {"file": sent, **values}, follow=True)


def list_file_names(company):
    return sorted(File.objects.for_company(company.id).values_list("filename", flat=True))


def find_invoice_links(company, answer):
    """Return the files of the company whose pages the answer links to."""
    content = answer.content.decode()
    files = File.objects.for_company(company.id)
    return sorted(file.filename for file in files if f"/documents/{file.id}" in content)


@pytest.mark.parametrize("bank_file", [STATEMENT, TABLE], ids=["statement", "table"])
def test_review_lists_invoices_with_links(editor, acme, main_account, bank_file):
    others = [("pdf.pdf", build_facturx(build_cii(number="NW-2"))), ("scan.pdf", build_blank_pdf())]
    answer = upload(editor, acme, INVOICE, bank_file, *others)
    assert answer.status_code == 200
    assert find_invoice_links(acme, answer) == list_file_names(acme) == ["bill.xml", "pdf.pdf", "scan.pdf"]
    text = get_page_text(answer)
    assert "bill.xml Nordwind GmbH · NW-2026-17 · €119.00" in text
    assert "scan.pdf No e-invoice in this file" in text
    assert "Nothing is imported yet." in text
    assert not Transaction.objects.for_company(acme.id).exists()
    later = editor.get(f"/app/companies/{acme.id}/imports")
    assert find_invoice_links(acme, later) == list_file_names(acme)


def test_invoices_alone_need_no_statement(editor, acme):
    answer = upload(editor, acme, INVOICE)
    assert answer.redirect_chain[-1][0].endswith(f"/documents/{File.objects.get().id}")
    answer = upload(editor, acme, ("a.xml", build_ubl(number="A")), ("b.xml", build_ubl(number="B")))
    assert answer.redirect_chain[-1][0].endswith("/imports")
    assert find_invoice_links(acme, answer) == ["a.xml", "b.xml"]


def test_invoice_is_stored_once(editor, acme, main_account):
    upload(editor, acme, STATEMENT, INVOICE)
    answer = upload(editor, acme, STATEMENT, ("copy.xml", INVOICE[1]))
    assert list_file_names(acme) == find_invoice_links(acme, answer) == ["bill.xml"]
    assert "“copy.xml” is already stored as “bill.xml”." in get_page_text(answer)


def test_planned_invoice_says_so(editor, api, acme, main_account):
    upload(editor, acme, STATEMENT, INVOICE)
    response = api.post(f"files/{File.objects.get().id}/plan", {"accountId": main_account})
    assert response.status_code == 201, response.content
    assert "Receivable or payable created" in get_page_text(editor.get(f"/app/companies/{acme.id}/imports"))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("cut.xml", build_ubl()[:-30], "“cut.xml”: The invoice could not be read: its XML is damaged."),
        ("cut.pdf", b"%PDF-1.4 no end", "“cut.pdf”: The file content is not PDF"),
        ("odd.xml", build_ubl(currency="XYZ"), "odd.xml The currency of the invoice is not supported."),
    ],
    ids=["broken XML", "broken PDF", "unknown currency"],
)
def test_invoice_that_cannot_be_read_says_why(editor, acme, main_account, name, content, reason):
    answer = upload(editor, acme, STATEMENT, (name, content))
    assert answer.status_code == 200
    assert reason in get_page_text(answer)
    assert "1 new, 0 duplicates" in get_page_text(answer)


def test_invoices_need_permission_for_files(sign_in_browser, acme, main_account):
    held = ["transactions:read", "transactions:write", "accounts:read", "files:read"]
    member = sign_in_browser(factories.make_member(acme, "some@acme.example", permissions=held), acme).client
    refusal = "“bill.xml” is an invoice. You do not have permission to upload invoices."
    answer = upload(member, acme, STATEMENT, INVOICE)
    assert refusal in get_page_text(answer)
    assert "1 new, 0 duplicates" in get_page_text(answer)
    alone = upload(member, acme, INVOICE)
    assert (alone.status_code, refusal in get_page_text(alone)) == (400, True)
    assert list_file_names(acme) == []


def test_invoices_are_listed_where_other_files_are_refused(editor, acme, main_account):
    answer = upload(editor, acme, INVOICE, ("broken.csv", b"no table"))
    assert answer.status_code == 400
    assert find_invoice_links(acme, answer) == ["bill.xml"]
    answer = upload(editor, acme, *(("a.xml", build_ubl(number=f"{n}")) for n in range(21)))
    assert "You can upload at most 20 files at once." in get_page_text(answer)
    assert (find_invoice_links(acme, answer), list_file_names(acme)) == ([], ["bill.xml"])


@pytest.mark.parametrize("others", [[], [STATEMENT]], ids=["alone", "statement"])
def test_who_may_not_see_files_is_told_only_how_many_are_uploaded(editor, sign_in_browser, acme, main_account, others):
    upload(editor, acme, ("secret.xml", INVOICE[1]))
    writer = factories.make_member(
        acme, "writer@example.com", permissions=["transactions:read", "transactions:write", "files:write"]
    )
    answer = upload(sign_in_browser(writer, acme).client, acme, INVOICE, *others)
    text = get_page_text(answer)
    assert (answer.status_code, "1 file uploaded." in text, "secret" in text) == (200, True, False)
    assert list_file_names(acme) == ["secret.xml"]
