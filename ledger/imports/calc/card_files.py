"""Whether a table is of a card: its balance may be what is owed."""

import re

from ledger.imports.calc.table import Table

CARD_WORDS = ("card", "karte", "carte", "tarjeta", "carta", "cartão", "karta", "kort", "カード", "信用卡")
CARD_HEADINGS = (
    "card holder", "cardholder", "card member", "cardmember", "card no", "card number", "card account", "karteninhaber",
    "kartennummer", "kreditkarte", "titulaire de la carte", "titular de la tarjeta", "ご利用者", "持卡人",
)  # fmt: skip
MASKED_NUMBER_PATTERN = re.compile(r"[*xX•]{4}[ -]?([0-9]{4})(?![0-9])")
MAX_LINES_ABOVE = 5
MAX_CELL_LENGTH = 100  # of a cell that is searched for a card number


def is_card_table(table: Table) -> bool:
    """Whether the lines above a table or its headings name a card."""
    above = " ".join(cell for line in table.above[-MAX_LINES_ABOVE:] for cell in line.cells).casefold()
    headings = " ".join(table.names).casefold()
    return any(word in above for word in CARD_WORDS) or any(word in headings for word in CARD_HEADINGS)


def find_card_digits(table: Table) -> str:
    """Return the last four digits of the masked card number above a table; empty without exactly one."""
    cells = [cell[:MAX_CELL_LENGTH] for line in table.above[-MAX_LINES_ABOVE:] for cell in line.cells]
    digits = {match[1] for cell in cells for match in MASKED_NUMBER_PATTERN.finditer(cell)}
    return digits.pop() if len(digits) == 1 else ""
