"""Which fields of a body there are not: named by their paths, so that a misspelled one is noticed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rest_framework import serializers

from companies.api.limits import LONGEST_IGNORED
from companies.api.naming import CamelFields

MANY = (serializers.ListField, serializers.ListSerializer, serializers.DictField)


def unknown_fields(shape: Any, sent: Any, prefix: str = "") -> Iterator[str]:
    """Paths of what was sent and the shape does not know: ``recurrence.every``, ``transactions/3/foo``.

    A point leads into an object, a slash to a place of a list or a key of a map. Keys of maps are data, and so is what
    lies in a field that takes any object; what is only read is ignored as a whole.
    """
    if isinstance(shape, CamelFields) and isinstance(sent, Mapping):
        known: Mapping[str, Any] = shape.fields  # type: ignore[attr-defined]
        for name, value in sent.items():
            if name not in known:
                yield f"{prefix}{name}"
            elif isinstance(value, Mapping | list) and not known[name].read_only:
                yield from unknown_fields(known[name], value, f"{prefix}{name}.")
    elif isinstance(shape, MANY):
        for place, value in sent.items() if isinstance(sent, Mapping) else enumerate(sent):
            yield from unknown_fields(shape.child, value, f"{prefix[:-1]}/{place}/")


def listed(names: Iterable[str]) -> str:
    """The names as a header has them, as many as it holds; one that is no printable ASCII is shown quoted."""
    text = ""
    for name in dict.fromkeys(names):
        shown = name if name.isascii() and name.isprintable() else repr(name)
        longer = f"{text}, {shown}" if text else shown
        longer = longer.encode("ascii", "backslashreplace").decode()
        if len(longer) > LONGEST_IGNORED:
            return text or longer[:LONGEST_IGNORED]
        text = longer
    return text
