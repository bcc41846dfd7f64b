"""An electronic invoice by the semantic model of EN 16931, and its totals computed again.

Names of the model's terms are given as BT-…. Amounts are as written: a credit note of 100 has 100, not -100.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal

# UNTDID 1001: types of documents that reduce what the buyer owes.
CREDIT_NOTE_TYPES = frozenset({"81", "83", "261", "262", "296", "308", "381", "396", "420", "458", "502", "503", "532"})
# ISO 4217: the currencies without two decimals.
WHOLE_CURRENCIES = frozenset(
    {
        *("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG"),
        *("RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"),
    }
)
THREE_DECIMAL_CURRENCIES = frozenset({"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"})
WHOLE_TAX_CURRENCIES = frozenset({"HUF"})  # two decimals by ISO 4217, but taxes are in whole units
DIFFERENCE_CODES = (  # in the order of the model's terms
    *("lineTotal", "allowanceTotal", "chargeTotal", "taxBase", "taxableAmount", "taxAmount", "taxTotal"),
    *("totalWithTax", "payable"),
)
EXACT_CONTEXT = Context(prec=60)
ZERO = Decimal(0)

TaxGroup = tuple[str, Decimal]  # category and rate in percent


class InvoiceReadError(ValueError):
    """A file cannot be read as an electronic invoice; `code` says why.

    `unsafe_xml`, `unreadable_xml`, `unreadable_pdf`, `too_large`, `not_an_invoice`, `several_invoices`,
    `invalid_invoice` or `unsupported_currency`.
    """

    def __init__(self, code: str):
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Party:
    """The seller or the buyer; texts are empty where the invoice has none."""

    name: str = ""  # BT-27, BT-44
    trading_name: str = ""  # BT-28, BT-45
    vat_id: str = ""  # BT-31, BT-48
    iban: str = ""  # BT-84 of the seller, BT-91 of the buyer


@dataclass(frozen=True, slots=True)
class InvoiceLine:
    """A line; `amount` is without tax."""

    amount: Decimal  # BT-131
    tax: TaxGroup  # BT-151, BT-152
    description: str = ""  # BT-153
    quantity: Decimal | None = None  # BT-129
    unit_price: Decimal | None = None  # BT-146


@dataclass(frozen=True, slots=True)
class Adjustment:
    """An allowance or a charge on the whole invoice; `amount` is what it adds to the total."""

    is_charge: bool
    amount: Decimal  # -BT-92, BT-99
    tax: TaxGroup


@dataclass(frozen=True, slots=True)
class TaxSubtotal:
    """The tax of one category and rate."""

    tax: TaxGroup  # BT-118, BT-119
    base: Decimal  # BT-116
    amount: Decimal  # BT-117


@dataclass(frozen=True, slots=True)
class StatedTotals:
    """The totals that the invoice states; None where it does not."""

    line_total: Decimal | None  # BT-106
    allowance_total: Decimal | None  # BT-107
    charge_total: Decimal | None  # BT-108
    tax_base: Decimal | None  # BT-109
    tax_total: Decimal | None  # BT-110
    total_with_tax: Decimal | None  # BT-112
    prepaid: Decimal | None  # BT-113
    rounding: Decimal | None  # BT-114
    payable: Decimal  # BT-115


@dataclass(frozen=True, slots=True)
class EInvoice:
    """An invoice or a credit note."""

    type_code: str  # BT-3
    number: str  # BT-1
    issue_date: date  # BT-2
    due_date: date | None  # BT-9; of several payment terms, the last day
    currency: str  # BT-5
    seller: Party
    buyer: Party
    payment_reference: str  # BT-83
    totals: StatedTotals
    lines: list[InvoiceLine] = field(default_factory=list)
    adjustments: list[Adjustment] = field(default_factory=list)
    tax_subtotals: list[TaxSubtotal] = field(default_factory=list)

    @property
    def is_credit_note(self) -> bool:
        return self.type_code in CREDIT_NOTE_TYPES


@dataclass(frozen=True, slots=True)
class TotalDifference:
    """A total that does not add up. `code` is the total's name; `stated` is None where the invoice states none."""

    code: str
    stated: Decimal | None
    computed: Decimal


def get_currency_decimals(currency: str) -> int:
    """Return the decimals of a currency by ISO 4217.

    >>> get_currency_decimals("EUR"), get_currency_decimals("JPY"), get_currency_decimals("KWD")
    (2, 0, 3)
    """
    return 0 if currency in WHOLE_CURRENCIES else 3 if currency in THREE_DECIMAL_CURRENCIES else 2


