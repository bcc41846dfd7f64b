"""Who belongs to a company: by e-mail, with a role or permissions of their own, and never without an owner."""

import threading
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client

from companies.models import AuditContext, AuditEntry, Membership, User
from companies.permissions import Role
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(sign_in_browser, alice, acme):
    """An API client with the session of Alice, the only owner of Acme."""
    Membership.objects.filter(company=acme).exclude(user=alice).delete()
    return sign_in_browser(alice, acme)


@pytest.fixture
def admin(sign_in_browser, acme):
    return sign_in_browser(factories.make_member(acme, "admin@acme.example", role=Role.ADMIN), acme)


def find_member_id(caller, email):
    return next(each["id"] for each in caller.get("members").json() if each["email"] == email)


def test_member_is_invited_by_email_and_listed(owner, alice):
    made = owner.post("members", {"email": "dora@acme.example", "role": "editor"})
    assert made.status_code == 201
    body = made.json()
    assert set(body) == {
        "id", "companyId", "userId", "email", "name", "role", "permissions", "status", "joinedTime",
        "expiresTime", "createdTime", "createdUserId", "lastUpdatedTime", "lastUpdatedUserId",
    }  # fmt: skip
    assert (body["email"], body["role"], body["permissions"]) == ("dora@acme.example", "editor", None)
    assert body["name"] is None
    assert body["createdUserId"] == str(alice.id)
    assert made["Location"].endswith(f"/members/{body['id']}")
    assert body in owner.get("members").json()


def test_member_cannot_be_added_twice(owner, mailoutbox):
    for email in ("alice@acme.example", "ALICE@ACME.example"):
        answer = owner.post("members", {"email": email, "role": "viewer"})
        assert (answer.status_code, answer.json()["code"]) == (409, "already_member")


def test_invalid_member_is_rejected_and_not_stored(owner):
    for change, pointer, code in [
        ({"email": "nobody"}, "#/email", "invalid_value"),
        ({"email": ""}, "#/email", "must_not_be_empty"),
        ({"email": None}, "#/email", "must_not_be_null"),
        ({"email": 1}, "#/email", "invalid_value"),
        ({"email": "a\0@b.example"}, "#/email", "invalid_characters"),
        ({"email": "a@b.example\n"}, "#/email", "invalid_value"),
        ({"email": "x" * 250 + "@b.example"}, "#/email", "too_long"),
        ({"role": "boss"}, "#/role", "invalid_choice"),
        ({"role": None}, "#/role", "must_not_be_null"),
        ({"role": 1}, "#/role", "invalid_choice"),
        ({"permissions": "all"}, "#/permissions", "invalid_value"),
        ({"permissions": ["all"]}, "#/permissions/0", "invalid_choice"),
    ]:
        answer = owner.post("members", {"email": "dora@acme.example", "role": "viewer"} | change)
        assert answer.status_code == 400, change
        assert (pointer, code) in [(e["pointer"], e["code"]) for e in answer.json()["errors"]], answer.json()
        assert Membership.objects.filter(company=owner.company).count() == 1, change
        assert User.objects.filter(email__startswith="dora").count() == 0, change


def test_member_permissions_override_role_until_set_to_null(owner, invite_member, sign_in_browser, acme):
    made = invite_member(owner, "d@acme.example", role="editor", permissions=["accounts:read"])
    made.accept()
    dora = sign_in_browser(User.objects.find_by_email("d@acme.example"), acme)
    assert dora.get("accounts").status_code == 200
    assert dora.get("members").status_code == dora.post("accounts", {}).status_code == 403
    assert dora.get("/companies").json()[0]["permissions"] == ["accounts:read"]
    assert owner.put(f"members/{made.id}", {"permissions": []}).json()["permissions"] == []
    assert dora.get("accounts").status_code == 403
    assert owner.put(f"members/{made.id}", {"permissions": None}).json()["permissions"] is None
    assert dora.post("account_groups", {"name": "x"}).status_code == 201


def test_member_can_be_sent_back_with_changes(owner):
    made = owner.post("members", {"email": "d@acme.example", "role": "editor"}).json()
    answer = owner.put(f"members/{made['id']}", made | {"role": "viewer", "colour": "red"})
    assert answer.status_code == 200, answer.content
    assert answer["Ignored-Fields"] == "colour"
    assert answer.json()["role"] == "viewer"
    assert owner.put(f"members/{made['id']}", {}).json() == answer.json()
    assert AuditEntry.objects.filter(action="member.updated").count() == 1


# ---------------------------------------------------------------------------------------------- owners


