"""One transaction as the API shows it."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.response import Response

from companies.api import fields
from companies.api.serializers import AUDIT, RowShape, Shape
from companies.api.viewsets import etag_of
from ledger.models import PlType, Transaction
from ledger.serializers.money import AmountField, CurrencyField, amount_out

PROVIDER_FIELDS = (  # written by integrations; kept under these names
    "bankProviderATransactionId",
    "bankProviderBTransactionId",
    "paymentProviderBalanceTransactionId",
    "paymentProviderInvoiceId",
    "paymentProviderCreditNoteId",
    "paymentProviderPaymentIntentId",
    "paymentProviderBillingEmail",
    "crmProviderPortalId",
    "crmProviderInvoiceId",
    "crmProviderCategorizationResolved",
    "accountingProviderAExpenseNumber",
    "accountingProviderAInvoiceNumber",
    "expenseProviderAExpenseId",
    "createdVendorId",
    "integrationId",
)


class CounterpartyRef(Shape):
    type = fields.TextField()
    id = fields.IdField()


class DateRuleShape(Shape):
    type = fields.TextField()
    start_date = fields.DayField(required=False, allow_null=True)
    end_date = fields.DayField(required=False, allow_null=True)
    invoice_date = fields.DayField(required=False, allow_null=True)


class LegRef(Shape):
    transaction_id = fields.IdField()
    categorization_id = fields.IdField()


PlSplit = type("PlSplit", (Shape,), {line: fields.NumberField(required=False) for line in PlType.values})


class CategorizationShape(Shape):
    counterparty = CounterpartyRef(allow_null=True)
    category_id = fields.IdField()
    using_date_rule = DateRuleShape()
    computed_start_date = fields.DayField()
    computed_end_date = fields.DayField()
    pl_split = PlSplit()
    pass_through_tax = fields.NumberField(allow_null=True)
    transfer_counter_position = LegRef(allow_null=True)
    internal_transit_link = LegRef(allow_null=True)
    source_note = fields.TextField(allow_null=True)


class TransactionShape(RowShape):
    company_id = fields.IdField(read_only=True)
    account_id = fields.IdField()
    amount_value = AmountField(help_text="negative is money out; the currency's own decimals")
    amount_currency = CurrencyField()
    import_id = fields.IdField(source="import_batch_id", allow_null=True, read_only=True)
    categorizations = serializers.SerializerMethodField(method_name="by_id", help_text="by categorization id")

    class Meta:
        model = Transaction
        fields: ClassVar[tuple[str, ...]] = (
            "id",
            "company_id",
            "account_id",
            "date",
            "from_to",
            "description",
            "amount_value",
            "amount_currency",
            "categorizations_auto_assigned",
            "exclude_from_auto_categorization",
            "notes",
            "source",
            "assigned_user_id",
            "pending",
            "external_id",
            "import_id",
            "categorizations",
            *AUDIT,
        )

    @extend_schema_field(serializers.DictField(child=CategorizationShape()))
    def by_id(self, row: Transaction) -> dict[str, Any]:
        return {}

    def get_fields(self) -> dict[str, serializers.Field]:
        provider = {
            name: serializers.CharField(read_only=True, allow_null=True, source="provider_data")
            for name in PROVIDER_FIELDS
        }
        return super().get_fields() | provider

    def to_representation(self, row: Transaction) -> dict[str, Any]:
        provided = row.provider_data or {}
        data = {name: field for name, field in super().to_representation(row).items() if name not in PROVIDER_FIELDS}
        amount = amount_out(row.amount_value, row.amount_currency)
        return data | {name: provided.get(name) for name in PROVIDER_FIELDS} | {"amountValue": amount}


class TransactionBox(Shape):
    transaction = TransactionShape(allow_null=True)


def boxed(view: Any, row: Transaction | None) -> Response:
    """``{transaction}`` with its ETag; null where there is none."""
    if row is None:
        return Response({"transaction": None})
    return Response({"transaction": TransactionShape(row).data}, headers={"ETag": etag_of(row)})
