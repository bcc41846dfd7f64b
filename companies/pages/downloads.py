"""Texts in files that spreadsheets open."""

BEGINS_A_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # wide ones too: some spreadsheets take them for narrow
CONTROLS = ("\t", "\r", "\n")


def harmless(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would calculate it (OWASP, "CSV Injection").

    Numbers and dates come as such and stay: a negative amount is a number, no formula.

    >>> harmless("=HYPERLINK(A1)"), harmless(" -1"), harmless("Nimbus - hosting")
    ("'=HYPERLINK(A1)", "' -1", 'Nimbus - hosting')
    """
    risky = text.startswith(CONTROLS) or text.lstrip().startswith(BEGINS_A_FORMULA)
    return f"'{text}" if risky else text
