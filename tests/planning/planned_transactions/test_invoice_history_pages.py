"""The page of an invoice: its file, its history, and where a dropped document leads."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from companies.audit import changes
from companies.locales import get_current_locale
from tests.change_tables import list_changes
from tests.ledger.files.einvoice_documents import build_blank_pdf, build_ubl
from tests.planning.invoices.conftest import TODAY, Ledger, format_day

pytestmark = pytest.mark.django_db


@pytest.fixture
def ledger(api, account_id):
    return Ledger(api, account_id)


def drop(owner, acme, name, content):
    body = {"file": SimpleUploadedFile(name, content), "from": "drop"}
    return owner.post(f"/app/companies/{acme.id}/documents", body)


@pytest.mark.parametrize(("name", "build"), [("a.xml", build_ubl), ("a.pdf", build_blank_pdf)])
def test_dropped_document_leads_to_its_page(owner, acme, name, build):
    answer = drop(owner, acme, name, build())
    assert answer.status_code == 303
    assert f"/app/companies/{acme.id}/documents/" in answer["Location"]
    page = owner.get(answer["Location"])
    assert page.status_code == 200
    assert ("<iframe" in page.content.decode()) == name.endswith("pdf")


def test_dropped_file_that_is_no_document_is_explained(owner, acme):
    answer = drop(owner, acme, "a.exe", b"MZ\x00\x01")
    assert answer.status_code in (400, 415)
    assert 'role="alert"' in answer.content.decode()


def test_file_and_invoice_lead_to_each_other(owner, acme, api, account_id):
    file_path = drop(owner, acme, "invoice.xml", build_ubl())["Location"]
    planned = api.post(f"files/{file_path.rsplit('/', 1)[1]}/plan", {"accountId": account_id}).json()["id"]
    planned_path = f"/app/companies/{acme.id}/planned/{planned}"
    assert f'href="{file_path}"' in owner.get(planned_path).content.decode()
    assert f'href="{planned_path}"' in owner.get(file_path).content.decode()


def test_history_tells_who_settled_how_much(owner, acme, api, ledger, sign_in_browser, carol):
    owed = ledger.create_invoice("100.00", days=-3)
    paid = ledger.pay_invoice(owed, "40.00", -2)
    api.post(f"planned_transactions/{owed['id']}/unsettle", {"date": owed["startDate"], "transactionId": paid})
    ledger.write_off(owed, 0)
    answer = owner.get(f"/app/companies/{acme.id}/planned/{owed['id']}")
    written_off, unsettled, settled, created = list_changes(answer)
    due, today = (get_current_locale().format_day(TODAY + timedelta(days=days)) for days in (-3, 0))
    assert (written_off.label, unsettled.label) == ("Invoice written off", "Invoice unsettled")
    assert written_off.fields["Settlements"] == ("—", f"{due} date {today}, reason Lost, amount €100.00")
    assert settled.label == "Invoice partly paid"
    assert settled.fields["Settlements"][1].startswith(f"{due} amount €40.00, transaction ")
    assert unsettled.fields["Settlements"] == settled.fields["Settlements"][::-1]
    assert (created.label, created.fields["Amount"]) == ("Invoice created", ("—", "€100.00"))


def test_history_links_to_all_changes_if_there_are_more(owner, acme, ledger, monkeypatch):
    owed = ledger.create_invoice("100.00", days=-3)
    link = f'href="/app/companies/{acme.id}/settings/activity?thing={owed["id"]}"'
    monkeypatch.setattr(changes, "MAX_HISTORY_CHANGES", 1)
    path = f"/app/companies/{acme.id}/planned/{owed['id']}"
    assert link not in owner.get(path).content.decode()
    ledger.write_off(owed, 0)
    answer = owner.get(path)
    assert (link in answer.content.decode(), len(list_changes(answer))) == (True, 1)


def test_history_of_an_imported_invoice_names_the_file(owner, acme, api):
    content = f"Invoice number,Customer,Invoice date,Amount\nR-1,Globex,{format_day(-1)},10.00\n"
    file = SimpleUploadedFile("open.csv", content.encode())
    assert api.client.post(api.path("receivables/import"), {"file": file}, headers=api.headers).status_code == 200
    (row,) = api.get("receivables").json()
    (imported,) = list_changes(owner.get(f"/app/companies/{acme.id}/planned/{row['id']}"))
    assert (imported.label, imported.fields) == ("Invoice imported", {"File name": ("—", "open.csv")})
