"""Units that headings name beside an amount: cents, or thousands."""

import re
from enum import StrEnum
from functools import lru_cache

from ledger.calc.text_normalization import strip_accents


class AmountUnit(StrEnum):
    """In what the numbers of a column are counted."""

    WHOLE = "whole"
    MINOR = "minor"
    THOUSANDS = "thousands"  # or more: what was rounded can not be booked


_MINOR_WORDS = {
    "cent", "cents", "minor", "minorunits", "pence", "penny", "pennies", "øre", "sentti", "senttia", "rappen", "kurus",
    "stotinki", "коп", "paise", "paisa", "分", "λεπτα",
}  # fmt: skip
_THOUSANDS_WORDS = {
    "thousand", "thousands", "tsd", "tausend", "teur", "tkr", "tchf", "tusd", "tgbp", "keur", "kusd", "kgbp", "kchf",
    "meur", "musd", "million", "millions", "mio", "mln", "mrd", "bn", "billion", "billions", "millionen", "milliers",
    "hundred", "hundreds", "hunderte", "centaines", "centinaia", "fils", "millimes", "baisa", "百", "百万", "億", "亿",
    "miles", "mil", "migliaia", "milhares", "milioni", "milhoes", "millones", "duizend", "duizenden", "tis", "tisic",
    "tisich", "tys", "tysiace", "tusen", "tusind", "ezer", "mii", "tuhat", "тыс", "тис", "млн", "bin", "lakh", "lakhs",
    "crore", "crores", "000", "000s", "千", "万", "千元", "万元", "千円", "万円", "百万円",
}  # fmt: skip
MINOR_WORDS, THOUSANDS_WORDS = (
    frozenset(map(strip_accents, _MINOR_WORDS)),
    frozenset(map(strip_accents, _THOUSANDS_WORDS)),
)
# Words that are written in many cases: by how they begin.
MINOR_STEMS = ("grosz", "haler", "копе", "копие", "centim", "centesim", "centav", "kopek", "kopeck", "kopiyk")
THOUSANDS_STEMS = ("thousand", "tausend", "tysi", "tisic", "тысяч", "тисяч", "миллион", "мільйон", "milion", "milliard")
_SIGN_OF_THOUSANDS = re.compile(
    r"[x×*]\s?10{2,}\b|\b(?:[km]|mn|mm)\s?(?:eur|usd|gbp|chf|sek|nok|dkk|jpy|cny|inr)\b"
    r"|(?:\b(?:amount|betrag|montant|importe|importo|valor|kwota|eur|usd|gbp|chf|sek|nok|dkk|jpy|cny|inr)\s|\()"
    r"(?:k|m|mn|mm)\b|\bin (?:k|m|mn)\b|[百千万億亿]\s?[)）万]"
    r"|(?<![^\W\d_])(?:[tkm][€$£¥]|[tk]\s?(?:eur|usd|gbp|chf|sek|nok|dkk)\b)|[€$£¥]\s?(?:[tkm]|bn)\b",
    re.IGNORECASE,
)
# Short words that mean something else elsewhere, such as gross.
_SHORT_MINOR = re.compile(r"(?<=[^\W_] )cts?$|(?:\(|\b(?:in|im|i|en|w|v) )(?:gr|cts?|ore|bani|filler)\b")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TOKEN = re.compile(r"[^\W_]+")
_ABOVE = re.compile(r"\b(?:in|im|en|w|v|i|als)\b|[:=]")
LONGEST_NOTE = 60  # characters of a line above the headings that tells the unit of all amounts


@lru_cache(maxsize=4096)
def find_heading_unit(heading: str) -> AmountUnit:
    """The unit that a heading names.

    >>> [find_heading_unit(text).value for text in ("Amount (cents)", "amount_minor", "Betrag (T€)")]
    ['minor', 'minor', 'thousands']
    >>> find_heading_unit("Amount").value, find_heading_unit("Percent").value
    ('whole', 'whole')
    """
    text = _CAMEL.sub(" ", heading[:200])
    tokens = [strip_accents(token) for token in _TOKEN.findall(text.casefold())]
    is_beside = len(tokens) > 1  # a heading of one word, such as Miles, names something else
    if _SIGN_OF_THOUSANDS.search(text) or (is_beside and _has_word(tokens, THOUSANDS_WORDS, THOUSANDS_STEMS)):
        return AmountUnit.THOUSANDS
    is_minor = _has_word(tokens, MINOR_WORDS, MINOR_STEMS) or _SHORT_MINOR.search(strip_accents(text.casefold()))
    return AmountUnit.MINOR if is_minor else AmountUnit.WHOLE


def _has_word(tokens: list[str], words: frozenset[str], stems: tuple[str, ...]) -> bool:
    return not words.isdisjoint(tokens) or any(token.startswith(stems) for token in tokens)


def find_noted_unit(cell: str) -> AmountUnit:
    """The unit that a line above the headings tells, such as "All amounts in thousands of euros".

    >>> find_noted_unit("Amounts in thousands").value, find_noted_unit("A million customers trust us").value
    ('thousands', 'whole')
    """
    if len(cell) > LONGEST_NOTE or any(sign.isdigit() for sign in cell.replace("000", "")):
        return AmountUnit.WHOLE
    match = _ABOVE.search(cell.casefold())
    return find_heading_unit(f"x {cell[match.end() :]}") if match else AmountUnit.WHOLE
