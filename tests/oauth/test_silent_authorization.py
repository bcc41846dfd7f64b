"""prompt=none: a code on the strength of a consent that stands, without a page. O5 of the checklist."""

import pytest

from companies.models import Membership
from companies.permissions import Role
from oauth.models import ConsentGrant
from oauth.registration import register_app
from tests import factories
from tests.oauth.conftest import REDIRECT, OAuthFlow, parse_redirect

pytestmark = pytest.mark.django_db


def test_o5_silent_request_of_anonymous_user_returns_login_required(flow):
    assert parse_redirect(flow.ask(prompt="none"))["error"] == "login_required"


def test_o5_silent_request_without_consent_returns_consent_required(alice_flow):
    assert parse_redirect(alice_flow.ask(prompt="none"))["error"] == "consent_required"


def test_o5_silent_request_with_consent_returns_code_of_that_consent(alice_flow, acme):
    alice_flow.tokens(acme)
    values = parse_redirect(alice_flow.ask(prompt="none", scope="svc:read openid"))
    answer = alice_flow.redeem(values["code"])
    assert answer.json()["scope"] == "svc:read openid"
    assert ConsentGrant.objects.count() == 1
    assert "refresh_token" not in answer.json()


@pytest.mark.parametrize("ended", ["revoked", "membership", "permissions", "narrower"])
def test_o5_silent_request_needs_valid_and_sufficient_consent(ended, alice_flow, acme, alice):
    alice_flow.tokens(acme, scope="svc:read")
    if ended == "revoked":
        ConsentGrant.objects.update(revoked_time=factories.make_audit_context().time, revoked_reason="user")
    elif ended == "membership":
        Membership.objects.filter(user=alice).delete()
    elif ended == "permissions":
        Membership.objects.filter(user=alice).update(permissions=["audit:read"])
    scope = "svc:read svc:write" if ended == "narrower" else "svc:read"
    assert parse_redirect(alice_flow.ask(prompt="none", scope=scope))["error"] == "consent_required"


def test_o5_silent_request_ignores_consent_of_other_user(alice_flow, acme, bob):
    alice_flow.tokens(acme)
    other = OAuthFlow(application=alice_flow.application)
    other.sign_in(bob)
    assert parse_redirect(other.ask(prompt="none"))["error"] == "consent_required"


def test_o5_silent_request_ignores_consent_to_other_app(alice_flow, acme):
    alice_flow.tokens(acme)
    made = register_app(name="Another", redirect_uris=[REDIRECT], allowed=[], confidential=False)
    assert (
        parse_redirect(OAuthFlow(made.application, browser=alice_flow.browser).ask(prompt="none"))["error"]
        == "consent_required"
    )


def test_o5_silent_request_is_refused_for_loopback_redirect_uri(alice, acme):
    made = register_app(name="Local", redirect_uris=["http://127.0.0.1/cb"], allowed=[], confidential=False)
    flow = OAuthFlow(application=made.application, redirect_uri="http://127.0.0.1:5123/cb")
    flow.sign_in(alice)
    flow.tokens(acme)
    assert parse_redirect(flow.ask(prompt="none"))["error"] == "consent_required"


def test_o5_silent_request_uses_latest_company(alice_flow, acme, alice, globex):
    Membership(company=globex, user=alice, role=Role.VIEWER).mark_created(factories.make_audit_context()).save(
        force_insert=True
    )
    alice_flow.tokens(acme)
    alice_flow.tokens(globex)
    values = parse_redirect(alice_flow.ask(prompt="none"))
    token = alice_flow.redeem(values["code"]).json()["access_token"]
    assert [c["name"] for c in alice_flow.call(token).json()] == ["Globex"]


def test_o5_silent_openid_request_needs_no_data_permission(alice_flow, acme, alice):
    alice_flow.tokens(acme, scope="openid")
    Membership.objects.filter(user=alice).update(permissions=["audit:read"])  # nothing that an app could be given
    assert "code" in parse_redirect(alice_flow.ask(prompt="none", scope="openid"))


def test_o5_silent_request_skips_latest_consent_without_permissions(alice_flow, acme, alice, globex):
    Membership(company=globex, user=alice, role=Role.VIEWER).mark_created(factories.make_audit_context()).save(
        force_insert=True
    )
    alice_flow.tokens(acme)
    alice_flow.tokens(globex)
    Membership.objects.filter(company=globex, user=alice).update(permissions=[])
    values = parse_redirect(alice_flow.ask(prompt="none"))
    assert [c["name"] for c in alice_flow.call(alice_flow.redeem(values["code"]).json()["access_token"]).json()] == [
        "Acme"
    ]
