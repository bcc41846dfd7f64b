"""No answer is a 5xx, whatever is sent: every operation of the address space, with values that no client would send."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.request_bodies import FUZZ, UNKNOWN_ID, build_path, fill_ids, get_request_body
from tests.api.seeded_company import seeded_company, shared_seeded_company
from tests.test_permissions import OPERATIONS

pytestmark = pytest.mark.django_db
assert shared_seeded_company  # fixtures
assert seeded_company

ODD_TEXTS = [
    "", " ", "\0", "a\0b", "\ud7ff", "\uffff", "𝕏", "\u202e", "e\u0301" * 50, "x" * 12_000, "' OR 1=1 --", "<script>",
    "../../etc", "2024-02-30", "2024-01-01", "0001-01-01", "9999-12-31", "2024-13", "2024-01", "0001-01", "9999-12",
    "1e400", "NaN", "-0", "+1", "1_000", "١٢", "1.00", "-999999999999999.9999", "999999999999999", "0.00001",
    UNKNOWN_ID, UNKNOWN_ID.replace("-", ""), "{}", "9999-12-31T23:59:59.999999-23:59", "0001-01-01T00:00:00+23:59",
    "JPY", "null",
]  # fmt: skip
TEXTS = st.sampled_from(ODD_TEXTS) | st.text(max_size=20)
NUMBERS = st.sampled_from([0, -1, 1, 2**31, -(2**31) - 1, 2**63, 2**64, 10**30, 1e308, 1e-320, 0.1, 8388608, 10**6])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)
PARAMETERS = ["limit", "cursor", "startDate", "endDate", "archived", "q", "sort", "accountId", "since", "replaceWith"]
QUERIES = st.dictionaries(st.sampled_from(PARAMETERS) | TEXTS, TEXTS, max_size=2)


def list_places(body: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where in a body something stands: () is the body itself."""
    inner = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    return [path, *(place for key, value in inner for place in list_places(value, (*path, key)))]


def replace_value(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = dict(body) if isinstance(body, dict) else list(body)
    copy[path[0]] = replace_value(copy[path[0]], path[1:], value)
    return copy


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_fuzzed_operations_never_fail(seeded_company, path, method):
    api, ids = seeded_company.api, seeded_company.rows
    body = fill_ids(get_request_body(path), ids)
    here, statuses = api.path(build_path(path, ids)), set()

    @settings(
        max_examples=FUZZ or 8, derandomize=not FUZZ, deadline=None, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(
        changes=st.lists(st.tuples(st.sampled_from(list_places(body)), VALUES), max_size=2),
        query=st.just({}) | (QUERIES if method != "POST" else st.just({})),
    )
    def fuzz(changes, query):
        sent = body
        for place, value in sorted(changes, key=lambda change: -len(change[0])):
            sent = replace_value(sent, place, value) if place in list_places(sent) else sent
        raw = json.dumps(sent).encode() if method in ("POST", "PUT") else b""
        queries = f"{here}?{urlencode(query, errors='replace')}"
        answer = api.client.generic(method, queries, raw, content_type="application/json", headers=api.headers)
        statuses.add(answer.status_code)
        assert answer.status_code < 500, (query, sent, answer.content)
        if answer.status_code >= 400:
            assert answer["Content-Type"] == "application/problem+json"

    fuzz()
    assert 405 not in statuses
    reached = statuses - {404}
    unreached = ("connected_apps", "notifications/{}", "members/me", "closings/{}")  # a key is nobody who could leave
    assert reached or path.startswith(unreached) or "link" in path or "overrides" in path, "nothing but 404"
