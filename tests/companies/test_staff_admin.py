"""People in the admin: staff switch users off; only superusers make staff, and nobody becomes somebody else."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.test import Client

from companies.change import ConcurrentChangeRace
from companies.models import User
from tests import factories

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
STAFF_FLAGS = {"is_staff": "on", "is_superuser": "on"}


def sign_in_staff(user):
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def staff_user(db):
    """A staff user who may add and change users, but is no superuser."""
    user = factories.UserFactory(email="helper@example.com", is_staff=True)
    wanted = Permission.objects.filter(content_type__app_label="companies", codename__endswith="_user")
    user.user_permissions.set(wanted)
    return user


@pytest.fixture
def superuser(db):
    return User.objects.create_superuser("chief@example.com", PASSWORD)


def build_user_admin_path(user, tail="change/"):
    return f"/admin/companies/user/{user.pk}/{tail}"


def test_staff_can_rename_and_deactivate_users(staff_user, alice):
    assert (
        sign_in_staff(staff_user)
        .post(build_user_admin_path(alice), {"email": alice.email, "name": "Alice"})
        .status_code
        == 303
    )
    alice.refresh_from_db()
    assert (alice.name, alice.is_active) == ("Alice", False)


def raise_same_moment(**_):
    raise ConcurrentChangeRace


@pytest.mark.parametrize(
    ("act", "address", "form"),
    [
        pytest.param(
            "companies.actions.members.record_user_change", "user/{person}", {"name": "Alicia"}, id="a person"
        ),
        pytest.param(
            "companies.actions.companies.update_company",
            "company/{company}",
            {"system_status": "free"},
            id="a company",
        ),
    ],
)
def test_staff_action_error_is_shown_and_changes_nothing(act, address, form, superuser, alice, acme, monkeypatch):
    rows = {f"-{number}-{part}": "0" for number in range(1, 9) for part in ("TOTAL_FORMS", "INITIAL_FORMS")}
    url = f"/admin/companies/{address.format(person=alice.pk, company=acme.pk)}/change/"
    monkeypatch.setattr(act, raise_same_moment)
    page = sign_in_staff(superuser).post(url, {"email": alice.email, "is_active": "on", **form, **rows}, follow=True)
    assert [str(message) for message in page.context["messages"]] == [ConcurrentChangeRace().detail]
    assert not LogEntry.objects.exists()
    alice.refresh_from_db()
    acme.refresh_from_db()
    assert alice.name != "Alicia"
    assert acme.system_status == "trial"


@pytest.mark.parametrize("who", ["staff_user", "alice"])
def test_staff_cannot_extend_rights_of_themselves_or_others(who, request, staff_user):
    user, group = request.getfixturevalue(who), Group.objects.create(name="everything")
    before = (user.is_staff, user.user_permissions.count())
    permission = Permission.objects.exclude(codename__endswith="_user").first()
    form = {"email": user.email, "name": "x", "is_active": "on", **STAFF_FLAGS}
    form |= {"groups": [group.pk], "user_permissions": [permission.pk]}
    assert sign_in_staff(staff_user).post(build_user_admin_path(user), form).status_code == 303
    user.refresh_from_db()
    assert user.name == "x"
    assert not user.is_superuser
    assert (user.is_staff, user.user_permissions.count(), user.groups.count()) == (*before, 0)


@pytest.mark.parametrize("tail", ["change/", "password/"])
def test_staff_changes_to_users_require_step_up_after_ten_minutes(tail, superuser, alice):
    browser, before = sign_in_staff(superuser), alice.password
    form = {"email": "other@acme.example", "password1": "horse battery staple", "password2": "horse battery staple"}
    assert browser.get(build_user_admin_path(alice, tail)).status_code == 200
    session = browser.session
    session["auth_time"] -= 11 * 60
    session.save()
    assert browser.get(build_user_admin_path(alice, tail)).status_code == 200  # to look asks for nothing
    answer = browser.post(build_user_admin_path(alice, tail), form)
    assert answer["Location"].startswith("/app/sign-in?")
    assert "again=1" in answer["Location"]
    assert build_user_admin_path(alice, tail).replace("/", "%2F") in answer["Location"]
    alice.refresh_from_db()
    assert (alice.email, alice.password) == ("alice@acme.example", before)


def test_staff_adding_users_requires_step_up_after_ten_minutes(superuser):
    browser = sign_in_staff(superuser)
    browser.get("/admin/")
    session = browser.session
    session["auth_time"] -= 11 * 60
    session.save()
    form = {"email": "new@acme.example", "password1": "horse battery staple", "password2": "horse battery staple"}
    assert browser.post("/admin/companies/user/add/", form)["Location"].startswith("/app/sign-in?")
    assert not User.objects.filter(email="new@acme.example").exists()


def test_staff_cannot_change_email_or_password_of_users(staff_user, alice):
    """Whoever changes the address has the link for a new password sent to theirs."""
    client = sign_in_staff(staff_user)
    client.post(build_user_admin_path(alice), {"name": "x", "is_active": "on", "email": "mine@example.com"})
    form = {"password1": "staple battery 9", "password2": "staple battery 9", "usable_password": "true"}
    for user in (alice, staff_user):
        assert client.get(build_user_admin_path(user, "password/")).status_code == 403
        assert client.post(build_user_admin_path(user, "password/"), form).status_code == 403
    alice.refresh_from_db()
    assert alice.email == "alice@acme.example"
    assert alice.check_password(PASSWORD)
    assert "password/" not in client.get(build_user_admin_path(alice)).content.decode()


def test_staff_can_view_but_not_change_superuser(staff_user, superuser):
    client = sign_in_staff(staff_user)
    assert client.get(build_user_admin_path(superuser)).status_code == 200
    assert client.post(build_user_admin_path(superuser), {"email": superuser.email, "name": "x"}).status_code == 403
    superuser.refresh_from_db()
    assert superuser.is_active
    assert superuser.name == ""


def test_staff_can_add_only_ordinary_users(staff_user):
    form = {"email": "new@example.com", "password1": "staple battery 9", "password2": "staple battery 9", **STAFF_FLAGS}
    assert sign_in_staff(staff_user).post("/admin/companies/user/add/", form).status_code == 303
    made = User.objects.get(email="new@example.com")
    assert not made.is_staff
    assert not made.is_superuser


def test_staff_password_change_redirects_to_app(staff_user):
    query, sent = (
        sign_in_staff(staff_user).get("/admin/password_change/"),
        sign_in_staff(staff_user).post("/admin/password_change/", {}),
    )
    assert [(each.status_code, each["Location"]) for each in (query, sent)] == [
        (302, "/app/password"),
        (303, "/app/password"),
    ]


def test_superuser_can_change_email_password_and_staff_rights(superuser, alice):
    client, group = sign_in_staff(superuser), Group.objects.create(name="helpers")
    form = {"email": "alice@new.example", "name": "x", "is_active": "on", "groups": [group.pk], **STAFF_FLAGS}
    assert client.post(build_user_admin_path(alice), form).status_code == 303
    alice.refresh_from_db()
    assert (alice.email, alice.is_staff, alice.is_superuser) == ("alice@new.example", True, True)
    assert alice.groups.get() == group
    form = {"password1": "staple battery 9", "password2": "staple battery 9", "usable_password": "true"}
    assert client.post(build_user_admin_path(alice, "password/"), form | {"set-password": ""}).status_code == 303
    alice.refresh_from_db()
    assert alice.check_password("staple battery 9")


# ---------------------------------------------------------------------------------------------- second factors


def test_admin_has_no_pages_of_mfa_secrets(superuser):
    """People set them up themselves, and restore_access takes them away."""
    client = sign_in_staff(superuser)
    for model in ("otp_totp/totpdevice", "otp_static/staticdevice", "companies/passkey", "companies/recoverycode"):
        assert client.get(f"/admin/{model}/").status_code == 404
