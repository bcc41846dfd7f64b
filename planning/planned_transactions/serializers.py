"""Serializers of planned transactions, their occurrences and overrides, and plan items."""

import datetime as dt
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, get_args

from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StrictModelSerializer, StrictSerializer
from ledger.money.calc.money import format_amount
from ledger.money.fields import AmountField, CurrencyField
from ledger.transactions.serializers import CounterpartyRef, DateRuleSerializer
from planning.calc.plan_postings import AMOUNT_TYPES, MAX_AMOUNT
from planning.calc.recurrence import OccurrenceState
from planning.calc.settlement_matching import SettlementMatch
from planning.models import MAX_INTERVAL, Frequency, PlanItem, PlannedOverride, PlannedTransaction, SettledBy
from planning.planned_transactions.queries.occurrences import DueOccurrence

WEB_URL_PATTERN = re.compile(r"https?://[^\s/?#]+\S*", re.IGNORECASE)  # a browser might execute other schemes
MAX_INT32 = 2_147_483_647  # service.md, part 8
AMOUNT_HELP = "a decimal such as -12.50, with no more decimals than the currency has; negative is money out"


RECURRENCE_END_TYPES = ["never", "date", "count"]
STATES = get_args(OccurrenceState)


class RecurrenceEnd(StrictSerializer):
    type = fields.ChoiceField(choices=RECURRENCE_END_TYPES)
    date = fields.DateField(allow_null=True, default=None, help_text="the last day that can occur; for type date")
    count = fields.IntegerField(
        allow_null=True, default=None, min_value=1, max_value=MAX_INT32, help_text="skipped ones count; for type count"
    )


class Recurrence(StrictSerializer):
    frequency = fields.ChoiceField(choices=Frequency.choices)
    interval = fields.IntegerField(default=1, min_value=1, max_value=MAX_INTERVAL)
    last_day_of_month = fields.BooleanField(default=False, help_text="only with month and year")
    end = RecurrenceEnd(required=False)


class OccurrenceOverride(StrictSerializer):
    """What differs about one occurrence. A key that is absent stays as it is; null takes it away."""

    sparse = True
    skipped = fields.BooleanField(allow_null=True, required=False)
    date = fields.DateField(allow_null=True, required=False, help_text="the day that it is moved to")
    amount_value = AmountField(allow_null=True, required=False, help_text=AMOUNT_HELP)
    account_id = fields.IdField(allow_null=True, required=False)
    category_id = fields.IdField(allow_null=True, required=False)
    name = fields.NameField(allow_null=True, required=False, max_length=300)
    transaction_id = fields.IdField(
        allow_null=True, required=False, help_text="the transaction that settled it; it is no longer forecast"
    )

    def to_representation(self, override: PlannedOverride) -> dict[str, Any]:
        return remove_nulls(super().to_representation(override))


def remove_nulls(patch: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in patch.items() if value is not None}


class OverrideMap(serializers.DictField):
    """Original date → patch; a patch that is null is none."""

    child = OccurrenceOverride(allow_null=True)

    def to_internal_value(self, data: Any) -> dict[dt.date, dict[str, Any]]:
        if not isinstance(data, dict):
            self.fail("not_a_dict", input_type=type(data).__name__)
        errors_by_key = {key: INVALID_DATE_ERROR for key in data if parse_date_or_none(key) is None}
        if errors_by_key:
            raise ValidationError(errors_by_key)
        patches = super().to_internal_value(data)
        patches_by_day = {dt.date.fromisoformat(key): remove_nulls(patch or {}) for key, patch in patches.items()}
        return {day: patch for day, patch in patches_by_day.items() if patch}

    def to_representation(self, value: dict[dt.date, PlannedOverride]) -> dict[str, Any]:
        patches_by_day = {day.isoformat(): self.child.to_representation(override) for day, override in value.items()}
        return {day: patch for day, patch in patches_by_day.items() if patch}


