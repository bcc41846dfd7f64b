"""Amounts of the plan as pages show and take them: income is positive, costs are negative."""

import re
from decimal import ROUND_HALF_UP, Decimal

from babel.numbers import get_currency_precision

from companies.locales import get_current_locale
from companies.pages.amount_formats import MINUS, replace_parentheses
from companies.pages.sheets import SheetStyle
from ledger.models import EXPENSE_LINES
from ledger.money.calc.money import InvalidAmount, parse_amount

SIGNS = ("-", MINUS)
GROUP_DIGITS = 3
COMMA_GROUPED = re.compile(r"[-+−]?[0-9]{1,3}(?:,[0-9]{3})+")


def apply_shown_sign(line: str, amount: Decimal) -> Decimal:
    """Return an amount of the plan as pages show it: income is positive, costs are negative."""
    return -amount if line in EXPENSE_LINES and amount else amount


def format_shown_text(text: str, *, line: str, style: SheetStyle) -> str:
    """Return the text of a cell as it is typed: in groups, rounded unless cents are shown, the sign as pages show it.

    >>> format_shown_text("1000.50", line="ga", style=SheetStyle())
    '-1,001'
    >>> format_shown_text("-12.50", line="ga", style=SheetStyle("cents"))
    '+12.50'
    """
    try:
        amount = parse_amount(text)
    except InvalidAmount:
        return text
    shown, size = apply_shown_sign(line, amount), Decimal(text.lstrip("-"))
    if style.unit != "cents":
        size = abs(round_to_units(amount))
    size_text = get_current_locale().format_number(size)
    if shown < 0:
        return f"({size_text})" if style.negative == "parentheses" else f"-{size_text}"
    return f"+{size_text}" if line in EXPENSE_LINES and shown else size_text


def round_to_units(amount: Decimal) -> Decimal:
    """Round half up to whole units."""
    return amount.quantize(Decimal(1), rounding=ROUND_HALF_UP)


def parse_shown_text(text: str, line: str, currency: str) -> str:
    """Return a typed amount with the API's sign. In a row of costs an amount without sign is a cost.

    For readers without a known locale too, commas before three digits are groups, as the plan shows them: a currency
    with fewer decimals leaves no other reading.

    >>> [parse_shown_text(each, "ga", "EUR") for each in ("-1000", "(1000)", "1000", "+12.50")]
    ['1000', '1000', '1000', '-12.50']
    >>> [parse_shown_text("(1,000)", "revenue", currency) for currency in ("EUR", "KWD")]
    ['-1000', '-1,000']
    """
    text = replace_parentheses(text)
    has_groups = not get_current_locale().tag and get_currency_precision(currency) < GROUP_DIGITS
    if has_groups and COMMA_GROUPED.fullmatch(text):
        text = text.replace(",", "")
    if line not in EXPENSE_LINES:
        return text
    if text[:1] in SIGNS:
        return text[1:].lstrip()
    return f"-{text[1:].lstrip()}" if text.startswith("+") else text
