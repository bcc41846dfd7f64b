"""What an access token opens, and what does not pass for one. Numbers such as R6 name the assertion."""

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.conf import settings
from joserfc import jwt  # not what the service signs with
from joserfc.jwk import RSAKey

from companies.models import Company, Membership, User
from companies.permissions import ADMIN_PERMISSIONS, ALL_PERMISSIONS, Permission, Role, parse_permissions
from oauth import consents
from oauth.models import ConsentGrant
from oauth.protocol import scopes, tokens
from tests.oauth.conftest import USERINFO, get_latest_consent, move_clock_ahead
from tests.rollback import undo_changes
from tests.sql_trace import record_statements

pytestmark = pytest.mark.django_db
BASE = "http://127.0.0.1:8000"


def build_bearer_header(token):
    return {"Authorization": f"Bearer {token}"}


# ---------------------------------------------------------------------------------------------- challenges


def test_r1_challenge_without_credential_names_no_error(client, acme):
    for path in ("/companies", f"/companies/{acme.id}", USERINFO):
        answer = client.get(path)
        assert answer.status_code == 401
        challenge = answer["WWW-Authenticate"]
        assert challenge.startswith("Bearer realm=")
        assert f'resource_metadata="{BASE}/.well-known/oauth-protected-resource"' in challenge
        assert "scope=" in challenge
        assert "error" not in challenge


def test_r2_malformed_token_returns_invalid_token(client, acme):
    for token in ["nonsense", "a.b.c", "svc_nonsense", "svcrt_x", "ey", "..", "a" * 5000, "ü"]:
        answer = client.get("/companies", headers=build_bearer_header(token.encode().decode("latin-1")))
        assert answer.status_code == 401, token
        assert 'error="invalid_token"' in answer["WWW-Authenticate"], token


def test_r2_bearer_scheme_is_case_insensitive(alice_flow, alice_tokens):
    headers = {"Authorization": f"bearer {alice_tokens['access_token']}"}
    assert alice_flow.app.get("/companies", headers=headers).status_code == 200


def test_r13_invalid_authorization_header_never_falls_back_to_cookie(sign_in_browser, alice, acme):
    browser = sign_in_browser(alice, acme)
    for header in ["Basic abc", "Bearer", "Bearer ", "Token x", ""]:
        assert browser.get("/companies").status_code == 200, header
        assert browser.get("/companies", authorization=header).status_code == 401


def test_r13_revoked_token_never_falls_back_to_cookie(sign_in_browser, alice, acme, alice_flow, alice_tokens):
    ConsentGrant.objects.update(revoked_time=datetime.now(tz=UTC), revoked_reason="user")
    answer = sign_in_browser(alice, acme).get("/companies", authorization=f"Bearer {alice_tokens['access_token']}")
    assert answer.status_code == 401


def test_r3_missing_scope_returns_insufficient_scope(alice_flow, acme):
    token = alice_flow.tokens(acme, scope="svc:read")["access_token"]
    answer = alice_flow.app.put(
        f"/companies/{acme.id}", {"name": "x"}, content_type="application/json", headers=build_bearer_header(token)
    )
    assert answer.status_code == 403
    assert answer.json()["code"] == "permission_denied"
    assert 'error="insufficient_scope"' in answer["WWW-Authenticate"]
    assert 'scope="svc:write"' in answer["WWW-Authenticate"]


@pytest.mark.parametrize("path", ["members", "api_keys", "audit_log"])
def test_r3_challenge_names_no_scope_if_none_would_help(path, alice_flow, alice_tokens, acme):
    answer = alice_flow.call(alice_tokens["access_token"], f"/companies/{acme.id}/{path}")
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer["WWW-Authenticate"]
    assert "scope=" not in answer["WWW-Authenticate"]


def test_r3_api_key_gets_no_scope_challenge(make_api, acme):
    answer = make_api(acme, "accounts:read").put("", {"name": "x"})
    assert answer.status_code == 403
    assert "WWW-Authenticate" not in answer


