"""Descriptions of rows from the columns of a table."""

from collections.abc import Sequence

from ledger.imports.calc.column_mapping import ColumnMapping
from ledger.imports.calc.headings import fold_heading
from ledger.imports.calc.table import Table
from ledger.imports.calc.vocabulary import is_booking_status


def join_description(table: Table, mapping: ColumnMapping, cells: Sequence[str]) -> str:
    """Return the texts of the description's columns, each once and without those that say only that a row is booked; in
    a list of payouts without texts "Payout"."""
    if not mapping.description and "counterparty" not in mapping.columns:
        return find_payout_text(table.names[mapping.columns["date"]]) if "date" in mapping.columns else ""
    texts = (cells[position] for position in mapping.description if position < len(cells))
    return " ".join(dict.fromkeys(text for text in texts if text and not is_booking_status(text)))


def find_payout_text(date_heading: str) -> str:
    """Return "Payout" for the date column of a list of payouts, which have no text of their own; else nothing.

    >>> find_payout_text("Payout Date"), find_payout_text("Date")
    ('Payout', '')
    """
    return "Payout" if "payout" in fold_heading(date_heading).split() else ""