def test_last_owner_cannot_be_demoted_or_removed(owner, alice):
    path = f"members/{find_member_id(owner, alice.email)}"
    for change in [
        {"role": "admin"},
        {"role": "viewer"},
        {"permissions": []},
        {"permissions": ["members:manage"]},
        None,
    ]:
        answer = owner.put(path, change) if change else owner.delete(path)
        assert (answer.status_code, answer.json()["code"]) == (409, "last_owner"), change
        stored = Membership.objects.get(user=alice)
        assert (stored.role, stored.permissions) == ("owner", None), change


@pytest.mark.parametrize("change", [{"role": "admin"}, None])
def test_last_owner_cannot_be_demoted_or_removed_by_api_key(owner, api, alice, change):
    path = f"members/{find_member_id(owner, alice.email)}"
    answer = api.put(path, change) if change else api.delete(path)
    assert (answer.status_code, answer.json()["code"]) == (409, "last_owner")


def test_one_of_two_owners_can_be_demoted_or_removed_but_not_both(owner, invite_member, alice):
    made = invite_member(owner, "d@acme.example", role="owner")
    made.accept()
    second = made.id
    assert owner.put(f"members/{second}", {"role": "viewer"}).status_code == 200
    assert owner.delete(f"members/{find_member_id(owner, alice.email)}").json()["code"] == "last_owner"
    owner.put(f"members/{second}", {"role": "owner"})
    assert owner.delete(f"members/{find_member_id(owner, alice.email)}").status_code == 200
    assert owner.get("members").status_code == 404


def test_owner_with_custom_permissions_does_not_count_as_owner(owner, invite_member, alice):
    invite_member(owner, "d@acme.example", role="owner", permissions=["accounts:read"]).accept()
    assert owner.delete(f"members/{find_member_id(owner, alice.email)}").json()["code"] == "last_owner"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("leave", ["delete", "put"])
