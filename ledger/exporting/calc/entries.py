"""From transactions with their parts to entries of a journal.

Each entry adds up to zero in every currency, exactly: nothing in it is converted. A transfer of which both legs move
within the window and one month is one entry, on the day on which the money left; what is on its way at the end of a
month, or to a day outside the window, stands on an account of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from ledger.exporting.calc.chart import (
    LINES,
    OPENING,
    TAX,
    TRANSFERS,
    UNCATEGORIZED_IN,
    UNCATEGORIZED_OUT,
    Chart,
)

Posting = tuple[str, str, str]
"""(account, amount, currency)"""


class Entry(NamedTuple):
    """``open`` where something of it is not categorized."""

    day: str
    open: bool
    id: str
    payee: str
    text: str
    postings: Sequence[Posting]


class Row(NamedTuple):
    """A part of a transaction, or one without any; as the database writes them, "" where there is nothing.

    Amounts have the currency's decimals; the lines of the profit and loss and ``tax`` have the sign turned. The last
    four are a leg's: its value, and the other leg's account, currency and value where both are one entry.
    """

    id: str
    day: str
    account: str
    payee: str
    text: str
    currency: str
    amount: str
    left: str  # what is not categorized
    initial: str
    category: str
    revenue: str
    cogs: str
    cac: str
    pd: str
    ga: str
    no: str
    neutral: str
    tax: str
    leg: str
    other_account: str
    other_currency: str
    other: str


FIRST_LINE, BEHIND_LINES = 10, 10 + len(LINES)


def turned(amount: str) -> str:
    """The amount with the other sign.

    >>> turned("12.50"), turned("-12.50"), turned("0.00")
    ('-12.50', '12.50', '0.00')
    """
    if amount.startswith("-"):
        return amount[1:]
    return f"-{amount}" if amount.strip("0.") else amount


def entries(rows: Iterable[Row], *, chart: Chart) -> Iterator[Entry]:
    """Of rows in the order of their days and ids, in the same order."""
    for _, parts in groupby(rows, key=itemgetter(0)):
        yield from of_transaction(list(parts), chart=chart)


def of_transaction(parts: Sequence[Row], *, chart: Chart) -> list[Entry]:
    """Its transfers, each an entry, and one for what is left of it.

    >>> books = Chart({"a": "Assets:Bank:Main"}, {"c": ["Income:Revenue:Sales", *[""] * 6]})
    >>> row = Row("1", "2026-03-15", "a", "Initech", "", "EUR", "10.00", "4.00", "", "c", "-6.00", *[""] * 11)
    >>> [found] = of_transaction([row], chart=books)
    >>> found.open, found.postings[1:]
    (True, [('Income:Revenue:Sales', '-6.00', 'EUR'), ('Income:Uncategorized', '-4.00', 'EUR')])
    """
    first, moved = parts[0], False
    amount = first.amount
    found: list[Entry] = []
    against: list[Posting] = []
    for part in parts:
        if part.leg and part.other:
            moved, amount = True, str(Decimal(amount) - Decimal(part.leg))
            if part.leg.startswith("-"):
                found.append(transfer(part, chart=chart))
        elif part.category:
            against += postings_of(part, chart=chart)
    if first.left:
        unknown = UNCATEGORIZED_OUT if first.left.startswith("-") else UNCATEGORIZED_IN
        against.append((unknown, turned(first.left), first.currency))
    if first.initial:
        against = [(OPENING, turned(amount), first.currency)]
    if against or not moved:
        postings = [(chart.accounts[first.account], amount, first.currency), *against]
        found.append(Entry(first.day, bool(first.left), first.id, first.payee, first.text, postings))
    return found


def postings_of(part: Row, *, chart: Chart) -> list[Posting]:
    """What a part is for: its lines and its tax; a leg, the account of what is on its way.

    >>> row = Row("1", "2026-03-15", "a", "", "", "EUR", "10.00", "", "", "c", *[""] * 8, "10.00", *[""] * 3)
    >>> postings_of(row, chart=Chart({}, {}))
    [('Equity:Transfers', '-10.00', 'EUR')]
    """
    if part.leg:
        return [(TRANSFERS, turned(part.leg), part.currency)]
    lines = zip(chart.categories[part.category], part[FIRST_LINE:BEHIND_LINES], strict=True)
    found = [(account, value, part.currency) for account, value in lines if value]
    return [*found, (TAX, part.tax, part.currency)] if part.tax else found


def transfer(leg: Row, *, chart: Chart) -> Entry:
    """Both legs, from the one that money leaves by, and the difference between them.

    >>> books = Chart({"a": "Assets:Bank:Main", "b": "Assets:Cash:Till"}, {})
    >>> away = ("-10.00", "b", "USD", "11.00")
    >>> row = Row("1", "2026-03-15", "a", "", "", "EUR", "-10.00", "", "", "c", *[""] * 8, *away)
    >>> for posting in transfer(row, chart=books).postings: print(*posting)
    Assets:Bank:Main -10.00 EUR
    Assets:Cash:Till 11.00 USD
    Equity:Transfers 10.00 EUR
    Equity:Transfers -11.00 USD
    """
    value, other, currency, foreign = leg.leg, leg.other, leg.currency, leg.other_currency
    postings = [
        (chart.accounts[leg.account], value, currency),
        (chart.accounts[leg.other_account], other, foreign),
    ]
    if currency != foreign:
        postings += [(TRANSFERS, turned(value), currency), (TRANSFERS, turned(other), foreign)]
    elif turned(value) != other:
        postings.append((TRANSFERS, str(-Decimal(value) - Decimal(other)), currency))
    return Entry(leg.day, False, leg.id, leg.payee, leg.text, postings)
