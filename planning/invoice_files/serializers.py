"""Serializers of invoices in files."""

from companies.api import fields
from companies.api.serializers import StrictSerializer
from ledger.models import Direction


class PlanFileRequest(StrictSerializer):
    """How to plan the invoice in a file."""

    account_id = fields.IdField(allow_null=True, help_text="Account that is paid from or to; null if none is set.")
    direction = fields.ChoiceField(
        choices=Direction.choices,
        allow_null=True,
        default=None,
        help_text="`in` for a receivable, `out` for a payable; null to derive it from seller and buyer.",
    )
