"""The token endpoint. Numbers such as T6 name the assertion of the checklist."""

import base64
import hashlib
import json
from urllib.parse import urlencode

import pytest
from joserfc import jwt  # not what the service signs with
from joserfc.jwk import KeySet

from companies.models import AuditEntry, Membership
from oauth.models import AccessToken, AuthorizationCode, ConsentGrant, IDToken, RefreshToken
from oauth.protocol import scopes
from oauth.protocol.tokens import derive_successor_token
from oauth.registration import register_app
from tests.oauth.conftest import (
    ISSUER,
    REDIRECT,
    REVOKE,
    TOKEN,
    USERINFO,
    OAuthFlow,
    get_latest_consent,
    move_clock_ahead,
)
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db
BASE = "http://127.0.0.1:8000"


def check_error(answer, error, status=400, description=None):
    assert answer.status_code == status, answer.content
    assert answer.json()["error"] == error
    assert description is None or answer.json()["error_description"] == description
    assert answer["Content-Type"] == "application/json"  # T4
    assert answer["Cache-Control"] == "no-store"
    return True


def get_published_keys(flow) -> KeySet:
    return KeySet.import_key_set(flow.app.get("/auth/oauth2/jwks").json())


def register_other_app() -> OAuthFlow:
    made = register_app(name="Other", redirect_uris=[REDIRECT], allowed=[], confidential=False)
    return OAuthFlow(application=made.application)


def test_t1_token_endpoint_accepts_only_post(client):
    for method in ["get", "head", "put", "delete", "patch"]:
        for path in [TOKEN, REVOKE]:
            answer = getattr(client, method)(path)
            assert answer.status_code == 405, (method, path)
            assert answer["Allow"] == "POST", (method, path)
            assert answer["Content-Type"] == "application/json", (method, path)


@pytest.mark.parametrize(
    ("label", "body", "kind"),
    [
        ("json", '{"grant_type": "authorization_code"}', "application/json"),
        ("multipart", "x", "multipart/form-data; boundary=x"),
        ("none", "", ""),
        ("text", "grant_type=refresh_token", "text/plain"),
    ],
)
def test_t2_non_form_body_is_invalid_request(label, body, kind, client):
    assert check_error(client.post(TOKEN, body, content_type=kind), "invalid_request")


def test_t2_malformed_form_is_invalid_request(client, application):
    for body in ["grant_type=refresh_token&grant_type=x", "%zz", "a=%00", "x=%ff", "grant_type="]:
        assert check_error(
            client.post(TOKEN, body, content_type="application/x-www-form-urlencoded"), "invalid_request"
        )


def test_t3_query_parameters_are_rejected(flow, application):
    body = urlencode({"grant_type": "refresh_token", "refresh_token": "x", "client_id": application.client_id})
    answer = flow.app.post(f"{TOKEN}?x=1", body, content_type="application/x-www-form-urlencoded")
    assert check_error(answer, "invalid_request")


def test_t5_other_grant_types_are_unsupported(flow):
    for kind in [
        "password",
        "client_credentials",
        "urn:ietf:params:oauth:grant-type:device_code",
        "implicit",
        "nonsense",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
    ]:
        body = {"grant_type": kind, "client_id": flow.application.client_id, "username": "x", "password": "y"}
        assert check_error(flow.post(TOKEN, body), "unsupported_grant_type"), kind


def test_t4_token_response_is_json_and_not_cached(alice_flow, acme):
    answer = alice_flow.redeem(alice_flow.code(acme))
    assert answer["Cache-Control"] == "no-store"
    assert answer["Content-Type"] == "application/json"
    assert answer["Access-Control-Allow-Origin"] == "*"


def test_t6_later_code_replay_ends_the_consent(alice_flow, acme, monkeypatch):
    code = alice_flow.code(acme)
    tokens = alice_flow.redeem(code).json()
    move_clock_ahead(monkeypatch, seconds=30)  # O10
    assert check_error(alice_flow.redeem(code), "invalid_grant", description="code_used")
    assert alice_flow.call(tokens["access_token"]).status_code == 401
    assert check_error(alice_flow.refresh(tokens["refresh_token"]), "invalid_grant", description="token_revoked")
    assert get_latest_consent().revoked_reason == "codeReplay"
    assert AuditEntry.objects.filter(action="app.revoked").exists()


