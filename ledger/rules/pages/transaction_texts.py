"""What pages call a transaction to review, and what they say it is for."""

from django.utils.translation import gettext as _

from ledger.models import Transaction
from ledger.rules.calc.booking_phrases import strip_booking_phrases


def format_title(row: Transaction) -> str:
    """Return the name of the other party, else the description."""
    return row.from_to or strip_booking_phrases(row.description) or _("No text")


def format_purpose(row: Transaction) -> str:
    """Return the description; empty if it is the title."""
    return strip_booking_phrases(row.description) if row.from_to else ""
