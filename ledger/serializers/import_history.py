"""Imports that were kept."""

from companies.api import fields
from companies.api.serializers import Shape
from ledger.models import Source


class ImportShape(Shape):
    """One import; `undoneTime` is null while its transactions are there."""

    id = fields.IdField()
    company_id = fields.IdField()
    source = fields.ChoiceField(choices=Source.choices)  # type: ignore[assignment]
    count = fields.WholeField(help_text="stored transactions")
    skipped_before_data_start = fields.WholeField()
    duplicates = fields.WholeField()
    undone_time = fields.TimeField(allow_null=True)
    created_time = fields.TimeField()
    created_user_id = fields.TextField(allow_null=True)
    last_updated_time = fields.TimeField()
    last_updated_user_id = fields.TextField(allow_null=True)


class UndoResult(Shape):
    success = fields.FlagField()
    deleted_count = fields.WholeField()
    changed_count = fields.WholeField(help_text="how many of them had been changed since the import")
