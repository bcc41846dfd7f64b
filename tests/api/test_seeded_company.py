"""The company that requests are made up for has every nullable object in both states, null and filled."""

from collections.abc import Iterator
from typing import Any

import pytest

from companies.models import Company
from tests.api.request_bodies import UNKNOWN_ID, build_path
from tests.api.seeded_company import Seeded, seeded_company, shared_seeded_company
from tests.conftest import Api
from tests.response_validation import list_operations, load_document

pytestmark = pytest.mark.django_db
assert shared_seeded_company  # fixtures
assert seeded_company
NEVER_NULL = {"Action.usingDateRule"}  # null may be sent; what is answered is then the usual rule


def resolve_schema(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = load_document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def split_null(schema: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """(the schema without null, whether null is allowed)."""
    for word in ("oneOf", "anyOf"):
        if {"type": "null"} in schema.get(word, ()):
            return next(each for each in schema[word] if each != {"type": "null"}), True
    if len(schema.get("allOf", ())) == 1:
        return split_null(schema["allOf"][0])
    kinds = schema.get("type")
    return schema, isinstance(kinds, list) and "null" in kinds


def walk_nullable(schema: dict[str, Any], value: Any, place: str) -> Iterator[tuple[str, bool]]:
    """(place, whether it is filled) of each nullable object in an answer."""
    name = schema.get("$ref", "").rpartition("/")[2]
    schema, nullable = split_null(resolve_schema(schema))
    name = schema.get("$ref", "").rpartition("/")[2] or name
    schema = resolve_schema(schema)
    kinds = schema.get("type")
    if nullable and "object" in (kinds if isinstance(kinds, list) else [kinds]):
        yield place, value is not None
    if isinstance(value, dict):
        for key, part in schema.get("properties", {}).items():
            yield from walk_nullable(part, value.get(key), f"{name or place}.{key}")
    if isinstance(value, list):
        for part in value:
            yield from walk_nullable(schema.get("items", {}), part, f"{name or place}[]")


def list_addresses(seeded: Seeded, path: str) -> list[str]:
    """The addresses that a path stands for: of each listed row, where it names one."""
    below = path.removeprefix("/companies/{}").removeprefix("/")
    if below.count("{}") != 1:
        return [build_path(below, seeded.rows)]
    listed = seeded.api.get(below.partition("/{}")[0])
    ids = [row["id"] for row in listed.json() if "id" in row] if listed.status_code == 200 else []
    return [below.replace("{}", each) for each in {*ids, seeded.rows.get(below.partition("/")[0], UNKNOWN_ID)}]


def test_nullable_objects_are_null_and_filled(seeded_company: Seeded):
    states: dict[str, set[bool]] = {}
    for (method, path), operation in list_operations().items():
        if path == "/companies/{}":
            continue  # one company cannot have both: below
        media = operation["responses"].get("200", {}).get("content", {}).get("application/json")
        if method != "GET" or media is None or not path.startswith("/companies/{}"):
            continue
        for where in list_addresses(seeded_company, path):
            answer = seeded_company.api.get(where)
            if answer.status_code == 200:
                for place, filled in walk_nullable(media["schema"], answer.json(), path):
                    states.setdefault(place.removesuffix("[]"), set()).add(filled)
    one_sided = [
        f"{place}: {'never null' if True in seen else 'always null'}"
        for place, seen in states.items()
        if len(seen) < 2 and place not in NEVER_NULL
    ]
    assert "Account.bankConnection" in states
    assert not one_sided, "\n".join(one_sided)


def test_company_is_described_with_and_without_a_payment_provider(api: Api, acme: Company):
    assert api.get().json()["systemPaymentProvider"] is None
    acme.system_payment_provider = {"customerId": "cus_1", "subscription": None}
    acme.save()
    assert api.get().json()["systemPaymentProvider"] == {"customerId": "cus_1", "subscription": None}