def round_half_away_from_zero(amount: Decimal, decimals: int) -> Decimal:
    """Round half up, away from zero."""
    return amount.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP, context=EXACT_CONTEXT)


def compute_differences(invoice: EInvoice) -> list[TotalDifference]:
    """Return the totals that do not add up, by the rules BR-CO-10 to BR-CO-17 of EN 16931.

    Each total is computed from the stated parts below it, so that one wrong number gives one difference. Profiles
    without lines, allowances or tax subtotals are checked as far as they go.
    """
    return [*compute_net_differences(invoice), *compute_tax_differences(invoice), *compute_gross_differences(invoice)]


def compute_net_differences(invoice: EInvoice) -> list[TotalDifference]:
    """Return the differences of the totals without tax (BR-CO-10 to BR-CO-13)."""
    totals = invoice.totals
    checks: list[tuple[str, Decimal | None, Decimal]] = []
    if invoice.lines:
        checks.append(("lineTotal", totals.line_total, sum((line.amount for line in invoice.lines), ZERO)))
    if totals.line_total is not None:
        allowances = -sum((each.amount for each in invoice.adjustments if not each.is_charge), ZERO)
        charges = sum((each.amount for each in invoice.adjustments if each.is_charge), ZERO)
        stated_allowances, stated_charges = totals.allowance_total or ZERO, totals.charge_total or ZERO
        checks += [
            ("allowanceTotal", stated_allowances, allowances),
            ("chargeTotal", stated_charges, charges),
            ("taxBase", totals.tax_base, totals.line_total - stated_allowances + stated_charges),
        ]
    return list_total_differences(checks)


def compute_gross_differences(invoice: EInvoice) -> list[TotalDifference]:
    """Return the differences of the totals with tax (BR-CO-14 to BR-CO-16)."""
    totals, tax_total = invoice.totals, invoice.totals.tax_total or ZERO
    checks: list[tuple[str, Decimal | None, Decimal]] = []
    if invoice.tax_subtotals:
        checks.append(("taxTotal", tax_total, sum((each.amount for each in invoice.tax_subtotals), ZERO)))
    if totals.tax_base is not None:
        checks.append(("totalWithTax", totals.total_with_tax, totals.tax_base + tax_total))
    if totals.total_with_tax is not None and totals.line_total is not None:  # the smallest profile has no prepayments
        payable = totals.total_with_tax - (totals.prepaid or ZERO) + (totals.rounding or ZERO)
        checks.append(("payable", totals.payable, payable))
    return list_total_differences(checks)


def list_total_differences(checks: list[tuple[str, Decimal | None, Decimal]]) -> list[TotalDifference]:
    return [TotalDifference(code, stated, computed) for code, stated, computed in checks if stated != computed]


def compute_tax_differences(invoice: EInvoice) -> list[TotalDifference]:
    """Return the differences of the tax subtotals: their bases (BR-S-08 and others) and their amounts (BR-CO-17).

    An amount is rounded to the currency's decimals; in Hungary, whole units are usual.
    """
    decimals = get_currency_decimals(invoice.currency)
    differences = []
    if invoice.lines:
        bases: defaultdict[TaxGroup, Decimal] = defaultdict(Decimal)
        stated_bases: defaultdict[TaxGroup, Decimal] = defaultdict(Decimal)
        parts: list[InvoiceLine | Adjustment] = [*invoice.lines, *invoice.adjustments]
        for part in parts:
            bases[part.tax] += part.amount
        for subtotal in invoice.tax_subtotals:
            stated_bases[subtotal.tax] += subtotal.base
        for group in sorted(bases.keys() | stated_bases.keys()):
            stated = stated_bases.get(group)
            if stated != bases[group] and (stated is not None or bases[group]):
                differences.append(TotalDifference("taxableAmount", stated, bases[group]))
    for subtotal in invoice.tax_subtotals:
        exact = EXACT_CONTEXT.divide(EXACT_CONTEXT.multiply(subtotal.base, subtotal.tax[1]), Decimal(100))
        computed = round_half_away_from_zero(exact, decimals)
        is_whole = invoice.currency in WHOLE_TAX_CURRENCIES and subtotal.amount == round_half_away_from_zero(exact, 0)
        if subtotal.amount != computed and not is_whole:
            differences.append(TotalDifference("taxAmount", subtotal.amount, computed))
    return differences
