"""What requests and answers of all bulk acts have in common."""

from typing import Any

from rest_framework import serializers

from companies.api import fields
from companies.api.errors import entry
from companies.api.limits import LONGEST_CODE, LONGEST_DETAIL, LONGEST_POINTER, MOST_ERRORS
from companies.api.serializers import Shape
from ledger.bulk.bodies import Fault

ON_ERROR = ["abort", "skip"]


class RowError(Shape):
    pointer = fields.TextField(max_length=LONGEST_POINTER)
    code = fields.TextField(max_length=LONGEST_CODE)
    detail = fields.TextField(max_length=LONGEST_DETAIL)


def skipped_rows() -> serializers.ListField:
    return serializers.ListField(
        child=RowError(), max_length=MOST_ERRORS, help_text="rows that were skipped, 1,000 at most"
    )


def row_errors(faults: list[Fault]) -> list[dict[str, Any]]:
    """The first errors of rows, as answers have them."""
    return [entry(*each) for each in faults[:MOST_ERRORS]]
