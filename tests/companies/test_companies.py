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


def test_company_can_be_read_changed_and_sent_back(api):
    read = api.get()
    assert read.status_code == 200
    etag = read["ETag"]
    again = api.put("", read.json() | {"name": "Acme Two", "nonsense": 1}, if_match=etag)
    assert again.status_code == 200, again.content
    assert again.json()["name"] == "Acme Two"
    assert again["Ignored-Fields"] == "nonsense"
    assert api.put("", {"name": "x"}, if_match=etag).status_code == 412


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


def test_viewer_cannot_change_company(browser_of, bob, acme):
    answer = browser_of(bob, acme).put("", {"name": "Bob's"})
    assert answer.status_code == 403
    assert answer.json()["code"] == "permission_denied"
    assert "company:write" in answer.json()["detail"]


def test_api_key_is_created_used_and_revoked(browser_of, alice, acme, client):
    made = browser_of(alice, acme).post("api_keys", {"name": "ci", "permissions": ["accounts:read"]})
    assert made.status_code == 201, made.content
    key = made.json()["key"]
    assert len(key) == 76
    headers = {"Authorization": f"Bearer {key}"}
    assert client.get("/companies", headers=headers).status_code == 200
    gone = browser_of(alice, acme).delete(f"api_keys/{made.json()['id']}")
    assert gone.json() == {"success": True}
    assert client.get("/companies", headers=headers).status_code == 401


def test_idempotent_company_update_has_its_effect_once(api):
    one = api.put("", {"name": "Once"}, idempotency_key="k1")
    two = api.put("", {"name": "Once"}, idempotency_key="k1")
    assert two["Idempotency-Replayed"] == "true"
    assert one.json() == two.json()
    assert api.put("", {"name": "Other"}, idempotency_key="k1").json()["code"] == "idempotency_key_reused"
