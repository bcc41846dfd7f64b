"""Words that say that something was paid, how, or on which document, but not for what or to whom."""

import re

from ledger.rules.calc.booking_phrases import remove_booking_phrases
from ledger.rules.calc.standard_tax import PAYMENT_PROVIDERS

# Folded (no accents).
VAGUE_WORDS = PAYMENT_PROVIDERS.union(
    *map(
        str.split,
        (
            "rechnung rechnungen rechnungsnr rechnungsnummer rg rgnr re nr nummer beleg belegnr belegnummer",  # de
            "zahlung abbuchung buchung gutschrift umsatz kauf einkauf karte kartennr kartennummer kreditkarte",  # de
            "debitkarte auftrag auftragsnr auftragsnummer bestellung bestellnr bestellnummer kunde kundennr",  # de
            "kundennummer kdnr vertrag vertragsnr vertragsnummer referenz verwendungszweck am an bei vom von",  # de
            "invoice inv no number receipt payment purchase transaction order card credit debit pay pos customer",  # en
            "contract id ref reference notprovided end to from at of on by",  # en
            "facture paiement achat carte commande",  # fr
            "visa mastercard maestro girocard amex ec",
        ),
    )
)


def count_telling_letters(text: str) -> int:
    """Return how many letters the words of a text have that may say what a payment was for, or to whom.

    >>> count_telling_letters("Kartenzahlung REWE"), count_telling_letters("Rechnung Nr."), count_telling_letters("A-1")
    (4, 0, 1)
    """
    words = re.findall(r"[^\W\d_]+", remove_booking_phrases(text))
    return sum(len(word) for word in words if word not in VAGUE_WORDS)
