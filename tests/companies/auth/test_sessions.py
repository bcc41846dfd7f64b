"""The session of someone who signed in, as a credential of the API."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from companies.models import Membership
from tests import factories
from tests.companies.pages.test_user_pages import get_csrf_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def strict(alice, acme):
    """Alice's browser, with the CSRF check that test clients leave out."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_session_write_requires_csrf_token(strict, acme):
    strict.cookies["svc-csrf"] = token = "a" * 32
    path = f"/companies/{acme.id}/account_groups"
    refused = strict.post(path, {"name": "x"}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf_failed")
    assert refused["Content-Type"] == "application/problem+json"
    assert refused["RateLimit-Limit"]
    wrong = strict.post(path, {"name": "x"}, content_type="application/json", headers={"X-CSRFToken": "b" * 32})
    assert wrong.status_code == 403
    assert strict.get(path).json() == []
    made = strict.post(path, {"name": "x"}, content_type="application/json", headers={"X-CSRFToken": token})
    assert made.status_code == 201


def test_cookies_over_https_have_host_prefix_attributes(settings, alice):
    """What ``__Host-`` asks of a cookie, so that browsers take it: Secure, no domain, the path / (RFC 6265bis)."""
    for name in ("SESSION", "CSRF", "DEVICE"):
        setattr(settings, f"{name}_COOKIE_NAME", f"__Host-svc-{name.lower()}")
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    visitor = Client(enforce_csrf_checks=True)
    token = get_csrf_token(visitor.get("/app/sign-in", secure=True))
    form = {"username": alice.email, "password": "correct horse battery", "csrfmiddlewaretoken": token}
    headers = {"Referer": "https://testserver/app/sign-in"}
    assert visitor.post("/app/sign-in", form, secure=True, headers=headers).status_code == 303
    assert set(visitor.cookies) == {"__Host-svc-session", "__Host-svc-csrf", "__Host-svc-device"}
    for cookie in visitor.cookies.values():
        assert (cookie["secure"], cookie["domain"], cookie["path"]) == (True, "", "/")
    assert visitor.get("/companies", secure=True).status_code == 200
    assert 'data-csrf-cookie="__Host-svc-csrf"' in visitor.get("/docs", secure=True).content.decode()


def test_api_key_request_needs_no_csrf_token(api):
    client = Client(enforce_csrf_checks=True)
    answer = client.post(
        api.path("account_groups"), {"name": "x"}, content_type="application/json", headers=api.headers
    )
    assert answer.status_code == 201


def test_api_key_takes_precedence_over_session(strict, globex, make_api):
    key = make_api(globex).key
    (company,) = strict.get("/companies", headers={"Authorization": f"Bearer {key}"}).json()
    assert company["name"] == "Globex"


def test_unknown_or_ended_session_returns_401(strict, client):
    client.cookies["svc-session"] = "nonsense"
    assert client.get("/companies").status_code == 401
    strict.session.flush()
    assert strict.get("/companies").status_code == 401


def test_deactivated_user_session_returns_401_immediately(strict, alice):
    alice.is_active = False
    alice.save()
    assert strict.get("/companies").status_code == 401


def test_lost_membership_or_permission_takes_effect_immediately(strict, alice, acme):
    Membership.objects.filter(user=alice).update(permissions=["accounts:read"])
    assert strict.get(f"/companies/{acme.id}/members").status_code == 403
    assert strict.get(f"/companies/{acme.id}/accounts").status_code == 200
    assert strict.get("/companies").json()[0]["permissions"] == ["accounts:read"]
    Membership.objects.filter(user=alice).delete()
    assert strict.get(f"/companies/{acme.id}/accounts").status_code == 404
    assert strict.get("/companies").json() == []


def test_user_lists_own_companies_by_name_with_role_and_permissions(browser_of, bob, acme, globex):
    factories.make_member(globex, "bob@acme.example", role="admin")
    listed = browser_of(bob, acme).get("/companies").json()
    assert [(c["name"], c["role"]) for c in listed] == [("Acme", "viewer"), ("Globex", "admin")]
    assert "company:manage" not in listed[1]["permissions"]
    assert "members:manage" in listed[1]["permissions"]
    assert listed[0]["permissions"] == [
        "accounts:read", "transactions:read", "categories:read", "counterparties:read", "files:read", "planning:read",
        "products:read", "subscriptions:read", "notifications:read", "notifications:write", "company:read",
        "balances:read", "financials:read",
    ]  # fmt: skip


def test_rows_created_in_session_carry_user_id(browser_of, alice, acme):
    made = browser_of(alice, acme).post("account_groups", {"name": "x"}).json()
    assert made["createdUserId"] == str(alice.id)


def test_csrf_check_does_not_consume_request_body(strict, api):
    """Looking for the CSRF token must not read them: an import decodes its own, an upload is parsed as a form."""
    strict.cookies["svc-csrf"] = token = "a" * 32
    headers = {"X-CSRFToken": token}
    account = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    body = {"transactions": [{"accountId": account, "date": "2026-01-05", "amountValue": "1.00"}]}
    for path in ("transactions/import", "subscription_events/import"):
        sent = body | {"events": []}
        answer = strict.post(api.path(path), sent, content_type="application/json", headers=headers)
        assert answer.status_code == 200, answer.content
    retried = headers | {"Idempotency-Key": "once"}
    for _ in range(2):
        answer = strict.post(api.path("transactions/import"), body, content_type="application/json", headers=retried)
        assert answer.status_code == 200, answer.content
    assert answer["Idempotency-Replayed"] == "true"
    document = SimpleUploadedFile("a.csv", b"a,b\n1,2\n")
    assert strict.post(api.path("files"), {"file": document}, headers=headers).status_code == 201


def test_invalid_body_for_unknown_company_returns_404(strict):
    strict.cookies["svc-csrf"] = token = "a" * 32
    path = "/companies/00000000-0000-7000-8000-000000000000/accounts"
    answer = strict.post(path, b"{", content_type="application/json", headers={"X-CSRFToken": token})
    assert answer.status_code == 404
