"""POST files/{id}/plan: the receivable or payable of an invoice, made once."""

from datetime import date

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from companies.models import AuditEntry
from ledger.models import Counterparty
from planning.models import InvoiceFile, PlannedTransaction
from tests.ledger.closings.page_forms import parse_forms
from tests.ledger.files.einvoice_documents import build_blank_pdf, build_cii, build_ubl
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db

NORDWIND = {"name": "Nordwind GmbH", "vatId": "DE123456789"}
ACME = {"name": "Acme", "vatId": "FR40303265045"}
OTHER = {"name": "Nobody Ltd", "vatId": "IE9999999"}
ACME_IBAN = "FR7630006000011234567890189"


def plan(api, file_id, account_id, **values):
    return api.post(f"files/{file_id}/plan", {"accountId": account_id} | values)


def get_error(answer):
    return answer.status_code, answer.json()["code"]


def test_received_invoice_becomes_a_payable(api, upload_invoice, account_id):
    file_id = upload_invoice()
    answer = plan(api, file_id, account_id)
    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert (body["amountValue"], body["amountCurrency"], body["accountId"]) == ("-119.00", "EUR", account_id)
    assert (body["startDate"], body["invoiceDate"], body["recurrence"]) == ("2026-04-01", "2026-03-02", None)
    assert (body["externalData"]["invoiceNumber"], body["externalData"]["dueDate"]) == ("NW-2026-17", "2026-04-01")
    assert (body["name"], body["counterparty"]["type"]) == ("Nordwind GmbH NW-2026-17", "vendor")
    assert Counterparty.objects.get(id=body["counterparty"]["id"]).name == "Nordwind GmbH"
    assert answer["Location"].endswith(f"/planned_transactions/{body['id']}")
    assert api.get(f"planned_transactions/{body['id']}").json() == body
    assert api.get(f"files/{file_id}").json()["plannedTransactionId"] == body["id"]


@pytest.mark.parametrize(
    ("kind", "parties", "amount", "counterparty_type"),
    [
        ("380", {}, "-119.00", "vendor"),
        ("381", {}, "119.00", "vendor"),
        ("380", {"seller": ACME, "buyer": NORDWIND}, "119.00", "customer"),
        ("381", {"seller": ACME, "buyer": NORDWIND}, "-119.00", "customer"),
    ],
    ids=["payable", "vendor's credit note", "receivable", "customer's credit note"],
)
def test_sign_says_who_owes_whom(api, upload_invoice, account_id, kind, parties, amount, counterparty_type):
    body = plan(api, upload_invoice(type=kind, **parties), account_id).json()
    assert (body["amountValue"], body["counterparty"]["type"]) == (amount, counterparty_type)


@pytest.mark.parametrize(
    ("invoice", "amount"),
    [
        ({"buyer": {"name": "ACME S.A.S."}}, "-119.00"),
        ({"buyer": {"name": "Acmé, Inc."}}, "-119.00"),
        ({"buyer": OTHER, "seller": OTHER, "iban": ACME_IBAN}, "119.00"),
        ({"buyer": OTHER, "buyer_iban": ACME_IBAN}, "-119.00"),
    ],
    ids=["legal form", "accent", "the account that is paid", "the account that is debited"],
)
def test_company_is_recognized_by_name_or_account(api, upload_invoice, account_id, invoice, amount):
    assert plan(api, upload_invoice(**invoice), account_id).json()["amountValue"] == amount


def test_company_is_recognized_by_the_vat_id_of_an_earlier_invoice(api, upload_invoice, account_id):
    renamed = {"name": "Former Name SARL", "vatId": "FR 40 303 265 045"}
    before = upload_invoice(number="2", buyer=renamed)
    assert get_error(plan(api, before, account_id)) == (409, "party_unknown")
    assert plan(api, upload_invoice(number="1"), account_id).status_code == 201
    assert plan(api, before, account_id).json()["amountValue"] == "-119.00"


@pytest.mark.parametrize(
    "parties", [{"buyer": OTHER}, {"seller": ACME, "buyer": ACME}], ids=["neither side", "both sides"]
)
def test_unknown_party_is_refused_unless_a_direction_is_given(api, upload_invoice, account_id, parties):
    file_id = upload_invoice(**parties)
    assert get_error(plan(api, file_id, account_id)) == (409, "party_unknown")
    assert not PlannedTransaction.objects.exists()
    assert not Counterparty.objects.filter(name__startswith="Nordwind").exists()
    assert plan(api, file_id, account_id, direction="in").json()["amountValue"] == "119.00"


