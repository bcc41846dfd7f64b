"""Words that banks use for directions, statuses, balances and sums, in several languages: ``values.json``."""

import json
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ledger.imports.calc.currencies import get_currency_codes
from ledger.imports.calc.dates import load_month_names
from ledger.imports.calc.headings import fold_heading

WORDS_FILE = Path(__file__).with_name("values.json")
LONGEST_LINE_NAME = 60  # characters of a text that may be the name of a balance or a sum
MIN_STEM_LENGTH = 5  # letters with which a word of a title begins
MAX_COUNT = 6  # digits of a number of rows
_DATE_OR_AMOUNT = re.compile(
    r"[0-9]{1,4}([./-])[0-9]{1,2}\1(?:[0-9]{2,4})?|[0-9]{1,2}\.(?=\s)|[0-9][0-9.,' ]{0,24}[.,][0-9]{2}(?![0-9])"
    r"|(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])|[€$£]"
)

_SPACED_LETTERS = re.compile(r"(?:[^\W\d_] ){3,30}[^\W\d_]")  # a word as S A L D O


@cache
def _load_words() -> Any:
    return json.loads(WORDS_FILE.read_text("utf-8"))


@cache
def _load_meanings(name: str) -> dict[str, str]:
    """Return the meaning of each word."""
    return {fold_heading(word) or word: kind for kind, words in _load_words()[name].items() for word in words}


def find_direction_meaning(value: str) -> str | None:
    """``in`` or ``out`` for a word that means one of them, else None. A letter alone means nothing.

    >>> [find_direction_meaning(text) for text in ("Af", "Haben", "收", "S", "Type")]
    ['out', 'in', 'in', None, None]
    """
    return _load_meanings("direction").get(fold_heading(value) or value.strip())


def find_directions(values: Iterable[str], heading: str = "") -> dict[str, str]:
    """What the values of a column mean, without those that can mean both. Letters mean something in pairs alone: D of
    D and C is money out, D of D and W is money in. The heading may name the other letter of a pair. Of letters that
    make several pairs only those are certain that all of the pairs have.

    >>> find_directions(["d", "c", "x"]), find_directions(["d", "w"]), find_directions(["s"], "Soll/Haben")
    ({'d': 'out', 'c': 'in'}, {'w': 'out', 'd': 'in'}, {'s': 'out'})
    >>> find_directions(["d"]), find_directions(["d", "c", "p"]), find_directions(["debit", "payment"])
    ({}, {'d': 'out'}, {'debit': 'out'})
    """
    folded = {fold_heading(value) or value.strip(): value for value in values}
    pairs = _list_letter_pairs(_list_letters(folded), heading)
    meanings = _find_letter_meanings(pairs)
    meanings = {letter: kind for letter, kind in meanings.items() if all(letter in pair for pair in pairs)}
    meanings |= {word: kind for word in folded if (kind := find_direction_meaning(word))}
    return {folded[word]: kind for word, kind in meanings.items() if word in folded}


def find_letter_hints(values: Iterable[str], heading: str = "") -> dict[str, str]:
    """What letters are likely to mean that are certain or of several pairs.

    >>> find_letter_hints(["c", "d", "p"]), find_letter_hints(["d", "c", "x"]), find_letter_hints(["d", "x"])
    ({'d': 'out', 'c': 'in', 'p': 'in'}, {'d': 'out', 'c': 'in'}, {})
    """
    folded = {fold_heading(value) or value.strip(): value for value in values}
    meanings = _find_letter_meanings(_list_letter_pairs(_list_letters(folded), heading))
    return {folded[letter]: kind for letter, kind in meanings.items() if letter in folded}


def _list_letters(words: Iterable[str]) -> set[str]:
    """Return the values that are single letters or are written in pairs as they are, such as MD and D."""
    paired = {letter for pair in _load_words()["directionPairs"] for letter in pair}
    return {
        word
        for word in words
        if ((len(word) == 1 and word.isalpha()) or word in paired) and not find_direction_meaning(word)
    }


def _list_letter_pairs(letters: set[str], heading: str) -> list[tuple[str, str]]:
    """Return the pairs (out, in) of the letters, of which the heading may name one where a column has one alone."""
    known = letters | {word[0] for word in fold_heading(heading).split()} if len(letters) == 1 else letters
    return [(out, came) for out, came in _load_words()["directionPairs"] if {out, came} <= known]