def test_t6_immediate_code_reuse_is_rejected_and_keeps_tokens(alice_flow, acme):
    code = alice_flow.code(acme)
    tokens = alice_flow.redeem(code).json()
    assert check_error(alice_flow.redeem(code), "invalid_grant")
    assert alice_flow.call(tokens["access_token"]).status_code == 200


def test_t6_other_app_cannot_end_consent_by_replaying_code(alice_flow, acme, monkeypatch):
    code = alice_flow.code(acme)
    tokens = alice_flow.redeem(code).json()
    move_clock_ahead(monkeypatch, seconds=30)
    assert check_error(register_other_app().redeem(code), "invalid_grant")
    assert alice_flow.call(tokens["access_token"]).status_code == 200


def test_t8_t9_t10_mismatched_code_request_is_rejected_and_keeps_code(alice_flow, acme):
    code = alice_flow.code(acme)
    for label, changes, error, description in [
        ("T8 wrong verifier", {"code_verifier": "x" * 43}, "invalid_grant", "verifier_mismatch"),
        ("T8 short verifier", {"code_verifier": "short"}, "invalid_grant", "verifier_mismatch"),
        ("T8 T9 no verifier", {"code_verifier": None}, "invalid_request", None),
        ("T10 other address", {"redirect_uri": "https://app.example/other"}, "invalid_grant", "redirect_uri_mismatch"),
        ("T12 unknown code", {"code": "nonsense"}, "invalid_grant", None),
        ("no code", {"code": None}, "invalid_request", None),
        ("no grant type", {"grant_type": None}, "invalid_request", None),
        ("resource elsewhere", {"resource": "https://other.example"}, "invalid_target", None),
        ("resource with a fragment", {"resource": f"{BASE}/companies#part"}, "invalid_target", None),
    ]:
        with undo_changes():
            assert check_error(alice_flow.redeem(code, **changes), error, description=description), label
            assert alice_flow.redeem(code).status_code == 200, label


def test_t9_code_without_stored_challenge_is_rejected(alice_flow, acme):
    code = alice_flow.code(acme)
    AuthorizationCode.objects.update(code_challenge="")
    assert check_error(alice_flow.redeem(code), "invalid_grant")


def test_t10_redirect_uri_may_be_omitted_if_only_one_is_registered(alice_flow, acme):
    assert alice_flow.redeem(alice_flow.code(acme), redirect_uri=None).status_code == 200
    alice_flow.application.redirect_uris = f"{REDIRECT}\nhttps://app.example/two"
    alice_flow.application.save()
    answer = alice_flow.redeem(alice_flow.code(acme), redirect_uri=None)
    assert check_error(answer, "invalid_grant", description="redirect_uri_mismatch")


def test_t10_resource_below_base_url_is_accepted(alice_flow, acme):
    code = alice_flow.code(acme, resource=f"{BASE}/companies")
    answer = alice_flow.redeem(code, resource=BASE)
    assert answer.status_code == 200
    for path in ("/companies", USERINFO):
        assert alice_flow.call(answer.json()["access_token"], path).status_code == 200
    assert alice_flow.refresh(answer.json()["refresh_token"], resource=f"{BASE}/mcp").status_code == 200


def test_t11_code_of_other_app_is_rejected_and_stays_valid(alice_flow, acme):
    code = alice_flow.code(acme)
    assert check_error(register_other_app().redeem(code, code_verifier=alice_flow.verifier), "invalid_grant")
    assert alice_flow.redeem(code).status_code == 200


