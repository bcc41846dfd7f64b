"""Map UN/CEFACT Cross Industry Invoices to the semantic model of EN 16931 (CEN/TS 16931-3-3)."""

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
    parse_xml_decimal,
    read_account_number,
)

INVOICE_TYPE = "380"  # of a document that states none
MEANS = "SpecifiedTradeSettlementPaymentMeans"


def read_cii_invoice(root: Element) -> EInvoice:
    """Return the invoice or credit note. Raises InvoiceReadError where a required value is missing or broken."""
    document, trade = root.find("ExchangedDocument"), root.find("SupplyChainTradeTransaction")
    agreement = trade.find("ApplicableHeaderTradeAgreement") if trade is not None else None
    settlement = trade.find("ApplicableHeaderTradeSettlement") if trade is not None else None
    issue_date = find_latest_day_at(document, "IssueDateTime/DateTimeString") if document is not None else None
    if trade is None or settlement is None or issue_date is None:
        raise InvoiceReadError("invalid_invoice")
    currency = find_text_at(settlement, "InvoiceCurrencyCode")
    return EInvoice(
        type_code=find_text_at(document, "TypeCode") or INVOICE_TYPE,
        number=find_document_number(document, "ID"),
        issue_date=issue_date,
        due_date=find_latest_day_at(settlement, "SpecifiedTradePaymentTerms/DueDateDateTime/DateTimeString"),
        currency=currency,
        seller=read_cii_party(
            agreement,
            "SellerTradeParty",
            iban=read_account_number(
                settlement,
                f"{MEANS}/PayeePartyCreditorFinancialAccount/IBANID",
                f"{MEANS}/PayeePartyCreditorFinancialAccount/ProprietaryID",
            ),
        ),
        buyer=read_cii_party(
            agreement,
            "BuyerTradeParty",
            iban=read_account_number(settlement, f"{MEANS}/PayerPartyDebtorFinancialAccount/IBANID"),
        ),
        payment_reference=find_text_at(settlement, "PaymentReference"),
        totals=read_cii_totals(settlement, currency),
        lines=[read_cii_line(line) for line in trade.iterfind("IncludedSupplyChainTradeLineItem")],
        adjustments=[
            *map(read_cii_adjustment, settlement.iterfind("SpecifiedTradeAllowanceCharge")),
            *map(read_service_charge, settlement.iterfind("SpecifiedLogisticsServiceCharge")),
        ],
        tax_subtotals=[
            read_cii_tax_subtotal(tax)
            for tax in settlement.iterfind("ApplicableTradeTax")
            if tax.find("CalculatedAmount") is not None
        ],
    )


def read_cii_party(agreement: Element | None, name: str, *, iban: str) -> Party:
    party = agreement.find(name) if agreement is not None else None
    registrations = party.findall("SpecifiedTaxRegistration/ID") if party is not None else []
    vat_ids = [
        find_text_at(registration, ".", max_length=MAX_VAT_ID_LENGTH)
        for registration in registrations
        if registration.get("schemeID") == "VA"
    ]
    trading_name = find_text_at(party, "SpecifiedLegalOrganization/TradingBusinessName")
    return Party(
        name=find_text_at(party, "Name") or trading_name,
        trading_name=trading_name,
        vat_id=next(filter(None, vat_ids), ""),
        iban=iban,
    )


def read_cii_totals(settlement: Element, currency: str) -> StatedTotals:
    sums = settlement.find("SpecifiedTradeSettlementHeaderMonetarySummation")
    tax_amounts = [
        parse_xml_decimal(element.text)
        for element in (sums.iterfind("TaxTotalAmount") if sums is not None else ())
        if element.get("currencyID", currency) == currency  # another one is in the currency of accounting (BT-111)
    ]
    return StatedTotals(
        line_total=find_decimal_at(sums, "LineTotalAmount"),
        allowance_total=find_decimal_at(sums, "AllowanceTotalAmount"),
        charge_total=find_decimal_at(sums, "ChargeTotalAmount"),
        tax_base=find_decimal_at(sums, "TaxBasisTotalAmount"),
        tax_total=tax_amounts[0] if tax_amounts else None,
        total_with_tax=find_decimal_at(sums, "GrandTotalAmount"),
        prepaid=find_decimal_at(sums, "TotalPrepaidAmount"),
        rounding=find_decimal_at(sums, "RoundingAmount"),
        payable=find_required_decimal(sums, "DuePayableAmount"),
    )


def read_cii_tax_subtotal(tax: Element) -> TaxSubtotal:
    return TaxSubtotal(
        tax=find_tax_group(tax, ".", category="CategoryCode", rate="RateApplicablePercent"),
        base=find_required_decimal(tax, "BasisAmount"),
        amount=find_required_decimal(tax, "CalculatedAmount"),
    )


def read_cii_adjustment(adjustment: Element) -> Adjustment:
    amount = find_required_decimal(adjustment, "ActualAmount")
    is_charge = find_text_at(adjustment, "ChargeIndicator/Indicator") in ("true", "1")
    return Adjustment(
        is_charge=is_charge,
        amount=amount if is_charge else -amount,
        tax=find_tax_group(adjustment, "CategoryTradeTax", category="CategoryCode", rate="RateApplicablePercent"),
    )


def read_service_charge(charge: Element) -> Adjustment:
    """Return a charge for logistics, which the extended profile of Factur-X adds."""
    return Adjustment(
        is_charge=True,
        amount=find_required_decimal(charge, "AppliedAmount"),
        tax=find_tax_group(charge, "AppliedTradeTax", category="CategoryCode", rate="RateApplicablePercent"),
    )


def read_cii_line(line: Element) -> InvoiceLine:
    settlement = line.find("SpecifiedLineTradeSettlement")
    return InvoiceLine(
        amount=find_required_decimal(settlement, "SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount"),
        tax=find_tax_group(settlement, "ApplicableTradeTax", category="CategoryCode", rate="RateApplicablePercent"),
        description=find_text_at(line, "SpecifiedTradeProduct/Name"),
        quantity=find_decimal_at(line, "SpecifiedLineTradeDelivery/BilledQuantity"),
        unit_price=find_decimal_at(line, "SpecifiedLineTradeAgreement/NetPriceProductTradePrice/ChargeAmount"),
    )