def test_r4_token_in_query_is_not_accepted(client, alice_tokens):
    for path in ("/companies", USERINFO):
        assert client.get(path, {"access_token": alice_tokens["access_token"]}).status_code == 401


FORM = "application/x-www-form-urlencoded"
DUPLICATE_CREDENTIALS = {
    "query": lambda flow, token, path: flow.app.get(f"{path}?access_token={token}", headers=build_bearer_header(token)),
    "empty in the query": lambda flow, token, path: flow.app.get(
        f"{path}?access_token", headers=build_bearer_header(token)
    ),
    "body": lambda flow, token, path: flow.app.post(
        path, f"access_token={token}", FORM, headers=build_bearer_header(token)
    ),
    "another in the body": lambda flow, token, path: flow.app.post(
        path, "access_token=x", FORM, headers=build_bearer_header(token)
    ),
    "empty in the body": lambda flow, token, path: flow.app.post(
        path, "a=b&access_token", FORM, headers=build_bearer_header(token)
    ),
    "a second header": lambda flow, token, path: flow.app.get(
        path, headers={"Authorization": f"Bearer {token},Bearer {token}"}
    ),
}


def test_r5_token_sent_twice_is_an_invalid_request(alice_flow, alice_tokens):
    for case, send in DUPLICATE_CREDENTIALS.items():
        for path in ["/companies", "/companies/nowhere/accounts/nothing", USERINFO]:
            answer = send(alice_flow, alice_tokens["access_token"], path)
            assert answer.status_code == 400, (case, path)
            assert answer["Content-Type"] == "application/problem+json", (case, path)
            assert answer.json()["code"] == "invalid_request", (case, path)
            assert 'error="invalid_request"' in answer["WWW-Authenticate"], (send, path)  # RFC 6750, 3.1


def test_r5_api_key_sent_twice_is_an_invalid_request(api, client):
    twice = {"Authorization": f"Bearer {api.key}, Bearer {api.key}"}
    for answer in (api.get(f"/companies?access_token={api.key}"), client.get("/companies", headers=twice)):
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "GET"])
def test_r5_token_in_body_counts_as_second_credential(method, api):
    path = f"/companies/{api.company.id}/accounts/{api.post('accounts', {'name': 'Till', 'type': 'cash'}).json()['id']}"
    answer = api.client.generic(method, path, f"access_token={api.key}", FORM, headers=build_bearer_header(api.key))
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert api.get(path).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_form_body_is_rejected_by_endpoints_without_body(method, api):
    """To look for a second token in it is not to take it."""
    path = {"PUT": "logo", "POST": "notifications/read_all"}[method]
    answer = api.client.generic(
        method, f"/companies/{api.company.id}/{path}", "a=b", FORM, headers=build_bearer_header(api.key)
    )
    assert answer.status_code == 415


# ---------------------------------------------------------------------------------------------- forgeries


def encode_segment(value):
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode_parts(token):
    return [json.loads(base64.urlsafe_b64decode(part + "==")) for part in token.split(".")[:2]]


def load_signing_key():
    return RSAKey.import_key(settings.OAUTH2_PROVIDER["OIDC_RSA_PRIVATE_KEY"])


def resign_token(token, *, header=None, claims=None, key=None, without=()):
    """The token with something changed, signed anew by our own key or another."""
    old_header, old_claims = decode_parts(token)
    changed = {name: value for name, value in (old_claims | (claims or {})).items() if name not in without}
    head = {name: value for name, value in (old_header | (header or {})).items() if value is not None}
    return jwt.encode(head, changed, key or load_signing_key(), algorithms=["RS256"])


def build_unsigned_token(token):
    header, claims = decode_parts(token)
    return f"{encode_segment(header | {'alg': 'none'})}.{encode_segment(claims)}."


