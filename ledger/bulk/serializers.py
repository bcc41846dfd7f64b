"""Serializer fields that all bulk endpoints share."""

from typing import Any

from rest_framework import serializers

from companies.api import fields
from companies.api.errors import build_field_error
from companies.api.limits import MAX_CODE_LENGTH, MAX_DETAIL_LENGTH, MAX_ERRORS, MAX_POINTER_LENGTH
from companies.api.serializers import StrictSerializer
from ledger.bulk.request_bodies import Fault

ON_ERROR_MODES = ["abort", "skip"]


class RowError(StrictSerializer):
    pointer = fields.TextField(max_length=MAX_POINTER_LENGTH)
    code = fields.TextField(max_length=MAX_CODE_LENGTH)
    detail = fields.TextField(max_length=MAX_DETAIL_LENGTH)


def build_skipped_rows_field() -> serializers.ListField:
    """Return the response field that lists skipped rows with their errors."""
    return serializers.ListField(
        child=RowError(), max_length=MAX_ERRORS, help_text="Errors of skipped rows, at most 1,000."
    )


def build_row_errors(faults: list[Fault]) -> list[dict[str, Any]]:
    """Return the first errors of rows as response objects."""
    return [build_field_error(*each) for each in faults[:MAX_ERRORS]]
