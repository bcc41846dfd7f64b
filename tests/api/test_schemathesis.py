"""Requests that schemathesis makes up from the document, of its own schemas and against them: no answer is a 5xx, and
each keeps to what the document says.

What tests/api/test_fuzz.py gives is not done again here: its bodies are good ones with an odd value in one place, and
come deeper; these have every shape that the document allows, and those that it rules out, and so do headers, parameters
and methods. The suite sends the same few requests each time; ``make fuzz`` sends others each time, and more of them.
Each is undone after its answer, so that all find the same rows.
"""

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, settings
from schemathesis.checks import load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.generation import GenerationMode
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.generation.meta import TestPhase
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.specs.openapi import checks

from companies.api.limits import MAX_LINE_LENGTH
from companies.names import LINE_BREAKS, NAME_PATTERN
from config.wsgi import application as served
from tests.api.request_bodies import FUZZ
from tests.api.seeded_company import Seeded, seeded_company, shared_seeded_company
from tests.openapi_document import load_document
from tests.test_isolation import ROW_OF_FIELD
from tests.test_permissions import strip_company_path

pytestmark = pytest.mark.django_db
assert shared_seeded_company  # fixtures
assert seeded_company

DEFAULT_EXAMPLES = 2  # made-up requests an operation, beside those that the bounds of its schema call for
COVERAGE_SHARE = 16  # one in so many of these is sent

CONFIG = {
    "generation": {
        "max-examples": FUZZ or DEFAULT_EXAMPLES,
        "deterministic": not FUZZ,
        "database": "none",
        "with-security-parameters": False,  # the caller's key is ours to send; ignored_auth tries without it
        "allow-x00": False,  # no text takes a NUL, and to say so would make a pattern of each
    },
    "checks": {
        # A stale If-Match is told before the body is read.
        "negative_data_rejection": {"expected-statuses": [400, 401, 403, 404, 405, 406, 409, 411, 412, 413, 415]},
    },
}

# That all is taken which the schema allows (positive_data_acceptance) is asked of these only. The others name rows or
# files that must be there and in a certain state, take cursors that only they make, or have fields that depend on each
# other: no schema knows that a period ends after it starts, or that a yen has no decimals.
FULLY_DESCRIBED = {
    "GET": {
        "", "members", "members/{}", "api_keys", "api_keys/{}", "connected_apps", "accounts", "accounts/{}",
        "accounts/{}/initial_balance", "account_groups", "account_groups/{}", "imports/{}", "transactions/{}",
        "categories", "categories/{}", "counterparties", "counterparties/{}", "files/{}", "files/{}/content",
        "products", "products/{}", "product_groups", "product_groups/{}", "subscriptions/{}", "subscription_events/{}",
        "planned_transactions/{}", "plan_items/{}",
    },
    "POST": {
        "account_groups", "categories", "counterparties", "product_groups", "products", "subscriptions",
        "notifications/read_all", "notifications/batch_delete", "transactions/categorization_status",
    },
    "PUT": {
        "account_groups/{}", "counterparties/{}", "product_groups/{}", "products/{}", "accounts/{}/archive",
        "accounts/{}/unarchive", "accounts/{}/change_group",
    },
    "DELETE": {
        "logo", "members/{}", "api_keys/{}", "imports/{}", "transactions/{}", "files/{}", "subscription_events/{}",
        "planned_transactions/{}", "plan_items/{}",
    },
}  # fmt: skip


