"""What ends a consent for good: leaving the company, being switched off, a new password where the person wants it."""

import re
from urllib.parse import urlsplit

import pytest

from companies.actions.members import build_password_link
from companies.models import AuditEntry, Membership, User
from companies.permissions import Role
from notifications.models import Notification
from oauth.models import ConsentGrant
from oauth.registration import register_app
from tests import factories
from tests.oauth.conftest import PASSWORD, REDIRECT, OAuthFlow, get_csrf_token, get_latest_consent

pytestmark = pytest.mark.django_db
NEW = "another battery staple"


@pytest.fixture
def bob_consent(application, acme, bob):
    """Bob's flow and the tokens of his consent."""
    flow = OAuthFlow(application=application)
    flow.sign_in(bob)
    return flow, flow.tokens(acme)


def get_membership(user, company):
    return Membership.objects.for_company(company.id).get(user=user)


def is_access_closed(flow, tokens):
    return (
        flow.call(tokens["access_token"]).status_code == 401
        and flow.refresh(tokens["refresh_token"]).status_code == 400
    )


# ---------------------------------------------------------------------------------------------- leaving a company


@pytest.mark.parametrize("door", ["api", "page", "own"])
def test_rejoining_member_has_no_connected_apps(door, bob_consent, sign_in_browser, invite_member, alice, bob, acme):
    flow, tokens = bob_consent
    browser, member = sign_in_browser(alice, acme), get_membership(bob, acme)
    if door == "api":
        assert browser.delete(f"members/{member.id}").status_code == 200
    elif door == "own":
        assert sign_in_browser(bob, acme).delete("members/me").status_code == 200
    else:
        browser.client.post(f"/app/companies/{acme.id}/settings/members/{member.id}/remove")
    assert get_latest_consent().revoked_reason == "membershipEnded"
    assert invite_member(browser, bob.email).accept(sign_in_browser(bob, acme).client).status_code == 303
    assert is_access_closed(flow, tokens)
    assert AuditEntry.objects.for_company(acme.id).get(action="app.revoked").after == {"reason": "membershipEnded"}


def test_unredeemed_code_ends_with_membership(application, sign_in_browser, invite_member, alice, bob, acme):
    flow = OAuthFlow(application=application)
    flow.sign_in(bob)
    code = flow.code(acme)
    browser = sign_in_browser(alice, acme)
    browser.delete(f"members/{get_membership(bob, acme).id}")
    assert invite_member(browser, bob.email).accept(sign_in_browser(bob, acme).client).status_code == 303
    assert flow.redeem(code).status_code == 400


def test_ending_membership_keeps_apps_of_other_companies_and_users(
    bob_consent, alice_flow, alice_tokens, sign_in_browser, alice, bob, acme, globex
):
    flow, tokens = bob_consent
    Membership(company=globex, user=bob, role=Role.VIEWER).mark_created(factories.make_audit_context()).save(
        force_insert=True
    )
    elsewhere = flow.tokens(globex)
    sign_in_browser(alice, acme).delete(f"members/{get_membership(bob, acme).id}")
    assert flow.call(elsewhere["access_token"]).status_code == 200
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 200
    assert is_access_closed(flow, tokens)


def test_each_app_ended_with_membership_is_notified_once(bob_consent, sign_in_browser, alice, bob, acme):
    flow, _ = bob_consent
    flow.tokens(acme)
    made = register_app(name="Another", redirect_uris=[REDIRECT], allowed=[], confidential=False)
    OAuthFlow(made.application, browser=flow.browser).tokens(acme)
    browser = sign_in_browser(alice, acme)
    browser.delete(f"members/{get_membership(bob, acme).id}")
    answers = [each for each in browser.get("notifications").json() if each["type"] == "app.revoked"]
    assert sorted(each["payload"]["applicationName"] for each in answers) == ["Another", "Forecaster"]


def test_failed_membership_removal_ends_no_app(alice_flow, alice_tokens, sign_in_browser, alice, acme):
    admin = sign_in_browser(factories.make_member(acme, "admin@acme.example", role=Role.ADMIN), acme)
    assert admin.delete(f"members/{get_membership(alice, acme).id}").status_code == 403
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 200


# ---------------------------------------------------------------------------------------------- being switched off


