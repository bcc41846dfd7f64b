"""The body of an import of subscription events; the serializer of single events describes what is wrong with
one.
"""

from datetime import date
from typing import Annotated, Any, Literal

import msgspec
from rest_framework.exceptions import ValidationError

from companies.api.errors import list_field_errors
from companies.api.limits import MAX_ERRORS
from companies.names import TRIMMED_NAME_PATTERN
from ledger.bulk.request_bodies import BulkBody, BulkRequest
from ledger.subscriptions.actions.subscription_event_import import (
    MAX_EVENTS,
    MAX_ID_LENGTH,
    MAX_INTERVAL_COUNT,
    MAX_NAME_LENGTH,
    EventImportItem,
)
from ledger.subscriptions.serializers.subscription_events import ImportedEvent

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID_LENGTH)]
Name = Annotated[str, msgspec.Meta(max_length=MAX_NAME_LENGTH, pattern=TRIMMED_NAME_PATTERN)]
NAME_FIELDS = ("customerName", "productName")


class LimitedEventItem(EventImportItem, gc=False, rename="camel", kw_only=True):
    """An item with the limits that need no database."""

    effective_date: date
    committed_date: date | None = None
    interval: Literal["day", "week", "month", "year"] | None = None
    interval_count: Annotated[int, msgspec.Meta(ge=1, le=MAX_INTERVAL_COUNT)] | None = None
    external_id: Id | None = None
    subscription_external_id: Id | None = None
    customer_external_id: Id | None = None
    customer_name: Name | None = None
    product_external_id: Id | None = None
    product_name: Name | None = None


class StrictEventItem(LimitedEventItem, gc=False, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """An item without unknown fields: the usual case, and the fastest to check."""


class EventImportBody(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    events: Annotated[list[StrictEventItem], msgspec.Meta(max_length=MAX_EVENTS)]
    on_error: Literal["abort", "skip"] = "abort"
    dry_run: bool = False


def read_event_item(item: Any, pointer: str, request: BulkRequest) -> EventImportItem | None:
    """Return the item, or None and add its errors to the request."""
    if isinstance(item, dict):
        try:
            if not any(isinstance(value, str) and "\0" in value for value in item.values()):
                trimmed_names = {name: item[name].strip() for name in NAME_FIELDS if isinstance(item.get(name), str)}
                return msgspec.convert(item | trimmed_names, LimitedEventItem)
            detail = "Must not contain NUL characters."
        except msgspec.ValidationError as error:
            detail = str(error)
    else:
        detail = "Must be an object."
    # Beyond the number of errors that are returned, one error marks the row as invalid.
    errors = list(list_event_errors(item, pointer)) if len(request.errors) < MAX_ERRORS else []
    request.errors += errors or [(pointer, "invalid_value", detail)]
    return None


def list_event_errors(item: Any, pointer: str) -> Any:
    """Yield (pointer, code, detail) of everything that is wrong with an item."""
    try:
        ImportedEvent(data=item).is_valid(raise_exception=True)
    except ValidationError as error:
        for entry in list_field_errors(error.get_full_details(), pointer):
            yield entry["pointer"], entry["code"], entry["detail"]


EVENT_IMPORT_BODY = BulkBody(
    body_type=EventImportBody,
    request_type=BulkRequest,
    max_items=MAX_EVENTS,
    item_fields={field.encode_name: () for field in msgspec.structs.fields(EventImportItem)},
    parse_item=read_event_item,
)
