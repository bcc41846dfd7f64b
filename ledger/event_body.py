"""Reading the body of an import of subscription events: typed in one pass; item by item where that fails.

The quick pass refuses a whole body; only then is it read again, and the serializer of single items says what is wrong
with each bad row.
"""

from datetime import date
from typing import Annotated, Any, Literal

import msgspec
from rest_framework.exceptions import ValidationError

from companies.api.errors import field_errors
from companies.errors import FieldErrors
from ledger.event_importing import LONGEST_ID, LONGEST_NAME, MOST_EVENTS, MOST_INTERVALS, Item, Request
from ledger.import_body import NotJson
from ledger.importing import MOST_ERRORS
from ledger.serializers.subscriptions import ImportedEvent

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_ID)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]


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


_QUICK = msgspec.json.Decoder(Body)
_OPTIONS = {"onError": ("on_error", Literal["abort", "skip"]), "dryRun": ("dry_run", bool)}
_FIELDS = {field.encode_name for field in msgspec.structs.fields(Item)}


def read_body(body: bytes) -> Request:
    """The import that a body describes. Raises NotJson, and FieldErrors where the body as a whole is wrong."""
    if b"\\u0000" not in body:  # JSON has no other way to write the character that the database cannot store
        try:
            read = _QUICK.decode(body)
        except msgspec.ValidationError:
            pass  # told row by row below
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise NotJson from None
        else:
            return Request(items=list(read.events), on_error=read.on_error, dry_run=read.dry_run)
    return read_slowly(body)


def read_slowly(body: bytes) -> Request:
    """Item by item, with a pointer for each that is wrong."""
    try:
        raw = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NotJson from None
    if not isinstance(raw, dict):
        raise FieldErrors([("#", "invalid_value", "Must be an object.")])
    if "events" not in raw:
        raise FieldErrors([("#/events", "required", "This field is required.")])
    items = raw["events"]
    if not isinstance(items, list):
        raise FieldErrors([("#/events", "invalid_value", "Must be an array.")])
    if len(items) > MOST_EVENTS:
        raise FieldErrors([("#/events", "too_many_items", f"At most {MOST_EVENTS} events in one call.")])
    request = Request(items=[], **options(raw))
    request.ignored |= set(raw) - {"events", *_OPTIONS}
    for index, item in enumerate(items):
        request.items.append(read_item(item, f"#/events/{index}", request))
    return request


def options(raw: dict[str, Any]) -> dict[str, Any]:
    """The top-level options by our names. Raises FieldErrors."""
    found, wrong = {}, []
    for name, (ours, kind) in _OPTIONS.items():
        if name in raw:
            try:
                found[ours] = msgspec.convert(raw[name], kind)
            except msgspec.ValidationError as error:
                wrong.append((f"#/{name}", "invalid_value", str(error)))
    if wrong:
        raise FieldErrors(wrong)
    return found


def read_item(item: Any, pointer: str, request: Request) -> Item | None:
    """The item, or None and its errors in the request."""
    if isinstance(item, dict):
        request.ignored |= {f"events[].{name}" for name in item.keys() - _FIELDS}
        try:
            if not any(isinstance(value, str) and "\0" in value for value in item.values()):
                return msgspec.convert(item, TypedItem)
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