def sign_with_public_key(token):
    header, claims = decode_parts(token)
    pem = load_signing_key().as_pem(private=False)
    text = f"{encode_segment(header | {'alg': 'HS256'})}.{encode_segment(claims)}"
    return f"{text}.{encode_segment(hmac.digest(pem, text.encode(), hashlib.sha256))}"


FORGERIES = {
    "R6 alg none": build_unsigned_token,
    "R6 HS256 under the public key": sign_with_public_key,
    "R6 other issuer": lambda t: resign_token(t, claims={"iss": "https://evil.example/auth"}),
    "R6 other audience": lambda t: resign_token(t, claims={"aud": "https://evil.example"}),
    "R6 audience as a list": lambda t: resign_token(t, claims={"aud": [BASE, "https://evil.example"]}),
    "R6 typ JWT": lambda t: resign_token(t, header={"typ": "JWT"}),
    "R6 no typ": lambda t: resign_token(t, header={"typ": ""}),
    "R6 unknown kid": lambda t: resign_token(t, header={"kid": "unknown"}),
    "R6 another's key": lambda t: resign_token(t, key=RSAKey.generate_key(2048)),
    "R6 no exp": lambda t: resign_token(t, without=["exp"]),
    "R6 exp as a string": lambda t: resign_token(t, claims={"exp": "9999999999"}),
    "R6 expired": lambda t: resign_token(t, claims={"exp": int(datetime.now(tz=UTC).timestamp())}),
    "R6 tampered claims": lambda t: ".".join([t.split(".")[0], encode_segment({"sub": "x"}), t.split(".")[2]]),
    "R6 no signature": lambda t: t.rpartition(".")[0] + ".",
    "other user": lambda t: resign_token(t, claims={"sub": "01a1f88d-fc47-7398-abda-7a305e04b27d"}),
    "other client": lambda t: resign_token(t, claims={"client_id": "other"}),
    **{
        f"{claim} {label}": partial(resign_token, **change)
        for claim in ("grant_id", "sub", "company_id", "client_id", "scope")
        for label, change in {
            "missing": {"without": [claim]},
            "a number": {"claims": {claim: 1}},
            "null": {"claims": {claim: None}},
            "a list": {"claims": {claim: ["x"]}},
            "with NUL": {"claims": {claim: "a\0b"}},
        }.items()
    },
    **{f"{claim} no UUID": partial(resign_token, claims={claim: "x"}) for claim in ("grant_id", "sub", "company_id")},
    "critical header": lambda t: resign_token(t, header={"crit": ["b64"], "b64": True}),
    "one more header": lambda t: resign_token(t, header={"cty": "JWT"}),
    "claims that are a list": lambda t: f"{t.split('.')[0]}.{encode_segment([1])}.{t.split('.')[2]}",
    "a header that is a list": lambda t: f"{encode_segment([1])}.{t.partition('.')[2]}",
    "a header without end": lambda t: f"{encode_segment(b'[' * 2900)}.{t.partition('.')[2]}",
    "written as JSON": lambda t: json.dumps(
        dict(zip(("protected", "payload", "signature"), t.split("."), strict=True))
    ),
}


def test_r6_forged_or_foreign_token_returns_401(alice_flow, alice_tokens):
    for case, forge in FORGERIES.items():
        with undo_changes():
            assert alice_flow.call(alice_tokens["access_token"]).status_code == 200, case
            forged = forge(alice_tokens["access_token"])
            assert alice_flow.call(forged).status_code == 401, case
            assert alice_flow.call(forged, USERINFO).status_code == 401, case
            assert alice_flow.revoke(forged).status_code == 200, case


@pytest.mark.parametrize("kind", ["id_token", "refresh_token", "code"])
def test_r6_other_token_types_are_not_accepted(kind, alice_flow, alice_tokens, acme):
    text = alice_flow.code(acme) if kind == "code" else alice_tokens[kind]
    assert alice_flow.call(text).status_code == 401
    assert alice_flow.call(text, USERINFO).status_code == 401


