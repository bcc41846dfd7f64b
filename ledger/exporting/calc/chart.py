"""The chart of accounts of a journal: where the product's accounts, lines and categories stand in it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ledger.exporting.calc.names import legal, unique

OPENING = "Equity:Opening-Balances"
TRANSFERS = "Equity:Transfers"  # what is on its way between accounts, and what other rates made of it
TAX = "Liabilities:Pass-Through-Tax"
UNCATEGORIZED_IN, UNCATEGORIZED_OUT = "Income:Uncategorized", "Expenses:Uncategorized"

KINDS = {
    "bank": "Assets:Bank",
    "cash": "Assets:Cash",
    "creditCard": "Liabilities:Credit-Card",
    "loan": "Liabilities:Loan",
    "transit": "Assets:Transit",
    "other": "Assets:Other",
}
"""By the type of an account."""
LINES = {
    "revenue": "Income:Revenue",
    "cogs": "Expenses:Cost-Of-Revenue",
    "cac": "Expenses:Sales-And-Marketing",
    "pd": "Expenses:Product-Development",
    "ga": "Expenses:General-And-Administration",
    "no": "Income:Non-Operating",
    "neutral": "Equity:Neutral",  # in no result
}
"""By the line of the profit and loss, in its order."""

Named = tuple[str, str]
"""(id, what people call it, "" where the reader may not see that)"""


@dataclass(frozen=True, slots=True)
class Chart:
    """``accounts`` by id; ``categories`` by id, each with an account for every line in the order of ``LINES``."""

    accounts: Mapping[str, str]
    categories: Mapping[str, Sequence[str]]


def build_chart(
    *, accounts: Iterable[tuple[str, str, str]], categories: Iterable[Named], tax_payments: Collection[str] = ()
) -> Chart:
    """Name the accounts of a journal.

    Args:
        accounts: (id, type, name); of two that would share a name the first keeps it.
        categories: in the same order.
        tax_payments: ids of the categories whose payments settle the pass-through tax account.

    >>> found = build_chart(accounts=[("1", "bank", "Main"), ("2", "bank", "main!"), ("3-x", "loan", "")],
    ...                     categories=[("9", "Hosting"), ("10", "VAT")], tax_payments=["10"])
    >>> found.accounts
    {'1': 'Assets:Bank:Main', '2': 'Assets:Bank:Main-2', '3-x': 'Liabilities:Loan:Account-3-x'}
    >>> found.categories["9"][1]
    'Expenses:Cost-Of-Revenue:Hosting'
    >>> set(found.categories["10"])
    {'Liabilities:Pass-Through-Tax'}
    """
    taken: set[str] = set()
    own = {
        each: unique(f"{KINDS[kind]}:{legal(name, otherwise=f'Account-{each[-8:]}')}", taken)
        for each, kind, name in accounts
    }
    names = {each: unique(legal(name, otherwise=f"Category-{each[-8:]}"), taken) for each, name in categories}
    by_line = {each: [f"{line}:{name}" for line in LINES.values()] for each, name in names.items()}
    return Chart(own, by_line | {each: [TAX] * len(LINES) for each in tax_payments})
