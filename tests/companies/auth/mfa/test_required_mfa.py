"""A company that demands a second factor of its members."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import AuditEntry, Company
from tests import factories
from tests.companies.auth.mfa.test_mfa import FACTORS, enter_password, set_up_app
from tests.oauth.conftest import AUTHORIZE, alice_flow, alice_tokens, application, flow

pytestmark = pytest.mark.django_db
assert all((application, flow, alice_tokens, alice_flow))  # fixtures


def require_mfa(company: Company, demanded: bool = True) -> None:
    Company.objects.filter(id=company.id).update(require_second_factor=demanded)


@pytest.fixture
def mfa_company(acme) -> Company:
    require_mfa(acme)
    return acme


def test_mfa_requirement_is_set_by_owner_with_mfa_over_api(alice, acme):
    client = Client()
    enter_password(client, alice.email)
    path = f"/companies/{acme.id}"
    on = {"requireSecondFactor": True}
    assert client.get(path).json()["requireSecondFactor"] is False
    refused = client.put(path, on, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (409, "second_factor_missing")
    set_up_app(client)
    assert client.put(path, on, content_type="application/json").json()["requireSecondFactor"] is True
    entry = AuditEntry.objects.for_company(acme.id).order_by("-number").first()
    assert entry.after["require_second_factor"] is True
    assert client.get(path).json()["requireSecondFactor"] is True
    off = client.put(path, {"requireSecondFactor": False}, content_type="application/json")
    assert off.json()["requireSecondFactor"] is False


def test_mfa_requirement_is_set_by_owner_with_mfa_on_settings_page(alice, acme, sign_in_browser):
    client = Client()
    enter_password(client, alice.email)
    page = f"/app/companies/{acme.id}/settings"
    form = {"name": "Acme", "baseCurrency": "EUR", "timeZone": "UTC", "requireSecondFactor": "on"}
    refused = client.post(page, form)
    assert (
        refused.status_code,
        "Set up two-factor authentication for yourself before you require it." in refused.content.decode(),
    ) == (400, True)
    set_up_app(client)
    assert client.post(page, form).status_code == 303
    acme.refresh_from_db()
    assert acme.require_second_factor


@pytest.mark.parametrize("role", ["admin", "editor"])
def test_mfa_requirement_cannot_be_set_by_other_roles(role, acme, sign_in_browser):
    user = factories.make_member(acme, "eve@acme.example", role=role)
    user.second_factor_since = timezone.now()
    user.save()
    client = sign_in_browser(user, acme).client
    session = client.session
    session["factor"] = "app"
    session.save()
    answer = client.put(f"/companies/{acme.id}", {"requireSecondFactor": True}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    client.post(f"/app/companies/{acme.id}/settings", {"name": "Acme", "requireSecondFactor": "on"})
    acme.refresh_from_db()
    assert not acme.require_second_factor


def test_mfa_requirement_cannot_be_changed_by_api_key(api, acme):
    for there in (False, True):
        require_mfa(acme, there)
        assert api.put("", {"requireSecondFactor": there}).status_code == 200  # as it is
        answer = api.put("", {"requireSecondFactor": not there})
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
        assert answer.json()["detail"].startswith("API keys cannot change requireSecondFactor. Sign in to change it.")


def test_mfa_requirement_change_needs_recent_login(alice, acme, age_session):
    client = Client()
    enter_password(client, alice.email)
    set_up_app(client)
    alice.second_factor_since = timezone.now() - timedelta(days=1)
    alice.save()
    age_session(client)
    path = f"/companies/{acme.id}"
    refused = client.put(path, {"requireSecondFactor": True}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "sign_in_again")
    body = {"requireSecondFactor": False, "name": "Acme Inc"}
    assert client.put(path, body, content_type="application/json").status_code == 200
    form = {"name": "Acme Inc", "baseCurrency": "EUR", "timeZone": "UTC", "requireSecondFactor": "on"}
    page = client.post(f"/app/companies/{acme.id}/settings", form)
    assert page["Location"].startswith("/app/sign-in?again=1&next=%2Fapp%2F"), page["Location"]
    acme.refresh_from_db()
    assert not acme.require_second_factor


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_mfa_requirement_must_be_boolean(value, api):
    assert api.put("", {"requireSecondFactor": value}).status_code == 400


def test_members_without_required_mfa_are_blocked(mfa_company, bob, sign_in_browser):
    caller = sign_in_browser(bob, mfa_company)
    for path in ("", "accounts", "transactions"):
        answer = caller.get(path)
        assert (answer.status_code, answer.json()["code"]) == (403, "second_factor_required")
    assert caller.post("account_groups", {"name": "x"}).json()["code"] == "second_factor_required"
    (listed,) = caller.get("/companies").json()
    assert (listed["name"], listed["role"], listed["permissions"]) == ("Acme", "viewer", [])
    assert listed["computedCommittedMrrEur"] is None
    home = caller.client.get("/app/").content.decode()
    assert "Set up two-factor authentication</a> to open this company." in home
    assert "Cash" not in home
    for path in ("", "/transactions", "/settings", "/settings/leave", "/settings/api-keys"):
        page = caller.client.get(f"/app/companies/{mfa_company.id}{path}")
        assert page.status_code == 403
        assert FACTORS in page.content.decode()


def test_members_gain_access_after_mfa_setup(mfa_company, bob):
    client = Client()
    enter_password(client, bob.email)
    assert client.get(f"/companies/{mfa_company.id}").status_code == 403
    set_up_app(client)
    assert client.get(f"/companies/{mfa_company.id}").status_code == 200
    assert client.get(f"/app/companies/{mfa_company.id}/transactions").status_code == 200


def test_mfa_requirement_does_not_affect_other_companies(mfa_company, carol, globex, sign_in_browser):
    assert sign_in_browser(carol, globex).get("").status_code == 200
    assert sign_in_browser(carol, mfa_company).get("").status_code == 404  # not even that it demands one


def test_api_keys_work_despite_mfa_requirement(mfa_company, api):
    assert api.get("").status_code == 200


def test_oauth_tokens_are_blocked_until_user_has_mfa(acme, alice_flow, alice_tokens, alice):
    path, token = f"/companies/{acme.id}/accounts", alice_tokens["access_token"]
    assert alice_flow.call(token, path).status_code == 200
    require_mfa(acme)
    refused = alice_flow.call(token, path)
    assert (refused.status_code, refused.json()["code"]) == (403, "second_factor_required")
    assert alice_flow.call(token).json()[0]["permissions"] == []
    alice.second_factor_since = timezone.now()
    alice.save()
    assert alice_flow.call(token, path).status_code == 200


def test_consent_page_offers_no_company_that_requires_missing_mfa(mfa_company, alice_flow):
    page = alice_flow.ask()
    text = page.content.decode()
    assert page.status_code == 200
    assert "Set up two-factor authentication under Security first" in text
    assert alice_flow.decide(mfa_company, page=page).status_code == 400


def test_standing_consent_is_not_reused_silently_without_required_mfa(acme, alice_flow, alice_tokens):
    assert "code=" in alice_flow.ask(prompt="none")["Location"]
    require_mfa(acme)
    assert "error=consent_required" in alice_flow.ask(prompt="none")["Location"]
    assert "error=consent_required" in alice_flow.ask(prompt="none", scope="openid")["Location"]


def test_mfa_requirement_adds_no_query(acme, alice):
    client, counts = Client(), []
    enter_password(client, alice.email)
    set_up_app(client)
    for demanded in (False, True):
        require_mfa(acme, demanded)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"/companies/{acme.id}/account_groups").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


# ---------------------------------------------------------------------------------------------- letting an app write


def test_consent_to_write_or_offline_access_needs_recent_login(alice_flow):
    alice_flow.browser.get("/app/")
    session = alice_flow.browser.session
    session["auth_time"] -= 11 * 60
    session.save()
    answer = alice_flow.ask()
    assert answer["Location"].startswith("/app/sign-in?")
    assert "again=1" in answer["Location"]
    assert AUTHORIZE.replace("/", "%2F") in answer["Location"]
    assert alice_flow.ask(scope="svc:read offline_access").status_code == 302
    assert alice_flow.ask(scope="svc:read").status_code == 200  # to look asks for no more than a session


def test_expired_step_up_on_consent_page_is_asked_again_before_granting(alice_flow, acme):
    page = alice_flow.ask()
    session = alice_flow.browser.session
    session["auth_time"] -= 11 * 60
    session.save()
    assert alice_flow.decide(acme, page=page)["Location"].startswith("/app/sign-in?")
    assert "access_denied" in alice_flow.decide(acme, page=page, decision="deny")["Location"]


def test_consent_page_shows_time_and_address_of_sign_in(alice_flow):
    text = alice_flow.ask().content.decode()
    assert "UTC from 127.0.0.1" in text
    assert f"{timezone.now():%-d %b %Y}" in text