def test_r6_token_expires_without_leeway(alice_flow, alice_tokens, monkeypatch):
    move_clock_ahead(monkeypatch, seconds=3598)
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 200
    move_clock_ahead(monkeypatch, seconds=3601)
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 401


def test_token_of_older_key_is_valid_while_key_is_published(alice_flow, alice_tokens, settings, client):
    fresh, old = RSAKey.generate_key(2048).as_pem(private=True).decode(), settings.OAUTH2_PROVIDER
    settings.OAUTH2_PROVIDER = old | {
        "OIDC_RSA_PRIVATE_KEY": fresh,
        "OIDC_RSA_PRIVATE_KEYS_INACTIVE": [old["OIDC_RSA_PRIVATE_KEY"]],
    }
    assert len(client.get("/auth/oauth2/jwks").json()["keys"]) == 2  # O17
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 200
    new = alice_flow.refresh(alice_tokens["refresh_token"]).json()["access_token"]
    assert decode_parts(new)[0]["kid"] != decode_parts(alice_tokens["access_token"])[0]["kid"]
    assert alice_flow.call(new).status_code == 200
    settings.OAUTH2_PROVIDER = old | {"OIDC_RSA_PRIVATE_KEY": fresh}
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 401
    assert alice_flow.call(new).status_code == 200


# ---------------------------------------------------------------------------------------------- what it rests on


def revoke_in_settings(flow, acme, alice):
    flow.browser.get(f"/app/companies/{acme.id}/settings/api-keys")
    token = flow.browser.cookies["svc-csrf"].value
    url = f"/app/companies/{acme.id}/settings/apps/{get_latest_consent().id}/disconnect"
    assert flow.browser.post(url, {"csrfmiddlewaretoken": token}).status_code == 303


def disable_app(flow):
    flow.application.enabled = False
    flow.application.save()


ENDINGS = {
    "R7 revoked in Settings": revoke_in_settings,
    "R8 user deactivated": lambda flow, acme, alice: User.objects.filter(pk=alice.pk).update(is_active=False),
    "R8 membership gone": lambda flow, acme, alice: Membership.objects.filter(user=alice).delete(),
    "R8 app switched off": lambda flow, acme, alice: disable_app(flow),
}


def test_r7_r8_ended_consent_returns_401_on_next_request(alice_flow, alice_tokens, acme, alice):
    for case, end in ENDINGS.items():
        with undo_changes():
            assert alice_flow.call(alice_tokens["access_token"]).status_code == 200, case
            end(alice_flow, acme, alice)
            assert alice_flow.call(alice_tokens["access_token"]).status_code == 401, case
            assert alice_flow.call(alice_tokens["access_token"], USERINFO).status_code == 401, case


def list_token_permissions(flow, token):
    (company,) = flow.call(token).json()
    return parse_permissions(company["permissions"])


def test_r9_lost_permission_applies_at_once_and_can_be_restored(alice_flow, alice_tokens, alice):
    token = alice_tokens["access_token"]
    Membership.objects.filter(user=alice).update(permissions=["accounts:read", "company:read"])
    assert list_token_permissions(alice_flow, token) == {Permission.ACCOUNTS_READ, Permission.COMPANY_READ}
    Membership.objects.filter(user=alice).update(permissions=None)
    assert len(list_token_permissions(alice_flow, token)) == 22


def test_r9_gained_permission_is_not_gained_by_existing_token(flow, acme, bob):
    flow.sign_in(bob)
    token = flow.tokens(acme)["access_token"]
    before = list_token_permissions(flow, token)
    Membership.objects.filter(user=bob).update(role=Role.OWNER)
    assert list_token_permissions(flow, token) == before
    assert Permission.ACCOUNTS_WRITE not in before


