"""Account names of journals: names from the ledger in characters that Beancount and hledger both read.

A part of a name has letters, digits and hyphens, and starts with a capital letter or a digit.
"""

import unicodedata

CAPITAL, DIGIT = "Lu", "Nd"


def normalize_account_name(text: str, *, fallback: str) -> str:
    """Return a text as a part of an account name; `fallback` replaces or precedes what cannot start one.

    >>> [normalize_account_name(text, fallback="Account") for text in ("Kasse: büro 🙂", "ørsted", "銀行", "🙂")]
    ['Kasse-büro', 'Ørsted', 'Account-銀行', 'Account']
    """
    letters = "".join(map(normalize_character, unicodedata.normalize("NFC", text)))
    name = "-".join(word for word in letters.split("-") if word)
    if not name:
        return fallback
    if unicodedata.category(name[0]) == DIGIT:
        return name
    name = name[0].upper() + name[1:]
    return name if unicodedata.category(name[0]) == CAPITAL else f"{fallback}-{name}"


def normalize_character(character: str) -> str:
    """Return a letter or digit unchanged, nothing for a combining mark, a hyphen for anything else.

    >>> normalize_character("a"), normalize_character("٣"), normalize_character(":")
    ('a', '٣', '-')
    """
    kind = unicodedata.category(character)
    if kind.startswith("M"):
        return ""
    return character if kind.startswith("L") or kind == DIGIT else "-"


def make_name_unique(name: str, used_names: set[str]) -> str:
    """Return the name, or with the first free number appended; the result is added to `used_names`.

    >>> used = {"Assets:Bank:Main"}
    >>> make_name_unique("Assets:Bank:Main", used), make_name_unique("Assets:Bank:Main", used)
    ('Assets:Bank:Main-2', 'Assets:Bank:Main-3')
    """
    candidate, number = name, 1
    while candidate in used_names:
        number += 1
        candidate = f"{name}-{number}"
    used_names.add(candidate)
    return candidate
