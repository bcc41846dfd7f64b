"""The texts of counterparties."""

from ledger.calc.text_fields import TextField
from ledger.calc.text_fields import mark_for_translation as _

COUNTERPARTY_TEXTS = (
    TextField(
        column="external_id",
        name="externalId",
        label=_("External ID"),
        help_text="Your own id; null if it has none.",
        hint=_("ID in another system. Imports use it to find the counterparty."),
        max_length=200,
    ),
)