def test_r10_token_never_has_administrative_permissions(alice_flow, alice_tokens):
    ConsentGrant.objects.update(permissions=[p.value for p in ALL_PERMISSIONS])
    assert not list_token_permissions(alice_flow, alice_tokens["access_token"]) & ADMIN_PERMISSIONS


def allow_scopes(flow, *allowed):
    """What staff do in the admin."""
    flow.application.allowed_scopes = list(allowed)
    flow.application.save()


def test_scope_withdrawn_from_app_applies_at_once_and_can_be_restored(alice_flow, alice_tokens, acme):
    token = alice_tokens["access_token"]
    allow_scopes(alice_flow, "svc:read", "offline_access")
    assert list_token_permissions(alice_flow, token) == {p for p in ALL_PERMISSIONS - ADMIN_PERMISSIONS if p.is_read}
    change = {"path": f"/companies/{acme.id}", "data": "{}", "content_type": "application/json"}
    answer = alice_flow.app.put(**change, headers=build_bearer_header(token))
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer["WWW-Authenticate"]
    assert alice_flow.call(token, USERINFO).status_code == 403
    allow_scopes(alice_flow)
    assert alice_flow.call(token).json() == [{"id": str(acme.id), "name": "Acme"}]
    allow_scopes(alice_flow, *scopes.ALL_SCOPES)
    assert len(list_token_permissions(alice_flow, token)) == 22
    assert alice_flow.app.put(**change, headers=build_bearer_header(token)).status_code == 200
    assert alice_flow.call(token, USERINFO).status_code == 200


def test_userinfo_omits_name_after_profile_scope_is_withdrawn(alice_flow, alice_tokens):
    allow_scopes(alice_flow, "openid", "email")
    assert set(alice_flow.call(alice_tokens["access_token"], USERINFO).json()) == {"sub", "email"}


@pytest.mark.parametrize("path", ["members", "api_keys", "audit_log"])
def test_r10_app_of_owner_cannot_access_administration(path, alice_flow, alice_tokens, acme):
    assert alice_flow.call(alice_tokens["access_token"], f"/companies/{acme.id}/{path}").status_code == 403


def test_r11_token_reaches_only_its_company(alice_flow, alice_tokens, alice, acme, globex):
    Membership(company=globex, user=alice, role=Role.OWNER).mark_created(_create_audit_context()).save(
        force_insert=True
    )
    assert [c["id"] for c in alice_flow.call(alice_tokens["access_token"]).json()] == [str(acme.id)]
    assert alice_flow.call(alice_tokens["access_token"], f"/companies/{globex.id}").status_code == 404
    assert alice_flow.call(alice_tokens["access_token"], f"/companies/{acme.id}").status_code == 200
    assert alice_flow.call(alice_tokens["access_token"], f"/companies/{str(acme.id).upper()}").status_code == 200


def _create_audit_context():
    from tests import factories

    return factories.make_audit_context()


def test_r12_read_token_cannot_write(alice_flow, acme):
    token = alice_flow.tokens(acme, scope="svc:read")["access_token"]
    headers = build_bearer_header(token)
    answers = [
        alice_flow.app.put(f"/companies/{acme.id}", "{}", content_type="application/json", headers=headers),
        alice_flow.app.delete(f"/companies/{acme.id}/logo", headers=headers),
        alice_flow.app.post("/companies", '{"name": "x"}', content_type="application/json", headers=headers),
    ]
    assert [a.status_code for a in answers] == [403, 403, 403]


def test_write_token_cannot_read(alice_flow, acme):
    token = alice_flow.tokens(acme, scope="svc:write")["access_token"]
    assert alice_flow.call(token, f"/companies/{acme.id}").status_code == 403


