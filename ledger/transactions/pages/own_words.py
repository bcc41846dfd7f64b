"""What the service itself wrote into a transaction, in the reader's language; it is stored in one language for all."""

import re
from datetime import date
from typing import Any

from django.utils.translation import gettext_lazy as _

from companies.locales import current
from ledger.models import Source, Transaction

INITIAL = "Initial balance"
NOTES: dict[str, Any] = {  # that statements wrote, by the word that their lines begin with
    "Value date": _("Value date {text}"),
    "Amount": _("Amount {text}"),
    "End-to-end": _("End-to-end {text}"),
    "Mandate": _("Mandate {text}"),
    "Check": _("Check {text}"),
    "Number": _("Number {text}"),
}
LINE = re.compile(rf"({'|'.join(NOTES)}) (.+)")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def description_of(row: Transaction) -> str:
    return str(_("Initial balance")) if row.is_initial and row.description == INITIAL else row.description


def notes_of(row: Transaction) -> str:
    """Other lines, and what nobody's statement brought, as they are."""
    if row.source != Source.BANK:
        return row.notes or ""
    return "\n".join(line_in_words(line) for line in (row.notes or "").split("\n"))


def line_in_words(line: str) -> str:
    match = LINE.fullmatch(line)
    if match is None:
        return line
    text = match[2]
    if match[1] == "Value date" and DAY.fullmatch(text):
        text = current().day_of(date.fromisoformat(text))
    return str(NOTES[match[1]]).format(text=text)
