"""Categories and counterparties."""

from typing import Any, ClassVar

from companies.api import fields
from companies.api.serializers import AUDIT, RowShape
from ledger.models import Category, Counterparty, PlType

MOST_NAMED = 100  # lines, repeated ones counted


class PlTypes(fields.ListField):
    """P&L lines, each once, in the order of the statement."""

    child = fields.ChoiceField(choices=PlType.choices)

    def __init__(self, **kwargs: Any):
        super().__init__(max_length=MOST_NAMED, **kwargs)

    def to_internal_value(self, data: Any) -> list[str]:
        given = set(super().to_internal_value(data))
        return [line for line in PlType.values if line in given]


class CategoryShape(RowShape):
    """Used counts are of transactions and planned transactions that name the category."""

    company_id = fields.IdField(read_only=True)
    name = fields.NameField(max_length=200)
    pl_types = PlTypes(allow_empty=False)
    order = fields.OrderField(required=False)
    financing = fields.FlagField(
        required=False,
        help_text="money from owners and lenders, such as equity and loans: financing in `cashBridge`, no income in "
        "`runway`",
    )
    used = fields.CountField(read_only=True)
    used_transactions = fields.CountField(read_only=True)
    used_planned_transactions = fields.CountField(read_only=True)

    class Meta:
        model = Category
        fields: ClassVar[tuple[str, ...]] = (
            "id",
            "company_id",
            "name",
            "emoji",
            "pl_types",
            "system",
            "system_key",
            "financing",
            "order",
            *AUDIT,
            "used",
            "used_transactions",
            "used_planned_transactions",
        )
        read_only_fields: ClassVar[tuple[str, ...]] = ("id", "system", "system_key", *AUDIT)


class CounterpartyShape(RowShape):
    company_id = fields.IdField(read_only=True)
    name = fields.NameField(max_length=300)

    class Meta:
        model = Counterparty
        fields: ClassVar[tuple[str, ...]] = ("id", "company_id", "type", "name", "external_id", *AUDIT)
        read_only_fields: ClassVar[tuple[str, ...]] = ("id", *AUDIT)
