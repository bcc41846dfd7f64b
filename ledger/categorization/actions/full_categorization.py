"""Categorize new transactions: one category for the full amount of each."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from companies.models import Company, generate_id
from ledger.bulk.copy import copy_rows
from ledger.bulk.planner_statistics import analyze_grown_table
from ledger.categorization.actions.bulk_categorization import CATEGORIZATION_COLUMN_TYPES
from ledger.recognition.actions.postings import PL_TYPES, PostingInput, write_postings
from ledger.recognition.service_periods import RecognitionRule


class FullCategorization(NamedTuple):
    """A transaction that was just stored, and the category of its whole amount."""

    transaction_id: UUID
    day: date
    amount: Decimal
    currency: str
    pending: bool
    category_id: UUID
    pl_type: str
    counterparty_id: UUID | None


def categorize_new_transactions(*, company: Company, rows: Iterable[FullCategorization]) -> int:
    """Categorize transactions that the current database transaction has just stored, for imports.

    The caller has checked the ids, chosen the P&L lines (``resolve_pl_type``) and stored the transactions with
    ``categorized_value = amount_value``; they are not updated here. The date rule is transactionDate. Two
    statements, and one for the rates, whatever the number of rows.

    Returns: the number of categorizations. Raises: MissingRateError.
    """
    categorizations = list(rows)
    ids = [generate_id() for _ in categorizations]
    copy_rows(
        "ledger_categorization",
        CATEGORIZATION_COLUMN_TYPES,
        (build_full_categorization_row(company, *each) for each in zip(ids, categorizations, strict=True)),
    )
    analyze_grown_table("ledger_categorization", rows=len(ids))
    write_postings(
        (build_full_posting_input(*each) for each in zip(ids, categorizations, strict=True) if not each[1].pending),
        company=company,
    )
    return len(categorizations)


def build_full_categorization_row(
    company: Company, categorization_id: UUID, categorization: FullCategorization
) -> tuple[Any, ...]:
    """Return the column values of a categorization of a whole amount by transaction date."""
    amounts = (categorization.amount if pl_type == categorization.pl_type else None for pl_type in PL_TYPES)
    return (
        company.id,
        categorization_id,
        categorization.transaction_id,
        0,
        categorization.category_id,
        categorization.counterparty_id,
        RecognitionRule().type,
        None,
        None,
        None,
        categorization.day,
        categorization.day,
        *amounts,
        None,
        categorization.amount,
    )


def build_full_posting_input(categorization_id: UUID, categorization: FullCategorization) -> PostingInput:
    """Return what the postings of a categorization of a whole amount depend on."""
    return PostingInput(
        id=categorization_id,
        category_id=categorization.category_id,
        rule=RecognitionRule().type,
        start=categorization.day,
        end=categorization.day,
        day=categorization.day,
        currency=categorization.currency,
        lines=((categorization.pl_type, categorization.amount),),
    )
