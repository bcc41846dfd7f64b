"""camelCase on the wire, snake_case in the code: this file and no other knows both."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rest_framework import serializers


@lru_cache(maxsize=4096)
def camel(name: str) -> str:
    """created_time → createdTime"""
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


def camel_keys(values: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The top-level keys renamed; what lies deeper is data and stays."""
    return None if values is None else {camel(key): value for key, value in values.items()}


class CamelFields:
    """Mixed into a serializer: fields are declared in snake_case and read and written in camelCase."""

    def get_fields(self) -> dict[str, serializers.Field]:
        fields = {}
        for name, field in super().get_fields().items():  # type: ignore[misc]
            if field.source is None and camel(name) != name:
                field.source = name
            fields[camel(name)] = field
        return fields


def words(name: str) -> str:
    """createdTime → Created time"""
    spaced = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: f" {match[1].lower()}", name)
    return re.sub(r"\bapi\b", "API", spaced[:1].upper() + spaced[1:])
