"""Imports that were kept."""

from companies.api import fields
from companies.api.serializers import Shape
from companies.models import LONGEST_ACTOR
from ledger.models import Source


class ImportShape(Shape):
    """One import; `undoneTime` is null while its transactions are there."""

    id = fields.IdField()
    company_id = fields.IdField()
    source = fields.ChoiceField(choices=Source.choices)  # type: ignore[assignment]
    count = fields.CountField(help_text="stored transactions")
    skipped_before_data_start = fields.CountField()
    duplicates = fields.CountField()
    undone_time = fields.TimeField(allow_null=True)
    created_time = fields.TimeField()
    created_user_id = fields.TextField(allow_null=True, max_length=LONGEST_ACTOR)
    last_updated_time = fields.TimeField()
    last_updated_user_id = fields.TextField(allow_null=True, max_length=LONGEST_ACTOR)


class UndoResult(Shape):
    success = fields.FlagField()
    deleted_count = fields.CountField()
    changed_count = fields.CountField(help_text="how many of them had been changed since the import")
