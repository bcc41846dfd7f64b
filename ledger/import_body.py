"""Reading the body of an import: 100,000 items typed in one pass, and a slower one that says which rows are wrong.

Serializers would take ten times as long. The quick pass refuses a whole body; only then is it read a second time,
item by item, to give every bad row its pointer.
"""

from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Literal

import msgspec

from companies.errors import FieldErrors

MOST_ITEMS = 100_000  # decisions on the import: more goes in several calls
LONGEST_TEXT = 10_000
LONGEST_ID = 200

Text = Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)]
Id = Annotated[str, msgspec.Meta(max_length=LONGEST_ID)]


class CounterpartyRef(msgspec.Struct, gc=False):
    id: str
    type: str | None = None


class Item(msgspec.Struct, gc=False, rename="camel"):
    """One transaction as it is sent; amount, currency and ids are checked when the company is known."""

    account_id: str
    date: date
    amount_value: str
    amount_currency: str | None = None
    from_to: Text | None = None
    description: Text | None = None
    external_id: Id | None = None
    notes: Text | None = None
    pending: bool | None = None
    category_id: str | None = None
    pl_type: str | None = None
    counterparty: CounterpartyRef | None = None


class StrictItem(Item, gc=False, rename="camel", forbid_unknown_fields=True):
    """The same without unknown fields: the usual case, and the quickest to tell."""


class Body(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    transactions: Annotated[list[StrictItem], msgspec.Meta(max_length=MOST_ITEMS)]
    dry_run: bool = False
    on_error: Literal["abort", "skip"] = "abort"
    duplicates: Literal["keep", "skip"] = "keep"


@dataclass(slots=True)
class Request:
    """What an import asks for. ``items`` holds None for rows that could not be read; ``errors`` says why."""

    items: list[Any]
    dry_run: bool = False
    on_error: str = "abort"
    duplicates: str = "keep"
    errors: list[tuple[str, str, str]] = field(default_factory=list)
    ignored: set[str] = field(default_factory=set)


_QUICK = msgspec.json.Decoder(Body)
_OPTIONS = {"dryRun": bool, "onError": Literal["abort", "skip"], "duplicates": Literal["keep", "skip"]}


class NotJson(ValueError):
    """The body is not JSON."""


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
            return Request(
                items=read.transactions, dry_run=read.dry_run, on_error=read.on_error, duplicates=read.duplicates
            )
    return read_slowly(body)


def read_slowly(body: bytes) -> Request:
    """Item by item, with a pointer for each that is wrong."""
    try:
        raw = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NotJson from None
    if not isinstance(raw, dict):
        raise FieldErrors([("#", "invalid_value", "Must be an object.")])
    items = raw.get("transactions")
    if "transactions" not in raw:
        raise FieldErrors([("#/transactions", "required", "This field is required.")])
    if not isinstance(items, list):
        raise FieldErrors([("#/transactions", "invalid_value", "Must be an array.")])
    if len(items) > MOST_ITEMS:
        raise FieldErrors([("#/transactions", "too_many_items", f"At most {MOST_ITEMS} transactions in one call.")])
    request = Request(items=[], **options(raw))
    request.ignored |= set(raw) - {"transactions", *_OPTIONS}
    for index, item in enumerate(items):
        wrong = list(faults(item, f"#/transactions/{index}"))
        request.errors += wrong
        request.items.append(None if wrong else msgspec.convert(item, Item))
        if isinstance(item, dict):
            request.ignored |= {f"transactions[].{name}" for name in item.keys() - FIELDS.keys()}
    return request


def options(raw: dict[str, Any]) -> dict[str, Any]:
    """The top-level options by our names. Raises FieldErrors."""
    found, wrong = {}, []
    for name, kind in _OPTIONS.items():
        if name in raw:
            try:
                found[OPTION_NAMES[name]] = msgspec.convert(raw[name], kind)
            except msgspec.ValidationError as error:
                wrong.append((f"#/{name}", "invalid_value", str(error)))
    if wrong:
        raise FieldErrors(wrong)
    return found


FIELDS = {field.encode_name: field for field in msgspec.structs.fields(Item)}
TEXTS = {"fromTo", "description", "notes", "externalId"}
OPTION_NAMES = {field.encode_name: field.name for field in msgspec.structs.fields(Body)}


def faults(item: Any, pointer: str) -> Any:
    """(pointer, code, detail) of everything that is wrong with one item by itself."""
    if not isinstance(item, dict):
        yield pointer, "invalid_value", "Must be an object."
        return
    for name, declared in FIELDS.items():
        if name not in item:
            if declared.required:
                yield f"{pointer}/{name}", "required", "This field is required."
            continue
        try:
            msgspec.convert(item[name], declared.type)
        except msgspec.ValidationError:
            yield fault(name, item[name], f"{pointer}/{name}")
        else:
            if isinstance(item[name], str) and "\0" in item[name]:
                yield f"{pointer}/{name}", "invalid_characters", "Must not have NUL characters."


def fault(name: str, value: Any, pointer: str) -> tuple[str, str, str]:
    """What is wrong with a value whose type or length does not fit."""
    if name == "date":
        if isinstance(value, str) and len(value) == len("2026-01-31"):
            return pointer, "invalid_date", "There is no such day."
        return pointer, "invalid_value", "Must be a date, YYYY-MM-DD."
    if name == "amountValue":
        return pointer, "invalid_decimal", "Must be a string such as -1234.56."
    if isinstance(value, str) and name in TEXTS:
        return pointer, "too_long", "The text is too long."
    if name in ("accountId", "categoryId") and value is not None:
        return pointer, "unknown_id", "There is no such record in this company."
    return pointer, "invalid_value", "Has the wrong type."