def set_active(staff, user, *, on):
    form = {"email": user.email, "name": user.name} | ({"is_active": "on"} if on else {})
    assert staff.post(f"/admin/companies/user/{user.pk}/change/", form).status_code == 303


def test_reactivated_user_has_no_connected_apps(staff, bob_consent, bob, alice, acme):
    flow, tokens = bob_consent
    set_active(staff, bob, on=False)
    assert get_latest_consent().revoked_reason == "userDeactivated"
    set_active(staff, bob, on=True)
    assert is_access_closed(flow, tokens)
    notifications = Notification.objects.for_company(acme.id).filter(type="app.revoked")
    managers = set(Membership.objects.for_company(acme.id).managers().values_list("user_id", flat=True))
    assert {each.recipient_id for each in notifications} == managers  # staff are no members of the company


def test_other_user_change_ends_no_app(staff, bob_consent, bob):
    flow, tokens = bob_consent
    User.objects.filter(pk=bob.pk).update(name="Bobby")
    bob.refresh_from_db()
    set_active(staff, bob, on=True)
    assert flow.call(tokens["access_token"]).status_code == 200


# ---------------------------------------------------------------------------------------------- a new password


def open_reset_form(flow, user):
    """The page behind the mailed link."""
    user.refresh_from_db()
    return flow.browser.get(urlsplit(build_password_link(user)).path, follow=True)


def submit_new_password(flow, user, **more):
    page = open_reset_form(flow, user)
    form = {"new_password1": NEW, "new_password2": NEW, "csrfmiddlewaretoken": get_csrf_token(page)} | more
    assert flow.browser.post(page.request["PATH_INFO"], form).status_code == 303
    return page.content.decode()


def test_password_reset_signs_out_apps_if_checked_as_by_default(bob_consent, bob):
    flow, tokens = bob_consent
    page = submit_new_password(flow, bob, sign_out_apps="on")
    assert re.search(r'<input[^>]*type="checkbox"[^>]*name="sign_out_apps"[^>]*checked', page)
    assert "connected apps" in page
    assert is_access_closed(flow, tokens)
    assert get_latest_consent().revoked_reason == "passwordChanged"


def test_password_reset_keeps_apps_if_unchecked(bob_consent, bob):
    flow, tokens = bob_consent
    submit_new_password(flow, bob)
    assert flow.call(tokens["access_token"]).status_code == 200


@pytest.mark.parametrize("ticked", [True, False])
def test_password_change_signs_out_apps_only_if_checked(ticked, bob_consent, bob):
    flow, tokens = bob_consent
    page = flow.browser.get("/app/password")
    assert re.search(r'<input[^>]*type="checkbox"[^>]*name="sign_out_apps"(?![^>]*checked)', page.content.decode())
    form = {
        "old_password": PASSWORD,
        "new_password1": NEW,
        "new_password2": NEW,
        "csrfmiddlewaretoken": get_csrf_token(page),
    }
    assert flow.browser.post("/app/password", form | ({"sign_out_apps": "on"} if ticked else {})).status_code == 303
    assert is_access_closed(flow, tokens) is ticked


def test_app_connected_after_password_reset_works(bob_consent, bob, acme):
    flow, _ = bob_consent
    submit_new_password(flow, bob, sign_out_apps="on")
    flow.sign_in(bob, password=NEW)
    assert flow.call(flow.tokens(acme)["access_token"]).status_code == 200
    assert ConsentGrant.objects.filter(revoked_time=None).count() == 1


def test_rejected_password_ends_no_app(bob_consent, bob):
    flow, tokens = bob_consent
    page = open_reset_form(flow, bob)
    form = {
        "new_password1": "1",
        "new_password2": "2",
        "csrfmiddlewaretoken": get_csrf_token(page),
        "sign_out_apps": "on",
    }
    flow.browser.post(page.request["PATH_INFO"], form)
    assert flow.call(tokens["access_token"]).status_code == 200


@pytest.mark.parametrize("what", ["switched off", "new password"])
def test_ended_apps_do_not_affect_other_users(what, staff, bob_consent, bob, alice_flow, alice_tokens):
    flow, tokens = bob_consent
    if what == "switched off":
        set_active(staff, bob, on=False)
    else:
        submit_new_password(flow, bob, sign_out_apps="on")
    assert is_access_closed(flow, tokens)
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 200
