"""Automatic choices that would change what is recognized in closed months."""

from collections.abc import Sequence
from uuid import UUID

from companies.closed_periods import is_day_closed
from companies.models import Company
from ledger.categorization.choices import (
    CategorizableTransaction,
    CategorizationChoice,
    list_chosen_categorizations,
    list_recognition_periods,
)
from ledger.recognition.closed_categorizations import find_recognized_in_closed_months


def find_closed_choices(
    company: Company, choices: Sequence[tuple[CategorizableTransaction, CategorizationChoice]]
) -> set[UUID]:
    """Return the transactions whose choice would be recognized in a closed month, or replace what is."""
    if company.closed_through is None:
        return set()
    parts = [part for transaction, choice in choices for part in list_chosen_categorizations(transaction, choice)]
    periods = zip(parts, list_recognition_periods(company, parts), strict=True)
    starting_ids = {part.transaction.id for part, (start, _) in periods if is_day_closed(company, start)}
    return starting_ids | find_recognized_in_closed_months(company, [transaction.id for transaction, _ in choices])
