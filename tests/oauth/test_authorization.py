"""The authorization endpoint: who is told what, and when. Numbers such as A4 name the assertion of the checklist."""

from urllib.parse import urlencode

import pytest

from companies.models import AuditEntry, Membership
from companies.permissions import Role
from oauth.models import AuthorizationCode, ConsentGrant
from oauth.protocol import redirects
from oauth.protocol.tokens import compute_token_digest
from oauth.registration import register_app
from tests import factories
from tests.oauth.conftest import (
    AUTHORIZE,
    ISSUER,
    REDIRECT,
    SCOPE,
    OAuthFlow,
    compute_s256_challenge,
    get_csrf_token,
    get_latest_consent,
    move_clock_ahead,
    parse_redirect,
)
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db
BASE = "http://127.0.0.1:8000"


def test_a1_a2_unknown_client_or_redirect_uri_shows_error_page(flow, alice):
    for label, changes in [
        ("A1 unknown client", {"client_id": "nobody"}),
        ("A1 no client", {"client_id": None}),
        ("A1 unregistered address", {"redirect_uri": "https://evil.example/callback"}),
        ("A2 extra query", {"redirect_uri": f"{REDIRECT}?x=1"}),
        ("A2 path parameter", {"redirect_uri": f"{REDIRECT};x=1"}),
        ("A2 fragment", {"redirect_uri": f"{REDIRECT}#f"}),
        ("A2 user name", {"redirect_uri": "https://me@app.example/callback"}),
        ("A2 other port", {"redirect_uri": "https://app.example:8443/callback"}),
        ("A2 default port written out", {"redirect_uri": "https://app.example:443/callback"}),
        ("A2 trailing slash", {"redirect_uri": f"{REDIRECT}/"}),
        ("A2 case of the path", {"redirect_uri": "https://app.example/Callback"}),
        ("A2 http for https", {"redirect_uri": "http://app.example/callback"}),
        ("A2 dot segments", {"redirect_uri": "https://app.example/x/../callback"}),
        ("A2 backslash", {"redirect_uri": "https://app.example\\@evil.example/callback"}),
    ]:
        for anonymous in [True, False]:
            with undo_changes():
                if not anonymous:
                    flow.sign_in(alice)
                answer = flow.ask(**changes)
                assert answer.status_code == 400, label
                assert "Location" not in answer, (label, anonymous)
                assert answer["Content-Type"].startswith("text/html"), (label, anonymous)