def _find_letter_meanings(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return what letters mean that mean the same in all their pairs."""
    kinds: dict[str, set[str]] = {}
    for out, came in pairs:
        kinds.setdefault(out, set()).add("out")
        kinds.setdefault(came, set()).add("in")
    return {letter: kinds_of_letter.pop() for letter, kinds_of_letter in kinds.items() if len(kinds_of_letter) == 1}


def find_direction_hint(value: str) -> str | None:
    """What a word usually means that can mean both: a payment reaches a card and leaves a bank account.

    >>> find_direction_hint("Purchase"), find_direction_hint("Payment"), find_direction_hint("Debit")
    ('out', 'in', None)
    """
    return _load_meanings("directionHint").get(fold_heading(value))


def is_direction_column(values: Iterable[str]) -> bool:
    """Whether all values are words for directions, and both directions occur."""
    known = list(values)
    directions = find_directions(known)
    return len(directions) == len(known) and set(directions.values()) == {"in", "out"}


def has_possible_directions(values: Iterable[str]) -> bool:
    """Whether a column of amounts without signs may have its directions here: some values are words for both, or all
    are words or letters that can mean either.

    >>> has_possible_directions(["debit", "credit", "fee"]), has_possible_directions(["purchase", "payment"])
    (True, True)
    >>> has_possible_directions(["debit", "rent"]), has_possible_directions(["payment"])
    (False, False)
    >>> has_possible_directions(["d", "c", "p"]), has_possible_directions(["a", "b", "c"])
    (True, False)
    """
    known = list(values)
    if {find_direction_meaning(value) for value in known} >= {"in", "out"}:
        return True
    meanings = {**find_letter_hints(known), **find_directions(known)}
    hints = {value: kind for value in known if (kind := meanings.get(value) or find_direction_hint(value))}
    return len(hints) == len(known) and set(hints.values()) == {"in", "out"}


def find_status_meaning(value: str) -> str | None:
    """Return ``booked``, ``pending`` or ``leaveOut`` for a word that means one of them, else None.

    >>> find_status_meaning("Vorgemerkt"), find_status_meaning("REVERTED"), find_status_meaning("Refunded")
    ('pending', 'leaveOut', None)
    """
    return _load_meanings("status").get(fold_heading(value))


def is_booking_status(value: str) -> bool:
    """Whether a cell says only that its row is booked, or not yet.

    >>> is_booking_status("Umsatz gebucht"), is_booking_status("Posted"), is_booking_status("Refund posted")
    (True, True, False)
    """
    return fold_heading(value) in _load_booking_statuses()


def remove_booking_statuses(text: str) -> str:
    """Return a text without phrases that say only that it is booked, or not yet.

    >>> remove_booking_statuses("FOLGELASTSCHRIFT Jobticket Umsatz gebucht"), remove_booking_statuses("Umbuchung")
    ('FOLGELASTSCHRIFT Jobticket ', 'Umbuchung')
    """
    return _load_booking_status_pattern().sub("", text)


@cache
def _load_booking_statuses() -> frozenset[str]:
    return frozenset(map(fold_heading, _load_words()["bookingStatus"]))


@cache
def _load_booking_status_pattern() -> re.Pattern[str]:
    longest_first = sorted(_load_words()["bookingStatus"], key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)


def is_unbooked_title(title: str) -> bool:
    """Whether a title says that rows are not booked: declined, pending or planned.

    >>> [is_unbooked_title(text) for text in ("Declined transactions", "Geplante Umsätze", "Transactions")]
    [True, True, False]
    """
    words = fold_heading(title).split()
    return any(word.startswith(_load_unbooked_stems()) for word in words) or any(
        phrase in title for phrase in _load_words()["unbookedPhrases"]
    )


@cache
def _load_unbooked_stems() -> tuple[str, ...]:
    """How words begin that name a state other than booked, in whatever form they are written."""
    kinds = ("pending", "leaveOut")
    words = [fold_heading(word) for kind in kinds for word in _load_words()["status"][kind]]
    stems = [word[: max(MIN_STEM_LENGTH, len(word) - 2)] for word in words if len(word) >= MIN_STEM_LENGTH]
    return tuple(stem for stem in (*stems, *map(fold_heading, _load_words()["unbookedStems"])) if " " not in stem)


@cache
def _compile_balance_phrases() -> re.Pattern[str]:
    """Return a pattern that tells quickly whether a text may begin with a phrase for a balance or a sum."""
    first = {phrase.split()[0] for phrases in _load_words()["line"].values() for phrase in phrases}
    first |= {fold_heading(word) for word in first}
    return re.compile("(?:" + "|".join(map(re.escape, sorted(first, reverse=True))) + r")(?![^\W_])", re.IGNORECASE)


def find_balance_phrase_kind(text: str) -> str | None:
    """``balance`` or ``sum`` for a text that begins with such a phrase, ``word`` for one word that is used for other
    things as well, ``name`` for one that firms are called; else None.

    >>> [find_balance_phrase_kind(text) for text in ("Opening balance", "TOTAL 4711 Paris", "Rent")]
    ['balance', 'name', None]
    """
    return _find_phrase(text)[0] if _compile_balance_phrases().match(text) else None


def is_carried_forward(text: str) -> bool:
    """Return whether a text begins with a word for a balance carried forward, which transfers are called too.

    >>> [is_carried_forward(text) for text in ("Übertrag aus Vormonat", "Übertrag auf Tagesgeld", "Miete Übertrag")]
    [True, True, False]
    """
    return fold_heading(text).split()[:1] in [[word] for word in _load_tail_words("carriedForward")]


def is_carried_forward_name(text: str) -> bool:
    """Return whether a text names a balance carried forward and no transfer: the word alone, or with where it is from.

    >>> [is_carried_forward_name(text) for text in ("Übertrag", "Übertrag aus Vormonat", "Übertrag auf Tagesgeld")]
    [True, True, False]
    """
    words = fold_heading(text).split()
    sources = [word for word in words[1:] if word not in _load_tail_words("carriedFromFiller") and not word.isdecimal()]
    return is_carried_forward(text) and all(word in _load_tail_words("carriedFrom") for word in sources)


def find_row_line_kind(cells: Iterable[str]) -> str | None:
    """Return whether a text names a balance or a sum; sellers are called Total, so with a date it is no sum."""
    return next((kind for cell in cells if cell[:1].isalpha() and (kind := find_balance_phrase_kind(cell))), None)


def has_words(cells: Iterable[str]) -> bool:
    return any(any(sign.isalpha() for sign in cell) for cell in cells)


def find_balance_name_kind(text: str) -> str | None:
    """The kind of balance or sum that a text is the name of, at most with its day, amount and currency; None for a text
    that has other words too, for people pay balances and shop at Total.

    >>> [find_balance_name_kind(text) for text in ("Saldo per 31.03.2024", "Subtotal:", "Total", "S A L D O")]
    ['balance', 'sum', 'name', 'word']
    >>> [find_balance_name_kind(text) for text in ("Solde facture 12", "New Balance Berlin", "Saldo 4711")]
    [None, None, None]
    """
    if _SPACED_LETTERS.fullmatch(text):
        text = text.replace(" ", "")
    return _find_name(text) if len(text) <= LONGEST_LINE_NAME and _compile_balance_phrases().match(text) else None


@lru_cache(maxsize=1024)
def _find_name(text: str) -> str | None:
    kind, rest = _find_phrase(_DATE_OR_AMOUNT.sub(" ", text))
    counted = any(word in load_month_names() or word in _load_tail_words("lineCounts") for word in rest)
    return (
        kind
        if all(_is_tail(word) or (counted and word.isdigit() and len(word) <= MAX_COUNT) for word in rest)
        else None
    )


def _find_phrase(text: str) -> tuple[str | None, list[str]]:
    """(the kind of the longest phrase with which a text begins, the words behind it)."""
    words = fold_heading(text).split()
    for length in range(min(4, len(words)), 0, -1):
        if kind := _load_meanings("line").get(" ".join(words[:length])):
            return kind, words[length:]
    return None, words


def _is_tail(word: str) -> bool:
    """Whether a word behind the name of a balance says when, in which currency, or of how many."""
    return (
        word in _load_tail_words("lineTail")
        or word in _load_tail_words("lineCounts")
        or word in load_month_names()
        or word.upper() in get_currency_codes()
    )


@cache
def _load_tail_words(name: str) -> frozenset[str]:
    return frozenset(map(fold_heading, _load_words()[name]))
