"""Texts that the service itself wrote into transactions, translated for the user; they are stored in English."""

import re
from datetime import date
from typing import Any

from django.utils.translation import gettext_lazy as _

from companies.locales import get_current_locale
from ledger.models import Source, Transaction

OPENING_BALANCE_TEXTS = {"Opening balance", "Initial balance"}  # the second one is of older transactions
NOTE_TEMPLATES: dict[str, Any] = {  # lines written by imports of files, by their first words
    "Value date": _("Value date {text}"),
    "Amount": _("Amount {text}"),
    "End-to-end": _("End-to-end {text}"),
    "Mandate": _("Mandate {text}"),
    "Check": _("Check {text}"),
    "Number": _("Number {text}"),
    "Account": _("Account {text}"),
    "Category": _("Category {text}"),
}
NOTE_LINE = re.compile(rf"({'|'.join(NOTE_TEMPLATES)}) (.+)")
ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def translate_description(row: Transaction) -> str:
    """Return the description, translated if the service wrote it."""
    return str(_("Opening balance")) if row.is_initial and row.description in OPENING_BALANCE_TEXTS else row.description


def translate_notes(row: Transaction) -> str:
    """Return the notes, with lines from imported files translated."""
    notes = row.notes or ""
    return translate_imported_notes(notes) if row.source in (Source.BANK, Source.CSV) else notes


def translate_imported_notes(notes: str) -> str:
    """Return the notes of an imported row, with the lines that the import wrote translated."""
    return "\n".join(translate_note_line(line) for line in notes.split("\n"))


def translate_note_line(line: str) -> str:
    """Translate a line of notes if an import wrote it."""
    match = NOTE_LINE.fullmatch(line)
    if match is None:
        return line
    text = match[2]
    if match[1] == "Value date" and ISO_DAY.fullmatch(text):
        text = get_current_locale().format_day(date.fromisoformat(text))
    return str(NOTE_TEMPLATES[match[1]]).format(text=text)
