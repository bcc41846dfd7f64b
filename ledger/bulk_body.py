"""Reading bodies of up to 100,000 items: typed in one quick pass; item by item only where that refuses.

Serializers would take ten times as long. The quick pass refuses a whole body; only then is it read a second time, to
give every bad row its pointer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from companies.errors import FieldErrors

Fault = tuple[str, str, str]


class NotJson(ValueError):
    """The body is not JSON."""


@dataclass(slots=True, kw_only=True)
class BulkRequest:
    """What every bulk body asks for. ``items`` holds None for rows that could not be read; ``errors`` says why."""

    items: list[Any]
    dry_run: bool = False
    on_error: str = "abort"
    errors: list[Fault] = field(default_factory=list)
    ignored: set[str] = field(default_factory=set)


R = TypeVar("R", bound=BulkRequest)


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkBody(Generic[R]):
    """How one kind of bulk body is read.

    ``body`` is a struct whose first field is the list of items and whose others are options; ``read_item`` answers an
    item, or None after adding to the request's errors.
    """

    body: type[msgspec.Struct]
    request: type[R]
    most: int
    item_fields: frozenset[str]
    read_item: Callable[[Any, str, R], Any]

    @property
    def name(self) -> str:
        """The list's name on the wire."""
        return msgspec.structs.fields(self.body)[0].encode_name

    @property
    def options(self) -> Mapping[str, msgspec.structs.FieldInfo]:
        """The other fields by their names on the wire."""
        return {each.encode_name: each for each in msgspec.structs.fields(self.body)[1:]}

    def read(self, body: bytes) -> R:
        """The request that a body describes. Raises NotJson, and FieldErrors where the body as a whole is wrong."""
        if b"\\u0000" not in body:  # JSON has no other way to write the character that the database cannot store
            try:
                read = msgspec.json.decode(body, type=self.body)
            except msgspec.ValidationError:
                pass  # told row by row below
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                raise NotJson from None
            else:
                items, *rest = (getattr(read, each.name) for each in msgspec.structs.fields(self.body))
                return self.request(items=items, **dict(zip(self.option_names, rest, strict=True)))
        return self.read_slowly(body)

    @property
    def option_names(self) -> list[str]:
        return [each.name for each in self.options.values()]

    def read_slowly(self, body: bytes) -> R:
        """Item by item, with a pointer for each that is wrong."""
        try:
            raw = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise NotJson from None
        name, items = self.name, self.list_in(raw)
        request = self.request(items=[], **self.options_in(raw))
        request.ignored |= set(raw) - {name, *self.options}
        for index, item in enumerate(items):
            if isinstance(item, dict):
                request.ignored |= {f"{name}[].{each}" for each in item.keys() - self.item_fields}
            request.items.append(self.read_item(item, f"#/{name}/{index}", request))
        return request

    def list_in(self, raw: Any) -> list[Any]:
        """The list of items. Raises FieldErrors."""
        pointer = f"#/{self.name}"
        if not isinstance(raw, dict):
            raise FieldErrors([("#", "invalid_value", "Must be an object.")])
        if self.name not in raw:
            raise FieldErrors([(pointer, "required", "This field is required.")])
        if not isinstance(raw[self.name], list):
            raise FieldErrors([(pointer, "invalid_value", "Must be an array.")])
        if len(raw[self.name]) > self.most:
            raise FieldErrors([(pointer, "too_many_items", f"At most {self.most:,} in one call.")])
        return raw[self.name]

    def options_in(self, raw: dict[str, Any]) -> dict[str, Any]:
        """The options by our names. Raises FieldErrors."""
        found, wrong = {}, []
        for name, option in self.options.items():
            if name in raw:
                try:
                    found[option.name] = msgspec.convert(raw[name], option.type)
                except msgspec.ValidationError as error:
                    wrong.append((f"#/{name}", "invalid_value", str(error)))
        if wrong:
            raise FieldErrors(wrong)
        return found