def application(environ: Any, start_response: Any) -> Any:
    """What is served, in the test's own transaction: a request would end its connection."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    return served(environ, start_response)


def escape_json(pattern: str) -> str:
    return json.dumps(pattern)[1:-1]


@cache
def load_schema() -> Any:
    """The document as schemathesis reads it.

    A name's pattern looks ahead for something to see. No length can be worked into such a one: it is searched for, and
    that takes minutes. What is made up without the look ahead is hardly ever blank.
    """
    simplified = json.dumps(load_document()).replace(escape_json(NAME_PATTERN), escape_json(rf"^[^{LINE_BREAKS}]+$"))
    schema = schemathesis.openapi.from_dict(json.loads(simplified), config=SchemathesisConfig.from_dict(CONFIG))
    schema.app = application
    load_all_checks()
    return schema


@pytest.fixture(scope="module")
def statuses() -> Iterator[Counter[int]]:
    """Number of responses by status so far."""
    result: Counter[int] = Counter()
    yield result
    print(f"schemathesis: {result.total()} requests, answered {dict(sorted(result.items()))}")  # noqa: T201 - what was asked


@pytest.fixture(autouse=True)
def use_seeded_company(seeded_company: Seeded) -> None:
    """Keep the files of the seeded company in every test."""


def use_seeded_rows(case: Any, seeded: Seeded) -> None:
    """What a schema cannot know: the ids of the company and of its rows."""
    path = {
        name: seeded.rows.get(ROW_OF_FIELD.get(name, ""), value) for name, value in (case.path_parameters or {}).items()
    }
    if path:
        case.path_parameters = path | {"companyId": str(seeded.api.company.id)}
    case.headers.pop("If-Match", None)  # or all else would be hidden behind a 412
    if case.meta.generation.mode is GenerationMode.POSITIVE:
        body = replace_ids(case.body, seeded.rows)
        if repr(body) != repr(case.body):  # 1 equals 1.0; and what is set anew is judged anew, a form wrongly
            case.body = body
    if isinstance(case.body, dict) and case.body.get("onError") == "skip":
        case.body["onError"] = "abort"  # or bad rows are answered in a list, with 200


def replace_ids(part: Any, rows: dict[str, str], name: str = "") -> Any:
    """The body with ids of rows where a schema asks for ids, and 1 for 1.0: we hold that to be no integer."""
    if isinstance(part, float) and part.is_integer():
        return int(part)
    if isinstance(part, dict):
        return {key: replace_ids(value, rows, get_field_name(name, key)) for key, value in part.items()}
    if isinstance(part, list):
        return [replace_ids(value, rows, name) for value in part]
    return rows.get(ROW_OF_FIELD.get(name, ""), part) if isinstance(part, str) else part


def get_field_name(parent: str, key: str) -> str:
    """The name that NAMED has for a field."""
    return f"{parent}.{key}" if f"{parent}.{key}" in ROW_OF_FIELD else key


def list_disabled_checks(case: Any) -> set[Any]:
    """The checks that the document cannot keep for this request."""
    off = set()
    if strip_company_path(case.operation.path) not in FULLY_DESCRIBED.get(case.method, ()):
        off.add(checks.positive_data_acceptance)
    if any(len(value) > MAX_LINE_LENGTH for value in case.headers.values()):
        off.add(checks.negative_data_rejection)  # the server's to refuse, which is not in between here
    if case.operation.path.endswith("/files"):
        off.add(checks.negative_data_rejection)  # an empty field of a form names no transaction: an empty list
    if case.media_type == "multipart/form-data" and isinstance(case.body, dict) and "" in case.body.values():
        off.add(checks.negative_data_rejection)  # an empty field of a form is one that was not filled in
    if case.meta.phase.name is TestPhase.COVERAGE:
        off.add(checks.ignored_auth)  # asks each time anew without the key, and with another: a few times are enough
    return off


class Selection:
    """Which of an operation's requests are sent: all that are made up, and of those that the bounds of its schema call
    for one in COVERAGE_SHARE, from the first. ``make fuzz`` sends all."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.counts: Counter[bool] = Counter()  # of its own method, and of others

    def has(self, case: Any) -> bool:
        if FUZZ or case.meta.phase.name is not TestPhase.COVERAGE:
            return True
        self.counts[case.method == self.method] += 1
        return self.counts[case.method == self.method] % COVERAGE_SHARE == 1


@pytest.mark.parametrize(
    ("method", "path"),
    [(method.upper(), path) for path, item in load_document()["paths"].items() for method in item],
)
def test_schemathesis_responses_match_the_document(method, path, shared_seeded_company, statuses):
    selection = Selection(method)

    @settings(deadline=None, suppress_health_check=list(HealthCheck))
    def send(case: Any) -> None:
        if not selection.has(case):
            return
        headers, off = shared_seeded_company.api.headers, list(list_disabled_checks(case))
        use_seeded_rows(case, shared_seeded_company)
        with transaction.atomic():
            answer = case.call(headers=headers)
            statuses[answer.status_code] += 1
            case.validate_response(answer, headers=headers, excluded_checks=off, transport_kwargs={"headers": headers})
            transaction.set_rollback(True)

    # As the plugin of pytest does it, which would make up all requests while tests are collected: half a minute.
    schema = load_schema()
    run = build_operation_test(
        config=schema.config,
        operation=schema[path][method],
        test_func=send,
        given_kwargs={},
        feedback=FeedbackSources(),
    )
    run()
