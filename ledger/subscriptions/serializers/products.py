"""Serializers of products."""

from typing import ClassVar

from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StrictModelSerializer
from ledger.models import Product

MAX_EXTERNAL_IDS = 100


class ProductSerializer(StrictModelSerializer):
    company_id = fields.IdField(read_only=True)
    name = fields.NameField(max_length=200)
    product_group_id = fields.IdField(allow_null=True, required=False)
    order = fields.OrderField(required=False)
    external_ids = serializers.ListField(
        child=fields.TextField(max_length=200),
        max_length=MAX_EXTERNAL_IDS,
        required=False,
        help_text="IDs in other systems, by which imported subscription events find the product.",
    )

    class Meta:
        model = Product
        fields: ClassVar[tuple[str, ...]] = (
            "id",
            "company_id",
            "name",
            "name_manually_edited",
            "product_group_id",
            "order",
            "external_ids",
            *AUDIT_FIELDS,
        )
        read_only_fields: ClassVar[tuple[str, ...]] = ("id", "name_manually_edited", *AUDIT_FIELDS)


class ProductListItem(ProductSerializer):
    cMRR = fields.NumberField(  # noqa: N815 - the contract's spelling
        read_only=True,
        allow_null=True,
        help_text="Committed MRR at the end of the current month, in the base currency; null without "
        "`subscriptions:read`.",
    )
    event_count = fields.CountField(read_only=True, help_text="Number of subscription events, without retracted ones.")

    class Meta(ProductSerializer.Meta):
        fields = (*ProductSerializer.Meta.fields, "cMRR", "event_count")
