"""Phrases that say only how a payment was made or booked, and nothing about what it was for.

Exports of banks repeat them in every row, so that texts are not similar because they have them in common.
"""

import re

from ledger.rules.calc.rule_matcher import fold_text

# Folded (no accents), umlauts written either way. Words may have any signs between them.
BOOKING_PHRASES = (
    *("lastschrift", "folgelastschrift", "erstlastschrift", "einmallastschrift", "basislastschrift"),  # de
    *("firmenlastschrift", "lastschrifteinzug", "dauerauftrag", "kartenzahlung", "debitkartenzahlung"),  # de
    *("uberweisung", "ueberweisung", "gutschr uberweisung", "gutschr ueberweisung", "sepa gutschrift"),  # de
    *("gutschrift uberweisung", "gutschrift ueberweisung", "uberweisungsgutschrift", "ueberweisungsgutschrift"),  # de
    *("onlineuberweisung", "onlineueberweisung", "online uberweisung", "online ueberweisung"),  # de
    *("echtzeituberweisung", "echtzeitueberweisung", "umsatz gebucht", "umsatz vorgemerkt"),  # de
    *("direct debit", "card payment", "bank transfer", "credit transfer", "standing order"),  # en
    *("faster payment", "faster payments"),  # en
    *("virement", "prelevement", "paiement par carte"),  # fr
)
SEPA_MARKS = ("sepa", "eref", "mref", "kref", "svwz")
MAX_SHOWN_LENGTH = 300  # characters of a text; pages show fewer
_PHRASES = "|".join(sorted(BOOKING_PHRASES, key=len, reverse=True)).replace(" ", r"\W+")
# "Credit card payment" says what it was for: the card was settled. "Zahlung/Überweisung" is no phrase and stays whole.
BOOKING_PATTERN = re.compile(rf"\b(?:(?<!credit\W)(?<!\w/)(?:{_PHRASES})|{'|'.join(SEPA_MARKS)})\b")


def strip_booking_phrases(text: str) -> str:
    """Return the beginning of a text as it is written, without phrases that say how a payment was made or booked; a
    text that has nothing else stays.

    >>> strip_booking_phrases("GUTSCHR. ÜBERWEISUNG Miete März Umsatz gebucht"), strip_booking_phrases("Überweisung")
    ('Miete März', 'Überweisung')
    >>> strip_booking_phrases("ZAHLUNG/ÜBERWEISUNG ERHALTEN"), strip_booking_phrases("Überweisung/Miete")
    ('ZAHLUNG/ÜBERWEISUNG ERHALTEN', 'Miete')
    """
    text = text[:MAX_SHOWN_LENGTH]
    folded_letters = [fold_text(letter) or " " for letter in text]
    places = [place for place, letters in enumerate(folded_letters) for _ in letters]  # of each folded letter
    hidden = {
        places[position]
        for match in BOOKING_PATTERN.finditer("".join(folded_letters))
        for position in range(match.start(), match.end())
    }
    kept_text = "".join(" " if place in hidden else letter for place, letter in enumerate(text))
    return " ".join(kept_text.split()).strip(" +-/:;,.") or text


def remove_booking_phrases(text: str) -> str:
    """Return a folded text without phrases that say how a payment was made or booked.

    >>> remove_booking_phrases("GUTSCHR. UEBERWEISUNG Miete März Umsatz gebucht")
    'miete marz'
    """
    return " ".join(BOOKING_PATTERN.sub(" ", fold_text(text)).split())