@pytest.mark.parametrize("ended", ["expired", "inactive", "disabled", "revoked", "left"])
@pytest.mark.parametrize("kind", ["code", "refresh"])
def test_t12_code_and_refresh_token_end_with_consent_user_and_app(ended, kind, alice_flow, acme, alice, monkeypatch):
    code = alice_flow.code(acme)
    token = alice_flow.redeem(code).json()["refresh_token"] if kind == "refresh" else ""
    if ended == "expired":
        move_clock_ahead(monkeypatch, seconds=61 * 24 * 3600 if kind == "refresh" else 61)
    elif ended == "inactive":
        type(alice).objects.filter(pk=alice.pk).update(is_active=False)
    elif ended == "disabled":
        alice_flow.application.enabled = False
        alice_flow.application.save()
    elif ended == "revoked":
        ConsentGrant.objects.update(revoked_time=get_latest_consent().created_time, revoked_reason="user")
    else:
        Membership.objects.filter(user=alice).delete()
    answer = alice_flow.refresh(token) if token else alice_flow.redeem(code)
    if ended == "disabled":
        assert check_error(answer, "invalid_client", 401)
    else:
        expired = "token_expired" if token else "code_expired"
        assert check_error(answer, "invalid_grant", description=expired if ended == "expired" else "token_revoked")


# ---------------------------------------------------------------------------------------------- who is calling


def build_basic_header(name, secret):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()}


def test_t13_o14_confidential_app_authenticates_by_body_or_header(confidential_flow, alice, acme):
    confidential_flow.sign_in(alice)
    assert confidential_flow.redeem(confidential_flow.code(acme)).status_code == 200
    headers = build_basic_header(confidential_flow.application.client_id, confidential_flow.secret)
    by_header = confidential_flow.redeem(
        confidential_flow.code(acme), headers=headers, client_secret=None, client_id=None
    )
    assert by_header.status_code == 200
    both_named = confidential_flow.redeem(confidential_flow.code(acme), headers=headers, client_secret=None)
    assert both_named.status_code == 200


def test_t13_failed_client_authentication_is_rejected(confidential_flow, alice, acme):
    confidential_flow.sign_in(alice)
    name = confidential_flow.application.client_id
    for label, changes, header, error, status in [
        ("no secret", {"client_secret": None}, None, "invalid_client", 401),
        ("wrong secret", {"client_secret": "x"}, None, "invalid_client", 401),
        ("wrong secret in the header", {"client_secret": None}, "wrong", "invalid_client", 401),
        ("two ways", {}, "right", "invalid_request", 400),
        ("two names", {"client_secret": None, "client_id": "other"}, "right", "invalid_request", 400),
        ("bearer", {"client_secret": None}, "bearer", "invalid_client", 401),
        ("broken header", {"client_secret": None}, "broken", "invalid_client", 401),
        ("nobody", {"client_secret": None, "client_id": None}, None, "invalid_client", 401),
    ]:
        with undo_changes():
            headers = {
                "right": build_basic_header(name, confidential_flow.secret),
                "wrong": build_basic_header(name, "wrong"),
                "bearer": {"Authorization": "Bearer x"},
                "broken": {"Authorization": "Basic ###"},
            }.get(header, {})
            answer = confidential_flow.redeem(confidential_flow.code(acme), headers=headers, **changes)
            assert check_error(answer, error, status), label
            challenged = answer.headers.get("WWW-Authenticate", "")
            assert challenged.startswith("Basic ") if status == 401 and headers else challenged == "", label


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["a%00b", "a\0b", "%FF", "a%ED%A0%80b"])
def test_t13_client_name_with_invalid_characters_is_unknown(name, client):
    bodies = {TOKEN: "grant_type=refresh_token&refresh_token=x", REVOKE: "token=x"}
    for path, body in bodies.items():
        answer = client.post(path, body, "application/x-www-form-urlencoded", headers=build_basic_header(name, "x"))
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client"), path


def test_t13_public_app_must_not_send_secret(alice_flow, acme):
    code = alice_flow.code(acme)
    assert check_error(alice_flow.redeem(code, client_secret="guess"), "invalid_client", 401)
    assert alice_flow.redeem(code).status_code == 200


