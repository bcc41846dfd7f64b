"""Format journals for hledger: https://hledger.org/1.25/hledger.html#journal-format."""

from collections.abc import Iterable
from datetime import date

from ledger.exports.calc.journal_entries import JournalEntry, JournalPosting
from ledger.money.calc.money import get_minor_units

# A description is one line; a semicolon starts a comment, a bar separates payee and note.
SPECIAL_CHARACTERS = str.maketrans(
    dict.fromkeys((*range(32), 127, 0x85, 0x2028, 0x2029), " ") | {ord(";"): ",", ord("|"): "/"}
)


def format_header(*, title: str, base: str) -> str:
    """Return the top of a journal, before the commodities.

    >>> print(format_header(title="Acme", base="EUR"), end="")
    ; Acme, in EUR
    decimal-mark .
    """
    return f"; {clean_description(title)}, in {base}\ndecimal-mark .\n"


def format_commodities(currencies: Iterable[str]) -> str:
    """Declare how amounts are written in each currency that occurs.

    >>> print(format_commodities(["EUR", "JPY"]), end="")
    commodity 1000.00 EUR
    commodity 1000. JPY
    <BLANKLINE>
    """
    declarations = "".join(
        f"commodity 1000.{'0' * get_minor_units(currency)} {currency}\n" for currency in sorted(currencies)
    )
    return f"{declarations}\n"


def clean_description(text: str) -> str:
    """Return a text on one line, without the characters that have a meaning in descriptions.

    >>> clean_description(" rent; March | April ")
    'rent, March / April'
    """
    is_plain = text.isprintable() and ";" not in text and "|" not in text
    return " ".join((text if is_plain else text.translate(SPECIAL_CHARACTERS)).split())


def format_account_opening(account: str, *, day: date) -> str:
    """Return the directive that declares an account."""
    return f"account {account}\n"


def format_price(day: str, *, currency: str, rate: str, base: str) -> str:
    """Return the directive with the price of a currency on a day."""
    return f"P {day} {currency} {rate} {base}\n"


def format_entry(entry: JournalEntry) -> str:
    """Return an entry and a blank line; its code is the transaction's id.

    >>> postings = [("Assets:Bank:Main", "1.00", "EUR")]
    >>> print(format_entry(JournalEntry("2026-03-15", True, "7", "Initech", "", postings)), end="")
    2026-03-15 ! (7) Initech
        Assets:Bank:Main  1.00 EUR
    <BLANKLINE>
    """
    description = " | ".join(
        [known for known in (clean_description(entry.payee), clean_description(entry.text)) if known]
    )
    postings = "".join([f"    {account}  {amount} {currency}\n" for account, amount, currency in entry.postings])
    return f"{entry.day} {'!' if entry.is_open else '*'} ({entry.id}) {description}\n{postings}\n"


def format_balance_assertions(day: date, balances: Iterable[JournalPosting]) -> str:
    """Return balance assertions for the end of a day: an entry with zero amounts, after all others of its day.

    >>> print(format_balance_assertions(date(2026, 3, 31), [("Assets:Bank:Main", "1.00", "EUR")]), end="")
    2026-03-31 * Balances
        Assets:Bank:Main  0 EUR = 1.00 EUR
    <BLANKLINE>
    """
    lines = [f"    {account}  0 {currency} = {amount} {currency}\n" for account, amount, currency in balances]
    return "".join([f"{day} * Balances\n", *lines, "\n"])
