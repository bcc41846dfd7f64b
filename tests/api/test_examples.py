"""Every example in the document was really asked and answered, and still is."""

import json
import os
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from companies.api.openapi.examples import EXAMPLES_FILE
from companies.models import Company
from oauth.registration import register_app
from tests.api.example_scenario import Scenario, run_scenario, sign_in
from tests.api.test_document import resolve_reference
from tests.factories import UserFactory
from tests.oauth.conftest import REDIRECT, OAuthFlow
from tests.openapi_document import load_document

pytestmark = pytest.mark.django_db

DOCUMENT = load_document()
OPERATIONS = [operation for item in DOCUMENT["paths"].values() for operation in item.values()]


@pytest.fixture
def examples(monkeypatch) -> dict[str, Any]:
    """The examples that the scenario produces now."""
    owner = UserFactory(email="peter@initech.example", name="Peter Gibbons")
    story = Scenario(document=DOCUMENT, owner=sign_in(owner), monkeypatch=monkeypatch)
    for company in run_scenario(story):  # it stops where an app is to be let in
        app = register_app(name="Forecaster", redirect_uris=[REDIRECT], allowed=[], confidential=False).application
        story.secrets[app.client_id] = "forecaster"
        flow = OAuthFlow(application=app, browser=sign_in(owner))
        flow.tokens(Company.objects.get(id=company), scope="svc:read offline_access")
    return story.examples


def test_stored_examples_equal_actual_responses(examples):
    """With WRITE_EXAMPLES=1 they are written anew: look at the difference before it is committed."""
    if os.environ.get("WRITE_EXAMPLES"):
        EXAMPLES_FILE.write_text(json.dumps(examples, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert examples == json.loads(EXAMPLES_FILE.read_text(encoding="utf-8")), "WRITE_EXAMPLES=1 writes them anew."


def test_every_body_has_an_example_valid_against_its_schema():
    for operation in OPERATIONS:
        success = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
        bodies = [success, operation.get("requestBody", {"content": {}})]
        contents = [(kind, media) for body in bodies for kind, media in body["content"].items()]
        assert any("example" in media for _, media in contents), operation["operationId"]
        for kind, media in contents:
            if "json" in kind or "form" in kind:
                schema = Draft202012Validator(media["schema"] | {"components": DOCUMENT["components"]})
                assert [wrong.message for wrong in schema.iter_errors(media["example"])] == [], operation["operationId"]


def test_error_examples_match_their_codes_and_schema():
    schema = Draft202012Validator({"$ref": "#/components/schemas/Problem", "components": DOCUMENT["components"]})
    own = [answer for operation in OPERATIONS for answer in operation["responses"].values()]
    refusals = [*DOCUMENT["components"]["responses"].values(), *own]
    problems = [each["content"]["application/problem+json"] for each in refusals if has_problem_content(each)]
    assert problems
    for media in problems:
        for code, example in media["examples"].items():
            value = resolve_reference(example)["value"]
            assert value["code"] == code
            assert list(schema.iter_errors(value)) == []


def has_problem_content(answer: dict[str, Any]) -> bool:
    return "application/problem+json" in answer.get("content", {})
