"""What members may do, as pages: each one's own list, and what oneself may."""

import re
import time
from html import unescape

import pytest

from companies.models import AuditEntry, Membership
from companies.permissions import Role
from tests import factories

pytestmark = pytest.mark.django_db


def page(company, path=""):
    return f"/app/companies/{company.id}/settings/{path}"


def text_of(answer):
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def ticked(answer):
    return re.findall(r'name="permissions" value="([\w:]+)"[^>]*? checked', answer.content.decode())


def of(user, company):
    return Membership.objects.of(company.id).get(user=user)


def test_the_members_page_says_what_each_may_do(owner, bob, acme):
    seen = text_of(owner.get(page(acme, "members")))
    assert "Sees everything, changes 1 of 10" in seen
    assert "Sees everything, changes everything, administers" in seen


def test_a_member_gets_a_list_of_their_own_and_loses_it_again(owner, api, bob, acme):
    address = page(acme, f"members/{of(bob, acme).id}/permissions")
    shown = ticked(owner.get(address))
    assert ("accounts:read" in shown, "accounts:write" in shown) == (True, False)
    form = {"kind": "own", "permissions": ["accounts:read", "accounts:write", "audit:read"]}
    assert owner.post(address, form).status_code == 303
    assert api.get(f"members/{of(bob, acme).id}").json()["permissions"] == form["permissions"]
    assert sorted(ticked(owner.get(address))) == form["permissions"]
    assert owner.post(address, {"kind": "role"}).status_code == 303
    assert of(bob, acme).permissions is None
    assert of(bob, acme).role == Role.VIEWER


@pytest.mark.parametrize(
    "form", [{"kind": "some"}, {}, {"kind": "own", "permissions": ["accounts:eat"]}], ids=["kind", "nothing", "unknown"]
)
def test_what_is_no_permission_is_refused_at_its_field(owner, bob, acme, form):
    entries = AuditEntry.objects.of(acme.id).count()
    answer = owner.post(page(acme, f"members/{of(bob, acme).id}/permissions"), form)
    assert (answer.status_code, "field-error" in answer.content.decode()) == (400, True)
    assert AuditEntry.objects.of(acme.id).count() == entries


def test_nobody_gives_what_they_do_not_hold(browser_of, alice, bob, acme):
    admin = factories.member(acme, "dana@acme.example", role=Role.ADMIN)
    client = browser_of(admin, acme).client
    form = {"kind": "own", "permissions": ["company:manage"]}
    answer = client.post(page(acme, f"members/{of(bob, acme).id}/permissions"), form)
    assert (answer.status_code, "nobody gives what they do not hold" in text_of(answer)) == (400, True)
    assert of(bob, acme).permissions is None
    last = client.post(page(acme, f"members/{of(alice, acme).id}/permissions"), {"kind": "own"})
    assert (last.status_code, of(alice, acme).permissions) == (400, None)


def test_everybody_sees_their_own_access(viewer, browser_of, acme):
    seen = text_of(viewer.get(page(acme, "access")))
    assert "You are viewer of Acme." in seen
    assert "Accounts yes no" in seen
    assert "Notifications yes yes" in seen
    assert "Balances and cash flow yes –" in seen
    assert "Read the audit log" not in seen
    eve = factories.member(acme, "eve@acme.example", role=Role.VIEWER, permissions=["audit:read"])
    seen = text_of(browser_of(eve, acme).client.get(page(acme, "access")))
    assert "with permissions of your own" in seen
    assert "Accounts no no" in seen
    assert "Read the audit log" in seen


def test_ticks_beside_the_role_are_not_passed_over(owner, bob, acme):
    address = page(acme, f"members/{of(bob, acme).id}/permissions")
    form = {"kind": "role", "permissions": [*ticked(owner.get(address)), "transactions:write"]}
    answer = owner.post(address, form)
    assert (answer.status_code, "Choose a list of their own" in text_of(answer)) == (400, True)
    assert of(bob, acme).permissions is None


def test_who_gives_permissions_proved_lately_who_they_are(owner, bob, acme):
    session = owner.session
    session["auth_time"] = session["seen_time"] = time.time() - 700
    session.save()
    form = {"kind": "own", "permissions": ["accounts:read", "members:manage"]}
    answer = owner.post(page(acme, f"members/{of(bob, acme).id}/permissions"), form)
    assert answer.headers["Location"].startswith("/app/sign-in")
    assert of(bob, acme).permissions is None
