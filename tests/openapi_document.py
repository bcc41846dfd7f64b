"""The OpenAPI document as served, generated once per process because that takes seconds."""

import json
from functools import cache
from threading import Lock
from typing import Any

from companies.api.openapi.reference import build_openapi_document

_LOCK = Lock()  # for tests with threads: two documents cannot be generated at once


@cache
def _generate_document() -> dict[str, Any]:
    return json.loads(build_openapi_document())


def load_document() -> dict[str, Any]:
    with _LOCK:
        return _generate_document()
