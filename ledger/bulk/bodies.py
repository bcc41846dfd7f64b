"""Reading bodies of up to 100,000 items: typed in one quick pass; item by item only where that refuses.

Serializers would take ten times as long. The quick pass refuses a whole body; only then is it read a second time, to
give every bad row its pointer, and never more of it at once than one item: what is refused takes no memory to speak of.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Generic, TypeVar

import msgspec
from django.utils.translation import gettext as _

from companies.api.fields import explain_currency
from companies.api.limits import MOST_ERRORS
from companies.errors import FieldErrors, Invalid
from companies.models import Currency, id_from
from ledger.bulk import walking
from ledger.calc.money import minor_units

Fault = tuple[str, str, str]
MOST_IGNORED = 1000  # unknown fields; the header has not room for more
LONGEST_ITEM = 1024 * 1024  # bytes; its texts in the longest way to write them are half of that
MOST_OBJECTS = 3  # braces an item: it, its counterparty, and one in a text
ESCAPED_NUL = b"\\u0000"  # JSON has no other way to write the character that the database cannot store
DECIMALS = {currency: minor_units(currency) for currency in Currency.values}


class NotJson(Invalid):
    """The body is not JSON."""

    code = "invalid_json"


@dataclass(slots=True, kw_only=True)
class BulkRequest:
    """What every bulk body asks for. ``items`` holds None for rows that could not be read; ``errors`` says why."""

    items: list[Any]
    dry_run: bool = False
    on_error: str = "abort"
    errors: list[Fault] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # paths of unknown fields


R = TypeVar("R", bound=BulkRequest)


@dataclass(frozen=True, kw_only=True)
class BulkBody(Generic[R]):
    """How one kind of bulk body is read.

    ``body`` is a struct whose first field is the list of items and whose others are options; ``read_item`` answers an
    item, or None after adding to the request's errors.
    """

    body: type[msgspec.Struct]
    request: type[R]
    most: int
    item_fields: Mapping[str, Collection[str]]  # with the fields of those that are objects
    read_item: Callable[[Any, str, R], Any]

    @cached_property  # asked for each row, and slow to tell
    def name(self) -> str:
        """The list's name on the wire."""
        return msgspec.structs.fields(self.body)[0].encode_name

    @cached_property
    def options(self) -> Mapping[str, msgspec.structs.FieldInfo]:
        """The other fields by their names on the wire."""
        return {each.encode_name: each for each in msgspec.structs.fields(self.body)[1:]}

    def read(self, body: bytes) -> R:
        """The request that a body describes. Raises NotJson, and FieldErrors where the body as a whole is wrong."""
        try:
            return self.read_quickly(body) or self.read_slowly(body)
        except (msgspec.DecodeError, ValueError, RecursionError):
            raise NotJson from None

    def read_quickly(self, body: bytes) -> R | None:
        """All of it at once; None where something is wrong, to be told row by row."""
        if ESCAPED_NUL in body or body.count(b"{") > MOST_OBJECTS * self.most:
            return None
        try:
            read = msgspec.json.decode(body, type=self.body)
        except msgspec.ValidationError:
            return None
        items, *rest = (getattr(read, each.name) for each in msgspec.structs.fields(self.body))
        return self.request(items=items, **dict(zip((each.name for each in self.options.values()), rest, strict=True)))

    def read_slowly(self, body: bytes) -> R:
        """Item by item, with a pointer for each that is wrong; not further than there are errors to tell."""
        walking.check(body)
        start, end, options, ignored = self.opened(body)
        if sum(1 for _ in islice(walking.items(body, start, end), self.most + 1)) > self.most:
            raise FieldErrors(
                [(f"#/{self.name}", "too_many_items", _("At most {most} in one call.").format(most=f"{self.most:,}"))]
            )
        request = self.request(items=[], ignored=ignored, **options)
        for index, (first, last) in enumerate(walking.items(body, start, end)):
            pointer = f"#/{self.name}/{index}"
            if last - first > LONGEST_ITEM:
                request.errors.append((pointer, "too_long", _("An item has at most 1 MiB.")))
                request.items.append(None)
                continue
            item = msgspec.json.decode(body[first:last])
            if isinstance(item, dict) and len(ignored) < MOST_IGNORED:
                ignored += (f"{self.name}/{index}/{each}" for each in self.unknown_in(item))
            request.items.append(self.read_item(item, pointer, request))
            if request.on_error == "abort" and len(request.errors) >= MOST_ERRORS:
                break
        return request

    def opened(self, body: bytes) -> tuple[int, int, dict[str, Any], list[str]]:
        """(where the list begins, where it ends, the options by our names, unknown fields). Raises FieldErrors.

        Of a field that is there twice the last one counts.
        """
        if body.lstrip()[:1] != b"{":
            raise FieldErrors([("#", "invalid_value", _("Must be an object."))])
        places: dict[str, tuple[int, int]] = {}
        known = {self.name, *self.options}
        ignored: list[str] = []
        for name, start, end in walking.members(body):
            if name in known:
                places[name] = start, end
            elif len(ignored) < MOST_IGNORED:
                ignored.append(name)
        if self.name not in places:
            raise FieldErrors([(f"#/{self.name}", "required", _("This field is required."))])
        start, end = places.pop(self.name)
        if body[start : start + 1] != b"[":
            raise FieldErrors([(f"#/{self.name}", "invalid_value", _("Must be an array."))])
        return start, end, self.options_in(body, places), ignored

    def unknown_in(self, item: dict[str, Any]) -> Iterator[str]:
        """Paths of the unknown fields of an item."""
        for name, value in item.items():
            if name not in self.item_fields:
                yield name
            elif isinstance(value, dict):
                yield from (f"{name}.{each}" for each in value if each not in self.item_fields[name])

    def options_in(self, body: bytes, places: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
        """The options by our names. Raises FieldErrors."""
        found, wrong = {}, []
        for name, (start, end) in places.items():
            option = self.options[name]
            try:
                found[option.name] = msgspec.json.decode(body[start:end], type=option.type)
            except msgspec.ValidationError as error:
                wrong.append((f"#/{name}", "invalid_value", str(error)))
        if wrong:
            raise FieldErrors(wrong)
        return found


# ---------------------------------------------------------------------------------------------- what items share


def amount_fault(amount: str, currency: str, *, such_as: str) -> Fault | None:
    """(field, code, detail) of what is wrong with an amount in a currency."""
    decimals = DECIMALS.get(currency)
    if decimals is None:
        return "amountCurrency", "invalid_choice", explain_currency()
    whole, point, fraction = amount.partition(".")
    digits = whole[1:] if whole[:1] == "-" else whole
    plain = digits.isdecimal() and digits.isascii() and len(digits) <= 15
    if not plain or (point and not (fraction.isdecimal() and fraction.isascii() and len(fraction) <= 4)):
        return "amountValue", "invalid_decimal", _("Must be a string such as {amount}.").format(amount=such_as)
    if len(fraction) > decimals:
        return "amountValue", "too_many_decimals", _("{currency} has fewer decimals.").format(currency=currency)
    return None


def spelled(row_id: str) -> str:
    """An id as we print it, in lower case; whatever is none stays as it is."""
    known = id_from(row_id)
    return str(known) if known else row_id


def in_order(faults: list[Fault]) -> list[Fault]:
    """Those of rows, by their position."""
    return sorted(faults, key=lambda fault: int(fault[0].split("/")[2]))