def test_t20_public_app_must_send_client_id_to_refresh(alice_flow, alice_tokens):
    assert check_error(alice_flow.refresh(alice_tokens["refresh_token"], client_id=None), "invalid_client", 401)
    assert alice_flow.refresh(alice_tokens["refresh_token"]).status_code == 200


# ---------------------------------------------------------------------------------------------- what is answered


@pytest.mark.parametrize(
    ("scope", "refreshes", "identifies"),
    [
        ("svc:read", False, False),
        ("svc:read offline_access", True, False),
        ("openid", False, True),
        ("offline_access openid svc:write", True, True),
    ],
)
def test_t14_refresh_and_id_tokens_are_issued_only_if_requested(scope, refreshes, identifies, alice_flow, acme):
    tokens = alice_flow.tokens(acme, scope=scope)
    assert ("refresh_token" in tokens, "id_token" in tokens) == (refreshes, identifies)
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3600)
    assert set(tokens["scope"].split()) == set(scope.split())  # O2


def test_t15_access_token_follows_rfc_9068(alice_tokens, acme, alice, alice_flow, client):
    token = alice_tokens["access_token"]
    header = json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))
    kids = [key["kid"] for key in client.get("/auth/oauth2/jwks").json()["keys"]]
    assert (header["typ"], header["alg"]) == ("at+jwt", "RS256")
    assert header["kid"] in kids
    claims = jwt.decode(token, get_published_keys(alice_flow), algorithms=["RS256"]).claims
    assert claims["iss"] == ISSUER
    assert claims["aud"] == BASE
    assert claims["sub"] == str(alice.id)
    assert claims["client_id"] == alice_flow.application.client_id
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["company_id"] == str(acme.id)
    assert claims["grant_id"] == str(get_latest_consent().id)
    assert claims["scope"] == alice_tokens["scope"]
    assert set(claims) == {
        "iss", "aud", "sub", "client_id", "scope", "jti", "iat", "exp", "company_id", "grant_id",
    }  # fmt: skip
    again = jwt.decode(
        alice_flow.tokens(acme)["access_token"], get_published_keys(alice_flow), algorithms=["RS256"]
    ).claims
    assert again["jti"] != claims["jti"]


@pytest.mark.parametrize("nonce", [None, "n-0S6_WzA2Mj"])
def test_o1_o3_id_token_names_user_app_and_sign_in(nonce, alice_flow, acme, alice):
    tokens = alice_flow.tokens(acme, nonce=nonce)
    token = jwt.decode(tokens["id_token"], get_published_keys(alice_flow), algorithms=["RS256"])
    claims = token.claims
    half = hashlib.sha256(tokens["access_token"].encode()).digest()[:16]
    assert token.header["typ"] == "JWT"
    assert token.header["kid"]
    assert (claims["iss"], claims["aud"]) == (ISSUER, alice_flow.application.client_id)
    assert claims["sub"] == str(alice.id)
    assert claims["at_hash"] == base64.urlsafe_b64encode(half).rstrip(b"=").decode()
    assert claims["auth_time"] <= claims["iat"] < claims["exp"]
    assert claims.get("nonce") == nonce
    assert "email" not in claims


def test_t16_refresh_token_is_single_use_and_replay_ends_consent(alice_flow, alice_tokens, monkeypatch):
    fresh = alice_flow.refresh(alice_tokens["refresh_token"]).json()
    assert fresh["refresh_token"] != alice_tokens["refresh_token"]
    move_clock_ahead(monkeypatch, seconds=30)
    assert check_error(alice_flow.refresh(alice_tokens["refresh_token"]), "invalid_grant", description="token_replaced")
    assert check_error(alice_flow.refresh(fresh["refresh_token"]), "invalid_grant", description="token_revoked")
    assert alice_flow.call(fresh["access_token"]).status_code == 401
    assert get_latest_consent().revoked_reason == "refreshReplay"