def test_file_is_planned_once(api, upload_invoice, account_id):
    file_id = upload_invoice()
    planned = plan(api, file_id, account_id).json()["id"]
    again = plan(api, file_id, account_id)
    assert (*get_error(again), again.json()["plannedTransactionId"]) == (409, "already_planned", planned)
    assert PlannedTransaction.objects.count() == 1
    assert api.delete(f"planned_transactions/{planned}").status_code == 200
    assert api.get(f"files/{file_id}").json()["plannedTransactionId"] is None
    assert plan(api, file_id, account_id).status_code == 201


@pytest.mark.parametrize("parties", [{}, {"seller": ACME, "buyer": NORDWIND}], ids=["payable", "receivable"])
def test_same_seller_and_number_is_a_duplicate(api, acme, upload_invoice, account_id, parties):
    planned = plan(api, upload_invoice(**parties), account_id).json()["id"]
    answer = plan(api, upload_invoice(build=build_cii, number="nw-2026-17", **parties), account_id)
    assert (*get_error(answer), answer.json()["plannedTransactionId"]) == (409, "duplicate_invoice", planned)
    assert answer.json()["url"] == f"/app/companies/{acme.id}/planned/{planned}"
    assert PlannedTransaction.objects.count() == 1


def test_same_number_of_another_seller_is_no_duplicate(api, upload_invoice, account_id):
    for parties in ({}, {"seller": OTHER}, {"seller": ACME, "buyer": NORDWIND}):
        assert plan(api, upload_invoice(**parties), account_id).status_code == 201


def test_invoice_planned_by_hand_is_a_duplicate(api, upload_invoice, account_id):
    vendor = api.post("counterparties", {"type": "vendor", "name": "NORDWIND"}).json()["id"]
    by_hand = {
        "accountId": account_id, "name": "Nordwind", "startDate": "2026-04-01", "amountValue": "-119.00",
        "invoiceDate": "2026-03-02", "counterparty": {"id": vendor, "type": "vendor"},
        "externalData": {"invoiceNumber": "NW-2026-17"},
    }  # fmt: skip
    planned = api.post("planned_transactions", by_hand).json()["id"]
    answer = plan(api, upload_invoice(), account_id)
    assert (*get_error(answer), answer.json()["plannedTransactionId"]) == (409, "duplicate_invoice", planned)


def test_counterparty_is_found_by_name_vat_id_or_iban(api, upload_invoice, account_id):
    vendor = api.post("counterparties", {"type": "vendor", "name": "nordwind gmbh"}).json()["id"]
    invoices = [
        {"number": "1"},
        {"number": "2", "seller": {"name": "Nordwind Holding", "vatId": "DE 123 456 789"}},
        {"number": "3", "seller": {"name": "Northwind"}},
    ]
    for invoice in invoices:  # by name, by the VAT id of the first, by the IBAN of the first
        assert plan(api, upload_invoice(**invoice), account_id).json()["counterparty"]["id"] == vendor
    elsewhere = {"number": "4", "seller": {"name": "Nordlicht"}, "iban": "DE02120300000000202051"}
    assert plan(api, upload_invoice(**elsewhere), account_id).json()["counterparty"]["id"] != vendor


def test_customer_of_the_same_name_is_not_the_vendor(api, upload_invoice, account_id):
    customer = api.post("counterparties", {"type": "customer", "name": "Nordwind GmbH"}).json()["id"]
    counterparty = plan(api, upload_invoice(), account_id).json()["counterparty"]
    assert (counterparty["type"], counterparty["id"] != customer) == ("vendor", True)


def test_invoice_without_due_date_is_expected_on_its_date(api, upload_invoice, account_id):
    body = plan(api, upload_invoice(due=[]), account_id).json()
    assert (body["startDate"], body["externalData"]["dueDate"]) == ("2026-03-02", None)


def test_amount_in_a_foreign_currency_stays_in_it(api, upload_invoice, account_id):
    body = plan(api, upload_invoice(currency="JPY", decimals=0, lines=[("Work", "1", "1000", "10")]), account_id).json()
    assert (body["amountValue"], body["amountCurrency"]) == ("-1100", "JPY")


def test_amount_entered_by_a_person_is_planned(api, account_id):
    document = SimpleUploadedFile("scan.pdf", build_blank_pdf())
    made = api.client.post(api.path("files"), {"file": document}, headers=api.headers).json()
    assert get_error(plan(api, made["id"], account_id)) == (409, "file_not_parsed")
    entered = {"amount": {"value": 80.5, "currency": "EUR"}, "date": "2026-03-09", "invoiceNumber": "7"}
    api.put(f"files/{made['id']}", {"parseData": entered})
    assert get_error(plan(api, made["id"], account_id)) == (409, "party_unknown")
    body = plan(api, made["id"], account_id, direction="out").json()
    assert (body["amountValue"], body["name"], body["counterparty"]) == ("-80.50", "7", None)


