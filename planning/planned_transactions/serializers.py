"""Serializers of planned transactions, their occurrences and overrides."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, get_args

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StrictModelSerializer, StrictSerializer
from ledger.models import MAX_PAYMENT_TERMS
from ledger.money.calc.money import format_amount
from ledger.money.fields import AmountField, CurrencyField
from ledger.transactions.serializers import CounterpartyRef, DateRuleSerializer, ServiceDateField
from planning.calc.expected_dates import ExpectationBasis
from planning.calc.invoice_matching import MAX_SUMMED_INVOICES
from planning.calc.settlement_matching import OpenOccurrence, SettlementMatch
from planning.calc.settlements import SettlementState
from planning.models import (
    MAX_INTERVAL,
    MAX_REASON_LENGTH,
    Frequency,
    PlannedOverride,
    PlannedTransaction,
    SettledBy,
    WeekendShift,
)
from planning.planned_transactions.fields import PLANNED_TEXTS
from planning.planned_transactions.queries.occurrences import DueOccurrence, PlannedOccurrence
from planning.planned_transactions.queries.recurring_payments import MAX_HISTORY

MAX_INT32 = 2_147_483_647  # service.md, part 8
AMOUNT_HELP = "Amount with at most the currency's decimals; negative is money out."
RECURRENCE_END_TYPES = ["never", "date", "count"]
STATES = get_args(SettlementState)
BASES = get_args(ExpectationBasis)


class RecurrenceEnd(StrictSerializer):
    type = fields.ChoiceField(choices=RECURRENCE_END_TYPES)
    date = fields.DateField(allow_null=True, default=None, help_text="Last possible date, for type `date`.")
    count = fields.IntegerField(
        allow_null=True,
        default=None,
        min_value=1,
        max_value=MAX_INT32,
        help_text="Number of occurrences including skipped ones, for type `count`.",
    )


class Recurrence(StrictSerializer):
    frequency = fields.ChoiceField(choices=Frequency.choices)
    interval = fields.IntegerField(default=1, min_value=1, max_value=MAX_INTERVAL)
    last_day_of_month = fields.BooleanField(default=False, help_text="Only for frequency month or year.")
    end = RecurrenceEnd(required=False)


class OccurrenceOverride(StrictSerializer):
    """Changes to one occurrence. Omitted fields stay unchanged; null removes a change."""

    sparse = True
    skipped = fields.BooleanField(allow_null=True, required=False)
    date = fields.DateField(allow_null=True, required=False, help_text="New date of the occurrence.")
    amount_value = AmountField(allow_null=True, required=False, help_text=AMOUNT_HELP)
    account_id = fields.IdField(allow_null=True, required=False)
    category_id = fields.IdField(allow_null=True, required=False)
    name = fields.NameField(allow_null=True, required=False, max_length=300)

    def to_representation(self, override: PlannedOverride) -> dict[str, Any]:
        return remove_nulls(super().to_representation(override))


def remove_nulls(patch: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in patch.items() if value is not None}


class OverrideMap(serializers.DictField):
    """Changes by original date. A null value means no changes."""

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


class ExternalData(StrictSerializer):
    """Invoice data from the payment provider."""

    invoice_number = fields.TextField(allow_null=True, default=None, max_length=200)
    invoice_url = fields.WebAddressField(
        allow_null=True, default=None, max_length=2000, help_text="URL that starts with https:// or http://."
    )
    collection_method = fields.TextField(allow_null=True, default=None, max_length=100)
    attempted = fields.BooleanField(allow_null=True, default=None)
    attempt_count = fields.IntegerField(allow_null=True, default=None, min_value=0, max_value=MAX_INT32)
    next_payment_attempt_date = fields.DateField(allow_null=True, default=None)
    due_date = fields.DateField(allow_null=True, default=None)


class PlannedTransactionSerializer(StrictModelSerializer):
    """An expected payment, once or recurring.

    With settledBy `category`, which requires categoryId, an occurrence is a monthly total: the transactions booked in
    that month with its category, and counterparty if set, settle it. Its open amount is planned less booked, but not
    past zero. `weekendShift` keeps the original date; it has no effect on invoices and with settledBy `category`.
    With transferAccountId it is a transfer between own accounts, without category and invoice date. It counts in both
    balances, across currencies at the rate of the day, but not as money in or out.
    """

    company_id = serializers.UUIDField(read_only=True)
    account_id = fields.IdField(allow_null=True, help_text="Account; null if none is set or it was deleted.")
    transfer_account_id = fields.IdField(
        allow_null=True,
        required=False,
        help_text="Other own account of a transfer, which receives a negative amount and pays a positive one; null for "
        "other payments.",
    )
    name = fields.NameField(max_length=300)
    amount_value = AmountField(help_text=AMOUNT_HELP)
    amount_currency = CurrencyField(required=False, help_text="Defaults to the account's currency.")
    pass_through_tax_amount = AmountField(
        allow_null=True, required=False, help_text="Tax included in the amount, with the same sign."
    )
    category_id = fields.IdField(allow_null=True, required=False)
    counterparty = CounterpartyRef(allow_null=True, required=False)
    using_date_rule = DateRuleSerializer(required=False)
    recurrence = Recurrence(allow_null=True, required=False, help_text="Null for a single occurrence on startDate.")
    weekend_shift = fields.ChoiceField(
        choices=WeekendShift.choices,
        required=False,
        help_text="Day on which a weekend occurrence is expected: that day (`none`, default), the Friday `before` or "
        "the Monday `after`.",
    )
    overrides = OverrideMap(required=False, help_text="Changes to single occurrences by original date, YYYY-MM-DD.")
    service_start_date = ServiceDateField(required=False, allow_null=True)
    service_end_date = ServiceDateField(required=False, allow_null=True)
    payment_terms = fields.IntegerField(
        allow_null=True,
        required=False,
        min_value=0,
        max_value=MAX_PAYMENT_TERMS,
        help_text="Days from invoice date to due date; null: the counterparty's.",
    )
    external_data = ExternalData(allow_null=True, required=False)
    auto_settle = fields.BooleanField(
        required=False, help_text="Whether a new transaction of the same amount settles it; default true."
    )
    settled_by = fields.ChoiceField(
        choices=SettledBy.choices,
        required=False,
        help_text="What settles an occurrence: one `transaction` (default), or all transactions of its month, "
        "`category` and, if set, counterparty.",
    )

    class Meta:
        model = PlannedTransaction
        read_only_fields = ("id", "company_id", "source", *AUDIT_FIELDS)
        extra_kwargs = {text.column: text.serializer_options for text in PLANNED_TEXTS}
        fields = (
            "id",
            "company_id",
            "account_id",
            "transfer_account_id",
            "name",
            "start_date",
            "amount_value",
            "amount_currency",
            "pass_through_tax_amount",
            "category_id",
            "counterparty",
            "using_date_rule",
            "recurrence",
            "weekend_shift",
            "overrides",
            "source",
            *(text.column for text in PLANNED_TEXTS),
            "invoice_date",
            "payment_terms",
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


class OccurrenceSettlement(StrictSerializer):
    """A payment of an occurrence by a transaction, or a write-off."""

    transaction_id = fields.IdField(allow_null=True, help_text="Transaction that paid; null if it was written off.")
    date = fields.DateField(help_text="Date of the transaction, or from which the write-off counts.")
    amount_value = AmountField(source="amount", help_text="Amount in the planned currency, with the planned sign.")
    reason = fields.TextField(allow_null=True, max_length=MAX_REASON_LENGTH, help_text="Why it was written off.")


class OccurrenceSerializer(StrictSerializer):
    """An occurrence with its changes applied."""

    date = fields.DateField()
    original_date = fields.DateField()
    name = fields.TextField(max_length=300)
    account_id = fields.IdField(allow_null=True)
    category_id = fields.IdField(allow_null=True)
    amount_value = AmountField()
    amount_currency = CurrencyField()
    overridden = fields.BooleanField()
    expected_date = fields.DateField(help_text="Day on which the forecast expects it; `basis` says how it is derived.")
    basis = fields.ChoiceField(
        choices=BASES,
        help_text="What expectedDate follows from: `person` (date of the override), `paymentAttempt` (next attempt of "
        "the payment provider), `history` (due date and the counterparty's median delay, from 5 paid invoices on), "
        "`dueDate` or `startDate`.",
    )
    settled_amount_value = AmountField(
        help_text="Amount paid by transactions, or booked with settledBy `category`, with the planned sign."
    )
    written_off_amount_value = AmountField(help_text="Amount written off, with the planned sign.")
    open_amount_value = AmountField(
        help_text="Amount still expected, with the planned sign; 0 if paid, written off or skipped."
    )
    state = fields.ChoiceField(
        choices=STATES,
        help_text="State of the payment; `overdue` is open or partly paid, and due before today.",
    )
    settlements = OccurrenceSettlement(many=True, help_text="What paid it and what was written off, oldest first.")
    transaction_id = fields.IdField(allow_null=True, help_text="Transaction that paid; null if none or several did.")

    def to_representation(self, occurrence: PlannedOccurrence) -> dict[str, Any]:
        representation = super().to_representation(occurrence)
        for settlement in representation["settlements"]:
            settlement["amountValue"] = format_amount(Decimal(settlement["amountValue"]), occurrence.amount_currency)
        return representation


class DueSerializer(OccurrenceSerializer):
    """An occurrence of a planned transaction, with its state."""

    planned_transaction_id = fields.IdField()

    def to_representation(self, due: DueOccurrence) -> dict[str, Any]:  # type: ignore[override]
        representation = OccurrenceSerializer(due.expected).data
        return {**representation, "plannedTransactionId": str(due.planned.id)}


class PaymentProposalSerializer(StrictSerializer):
    """Payments in the history that recur and are not planned, as a planned transaction could be."""

    counterparty = CounterpartyRef(allow_null=True, help_text="Counterparty of the payments; null if they have none.")
    from_to = fields.TextField(
        allow_null=True, max_length=10_000, help_text="Other party of the latest payment; null if it names none."
    )
    account_id = fields.IdField(help_text="Account of the payments.")
    category_id = fields.IdField(allow_null=True, help_text="Category of the latest categorized payment; null if none.")
    amount_value = AmountField(help_text="Amount of the latest payment; negative is money out.")
    amount_currency = CurrencyField(help_text="Currency of the payments.")
    interval = fields.ChoiceField(choices=Frequency.choices, help_text="`frequency` of the recurrence.")
    interval_count = fields.IntegerField(
        min_value=1, max_value=MAX_INTERVAL, help_text="Number of intervals between payments: 3 months are a quarter."
    )
    next_date = fields.DateField(help_text="Day of the next payment, today or later.")
    seen = fields.CountField(help_text="Number of payments.")
    last_date = fields.DateField(help_text="Day of the latest payment.")
    transaction_ids = fields.ListField(
        child=fields.IdField(), max_length=MAX_HISTORY, help_text="Transactions of the payments, oldest first."
    )


class SettleRequest(StrictSerializer):
    """An occurrence to settle. `date` is its original date, before any move."""

    date = fields.DateField()
    transaction_id = fields.IdField()
    amount_value = AmountField(
        required=False,
        allow_null=True,
        help_text="Amount to settle, in the planned currency and sign; default is as much as possible.",
    )


class UnsettleRequest(StrictSerializer):
    """An occurrence whose settlements are undone. `date` is its original date, before any move."""

    date = fields.DateField()
    transaction_id = fields.IdField(
        required=False,
        allow_null=True,
        help_text="Transaction whose settlement is undone; default is all settlements and write-offs.",
    )


class WriteOffRequest(StrictSerializer):
    """A write-off of what is open."""

    date = fields.DateField(
        help_text="Day from which it counts, from the invoice date to a year ahead; for a recurring planned "
        "transaction, the original date of the occurrence."
    )
    reason = fields.TextField(max_length=MAX_REASON_LENGTH, help_text="Why it is written off.")


MATCH_EVIDENCE = ["number", "reference", "amount", "similarAmount", "sum", "counterparty", "date"]


class MatchedInvoiceSerializer(StrictSerializer):
    """An invoice that a transaction pays together with others."""

    planned_transaction_id = fields.IdField()
    date = fields.DateField(help_text="Original date of the occurrence, as `settle` expects it.")
    amount_value = AmountField(help_text="Amount of the transaction for this invoice, in its currency.")


def build_matched_invoice(occurrence: OpenOccurrence, amount: Decimal) -> dict[str, Any]:
    """Return an invoice of a match as an API object."""
    return {
        "plannedTransactionId": str(occurrence.planned_id),
        "date": occurrence.original_date.isoformat(),
        "amountValue": format_amount(amount, occurrence.currency),
    }


class OccurrenceWindow(StrictSerializer):
    start_date = fields.DateField()
    end_date = fields.DateField()


class MatchSerializer(StrictSerializer):
    """A transaction that could settle an occurrence."""

    planned_transaction_id = fields.IdField()
    date = fields.DateField(help_text="Original date of the occurrence, as `settle` expects it.")
    transaction_id = fields.IdField()
    difference = AmountField(
        help_text="Transaction amount less planned amount, in the planned currency, such as -5.00 for a payment of "
        "-105.00 planned as -100.00."
    )
    days = fields.CountField(help_text="Days between the two dates.")
    evidence = fields.ListField(
        child=fields.ChoiceField(choices=MATCH_EVIDENCE),
        max_length=len(MATCH_EVIDENCE),
        help_text="Why it matches: `number` or `reference` of the invoice in the text, exact `amount`, `similarAmount` "
        "(within 10%), `sum` of several invoices, `counterparty`, `date` (within 10 days).",
    )
    settlements = fields.ListField(
        child=MatchedInvoiceSerializer(),
        max_length=MAX_SUMMED_INVOICES,
        allow_null=True,
        help_text="Invoices that the transaction pays together; null if it pays one.",
    )

    def to_representation(self, match: SettlementMatch) -> dict[str, Any]:
        awaited = match.occurrence
        return {
            "plannedTransactionId": str(awaited.planned_id),
            "date": awaited.original_date.isoformat(),
            "transactionId": str(match.transaction.id),
            "difference": format_amount(match.difference, awaited.currency),
            "days": match.days,
            "settlements": [build_matched_invoice(*part) for part in match.settlements] or None,
            "evidence": list(match.evidence),
        }
