"""Format journals for Beancount: https://beancount.github.io/docs/beancount_language_syntax.html."""

from collections.abc import Iterable
from datetime import date, timedelta

from ledger.exports.calc.journal_entries import JournalEntry, JournalPosting

FIRST_DAY, LAST_DAY = (
    date(1700, 1, 1),
    date(2099, 12, 30),
)  # Beancount reads only these years, and assertions are dated one day later
ESCAPES = str.maketrans(
    dict.fromkeys((*range(32), 127), " ")
    | {ord(letter): escaped for letter, escaped in {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}.items()}
)


def format_header(*, title: str, base: str) -> str:
    """Return the options at the top of a journal. Amounts are exact, so the tolerance is minimal.

    >>> format_header(title="Acme", base="EUR").splitlines()
    ['option "title" "Acme"', 'option "operating_currency" "EUR"', 'option "tolerance_multiplier" "0.1"', '']
    """
    options = {"title": title, "operating_currency": base, "tolerance_multiplier": "0.1"}
    return "".join([*(f'option "{name}" {quote_text(value)}\n' for name, value in options.items()), "\n"])


def format_commodities(currencies: Iterable[str]) -> str:
    """Return nothing: Beancount needs no declaration of currencies."""
    return ""


def quote_text(text: str) -> str:
    """A text in quotation marks.

    >>> quote_text('say "so"\\nand so')
    '"say \\\\"so\\\\"\\\\nand so"'
    """
    is_plain = text.isprintable() and '"' not in text and "\\" not in text
    return f'"{text if is_plain else text.translate(ESCAPES)}"'


def format_account_opening(account: str, *, day: date) -> str:
    """Return the directive that opens an account."""
    return f"{day} open {account}\n"


def format_price(day: str, *, currency: str, rate: str, base: str) -> str:
    """Return the directive with the price of a currency on a day."""
    return f"{day} price {currency} {rate} {base}\n"


def format_entry(entry: JournalEntry) -> str:
    """Return an entry and a blank line.

    >>> postings = [("Assets:Bank:Main", "1.00", "EUR")]
    >>> print(format_entry(JournalEntry("2026-03-15", True, "7", "Initech", "", postings)), end="")
    2026-03-15 ! "Initech" ""
      id: "7"
      Assets:Bank:Main  1.00 EUR
    <BLANKLINE>
    """
    postings = "".join([f"  {account}  {amount} {currency}\n" for account, amount, currency in entry.postings])
    id_line = f'  id: "{entry.id}"\n' if entry.id else ""
    flag = "!" if entry.is_open else "*"
    return f"{entry.day} {flag} {quote_text(entry.payee)} {quote_text(entry.text)}\n{id_line}{postings}\n"


def format_balance_assertions(day: date, balances: Iterable[JournalPosting]) -> str:
    """Return balance assertions for the end of a day; Beancount checks them at the start of the next.

    >>> format_balance_assertions(date(2026, 3, 31), [("Assets:Bank:Main", "1.00", "EUR")]).splitlines()
    ['2026-04-01 balance Assets:Bank:Main  1.00 EUR', '']
    """
    next_day = day + timedelta(days=1)
    lines = [f"{next_day} balance {account}  {amount} {currency}\n" for account, amount, currency in balances]
    return "".join([*lines, "\n"])
