"""An e-mail address has one canonical form: people are told apart by it and by nothing else."""

import pytest
from axes.models import AccessAttempt
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client

from companies import email_addresses
from companies.models import Membership, User
from tests import factories

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"

CANONICAL_FORMS = [
    ("as it is", "cfo@widgets.example", "cfo@widgets.example"),
    ("case", "CFO@Widgets.EXAMPLE", "cfo@widgets.example"),
    ("another script, by older rules the same", "cfo@wıdgets.example", "cfo@xn--wdgets-p9a.example"),
    ("wide letters", "cfo@ｗidgets.example", "cfo@widgets.example"),
    ("a long s", "cfo@widgetſ.example", "cfo@widgets.example"),
    ("an umlaut in capitals", "cfo@BÜCHER.example", "cfo@xn--bcher-kva.example"),
    ("an umlaut of two characters", "cfo@b\u0075\u0308cher.example", "cfo@xn--bcher-kva.example"),
    ("Not a valid email address.", "cfo@XN--BCHER-KVA.example", "cfo@xn--bcher-kva.example"),
    ("a sharp s is a letter of its own", "cfo@straße.example", "cfo@xn--strae-oqa.example"),
    ("a full stop of another script", "cfo@bücher。example", "cfo@xn--bcher-kva.example"),
]
INVALID_ADDRESSES = {
    "dotless": "ıvan@widgets.example",
    "long s": "ſales@widgets.example",
    "kelvin": "\u212aate@widgets.example",
    "accent": "josé@widgets.example",
    "wide": "ｃfo@widgets.example",
    "an at sign inside the domain": "cfo@evil＠widgets.example",
    "a joiner": "cfo@wid\u200dgets.example",
    "too long once spelled": f"{'c' * 40}@{'.'.join(['ü' * 50] * 4)}.example",
}


def test_email_address_has_one_canonical_form():
    for email, form in [each[1:] for each in CANONICAL_FORMS]:
        assert email_addresses.to_canonical_email(email) == form
        assert email_addresses.to_canonical_email(form) == form, email


def test_non_ascii_local_part_has_no_canonical_form():
    for email in INVALID_ADDRESSES.values():
        with pytest.raises(email_addresses.InvalidEmail):
            email_addresses.to_canonical_email(email)
        assert User.objects.find_by_email(email) is None


# ---------------------------------------------------------------------------------------------- members


def test_invitation_goes_to_exact_address_not_to_lookalike(api, invite_member, acme):
    alike = factories.UserFactory(email="cfo@wıdgets.example")
    invite_member(api, "cfo@widgets.example", role="admin").accept()
    assert not Membership.objects.filter(company=acme, user=alike).exists()
    assert Membership.objects.filter(company=acme, user__email="cfo@widgets.example").exists()


def test_member_with_invalid_email_address_is_rejected(api):
    for case, email in INVALID_ADDRESSES.items():
        answer = api.post("members", {"email": email, "role": "viewer"})
        assert answer.status_code == 400, case
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [("#/email", "invalid_email")], case
        assert not User.objects.filter(email=email).exists()


def test_member_cannot_be_invited_twice_with_another_spelling(api):
    assert api.post("members", {"email": "cfo@BÜCHER.example", "role": "viewer"}).status_code == 201
    again = api.post("members", {"email": "CFO@xn--bcher-kva.example", "role": "viewer"})
    assert (again.status_code, again.json()["code"]) == (409, "already_invited")


def test_mail_is_sent_to_punycode_domain(api, django_capture_on_commit_callbacks, mailoutbox):
    with django_capture_on_commit_callbacks(execute=True):
        api.post("members", {"email": "cfo@straße.example", "role": "viewer"})
    assert [each.to for each in mailoutbox] == [["cfo@xn--strae-oqa.example"]]


# ---------------------------------------------------------------------------------------------- signing in


def post_form(path, form, **where):
    return Client(**where).post(path, form)


