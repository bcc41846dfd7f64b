"""Companies over HTTP."""

import pytest

pytestmark = pytest.mark.django_db


def test_company_list_of_api_key_has_its_one_company(api, globex):
    answer = api.get("/companies")
    assert answer.status_code == 200, answer.content
    (item,) = answer.json()
    assert item["name"] == "Acme"
    assert item["role"] == "apiKey"
    assert "balances:read" in item["permissions"]
    assert "domain" not in item


def test_another_company_returns_same_404_as_unknown_one(api, globex):
    other = api.get(f"/companies/{globex.id}")
    unknown = api.get("/companies/00000000-0000-7000-8000-000000000000")
    malformed = api.get("/companies/x")
    for answer in (other, unknown, malformed):
        assert answer.status_code == 404
    assert {k: v for k, v in other.json().items() if k not in {"instance", "requestId"}} == {
        k: v for k, v in unknown.json().items() if k not in {"instance", "requestId"}
    }


def test_missing_credential_returns_401_with_challenge_without_error(client, acme):
    answer = client.get(f"/companies/{acme.id}")
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer ")
    assert "error=" not in answer["WWW-Authenticate"]
    assert answer["Content-Type"] == "application/problem+json"
