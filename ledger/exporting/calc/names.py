"""Names of accounts in journals: whatever people call things, in letters that Beancount and hledger both read.

A part of a name has letters, digits and hyphens, and begins with a capital letter or a digit.
"""

import unicodedata

CAPITAL, DIGIT = "Lu", "Nd"


def legal(text: str, *, otherwise: str) -> str:
    """The text as a part of a name; ``otherwise``, which is one, stands for it or before it where it cannot begin one.

    >>> legal("Kasse: büro 🙂", otherwise="Account"), legal("ørsted", otherwise="Account")
    ('Kasse-büro', 'Ørsted')
    >>> legal("銀行", otherwise="Account"), legal("🙂", otherwise="Account")
    ('Account-銀行', 'Account')
    """
    letters = "".join(map(kept, unicodedata.normalize("NFC", text)))
    name = "-".join(word for word in letters.split("-") if word)
    if not name:
        return otherwise
    if unicodedata.category(name[0]) == DIGIT:
        return name
    name = name[0].upper() + name[1:]
    return name if unicodedata.category(name[0]) == CAPITAL else f"{otherwise}-{name}"


def kept(letter: str) -> str:
    """The letter itself, nothing for a mark upon another, and a hyphen for everything else.

    >>> kept("a"), kept("٣"), kept("\\u0301"), kept(":")
    ('a', '٣', '', '-')
    """
    kind = unicodedata.category(letter)
    if kind.startswith("M"):
        return ""
    return letter if kind.startswith("L") or kind == DIGIT else "-"


def unique(name: str, taken: set[str]) -> str:
    """The name, or the first that is free with a number behind it; taken from now on.

    >>> taken = {"Assets:Bank:Main"}
    >>> unique("Assets:Bank:Main", taken), unique("Assets:Bank:Main", taken), unique("Assets:Bank:Till", taken)
    ('Assets:Bank:Main-2', 'Assets:Bank:Main-3', 'Assets:Bank:Till')
    """
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    taken.add(found)
    return found