def test_t16_refresh_repeated_within_ten_seconds_gets_same_successor_once(alice_flow, alice_tokens):
    """An answer that was lost can be asked for again: RFC 9700, 4.14.2 leaves the grace period to the server."""
    first = alice_flow.refresh(alice_tokens["refresh_token"]).json()
    again = alice_flow.refresh(alice_tokens["refresh_token"]).json()
    assert again["refresh_token"] == first["refresh_token"]
    assert alice_flow.call(again["access_token"]).status_code == 200
    assert check_error(alice_flow.refresh(alice_tokens["refresh_token"]), "invalid_grant", description="token_replaced")
    assert alice_flow.refresh(first["refresh_token"]).status_code == 200
    assert get_latest_consent().revoked_time is None


def test_t16_refresh_cannot_be_repeated_after_successor_was_used(alice_flow, alice_tokens):
    fresh = alice_flow.refresh(alice_tokens["refresh_token"]).json()
    newest = alice_flow.refresh(fresh["refresh_token"]).json()
    assert check_error(alice_flow.refresh(alice_tokens["refresh_token"]), "invalid_grant", description="token_replaced")
    assert alice_flow.refresh(newest["refresh_token"]).status_code == 200


def test_t16_repeated_refresh_by_other_app_or_after_end_is_rejected(alice_flow, alice_tokens):
    alice_flow.refresh(alice_tokens["refresh_token"])
    assert check_error(register_other_app().refresh(alice_tokens["refresh_token"]), "invalid_grant")
    ConsentGrant.objects.update(revoked_time=get_latest_consent().created_time, revoked_reason="user")
    assert check_error(alice_flow.refresh(alice_tokens["refresh_token"]), "invalid_grant", description="token_revoked")


def test_t16_successor_token_depends_on_secret_key(alice_flow, alice_tokens, settings):
    settings.SECRET_KEY = "another key that is long enough to be one"
    predicted = derive_successor_token(alice_tokens["refresh_token"])
    settings.SECRET_KEY = "yet another key that is long enough to be one"
    assert alice_flow.refresh(alice_tokens["refresh_token"]).json()["refresh_token"] != predicted


def test_t18_narrower_scope_applies_to_one_access_token_only(alice_flow, alice_tokens):
    narrow = alice_flow.refresh(alice_tokens["refresh_token"], scope="svc:read").json()
    assert narrow["scope"] == "svc:read"
    (company,) = alice_flow.call(narrow["access_token"]).json()
    assert not [p for p in company["permissions"] if p.endswith(":write")]
    full = alice_flow.refresh(narrow["refresh_token"]).json()
    assert full["scope"] == alice_tokens["scope"]


@pytest.mark.parametrize("scope", ["svc:read svc:write", "svc:read nonsense", " "])
def test_t18_wider_scope_is_rejected_and_keeps_refresh_token(scope, alice_flow, acme):
    tokens = alice_flow.tokens(acme, scope="svc:read offline_access")
    assert check_error(alice_flow.refresh(tokens["refresh_token"], scope=scope), "invalid_scope")
    assert alice_flow.refresh(tokens["refresh_token"]).status_code == 200


def allow_scopes(flow, *allowed):
    """What staff do in the admin."""
    flow.application.allowed_scopes = list(allowed)
    flow.application.save()


def test_scope_withdrawn_from_app_is_omitted_until_restored(alice_flow, alice_tokens):
    allow_scopes(alice_flow, "svc:read", "openid", "offline_access")
    less = alice_flow.refresh(alice_tokens["refresh_token"]).json()
    assert less["scope"] == "svc:read openid offline_access"
    assert check_error(alice_flow.refresh(less["refresh_token"], scope="svc:write"), "invalid_scope")
    allow_scopes(alice_flow, *scopes.ALL_SCOPES)
    assert alice_flow.refresh(less["refresh_token"]).json()["scope"] == alice_tokens["scope"]


