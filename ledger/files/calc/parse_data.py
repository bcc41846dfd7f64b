"""The data of an electronic invoice as files store it."""

from decimal import Decimal
from typing import Any

from ledger.files.calc.einvoice import (
    EInvoice,
    InvoiceLine,
    Party,
    TotalDifference,
    compute_differences,
    get_currency_decimals,
)

MAX_LINES = 200  # an invoice with more is stored without them
MAX_DIFFERENCES = 100  # the first ones are stored


def build_parse_data(invoice: EInvoice) -> dict[str, Any]:
    """Return the `parseData` of an invoice's file; decimals and days are texts.

    Amounts are as the invoice states them, even if its totals do not add up.
    """
    decimals = get_currency_decimals(invoice.currency)
    tax_total = invoice.totals.tax_total
    return {
        "amount": {"value": format_exact_decimal(invoice.totals.payable, decimals), "currency": invoice.currency},
        "date": invoice.issue_date.isoformat(),
        "type": "creditNote" if invoice.is_credit_note else "invoice",
        "invoiceNumber": invoice.number,
        "dueDate": invoice.due_date.isoformat() if invoice.due_date else None,
        "currency": invoice.currency,
        "taxAmount": None if tax_total is None else format_exact_decimal(tax_total, decimals),
        "seller": build_party_data(invoice.seller),
        "buyer": build_party_data(invoice.buyer),
        "iban": invoice.seller.iban or None,
        "lines": [build_line_data(line, decimals) for line in invoice.lines]
        if len(invoice.lines) <= MAX_LINES
        else None,
        "differences": [
            build_difference_data(difference, decimals) for difference in compute_differences(invoice)[:MAX_DIFFERENCES]
        ],
        "paymentReference": invoice.payment_reference or None,
    }


def build_party_data(party: Party) -> dict[str, str | None]:
    return {
        "name": party.name or None,
        "tradingName": party.trading_name or None,
        "vatId": party.vat_id or None,
        "iban": party.iban or None,
    }


def build_line_data(line: InvoiceLine, decimals: int) -> dict[str, str | None]:
    return {
        "description": line.description or None,
        "quantity": format_optional_decimal(line.quantity),
        "unitPrice": format_optional_decimal(line.unit_price),
        "amount": format_exact_decimal(line.amount, decimals),
        "taxPercent": format_exact_decimal(line.tax[1]),
    }


def build_difference_data(difference: TotalDifference, decimals: int) -> dict[str, str | None]:
    stated = difference.stated
    return {
        "code": difference.code,
        "stated": None if stated is None else format_exact_decimal(stated, decimals),
        "computed": format_exact_decimal(difference.computed, decimals),
    }


def format_optional_decimal(value: Decimal | None) -> str | None:
    return None if value is None else format_exact_decimal(value)


def format_exact_decimal(value: Decimal, decimals: int = 0) -> str:
    """Return the exact decimal with at least so many decimals, without an exponent.

    >>> format_exact_decimal(Decimal("1E+2"), 2), *[format_exact_decimal(Decimal(text)) for text in ("1.2500", "-0")]
    ('100.00', '1.25', '0')
    """
    integer_part, _, fraction = format(value or Decimal(0), "f").partition(".")
    fraction = fraction.rstrip("0").ljust(decimals, "0")
    return f"{integer_part}.{fraction}" if fraction else integer_part
