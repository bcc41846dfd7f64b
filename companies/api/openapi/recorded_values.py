"""Values of fields in the recorded requests and responses of the OpenAPI document."""

from collections.abc import Iterator
from typing import Any

from companies.api.openapi.enums import SCHEMA_REF_PREFIX

Schema = dict[str, Any]


def collect_recorded_values(document: dict[str, Any]) -> dict[str, Any]:
    """Return component.field → its first recorded value that is not null or empty."""
    schemas, values = document["components"]["schemas"], dict[str, Any]()
    for schema, example in iter_recorded_bodies(document):
        for key, value in iter_field_values(schema, example, schemas):
            if value not in (None, "", [], {}):
                values.setdefault(key, value)
    return values


def iter_recorded_bodies(document: dict[str, Any]) -> Iterator[tuple[Schema, Any]]:
    """Yield schema and example of each request and each successful response."""
    for item in document["paths"].values():
        for operation in item.values():
            answers = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
            for body in (operation.get("requestBody", {}), *answers):
                for media in body.get("content", {}).values():
                    if "example" in media:
                        yield media["schema"], media["example"]


def iter_field_values(schema: Schema, value: Any, schemas: dict[str, Schema]) -> Iterator[tuple[str, Any]]:
    """Yield component.field and value of every field within a value."""
    for component, option in iter_options(schema, schemas):
        inner_values: list[tuple[Schema, Any]] = []
        if isinstance(value, list):
            inner_values = [(option.get("items", {}), each) for each in value]
        elif isinstance(value, dict):
            fields = {name: field for name, field in option.get("properties", {}).items() if name in value}
            yield from ((f"{component}.{name}", value[name]) for name in fields)
            inner_values = [(field, value[name]) for name, field in fields.items()]
            if isinstance(option.get("additionalProperties"), dict):
                inner_values += [(option["additionalProperties"], each) for each in value.values()]
        for inner_schema, inner_value in inner_values:
            yield from iter_field_values(inner_schema, inner_value, schemas)


def iter_options(schema: Schema, schemas: dict[str, Schema], component: str = "") -> Iterator[tuple[str, Schema]]:
    """Yield the schemas that a value can have, each with the name of its component; references are followed."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(SCHEMA_REF_PREFIX)
        yield from iter_options(schemas[name], schemas, name)
    elif options := [option for word in ("allOf", "oneOf", "anyOf") for option in schema.get(word, ())]:
        for option in options:
            yield from iter_options(option, schemas, component)
    else:
        yield component, schema
