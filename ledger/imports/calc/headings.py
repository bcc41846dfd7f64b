"""Which fields headings name, in European languages, Chinese and Japanese; the words are in ``headings.json``."""

import json
import re
from functools import cache, lru_cache
from pathlib import Path

from ledger.calc.text_normalization import strip_accents
from ledger.imports.calc.currencies import get_currency_codes, get_currency_signs
from ledger.transactions.fields import TRANSACTION_TEXTS

WORDS_FILE = Path(__file__).with_name("headings.json")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_FILLERS = {"in", "im", "en", "em", "w", "v", "i", "the", "of", "der", "des", "de", "la", "le"}
_BESIDE_FEES = re.compile(r"\b(?:after|before|without|with|excl|excluding|incl|including|less|net of|inc|ex) fees?\b")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def fold_heading(heading: str) -> str:
    """Return the heading in lower case without accents, words separated by single spaces.

    >>> fold_heading("Begünstigter/Zahlungspflichtiger"), fold_heading("NetAmount"), fold_heading("Umsatz in EUR")
    ('begunstigter zahlungspflichtiger', 'net amount', 'umsatz in eur')
    """
    return " ".join(_WORD.findall(strip_accents(_CAMEL.sub(" ", heading[:200]).casefold())))


@cache
def _load_phrases() -> tuple[dict[str, tuple[str, ...]], int]:
    """Return (fields by phrase, number of words of the longest phrase)."""
    fields_by_phrase: dict[str, list[str]] = {}
    for field, languages in json.loads(WORDS_FILE.read_text("utf-8")).items():
        for phrases in languages.values():
            for phrase in phrases:
                fields = fields_by_phrase.setdefault(fold_heading(phrase), [])
                if field not in fields:
                    fields.append(field)
    for text in TRANSACTION_TEXTS:
        for phrase in text.headings:
            fields_by_phrase.setdefault(fold_heading(phrase), []).append(text.name)
    return {phrase: tuple(fields) for phrase, fields in fields_by_phrase.items()}, max(
        len(phrase.split()) for phrase in fields_by_phrase
    )


@cache
def _load_currency_words() -> frozenset[str]:
    """Codes, signs and abbreviations that stand beside what a heading names."""
    signs = (sign for sign in get_currency_signs() if len(sign) > 1 or _CJK.search(sign))
    return frozenset(map(fold_heading, (*get_currency_codes(), *signs)))


@lru_cache(maxsize=4096)
def find_heading_fields(heading: str) -> tuple[tuple[str, int], ...]:
    """Return the fields that a heading may name, the most certain first, each with its certainty: 3 the whole
    heading, 2 without a currency, 1 words within it.

    >>> find_heading_fields("Buchungstag")[0]
    ('date', 3)
    >>> find_heading_fields("Amount (EUR)")[0]
    ('amount', 2)
    >>> find_heading_fields("Value Date")[0]
    ('valueDate', 3)
    >>> find_heading_fields("Net Currency")[0]
    ('currency', 1)
    >>> find_heading_fields("Original Amount")[0]
    ('original', 1)
    >>> find_heading_fields("Source fee amount")[0], find_heading_fields("Source amount (after fees)")[0]
    (('fee', 1), ('original', 3))
    >>> find_heading_fields("VWZ9")
    ()
    """
    phrases, _ = _load_phrases()
    folded = _BESIDE_FEES.sub("", fold_heading(heading)).strip()
    named_fields = [(field, 3) for field in phrases.get(folded, ())]
    words = [word for word in folded.split() if word not in _load_currency_words()]
    while words and words[-1] in _FILLERS:
        words.pop()
    shortened = " ".join(words)
    if shortened != folded:
        named_fields += [(field, 2) for field in phrases.get(shortened, ())]
    return tuple(dict.fromkeys(named_fields or _find_fields_within(folded, words)))


def _find_fields_within(plain: str, words: list[str]) -> list[tuple[str, int]]:
    """Return the fields that words of a heading name, longest and last words first. A heading that names the
    original currency among others means that one.
    """
    phrases, longest = _load_phrases()
    inner_fields: list[tuple[str, int]] = []
    for length in range(min(longest, len(words)), 0, -1):
        for start in range(len(words) - length, -1, -1):
            phrase = " ".join(words[start : start + length])
            if len(phrase) > 2 or _CJK.search(phrase):
                inner_fields += [(field, 1) for field in phrases.get(phrase, ())]
    if not inner_fields and _CJK.search(plain):
        known_phrases = [phrase for phrase in phrases if _CJK.search(phrase) and phrase in plain]
        inner_fields = [
            (field, 1) for phrase in sorted(known_phrases, key=len, reverse=True) for field in phrases[phrase]
        ]
    if ("original", 1) not in inner_fields:
        return inner_fields
    return inner_fields if inner_fields[0] == ("fee", 1) else [("original", 1), *inner_fields]


@cache
def _load_languages_by_phrase() -> dict[str, frozenset[str]]:
    """Languages by phrase."""
    languages_by_phrase: dict[str, set[str]] = {}
    for languages in json.loads(WORDS_FILE.read_text("utf-8")).values():
        for language, phrases in languages.items():
            for phrase in phrases:
                languages_by_phrase.setdefault(fold_heading(phrase), set()).add(language)
    return {phrase: frozenset(languages) for phrase, languages in languages_by_phrase.items()}


def find_heading_languages(heading: str) -> frozenset[str]:
    """The languages in which a heading names a field.

    >>> find_heading_languages("Fecha"), "de" in find_heading_languages("Datum")
    (frozenset({'es'}), True)
    """
    return _load_languages_by_phrase().get(fold_heading(heading), frozenset())
