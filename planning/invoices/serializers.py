"""Serializers of receivables, payables and aging."""

from typing import Any

from rest_framework import serializers

from companies.api import fields
from companies.api.fields import to_json_number
from companies.api.serializers import StrictSerializer
from companies.errors import build_unknown_id_error
from companies.models import MAX_ACTOR_LENGTH, parse_id
from ledger.imports.serializers import (
    DRY_RUN_CHOICES,
    TABLE_CHOICES,
    TableUpload,
    build_table_options,
    parse_upload_options,
)
from ledger.money.fields import AmountField, CurrencyField
from ledger.transactions.serializers import CounterpartyRef
from planning.calc.aging import AgedAmounts
from planning.invoices.actions.import_undo import InvoiceImportUndoOutcome
from planning.invoices.actions.invoice_imports import InvoiceImportOptions, InvoiceImportOutcome
from planning.invoices.queries import Aging, InvoiceStanding
from planning.models import INVOICE_KINDS
from planning.planned_transactions.serializers import BASES

KINDS = list(INVOICE_KINDS)
INVOICE_STATES = ["open", "partlyPaid", "paid", "overdue", "writtenOff"]
MAX_BUCKETS, MAX_BUCKET_DAYS = 12, 3650


class InvoiceQuery(StrictSerializer):
    """Filters of receivables and payables."""

    counterparty_id = fields.IdField(required=False)
    state = fields.ChoiceField(choices=INVOICE_STATES, required=False)
    as_of = fields.DateField(required=False)


class InvoiceSerializer(StrictSerializer):
    """An open or paid invoice: a planned transaction without recurrence and with an invoice date."""

    id = fields.IdField(help_text="ID of the planned transaction.")
    planned_transaction_id = fields.IdField(help_text="ID of the planned transaction, as in other lists.")
    date = fields.DateField(help_text="Date of its occurrence, as `settle` expects it.")
    name = fields.TextField(max_length=300)
    counterparty = CounterpartyRef(allow_null=True)
    counterparty_name = fields.TextField(allow_null=True, max_length=300, help_text="Name of the counterparty.")
    account_id = fields.IdField(allow_null=True)
    category_id = fields.IdField(allow_null=True)
    invoice_number = fields.TextField(allow_null=True, max_length=200)
    external_invoice_id = fields.TextField(allow_null=True, max_length=200)
    invoice_url = fields.TextField(allow_null=True, max_length=2000, help_text="URL of the invoice.")
    invoice_date = fields.DateField()
    due_date = fields.DateField(
        help_text="Due date: stated, else invoice date plus payment terms, else the start date."
    )
    expected_date = fields.DateField(help_text="Day on which the forecast expects it.")
    basis = fields.ChoiceField(choices=BASES, help_text="What expectedDate follows from.")
    amount_value = AmountField(help_text="Amount of the invoice; negative is money out.")
    amount_currency = CurrencyField(help_text="ISO 4217 currency of the invoice.")
    settled_amount_value = AmountField(help_text="Amount paid by transactions up to asOf.")
    written_off_amount_value = AmountField(help_text="Amount written off up to asOf.")
    open_amount_value = AmountField(help_text="Amount still owed at asOf.")
    state = fields.ChoiceField(choices=INVOICE_STATES, help_text="State at asOf.")
    days_overdue = fields.CountField(help_text="Days from due date to asOf; 0 if it is not overdue.")

    def to_representation(self, standing: InvoiceStanding) -> dict[str, Any]:
        planned, external_data = standing.planned, standing.planned.external_data or {}
        counterparty = planned.counterparty
        return {
            "id": str(planned.id),
            "plannedTransactionId": str(planned.id),
            "date": planned.start_date.isoformat(),
            "name": planned.name,
            "counterparty": {"type": counterparty.type, "id": str(counterparty.id)} if counterparty else None,
            "counterpartyName": counterparty.name if counterparty else None,
            "accountId": planned.account_id and str(planned.account_id),
            "categoryId": planned.category_id and str(planned.category_id),
            "invoiceNumber": external_data.get("invoice_number"),
            "externalInvoiceId": planned.external_invoice_id,
            "invoiceUrl": external_data.get("invoice_url"),
            "invoiceDate": planned.invoice_date and planned.invoice_date.isoformat(),
            "dueDate": standing.due_date.isoformat(),
            "expectedDate": standing.expected.date.isoformat(),
            "basis": standing.expected.basis,
            "amountValue": standing.amount_value,
            "amountCurrency": planned.amount_currency,
            "settledAmountValue": standing.settled_amount_value,
            "writtenOffAmountValue": standing.written_off_amount_value,
            "openAmountValue": standing.open_amount_value,
            "state": standing.state,
            "daysOverdue": standing.days_overdue,
        }


class AgingQuery(StrictSerializer):
    """What to age."""

    kind = fields.ChoiceField(choices=KINDS, help_text="What to age.")
    as_of = fields.DateField(required=False, help_text="Day; today if left out.")
    interval = serializers.ListField(
        child=fields.IntegerField(min_value=1, max_value=MAX_BUCKET_DAYS),
        required=False,
        min_length=1,
        max_length=MAX_BUCKETS,
        help_text="Last day of each bucket, increasing; [30, 60, 90] if left out.",
    )
    counterparty_id = fields.IdField(required=False, help_text="Only invoices of this counterparty.")


class AgedAmountsSerializer(StrictSerializer):
    """Open amounts by age, in the base currency; negative is money out."""

    current = fields.NumberField(help_text="Not overdue yet.")
    buckets = serializers.ListField(
        child=fields.NumberField(),
        max_length=MAX_BUCKETS + 1,
        help_text="Overdue amounts by age: one for each day of the interval, and older ones last.",
    )
    total = fields.NumberField(help_text="Sum of current and buckets.")