@pytest.mark.parametrize("allowed", [["svc:read"], []])
def test_refresh_without_offline_access_is_rejected_and_keeps_token(allowed, alice_flow, alice_tokens):
    allow_scopes(alice_flow, *allowed)
    assert check_error(alice_flow.refresh(alice_tokens["refresh_token"]), "invalid_grant")
    allow_scopes(alice_flow, *scopes.ALL_SCOPES)
    assert alice_flow.refresh(alice_tokens["refresh_token"]).status_code == 200


def test_scope_withdrawn_before_redemption_is_not_granted(alice_flow, acme):
    code = alice_flow.code(acme)
    allow_scopes(alice_flow)
    assert check_error(alice_flow.redeem(code), "invalid_scope")
    allow_scopes(alice_flow, "svc:read")
    answer = alice_flow.redeem(code).json()
    assert answer["scope"] == "svc:read"
    assert not {"id_token", "refresh_token"} & set(answer)


def test_t19_o15_refresh_token_of_other_app_is_rejected_and_stays_valid(alice_flow, alice_tokens):
    assert check_error(register_other_app().refresh(alice_tokens["refresh_token"]), "invalid_grant")
    assert alice_flow.refresh(alice_tokens["refresh_token"]).status_code == 200


def test_t21_connection_ends_one_year_after_consent(alice_flow, alice_tokens, monkeypatch):
    day, token = 24 * 3600, alice_tokens["refresh_token"]
    for days in range(50, 360, 50):
        move_clock_ahead(monkeypatch, seconds=days * day)
        answer = alice_flow.refresh(token)
        assert answer.status_code == 200, days
        token = answer.json()["refresh_token"]
    move_clock_ahead(monkeypatch, seconds=366 * day)
    assert check_error(alice_flow.refresh(token), "invalid_grant")


def test_t23_secrets_are_not_stored_in_plain_text(confidential_flow, alice, acme):
    confidential_flow.sign_in(alice)
    code = confidential_flow.code(acme)
    tokens = confidential_flow.redeem(code).json()
    stored = [
        str(value)
        for model in (
            AuthorizationCode,
            AccessToken,
            RefreshToken,
            IDToken,
            ConsentGrant,
            type(confidential_flow.application),
            AuditEntry,
        )
        for row in model.objects.all().values_list()
        for value in row
    ]
    for secret in (code, tokens["refresh_token"], tokens["access_token"], tokens["id_token"], confidential_flow.secret):
        assert not [value for value in stored if secret in value]


def test_t23_secrets_are_not_logged(alice_flow, acme, caplog):
    caplog.set_level("DEBUG")
    code = alice_flow.code(acme)
    tokens = alice_flow.redeem(code).json()
    alice_flow.redeem(code)
    alice_flow.refresh("nonsense")
    alice_flow.call("nonsense")
    for secret in (code, alice_flow.verifier, tokens["refresh_token"], tokens["access_token"]):
        assert secret not in caplog.text


def test_token_endpoint_is_rate_limited(flow, settings, monkeypatch):
    settings.RATE_LIMIT = 2
    move_clock_ahead(monkeypatch, seconds=10**7)
    answers = [flow.refresh("x", client_id=flow.application.client_id) for _ in range(4)]
    assert 429 in [a.status_code for a in answers]
    last = next(a for a in answers if a.status_code == 429)
    assert int(last["Retry-After"]) > 0
    assert last["Content-Type"] == "application/json"


@pytest.mark.parametrize(("act", "most"), [("redeem", 15), ("refresh", 13)])
def test_issuing_tokens_takes_few_queries(act, most, alice_flow, acme, django_assert_max_num_queries):
    code = alice_flow.code(acme)
    token = alice_flow.redeem(code).json()["refresh_token"] if act == "refresh" else ""
    with django_assert_max_num_queries(most):
        answer = alice_flow.refresh(token) if token else alice_flow.redeem(code)
    assert answer.status_code == 200


def test_token_endpoints_answer_cors_preflight(client):
    for path in (TOKEN, REVOKE, "/auth/oauth2/userinfo"):
        answer = client.options(path)
        assert (answer.status_code, answer["Access-Control-Allow-Origin"]) == (204, "*")
        assert "Access-Control-Allow-Credentials" not in answer
