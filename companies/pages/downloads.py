"""Texts in files that spreadsheets open."""

import re

# Wide signs too: some spreadsheets take them for narrow. Where semicolons part cells, as in German Excel, our quotation
# marks stand within a cell and protect nothing: what follows a semicolon, a tab or an end of line begins a cell there.
SIGNS = "=+@＝＋－＠-"
FORMULA = rf"'*(?:[^\S\t\r\n]|\")*[{SIGNS}]"
BEGINS = re.compile(rf"\A(?='*[\t\r\n]|{FORMULA})|(?<=[;\t\r\n])(?={FORMULA})")
PARTED = re.compile(r"[;\t\r\n]")  # most texts have none and begin with a letter, which is seen in a fifth of the time
MARKED = re.compile(rf"\A'(?='*[\t\r\n]|{FORMULA})|(?<=[;\t\r\n])'(?={FORMULA})")


def harmless(text: str) -> str:
    """The text with an apostrophe wherever a spreadsheet would begin to calculate (OWASP, "CSV Injection").

    Numbers and dates come as such and stay: a negative amount is a number, no formula.

    >>> harmless("=HYPERLINK(A1)"), harmless(" -1"), harmless("Shop;=cmd"), harmless("Nimbus - hosting")
    ("'=HYPERLINK(A1)", "' -1", "Shop;'=cmd", 'Nimbus - hosting')
    """
    return text if text[:1].isalnum() and not PARTED.search(text) else BEGINS.sub("'", text)


def as_it_was(text: str) -> str:
    """The text that ``harmless`` was given.

    >>> [as_it_was(harmless(each)) for each in ("=1;=2", "'=1", "it's")]
    ['=1;=2', "'=1", "it's"]
    """
    return MARKED.sub("", text) if "'" in text else text
