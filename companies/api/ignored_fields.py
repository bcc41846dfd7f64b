"""Unknown fields of a request body, reported so that a misspelled one is noticed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rest_framework import serializers

from companies.api.camel_case import CamelCaseFieldsMixin
from companies.api.limits import MAX_IGNORED_FIELDS_LENGTH

COLLECTION_FIELDS = (serializers.ListField, serializers.ListSerializer, serializers.DictField)


def list_unknown_fields(shape: Any, body: Any, prefix: str = "") -> Iterator[str]:
    """Yield the paths of sent fields that the serializer does not know: ``recurrence.every``,
    ``transactions/3/foo``.

    A dot leads into an object, a slash to an index or key. Keys of maps and free-form objects are data;
    read-only fields are ignored as a whole.
    """
    if isinstance(shape, CamelCaseFieldsMixin) and isinstance(body, Mapping):
        known_fields: Mapping[str, Any] = shape.fields  # type: ignore[attr-defined]
        for name, value in body.items():
            if name not in known_fields:
                yield f"{prefix}{name}"
            elif isinstance(value, Mapping | list) and not known_fields[name].read_only:
                yield from list_unknown_fields(known_fields[name], value, f"{prefix}{name}.")
    elif isinstance(shape, COLLECTION_FIELDS):
        for index, value in body.items() if isinstance(body, Mapping) else enumerate(body):
            yield from list_unknown_fields(shape.child, value, f"{prefix[:-1]}/{index}/")


def format_ignored_fields(names: Iterable[str]) -> str:
    """Format names for the Ignored-Fields header, as many as fit; names that are not printable ASCII are quoted."""
    text = ""
    for name in dict.fromkeys(names):
        quoted_name = name if name.isascii() and name.isprintable() else repr(name)
        longer_text = f"{text}, {quoted_name}" if text else quoted_name
        longer_text = longer_text.encode("ascii", "backslashreplace").decode()
        if len(longer_text) > MAX_IGNORED_FIELDS_LENGTH:
            return text or longer_text[:MAX_IGNORED_FIELDS_LENGTH]
        text = longer_text
    return text
