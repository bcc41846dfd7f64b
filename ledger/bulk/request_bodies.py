"""Parse request bodies of up to 100,000 items: in one typed pass, or item by item to report errors.

Serializers would take ten times as long. The typed pass rejects a body as a whole; only then is it parsed
again, item by item, to give each error its pointer. That never holds more than one item in memory.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Generic, TypeVar

import msgspec
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.api.fields import build_unsupported_currency_message
from companies.api.limits import MAX_ERRORS
from companies.errors import InvalidInputError, ValidationFailed
from companies.models import Currency, parse_id
from ledger.bulk import json_stream
from ledger.money.calc.money import get_minor_units

Fault = tuple[str, str, str]
MAX_IGNORED_FIELDS = 1000  # unknown fields that fit into the response header
MAX_ITEM_BYTES = 1024 * 1024  # twice the size of the longest texts, fully escaped
MAX_OBJECTS_PER_ITEM = 3  # opening braces: the item, its counterparty, and one inside a text
ESCAPED_NUL = b"\\u0000"  # the only JSON notation of NUL, which the database cannot store
DECIMALS_BY_CURRENCY = {currency: get_minor_units(currency) for currency in Currency.values}


class InvalidJson(InvalidInputError):
    """The request body is not valid JSON."""

    code = "invalid_json"


@dataclass(slots=True, kw_only=True)
class BulkRequest:
    """The parsed body of a bulk request. `items` holds None for items with errors; `errors` lists those."""

    items: list[Any]
    dry_run: bool = False
    on_error: str = "abort"
    errors: list[Fault] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # paths of unknown fields


R = TypeVar("R", bound=BulkRequest)


@dataclass(frozen=True, kw_only=True)
class BulkBody(Generic[R]):
    """How one kind of bulk request body is parsed.

    `body_type` is a struct whose first field is the list of items; its other fields are options. `parse_item`
    returns an item, or None after it has added to the request's errors.
    """

    body_type: type[msgspec.Struct]
    request_type: type[R]
    max_items: int
    item_fields: Mapping[str, Collection[str]]  # field name -> names of its members if it is an object
    parse_item: Callable[[Any, str, R], Any]

    @cached_property  # used for each item, and slow to compute
    def name(self) -> str:
        """The API name of the list of items."""
        return msgspec.structs.fields(self.body_type)[0].encode_name

    @cached_property
    def options(self) -> Mapping[str, msgspec.structs.FieldInfo]:
        """The other fields by their API names."""
        return {each.encode_name: each for each in msgspec.structs.fields(self.body_type)[1:]}

    def parse(self, body: bytes) -> R:
        """Parse a request body.

        Raises:
            InvalidJson: it is not JSON.
            ValidationFailed: the body as a whole is invalid.
        """
        try:
            return self.parse_at_once(body) or self.parse_by_item(body)
        except (msgspec.DecodeError, ValueError, RecursionError):
            raise InvalidJson from None

    def parse_at_once(self, body: bytes) -> R | None:
        """Parse the whole body in one pass; None if anything is invalid and must be reported per item."""
        if ESCAPED_NUL in body or body.count(b"{") > MAX_OBJECTS_PER_ITEM * self.max_items:
            return None
        try:
            decoded = msgspec.json.decode(body, type=self.body_type)
        except msgspec.ValidationError:
            return None
        items, *option_values = (getattr(decoded, each.name) for each in msgspec.structs.fields(self.body_type))
        return self.request_type(
            items=items, **dict(zip((each.name for each in self.options.values()), option_values, strict=True))
        )

    def parse_by_item(self, body: bytes) -> R:
        """Parse item by item, with a pointer for each error; stops at the maximum number of errors."""
        json_stream.check_json(body)
        start, end, options, ignored = self.locate_members(body)
        if sum(1 for _ in islice(json_stream.iterate_items(body, start, end), self.max_items + 1)) > self.max_items:
            raise ValidationFailed(
                [
                    (
                        f"#/{self.name}",
                        "too_many_items",
                        _("Send at most {most} items per request.").format(most=f"{self.max_items:,}"),
                    )
                ]
            )
        request = self.request_type(items=[], ignored=ignored, **options)
        for index, (first, last) in enumerate(json_stream.iterate_items(body, start, end)):
            pointer = f"#/{self.name}/{index}"
            if last - first > MAX_ITEM_BYTES:
                request.errors.append((pointer, "too_long", _("Must be at most 1 MiB.")))
                request.items.append(None)
                continue
            item = msgspec.json.decode(body[first:last])
            if isinstance(item, dict) and len(ignored) < MAX_IGNORED_FIELDS:
                ignored += (f"{self.name}/{index}/{each}" for each in self.list_unknown_fields(item))
            request.items.append(self.parse_item(item, pointer, request))
            if request.on_error == "abort" and len(request.errors) >= MAX_ERRORS:
                break
        return request

    def locate_members(self, body: bytes) -> tuple[int, int, dict[str, Any], list[str]]:
        """Return (start of the list, its end, options by our names, names of unknown fields).

        Of a field that occurs twice the last one counts.

        Raises:
            ValidationFailed: the list is missing or no array, or an option is invalid.
        """
        if body.lstrip()[:1] != b"{":
            raise ValidationFailed([("#", "invalid_value", _("Must be an object."))])
        spans: dict[str, tuple[int, int]] = {}
        known_names = {self.name, *self.options}
        ignored: list[str] = []
        for name, start, end in json_stream.iterate_members(body):
            if name in known_names:
                spans[name] = start, end
            elif len(ignored) < MAX_IGNORED_FIELDS:
                ignored.append(name)
        if self.name not in spans:
            raise ValidationFailed([(f"#/{self.name}", "required", _("This field is required."))])
        start, end = spans.pop(self.name)
        if body[start : start + 1] != b"[":
            raise ValidationFailed([(f"#/{self.name}", "invalid_value", _("Must be an array."))])
        return start, end, self.parse_options(body, spans), ignored

    def list_unknown_fields(self, item: dict[str, Any]) -> Iterator[str]:
        """Yield the paths of an item's unknown fields."""
        for name, value in item.items():
            if name not in self.item_fields:
                yield name
            elif isinstance(value, dict):
                yield from (f"{name}.{each}" for each in value if each not in self.item_fields[name])

    def parse_options(self, body: bytes, spans: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
        """Return the options by our names. Raises ValidationFailed."""
        values, faults = {}, []
        for name, (start, end) in spans.items():
            option = self.options[name]
            try:
                values[option.name] = msgspec.json.decode(body[start:end], type=option.type)
            except msgspec.ValidationError as error:
                faults.append((f"#/{name}", "invalid_value", str(error)))
        if faults:
            raise ValidationFailed(faults)
        return values


# ---------------------------------------------------------------------------------------------- checks of items


def find_amount_fault(amount: str, currency: str, *, example: str) -> Fault | None:
    """Return (field, code, detail) of what is wrong with an amount in a currency, or None."""
    decimals = DECIMALS_BY_CURRENCY.get(currency)
    if decimals is None:
        return "amountCurrency", "invalid_choice", build_unsupported_currency_message()
    integer_part, point, fraction = amount.partition(".")
    digits = integer_part[1:] if integer_part[:1] == "-" else integer_part
    is_plain = digits.isdecimal() and digits.isascii() and len(digits) <= 15
    if not is_plain or (point and not (fraction.isdecimal() and fraction.isascii() and len(fraction) <= 4)):
        return "amountValue", "invalid_decimal", _("Must be a decimal string such as {amount}.").format(amount=example)
    if len(fraction) > decimals:
        return "amountValue", "too_many_decimals", describe_too_many_decimals(amount, currency)
    return None


def describe_too_many_decimals(text: str, currency: str) -> str:
    """Return the error message for a written amount with more decimals than its currency."""
    allowed, written = DECIMALS_BY_CURRENCY[currency], len(text.partition(".")[2])
    template = ngettext(
        "{currency} has {allowed} decimal. {amount} has {written}.",
        "{currency} has {allowed} decimals. {amount} has {written}.",
        allowed,
    )
    return template.format(currency=currency, allowed=allowed, amount=text, written=written)


def normalize_id(row_id: str) -> str:
    """Return an id in lower case with hyphens; a text that is no id is returned unchanged."""
    parsed_id = parse_id(row_id)
    return str(parsed_id) if parsed_id else row_id


def sort_faults(faults: list[Fault]) -> list[Fault]:
    """Sort the errors of items by the position of the item."""
    return sorted(faults, key=lambda fault: int(fault[0].split("/")[2]))
