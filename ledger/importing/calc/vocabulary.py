"""Words that banks write for directions, statuses, balances and sums: ``values.json`` has them in their languages."""

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ledger.importing.calc.headings import fold_heading

WORDS_FILE = Path(__file__).with_name("values.json")


@cache
def _kinds(name: str) -> dict[str, str]:
    """What each word means, by the word."""
    kinds = json.loads(WORDS_FILE.read_text("utf-8"))[name]
    return {fold_heading(word) or word: kind for kind, words in kinds.items() for word in words}


def find_direction(value: str) -> str | None:
    """``in`` or ``out`` for a word that means one of them, else None.

    >>> find_direction("Af"), find_direction("S"), find_direction("收"), find_direction("Type")
    ('out', 'out', 'in', None)
    """
    return _kinds("direction").get(fold_heading(value) or value.strip())


def find_status(value: str) -> str | None:
    """``booked``, ``pending`` or ``leaveOut`` for a word that means one of them, else None.

    >>> find_status("Vorgemerkt"), find_status("REVERTED"), find_status("Refunded")
    ('pending', 'leaveOut', None)
    """
    return _kinds("status").get(fold_heading(value))


def is_direction_column(values: Iterable[str]) -> bool:
    """Whether all values are words for directions, and both are among them."""
    return {find_direction(value) for value in values} == {"in", "out"}


@cache
def _hint() -> re.Pattern[str]:
    """Finds quickly whether a text may begin with a phrase for a balance or a sum."""
    kinds = json.loads(WORDS_FILE.read_text("utf-8"))["line"]
    first = {phrase.split()[0] for phrases in kinds.values() for phrase in phrases}
    first |= {fold_heading(word) for word in first}
    return re.compile("(?:" + "|".join(map(re.escape, sorted(first))) + ")", re.IGNORECASE)


def find_line_kind(text: str) -> str | None:
    """``balance`` or ``sum`` for a text that begins with such a phrase, else None.

    >>> find_line_kind("Opening balance"), find_line_kind("TOTAL 4711 Paris"), find_line_kind("Rent")
    ('balance', 'sum', None)
    """
    if not _hint().match(text):
        return None
    plain = fold_heading(text)
    words = plain.split()
    for length in range(min(3, len(words)), 0, -1):
        if kind := _kinds("line").get(" ".join(words[:length])):
            return kind
    return None
