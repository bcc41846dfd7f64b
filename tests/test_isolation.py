"""Tenants apart: every operation of the OpenAPI document, tried by those who may not."""

import re
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from companies.models import ApiKey, Membership
from ledger.models import ImportBatch
from tests.anyrow import any_row, company_models, loosen

pytestmark = pytest.mark.django_db

UNKNOWN = "00000000-0000-7000-8000-000000000000"
METHODS = ("get", "post", "put", "delete")

# Which model an id in a path names: the one of its name, or one of these. Any other fails the tests below.
NAMED: dict[str, Any] = {
    **{f"{model.__name__[:1].lower()}{model.__name__[1:]}Id": model for model in company_models()},
    "memberId": Membership,
    "importId": ImportBatch,
    "keyId": ApiKey,
}
NOT_IDS = {"originalDate": "2026-01-31"}
# An app's connection belongs to a person: everyone may ask for their own, so the rules of keys do not hold for it.
OWN_ALWAYS = {"/companies/{companyId}/connected_apps", "/companies/{companyId}/connected_apps/{connectedAppId}"}


def operations() -> list[Any]:
    document = SchemaGenerator().get_schema(request=None, public=True)
    return [
        pytest.param(method, path, id=f"{method.upper()} {path}")
        for path, item in document["paths"].items()
        for method in METHODS
        if method in item and "{companyId}" in path
    ]


OPERATIONS = operations()


def further_ids(path: str) -> list[str]:
    return [name for name in re.findall(r"{(\w+)}", path) if name != "companyId"]


WITH_IDS = [
    case for case in OPERATIONS if set(further_ids(case.values[1])) - set(NOT_IDS) and case.values[1] not in OWN_ALWAYS
]


def address(path: str, company_id: Any, ids: dict[str, Any] | None = None) -> str:
    """The path with its ids filled in; unknown ones where none are given."""
    given = {"companyId": company_id} | NOT_IDS | (ids or {})
    return re.sub(r"{(\w+)}", lambda found: str(given.get(found[1], UNKNOWN)), path)


def call(method: str, path: str, key: str | None = None) -> Any:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    content = {} if method == "get" else {"data": "{}", "content_type": "application/json"}
    return getattr(Client(), method)(path, headers=headers, **content)


def told(answer: Any) -> dict[str, Any]:
    """The body but for what names the request."""
    return {name: value for name, value in answer.json().items() if name not in {"instance", "requestId"}}


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_another_companys_key_sees_what_it_sees_of_an_unknown_company(globex_api, acme, method, path):
    there = call(method, address(path, acme.id), globex_api.key)
    nowhere = call(method, address(path, UNKNOWN), globex_api.key)
    assert (there.status_code, nowhere.status_code) == (404, 404)
    assert told(there) == told(nowhere)


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_nobody_gets_in_without_a_credential(acme, method, path):
    answer = call(method, address(path, acme.id))
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer ")
    assert told(answer) == told(call(method, address(path, UNKNOWN)))


@pytest.mark.parametrize(("method", "path"), [case for case in OPERATIONS if case.values[1] not in OWN_ALWAYS])
def test_a_key_without_the_permission_is_refused_by_name(make_api, acme, method, path):
    other = "files:read" if path.endswith("/audit_log") else "audit:read"
    answer = call(method, address(path, acme.id), make_api(acme, other).key)
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert re.search(r"\w+:(read|write|manage)", answer.json()["detail"])


@pytest.mark.parametrize(("method", "path"), WITH_IDS)
def test_another_companys_id_is_an_unknown_id(api, globex, globex_api, acme, method, path):
    loosen()
    names = [name for name in further_ids(path) if name not in NOT_IDS]
    for name in names:
        assert name in NAMED, f"Say in NAMED which model {{{name}}} names."
    foreign = {name: any_row(NAMED[name], globex).id for name in names}
    answers = [call(method, address(path, acme.id, ids), api.key) for ids in (foreign, {}, dict.fromkeys(names, "x"))]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert all(told(answer) == told(answers[0]) for answer in answers)
    for name, row_id in foreign.items():
        assert NAMED[name].objects.filter(company_id=globex.id, id=row_id).exists()
