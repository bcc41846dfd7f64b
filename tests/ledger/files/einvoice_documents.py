"""Made-up electronic invoices in both syntaxes of EN 16931, and PDFs that hold them."""

import io
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from facturx import generate_from_binary
from pypdf import PdfWriter

UBL = "urn:oasis:names:specification:ubl:schema:xsd"
CII = "urn:un:unece:uncefact:data:standard"


def describe_invoice(**changes: Any) -> dict[str, Any]:
    """Return an invoice of Nordwind to Acme: 100.00 and 19 % tax. `totals` replaces computed totals."""
    return {
        "number": "NW-2026-17",
        "type": "380",
        "date": date(2026, 3, 2),
        "due": [date(2026, 4, 1)],
        "currency": "EUR",
        "seller": {"name": "Nordwind GmbH", "vatId": "DE123456789"},
        "buyer": {"name": "Acme", "vatId": "FR40303265045"},
        "iban": "DE89370400440532013000",
        "buyer_iban": "",
        "reference": "RF18539007547034",
        "lines": [("Design", "1", "100.00", "19")],
        "adjustments": [],
        "prepaid": "0.00",
        "rounding": "0.00",
        "decimals": 2,
        "totals": {},
    } | changes


def compute_totals(invoice: dict[str, Any]) -> dict[str, Any]:
    """Return the totals as EN 16931 computes them, written independently of the product."""
    unit = Decimal(1).scaleb(-invoice["decimals"])
    lines = sum((Decimal(amount) for _, _, amount, _ in invoice["lines"]), Decimal(0))
    allowances = sum((Decimal(amount) for kind, amount, _ in invoice["adjustments"] if kind == "allowance"), Decimal(0))
    charges = sum((Decimal(amount) for kind, amount, _ in invoice["adjustments"] if kind == "charge"), Decimal(0))
    bases: dict[str, Decimal] = {}
    for _, _, amount, rate in invoice["lines"]:
        bases[rate] = bases.get(rate, Decimal(0)) + Decimal(amount)
    for kind, amount, rate in invoice["adjustments"]:
        bases[rate] = bases.get(rate, Decimal(0)) + (Decimal(amount) if kind == "charge" else -Decimal(amount))
    taxes = {rate: (base * Decimal(rate) / 100).quantize(unit, ROUND_HALF_UP) for rate, base in bases.items()}
    base, tax = lines - allowances + charges, sum(taxes.values(), Decimal(0))
    return {
        "lines": lines, "allowances": allowances, "charges": charges, "base": base, "tax": tax,
        "bases": bases, "taxes": taxes, "gross": base + tax,
        "payable": base + tax - Decimal(invoice["prepaid"]) + Decimal(invoice["rounding"]),
    } | invoice["totals"]  # fmt: skip


