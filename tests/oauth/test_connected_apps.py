"""GET and DELETE /companies/{id}/connected_apps: one's own always, everyone's with apps:manage."""

from datetime import datetime, timedelta

import pytest

from companies.models import AuditEntry, Membership
from companies.permissions import Role
from oauth import consents
from oauth.models import ConsentGrant
from oauth.registration import register_app
from tests import factories
from tests.oauth.conftest import REDIRECT, OAuthFlow, get_latest_consent
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db


@pytest.fixture
def bob_consent(application, acme, bob):
    """Bob's flow, tokens and consent; he is a viewer."""
    flow = OAuthFlow(application=application)
    flow.sign_in(bob)
    tokens = flow.tokens(acme)
    return flow, tokens, get_latest_consent()


def test_user_sees_only_own_connected_apps(sign_in_browser, alice_flow, alice_tokens, bob_consent, acme, bob, alice):
    (own,) = sign_in_browser(bob, acme).get("connected_apps").json()
    assert own["userId"] == str(bob.id)
    assert own["userEmail"] == bob.email
    assert own["applicationName"] == "Forecaster"
    assert own["clientId"] == alice_flow.application.client_id
    assert own["scopes"] == alice_tokens["scope"].split()
    assert own["lastUsedTime"] is None
    assert {"id", "companyId", "applicationName", "clientId", "scopes"} < set(own)
    assert set(own) - {"id", "companyId", "applicationName", "clientId", "scopes"} == {
        "userId",
        "userEmail",
        "createdTime",
        "lastUsedTime",
    }
    assert len(sign_in_browser(alice, acme).get("connected_apps").json()) == 2  # apps:manage


def test_api_key_has_no_connected_apps_of_its_own(make_api, alice_tokens, acme):
    assert make_api(acme, "accounts:read").get("connected_apps").json() == []
    assert len(make_api(acme, "apps:manage").get("connected_apps").json()) == 1


def test_app_can_see_and_end_its_own_connection(alice_flow, alice_tokens, bob_consent, acme):
    flow, tokens, his = bob_consent
    (own,) = flow.call(tokens["access_token"], f"/companies/{acme.id}/connected_apps").json()
    assert own["id"] == str(his.id)
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    assert flow.app.delete(f"/companies/{acme.id}/connected_apps/{his.id}", headers=headers).status_code == 200
    assert flow.call(tokens["access_token"]).status_code == 401


