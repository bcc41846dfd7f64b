"""Map UBL 2.1 invoices and credit notes to the semantic model of EN 16931 (CEN/TS 16931-3-2)."""

from xml.etree.ElementTree import Element

from ledger.files.calc.einvoice import (
    Adjustment,
    EInvoice,
    InvoiceLine,
    InvoiceReadError,
    Party,
    StatedTotals,
    TaxSubtotal,
)
from ledger.files.calc.invoice_xml import (
    MAX_VAT_ID_LENGTH,
    find_account_number,
    find_decimal,
    find_last_day,
    find_number,
    find_required_decimal,
    find_tax_group,
    find_text,
    parse_day,
    parse_decimal,
)

CREDIT_NOTE_TYPE = "381"  # of a CreditNote that states none
INVOICE_TYPE = "380"
LINES = ("InvoiceLine", "CreditNoteLine")


def read_ubl_invoice(root: Element) -> EInvoice:
    """Return the invoice or credit note. Raises InvoiceReadError where a required value is missing or broken."""
    is_credit_note = root.tag == "CreditNote"
    issue_date = parse_day(root.findtext("IssueDate"))
    currency = find_text(root, "DocumentCurrencyCode")
    if issue_date is None:
        raise InvoiceReadError("invalid_invoice")
    return EInvoice(
        type_code=find_text(root, "CreditNoteTypeCode" if is_credit_note else "InvoiceTypeCode")
        or (CREDIT_NOTE_TYPE if is_credit_note else INVOICE_TYPE),
        number=find_number(root, "ID"),
        issue_date=issue_date,
        due_date=find_last_day(
            root,
            "DueDate",
            "PaymentMeans/PaymentDueDate",
            "PaymentTerms/PaymentDueDate",
            "PaymentTerms/InstallmentDueDate",
        ),
        currency=currency,
        seller=read_party(
            root.find("AccountingSupplierParty/Party"),
            iban=find_account_number(root, "PaymentMeans/PayeeFinancialAccount/ID"),
        ),
        buyer=read_party(
            root.find("AccountingCustomerParty/Party"),
            iban=find_account_number(root, "PaymentMeans/PaymentMandate/PayerFinancialAccount/ID"),
        ),
        payment_reference=find_text(root, "PaymentMeans/PaymentID"),
        totals=read_totals(root, currency),
        lines=[read_line(line) for name in LINES for line in root.iterfind(name)],
        adjustments=[read_adjustment(each) for each in root.iterfind("AllowanceCharge")],
        tax_subtotals=[read_tax_subtotal(each) for each in iter_tax_subtotals(root, currency)],
    )


def read_party(party: Element | None, *, iban: str) -> Party:
    schemes = party.findall("PartyTaxScheme") if party is not None else []
    vat_ids = [
        find_text(scheme, "CompanyID", most=MAX_VAT_ID_LENGTH)
        for scheme in schemes
        if find_text(scheme, "TaxScheme/ID").upper() == "VAT"
    ]
    trading_name = find_text(party, "PartyName/Name")
    return Party(
        name=find_text(party, "PartyLegalEntity/RegistrationName") or trading_name,
        trading_name=trading_name,
        vat_id=next(filter(None, vat_ids), ""),
        iban=iban,
    )


def read_totals(root: Element, currency: str) -> StatedTotals:
    sums = root.find("LegalMonetaryTotal")
    tax_amounts = [
        parse_decimal(each.text)
        for each in root.iterfind("TaxTotal/TaxAmount")
        if each.get("currencyID", currency) == currency  # another one is in the currency of accounting (BT-111)
    ]
    return StatedTotals(
        line_total=find_decimal(sums, "LineExtensionAmount"),
        allowance_total=find_decimal(sums, "AllowanceTotalAmount"),
        charge_total=find_decimal(sums, "ChargeTotalAmount"),
        tax_base=find_decimal(sums, "TaxExclusiveAmount"),
        tax_total=tax_amounts[0] if tax_amounts else None,
        total_with_tax=find_decimal(sums, "TaxInclusiveAmount"),
        prepaid=find_decimal(sums, "PrepaidAmount"),
        rounding=find_decimal(sums, "PayableRoundingAmount"),
        payable=find_required_decimal(sums, "PayableAmount"),
    )


def iter_tax_subtotals(root: Element, currency: str) -> list[Element]:
    """Return the subtotals in the invoice's currency."""
    return [
        subtotal
        for subtotal in root.iterfind("TaxTotal/TaxSubtotal")
        if all(each.get("currencyID", currency) == currency for each in subtotal.iterfind("TaxAmount"))
    ]


def read_tax_subtotal(subtotal: Element) -> TaxSubtotal:
    return TaxSubtotal(
        tax=find_tax_group(subtotal, "TaxCategory", category="ID", rate="Percent"),
        base=find_required_decimal(subtotal, "TaxableAmount"),
        amount=find_required_decimal(subtotal, "TaxAmount"),
    )


def read_adjustment(adjustment: Element) -> Adjustment:
    amount = find_required_decimal(adjustment, "Amount")
    is_charge = find_text(adjustment, "ChargeIndicator") in ("true", "1")
    return Adjustment(
        is_charge=is_charge,
        amount=amount if is_charge else -amount,
        tax=find_tax_group(adjustment, "TaxCategory", category="ID", rate="Percent"),
    )


def read_line(line: Element) -> InvoiceLine:
    quantity = find_decimal(line, "InvoicedQuantity")
    return InvoiceLine(
        amount=find_required_decimal(line, "LineExtensionAmount"),
        tax=find_tax_group(line, "Item/ClassifiedTaxCategory", category="ID", rate="Percent"),
        description=find_text(line, "Item/Name") or find_text(line, "Item/Description"),
        quantity=quantity if quantity is not None else find_decimal(line, "CreditedQuantity"),
        unit_price=find_decimal(line, "Price/PriceAmount"),
    )
