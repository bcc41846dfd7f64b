"""Invoices that an import pays: its message and the list of imports say so, and lead to them."""

import pytest

from tests.ledger.bank_file_builders import build_camt, build_entry, build_statement
from tests.ledger.bank_statements.test_statement_pages import confirm_import, open_check_page
from tests.ledger.conftest import get_page_text as text

pytestmark = pytest.mark.django_db

IBAN = "DE89370400440532013000"


@pytest.fixture
def invoices(api):
    """Two open customer invoices, payable to the account in the statement files."""
    account = api.post("accounts", {"name": "Main", "type": "bank", "accountNumber": IBAN}).json()["id"]
    made = []
    for number, amount in (("INV-2026-001", "1000.00"), ("INV-2026-002", "250.00")):
        body = {"accountId": account, "name": f"Initech {number}", "startDate": "2026-01-20", "amountValue": amount}
        body |= {"invoiceDate": "2026-01-02", "externalData": {"invoiceNumber": number}}
        answer = api.post("planned_transactions", body)
        assert answer.status_code == 201, answer.content
        made.append(answer.json()["id"])
    return made


PAYMENTS = build_camt(
    build_statement(
        build_entry("1000.00", "2026-01-16", ref="R1", text="Invoice INV-2026-001"),
        build_entry("250.00", "2026-01-17", ref="R2", text="Invoice INV-2026-002"),
        build_entry("-3.00", "2026-01-17", ref="R3", text="Coffee"),
        opening="0",
        closing="1247",
    )
)


def test_import_says_which_invoices_it_paid_and_leads_to_them(owner, api, acme, invoices):
    address, answer = open_check_page(owner, acme, ("january.xml", PAYMENTS))
    done = confirm_import(owner, address, answer)
    assert "3 transactions imported from 1 file. 2 invoices paid." in text(done)
    [batch] = api.get("imports").json()
    link = f"/app/companies/{acme.id}/imports/{batch['id']}/payments"
    assert f'<a href="{link}">2 invoices paid</a>' in done.content.decode()
    shown = owner.get(link)
    assert "Initech INV-2026-001" in text(shown)
    assert "Paid €1,000.00" in text(shown)
    assert f'href="/app/companies/{acme.id}/planned/{invoices[1]}"' in shown.content.decode()


def test_import_without_payments_says_nothing_of_invoices(owner, api, acme, invoices):
    api.delete(f"planned_transactions/{invoices[0]}")
    api.delete(f"planned_transactions/{invoices[1]}")
    address, answer = open_check_page(owner, acme, ("january.xml", PAYMENTS))
    assert "paid" not in text(confirm_import(owner, address, answer)).split("Imports from files")[0]


def test_invoice_of_which_a_part_is_open_is_partly_paid(owner, api, acme, invoices):
    address, answer = open_check_page(owner, acme, ("january.xml", PAYMENTS))
    confirm_import(owner, address, answer)
    answer = api.put(f"planned_transactions/{invoices[0]}/overrides/2026-01-20", {"amountValue": "1200.00"})
    assert answer.status_code in (200, 201), answer.content
    listed = owner.get(f"/app/companies/{acme.id}/imports")
    assert "1 invoice paid, 1 partly paid" in text(listed)
    [batch] = api.get("imports").json()
    shown = owner.get(f"/app/companies/{acme.id}/imports/{batch['id']}/payments")
    assert "Partly paid: €1,000.00 of €1,200.00" in text(shown)
