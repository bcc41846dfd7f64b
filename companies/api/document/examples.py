"""The examples of the OpenAPI document: what a small company really asked and was answered, kept as data."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

KEPT = Path(__file__).with_name("examples.json")


@lru_cache(maxsize=1)
def kept() -> dict[str, dict[str, Any]]:
    """Operation → {"request": body, "answer": body, "parameters": {name: value}}, each where it has one.

    Written by ``tests/api/test_examples.py``, which also shows that the service still answers so.
    """
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def add_examples(paths: dict[str, Any]) -> None:
    for item in paths.values():
        for operation in item.values():
            exemplify(operation, kept().get(operation["operationId"], {}))


def exemplify(operation: dict[str, Any], told: dict[str, Any]) -> None:
    if "request" in told:
        for media in operation["requestBody"]["content"].values():
            media["example"] = told["request"]
    if "answer" in told:
        answer = next(each for status, each in operation["responses"].items() if status.startswith("2"))
        for media in answer["content"].values():
            media["example"] = told["answer"]
    for parameter in operation.get("parameters", ()):
        if parameter.get("name") in told.get("parameters", {}):
            parameter["example"] = told["parameters"][parameter["name"]]
