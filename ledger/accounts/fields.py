"""The texts of accounts."""

from ledger.calc.text_fields import TextField
from ledger.calc.text_fields import mark_for_translation as _

ACCOUNT_TEXTS = (
    TextField(
        column="account_number",
        name="accountNumber",
        label=_("Number or IBAN"),
        help_text="IBAN or another number by which the bank knows the account; null if not set.",
        example="DE89370400440532013000",
        max_length=64,
    ),
)
