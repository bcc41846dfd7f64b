"""Serializers of export parameters."""

from companies.api import fields
from companies.api.serializers import StrictSerializer


class ExportWindow(StrictSerializer):
    start_date = fields.DateField(required=False)
    end_date = fields.DateField(required=False)