def test_app_cannot_end_another_connection_of_its_user(alice_flow, alice_tokens, acme):
    other = get_latest_consent()
    token = alice_flow.tokens(acme)["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    answer = alice_flow.app.delete(f"/companies/{acme.id}/connected_apps/{other.id}", headers=headers)
    assert answer.status_code == 403
    assert "apps:manage" in answer.json()["detail"]


def test_users_may_disconnect_own_apps_and_managers_any_in_company(
    sign_in_browser, alice_flow, alice_tokens, bob_consent, acme, bob, alice, carol
):
    hers = alice_flow.tokens(acme) and get_latest_consent()
    people = {"alice": alice, "bob": bob, "carol": carol, "editor": factories.make_member(acme, "e@acme.example")}
    for who, whose, status in [
        ("bob", "bob", 200),
        ("alice", "bob", 200),
        ("bob", "alice", 403),
        ("carol", "bob", 404),
        ("editor", "bob", 403),
    ]:
        with undo_changes():
            target = {"bob": bob_consent[2], "alice": hers}[whose]
            answer = sign_in_browser(people[who], acme).delete(f"connected_apps/{target.id}")
            assert answer.status_code == status, who
            target.refresh_from_db()
            assert (target.revoked_time is not None) is (status == 200), who


def test_disconnected_app_is_removed_and_audited(sign_in_browser, alice_flow, alice_tokens, alice, acme):
    ended = get_latest_consent()
    browser = sign_in_browser(alice, acme)
    assert browser.delete(f"connected_apps/{ended.id}").json() == {"success": True}
    assert browser.get("connected_apps").json() == []
    assert browser.delete(f"connected_apps/{ended.id}").status_code == 404
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 401
    entry = AuditEntry.objects.for_company(acme.id).get(action="app.revoked")
    assert (entry.actor, entry.after) == (str(alice.id), {"reason": "user"})
    assert (entry.entity_type, entry.entity_id) == ("connectedApp", str(ended.id))
    assert entry.before == {"application": "Forecaster", "scopes": alice_tokens["scope"].split()}


def test_disconnected_app_keeps_reason_when_app_revokes_later(sign_in_browser, alice_flow, alice_tokens, alice, acme):
    sign_in_browser(alice, acme).delete(f"connected_apps/{get_latest_consent().id}")
    ended = get_latest_consent()
    assert alice_flow.revoke(alice_tokens["refresh_token"]).status_code == 200
    assert (get_latest_consent().revoked_reason, get_latest_consent().revoked_time) == ("user", ended.revoked_time)
    assert AuditEntry.objects.for_company(acme.id).filter(action="app.revoked").count() == 1


def test_disconnecting_notifies_even_if_one_consent_ended_concurrently(
    sign_in_browser, alice_flow, alice_tokens, alice, acme, monkeypatch
):
    first = get_latest_consent()
    alice_flow.tokens(acme)
    revoke = consents.revoke_consent

    def revoked_by_the_app(consent, *, reason, **more):
        if consent == first:
            ConsentGrant.objects.filter(id=first.id).update(revoked_time=more["context"].time, revoked_reason="client")
        return revoke(consent, reason=reason, **more)

    monkeypatch.setattr(consents, "revoke_consent", revoked_by_the_app)
    browser = sign_in_browser(alice, acme)
    assert browser.delete(f"connected_apps/{get_latest_consent().id}").status_code == 200
    assert [each["type"] for each in browser.get("notifications").json()].count("app.revoked") == 1


def test_connected_app_is_audited_and_notified(sign_in_browser, alice_flow, alice_tokens, alice, acme):
    entry = AuditEntry.objects.for_company(acme.id).get(action="app.connected")
    assert (entry.entity_type, entry.entity_id, entry.before) == ("connectedApp", str(get_latest_consent().id), None)
    app = {"application": "Forecaster", "client_id": alice_flow.application.client_id}
    assert entry.after == app | {"scopes": alice_tokens["scope"].split()}
    assert [each["type"] for each in sign_in_browser(alice, acme).get("notifications").json()] == ["app.connected"]


@pytest.mark.parametrize("unknown", ["x", "00000000-0000-7000-8000-000000000000"])
def test_unknown_connection_returns_404(unknown, sign_in_browser, bob, acme):
    assert sign_in_browser(bob, acme).delete(f"connected_apps/{unknown}").status_code == 404


def test_consent_without_redeemed_code_is_not_listed(sign_in_browser, alice_flow, alice, acme):
    alice_flow.code(acme)
    assert sign_in_browser(alice, acme).get("connected_apps").json() == []


def test_app_approved_twice_is_one_connection_and_ends_as_one(sign_in_browser, alice_flow, acme, alice):
    first, second = alice_flow.tokens(acme, scope="svc:read"), alice_flow.tokens(acme, scope="openid")
    alice_flow.call(first["access_token"])
    browser = sign_in_browser(alice, acme)
    (one,) = browser.get("connected_apps").json()
    assert (one["id"], one["scopes"]) == (str(get_latest_consent().id), ["svc:read", "openid"])
    assert one["lastUsedTime"] is not None
    assert (
        browser.client.get(f"/app/companies/{acme.id}/settings/api-keys").content.decode().count("Disconnect Fore") == 2
    )
    assert browser.delete(f"connected_apps/{one['id']}").status_code == 200
    assert [alice_flow.call(each["access_token"]).status_code for each in (first, second)] == [401, 401]
    assert browser.get("connected_apps").json() == []
    answers = [each for each in browser.get("notifications").json() if each["type"] == "app.revoked"]
    assert len(answers) == 1


@pytest.mark.parametrize("used_last", ["first", "second"])
def test_last_use_of_connection_is_latest_of_all_its_consents(used_last, sign_in_browser, alice_flow, acme, alice):
    now, ids = factories.make_audit_context().time, []
    for _ in range(2):
        alice_flow.tokens(acme)
        ids.append(get_latest_consent().id)
    last = ids[used_last == "second"]
    ConsentGrant.objects.update(last_used_time=now - timedelta(days=1))
    ConsentGrant.objects.filter(id=last).update(last_used_time=now)
    (one,) = sign_in_browser(alice, acme).get("connected_apps").json()
    assert datetime.fromisoformat(one["lastUsedTime"]) == now


def test_disconnecting_ends_only_one_connection(
    sign_in_browser, alice_flow, alice_tokens, bob_consent, acme, globex, alice
):
    """Neither that of another person, nor another app's, nor the same app's in another company."""
    Membership(company=globex, user=alice, role=Role.VIEWER).mark_created(factories.make_audit_context()).save(
        force_insert=True
    )
    made = register_app(name="Another", redirect_uris=[REDIRECT], allowed=[], confidential=False)
    another = OAuthFlow(made.application, browser=alice_flow.browser)
    others = [
        (bob_consent[0], bob_consent[1]["access_token"]),
        (another, another.tokens(acme)["access_token"]),
        (alice_flow, alice_flow.tokens(globex)["access_token"]),
    ]
    (mine,) = ConsentGrant.objects.filter(user=alice, application=alice_flow.application, company=acme)
    assert sign_in_browser(alice, acme).delete(f"connected_apps/{mine.id}").status_code == 200
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 401
    assert [flow.call(token).status_code for flow, token in others] == [200, 200, 200]


def test_connection_of_former_member_is_not_listed(sign_in_browser, bob_consent, alice, acme, bob):
    assert len(sign_in_browser(alice, acme).get("connected_apps").json()) == 1
    bob.memberships.all().delete()
    assert sign_in_browser(alice, acme).get("connected_apps").json() == []


def test_admins_can_see_all_connected_apps(sign_in_browser, bob_consent, acme):
    admin = factories.make_member(acme, "admin@acme.example", role=Role.ADMIN)
    assert len(sign_in_browser(admin, acme).get("connected_apps").json()) == 1
