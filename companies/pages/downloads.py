"""Texts in files that spreadsheets open."""

import re

# Wide signs too: some spreadsheets take them for narrow.
RISKY = re.compile(r"[\t\r\n]|\s*[=+@＝＋－＠-]")


def harmless(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would calculate it (OWASP, "CSV Injection").

    Numbers and dates come as such and stay: a negative amount is a number, no formula.

    >>> harmless("=HYPERLINK(A1)"), harmless(" -1"), harmless("Nimbus - hosting")
    ("'=HYPERLINK(A1)", "' -1", 'Nimbus - hosting')
    """
    return f"'{text}" if RISKY.match(text) else text
