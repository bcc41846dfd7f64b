"""The serializer of product groups."""

from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StrictModelSerializer
from ledger.models import ProductGroup


class ProductGroupSerializer(StrictModelSerializer):
    company_id = fields.IdField(read_only=True)
    name = fields.NameField(max_length=200)
    order = fields.OrderField(required=False)

    class Meta:
        model = ProductGroup
        fields = ("id", "company_id", "name", "order", *AUDIT_FIELDS)
        read_only_fields = ("id", *AUDIT_FIELDS)
