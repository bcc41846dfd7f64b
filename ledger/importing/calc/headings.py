"""What headings name, in the languages of Europe, Chinese and Japanese: ``headings.json`` has the words."""

import json
import re
from functools import cache, lru_cache
from pathlib import Path

from ledger.calc.letters import bare
from ledger.importing.calc.currencies import currency_codes, currency_signs

WORDS_FILE = Path(__file__).with_name("headings.json")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_FILLERS = {"in", "im", "en", "em", "w", "v", "i", "the", "of", "der", "des", "de", "la", "le"}
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def fold_heading(heading: str) -> str:
    """Small letters without accents, words parted by single blanks.

    >>> fold_heading("Begünstigter/Zahlungspflichtiger"), fold_heading("NetAmount"), fold_heading("Umsatz in EUR")
    ('begunstigter zahlungspflichtiger', 'net amount', 'umsatz in eur')
    """
    return " ".join(_WORD.findall(bare(_CAMEL.sub(" ", heading[:200]).casefold())))


@cache
def _phrases() -> tuple[dict[str, tuple[str, ...]], int]:
    """(fields by phrase, words of the longest phrase)."""
    found: dict[str, list[str]] = {}
    for field, languages in json.loads(WORDS_FILE.read_text("utf-8")).items():
        for phrases in languages.values():
            for phrase in phrases:
                fields = found.setdefault(fold_heading(phrase), [])
                if field not in fields:
                    fields.append(field)
    return {phrase: tuple(fields) for phrase, fields in found.items()}, max(len(each.split()) for each in found)


@cache
def _currency_words() -> frozenset[str]:
    """Codes, signs and abbreviations that stand beside what a heading names."""
    signs = (sign for sign in currency_signs() if len(sign) > 1 or _CJK.search(sign))
    return frozenset(map(fold_heading, (*currency_codes(), *signs)))


@lru_cache(maxsize=4096)
def find_fields(heading: str) -> tuple[tuple[str, int], ...]:
    """The fields that a heading may name, the surest first, each with how sure: 3 the heading itself, 2 but for a
    currency, 1 words within it.

    >>> find_fields("Buchungstag")[0], find_fields("Amount (EUR)")[0], find_fields("Value Date")[0]
    (('date', 3), ('amount', 2), ('valueDate', 3))
    >>> find_fields("Net Currency")[0], find_fields("Original Amount")[0], find_fields("VWZ9")
    (('currency', 1), ('original', 1), ())
    """
    phrases, _longest = _phrases()
    plain = fold_heading(heading)
    found = [(field, 3) for field in phrases.get(plain, ())]
    words = [word for word in plain.split() if word not in _currency_words()]
    while words and words[-1] in _FILLERS:
        words.pop()
    short = " ".join(words)
    if short != plain:
        found += [(field, 2) for field in phrases.get(short, ())]
    return tuple(dict.fromkeys(found or _find_within(plain, words)))


def _find_within(plain: str, words: list[str]) -> list[tuple[str, int]]:
    """The fields that words of a heading name, those of the longest and last words first. What names the original
    currency among others is in that one."""
    phrases, longest = _phrases()
    within: list[tuple[str, int]] = []
    for length in range(min(longest, len(words)), 0, -1):
        for start in range(len(words) - length, -1, -1):
            phrase = " ".join(words[start : start + length])
            if len(phrase) > 2 or _CJK.search(phrase):
                within += [(field, 1) for field in phrases.get(phrase, ())]
    if not within and _CJK.search(plain):
        known = [phrase for phrase in phrases if _CJK.search(phrase) and phrase in plain]
        within = [(field, 1) for phrase in sorted(known, key=len, reverse=True) for field in phrases[phrase]]
    return [("original", 1), *within] if ("original", 1) in within else within


@cache
def _languages() -> dict[str, frozenset[str]]:
    """Languages by phrase."""
    found: dict[str, set[str]] = {}
    for languages in json.loads(WORDS_FILE.read_text("utf-8")).values():
        for language, phrases in languages.items():
            for phrase in phrases:
                found.setdefault(fold_heading(phrase), set()).add(language)
    return {phrase: frozenset(languages) for phrase, languages in found.items()}


def find_languages(heading: str) -> frozenset[str]:
    """The languages in which a heading names a field.

    >>> find_languages("Fecha"), "de" in find_languages("Datum")
    (frozenset({'es'}), True)
    """
    return _languages().get(fold_heading(heading), frozenset())
