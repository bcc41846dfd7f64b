"""Headings of columns with an id that a bank gives to one row alone."""

from ledger.imports.calc.headings import fold_heading

ID_WORDS = {"id", "uid", "fitid"}
SHARED_WORDS = {
    "order",
    "customer",
    "payment",
    "charge",
    "invoice",
    "account",
    "mandate",
    "user",
    "trace",
    "card",
    "batch",
}


def is_unique_id_heading(heading: str) -> bool:
    """Whether a heading names the id of a row, not that of an order or a customer, which several rows may share.

    >>> [is_unique_id_heading(text) for text in ("ID", "Transaction ID", "Order ID", "Reference")]
    [True, True, False, False]
    """
    words = fold_heading(heading).split()
    return bool(words) and (words[0] in ID_WORDS or words[-1] in ID_WORDS) and not SHARED_WORDS & set(words)