INVALID_DATE_ERROR = [ErrorDetail("The key must be a date, YYYY-MM-DD.", code="invalid_date")]


def parse_date_or_none(text: str) -> dt.date | None:
    """Parse a date YYYY-MM-DD; None if it is none."""
    try:
        return dt.date.fromisoformat(text) if fields.DATE_PATTERN.fullmatch(text) else None
    except ValueError:
        return None


class WebAddressField(fields.TextField):
    """An address that a browser opens and does not run."""

    default_error_messages = {"not_a_web_address": gettext_lazy("Must begin with https:// or http:// and name a host.")}

    def to_internal_value(self, data: Any) -> str:
        text: str = super().to_internal_value(data)
        if text and not WEB_URL_PATTERN.fullmatch(text):
            self.fail("not_a_web_address")
        return text


class ExternalData(StrictSerializer):
    """What the payment provider says about the invoice."""

    invoice_number = fields.TextField(allow_null=True, default=None, max_length=200)
    invoice_url = WebAddressField(
        allow_null=True, default=None, max_length=2000, help_text="begins with https:// or http://"
    )
    collection_method = fields.TextField(allow_null=True, default=None, max_length=100)
    attempted = fields.BooleanField(allow_null=True, default=None)
    attempt_count = fields.IntegerField(allow_null=True, default=None, min_value=0, max_value=MAX_INT32)
    next_payment_attempt_date = fields.DateField(allow_null=True, default=None)
    due_date = fields.DateField(allow_null=True, default=None)


class PlannedTransactionSerializer(StrictModelSerializer):
    company_id = serializers.UUIDField(read_only=True)
    account_id = fields.IdField(allow_null=True, help_text="null: no account yet, or one that was deleted")
    name = fields.NameField(max_length=300)
    amount_value = AmountField(help_text=AMOUNT_HELP)
    amount_currency = CurrencyField(required=False, help_text="the account's currency where it is left out")
    pass_through_tax_amount = AmountField(
        allow_null=True, required=False, help_text="the tax in the amount: of its sign, and not above it"
    )
    category_id = fields.IdField(allow_null=True, required=False)
    counterparty = CounterpartyRef(allow_null=True, required=False)
    using_date_rule = DateRuleSerializer(required=False)
    recurrence = Recurrence(allow_null=True, required=False, help_text="null: it occurs once, on startDate")
    overrides = OverrideMap(required=False, help_text="from the original date, YYYY-MM-DD, to what differs on it")
    external_data = ExternalData(allow_null=True, required=False)
    auto_settle = fields.BooleanField(
        required=False, help_text="whether a new transaction of the same amount settles an occurrence; true by default"
    )
    settled_by = fields.ChoiceField(
        choices=SettledBy.choices,
        required=False,
        help_text="transaction (default): one transaction settles one occurrence. category: an occurrence is the total "
        "of its month in its category, and with its counterparty where it has one; what is booked there in that month "
        "settles it. Needs categoryId",
    )

    class Meta:
        model = PlannedTransaction
        read_only_fields = ("id", "company_id", "source", *AUDIT_FIELDS)
        fields = (
            "id",
            "company_id",
            "account_id",
            "name",
            "start_date",
            "amount_value",
            "amount_currency",
            "pass_through_tax_amount",
            "category_id",
            "counterparty",
            "using_date_rule",
            "recurrence",
            "overrides",
            "source",
            "external_id",
            "external_subscription_id",
            "external_invoice_id",
            "invoice_date",
            "service_start_date",
            "service_end_date",
            "external_data",
            "auto_settle",
            "settled_by",
            *AUDIT_FIELDS,
        )

    def to_representation(self, planned: PlannedTransaction) -> dict[str, Any]:
        """Amounts are printed with exactly their currency's decimals."""
        data = super().to_representation(planned)
        currency = planned.amount_currency
        data["amountValue"] = format_amount(planned.amount_value, currency)
        if planned.pass_through_tax_amount is not None:
            data["passThroughTaxAmount"] = format_amount(planned.pass_through_tax_amount, currency)
        for day, override in planned.overrides.items():
            if override.amount_value is not None:
                data["overrides"][day.isoformat()]["amountValue"] = format_amount(override.amount_value, currency)
        return data


