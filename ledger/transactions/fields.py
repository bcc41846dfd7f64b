"""The texts of transactions. No database, because imports read them too."""

from ledger.calc.text_fields import TextField
from ledger.calc.text_fields import mark_for_translation as _

NOTES = TextField(
    column="notes",
    name="notes",
    label=_("Notes"),
    help_text="Your own notes; null if there are none.",
)
TRANSACTION_TEXTS = (NOTES,)
OTHER_TEXTS = tuple(text for text in TRANSACTION_TEXTS if text is not NOTES)  # imports add more to the notes
