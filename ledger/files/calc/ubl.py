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
    find_decimal_at,
    find_document_number,
    find_latest_day_at,
    find_required_decimal,
    find_tax_group,
    find_text_at,
    parse_xml_day,
    parse_xml_decimal,
    read_account_number,
)

CREDIT_NOTE_TYPE = "381"  # of a CreditNote that states none
INVOICE_TYPE = "380"
LINES = ("InvoiceLine", "CreditNoteLine")


def read_ubl_invoice(root: Element) -> EInvoice:
    """Return the invoice or credit note. Raises InvoiceReadError where a required value is missing or broken."""
    is_credit_note = root.tag == "CreditNote"
    issue_date = parse_xml_day(root.findtext("IssueDate"))
    currency = find_text_at(root, "DocumentCurrencyCode")
    if issue_date is None:
        raise InvoiceReadError("invalid_invoice")
    return EInvoice(
        type_code=find_text_at(root, "CreditNoteTypeCode" if is_credit_note else "InvoiceTypeCode")
        or (CREDIT_NOTE_TYPE if is_credit_note else INVOICE_TYPE),
        number=find_document_number(root, "ID"),
        issue_date=issue_date,
        due_date=find_latest_day_at(
            root,
            "DueDate",
            "PaymentMeans/PaymentDueDate",
            "PaymentTerms/PaymentDueDate",
            "PaymentTerms/InstallmentDueDate",
        ),
        currency=currency,
        seller=read_ubl_party(
            root.find("AccountingSupplierParty/Party"),
            iban=read_account_number(root, "PaymentMeans/PayeeFinancialAccount/ID"),
        ),
        buyer=read_ubl_party(
            root.find("AccountingCustomerParty/Party"),
            iban=read_account_number(root, "PaymentMeans/PaymentMandate/PayerFinancialAccount/ID"),
        ),
        payment_reference=find_text_at(root, "PaymentMeans/PaymentID"),
        totals=read_ubl_totals(root, currency),
        lines=[read_ubl_line(line) for name in LINES for line in root.iterfind(name)],
        adjustments=[read_ubl_adjustment(each) for each in root.iterfind("AllowanceCharge")],
        tax_subtotals=[read_ubl_tax_subtotal(each) for each in iter_tax_subtotals(root, currency)],
    )


def read_ubl_party(party: Element | None, *, iban: str) -> Party:
    schemes = party.findall("PartyTaxScheme") if party is not None else []
    vat_ids = [
        find_text_at(scheme, "CompanyID", max_length=MAX_VAT_ID_LENGTH)
        for scheme in schemes
        if find_text_at(scheme, "TaxScheme/ID").upper() == "VAT"
    ]
    trading_name = find_text_at(party, "PartyName/Name")
    return Party(
        name=find_text_at(party, "PartyLegalEntity/RegistrationName") or trading_name,
        trading_name=trading_name,
        vat_id=next(filter(None, vat_ids), ""),
        iban=iban,
    )


def read_ubl_totals(root: Element, currency: str) -> StatedTotals:
    sums = root.find("LegalMonetaryTotal")
    tax_amounts = [
        parse_xml_decimal(element.text)
        for element in root.iterfind("TaxTotal/TaxAmount")
        if element.get("currencyID", currency) == currency  # another one is in the currency of accounting (BT-111)
    ]
    return StatedTotals(
        line_total=find_decimal_at(sums, "LineExtensionAmount"),
        allowance_total=find_decimal_at(sums, "AllowanceTotalAmount"),
        charge_total=find_decimal_at(sums, "ChargeTotalAmount"),
        tax_base=find_decimal_at(sums, "TaxExclusiveAmount"),
        tax_total=tax_amounts[0] if tax_amounts else None,
        total_with_tax=find_decimal_at(sums, "TaxInclusiveAmount"),
        prepaid=find_decimal_at(sums, "PrepaidAmount"),
        rounding=find_decimal_at(sums, "PayableRoundingAmount"),
        payable=find_required_decimal(sums, "PayableAmount"),
    )


def iter_tax_subtotals(root: Element, currency: str) -> list[Element]:
    """Return the subtotals in the invoice's currency."""
    return [
        subtotal
        for subtotal in root.iterfind("TaxTotal/TaxSubtotal")
        if all(each.get("currencyID", currency) == currency for each in subtotal.iterfind("TaxAmount"))
    ]


def read_ubl_tax_subtotal(subtotal: Element) -> TaxSubtotal:
    return TaxSubtotal(
        tax=find_tax_group(subtotal, "TaxCategory", category="ID", rate="Percent"),
        base=find_required_decimal(subtotal, "TaxableAmount"),
        amount=find_required_decimal(subtotal, "TaxAmount"),
    )


def read_ubl_adjustment(adjustment: Element) -> Adjustment:
    amount = find_required_decimal(adjustment, "Amount")
    is_charge = find_text_at(adjustment, "ChargeIndicator") in ("true", "1")
    return Adjustment(
        is_charge=is_charge,
        amount=amount if is_charge else -amount,
        tax=find_tax_group(adjustment, "TaxCategory", category="ID", rate="Percent"),
    )


def read_ubl_line(line: Element) -> InvoiceLine:
    quantity = find_decimal_at(line, "InvoicedQuantity")
    return InvoiceLine(
        amount=find_required_decimal(line, "LineExtensionAmount"),
        tax=find_tax_group(line, "Item/ClassifiedTaxCategory", category="ID", rate="Percent"),
        description=find_text_at(line, "Item/Name") or find_text_at(line, "Item/Description"),
        quantity=quantity if quantity is not None else find_decimal_at(line, "CreditedQuantity"),
        unit_price=find_decimal_at(line, "Price/PriceAmount"),
    )
