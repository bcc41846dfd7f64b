"""Examples of the OpenAPI document: recorded requests and responses of a small company."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

EXAMPLES_FILE = Path(__file__).with_name("examples.json")


@lru_cache(maxsize=1)
def load_examples() -> dict[str, dict[str, Any]]:
    """Return operation → {"request": body, "answer": body, "parameters": {name: value}}, each if it has one.

    Written by ``tests/api/test_examples.py``, which also verifies that the service still responds so.
    """
    return json.loads(EXAMPLES_FILE.read_text(encoding="utf-8")) if EXAMPLES_FILE.exists() else {}


def add_examples(paths: dict[str, Any]) -> None:
    """Add the recorded examples to all operations."""
    for item in paths.values():
        for operation in item.values():
            fill_operation_examples(operation, load_examples().get(operation["operationId"], {}))


def fill_operation_examples(operation: dict[str, Any], example: dict[str, Any]) -> None:
    """Add an example to one operation."""
    if "request" in example:
        for media in operation["requestBody"]["content"].values():
            media["example"] = example["request"]
    if "answer" in example:
        answer = next(each for status, each in operation["responses"].items() if status.startswith("2"))
        for media in answer["content"].values():
            media["example"] = example["answer"]
    for parameter in operation.get("parameters", ()):
        if parameter.get("name") in example.get("parameters", {}):
            parameter["example"] = example["parameters"][parameter["name"]]
