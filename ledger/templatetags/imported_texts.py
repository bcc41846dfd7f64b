"""Texts of imported rows in templates."""

from django import template

from ledger.transactions.pages.imported_text import translate_imported_notes

register = template.Library()


@register.filter
def imported_notes(notes: str | None) -> str:
    """Return the notes of a row of a file in the language of the page."""
    return translate_imported_notes(notes or "")