def test_write_only_token_sees_no_company_metrics(alice_flow, acme):
    Company.objects.filter(id=acme.id).update(computed_committed_mrr_eur=4711, computed_active_customer_count=42)
    (seen,) = alice_flow.call(alice_flow.tokens(acme, scope="svc:read")["access_token"]).json()
    assert (seen["computedCommittedMrrEur"], seen["computedActiveCustomerCount"]) == ("4711.00", 42)
    (company,) = alice_flow.call(alice_flow.tokens(acme, scope="svc:write")["access_token"]).json()
    assert (company["computedCommittedMrrEur"], company["computedActiveCustomerCount"]) == (None, None)
    assert company.keys() == seen.keys()


def test_r14_responses_are_private_and_vary_by_credential(alice_flow, alice_tokens):
    answer = alice_flow.call(alice_tokens["access_token"])
    assert {"Authorization", "Cookie"} <= {v.strip() for v in answer["Vary"].split(",")}
    assert "private" in answer["Cache-Control"]


def test_change_by_app_is_attributed_to_user(alice_flow, alice_tokens, acme, alice):
    answer = alice_flow.app.put(
        f"/companies/{acme.id}",
        {"name": "By app"},
        content_type="application/json",
        headers=build_bearer_header(alice_tokens["access_token"]),
    )
    assert answer.json()["lastUpdatedUserId"] == str(alice.id)


@pytest.mark.parametrize("credential", ["key", "token"])
def test_authentication_takes_one_query(credential, alice_flow, alice_tokens, api, acme, django_assert_num_queries):
    token = api.key if credential == "key" else alice_tokens["access_token"]
    alice_flow.call(token)  # notes its use, which it does not again within a minute
    with django_assert_num_queries(1):
        assert alice_flow.call(token, f"/companies/{acme.id}").status_code == 200
    with record_statements() as sent:
        assert alice_flow.call(token, f"/companies/{acme.id}").status_code == 200
    assert len(sent) == 1


def test_last_use_is_recorded_at_most_once_a_minute(
    alice_flow, alice_tokens, acme, django_assert_num_queries, monkeypatch
):
    token = alice_tokens["access_token"]
    alice_flow.call(token)
    first = get_latest_consent().last_used_time
    assert first is not None
    alice_flow.call(token)
    assert get_latest_consent().last_used_time == first
    move_clock_ahead(monkeypatch, seconds=61)
    alice_flow.call(token)
    assert get_latest_consent().last_used_time - first >= timedelta(seconds=60)


def test_last_use_is_recorded_for_its_own_consent_only(alice_flow, alice_tokens, acme):
    first = get_latest_consent()
    alice_flow.tokens(acme)
    alice_flow.call(alice_tokens["access_token"])
    assert get_latest_consent().last_used_time is None
    first.refresh_from_db()
    used = first.last_used_time
    for seconds, noted in ((0.1, 0), (59, 0), (60, 60)):
        consents.record_consent_use(first.id, now=used + timedelta(seconds=seconds))
        first.refresh_from_db()
        assert first.last_used_time == used + timedelta(seconds=noted)


def test_token_returns_complete_company(alice_flow, alice_tokens, acme, api):
    assert alice_flow.call(alice_tokens["access_token"], f"/companies/{acme.id}").json() == api.get().json()


def test_token_does_not_open_pages(alice_flow, alice_tokens):
    answer = alice_flow.app.get("/app/", headers=build_bearer_header(alice_tokens["access_token"]))
    assert answer["Location"].startswith("/app/sign-in")


def test_expired_token_can_still_be_read_for_revocation(alice_tokens, monkeypatch):
    now = datetime.now(tz=UTC) + timedelta(hours=2)
    assert tokens.read_access_token(alice_tokens["access_token"], now=now) is None
    assert tokens.read_access_token(alice_tokens["access_token"], now=now, even_expired=True) is not None


def test_openid_token_sees_only_id_and_name_of_its_company(alice_flow, acme):
    token = alice_flow.tokens(acme, scope="openid profile email")["access_token"]
    assert alice_flow.call(token).json() == [{"id": str(acme.id), "name": "Acme"}]
    assert alice_flow.call(token, f"/companies/{acme.id}").status_code == 403
