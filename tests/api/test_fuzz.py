"""No answer is a 5xx, whatever is sent: every operation of the document, with bodies that no client would send."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from companies.api.viewsets import CompanyViewSet
from tests.test_permissions import NEEDS, OPERATIONS, UNKNOWN, routes

pytestmark = pytest.mark.django_db

ODD_TEXTS = [
    "", " ", "\0", "a\0b", "\ud7ff", "￿", "𝕏", "\u202e", "e\u0301" * 50, "x" * 12_000, "' OR 1=1 --", "<script>",
    "../../etc",
    "2024-02-30", "2024-01-01", "0001-01-01", "9999-12-31", "2024-13", "2024-01", "0000-01", "9999-12", "1e400",
    "NaN",
    "-0", "+1", "1_000", "١٢", "1.00", "-999999999999999.9999", "0.00001", UNKNOWN, UNKNOWN.replace("-", ""), "{}",
    "9999-12-31T23:59:59.999999-23:59", "0001-01-01T00:00:00+23:59", "EUR", "eur", "%00", "null", "true",
    "month", "day",
]  # fmt: skip
TEXTS = st.sampled_from(ODD_TEXTS) | st.text(max_size=20).filter(lambda text: text.isprintable() or "\0" in text)
NUMBERS = st.sampled_from([0, -1, 1, 2**31, -(2**31) - 1, 2**63, 2**64, 10**30, 1e308, -1e-320, 0.1, 8388607, 8388608])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)
QUERIES = st.dictionaries(
    TEXTS | st.sampled_from(["limit", "cursor", "startDate", "endDate", "archived", "q", "sort"]), TEXTS, max_size=3
)


def field_names(view: type, method: str) -> list[str]:
    """The names that a body of the operation may have, from the document."""
    from companies.reference import document

    names: set[str] = set()
    for schema in json.loads(document())["components"]["schemas"].values():
        names |= set(schema.get("properties", ()))
    return sorted(names)


@pytest.fixture(scope="module")
def names() -> list[str]:
    return field_names(CompanyViewSet, "POST")


def body_names(path: str, method: str) -> list[str]:
    """The fields of one operation's body, and of what lies directly inside them."""
    from companies.reference import document

    whole = json.loads(document())
    address = "/companies/{companyId}" + (f"/{path}" if path else "")
    for candidate, item in whole["paths"].items():
        if "/".join("{}" if part.startswith("{") else part for part in candidate.split("/")) == address.replace(
            "{companyId}", "{}"
        ):
            content = item.get(method.lower(), {}).get("requestBody", {}).get("content", {})
            return [name for each in content.values() for name in properties(whole, each["schema"])]
    return []


def properties(whole: Any, schema: Any) -> dict[str, Any]:
    if "$ref" in schema:
        return properties(whole, whole["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    found = dict(schema.get("properties", {}))
    for part in schema.get("allOf", []) + schema.get("oneOf", []):
        found |= properties(whole, part)
    return found


@pytest.fixture
def ids(api) -> dict[str, str]:
    """Real rows, so that the fuzz gets past the 404."""
    account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    group = api.post("account_groups", {"name": "Banks"}).json()["id"]
    row = {"accountId": account, "date": "2024-05-01", "amountValue": "-1.00"}
    api.post("transactions/import", {"transactions": [row]})
    listed = api.get("transactions")
    found = {"accounts/{}": account, "account_groups/{}": group}
    if listed.status_code == 200:
        found["transactions/{}"] = listed.json()[0]["id"]
    for path in ("categories", "counterparties", "products", "subscriptions", "plan_items", "planned_transactions"):
        answer = api.get(path)
        if answer.status_code == 200 and answer.json():
            found[f"{path}/{{}}"] = answer.json()[0]["id"]
    return found


def real(path: str, ids: dict[str, str]) -> str:
    for prefix, row_id in ids.items():
        if path.startswith(prefix):
            path = path.replace("{}", row_id, 1)
    return path.replace("{}", UNKNOWN)


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_no_operation_fails_whatever_is_sent(api, ids, path, method):
    assert NEEDS
    assert routes
    fields = st.sampled_from(body_names(path, method) or ["name"])
    address = api.path(real(path, ids))
    statuses = set()

    @settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(body=st.dictionaries(fields, VALUES, max_size=6) | VALUES, query=QUERIES | st.just({}))
    def fuzz(body, query):
        raw = json.dumps(body).encode("utf-8", "replace") if method in ("POST", "PUT") else b""
        from urllib.parse import urlencode

        answer = api.client.generic(
            method, f"{address}?{urlencode(query)}", raw, content_type="application/json", headers=api.headers
        )
        statuses.add(answer.status_code)
        assert answer.status_code < 500, (query, body, answer.content)
        if answer.status_code >= 400:
            assert answer["Content-Type"] == "application/problem+json"
            assert answer.json()["code"]

    fuzz()
    assert statuses - {404, 405}, "nothing but 404: the fuzz did not reach the operation"
