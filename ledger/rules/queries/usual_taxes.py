"""The tax that earlier transactions of a counterparty included."""

import json
from collections.abc import Iterable
from decimal import Decimal
from uuid import UUID

from companies.models import Company
from ledger.money.calc.money import find_shortest_tax_percentage, is_single_rate
from ledger.rules.calc.category_proposals import CategoryLine
from ledger.rules.queries.history_statements import TAXES_SQL, fetch_history_rows

TransactionChoice = tuple[UUID, CategoryLine]  # (transaction, chosen category and line)


def find_usual_tax_percentages(
    company: Company, choices: Iterable[TransactionChoice]
) -> dict[TransactionChoice, Decimal | None]:
    """Return the tax rates in percent of choices that an earlier transaction has; one statement.

    The latest transaction with the same name, direction, category and line decides, where a person or a rule
    categorized it whole. None if it included no tax, or several rates.
    """
    keys = [
        {"id": transaction_id.hex, "category_id": category_id.hex, "pl_type": pl_type}
        for transaction_id, (category_id, pl_type) in choices
    ]
    if not keys:
        return {}
    percents: dict[TransactionChoice, Decimal | None] = {}
    for transaction_id, *choice, amount, tax, currency in fetch_history_rows(
        TAXES_SQL, company=company, keys=json.dumps(keys)
    ):
        percent = find_shortest_tax_percentage(amount, tax, currency)
        has_one_rate = percent is not None and is_single_rate(percent)
        category_id, pl_type = choice
        percents[transaction_id, (category_id, pl_type)] = percent if has_one_rate else None
    return percents


def find_usual_tax_percentage(company: Company, transaction_id: UUID, choice: CategoryLine) -> Decimal | None:
    """Return the tax rate in percent of one transaction; None if it is not known."""
    return find_usual_tax_percentages(company, [(transaction_id, choice)]).get((transaction_id, choice))
