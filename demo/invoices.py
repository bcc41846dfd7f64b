"""Receivables and payables of the demo company: open, overdue, partly paid, paid and written off, and an e-invoice."""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Abs

from companies.models import AuditContext, Company
from companies.time_zones import get_today
from ledger.categorization.actions.counterparties import create_counterparty
from ledger.files.actions import create_file
from ledger.models import Account, CounterpartyType, Direction, Transaction
from planning.invoice_files.actions import plan_invoice_file
from planning.models import PlannedSource, PlannedTransaction, Settlement
from planning.planned_transactions.actions import planned_transactions, settlements

TEN = Decimal(10)
SELLER, E_INVOICE_NUMBER = "Paperwise GmbH", "PW-4711"


class DemoInvoice(NamedTuple):
    """An invoice: `share` is its amount as a share of monthly revenue, negative for money out. Days count from today.

    `paid` is the share of it that a past payment pays: 1 is all of it.
    """

    party: str
    share: str
    invoiced: int
    due: int
    paid: str = ""
    is_written_off: bool = False
    is_credit_note: bool = False


INVOICES = (
    DemoInvoice("Brightwater Media", "0.030", -24, 6),
    DemoInvoice("Halden Logistics", "0.045", -10, 20),
    DemoInvoice("Kestrel Robotics", "0.025", -42, -12),
    DemoInvoice("Orchard Clinics", "0.018", -77, -47),
    DemoInvoice("Vertex Travel", "0.008", -100, -70),
    DemoInvoice("Fjord Freight", "0.012", -131, -101),
    DemoInvoice("Tandem Cycles", "0.010", -190, -160, is_written_off=True),
    DemoInvoice("Lumen Learning", "0.020", -45, 12, paid="0.5"),
    DemoInvoice("Summit Solar", "0.020", -40, -10, paid="1"),
    DemoInvoice("Halden Logistics", "-0.004", -5, 20, is_credit_note=True),
    DemoInvoice("Ledgerworks Audit", "-0.015", -20, 10),
    DemoInvoice("Cobalt Security", "-0.008", -38, -8),
    DemoInvoice("Harbour Legal", "-0.010", -30, 3, paid="0.5"),
    DemoInvoice("Granite Furniture", "-0.006", -50, -20, paid="1"),
)

E_INVOICE = """<?xml version="1.0" encoding="UTF-8"?>
<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><ID>{number}</ID><IssueDate>{issued}</IssueDate>
<DueDate>{due}</DueDate><InvoiceTypeCode>380</InvoiceTypeCode><DocumentCurrencyCode>EUR</DocumentCurrencyCode>
<AccountingSupplierParty><Party><PartyTaxScheme><CompanyID>DE811569869</CompanyID><TaxScheme><ID>VAT</ID></TaxScheme>
</PartyTaxScheme><PartyLegalEntity><RegistrationName>{seller}</RegistrationName></PartyLegalEntity></Party>
</AccountingSupplierParty>
<AccountingCustomerParty><Party><PartyLegalEntity><RegistrationName>{buyer}</RegistrationName></PartyLegalEntity>
</Party></AccountingCustomerParty>
<TaxTotal><TaxAmount currencyID="EUR">95.00</TaxAmount><TaxSubtotal>
<TaxableAmount currencyID="EUR">500.00</TaxableAmount>
<TaxAmount currencyID="EUR">95.00</TaxAmount><TaxCategory><ID>S</ID><Percent>19</Percent><TaxScheme><ID>VAT</ID>
</TaxScheme></TaxCategory></TaxSubtotal></TaxTotal>
<LegalMonetaryTotal><LineExtensionAmount currencyID="EUR">500.00</LineExtensionAmount>
<TaxExclusiveAmount currencyID="EUR">500.00</TaxExclusiveAmount>
<TaxInclusiveAmount currencyID="EUR">595.00</TaxInclusiveAmount>
<PayableAmount currencyID="EUR">595.00</PayableAmount></LegalMonetaryTotal>
<InvoiceLine><InvoicedQuantity>1</InvoicedQuantity><LineExtensionAmount currencyID="EUR">500.00</LineExtensionAmount>
<Item><Name>Archive boxes and shelving</Name><ClassifiedTaxCategory><ID>S</ID><Percent>19</Percent><TaxScheme>
<ID>VAT</ID></TaxScheme></ClassifiedTaxCategory></Item><Price><PriceAmount currencyID="EUR">500.00</PriceAmount></Price>
</InvoiceLine></Invoice>
"""


