"""Escaping of formulas in files that spreadsheets open (CSV injection)."""

import re

# Full-width signs too, which some spreadsheets treat as ASCII. With semicolons between cells, as in German
# Excel, our quotes have no effect: a semicolon, tab or line break starts a new cell.
FORMULA_SIGNS = "=+@＝＋－＠-"
FORMULA_PATTERN = rf"'*(?:[^\S\t\r\n]|\")*[{FORMULA_SIGNS}]"
FORMULA_START = re.compile(rf"\A(?='*[\t\r\n]|{FORMULA_PATTERN})|(?<=[;\t\r\n])(?={FORMULA_PATTERN})")
CELL_SEPARATOR = re.compile(
    r"[;\t\r\n]"
)  # most texts have none and start with a letter, which is checked five times faster
ESCAPED_FORMULA = re.compile(rf"\A'(?='*[\t\r\n]|{FORMULA_PATTERN})|(?<=[;\t\r\n])'(?={FORMULA_PATTERN})")


def escape_formulas(text: str) -> str:
    """Add an apostrophe wherever a spreadsheet would start a formula (OWASP, "CSV Injection").

    Only for text: numbers and dates are written as such.

    >>> escape_formulas("=HYPERLINK(A1)"), escape_formulas(" -1"), escape_formulas("Shop;=cmd")
    ("'=HYPERLINK(A1)", "' -1", "Shop;'=cmd")
    """
    return text if text[:1].isalnum() and not CELL_SEPARATOR.search(text) else FORMULA_START.sub("'", text)


def restore_escaped_text(text: str) -> str:
    """Return the text that was escaped with ``escape_formulas``.

    >>> [restore_escaped_text(escape_formulas(each)) for each in ("=1;=2", "'=1", "it's")]
    ['=1;=2', "'=1", "it's"]
    """
    return ESCAPED_FORMULA.sub("", text) if "'" in text else text
