"""Build journal entries from transactions and their categorizations.

Each entry adds up to zero in every currency, exactly: nothing is converted. A transfer with both legs
within the window and one month is one entry, on the day the money left. Money in transit at the end of a
month, or to a day outside the window, is on an account of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from ledger.exports.calc.chart_of_accounts import (
    OPENING_BALANCES_ACCOUNT,
    PREFIX_BY_LINE,
    TAX_ACCOUNT,
    TRANSFERS_ACCOUNT,
    UNCATEGORIZED_EXPENSES_ACCOUNT,
    UNCATEGORIZED_INCOME_ACCOUNT,
    ChartOfAccounts,
)

JournalPosting = tuple[str, str, str]
"""(account, amount, currency)"""


class JournalEntry(NamedTuple):
    """An entry of a journal; `is_open` if a part of the transaction is not categorized."""

    day: str
    is_open: bool
    id: str
    payee: str
    text: str
    postings: Sequence[JournalPosting]


class JournalRow(NamedTuple):
    """A categorization of a transaction, or a transaction without any, as text from the database ("" for null).

    Amounts have the currency's decimals. The P&L lines and `tax` have the opposite sign. The last four fields
    belong to a leg of a transfer: its value, and the other leg's account, currency and value if both are one
    entry.
    """

    id: str
    day: str
    account: str
    payee: str
    text: str
    currency: str
    amount: str
    uncategorized: str  # amount without a category
    is_initial_balance: str
    category: str
    revenue: str
    cogs: str
    cac: str
    pd: str
    ga: str
    no: str
    neutral: str
    tax: str
    leg_value: str
    other_account: str
    other_currency: str
    other_value: str


LINES_START, LINES_END = 10, 10 + len(PREFIX_BY_LINE)


def reverse_sign(amount: str) -> str:
    """Return an amount with the opposite sign.

    >>> reverse_sign("12.50"), reverse_sign("-12.50"), reverse_sign("0.00")
    ('-12.50', '12.50', '0.00')
    """
    if amount.startswith("-"):
        return amount[1:]
    return f"-{amount}" if amount.strip("0.") else amount


def build_journal_entries(rows: Iterable[JournalRow], *, chart: ChartOfAccounts) -> Iterator[JournalEntry]:
    """Yield the entries of rows that are sorted by day and id, in the same order."""
    for _, parts in groupby(rows, key=itemgetter(0)):
        yield from build_transaction_entries(list(parts), chart=chart)


def build_transaction_entries(rows: Sequence[JournalRow], *, chart: ChartOfAccounts) -> list[JournalEntry]:
    """Return the entries of a transaction: one for each transfer, and one for the rest.

    >>> books = ChartOfAccounts({"a": "Assets:Bank:Main"}, {"c": ["Income:Revenue:Sales", *[""] * 6]})
    >>> values = ("Initech", "", "EUR", "10.00", "4.00", "", "c", "-6.00")
    >>> row = JournalRow("1", "2026-03-15", "a", *values, *[""] * 11)
    >>> [entry] = build_transaction_entries([row], chart=books)
    >>> entry.is_open, entry.postings[1:]
    (True, [('Income:Revenue:Sales', '-6.00', 'EUR'), ('Income:Uncategorized', '-4.00', 'EUR')])
    """
    first_row, has_transfer = rows[0], False
    amount = first_row.amount
    entries: list[JournalEntry] = []
    counter_postings: list[JournalPosting] = []
    for row in rows:
        if row.leg_value and row.other_value:
            has_transfer, amount = True, str(Decimal(amount) - Decimal(row.leg_value))
            if row.leg_value.startswith("-"):
                entries.append(build_transfer_entry(row, chart=chart))
        elif row.category:
            counter_postings += build_categorization_postings(row, chart=chart)
    if first_row.uncategorized:
        account = (
            UNCATEGORIZED_EXPENSES_ACCOUNT if first_row.uncategorized.startswith("-") else UNCATEGORIZED_INCOME_ACCOUNT
        )
        counter_postings.append((account, reverse_sign(first_row.uncategorized), first_row.currency))
    if first_row.is_initial_balance:
        counter_postings = [(OPENING_BALANCES_ACCOUNT, reverse_sign(amount), first_row.currency)]
    if counter_postings or not has_transfer:
        postings = [(chart.accounts[first_row.account], amount, first_row.currency), *counter_postings]
        entries.append(
            JournalEntry(
                first_row.day, bool(first_row.uncategorized), first_row.id, first_row.payee, first_row.text, postings
            )
        )
    return entries


def build_categorization_postings(row: JournalRow, *, chart: ChartOfAccounts) -> list[JournalPosting]:
    """Return the postings of a categorization: its P&L lines and tax; for a leg, the account of money in transit.

    >>> row = JournalRow("1", "2026-03-15", "a", "", "", "EUR", "10.00", "", "", "c", *[""] * 8, "10.00", *[""] * 3)
    >>> build_categorization_postings(row, chart=ChartOfAccounts({}, {}))
    [('Equity:Transfers', '-10.00', 'EUR')]
    """
    if row.leg_value:
        return [(TRANSFERS_ACCOUNT, reverse_sign(row.leg_value), row.currency)]
    lines = zip(chart.categories[row.category], row[LINES_START:LINES_END], strict=True)
    postings = [(account, value, row.currency) for account, value in lines if value]
    return [*postings, (TAX_ACCOUNT, row.tax, row.currency)] if row.tax else postings


def build_transfer_entry(leg: JournalRow, *, chart: ChartOfAccounts) -> JournalEntry:
    """Return the entry of a transfer from its outgoing leg, with the difference between both legs.

    >>> books = ChartOfAccounts({"a": "Assets:Bank:Main", "b": "Assets:Cash:Till"}, {})
    >>> away = ("-10.00", "b", "USD", "11.00")
    >>> row = JournalRow("1", "2026-03-15", "a", "", "", "EUR", "-10.00", "", "", "c", *[""] * 8, *away)
    >>> for posting in build_transfer_entry(row, chart=books).postings: print(*posting)
    Assets:Bank:Main -10.00 EUR
    Assets:Cash:Till 11.00 USD
    Equity:Transfers 10.00 EUR
    Equity:Transfers -11.00 USD
    """
    value, other_value, currency, other_currency = leg.leg_value, leg.other_value, leg.currency, leg.other_currency
    postings = [
        (chart.accounts[leg.account], value, currency),
        (chart.accounts[leg.other_account], other_value, other_currency),
    ]
    if currency != other_currency:
        postings += [
            (TRANSFERS_ACCOUNT, reverse_sign(value), currency),
            (TRANSFERS_ACCOUNT, reverse_sign(other_value), other_currency),
        ]
    elif reverse_sign(value) != other_value:
        postings.append((TRANSFERS_ACCOUNT, str(-Decimal(value) - Decimal(other_value)), currency))
    return JournalEntry(leg.day, False, leg.id, leg.payee, leg.text, postings)
