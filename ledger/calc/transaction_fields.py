"""The free texts that people and integrations keep with a transaction, each declared once.

The serializers, the body of imports, CSV columns, exports, search, labels, history and the form are built from this
table; `docs/adding-a-field.md` says what else a new one needs. No database.
"""

from dataclasses import dataclass


def _(text: str) -> str:
    """Mark a text for translation; it is translated where it is shown."""
    return text


@dataclass(frozen=True, kw_only=True)
class TransactionText:
    """A nullable text of a transaction.

    `column` is its name in the database, `name` its name in the API and in `importSettings.csv`, `label` its label on
    pages and its heading in exports, `headings` what else its column may be called in CSV files.
    """

    column: str
    name: str
    label: str
    help_text: str
    max_length: int = 10_000
    headings: tuple[str, ...] = ()


NOTES = TransactionText(
    column="notes",
    name="notes",
    label=_("Notes"),
    help_text="Your own notes; null if there are none.",
)
TRANSACTION_TEXTS = (NOTES,)
OTHER_TEXTS = tuple(text for text in TRANSACTION_TEXTS if text is not NOTES)  # imports add more to the notes
