"""The page of an electronic invoice: the document beside its data, differences, and its receivable or payable."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from ledger.models import File
from planning.models import PlannedTransaction
from tests.ledger.files.einvoice_documents import (
    build_blank_pdf,
    build_cii,
    build_facturx,
    build_pdf_with_files,
    build_ubl,
)
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db


def build_page_path(company, path=""):
    return f"/app/companies/{company.id}/{path}"


@pytest.fixture
def upload(owner, acme):
    """Upload one file on the page of files; return the address of its own page."""

    def upload_one(content, name="invoice.xml"):
        answer = owner.post(build_page_path(acme, "documents"), {"file": SimpleUploadedFile(name, content)})
        assert answer.status_code == 303, answer.content
        file = File.objects.for_company(acme.id).latest("created_time")
        address = build_page_path(acme, f"documents/{file.id}")
        assert answer["Location"] == (build_page_path(acme, "documents") if file.parse_status == "open" else address)
        return address

    return upload_one


def test_page_of_an_einvoice_shows_its_data_and_differences(owner, upload):
    lines = [("Design &amp; print", "2", "100.00", "19")]
    answer = owner.get(upload(build_ubl(totals={"payable": "120.50"}, lines=lines)))
    text, content = get_page_text(answer), answer.content.decode()
    assert "The totals of this invoice do not add up." in text
    assert "Amount due: €120.50 on the invoice, €119.00 computed" in text
    assert "Design & print" in text
    for name, value in {
        "invoiceNumber": "NW-2026-17", "seller": "Nordwind GmbH", "buyer": "Acme",
        "dueDate": "2026-04-01", "amount": "120.50",
    }.items():  # fmt: skip
        assert re.search(rf'name="{name}"[^>]*value="{value}"', content), name


def test_saving_the_form_keeps_what_it_does_not_show(owner, api, acme, upload):
    address = upload(build_ubl())
    file = File.objects.get()
    form = {
        "parseStatus": "parsed", "amount": "119.00", "currency": "EUR", "date": "2026-03-02", "kind": "creditNote",
        "dueDate": "2026-05-02", "invoiceNumber": "NW-18", "seller": "Nordwind AG", "buyer": "",
    }  # fmt: skip
    assert owner.post(address, form).status_code == 303
    data = api.get(f"files/{file.id}").json()["parseData"]
    assert (data["type"], data["dueDate"], data["invoiceNumber"]) == ("creditNote", "2026-05-02", "NW-18")
    assert data["seller"] == {
        "name": "Nordwind AG", "tradingName": None, "vatId": "DE123456789", "iban": "DE89370400440532013000",
    }  # fmt: skip
    assert (data["buyer"]["name"], data["buyer"]["vatId"], len(data["lines"])) == (None, "FR40303265045", 1)


def test_pdf_is_shown_in_the_page_within_the_content_security_policy(owner, upload):
    address = upload(build_facturx(build_cii()), "invoice.pdf")
    page = owner.get(address)
    assert f'<iframe class="card file-frame" src="{address}/content"' in page.content.decode()
    assert "frame-src 'self'" in page["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    content = owner.get(f"{address}/content")
    assert "frame-ancestors 'self'" in content["Content-Security-Policy"]
    assert content["X-Frame-Options"] == "SAMEORIGIN"


def test_page_says_why_an_einvoice_could_not_be_read(owner, upload):
    pdf = build_pdf_with_files(first=build_ubl(), second=build_cii())
    assert "The PDF contains several invoices." in get_page_text(owner.get(upload(pdf, "two.pdf")))


def test_payable_is_created_from_the_page(owner, api, acme, upload):
    account = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    address = upload(build_ubl())
    assert "Create payable" in get_page_text(owner.get(address))
    answer = owner.post(f"{address}/plan", {"accountId": account})
    planned = PlannedTransaction.objects.get()
    assert answer["Location"] == build_page_path(acme, f"planned/{planned.id}")
    assert (planned.amount_value, str(planned.account_id)) == (-119, account)
    page = owner.get(address)
    assert build_page_path(acme, f"planned/{planned.id}") in page.content.decode()
    assert "Create payable" not in get_page_text(page)
    again = owner.post(f"{address}/plan", {"accountId": account}, follow=True)
    assert "already created from this file" in get_page_text(again)
    assert PlannedTransaction.objects.count() == 1


def test_page_asks_for_the_direction_where_the_company_is_on_neither_side(owner, upload):
    address = upload(build_ubl(buyer={"name": "Somebody"}))
    assert "Create receivable or payable" in get_page_text(owner.get(address))
    assert owner.post(f"{address}/plan", {"direction": ""}, follow=True).status_code == 200
    assert not PlannedTransaction.objects.exists()
    owner.post(f"{address}/plan", {"direction": "in"})
    assert PlannedTransaction.objects.get().amount_value == 119


def test_amounts_of_a_pdf_without_xml_are_entered_and_planned(owner, upload):
    address = upload(build_blank_pdf(), "scan.pdf")
    assert "Receivable or payable" not in get_page_text(owner.get(address))
    form = {"parseStatus": "parsed", "amount": "80.50", "currency": "EUR", "date": "2026-03-02", "kind": "invoice"}
    form |= {"dueDate": "", "invoiceNumber": "7", "seller": "Nordwind", "buyer": "Acme"}
    assert owner.post(address, form).status_code == 303
    assert owner.post(f"{address}/plan").status_code == 303
    planned = PlannedTransaction.objects.get()
    assert (planned.amount_value, planned.counterparty.name) == (-80.5, "Nordwind")


def test_viewer_sees_the_planned_transaction_but_cannot_create_one(owner, viewer, upload):
    address = upload(build_ubl())
    assert "Create payable" not in get_page_text(viewer.get(address))
    assert viewer.post(f"{address}/plan").status_code == 403
    owner.post(f"{address}/plan")
    assert "Nordwind GmbH NW-2026-17" in get_page_text(viewer.get(address))


def test_invoices_can_be_added_on_the_page_of_planned_transactions(owner, viewer, acme):
    page = owner.get(build_page_path(acme, "planned/rules")).content.decode()
    assert f'action="{build_page_path(acme, "documents")}"' in page
    assert 'type="file"' in page
    assert 'type="file"' not in viewer.get(build_page_path(acme, "planned/rules")).content.decode()
