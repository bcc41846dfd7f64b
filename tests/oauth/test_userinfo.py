"""Who the user is, told to an app that may know. U1 of the checklist."""

import pytest
from django.test import Client

from companies.models import User
from tests.oauth.conftest import USERINFO
from tests.oauth.test_resource import build_bearer_header, decode_parts
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db


def test_u1_o13_userinfo_returns_claims_of_granted_scopes(alice_flow, acme, alice):
    for scope, claims in [
        ("openid", {"sub"}),
        ("openid email", {"sub", "email"}),
        ("openid profile", {"sub", "name"}),
        ("openid profile email", {"sub", "email", "name"}),
        ("openid svc:read offline_access", {"sub"}),
    ]:
        for method in ["get", "post"]:
            with undo_changes():
                issued = alice_flow.tokens(acme, scope=scope)
                answer = getattr(alice_flow.app, method)(USERINFO, headers=build_bearer_header(issued["access_token"]))
                assert answer.status_code == 200, (scope, method)
                assert set(answer.json()) == claims, (scope, method)
                assert answer.json()["sub"] == decode_parts(issued["id_token"])[1]["sub"] == str(alice.id), (
                    scope,
                    method,
                )
                assert answer["Cache-Control"] == "no-store", (scope, method)
                assert answer["Access-Control-Allow-Origin"] == "*", (scope, method)


def test_u1_user_without_name_uses_email_as_name(alice_flow, acme, alice):
    User.objects.filter(pk=alice.pk).update(name="")
    token = alice_flow.tokens(acme, scope="openid profile")["access_token"]
    assert alice_flow.call(token, USERINFO).json()["name"] == alice.email


def test_u1_userinfo_requires_openid_scope(alice_flow, acme):
    answer = alice_flow.call(alice_flow.tokens(acme, scope="svc:read email")["access_token"], USERINFO)
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer["WWW-Authenticate"]
    assert 'scope="openid"' in answer["WWW-Authenticate"]
    assert answer["Content-Type"] == "application/problem+json"


def test_u1_userinfo_accepts_neither_api_key_nor_cookie(api, alice_flow):
    assert api.get(USERINFO).status_code == 401
    assert alice_flow.browser.get(USERINFO).status_code == 401
    assert Client().post(USERINFO, {"access_token": "x"}).status_code == 401


def test_u1_a13_userinfo_ignores_query_string(alice_flow, alice_tokens):
    plain = alice_flow.call(alice_tokens["access_token"], USERINFO)
    for query in ["%zz", "x=%00", "x=%ff", "a=1&a=2", "scope=openid", "client_id=x"]:
        odd = alice_flow.call(alice_tokens["access_token"], f"{USERINFO}?{query}")
        assert (odd.status_code, odd.json()) == (200, plain.json()), query


def test_u1_userinfo_supports_only_get_and_post(client):
    assert client.put(USERINFO).status_code == 405