def test_a2_only_loopback_redirect_uri_allows_any_port():
    for registered_uri, requested_uri, is_allowed in [
        ("http://127.0.0.1/cb", "http://127.0.0.1:53211/cb", True),
        ("http://127.0.0.1:8000/cb", "http://127.0.0.1:9/cb", True),
        ("http://127.0.0.1:8000/cb", "http://127.0.0.1/cb", True),
        ("http://[::1]/cb", "http://[::1]:53211/cb", True),
        ("http://127.0.0.1/cb", "http://127.0.0.1:53211/other", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", False),
        ("http://127.0.0.1/cb", "http://localhost:53211/cb", False),
        ("http://127.0.0.1/cb", "http://[::1]:53211/cb", False),
        ("http://127.0.0.1/cb", "https://127.0.0.1:53211/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1@evil.example/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:1@evil.example/cb", False),
        ("https://127.0.0.1/cb", "https://127.0.0.1:53211/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:0/cb", False),
        ("com.example.app:/cb", "com.example.app:/cb", True),
        ("com.example.app:/cb", "com.example.app:/cb2", False),
    ]:
        assert redirects.is_redirect_allowed(requested_uri, [registered_uri]) is is_allowed


REFUSALS = [
    ("A3 no challenge", {"code_challenge": None}, "invalid_request"),
    ("A4 plain", {"code_challenge_method": "plain"}, "invalid_request"),
    ("A4 no method", {"code_challenge_method": None}, "invalid_request"),
    ("A4 lower case", {"code_challenge_method": "s256"}, "invalid_request"),
    ("A5 short challenge", {"code_challenge": "abcde"}, "invalid_request"),
    ("A5 long challenge", {"code_challenge": "a" * 44}, "invalid_request"),
    ("A5 not base64url", {"code_challenge": "+" * 43}, "invalid_request"),
    ("A6 token", {"response_type": "token"}, "unsupported_response_type"),
    ("A6 id_token", {"response_type": "id_token"}, "unsupported_response_type"),
    ("A6 hybrid", {"response_type": "code id_token"}, "unsupported_response_type"),
    ("A6 none", {"response_type": "none"}, "unsupported_response_type"),
    ("A6 missing", {"response_type": None}, "invalid_request"),
    ("A7 unknown scope", {"scope": "svc:read everything"}, "invalid_scope"),
    ("A7 no scope", {"scope": None}, "invalid_scope"),
    ("A7 blank scope", {"scope": " "}, "invalid_scope"),
    ("A12 request object", {"request": "eyJhbGciOiJub25lIn0.e30."}, "request_not_supported"),
    ("A12 request_uri", {"request_uri": "https://app.example/r"}, "request_uri_not_supported"),
    ("resource elsewhere", {"resource": "https://other.example"}, "invalid_target"),
    ("resource that only begins alike", {"resource": "http://127.0.0.1:80001/x"}, "invalid_target"),
    ("resource with a fragment", {"resource": f"{BASE}/companies#part"}, "invalid_target"),
    ("resource with an empty fragment", {"resource": f"{BASE}/#"}, "invalid_target"),
    ("fragment mode", {"response_mode": "fragment"}, "invalid_request"),
    ("max_age is no number", {"max_age": "soon"}, "invalid_request"),
    ("unknown prompt", {"prompt": "create"}, "invalid_request"),
    ("O5 none with others", {"prompt": "none login"}, "invalid_request"),
    ("id_token_hint that is none of ours", {"id_token_hint": "a.b.c"}, "invalid_request"),
]


def test_a3_to_a12_invalid_request_redirects_error_to_app_without_consent(alice_flow):
    for label, changes, error in REFUSALS:
        answer = alice_flow.ask(**changes)
        assert answer.status_code == 302, label
        assert answer["Location"].startswith(f"{REDIRECT}?"), label
        values = parse_redirect(answer)
        assert values["error"] == error, label
        assert values["state"] == "some state", label
        assert values["iss"] == ISSUER, label  # A9
        assert set(values) == {"error", "error_description", "state", "iss"}, label


def test_a14_invalid_request_redirects_to_sign_in_first(flow):
    for label, changes, _error in REFUSALS:
        answer = flow.ask(**changes)
        if "none" in changes.get("prompt", ""):
            assert answer["Location"].startswith(REDIRECT), label
        else:
            assert answer["Location"].startswith("/app/sign-in?next=%2Fauth%2Foauth2%2Fauthorize"), label


def test_a7_scope_not_allowed_for_app_is_invalid(alice_flow):
    alice_flow.application.allowed_scopes = ["svc:read"]
    alice_flow.application.save()
    assert parse_redirect(alice_flow.ask(scope="svc:read svc:write"))["error"] == "invalid_scope"
    assert alice_flow.ask(scope="svc:read").status_code == 200


def test_a8_state_is_returned_unchanged(alice_flow, acme):
    for state in ["a b", "a&b=c", "ünï→", "100%", "+", "x" * 500, '"<script>', "a/b?c#d"]:
        with undo_changes():
            answer = alice_flow.decide(acme, state=state)
            assert parse_redirect(answer)["state"] == state


def test_a8_missing_state_is_not_returned(alice_flow, acme):
    assert "state" not in parse_redirect(alice_flow.decide(acme, state=None))
    assert "state" not in parse_redirect(alice_flow.ask(state=None, scope="nonsense"))


def test_a9_issuer_is_on_every_response_and_matches_metadata(alice_flow, acme, client):
    issuer = client.get("/auth/.well-known/openid-configuration").json()["issuer"]
    for answer in (
        alice_flow.decide(acme),
        alice_flow.decide(acme, decision="deny"),
        alice_flow.ask(scope="nonsense"),
        alice_flow.ask(prompt="none"),
    ):
        assert parse_redirect(answer)["iss"] == issuer == "http://127.0.0.1:8000/auth"


def test_a10_repeated_parameter_shows_error_page(alice_flow):
    url = alice_flow.url(nonce="n", prompt="consent", xyz="1")
    for name in [
        "client_id",
        "redirect_uri",
        "scope",
        "state",
        "response_type",
        "code_challenge",
        "nonce",
        "prompt",
        "xyz",
    ]:
        answer = alice_flow.browser.get(f"{url}&{name}=again")
        assert answer.status_code == 400, name
        assert "Location" not in answer, name


def test_a11_unknown_parameters_are_ignored(alice_flow):
    assert (
        alice_flow.ask(foo="bar", display="touch", ui_locales="de", acr_values="1", claims_locales="fr").status_code
        == 200
    )


def test_a13_undecodable_request_returns_400(alice_flow):
    for tail in ["%zz", "%", "x=%f", "x=%00", "x=%ff%fe", "x=%ed%a0%80", "x=ü"]:
        assert alice_flow.browser.get(f"{alice_flow.url()}&{tail}").status_code == 400


def test_a15_posted_request_is_redirected_with_303(flow, alice):
    flow.sign_in(alice)
    answer = flow.browser.post(
        AUTHORIZE, urlencode(flow.parameters()), content_type="application/x-www-form-urlencoded"
    )  # O12: from another site, without our token
    assert answer.status_code == 303
    assert answer["Location"].startswith(f"{AUTHORIZE}?")
    assert flow.browser.get(answer["Location"]).status_code == 200
    assert not ConsentGrant.objects.exists()


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "application/json", "text/plain", ""])
def test_a15_request_posted_with_other_content_type_returns_400(kind, flow):
    body = "--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--x--\r\n"
    assert flow.browser.post(AUTHORIZE, body, content_type=kind).status_code == 400


