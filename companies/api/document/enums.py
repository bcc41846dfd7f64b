"""The sets of words that several fields share, each described once under its own name: a client has one type for it."""

from typing import Any

from django.utils.module_loading import import_string
from drf_spectacular.settings import spectacular_settings

REF = "#/components/schemas/"


def name_enums(document: dict[str, Any]) -> None:
    """Puts a reference in the place of each set of words that the settings name (``ENUM_NAME_OVERRIDES``)."""
    words = {name: words_of(path) for name, path in spectacular_settings.ENUM_NAME_OVERRIDES.items()}
    names = {frozenset(each): name for name, each in words.items()}
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        schemas[name] = referring(schema, names)
    document["paths"] = referring(document["paths"], names)
    schemas |= {name: {"type": "string", "enum": each} for name, each in words.items()}
    document["components"]["schemas"] = dict(sorted(schemas.items()))


def words_of(path: str) -> list[str]:
    """The words of an enumeration, or of a list of words, by its dotted path."""
    return [getattr(each, "value", each) for each in import_string(path)]


def referring(part: Any, names: dict[frozenset[str], str]) -> Any:
    """The part with references in it; what else is said of a field stays beside."""
    if isinstance(part, list):
        return [referring(each, names) for each in part]
    if not isinstance(part, dict):
        return part
    enum = part.get("enum")
    if not isinstance(enum, list):
        return {word: referring(each, names) for word, each in part.items()}
    part = {word: each for word, each in part.items() if word != "x-spec-enum-id"}
    name = names.get(frozenset(enum) - {None})
    if name is None:
        return part
    reference, beside = {"$ref": REF + name}, {w: each for w, each in part.items() if w not in ("type", "enum")}
    if None in enum:
        return {"oneOf": [reference, {"type": "null"}]} | beside
    return {"allOf": [reference]} | beside if beside else reference