def test_sign_in_accepts_any_spelling_but_no_lookalike():
    mine = factories.UserFactory(email="cfo@wıdgets.example")
    other = factories.UserFactory(email="cfo@widgets.example")
    for typed, user in (("CFO@WıDGETS.example", mine), ("cfo@xn--wdgets-p9a.example", mine), (other.email, other)):
        client = Client()
        assert client.post("/app/sign-in", {"username": typed, "password": PASSWORD}).status_code == 303
        assert client.session["_auth_user_id"] == str(user.pk)


def test_sign_in_with_invalid_address_shows_usual_error():
    for case, email in INVALID_ADDRESSES.items():
        answer = post_form("/app/sign-in", {"username": email, "password": PASSWORD})
        assert answer.status_code == 400, case
        assert "Incorrect email address or password." in answer.content.decode(), case


def test_sign_in_lockout_is_shared_by_all_spellings():
    door = "/app/sign-in"
    factories.UserFactory(email="cfo@bücher.example", is_staff=True)
    spellings = ["cfo@bücher.example", "CFO@BÜCHER.example", "cfo@xn--bcher-kva.example"]
    spellings += ["cFo@b\u0075\u0308cher.example"]
    for n in range(10):
        last = post_form(door, {"username": spellings[n % 4], "password": "wrong"})
    assert last.status_code == 429
    assert [each.username for each in AccessAttempt.objects.all()] == ["cfo@xn--bcher-kva.example"]
    assert post_form(door, {"username": "CFO@bücher。example", "password": PASSWORD}).status_code == 429


def test_password_reset_goes_to_exact_address_not_to_lookalike():
    factories.UserFactory(email="cfo@wıdgets.example")
    where = {"REMOTE_ADDR": "192.0.2.61"}
    assert post_form("/app/password-reset", {"email": "cfo@widgets.example"}, **where).status_code == 200
    assert mail.outbox == []
    post_form("/app/password-reset", {"email": "CFO@wıdgets.example"}, **where)
    assert [each.to for each in mail.outbox] == [["cfo@xn--wdgets-p9a.example"]]


# ---------------------------------------------------------------------------------------------- staff and commands


def test_admin_rejects_email_address_taken_in_another_spelling(alice):
    staff = Client()
    staff.force_login(
        User.objects.create_superuser("chief@example.com", PASSWORD),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    form = {"password1": "staple battery 9", "password2": "staple battery 9", "usable_password": "true"}
    for email, answer in (
        ("ALICE@acme.example", "A user with this email address already exists."),
        ("ſ@acme.example", "This email address is not valid."),
    ):
        page = staff.post("/admin/companies/user/add/", form | {"email": email})
        assert page.status_code == 200
        assert answer in page.content.decode()
        changed = staff.post(f"/admin/companies/user/{alice.pk}/change/", {"email": email, "is_active": "on"})
        assert changed.status_code == (303 if email.lower() == alice.email else 200)


def test_commands_find_user_by_any_spelling(capsys, alice):
    call_command("create_company", name="Two", currency="EUR", owner="ALICE@ACME.example")
    assert Membership.objects.filter(user=alice).count() == 2
    with pytest.raises(CommandError, match="already taken"):
        call_command("createsuperuser", email="Alice@Acme.example", interactive=False)
    with pytest.raises(CommandError, match="--owner"):
        call_command("create_company", name="Two", currency="EUR", owner="ſ@acme.example")


# ---------------------------------------------------------------------------------------------- the database


def test_database_rejects_duplicate_or_inconsistent_canonical_email(alice):
    for values in ({"canonical_email": "else@acme.example"}, {"email": "else@acme.example"}):
        with pytest.raises(IntegrityError, match="canonical"), transaction.atomic():
            User.objects.filter(pk=alice.pk).update(**values)
    with pytest.raises(IntegrityError, match="any_spelling"), transaction.atomic():
        User.objects.create(email="ALICE@acme.example")
