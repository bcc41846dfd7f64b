"""Serializers of closings, figures and differences."""

from typing import Any

from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import StrictSerializer
from companies.models import MAX_ACTOR_LENGTH
from ledger.closings.calc.figures import Figure, FigureKey
from ledger.closings.queries.differences import Difference
from ledger.models import MAX_REASON_LENGTH, Closing, PlType

MAX_NOTE_LENGTH = 2000
MAX_CLOSINGS = 12_000  # a month each, over a thousand years
MAX_VERSION = 2_147_483_647
MAX_FIGURES = 100_000
MAX_ENTRIES = 100_000
MAX_CURRENCIES = 200
MAX_CHECKED = 2_147_483_647  # of one kind
DIGEST_LENGTH = 64
STATUSES = ["closed", "reopened"]
FIGURES = ["balance", "inflow", "outflow", "profitAndLoss", "recurringRevenue"]
MRR_TYPES = ["mrr", "cmrr"]
MOVEMENTS = ["start", "new", "reactivate", "upgrade", "downgrade", "cancel", "currency", "end"]


class CloseRequest(StrictSerializer):
    month = fields.MonthField(help_text="Last month to close, YYYY-MM.")
    note = fields.TextField(required=False, allow_null=True, max_length=MAX_NOTE_LENGTH)
    acknowledge = fields.BooleanField(
        required=False,
        default=False,
        help_text="Whether to close even if checks fail; a missing exchange rate always prevents closing.",
    )


class ReopenRequest(StrictSerializer):
    reason = fields.TextField(min_length=1, max_length=MAX_REASON_LENGTH, trim_whitespace=True)


class CloseChecksSerializer(StrictSerializer):
    """What was unfinished when months were closed."""

    uncategorized = fields.IntegerField(min_value=0, max_value=MAX_CHECKED, help_text="Uncategorized transactions.")
    pending = fields.IntegerField(min_value=0, max_value=MAX_CHECKED, help_text="Pending transactions.")
    unreconciledAccounts = serializers.ListField(  # noqa: N815 - stored as on the wire
        child=fields.IdField(),
        max_length=MAX_CHECKED,
        help_text="Accounts that were out of balance, or whose statements ended before the last weekday of the month "
        "or before a transaction on the weekend after it.",
    )
    overdue = fields.IntegerField(min_value=0, max_value=MAX_CHECKED, help_text="Overdue planned transactions.")
    missingRates = serializers.ListField(  # noqa: N815
        child=fields.CurrencyField(), max_length=MAX_CURRENCIES, help_text="Empty: missing rates prevent closing."
    )


class ClosingSerializer(StrictSerializer):
    """A closed month."""

    id = fields.IdField()
    month = fields.MonthField()
    version = fields.IntegerField(
        min_value=1, max_value=MAX_VERSION, help_text="Number of the closing of this month, from 1."
    )
    status = fields.ChoiceField(choices=STATUSES)
    note = fields.TextField(allow_null=True, max_length=MAX_NOTE_LENGTH)
    closed_time = fields.TimeField(source="created_time")
    closed_user_id = fields.TextField(source="created_user_id", allow_null=True, max_length=MAX_ACTOR_LENGTH)
    reopened_time = fields.TimeField(allow_null=True)
    reopened_user_id = fields.TextField(allow_null=True, max_length=MAX_ACTOR_LENGTH)
    reopen_reason = fields.TextField(allow_null=True, max_length=MAX_REASON_LENGTH)
    digest = fields.TextField(
        min_length=DIGEST_LENGTH, max_length=DIGEST_LENGTH, help_text="SHA-256 of the closing's figures, hexadecimal."
    )
    previous_digest = fields.TextField(
        allow_null=True,
        max_length=DIGEST_LENGTH,
        help_text="Digest of the previous closing; null for the company's first.",
    )
    acknowledged_checks = CloseChecksSerializer(
        allow_null=True,
        read_only=True,
        help_text="Checks that failed and were acknowledged, over all months closed at once; null if none did.",
    )


class FigureSerializer(StrictSerializer):
    """A frozen figure in the base currency. Only the fields that belong to its kind are there."""

    sparse = True

    figure = fields.ChoiceField(choices=FIGURES)
    account_id = fields.IdField(required=False, help_text="Account of balance, inflow and outflow.")
    category_id = fields.IdField(required=False, help_text="Category of profitAndLoss.")
    pl_type = fields.ChoiceField(choices=PlType.choices, required=False, help_text="P&L line of profitAndLoss.")
    mrr_type = fields.ChoiceField(choices=MRR_TYPES, required=False, help_text="MRR type of recurringRevenue.")
    movement = fields.ChoiceField(choices=MOVEMENTS, required=False, help_text="Movement of recurringRevenue.")
    value = fields.NumberField(help_text="Amount; expenses are positive, as in the profit and loss.")

    def to_representation(self, instance: Figure) -> dict[str, Any]:
        return {**instance.key.to_json(), "value": fields.to_json_number(instance.value)}


class ClosingWithFigures(ClosingSerializer):
    """A closed month with the figures that were reported."""

    figures = serializers.ListField(child=FigureSerializer(), max_length=MAX_FIGURES)

    def to_representation(self, instance: Closing) -> Any:
        frozen = [Figure.from_json(each) for each in instance.figures]
        figures = [{**figure.key.to_json(), "value": fields.to_json_number(figure.value)} for figure in frozen]
        return {**ClosingSerializer(instance).data, "figures": figures}


class DifferenceSerializer(StrictSerializer):
    """A figure that has changed since it was reported; was + difference = is."""

    sparse = True

    figure = fields.ChoiceField(choices=FIGURES)
    account_id = fields.IdField(required=False)
    category_id = fields.IdField(required=False)
    pl_type = fields.ChoiceField(choices=PlType.choices, required=False)
    mrr_type = fields.ChoiceField(choices=MRR_TYPES, required=False)
    movement = fields.ChoiceField(choices=MOVEMENTS, required=False)
    was = fields.NumberField(help_text="Amount as reported.")
    difference = fields.NumberField()
    because = serializers.ListField(
        child=fields.IdField(),
        max_length=MAX_ENTRIES,
        help_text="Events that changed the figure, oldest first.",
    )
    rates = fields.BooleanField(help_text="Whether late exchange rates changed the figure.")

    def get_fields(self) -> dict[str, serializers.Field]:
        """Add ``is``, a keyword of Python."""
        declared = super().get_fields()
        return {**declared, "is": fields.NumberField(help_text="Figure as the books stand now, in the base currency.")}

    def to_representation(self, instance: Difference) -> dict[str, Any]:
        change: Any = instance.change
        key: FigureKey = change.key
        return {
            **key.to_json(),
            "was": fields.to_json_number(change.was),
            "is": fields.to_json_number(change.is_now),
            "difference": fields.to_json_number(change.difference),
            "because": [str(entry_id) for entry_id in instance.because],
            "rates": instance.rates,
        }
