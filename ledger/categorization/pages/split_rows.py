"""Rows of the split form: percentages of the amount, and the row that takes the remaining amount."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils.translation import gettext as _

from companies.errors import ValidationFailed
from companies.locales import get_current_locale
from companies.pages.amount_formats import format_money
from ledger.calc.allocation import allocate_by_percent
from ledger.models import SplitExceedsAmount
from ledger.money.amounts import normalize_typed_amount
from ledger.money.calc.money import (
    MONEY_CONTEXT,
    InvalidAmount,
    compute_included_tax,
    format_amount,
    get_minor_units,
    parse_amount,
    round_half_up,
)

PERCENTAGE_PATTERN = re.compile(r"([0-9]{1,3}(?:[.,][0-9]{1,4})?)\s*%", re.ASCII)
UNCLEAR_TAX_PATTERN = re.compile(r"[1-9][0-9]?", re.ASCII)
SIGN_PATTERN = re.compile(r"[-+−(]")
FULL_PERCENT = Decimal(100)


@dataclass(frozen=True, slots=True)
class SplitRow:
    """One row as it was typed."""

    number: int
    values: Mapping[str, str]

    @property
    def is_filled(self) -> bool:
        return any(self.values[name] for name in ("category", "amount", "tax")) and not self.values["remove"]

    @property
    def takes_remainder(self) -> bool:
        """Whether the row has a category without an amount. A row with only an amount of tax is no such row."""
        tax = self.values["tax"]
        if self.values["amount"] or not self.values["category"]:
            return False
        return (
            not tax
            or parse_split_amount(tax) == 0
            or parse_percentage(tax, pointer=self.field_pointer("tax")) is not None
        )

    def field_pointer(self, name: str) -> str:
        return f"#/{name}-{self.number}"


def parse_percentage(text: str, *, pointer: str) -> Decimal | None:
    """Return 40 for “40 %”; None if the text is no percentage. Raises ValidationFailed."""
    match = PERCENTAGE_PATTERN.fullmatch(text.strip())
    if match is None:
        return None
    percent = Decimal(match[1].replace(",", "."))
    if not 0 < percent <= FULL_PERCENT:
        raise ValidationFailed([(pointer, "out_of_range", _("Must be more than 0% and at most 100%."))])
    return percent


def parse_tax_percentage(text: str, *, pointer: str) -> Decimal | None:
    """Parse a tax percentage, with or without its sign; 0 % is no tax. Raises ValidationFailed."""
    digits = text.removesuffix("%").strip()
    if not digits.strip("0.,"):
        return None
    percent = parse_percentage(f"{digits} %", pointer=pointer)
    if percent is None:
        raise ValidationFailed([(pointer, "invalid_value", _("Enter a percentage, such as 19 %."))])
    return percent


def resolve_split_rows(rows: list[SplitRow], *, amount: Decimal, currency: str) -> list[SplitRow]:
    """Return the rows with amounts in place of percentages and of the remaining amount.

    A percentage of the amount includes tax, like the amount of a bill; a percentage of tax is taken out of such
    a share, and added to an amount that was typed. The whole amount in a single row includes tax too. Removed rows do
    not count. Amounts without a sign have that of the transaction. Raises ValidationFailed.
    """
    check_tax_units((row for row in rows if row.is_filled), currency)
    rows = [add_transaction_sign(row, amount) for row in rows]
    filled_rows = [row for row in rows if row.is_filled]
    percents = {
        row.number: percent
        for row in filled_rows
        if (percent := parse_percentage(row.values["amount"], pointer=row.field_pointer("amount"))) is not None
    }
    amount_by_row = allocate_by_percent(amount, percents, currency)
    if len(filled_rows) == 1 and parse_split_amount(filled_rows[0].values["amount"]) == amount:
        amount_by_row = {filled_rows[0].number: amount}
    resolved_rows = {
        row.number: resolve_split_row(row, share=amount_by_row.get(row.number), currency=currency)
        for row in filled_rows
    }
    remainder_rows = [row for row in filled_rows if row.takes_remainder]
    if len(remainder_rows) > 1:
        raise ValidationFailed(
            [(remainder_rows[1].field_pointer("amount"), "required", _("Only one row can take the remainder."))]
        )
    if (
        remainder_rows
        and (
            assigned_total := sum_split_rows(
                row for row in resolved_rows.values() if row.number != remainder_rows[0].number
            )
        )
        is not None
    ):
        remainder = amount - assigned_total
        if remainder * amount <= 0:
            raise ValidationFailed(
                [(remainder_rows[0].field_pointer("amount"), "required", _("No amount left for this row."))]
            )
        resolved_rows[remainder_rows[0].number] = resolve_split_row(
            remainder_rows[0], share=remainder, currency=currency
        )
    return [resolved_rows.get(row.number, row) for row in rows]


def check_tax_units(rows: Iterable[SplitRow], currency: str) -> None:
    """Refuse taxes such as 19, which people type for a rate and for an amount. Raises ValidationFailed."""
    for row in rows if get_minor_units(currency) else ():
        number = row.values["tax"].strip()
        if UNCLEAR_TAX_PATTERN.fullmatch(number):
            amount = get_current_locale().format_number(Decimal(number), get_minor_units(currency))
            text = _("Enter {number} % for a rate, or {amount} for an amount.").format(number=number, amount=amount)
            raise ValidationFailed([(row.field_pointer("tax"), "unclear_tax", text)])


def check_split_total(rows: Iterable[SplitRow], *, amount: Decimal, currency: str) -> None:
    """Check that amounts and taxes of rows are within the amount of the transaction. Raises SplitExceedsAmount."""
    filled_rows = [row for row in rows if row.is_filled]
    total = sum_split_rows(filled_rows)
    excess = Decimal(0) if total is None else abs(total) - abs(amount)
    if excess <= 0:
        return
    text = _("Amounts exceed the transaction by {amount}.")
    if any(row.values["tax"] for row in filled_rows):
        text = _("Amounts and tax exceed the transaction by {amount}. Tax is added to the amounts entered.")
    raise SplitExceedsAmount(text.format(amount=format_money(excess, currency)))


def add_transaction_sign(row: SplitRow, amount: Decimal) -> SplitRow:
    """Return the row with a minus before amounts that were typed without a sign, if money went out.

    >>> row = SplitRow(0, {"amount": "12.50", "tax": "+1"})
    >>> add_transaction_sign(row, Decimal(-20)).values
    {'amount': '-12.50', 'tax': '+1'}
    """
    if amount >= 0:
        return row
    signed_values = {name: f"-{row.values[name]}" for name in ("amount", "tax") if is_unsigned(row.values[name])}
    return replace(row, values={**row.values, **signed_values})


def is_unsigned(text: str) -> bool:
    """Whether a typed amount has no sign; percentages have none and need none.

    >>> [is_unsigned(text) for text in ("1,234.50", "+5", "-5", "€ −5", "40 %", "")]
    [True, False, False, False, False, False]
    """
    return bool(text) and "%" not in text and not SIGN_PATTERN.search(text)


def resolve_split_row(row: SplitRow, *, share: Decimal | None, currency: str) -> SplitRow:
    """Return the row with amount and tax as amounts; text that is no amount stays for the validation later."""
    percent = parse_percentage(row.values["tax"], pointer=row.field_pointer("tax"))
    amount, tax = share, parse_split_amount(row.values["tax"]) if row.values["tax"] else Decimal(0)
    if share is None:
        amount = parse_split_amount(row.values["amount"])
        if percent is not None and amount is not None:
            tax = round_half_up(MONEY_CONTEXT.divide(MONEY_CONTEXT.multiply(amount, percent), FULL_PERCENT), currency)
    else:
        tax = tax if percent is None else compute_included_tax(share, percent, currency)
        amount = None if tax is None else share - tax
    amount_texts = {} if share is None or amount is None else {"amount": format_amount(amount, currency)}
    if percent is not None and tax is not None:
        amount_texts["tax"] = format_amount(tax, currency)
    return replace(row, values={**row.values, **amount_texts})


def parse_split_amount(text: str) -> Decimal | None:
    """Return the typed amount, or None if it is not one."""
    try:
        return parse_amount(normalize_typed_amount(text, currency="", pointer=""))
    except (ValidationFailed, InvalidAmount):
        return None


def sum_split_rows(rows: Iterable[SplitRow]) -> Decimal | None:
    """Return the sum of amounts and taxes of rows; None if one of them is no amount."""
    amounts = [parse_split_amount(row.values[name]) for row in rows for name in ("amount", "tax") if row.values[name]]
    return None if None in amounts else sum((each for each in amounts if each is not None), Decimal(0))
