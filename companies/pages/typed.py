"""What somebody typed into a form, read by the same shapes as the bodies of the API: one place says what is right."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from companies.api.fields import sentence
from companies.errors import FieldErrors, Refusal
from companies.pages.amounts import NotAnAmount, amount_typed


@dataclass
class Typed:
    """A form as it is shown: ``values`` to fill it in, ``errors`` by field, ``data`` for the act where it is valid."""

    values: Mapping[str, Any]
    errors: dict[str, str] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)  # the beginning of a pointer → the field, where they differ

    @property
    def valid(self) -> bool:
        return not self.errors

    def refuse(self, refusal: Refusal) -> None:
        """Shows a refusal at its fields, or above the form where it is about none of them."""
        told = refusal.errors if isinstance(refusal, FieldErrors) else [(refusal.pointer or "#/", "", refusal.detail)]
        for pointer, _, detail in told:
            self.errors.setdefault(self.field_at(pointer.removeprefix("#/")), detail)

    def field_at(self, pointer: str) -> str:
        """The field that the longest beginning of the pointer names; else the pointer itself."""
        beginnings = (each for each in self.fields if f"{pointer}/".startswith(f"{each}/"))
        return self.fields.get(max(beginnings, key=len, default=""), pointer)

    @property
    def general(self) -> str:
        """What is wrong with the whole."""
        return " ".join(text for name, text in self.errors.items() if name not in self.values)


def typed(
    shape: Any,
    posted: Mapping[str, Any],
    *,
    texts: Iterable[str],
    flags: Iterable[str] = (),
    amounts: Iterable[str] = (),
    currency: str = "",
    partial: bool = False,
) -> Typed:
    """Reads the named fields of a form. An empty text stands for null where the shape takes one; a box that is not
    ticked is not sent, and means false. ``amounts`` are those among the texts that people write in many ways,
    of the ``currency`` where it is known."""
    reader = shape()
    values: dict[str, Any] = {name: posted.get(name, "").strip() for name in texts}
    values |= {name: name in posted for name in flags}
    read, wrong = read_amounts(values, amounts, currency=currency)
    sent = {n: None if value == "" and reader.fields[n].allow_null else value for n, value in (values | read).items()}
    form = of_body(shape, sent, values=values, partial=partial)
    form.errors |= wrong
    return form


def read_amounts(
    values: Mapping[str, str], names: Iterable[str], *, currency: str
) -> tuple[dict[str, str], dict[str, str]]:
    """(amounts as the API writes them, what is wrong with the others), both by name; nothing where none was typed."""
    read, wrong = {}, {}
    for name in names:
        if text := values.get(name, ""):
            try:
                read[name] = amount_typed(text, currency)
            except NotAnAmount as error:
                wrong[name] = str(error)
    return read, wrong


def whole(text: str) -> Any:
    """The integer; 0 where nothing is typed, and what is none stays as it is, for the shape to refuse."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 9 else text or 0


def of_body(
    shape: Any,
    body: Mapping[str, Any],
    *,
    values: Mapping[str, Any],
    fields: Mapping[str, str] | None = None,
    partial: bool = False,
) -> Typed:
    """A form whose words were put together to a body of the API, with its mistakes at the fields."""
    serializer, form = shape(data=body, partial=partial), Typed(values=values, fields=fields or {})
    if serializer.is_valid():
        form.data = serializer.validated_data
    else:
        form.errors = {form.field_at(place): text for place, text in flat(serializer.errors)}
    return form


def flat(errors: Mapping[Any, Any], place: str = "") -> list[tuple[str, str]]:
    """(place, sentence) of a shape's errors, however deep they lie."""
    found = []
    for name, inner in errors.items():
        at = f"{place}/{name}".lstrip("/")
        found += flat(inner, at) if isinstance(inner, dict) else [(at, sentence(inner))]
    return found
