"""The body of an import of transactions: its items, their limits, and what is wrong with a bad one."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import msgspec
from django.utils.translation import gettext as _

from companies.api.limits import MOST_ERRORS
from companies.errors import unknown_at
from ledger.bulk.bodies import BulkBody, BulkRequest

MOST_ITEMS = 100_000  # decisions on the import: more goes in several calls
LONGEST_TEXT = 10_000
LONGEST_ID = 200

Text = Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)]
Id = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_ID)]  # an empty one would name all rows without


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

    @property
    def bank_reference(self) -> str | None:
        """What the bank calls it; told by statements alone."""
        return None


class StrictCounterpartyRef(CounterpartyRef, gc=False, forbid_unknown_fields=True):
    pass


class StrictItem(Item, gc=False, rename="camel", forbid_unknown_fields=True):
    """The same without unknown fields: the usual case, and the quickest to tell."""

    counterparty: StrictCounterpartyRef | None = None


class Body(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    transactions: Annotated[list[StrictItem], msgspec.Meta(max_length=MOST_ITEMS)]
    dry_run: bool = False
    on_error: Literal["abort", "skip"] = "abort"
    duplicates: Literal["keep", "skip"] = "keep"


@dataclass(slots=True, kw_only=True)
class Request(BulkRequest):
    """What an import of transactions asks for."""

    duplicates: str = "keep"
    leaves_possible: bool = False  # whether rows with the day and amount of one that is there are left out
    format: str | None = None  # of the file that the rows come from
    trusts_ids: bool = True  # files do not: banks give one id to several payments


FIELDS = {field.encode_name: field for field in msgspec.structs.fields(Item)}
NESTED = dict.fromkeys(FIELDS, ()) | {"counterparty": CounterpartyRef.__struct_fields__}
TEXTS = {"fromTo", "description", "notes", "externalId"}


def read_item(item: Any, pointer: str, request: Request) -> Item | None:
    """The item, or None and its errors in the request."""
    wrong = list(faults(item, pointer))
    # Past what is told, one entry a row is enough to know that it is bad.
    request.errors += wrong if len(request.errors) < MOST_ERRORS else wrong[:1]
    return None if wrong else msgspec.convert(item, Item)


def faults(item: Any, pointer: str) -> Any:
    """(pointer, code, detail) of everything that is wrong with one item by itself."""
    if not isinstance(item, dict):
        yield pointer, "invalid_value", _("Must be an object.")
        return
    for name, declared in FIELDS.items():
        if name not in item:
            if declared.required:
                yield f"{pointer}/{name}", "required", _("This field is required.")
            continue
        try:
            msgspec.convert(item[name], declared.type)
        except msgspec.ValidationError:
            yield fault(name, item[name], f"{pointer}/{name}")
        else:
            if isinstance(item[name], str) and "\0" in item[name]:
                yield f"{pointer}/{name}", "invalid_characters", _("Must not have NUL characters.")


def fault(name: str, value: Any, pointer: str) -> tuple[str, str, str]:
    """What is wrong with a value whose type or length does not fit."""
    if name == "date":
        if isinstance(value, str) and len(value) == len("2026-01-31"):
            return pointer, "invalid_date", _("There is no such day.")
        return pointer, "invalid_value", _("Must be a date, YYYY-MM-DD.")
    if name == "amountValue":
        return pointer, "invalid_decimal", _("Must be a string such as -1234.56.")
    if name == "externalId" and value == "":
        return pointer, "must_not_be_empty", _("Must not be empty; leave it out where there is none.")
    if isinstance(value, str) and name in TEXTS:
        return pointer, "too_long", _("The text is too long.")
    if name in ("accountId", "categoryId") and value is not None:
        return unknown_at(pointer)
    return pointer, "invalid_value", _("Has the wrong type.")


IMPORT = BulkBody(body=Body, request=Request, most=MOST_ITEMS, item_fields=NESTED, read_item=read_item)
