"""The chart of accounts of a journal: names for accounts, P&L lines and categories."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ledger.exports.calc.account_names import make_name_unique, normalize_account_name

OPENING_BALANCES_ACCOUNT = "Equity:Opening-Balances"
TRANSFERS_ACCOUNT = "Equity:Transfers"  # money in transit between accounts, and exchange differences
TAX_ACCOUNT = "Liabilities:Pass-Through-Tax"
UNCATEGORIZED_INCOME_ACCOUNT, UNCATEGORIZED_EXPENSES_ACCOUNT = "Income:Uncategorized", "Expenses:Uncategorized"

PREFIX_BY_ACCOUNT_TYPE = {
    "bank": "Assets:Bank",
    "cash": "Assets:Cash",
    "creditCard": "Liabilities:Credit-Card",
    "loan": "Liabilities:Loan",
    "transit": "Assets:Transit",
    "other": "Assets:Other",
}
"""By the type of an account."""
PREFIX_BY_LINE = {
    "revenue": "Income:Revenue",
    "cogs": "Expenses:Cost-Of-Revenue",
    "cac": "Expenses:Sales-And-Marketing",
    "pd": "Expenses:Product-Development",
    "ga": "Expenses:General-And-Administration",
    "no": "Income:Non-Operating",
    "neutral": "Equity:Neutral",  # not in the profit and loss
}
"""By the line of the profit and loss, in its order."""

IdAndName = tuple[str, str]
"""(id, what people call it, "" where the reader may not see that)"""


@dataclass(frozen=True, slots=True)
class ChartOfAccounts:
    """Account names by account id; by category id one name for each P&L line, in the order of PREFIX_BY_LINE."""

    accounts: Mapping[str, str]
    categories: Mapping[str, Sequence[str]]


def build_chart_of_accounts(
    *, accounts: Iterable[tuple[str, str, str]], categories: Iterable[IdAndName], tax_payments: Collection[str] = ()
) -> ChartOfAccounts:
    """Name the accounts of a journal.

    Args:
        accounts: (id, type, name); if two would share a name, the first keeps it.
        categories: (id, name), in the same order.
        tax_payments: ids of the categories whose payments settle the pass-through tax account.

    >>> chart = build_chart_of_accounts(
    ...     accounts=[("1", "bank", "Main"), ("2", "bank", "main!"), ("3-x", "loan", "")],
    ...     categories=[("9", "Hosting"), ("10", "VAT")], tax_payments=["10"])
    >>> chart.accounts
    {'1': 'Assets:Bank:Main', '2': 'Assets:Bank:Main-2', '3-x': 'Liabilities:Loan:Account-3-x'}
    >>> chart.categories["9"][1]
    'Expenses:Cost-Of-Revenue:Hosting'
    >>> set(chart.categories["10"])
    {'Liabilities:Pass-Through-Tax'}
    """
    used_names: set[str] = set()
    account_names = {
        record_id: make_name_unique(
            f"{PREFIX_BY_ACCOUNT_TYPE[kind]}:{normalize_account_name(name, fallback=f'Account-{record_id[-8:]}')}",
            used_names,
        )
        for record_id, kind, name in accounts
    }
    category_names = {
        record_id: make_name_unique(normalize_account_name(name, fallback=f"Category-{record_id[-8:]}"), used_names)
        for record_id, name in categories
    }
    by_line = {
        record_id: [f"{line}:{name}" for line in PREFIX_BY_LINE.values()] for record_id, name in category_names.items()
    }
    return ChartOfAccounts(
        account_names, by_line | {record_id: [TAX_ACCOUNT] * len(PREFIX_BY_LINE) for record_id in tax_payments}
    )