def test_one_of_two_concurrently_leaving_owners_remains(owner, alice, acme, leave):
    for round_ in range(5):
        other = factories.make_member(acme, f"o{round_}@acme.example", role=Role.OWNER)
        ids = {user: Membership.objects.get(company=acme, user=user).id for user in (alice, other)}
        gate, statuses = threading.Barrier(2), []

        def go(user, ids=ids, gate=gate, statuses=statuses):
            client = Client()
            client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
            path = f"/companies/{acme.id}/members/{ids[user]}"
            gate.wait()
            call = (
                client.delete(path)
                if leave == "delete"
                else client.put(path, {"role": "viewer"}, content_type="application/json")
            )
            statuses.append((call.status_code, call.json().get("code")))
            connection.close()

        threads = [threading.Thread(target=go, args=(user,)) for user in (alice, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(statuses, key=str) == [(200, None), (409, "last_owner")]
        owners = Membership.objects.filter(company=acme, role=Role.OWNER, permissions=None)
        assert owners.count() == 1
        Membership.objects.filter(company=acme).delete()
        factories.make_member(acme, alice.email, role=Role.OWNER)


def test_admin_cannot_create_change_or_remove_owners(owner, admin, alice):
    owners_id = find_member_id(owner, alice.email)
    dora = admin.post("members", {"email": "d@acme.example", "role": "editor"}).json()["id"]
    for answer in (
        admin.post("members", {"email": "e@acme.example", "role": "owner"}),
        admin.put(f"members/{dora}", {"role": "owner"}),
        admin.put(f"members/{find_member_id(owner, 'admin@acme.example')}", {"role": "owner"}),
        admin.put(f"members/{owners_id}", {"role": "viewer"}),
        admin.put(f"members/{owners_id}", {}),
        admin.delete(f"members/{owners_id}"),
        admin.put(f"members/{dora}", {"permissions": ["company:manage"]}),
        admin.post("members", {"email": "e@acme.example", "role": "viewer", "permissions": ["company:manage"]}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert {m["email"]: m["role"] for m in owner.get("members").json()} == {
        "alice@acme.example": "owner", "admin@acme.example": "admin", "d@acme.example": "editor",
    }  # fmt: skip
    assert not User.objects.filter(email="e@acme.example").exists()


def test_admin_can_manage_other_members(owner, admin):
    made = admin.post("members", {"email": "d@acme.example", "role": "admin"}).json()["id"]
    assert admin.put(f"members/{made}", {"role": "viewer"}).json()["role"] == "viewer"
    assert admin.delete(f"members/{made}").json() == {"success": True}
    assert len(owner.get("members").json()) == 2


def test_api_key_cannot_grant_permissions_it_lacks(make_api, acme):
    caller = make_api(acme, "members:manage", "accounts:read")
    assert caller.post("members", {"email": "d@acme.example", "role": "viewer"}).status_code == 403
    body = {"email": "d@acme.example", "role": "viewer", "permissions": ["accounts:read"]}
    assert caller.post("members", body).status_code == 201


def test_removed_member_loses_access_immediately(owner, sign_in_browser, acme):
    dora = factories.make_member(acme, "d@acme.example", role=Role.EDITOR)
    hers = sign_in_browser(dora, acme)
    assert hers.get("accounts").status_code == 200
    assert owner.delete(f"members/{find_member_id(owner, dora.email)}").status_code == 200
    assert hers.get("accounts").status_code == 404
    assert owner.delete(f"members/{dora.id}").status_code == 404


def test_member_is_found_at_its_location(owner):
    made = owner.post("members", {"email": "d@acme.example", "role": "editor"})
    read = owner.get(made["Location"])
    assert (read.json(), read["ETag"]) == (made.json(), made["ETag"])
    assert owner.get("members/x").status_code == 404


# ---------------------------------------------------------------------------------------------- strangers


def list_members(caller):
    return {member["email"]: (member["userId"], member["name"]) for member in caller.get("members").json()}


def sign_in(user):
    answer = Client().post("/app/sign-in", {"username": user.email, "password": "correct horse battery"})
    assert answer.status_code == 303


def create_old_membership(company, user, by):
    """A membership as they came about before there were invitations."""
    audit_context = AuditContext(time=datetime.now(tz=UTC), actor=str(by.id))
    Membership(company=company, user=user, role=Role.VIEWER).mark_created(audit_context).save(force_insert=True)


def test_member_added_before_invitations_is_shown_by_address(owner, sign_in_browser, acme, alice):
    carla = factories.UserFactory(email="Carla@Globex.example", name="Carla Coe")
    sign_in(carla)
    create_old_membership(acme, carla, by=alice)
    assert list_members(owner) == {
        "alice@acme.example": (str(alice.id), alice.name),
        "carla@globex.example": (None, None),
    }
    assert [each["status"] for each in owner.get("members").json()] == ["active", "active"]
    assert sign_in_browser(carla, acme).get("accounts").status_code == 200
    sign_in(carla)
    assert list_members(owner)["Carla@Globex.example"] == (str(carla.id), "Carla Coe")


def test_name_of_member_who_never_signed_in_is_hidden_everywhere(owner, acme, alice):
    carla = factories.UserFactory(email="Carla@Globex.example", name="Carla Coe")
    create_old_membership(acme, carla, by=alice)
    staff = Client()
    staff.force_login(
        User.objects.create_superuser("chief@example.com", "correct horse battery"),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    form = {"email": "Carla@Globex.example", "name": "Carla Coe-Dee", "is_active": "on"}
    assert staff.post(f"/admin/companies/user/{carla.pk}/change/", form).status_code == 303
    owner.post("accounts", {"name": "Main", "type": "bank"})
    base = f"/app/companies/{acme.id}"
    shown = [owner.get(path).content.decode() for path in ("members", "audit_log", "notifications")]
    shown += [owner.get(f"{base}/{page}").content.decode() for page in ("settings/members", "settings/activity")]
    shown += [owner.get(f"{base}/transactions/new").content.decode()]
    for text in shown:
        assert "Carla" not in text
        assert str(carla.id) not in text
    assert "carla@globex.example" in shown[3]
    assert "never signed in" in shown[3]


def test_founder_is_listed_as_a_member(sign_in_browser, acme):
    user = factories.UserFactory(email="founder@acme.example", name="Fay")
    sign_in(user)
    caller = sign_in_browser(user, acme)
    company_id = caller.post("/companies", {"name": "New"}).json()["id"]
    (member,) = caller.get(f"/companies/{company_id}/members").json()
    assert (member["userId"], member["name"]) == (str(user.id), "Fay")


@pytest.mark.parametrize("change", [{"name": "Alice Ash"}, {"email": "a@acme.example"}])
def test_member_etag_changes_with_user_data(owner, alice, change):
    path = f"members/{find_member_id(owner, alice.email)}"
    before = owner.get(path)
    assert owner.get(path, if_none_match=before["ETag"]).status_code == 304
    for name, value in change.items():
        setattr(alice, name, value)
    alice.save()
    after = owner.get(path, if_none_match=before["ETag"])
    assert after.status_code == 200
    assert after["ETag"] != before["ETag"]
    factories.make_member(owner.company, "second@acme.example", role=Role.OWNER)
    assert owner.put(path, {"role": "admin"}, if_match=before["ETag"]).status_code == 200  # the membership is the same
