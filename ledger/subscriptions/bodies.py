"""The body of an import of subscription events: its limits; single events' serializer says what is wrong with one."""

from datetime import date
from typing import Annotated, Any, Literal

import msgspec
from rest_framework.exceptions import ValidationError

from companies.api.errors import field_errors
from companies.api.limits import MOST_ERRORS
from companies.names import TRIMMED
from ledger.bulk.bodies import BulkBody, BulkRequest
from ledger.subscriptions.importing import LONGEST_ID, LONGEST_NAME, MOST_EVENTS, MOST_INTERVALS, Item
from ledger.subscriptions.serializers import ImportedEvent

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_ID)]
Name = Annotated[str, msgspec.Meta(max_length=LONGEST_NAME, pattern=TRIMMED)]
NAMES = ("customerName", "productName")


class TypedItem(Item, gc=False, rename="camel", kw_only=True):
    """An item with the limits that need no look at the company."""

    effective_date: date
    committed_date: date | None = None
    interval: Literal["day", "week", "month", "year"] | None = None
    interval_count: Annotated[int, msgspec.Meta(ge=1, le=MOST_INTERVALS)] | None = None
    external_id: Id | None = None
    subscription_external_id: Id | None = None
    customer_external_id: Id | None = None
    customer_name: Name | None = None
    product_external_id: Id | None = None
    product_name: Name | None = None


class StrictItem(TypedItem, gc=False, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """The same without unknown fields: the usual case, and the quickest to tell."""


class Body(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    events: Annotated[list[StrictItem], msgspec.Meta(max_length=MOST_EVENTS)]
    on_error: Literal["abort", "skip"] = "abort"
    dry_run: bool = False


def read_item(item: Any, pointer: str, request: BulkRequest) -> Item | None:
    """The item, or None and its errors in the request."""
    if isinstance(item, dict):
        try:
            if not any(isinstance(value, str) and "\0" in value for value in item.values()):
                names = {name: item[name].strip() for name in NAMES if isinstance(item.get(name), str)}
                return msgspec.convert(item | names, TypedItem)
            detail = "Must not have NUL characters."
        except msgspec.ValidationError as error:
            detail = str(error)
    else:
        detail = "Must be an object."
    # Past what is told, one entry a row is enough to know that it is bad.
    told = list(explained(item, pointer)) if len(request.errors) < MOST_ERRORS else []
    request.errors += told or [(pointer, "invalid_value", detail)]
    return None


def explained(item: Any, pointer: str) -> Any:
    """(pointer, code, detail) of all that is wrong with an item, in the words of single events."""
    try:
        ImportedEvent(data=item).is_valid(raise_exception=True)
    except ValidationError as error:
        for entry in field_errors(error.get_full_details(), pointer):
            yield entry["pointer"], entry["code"], entry["detail"]


EVENTS = BulkBody(
    body=Body,
    request=BulkRequest,
    most=MOST_EVENTS,
    item_fields={field.encode_name: () for field in msgspec.structs.fields(Item)},
    read_item=read_item,
)