class InvoiceWriter:
    """Creates the invoices of the demo company and settles those that are paid."""

    def __init__(
        self,
        *,
        company: Company,
        context: AuditContext,
        account: Account,
        categories: Mapping[str, UUID],
        monthly_revenue: Decimal,
    ):
        self.company, self.context, self.account, self.categories = company, context, account, categories
        self.today: date = get_today(company, context.time)
        self.monthly_revenue = monthly_revenue
        self.party_ids: dict[str, UUID] = {}

    def create_invoices(self) -> None:
        """Create all invoices, and the payable of an electronic invoice."""
        for number, invoice in enumerate(INVOICES, 1):
            payment = self.find_payment(invoice) if invoice.paid else None
            if invoice.paid and payment is None:
                continue
            planned = self.create_invoice(invoice, number, payment)
            if payment is not None:
                self.settle(planned, payment)
            if invoice.is_written_off:
                settlements.write_off_occurrence(
                    company=self.company, context=self.context, planned_id=planned.id,
                    date=self.today - timedelta(days=10), reason="Insolvent",
                )  # fmt: skip
        self.plan_e_invoice()

    def find_payment(self, invoice: DemoInvoice) -> Transaction | None:
        """Return the payment after the invoice nearest to what is paid of it, which settles nothing yet."""
        amount = self.compute_amount(invoice) * Decimal(invoice.paid)
        settled = Settlement.objects.for_company(self.company.id).filter(transaction__isnull=False)
        rows = Transaction.objects.for_company(self.company.id).filter(
            account=self.account, date__gte=self.today + timedelta(days=invoice.invoiced), transferred_value=0
        )
        rows = rows.booked().without_initial_balances().exclude(id__in=settled.values("transaction"))
        rows = rows.filter(amount_value__gt=0) if Decimal(invoice.share) > 0 else rows.filter(amount_value__lt=0)
        return rows.order_by(Abs(F("amount_value") - amount), "-date", "-id").first()

    def create_invoice(self, invoice: DemoInvoice, number: int, payment: Transaction | None) -> PlannedTransaction:
        amount = self.compute_amount(invoice) if payment is None else payment.amount_value / Decimal(invoice.paid)
        is_customer = (Decimal(invoice.share) > 0) != invoice.is_credit_note
        label = f"{self.today:%Y}-{number:03}" if is_customer else f"B-{8000 + number}"
        day = self.today + timedelta(days=invoice.due)
        values = {
            "account_id": self.account.id,
            "name": f"{invoice.party} {label}",
            "start_date": day,
            "amount_value": f"{amount:.2f}",
            "category_id": self.categories["revenueRecurring"] if is_customer else None,
            "counterparty": {"id": self.get_party_id(invoice.party, is_customer=is_customer)},
            "invoice_date": self.today + timedelta(days=invoice.invoiced),
            "external_data": {"invoice_number": label, "due_date": day},
        }
        return planned_transactions.create_planned_transaction(
            company=self.company, context=self.context, source=PlannedSource.MANUAL, values=values
        )

    def compute_amount(self, invoice: DemoInvoice) -> Decimal:
        """Return an amount with tens, at least 100."""
        rounded = (self.monthly_revenue * Decimal(invoice.share) / TEN).quantize(Decimal(1)) * TEN
        return max(abs(rounded), TEN * TEN).copy_sign(Decimal(invoice.share))

    def get_party_id(self, name: str, *, is_customer: bool) -> UUID:
        if name not in self.party_ids:
            kind = CounterpartyType.CUSTOMER if is_customer else CounterpartyType.VENDOR
            values = {"name": name, "type": kind, "payment_terms": 30}
            party = create_counterparty(company=self.company, context=self.context, values=values)
            self.party_ids[name] = party.id
        return self.party_ids[name]

    def settle(self, planned: PlannedTransaction, payment: Transaction) -> None:
        settlements.settle_occurrence(
            company=self.company, context=self.context, planned_id=planned.id, original_date=planned.start_date,
            transaction_id=payment.id,
        )  # fmt: skip

    def plan_e_invoice(self) -> None:
        """Upload an electronic invoice of a vendor and create its payable."""
        content = E_INVOICE.format(
            number=E_INVOICE_NUMBER,
            issued=self.today - timedelta(days=9),
            due=self.today + timedelta(days=5),
            seller=SELLER,
            buyer=self.company.name.replace("&", "&amp;").replace("<", "&lt;"),
        )
        file = create_file(
            company=self.company, context=self.context, name=f"{E_INVOICE_NUMBER}.xml".lower(),
            content=content.encode(), transaction_ids=[],
        )  # fmt: skip
        plan_invoice_file(
            company=self.company, context=self.context, file_id=file.id, account_id=self.account.id,
            direction=Direction.OUT, source=PlannedSource.MANUAL,
        )  # fmt: skip
