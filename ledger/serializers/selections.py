"""Which transactions an act is about: named ones, those of a filter, or all."""

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from companies.api import fields
from companies.api.limits import LONGEST_BODY
from companies.api.serializers import Shape
from companies.errors import FieldErrors
from ledger.filters import from_object, narrowed
from ledger.models import Transaction

MOST_IDS = 10_000  # service.md, part 8
MOST_ERRORS = 1000
ANY_ID = {"type": "string", "maxLength": LONGEST_BODY}  # what is no id is an unknown one
MODES = ["ids", "filter", "all"]


@extend_schema_field({"type": "array", "items": ANY_ID, "maxItems": MOST_IDS})
class IdListField(serializers.Field):
    """Up to 10,000 ids as strings, in the order given; what is no UUID is kept as None, an unknown id like any other.

    One pass: a field for each would take longer than the query.
    """

    default_error_messages = {
        "not_a_list": "Must be a list of ids.",
        "invalid": "Must be strings.",
        "too_many_ids": f"Must be at most {MOST_IDS:,} ids.",
    }

    def to_internal_value(self, data: Any) -> dict[str, uuid.UUID | None]:
        if not isinstance(data, list):
            self.fail("not_a_list")
        if len(data) > MOST_IDS:
            self.fail("too_many_ids")
        if not all(isinstance(each, str) for each in data):
            self.fail("invalid")
        return {each: as_id(each) for each in data}

    def to_representation(self, value: Any) -> list[str]:
        return [str(each) for each in value]


def as_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


class SelectionShape(Shape):
    """`ids` (with ids), `filter` (with filter, and excludedIds where some are not meant) or `all` (with confirm)."""

    mode = fields.ChoiceField(choices=MODES)
    ids = IdListField(required=False)
    filter = fields.JsonField(required=False, help_text="the filters of the list, by name")
    excluded_ids = IdListField(required=False)
    confirm = fields.FlagField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        mode = attrs["mode"]
        if mode in {"ids", "filter"} and mode not in attrs:
            raise ValidationError({mode: [ErrorDetail(f"The mode {mode} needs it.", code="required")]})
        if mode == "all" and attrs.get("confirm") is not True:
            raise ValidationError({"confirm": [ErrorDetail("Must be true: this is about all.", code="required")]})
        return attrs


def selected(view: Any, selection: dict[str, Any]) -> Any:
    """The transactions of a selection, as a query set. Raises FieldErrors (unknown_id) and ValidationError."""
    rows = Transaction.objects.of(view.company.id)
    match selection["mode"]:
        case "ids":
            return rows.filter(id__in=known_ids(view, selection["ids"], pointer="#/selection/ids"))
        case "filter":
            try:
                found = narrowed(rows, from_object(selection["filter"]))
            except ValidationError as error:
                raise ValidationError({"selection": {"filter": error.detail}}) from None
            excluded = known_ids(view, selection.get("excluded_ids", {}), pointer="#/selection/excludedIds")
            return found.exclude(id__in=excluded) if excluded else found
    return rows


def known_ids(view: Any, asked: dict[str, uuid.UUID | None], *, pointer: str) -> list[uuid.UUID]:
    """The ids, each once. Raises FieldErrors with unknown_id for those that the company does not have."""
    wanted = {each for each in asked.values() if each}
    known = set(Transaction.objects.of(view.company.id).filter(id__in=wanted).values_list("id", flat=True))
    unknown = [position for position, each in enumerate(asked.values()) if each not in known]
    if unknown:
        detail = "There is no such record in this company."
        raise FieldErrors([(f"{pointer}/{position}", "unknown_id", detail) for position in unknown[:MOST_ERRORS]])
    return sorted(known)