def build_ubl(**changes: Any) -> bytes:
    """Write an invoice in UBL 2.1; types 381 and 261 as a CreditNote."""
    invoice = describe_invoice(**changes)
    totals = compute_totals(invoice)
    is_credit = invoice["type"] in ("381", "261")
    root, line_name = ("CreditNote", "CreditNoteLine") if is_credit else ("Invoice", "InvoiceLine")
    quantity_name = "CreditedQuantity" if is_credit else "InvoicedQuantity"
    currency = f'currencyID="{invoice["currency"]}"'

    def write_tax(rate: str, name: str = "TaxCategory") -> str:
        return f"<{name}><ID>S</ID><Percent>{rate}</Percent><TaxScheme><ID>VAT</ID></TaxScheme></{name}>"

    def write_party(party: dict[str, str]) -> str:
        vat = party.get("vatId")
        scheme = f"<PartyTaxScheme><CompanyID>{vat}</CompanyID><TaxScheme><ID>VAT</ID></TaxScheme></PartyTaxScheme>"
        entity = f"<PartyLegalEntity><RegistrationName>{party['name']}</RegistrationName></PartyLegalEntity>"
        return f"<Party>{scheme if vat else ''}{entity}</Party>"

    terms = "".join(
        f"<PaymentTerms><PaymentDueDate>{day}</PaymentDueDate></PaymentTerms>" for day in invoice["due"][1:]
    )
    due = f"<DueDate>{invoice['due'][0]}</DueDate>" if invoice["due"] and not is_credit else ""
    means_due = f"<PaymentDueDate>{invoice['due'][0]}</PaymentDueDate>" if invoice["due"] and is_credit else ""
    payer = f"<PayerFinancialAccount><ID>{invoice['buyer_iban']}</ID></PayerFinancialAccount>"
    mandate = f"<PaymentMandate>{payer}</PaymentMandate>"
    parts = [
        f'<{root} xmlns="{UBL}:{root}-2">'
        f"<ID>{invoice['number']}</ID><IssueDate>{invoice['date']}</IssueDate>{due}"
        f"<{root}TypeCode>{invoice['type']}</{root}TypeCode>"
        f"<DocumentCurrencyCode>{invoice['currency']}</DocumentCurrencyCode>"
        f"<AccountingSupplierParty>{write_party(invoice['seller'])}</AccountingSupplierParty>"
        f"<AccountingCustomerParty>{write_party(invoice['buyer'])}</AccountingCustomerParty>"
        f"<PaymentMeans>{means_due}<PaymentID>{invoice['reference']}</PaymentID>"
        f"<PayeeFinancialAccount><ID>{invoice['iban']}</ID></PayeeFinancialAccount>{mandate}</PaymentMeans>{terms}"
    ]
    for kind, amount, rate in invoice["adjustments"]:
        parts.append(
            f"<AllowanceCharge><ChargeIndicator>{str(kind == 'charge').lower()}</ChargeIndicator>"
            f"<Amount {currency}>{amount}</Amount>{write_tax(rate)}</AllowanceCharge>"
        )
    subtotals = "".join(
        f"<TaxSubtotal><TaxableAmount {currency}>{totals['bases'][rate]}</TaxableAmount>"
        f"<TaxAmount {currency}>{tax}</TaxAmount>{write_tax(rate)}</TaxSubtotal>"
        for rate, tax in totals["taxes"].items()
    )
    parts.append(
        f"<TaxTotal><TaxAmount {currency}>{totals['tax']}</TaxAmount>{subtotals}</TaxTotal><LegalMonetaryTotal>"
        f"<LineExtensionAmount {currency}>{totals['lines']}</LineExtensionAmount>"
        f"<TaxExclusiveAmount {currency}>{totals['base']}</TaxExclusiveAmount>"
        f"<TaxInclusiveAmount {currency}>{totals['gross']}</TaxInclusiveAmount>"
        f"<AllowanceTotalAmount {currency}>{totals['allowances']}</AllowanceTotalAmount>"
        f"<ChargeTotalAmount {currency}>{totals['charges']}</ChargeTotalAmount>"
        f"<PrepaidAmount {currency}>{invoice['prepaid']}</PrepaidAmount>"
        f"<PayableRoundingAmount {currency}>{invoice['rounding']}</PayableRoundingAmount>"
        f"<PayableAmount {currency}>{totals['payable']}</PayableAmount></LegalMonetaryTotal>"
    )
    for name, quantity, amount, rate in invoice["lines"]:
        parts.append(
            f"<{line_name}><{quantity_name}>{quantity}</{quantity_name}>"
            f"<LineExtensionAmount {currency}>{amount}</LineExtensionAmount>"
            f"<Item><Name>{name}</Name>{write_tax(rate, 'ClassifiedTaxCategory')}</Item>"
            f"<Price><PriceAmount {currency}>{amount}</PriceAmount></Price></{line_name}>"
        )
    return ("".join(parts) + f"</{root}>").encode()


