"""Journals as Beancount reads them: https://beancount.github.io/docs/beancount_language_syntax.html."""

from collections.abc import Iterable
from datetime import date, timedelta

from ledger.exporting.calc.entries import Entry, Posting

EARLIEST, LATEST = date(1700, 1, 1), date(2099, 12, 30)  # it reads these years only, and asserts a day later
ESCAPES = str.maketrans(
    dict.fromkeys((*range(32), 127), " ")
    | {ord(letter): escaped for letter, escaped in {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}.items()}
)


def head(*, title: str, base: str) -> str:
    """What a journal begins with. Amounts are exact, so a cent that is missing is a mistake.

    >>> print(head(title='The "A"', base="EUR"), end="")
    option "title" "The \\"A\\""
    option "operating_currency" "EUR"
    option "tolerance_multiplier" "0.1"
    <BLANKLINE>
    """
    options = {"title": title, "operating_currency": base, "tolerance_multiplier": "0.1"}
    return "".join([*(f'option "{name}" {text(value)}\n' for name, value in options.items()), "\n"])


def commodities(currencies: Iterable[str]) -> str:
    """Beancount needs no declaration of currencies."""
    return ""


def text(words: str) -> str:
    """A text in quotation marks.

    >>> text('say "so"\\nand so')
    '"say \\\\"so\\\\"\\\\nand so"'
    """
    plain = words.isprintable() and '"' not in words and "\\" not in words
    return f'"{words if plain else words.translate(ESCAPES)}"'


def opened(account: str, *, day: date) -> str:
    return f"{day} open {account}\n"


def price(day: str, *, currency: str, rate: str, base: str) -> str:
    return f"{day} price {currency} {rate} {base}\n"


def entry(each: Entry) -> str:
    """The entry, and a blank line.

    >>> print(entry(Entry("2026-03-15", True, "7", "Initech", "", [("Assets:Bank:Main", "1.00", "EUR")])), end="")
    2026-03-15 ! "Initech" ""
      id: "7"
      Assets:Bank:Main  1.00 EUR
    <BLANKLINE>
    """
    postings = "".join([f"  {account}  {amount} {currency}\n" for account, amount, currency in each.postings])
    known = f'  id: "{each.id}"\n' if each.id else ""
    return f"{each.day} {'!' if each.open else '*'} {text(each.payee)} {text(each.text)}\n{known}{postings}\n"


def balances(day: date, held: Iterable[Posting]) -> str:
    """What accounts hold at the end of a day, which is the morning of the next.

    >>> balances(date(2026, 3, 31), [("Assets:Bank:Main", "1.00", "EUR")])
    '2026-04-01 balance Assets:Bank:Main  1.00 EUR\\n\\n'
    """
    morning = day + timedelta(days=1)
    lines = [f"{morning} balance {account}  {amount} {currency}\n" for account, amount, currency in held]
    return "".join([*lines, "\n"])