def test_consent_page_is_never_framed_or_cached(alice_flow):
    page = alice_flow.ask()
    policy = page["Content-Security-Policy"]
    assert page["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in policy
    assert page["Cache-Control"] == "no-store"
    assert page["Referrer-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in page
    assert "unsafe-inline" not in policy


def test_sign_in_and_consent_pages_allow_forms_and_popups_to_reach_app(flow, alice_flow):
    """Browsers hold a form to ``form-action`` through all redirects that follow, those of the app included."""
    anonymous = OAuthFlow(application=flow.application)
    sign_in_page = anonymous.browser.get(anonymous.ask()["Location"])
    for page in (sign_in_page, alice_flow.ask(), alice_flow.ask(client_id="unknown")):
        assert "form-action" not in page["Content-Security-Policy"]
        assert page["Cross-Origin-Opener-Policy"] == "unsafe-none"
    home = alice_flow.browser.get("/app/")
    assert "form-action 'self';" in f"{home['Content-Security-Policy']};"
    assert home["Cross-Origin-Opener-Policy"] == "same-origin"


@pytest.mark.parametrize("twice", [{"decision": ["deny", "allow"]}, {"company": ["first", "second"]}])
def test_a17_repeated_decision_parameter_is_rejected(twice, alice_flow, acme):
    answer = alice_flow.decide(acme, body=twice)
    assert (answer.status_code, AuthorizationCode.objects.count()) == (400, 0)
    assert "A parameter was sent more than once." in answer.content.decode()


def test_a17_decision_without_csrf_token_is_rejected(alice_flow, acme):
    answer = alice_flow.browser.post(alice_flow.url(), {"company": str(acme.id), "decision": "allow"})
    assert answer.status_code == 403
    wrong = {"company": str(acme.id), "decision": "allow", "csrfmiddlewaretoken": "x" * 64}
    assert alice_flow.browser.post(alice_flow.url(), wrong).status_code == 403
    assert not ConsentGrant.objects.exists()


def test_a17_consent_page_shown_to_other_user_is_rejected(alice_flow, acme, bob):
    page = alice_flow.ask()
    alice_flow.sign_in(bob)
    form = {"company": str(acme.id), "decision": "allow", "csrfmiddlewaretoken": get_csrf_token(page)}
    assert alice_flow.browser.post(alice_flow.url(), form).status_code == 403


def test_a18_decision_accepts_only_company_and_decision(alice_flow, acme):
    for body in [
        {"scope": "svc:read svc:write offline_access"},
        {"redirect_uri": "https://evil.example/"},
        {"client_id": "other"},
        {"code_challenge": "x" * 43, "code_challenge_method": "plain"},
        {"nonce": "forged", "state": "forged", "resource": "https://evil.example"},
        {"approval_prompt": "auto", "skip_authorization": "true"},
    ]:
        with undo_changes():
            answer = alice_flow.decide(acme, scope="svc:read", nonce="mine", body=body)
            assert answer["Location"].startswith(f"{REDIRECT}?code="), body
            assert parse_redirect(answer)["state"] == "some state", body
            assert get_latest_consent().scopes == ["svc:read"], body
            code = AuthorizationCode.objects.get()
            assert (code.nonce, code.redirect_uri, code.code_challenge) == (
                "mine",
                REDIRECT,
                compute_s256_challenge(alice_flow.verifier),
            ), body


@pytest.mark.parametrize("chosen", ["foreign", "unknown", "malformed", "none"])
def test_a18_company_of_other_user_returns_400(chosen, alice_flow, acme, globex):
    company = {"foreign": globex, "unknown": "0" * 8, "malformed": "x", "none": ""}[chosen]
    answer = alice_flow.decide(company)
    assert answer.status_code == 400
    assert not ConsentGrant.objects.exists()


def test_a18_company_without_grantable_permissions_returns_400(flow, acme):
    user = factories.make_member(acme, "auditor@acme.example", permissions=["audit:read", "members:manage"])
    flow.sign_in(user)
    page = flow.ask(scope="svc:read")
    assert "Your role cannot grant these permissions" in page.content.decode()
    assert flow.decide(acme, page=page, scope="svc:read").status_code == 400
    assert flow.decide(acme, scope="openid").status_code == 303


def test_a19_denial_redirects_access_denied(alice_flow, acme):
    values = parse_redirect(alice_flow.decide(acme, decision="deny"))
    assert (values["error"], values["state"], values["iss"]) == ("access_denied", "some state", ISSUER)
    assert not ConsentGrant.objects.exists()


def test_a19_denial_needs_no_company(alice_flow):
    assert parse_redirect(alice_flow.decide("", decision="deny"))["error"] == "access_denied"


def test_a20_consent_page_is_shown_every_time(alice_flow, acme):
    alice_flow.tokens(acme)
    for changes in ({}, {"approval_prompt": "auto"}, {"skip_authorization": "1"}, {"prompt": "consent"}):
        assert alice_flow.ask(**changes).status_code == 200


def test_a22_sign_in_returns_to_authorization_request(flow, alice, acme):
    answer = flow.ask(state="a b")
    page = flow.browser.get(answer["Location"])
    body = {"username": alice.email, "password": "correct horse battery", "csrfmiddlewaretoken": get_csrf_token(page)}
    body["next"] = flow.url(state="a b")
    back = flow.browser.post("/app/sign-in", body)
    assert back["Location"] == flow.url(state="a b")
    assert flow.browser.get(back["Location"]).status_code == 200


def test_a23_code_is_short_lived_bound_and_stored_as_digest(alice_flow, acme, alice):
    code = alice_flow.code(acme)
    row = AuthorizationCode.objects.get()
    assert len(code) >= 43
    assert row.code == compute_token_digest(code) != code
    assert 0 < (row.expires - row.created).total_seconds() <= 60
    assert (row.user, row.application, row.consent.company_id) == (alice, alice_flow.application, acme.id)


def test_consent_page_shows_app_user_scopes_and_redirect_host(alice_flow, acme, alice):
    text = alice_flow.ask(scope="svc:read svc:write offline_access").content.decode()
    for words in ("Forecaster", alice.email, "Not you?", "app.example", "Acme", "changes data", "offline"):
        assert words in text
    assert "will not be able to" in text
    assert "checked" in text  # the only company is chosen


def test_consent_page_with_several_companies_selects_none(alice_flow, alice, globex):
    Membership(company=globex, user=alice, role=Role.VIEWER).mark_created(factories.make_audit_context()).save(
        force_insert=True
    )
    text = alice_flow.ask().content.decode()
    assert "Globex" in text
    assert "checked" not in text


def test_consent_is_audited_and_has_no_administrative_permission(alice_flow, acme, alice):
    alice_flow.code(acme)
    entry = AuditEntry.objects.for_company(acme.id).get(action="app.connected")
    assert entry.actor == str(alice.id)
    assert entry.after["scopes"] == SCOPE.split()
    assert not [p for p in get_latest_consent().permissions if p.endswith(":manage") or p == "audit:read"]


def test_native_app_can_use_custom_scheme(alice, acme):
    made = register_app(name="Phone", redirect_uris=["com.example.app:/cb"], allowed=[], confidential=False)
    flow = OAuthFlow(application=made.application, redirect_uri="com.example.app:/cb")
    flow.sign_in(alice)
    assert flow.decide(acme)["Location"].startswith("com.example.app:/cb?code=")


def test_redirect_uri_keeps_its_query(alice, acme):
    uri = "https://app.example/cb?tenant=a%20b"
    made = register_app(name="Web", redirect_uris=[uri], allowed=[], confidential=False)
    flow = OAuthFlow(application=made.application, redirect_uri=uri)
    flow.sign_in(alice)
    assert flow.decide(acme)["Location"].startswith(f"{uri}&code=")


def test_disabled_app_is_unknown(alice_flow):
    alice_flow.application.enabled = False
    alice_flow.application.save()
    assert alice_flow.ask().status_code == 400


def test_other_http_methods_return_405(alice_flow):
    assert alice_flow.browser.put(alice_flow.url()).status_code == 405


# ---------------------------------------------------------------------------------------------- OpenID Connect


def test_o6_prompt_login_asks_for_password_once(alice_flow, acme, alice, monkeypatch):
    move_clock_ahead(monkeypatch, seconds=5)
    first = alice_flow.ask(prompt="login")
    assert "again=1" in first["Location"]
    page = alice_flow.browser.get(first["Location"])
    assert "Confirm your identity" in page.content.decode()
    move_clock_ahead(monkeypatch, seconds=10)
    alice_flow.sign_in(alice, then=alice_flow.url(prompt="login"))
    assert alice_flow.ask(prompt="login").status_code == 200
    assert alice_flow.decide(acme, prompt="login").status_code == 303
    assert "again=1" in alice_flow.ask(prompt="login")["Location"]  # and for the next request anew


def test_o6_decision_cannot_skip_password(alice_flow, acme):
    page = alice_flow.ask()
    form = {"company": str(acme.id), "decision": "allow", "csrfmiddlewaretoken": get_csrf_token(page)}
    assert "again=1" in alice_flow.browser.post(alice_flow.url(prompt="login"), form)["Location"]


def test_o7_max_age_asks_for_password_only_if_sign_in_is_older(alice_flow, alice, monkeypatch):
    move_clock_ahead(monkeypatch, seconds=100)
    assert alice_flow.ask(max_age="10000").status_code == 200
    assert "again=1" in alice_flow.ask(max_age="1")["Location"]
    assert parse_redirect(alice_flow.ask(max_age="1", prompt="none"))["error"] == "login_required"
    move_clock_ahead(monkeypatch, seconds=101)
    alice_flow.sign_in(alice)
    move_clock_ahead(monkeypatch, seconds=110)
    assert alice_flow.ask(max_age="1").status_code == 200  # however long the page took to come back


def test_o6_prompt_login_for_anonymous_user_asks_once(flow, alice, monkeypatch):
    assert "again" not in flow.ask(prompt="login")["Location"]
    flow.sign_in(alice, then=flow.url(prompt="login"))
    assert flow.ask(prompt="login").status_code == 200


def test_o9_id_token_hint_of_other_user_returns_login_required(alice_flow, acme, alice, bob):
    hint = alice_flow.tokens(acme)["id_token"]
    assert alice_flow.ask(id_token_hint=hint).status_code == 200
    alice_flow.sign_in(bob)
    assert parse_redirect(alice_flow.ask(id_token_hint=hint))["error"] == "login_required"


def test_login_hint_prefills_sign_in_form(flow):
    page = flow.browser.get(flow.ask(login_hint="someone@acme.example")["Location"])
    assert 'value="someone@acme.example"' in page.content.decode()


def test_o11_o16_other_toolkit_endpoints_do_not_exist(client):
    for path in (
        "introspect",
        "applications",
        "authorized_tokens",
        "device",
        "device-authorization",
        "logout",
        "register",
    ):
        for prefix in ("/auth/oauth2/", "/o/", "/oauth2/", "/auth/"):
            assert client.get(f"{prefix}{path}").status_code == 404
            assert client.get(f"{prefix}{path}/").status_code == 404


def test_login_hint_is_escaped(flow):
    page = flow.browser.get(flow.ask(login_hint='"><script>alert(1)</script>')["Location"])
    assert "<script>alert" not in page.content.decode()