def test_paid_invoice_is_not_planned(api, upload_invoice, account_id):
    assert get_error(plan(api, upload_invoice(prepaid="119.00"), account_id)) == (409, "nothing_to_pay")


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        ({}, "#/accountId", "required"),
        ({"accountId": "01890000-0000-7000-8000-000000000000"}, "#/accountId", "unknown_id"),
        ({"accountId": None, "direction": "both"}, "#/direction", "invalid_choice"),
    ],
)
def test_invalid_body_is_refused_and_nothing_is_stored(api, upload_invoice, body, pointer, code):
    answer = api.post(f"files/{upload_invoice()}/plan", body)
    assert (answer.status_code, [(each["pointer"], each["code"]) for each in answer.json()["errors"]]) == (
        400, [(pointer, code)],
    )  # fmt: skip
    assert not PlannedTransaction.objects.exists()
    assert not Counterparty.objects.filter(name__startswith="Nordwind").exists()


def test_planning_a_file_is_audited_with_the_file(api, acme, upload_invoice, account_id):
    file_id = upload_invoice()
    plan(api, file_id, account_id)
    entries = AuditEntry.objects.for_company(acme.id).order_by("-time", "-id")
    assert {entry.action for entry in entries[:2]} == {"invoice.created", "counterparty.created"}
    planned = next(entry for entry in entries if entry.action == "invoice.created")
    assert planned.after["file_id"] == file_id


def test_planning_needs_write_permission_and_the_file(api, acme, make_api, globex_api, upload_invoice, account_id):
    file_id = upload_invoice()
    assert plan(make_api(acme, "planning:write"), file_id, account_id).status_code == 403
    assert plan(make_api(acme, "files:read", "planning:read"), file_id, account_id).status_code == 403
    assert plan(globex_api, file_id, account_id).status_code == 404
    assert plan(make_api(acme, "files:read", "planning:write", "planning:read"), file_id, account_id).status_code == 201


def test_deleted_file_leaves_the_planned_transaction(api, upload_invoice, account_id):
    file_id = upload_invoice(due=[date(2026, 5, 5)])
    planned = plan(api, file_id, account_id).json()
    assert api.delete(f"files/{file_id}").status_code == 200
    assert not InvoiceFile.objects.exists()
    assert api.get(f"planned_transactions/{planned['id']}").json() == planned
    assert get_error(plan(api, upload_invoice(due=[date(2026, 5, 5)]), account_id)) == (409, "duplicate_invoice")


# ---------------------------------------------------------------------------------------------- the import review


def test_review_names_the_customer_and_creates_all_complete_invoices(sign_in_browser, alice, acme):
    client = sign_in_browser(alice, acme).client
    documents = [
        ("sent.xml", build_ubl(number="A-1", seller=ACME, buyer=NORDWIND)),
        ("received.xml", build_ubl()),
        ("other.xml", build_ubl(number="X", seller=OTHER, buyer=NORDWIND)),
        ("scan.pdf", build_blank_pdf()),
    ]
    files = [SimpleUploadedFile(name, content) for name, content in documents]
    review = client.post(f"/app/companies/{acme.id}/imports/new", {"file": files}, follow=True)
    shown = get_page_text(review)
    assert "sent.xml Nordwind GmbH · A-1 · €119.00" in shown
    assert "received.xml Nordwind GmbH · NW-2026-17 · €119.00" in shown
    assert "Create 2 invoices" in shown
    form = next(form for form in parse_forms("", review.content.decode()) if form.action.endswith("/documents/plan"))
    created = client.post(form.action, form.build_body(), follow=True)
    assert created.redirect_chain[-1][0] == f"/app/companies/{acme.id}/imports"
    shown = get_page_text(created)
    assert "2 invoices created." in shown
    assert "sent.xml Receivable or payable created" in shown
    assert "Create 2 invoices" not in shown
    planned = PlannedTransaction.objects.for_company(acme.id).order_by("amount_value")
    assert [(row.name, str(row.amount_value.normalize())) for row in planned] == [
        ("Nordwind GmbH NW-2026-17", "-119"),
        ("Nordwind GmbH A-1", "119"),
    ]
    again = get_page_text(client.post(form.action, form.build_body() | {"next": "https://evil.example/"}, follow=True))
    assert "already created" in again
    assert planned.count() == 2
