"""Whether a table is of a card: its balance may be what is owed."""

from ledger.imports.calc.table import Table

CARD_WORDS = ("card", "karte", "carte", "tarjeta", "carta", "cartão", "karta", "kort", "カード", "信用卡")
CARD_HEADINGS = (
    "card holder", "cardholder", "card member", "cardmember", "card no", "card number", "card account", "karteninhaber",
    "kartennummer", "kreditkarte", "titulaire de la carte", "titular de la tarjeta", "ご利用者", "持卡人",
)  # fmt: skip
MAX_LINES_ABOVE = 5


def is_card_table(table: Table) -> bool:
    """Whether the lines above a table or its headings name a card."""
    above = " ".join(cell for line in table.above[-MAX_LINES_ABOVE:] for cell in line.cells).casefold()
    headings = " ".join(table.names).casefold()
    return any(word in above for word in CARD_WORDS) or any(word in headings for word in CARD_HEADINGS)
