"""What an export is asked for."""

from companies.api import fields
from companies.api.serializers import Shape


class ExportWindow(Shape):
    start_date = fields.DayField(required=False)
    end_date = fields.DayField(required=False)
