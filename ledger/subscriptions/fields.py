"""The texts of subscriptions."""

from ledger.calc.text_fields import TextField
from ledger.calc.text_fields import mark_for_translation as _

SUBSCRIPTION_TEXTS = (
    TextField(
        column="external_id",
        name="externalId",
        label=_("External ID"),
        help_text="Your own id; null if it has none.",
        max_length=200,
    ),
)
