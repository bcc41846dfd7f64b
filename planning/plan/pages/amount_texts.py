"""Amounts of the plan as pages show and take them: income is positive, costs are negative."""

from decimal import ROUND_HALF_UP, Decimal

from companies.pages.amount_formats import MINUS, format_amount_for_input
from companies.pages.sheets import SheetStyle
from ledger.models import EXPENSE_LINES
from ledger.money.calc.money import InvalidAmount, parse_amount

SIGNS = ("-", MINUS)


def apply_shown_sign(line: str, amount: Decimal) -> Decimal:
    """Return an amount of the plan as pages show it: income is positive, costs are negative."""
    return -amount if line in EXPENSE_LINES and amount else amount


def format_shown_text(text: str, *, line: str, style: SheetStyle) -> str:
    """Return the text of a cell as it is typed: rounded unless cents are shown, the sign as pages show it.

    >>> format_shown_text("1000.50", line="ga", style=SheetStyle())
    '-1001'
    >>> format_shown_text("-12.50", line="ga", style=SheetStyle("cents"))
    '+12.50'
    """
    try:
        amount = parse_amount(text)
    except InvalidAmount:
        return text
    shown, size = apply_shown_sign(line, amount), text.lstrip("-")
    if style.unit != "cents":
        size = f"{abs(round_to_units(amount))}"
    size = format_amount_for_input(size)
    if shown < 0:
        return f"({size})" if style.negative == "parentheses" else f"-{size}"
    return f"+{size}" if line in EXPENSE_LINES and shown else size


def round_to_units(amount: Decimal) -> Decimal:
    """Round half up to whole units."""
    return amount.quantize(Decimal(1), rounding=ROUND_HALF_UP)


def parse_shown_text(text: str, line: str) -> str:
    """Return a typed amount with the API's sign. In a row of costs an amount without sign is a cost.

    >>> [parse_shown_text(each, "ga") for each in ("-1000", "(1000)", "1000", "+12.50")]
    ['1000', '1000', '1000', '-12.50']
    >>> [parse_shown_text(each, "revenue") for each in ("-1000", "(1000)", "1000")]
    ['-1000', '-1000', '1000']
    """
    if text.startswith("(") and text.endswith(")"):
        text = f"-{text[1:-1]}"
    if line not in EXPENSE_LINES:
        return text
    if text[:1] in SIGNS:
        return text[1:].lstrip()
    return f"-{text[1:].lstrip()}" if text.startswith("+") else text