class CounterpartyAgingSerializer(AgedAmountsSerializer):
    counterparty_id = fields.IdField(allow_null=True, help_text="Counterparty; null for invoices without one.")
    name = fields.TextField(allow_null=True, max_length=300, help_text="Name of the counterparty.")


class AgingSerializer(AgedAmountsSerializer):
    """Open amounts by age, by counterparty and in total."""

    counterparties = CounterpartyAgingSerializer(many=True, help_text="Counterparties with open amounts, by name.")


def aged_amounts_to_dict(amounts: AgedAmounts) -> dict[str, Any]:
    return {
        "current": to_json_number(amounts.current),
        "buckets": [to_json_number(amount) for amount in amounts.buckets],
        "total": to_json_number(amounts.total),
    }


def aging_to_dict(aging: Aging) -> dict[str, Any]:
    """Return an aging as an API object."""
    return {
        "counterparties": [
            {"counterpartyId": party.id and str(party.id), "name": party.name, **aged_amounts_to_dict(party.amounts)}
            for party in aging.counterparties
        ],
        **aged_amounts_to_dict(aging.total),
    }


NEGATIVE_AMOUNTS = ["invoices", "creditNotes"]
DUPLICATE_MODES = ["refuse", "skip"]
OPTION_CHOICES = {
    **TABLE_CHOICES,
    "negativeAmounts": NEGATIVE_AMOUNTS,
    "duplicates": DUPLICATE_MODES,
    "dryRun": DRY_RUN_CHOICES,
}
FORM_FIELDS = {"file", "accountId", *OPTION_CHOICES}


class InvoiceUpload(TableUpload):
    """A table of open invoices, and how to read ambiguous dates and amounts."""

    account_id = fields.IdField(required=False, help_text="Account that is paid to or from.")
    negative_amounts = fields.ChoiceField(
        choices=NEGATIVE_AMOUNTS, required=False, help_text="What negative amounts of payables are."
    )
    duplicates = fields.ChoiceField(
        choices=DUPLICATE_MODES,
        required=False,
        help_text="`skip` leaves out invoices that are already planned; `refuse` (default) stores nothing if there "
        "are any.",
    )


class InvoiceImportResult(StrictSerializer):
    """What an import of invoices stored."""

    count = fields.CountField(help_text="Number of invoices stored, or with `dryRun` that would be.")
    duplicates = fields.CountField(help_text="Number of invoices left out because they are already planned.")
    left_out = fields.CountField(help_text="Number of rows left out because nothing is open.")
    created_counterparties = fields.CountField(help_text="Number of customers or vendors created.")
    dry_run = fields.BooleanField()
    import_id = fields.IdField(allow_null=True, help_text="ID of the import, to undo it; null if nothing was stored.")


class InvoiceImportSerializer(StrictSerializer):
    """An import of open invoices. `undoneTime` is null unless it was undone."""

    id = fields.IdField()
    company_id = fields.IdField()
    kind = fields.ChoiceField(choices=KINDS, help_text="What was imported.")
    filename = fields.TextField(max_length=255, help_text="Name of the file.")
    count = fields.CountField(help_text="Number of invoices stored.")
    duplicates = fields.CountField(help_text="Number of invoices left out because they were planned already.")
    left_out = fields.CountField(help_text="Number of rows left out because nothing was open.")
    created_counterparties = fields.CountField(
        source="counterparty_count", help_text="Number of customers or vendors created."
    )
    undone_time = fields.TimeField(allow_null=True)
    created_time = fields.TimeField()
    created_user_id = fields.TextField(allow_null=True, max_length=MAX_ACTOR_LENGTH)
    last_updated_time = fields.TimeField()
    last_updated_user_id = fields.TextField(allow_null=True, max_length=MAX_ACTOR_LENGTH)


class InvoiceImportUndoResult(StrictSerializer):
    """What undoing an import of invoices deleted."""

    success = fields.BooleanField()
    deleted_count = fields.CountField(help_text="Number of invoices deleted.")
    changed_count = fields.CountField(help_text="Number of deleted invoices that were edited after the import.")
    deleted_counterparties = fields.CountField(
        help_text="Number of customers or vendors deleted: created by the import, and neither edited nor used since."
    )


def parse_import_options(form: Any) -> InvoiceImportOptions:
    """Return the options of an upload. Raises ValidationFailed."""
    values = parse_upload_options(form, names=FORM_FIELDS - {"file"}, choices=OPTION_CHOICES)
    account_id = parse_id(values["accountId"]) if "accountId" in values else None
    if "accountId" in values and account_id is None:
        raise build_unknown_id_error("#/accountId")
    return InvoiceImportOptions(
        **build_table_options(values),
        account_id=account_id,
        negative_amounts=values.get("negativeAmounts"),
        skip_duplicates=values.get("duplicates") == "skip",
    )


def invoice_import_outcome_to_dict(outcome: InvoiceImportOutcome) -> dict[str, Any]:
    """Return the result of an import as an API object."""
    return {
        "count": outcome.count,
        "duplicates": outcome.duplicates,
        "leftOut": outcome.settled_count,
        "createdCounterparties": outcome.counterparties,
        "dryRun": outcome.dry_run,
        "importId": outcome.invoice_import and str(outcome.invoice_import.id),
    }


def invoice_undo_outcome_to_dict(outcome: InvoiceImportUndoOutcome) -> dict[str, Any]:
    """Return the result of undoing an import as an API object."""
    return {
        "success": True,
        "deletedCount": outcome.deleted,
        "changedCount": outcome.changed,
        "deletedCounterparties": outcome.counterparties,
    }
