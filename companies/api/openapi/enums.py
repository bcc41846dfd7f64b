"""Shared enums of the OpenAPI document: each is described once, so that clients have one type for it."""

from typing import Any

from django.utils.module_loading import import_string
from drf_spectacular.settings import spectacular_settings

SCHEMA_REF_PREFIX = "#/components/schemas/"


def extract_shared_enums(document: dict[str, Any]) -> None:
    """Replace each enum named in ``ENUM_NAME_OVERRIDES`` with a reference to its component."""
    values_by_name = {name: list_enum_values(path) for name, path in spectacular_settings.ENUM_NAME_OVERRIDES.items()}
    names_by_values = {frozenset(each): name for name, each in values_by_name.items()}
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        schemas[name] = replace_enums_with_refs(schema, names_by_values)
    document["paths"] = replace_enums_with_refs(document["paths"], names_by_values)
    schemas |= {name: {"type": "string", "enum": each} for name, each in values_by_name.items()}
    document["components"]["schemas"] = dict(sorted(schemas.items()))


def list_enum_values(path: str) -> list[str]:
    """Return the values of an enumeration or list by its dotted path."""
    return [getattr(each, "value", each) for each in import_string(path)]


def replace_enums_with_refs(schema: Any, names: dict[frozenset[str], str]) -> Any:
    """Return the schema with references in place of enums; other keywords are kept beside the reference."""
    if isinstance(schema, list):
        return [replace_enums_with_refs(each, names) for each in schema]
    if not isinstance(schema, dict):
        return schema
    enum = schema.get("enum")
    if not isinstance(enum, list):
        return {word: replace_enums_with_refs(each, names) for word, each in schema.items()}
    schema = {word: each for word, each in schema.items() if word != "x-spec-enum-id"}
    name = names.get(frozenset(enum) - {None})
    if name is None:
        return schema
    reference, other_keywords = (
        {"$ref": SCHEMA_REF_PREFIX + name},
        {w: each for w, each in schema.items() if w not in ("type", "enum")},
    )
    if None in enum:
        return {"oneOf": [reference, {"type": "null"}]} | other_keywords
    return {"allOf": [reference]} | other_keywords if other_keywords else reference