class OccurrenceSerializer(StrictSerializer):
    """One dated occurrence, its override applied."""

    date = fields.DateField()
    original_date = fields.DateField()
    name = fields.TextField(max_length=300)
    account_id = fields.IdField(allow_null=True)
    category_id = fields.IdField(allow_null=True)
    amount_value = AmountField()
    amount_currency = CurrencyField()
    overridden = fields.BooleanField()
    transaction_id = fields.IdField(
        allow_null=True, help_text="the transaction that settled it; null where what is booked in its category did"
    )
    open_amount_value = AmountField(
        help_text="what is still to come: 0 of what is settled or skipped; with settledBy category what is planned "
        "less what is booked of it, never past zero"
    )


class DueSerializer(OccurrenceSerializer):
    """An occurrence of any rule, and what became of it."""

    planned_transaction_id = fields.IdField()
    state = fields.ChoiceField(
        choices=STATES,
        help_text="overdue: not settled, of the last 60 days before today, with settledBy category of this month",
    )

    def to_representation(self, due: DueOccurrence) -> dict[str, Any]:
        representation = OccurrenceSerializer(due.expected).data
        return {**representation, "plannedTransactionId": str(due.planned.id), "state": due.state}


class SettleRequest(StrictSerializer):
    """`date` is the original date of the occurrence: the day that the rule names."""

    date = fields.DateField()
    transaction_id = fields.IdField()


class UnsettleRequest(StrictSerializer):
    """`date` is the original date of the occurrence: the day that the rule names."""

    date = fields.DateField()


class MatchSerializer(StrictSerializer):
    """A transaction that could settle an occurrence."""

    planned_transaction_id = fields.IdField()
    date = fields.DateField(help_text="the occurrence's original date, as settle takes it")
    transaction_id = fields.IdField()
    difference = AmountField(
        help_text="what the transaction's amount is more than was planned, in the plan's currency: -5.00 where 105.00 "
        "went out for 100.00"
    )
    days = fields.CountField(help_text="between the two dates")

    def to_representation(self, match: SettlementMatch) -> dict[str, Any]:
        awaited = match.occurrence
        return {
            "plannedTransactionId": str(awaited.planned_id),
            "date": awaited.original_date.isoformat(),
            "transactionId": str(match.transaction.id),
            "difference": format_amount(match.difference, awaited.currency),
            "days": match.days,
        }


class PlanMoney(StrictSerializer):
    value = fields.NumberField(minimum=-MAX_AMOUNT, maximum=MAX_AMOUNT)
    currency = CurrencyField()


class PlanAmountSerializer(StrictSerializer):
    """fixed: `amount` each time. changeByAmount: `amount`, then twice, three times it. relative: `amount`, and each
    next one times (1 + `relativeChange`). No posting is larger than 999999999999999.9999."""

    type = fields.ChoiceField(choices=AMOUNT_TYPES)
    amount = PlanMoney()
    relative_change = fields.NumberField(
        minimum=Decimal(-1), maximum=Decimal(10), allow_null=True, default=None, help_text="0.1 is 10 % more each time"
    )


class PlanItemSerializer(StrictModelSerializer):
    company_id = serializers.UUIDField(read_only=True)
    month = fields.MonthField(help_text="first month it applies, YYYY-MM")
    category_id = fields.IdField()
    amount = PlanAmountSerializer()
    duration = fields.IntegerField(
        allow_null=True, required=False, min_value=1, max_value=MAX_INT32, help_text="months it lives; null: no end"
    )
    frequency = fields.IntegerField(
        required=False, min_value=0, max_value=MAX_INT32, help_text="months between postings; 0: once"
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
