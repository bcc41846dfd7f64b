"""What somebody typed into a form, read by the same shapes as the bodies of the API: one place says what is right."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from companies.errors import FieldErrors, Refusal


@dataclass
class Typed:
    """A form as it is shown: ``values`` to fill it in, ``errors`` by field, ``data`` for the act where it is valid."""

    values: Mapping[str, Any]
    errors: dict[str, str] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        return not self.errors

    def refuse(self, refusal: Refusal) -> None:
        """Shows a refusal at its fields, or above the form where it is about none of them."""
        if isinstance(refusal, FieldErrors):
            self.errors |= {pointer.removeprefix("#/"): detail for pointer, _, detail in refusal.errors}
        else:
            self.errors[(refusal.pointer or "#/").removeprefix("#/")] = refusal.detail

    @property
    def general(self) -> str:
        """What is wrong with the whole."""
        return " ".join(text for name, text in self.errors.items() if name not in self.values)


def typed(
    shape: Any, posted: Mapping[str, Any], *, texts: Iterable[str], flags: Iterable[str] = (), partial: bool = False
) -> Typed:
    """Reads the named fields of a form. An empty text stands for null where the shape takes one; a box that is not
    ticked is not sent, and means false."""
    reader = shape()
    values: dict[str, Any] = {name: posted.get(name, "").strip() for name in texts}
    values |= {name: name in posted for name in flags}
    sent = {n: None if value == "" and reader.fields[n].allow_null else value for n, value in values.items()}
    serializer = shape(data=sent, partial=partial)
    if serializer.is_valid():
        return Typed(values=values, data=serializer.validated_data)
    return Typed(values=values, errors={name: sentence(found) for name, found in serializer.errors.items()})


def sentence(found: Any) -> str:
    """The first thing that is wrong with a field."""
    while isinstance(found, (list, dict)):
        found = next(iter(found.values() if isinstance(found, dict) else found))
    return str(found)
