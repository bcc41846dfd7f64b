"""Serializers of plan items."""

from decimal import Decimal
from typing import Any

from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StrictModelSerializer, StrictSerializer
from ledger.calc.months import format_month
from ledger.models import PlType
from ledger.money.fields import CurrencyField
from planning.calc.plan_postings import AMOUNT_TYPES, MAX_AMOUNT
from planning.models import PlanItem
from planning.plan.queries.planned_payments import PlanProposal
from planning.planned_transactions.serializers import MAX_INT32


class PlanMoney(StrictSerializer):
    value = fields.NumberField(minimum=-MAX_AMOUNT, maximum=MAX_AMOUNT)
    currency = CurrencyField()


class PlanAmountSerializer(StrictSerializer):
    """The amount of each repetition. `fixed`: always `amount`. `changeByAmount`: `amount` times 1, 2, 3 and so on.
    `relative`: `amount`, then each times (1 + `relativeChange`). The maximum is 999999999999999.9999."""

    type = fields.ChoiceField(choices=AMOUNT_TYPES)
    amount = PlanMoney()
    relative_change = fields.NumberField(
        minimum=Decimal(-1),
        maximum=Decimal(10),
        allow_null=True,
        default=None,
        help_text="Growth, such as 0.1 for 10%.",
    )


class PlanItemSerializer(StrictModelSerializer):
    company_id = serializers.UUIDField(read_only=True)
    month = fields.MonthField(help_text="First month, YYYY-MM.")
    category_id = fields.IdField()
    amount = PlanAmountSerializer()
    duration = fields.IntegerField(
        allow_null=True,
        required=False,
        min_value=1,
        max_value=MAX_INT32,
        help_text="Duration in months; null for no end.",
    )
    frequency = fields.IntegerField(
        required=False, min_value=0, max_value=MAX_INT32, help_text="Months between repetitions; 0 for once."
    )

    class Meta:
        model = PlanItem
        fields = (
            "id",
            "company_id",
            "month",
            "pl_type",
            "category_id",
            "amount",
            "duration",
            "frequency",
            *AUDIT_FIELDS,
        )
        read_only_fields = ("id", "company_id", *AUDIT_FIELDS)


class PlanProposalSerializer(StrictSerializer):
    """What is planned as payments in a month and category, beside the plan. Amounts are in the base currency."""

    category_id = fields.IdField()
    pl_type = fields.ChoiceField(choices=PlType.choices)
    month = fields.MonthField()
    planned_payments = fields.NumberField(
        help_text="Sum of the planned transactions of the month, without pass-through tax, in the company's base "
        "currency; expenses are positive."
    )
    planned = fields.NumberField()
    difference = fields.NumberField(
        help_text="Planned payments less planned amount: what a plan item of the month adds to accept the proposal."
    )

    def to_representation(self, proposal: PlanProposal) -> dict[str, Any]:
        month, pl_type, category_id = proposal.key
        return {
            "categoryId": str(category_id),
            "plType": pl_type,
            "month": format_month(month),
            "plannedPayments": fields.to_json_number(proposal.planned_payments),
            "planned": fields.to_json_number(proposal.planned),
            "difference": fields.to_json_number(proposal.difference),
        }
