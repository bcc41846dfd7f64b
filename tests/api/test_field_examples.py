"""Every field and parameter of the OpenAPI document has a description of one sentence and a valid example."""

import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from config.field_examples import FIELD_EXAMPLES
from tests.api.test_document import resolve_reference
from tests.openapi_document import load_document

DOCUMENT = load_document()
SENTENCE_WITHIN = re.compile(r"[.!?]\s")
FIELDS = {
    f"{component}.{name}": field
    for component, schema in DOCUMENT["components"]["schemas"].items()
    for name, field in schema.get("properties", {}).items()
}
PARAMETERS = {
    f"{operation['operationId']}.{parameter['name']}": parameter
    for item in DOCUMENT["paths"].values()
    for operation in item.values()
    for parameter in map(resolve_reference, operation.get("parameters", ()))
}


def is_nested(schema: dict[str, Any]) -> bool:
    """Whether a value has fields of its own: an object, or a list of objects."""
    schema = resolve_reference(schema)
    options = [option for word in ("allOf", "oneOf", "anyOf") for option in schema.get(word, ())]
    if options:
        return any(map(is_nested, options))
    return "object" in schema["type"] or ("array" in schema["type"] and is_nested(schema["items"]))


def list_invalid_examples(schema: dict[str, Any], examples: list[Any]) -> Iterator[str]:
    if not examples or (None in examples and not schema["description"].startswith("Always null")):
        yield "no example"
    validator = Draft202012Validator(
        schema | {"components": DOCUMENT["components"]}, format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    for example in examples:
        yield from (error.message for error in validator.iter_errors(example))


def is_one_sentence(text: str) -> bool:
    return text.endswith(".") and not SENTENCE_WITHIN.search(text)


def test_field_has_a_valid_example():
    scalars = {key: field for key, field in FIELDS.items() if not is_nested(field)}
    assert len(scalars) > 1000
    results = {key: list(list_invalid_examples(field, field.get("examples", []))) for key, field in scalars.items()}
    assert {key: errors for key, errors in results.items() if errors} == {}


def test_parameter_has_a_valid_example():
    results = {}
    for key, parameter in PARAMETERS.items():
        examples = [parameter["example"]] if "example" in parameter else parameter["schema"].get("examples", [])
        results[key] = list(
            list_invalid_examples(parameter["schema"] | {"description": parameter.get("description", "")}, examples)
        )
    assert {key: errors for key, errors in results.items() if errors} == {}


def test_field_is_described_in_one_sentence():
    assert {key: text for key, each in FIELDS.items() if not is_one_sentence(text := each["description"])} == {}


def test_parameter_is_described_in_one_sentence():
    texts = {key: each.get("description", "") for key, each in PARAMETERS.items()}
    assert {key: text for key, text in texts.items() if not is_one_sentence(text)} == {}


def test_written_example_names_a_field_or_parameter():
    names = {each for key in (*FIELDS, *PARAMETERS) for each in (key, key.partition(".")[2])}
    assert set(FIELD_EXAMPLES) - names == set()
