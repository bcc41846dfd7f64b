"""Journals as hledger reads them: https://hledger.org/1.25/hledger.html#journal-format."""

from collections.abc import Iterable
from datetime import date

from ledger.calc.money import minor_units
from ledger.exporting.calc.entries import Entry, Posting

# A description is one line; a semicolon begins a comment, a bar parts payee and note.
WORDS = str.maketrans(dict.fromkeys((*range(32), 127, 0x85, 0x2028, 0x2029), " ") | {ord(";"): ",", ord("|"): "/"})


def head(*, title: str, base: str) -> str:
    """What a journal begins with; ``commodities`` follow.

    >>> print(head(title="Acme", base="EUR"), end="")
    ; Acme, in EUR
    decimal-mark .
    """
    return f"; {words(title)}, in {base}\ndecimal-mark .\n"


def commodities(currencies: Iterable[str]) -> str:
    """How amounts are written, in every currency that occurs.

    >>> print(commodities(["EUR", "JPY"]), end="")
    commodity 1000.00 EUR
    commodity 1000. JPY
    <BLANKLINE>
    """
    known = "".join(f"commodity 1000.{'0' * minor_units(currency)} {currency}\n" for currency in sorted(currencies))
    return f"{known}\n"


def words(text: str) -> str:
    """A text on one line, without the letters that have a meaning there.

    >>> words(" rent;\\nMarch | April ")
    'rent, March / April'
    """
    plain = text.isprintable() and ";" not in text and "|" not in text
    return " ".join((text if plain else text.translate(WORDS)).split())


def opened(account: str, *, day: date) -> str:
    return f"account {account}\n"


def price(day: str, *, currency: str, rate: str, base: str) -> str:
    return f"P {day} {currency} {rate} {base}\n"


def entry(each: Entry) -> str:
    """The entry, and a blank line; its code is the transaction's id.

    >>> print(entry(Entry("2026-03-15", True, "7", "Initech", "", [("Assets:Bank:Main", "1.00", "EUR")])), end="")
    2026-03-15 ! (7) Initech
        Assets:Bank:Main  1.00 EUR
    <BLANKLINE>
    """
    said = " | ".join([known for known in (words(each.payee), words(each.text)) if known])
    postings = "".join([f"    {account}  {amount} {currency}\n" for account, amount, currency in each.postings])
    return f"{each.day} {'!' if each.open else '*'} ({each.id}) {said}\n{postings}\n"


def balances(day: date, held: Iterable[Posting]) -> str:
    """What accounts hold at the end of a day: an entry of nothing, behind all others of its day.

    >>> print(balances(date(2026, 3, 31), [("Assets:Bank:Main", "1.00", "EUR")]), end="")
    2026-03-31 * Balances
        Assets:Bank:Main  0 EUR = 1.00 EUR
    <BLANKLINE>
    """
    lines = [f"    {account}  0 {currency} = {amount} {currency}\n" for account, amount, currency in held]
    return "".join([f"{day} * Balances\n", *lines, "\n"])