def build_cii(**changes: Any) -> bytes:
    """Write an invoice as a UN/CEFACT Cross Industry Invoice."""
    invoice = describe_invoice(**changes)
    totals = compute_totals(invoice)

    def write_day(name: str, day: date) -> str:
        return f'<ram:{name}><udt:DateTimeString format="102">{day:%Y%m%d}</udt:DateTimeString></ram:{name}>'

    def write_tax(rate: str, name: str = "ApplicableTradeTax", amounts: str = "") -> str:
        return (
            f"<ram:{name}>{amounts}<ram:TypeCode>VAT</ram:TypeCode><ram:CategoryCode>S</ram:CategoryCode>"
            f"<ram:RateApplicablePercent>{rate}</ram:RateApplicablePercent></ram:{name}>"
        )

    def write_party(name: str, party: dict[str, str]) -> str:
        vat = party.get("vatId")
        registration = (
            f'<ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">{vat}</ram:ID></ram:SpecifiedTaxRegistration>'
        )
        return f"<ram:{name}><ram:Name>{party['name']}</ram:Name>{registration if vat else ''}</ram:{name}>"

    lines = "".join(
        f"<ram:IncludedSupplyChainTradeLineItem><ram:SpecifiedTradeProduct><ram:Name>{name}</ram:Name></ram:SpecifiedTradeProduct>"
        f"<ram:SpecifiedLineTradeAgreement><ram:NetPriceProductTradePrice><ram:ChargeAmount>{amount}</ram:ChargeAmount></ram:NetPriceProductTradePrice></ram:SpecifiedLineTradeAgreement>"
        f"<ram:SpecifiedLineTradeDelivery><ram:BilledQuantity>{quantity}</ram:BilledQuantity></ram:SpecifiedLineTradeDelivery>"
        f"<ram:SpecifiedLineTradeSettlement>{write_tax(rate)}<ram:SpecifiedTradeSettlementLineMonetarySummation>"
        f"<ram:LineTotalAmount>{amount}</ram:LineTotalAmount></ram:SpecifiedTradeSettlementLineMonetarySummation></ram:SpecifiedLineTradeSettlement></ram:IncludedSupplyChainTradeLineItem>"
        for name, quantity, amount, rate in invoice["lines"]
    )
    adjustments = "".join(
        f"<ram:SpecifiedTradeAllowanceCharge><ram:ChargeIndicator><udt:Indicator>{str(kind == 'charge').lower()}"
        f"</udt:Indicator></ram:ChargeIndicator><ram:ActualAmount>{amount}</ram:ActualAmount>"
        f"{write_tax(rate, 'CategoryTradeTax')}</ram:SpecifiedTradeAllowanceCharge>"
        for kind, amount, rate in invoice["adjustments"]
    )
    taxes = "".join(
        write_tax(
            rate,
            amounts=f"<ram:CalculatedAmount>{tax}</ram:CalculatedAmount><ram:BasisAmount>{totals['bases'][rate]}</ram:BasisAmount>",
        )
        for rate, tax in totals["taxes"].items()
    )
    terms = "".join(
        f"<ram:SpecifiedTradePaymentTerms>{write_day('DueDateDateTime', day)}</ram:SpecifiedTradePaymentTerms>"
        for day in invoice["due"]
    )
    payer = "PayerPartyDebtorFinancialAccount"
    debtor = f"<ram:{payer}><ram:IBANID>{invoice['buyer_iban']}</ram:IBANID></ram:{payer}>"
    return (
        f'<rsm:CrossIndustryInvoice xmlns:rsm="{CII}:CrossIndustryInvoice:100" '
        f'xmlns:udt="{CII}:UnqualifiedDataType:100" '
        f'xmlns:ram="{CII}:ReusableAggregateBusinessInformationEntity:100">'
        "<rsm:ExchangedDocumentContext><ram:GuidelineSpecifiedDocumentContextParameter><ram:ID>urn:cen.eu:en16931:2017</ram:ID>"
        "</ram:GuidelineSpecifiedDocumentContextParameter></rsm:ExchangedDocumentContext>"
        f"<rsm:ExchangedDocument><ram:ID>{invoice['number']}</ram:ID><ram:TypeCode>{invoice['type']}</ram:TypeCode>"
        f"{write_day('IssueDateTime', invoice['date'])}</rsm:ExchangedDocument><rsm:SupplyChainTradeTransaction>{lines}"
        f"<ram:ApplicableHeaderTradeAgreement>{write_party('SellerTradeParty', invoice['seller'])}"
        f"{write_party('BuyerTradeParty', invoice['buyer'])}</ram:ApplicableHeaderTradeAgreement>"
        f"<ram:ApplicableHeaderTradeSettlement><ram:PaymentReference>{invoice['reference']}</ram:PaymentReference>"
        f"<ram:InvoiceCurrencyCode>{invoice['currency']}</ram:InvoiceCurrencyCode>"
        f"<ram:SpecifiedTradeSettlementPaymentMeans>{debtor}<ram:PayeePartyCreditorFinancialAccount>"
        f"<ram:IBANID>{invoice['iban']}</ram:IBANID></ram:PayeePartyCreditorFinancialAccount></ram:SpecifiedTradeSettlementPaymentMeans>"
        f"{taxes}{adjustments}{terms}<ram:SpecifiedTradeSettlementHeaderMonetarySummation>"
        f"<ram:LineTotalAmount>{totals['lines']}</ram:LineTotalAmount><ram:ChargeTotalAmount>{totals['charges']}</ram:ChargeTotalAmount>"
        f"<ram:AllowanceTotalAmount>{totals['allowances']}</ram:AllowanceTotalAmount><ram:TaxBasisTotalAmount>{totals['base']}</ram:TaxBasisTotalAmount>"
        f'<ram:TaxTotalAmount currencyID="{invoice["currency"]}">{totals["tax"]}</ram:TaxTotalAmount>'
        f"<ram:RoundingAmount>{invoice['rounding']}</ram:RoundingAmount>"
        f"<ram:GrandTotalAmount>{totals['gross']}</ram:GrandTotalAmount><ram:TotalPrepaidAmount>{invoice['prepaid']}</ram:TotalPrepaidAmount>"
        f"<ram:DuePayableAmount>{totals['payable']}</ram:DuePayableAmount></ram:SpecifiedTradeSettlementHeaderMonetarySummation>"
        "</ram:ApplicableHeaderTradeSettlement></rsm:SupplyChainTradeTransaction></rsm:CrossIndustryInvoice>"
    ).encode()


def build_blank_pdf() -> bytes:
    writer, out = PdfWriter(), io.BytesIO()
    writer.add_blank_page(595, 842)
    writer.write(out)
    return out.getvalue()


def build_facturx(xml: bytes) -> bytes:
    """Put an invoice into a PDF with the factur-x package."""
    return generate_from_binary(
        build_blank_pdf(), xml, flavor="factur-x", level="en16931", check_xsd=False, check_schematron=False
    )


def build_pdf_with_files(**files: bytes) -> bytes:
    """Return a PDF that embeds files: name without .xml → content."""
    writer, out = PdfWriter(), io.BytesIO()
    writer.add_blank_page(595, 842)
    for name, content in files.items():
        writer.add_attachment(f"{name}.xml", content)
    writer.write(out)
    return out.getvalue()
