"""What members may do, as pages: each one's own list, and what oneself may."""

import re
import time

import pytest

from companies.models import AuditEntry, Membership
from companies.permissions import Role
from tests import factories
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db


def build_page_path(company, path=""):
    return f"/app/companies/{company.id}/settings/{path}"


def list_checked_permissions(answer):
    return re.findall(r'name="permissions" value="([\w:]+)"[^>]*? checked', answer.content.decode())


def get_membership(user, company):
    return Membership.objects.for_company(company.id).get(user=user)


def test_members_page_summarizes_permissions_of_each_member(owner, bob, acme):
    seen = get_page_text(owner.get(build_page_path(acme, "members")))
    assert "View all, edit 1 of 10" in seen
    assert "View all, edit all, administration" in seen


def test_member_can_be_given_custom_permissions_and_returned_to_role(owner, api, bob, acme):
    address = build_page_path(acme, f"members/{get_membership(bob, acme).id}/permissions")
    shown = list_checked_permissions(owner.get(address))
    assert ("accounts:read" in shown, "accounts:write" in shown) == (True, False)
    form = {"kind": "own", "permissions": ["accounts:read", "accounts:write", "audit:read"]}
    assert owner.post(address, form).status_code == 303
    assert api.get(f"members/{get_membership(bob, acme).id}").json()["permissions"] == form["permissions"]
    assert sorted(list_checked_permissions(owner.get(address))) == form["permissions"]
    assert owner.post(address, {"kind": "role"}).status_code == 303
    assert get_membership(bob, acme).permissions is None
    assert get_membership(bob, acme).role == Role.VIEWER


@pytest.mark.parametrize(
    "form", [{"kind": "some"}, {}, {"kind": "own", "permissions": ["accounts:eat"]}], ids=["kind", "nothing", "unknown"]
)
def test_unknown_permission_shows_a_field_error(owner, bob, acme, form):
    entries = AuditEntry.objects.for_company(acme.id).count()
    answer = owner.post(build_page_path(acme, f"members/{get_membership(bob, acme).id}/permissions"), form)
    assert (answer.status_code, "field-error" in answer.content.decode()) == (400, True)
    assert AuditEntry.objects.for_company(acme.id).count() == entries


def test_member_cannot_grant_permissions_they_lack(sign_in_browser, alice, bob, acme):
    admin = factories.make_member(acme, "dana@acme.example", role=Role.ADMIN)
    client = sign_in_browser(admin, acme).client
    form = {"kind": "own", "permissions": ["company:manage"]}
    answer = client.post(build_page_path(acme, f"members/{get_membership(bob, acme).id}/permissions"), form)
    assert (
        answer.status_code,
        "You cannot change this member's role or permissions. You can only grant permissions you have yourself."
        in get_page_text(answer),
    ) == (400, True)
    assert get_membership(bob, acme).permissions is None
    last = client.post(build_page_path(acme, f"members/{get_membership(alice, acme).id}/permissions"), {"kind": "own"})
    assert (last.status_code, get_membership(alice, acme).permissions) == (400, None)


def test_access_page_shows_own_permissions(viewer, sign_in_browser, acme):
    seen = get_page_text(viewer.get(build_page_path(acme, "access")))
    assert "Your role in Acme: viewer." in seen
    assert "Accounts yes no" in seen
    assert "Notifications yes yes" in seen
    assert "Balances and cash flow yes –" in seen
    assert "View the audit log" not in seen
    eve = factories.make_member(acme, "eve@acme.example", role=Role.VIEWER, permissions=["audit:read"])
    seen = get_page_text(sign_in_browser(eve, acme).client.get(build_page_path(acme, "access")))
    assert ", with custom permissions." in seen
    assert "Accounts no no" in seen
    assert "View the audit log" in seen


def test_permissions_checked_for_role_member_are_rejected_not_ignored(owner, bob, acme):
    address = build_page_path(acme, f"members/{get_membership(bob, acme).id}/permissions")
    form = {"kind": "role", "permissions": [*list_checked_permissions(owner.get(address)), "transactions:write"]}
    answer = owner.post(address, form)
    assert (
        answer.status_code,
        "The selection differs from the role. Choose “Custom” to save it." in get_page_text(answer),
    ) == (400, True)
    assert get_membership(bob, acme).permissions is None


def test_permission_change_requires_step_up(owner, bob, acme):
    session = owner.session
    session["auth_time"] = session["seen_time"] = time.time() - 700
    session.save()
    form = {"kind": "own", "permissions": ["accounts:read", "members:manage"]}
    answer = owner.post(build_page_path(acme, f"members/{get_membership(bob, acme).id}/permissions"), form)
    assert answer.headers["Location"].startswith("/app/sign-in")
    assert get_membership(bob, acme).permissions is None
