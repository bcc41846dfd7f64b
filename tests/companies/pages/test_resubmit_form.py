"""A form that came when the last proof was too old: what was typed waits, and is sent after the new one."""

import re
from html import unescape
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from companies.models import ApiKey, Membership
from companies.permissions import Role
from tests import factories
from tests.companies.pages.test_user_pages import (
    SIGN_IN_PATH,
    find_new_key,
    get_csrf_token,
    move_clock_ahead,
    sign_in,
    visitor,
)

__all__ = ["visitor"]
pytestmark = pytest.mark.django_db
KEY = {"name": "Nightly <export>", "preset": "custom", "resource_accounts": "read", "expiry": "90"}
NEWEST = "/app/send-again"
REPEAT_MESSAGE = "Confirm your identity, then repeat the action. Nothing was changed yet."
SUBMIT_MESSAGE = "Confirm your identity to submit your input. Nothing was changed yet."


@pytest.fixture
def members_path(acme):
    return f"/app/companies/{acme.id}/settings/members"


@pytest.fixture
def new_key_path(acme):
    return f"/app/companies/{acme.id}/settings/api-keys/new"


@pytest.fixture
def stale_browser(visitor, alice, monkeypatch):
    """Alice's browser, eleven minutes after she signed in."""
    sign_in(visitor, alice)
    move_clock_ahead(monkeypatch, minutes=11)
    return visitor


def post_late_form(stale_browser, path, form, **headers):
    """Sends a form as a browser does; the address that the proof leads to."""
    sent = urlencode({**form, "csrfmiddlewaretoken": get_csrf_token(stale_browser.get("/app/profile"))}, doseq=True)
    answer = stale_browser.post(path, sent, content_type="application/x-www-form-urlencoded", headers=headers)
    assert answer["Location"].startswith(f"{SIGN_IN_PATH}?again=1&next=")
    page = stale_browser.get(answer["Location"])
    then = unescape(re.search(r'name="next" value="([^"]*)"', page.content.decode())[1])
    assert (SUBMIT_MESSAGE if then.startswith(NEWEST) else REPEAT_MESSAGE) in page.content.decode()
    return then


def get_text(answer):
    return unescape(answer.content.decode())


def parse_offered_form(page):
    """(the address, the fields) of the form that is offered."""
    result = re.search(
        r'<form method="post" action="([^"]+)" class="card panel stack">.*?</form>', get_text(page), re.S
    )
    return result[1], dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', result[0]))


def list_invited(acme):
    return list(Membership.objects.for_company(acme.id).filter(user=None).values_list("invited_email", "role"))


INVITATION = {"email": "dora@acme.example", "role": "editor"}


def test_pending_form_is_sent_after_step_up(stale_browser, alice, acme, members_path):
    then = post_late_form(stale_browser, members_path, INVITATION)
    assert then.startswith(NEWEST)
    assert list_invited(acme) == []
    old_token = get_csrf_token(stale_browser.get("/app/profile"))
    assert sign_in(stale_browser, alice, then=then)["Location"] == then
    page = stale_browser.get(then)
    assert page["Cache-Control"] == "no-store"
    assert "Submit your changes?" in get_text(page)
    assert "Invite dora@acme.example as editor." in get_text(page)
    assert f'href="{members_path}">Discard' in get_text(page)
    assert "Acme" in get_text(page)
    address, fields = parse_offered_form(page)
    assert (address, fields["email"], fields["role"]) == (members_path, *INVITATION.values())
    assert fields["csrfmiddlewaretoken"] != old_token
    assert stale_browser.post(address, fields)["Location"] == members_path
    assert list_invited(acme) == [("dora@acme.example", "editor")]


def test_pending_api_key_form_creates_one_key(stale_browser, alice, new_key_path):
    then = post_late_form(stale_browser, new_key_path, KEY | {"once": "a-number-of-its-own"})
    sign_in(stale_browser, alice, then=then)
    page = stale_browser.get(then)
    assert "Create API key “Nightly <export>”." in get_text(page)
    address, fields = parse_offered_form(page)
    assert find_new_key(stale_browser.post(address, fields)).startswith("svc_")
    assert stale_browser.post(address, fields).status_code == 400
    row = ApiKey.objects.get()
    assert (row.name, row.permissions) == ("Nightly <export>", ["accounts:read"])


def test_pending_form_keeps_every_value_of_a_field(stale_browser, alice, acme, members_path):
    bob = factories.make_member(acme, "bob@acme.example", role=Role.EDITOR)
    address = f"{members_path}/{Membership.objects.for_company(acme.id).get(user=bob).id}/permissions"
    then = post_late_form(stale_browser, address, {"kind": "own", "permissions": ["accounts:read", "members:manage"]})
    sign_in(stale_browser, alice, then=then)
    page = get_text(stale_browser.get(then))
    assert re.findall(r'name="permissions" value="([^"]+)"', page) == ["accounts:read", "members:manage"]


@pytest.mark.parametrize(
    ("path", "form", "said"),
    [
        ("{his}", {"role": "viewer"}, "Change the role of bob@acme.example to viewer."),
        ("{his}/remove", {}, "Remove bob@acme.example from the company."),
        ("{his}/resend", {}, "Resend the invitation to bob@acme.example."),
        ("/app/profile/email", {"email": "anna@new.example"}, "Change your email address to anna@new.example."),
    ],
)
def test_pending_form_shows_the_newest_request(path, form, said, stale_browser, alice, acme, members_path):
    bob = factories.make_member(acme, "bob@acme.example", role=Role.EDITOR)
    post_late_form(stale_browser, members_path, INVITATION)
    then = post_late_form(
        stale_browser,
        path.format(his=f"{members_path}/{Membership.objects.for_company(acme.id).get(user=bob).id}"),
        form,
    )
    sign_in(stale_browser, alice, then=then)
    page = get_text(stale_browser.get(then))
    assert said in page
    assert "dora@acme.example" not in page


def test_pending_form_is_shown_once_after_step_up(stale_browser, alice, members_path):
    then = post_late_form(stale_browser, members_path, INVITATION)
    assert stale_browser.get(then)["Location"].startswith(f"{SIGN_IN_PATH}?again=1&next=")
    sign_in(stale_browser, alice, then=then)
    assert stale_browser.head(then).status_code == 405
    assert "dora@acme.example" in get_text(stale_browser.get(then))
    again = stale_browser.get(then)
    assert again["Location"] == members_path
    assert "Your input is no longer available. Fill in the form again if it was not submitted." in get_text(
        stale_browser.get(members_path)
    )


def test_pending_form_expires_after_fifteen_minutes(stale_browser, alice, members_path, monkeypatch):
    then = post_late_form(stale_browser, members_path, INVITATION)
    assert "waiting" in stale_browser.session
    move_clock_ahead(monkeypatch, minutes=11 + 16)
    stale_browser.get("/app/")
    assert "waiting" not in stale_browser.session
    sign_in(stale_browser, alice, then=then)
    assert stale_browser.get(then)["Location"] == members_path


def test_pending_form_is_hidden_from_another_user_in_same_browser(stale_browser, acme, members_path):
    other = factories.make_member(acme, "olga@acme.example", role=Role.OWNER)
    then = post_late_form(stale_browser, members_path, INVITATION)
    assert sign_in(stale_browser, other, then=then)["Location"] == then
    assert "waiting" not in stale_browser.session
    assert stale_browser.get(then)["Location"] == members_path
    assert "dora@acme.example" not in get_text(stale_browser.get(members_path))


def test_pending_form_ends_with_the_session(stale_browser, alice, members_path):
    then = post_late_form(stale_browser, members_path, INVITATION)
    stale_browser.post("/app/sign-out", {"csrfmiddlewaretoken": get_csrf_token(stale_browser.get("/app/profile"))})
    sign_in(stale_browser, alice, then=then)
    assert stale_browser.get(then)["Location"] == members_path


def test_pending_form_is_bound_to_its_session(stale_browser, alice, members_path, client):
    then = post_late_form(stale_browser, members_path, INVITATION)
    client.post(SIGN_IN_PATH, {"username": alice.email, "password": "correct horse battery"})
    assert client.get(then)["Location"] == members_path


@pytest.mark.parametrize(
    ("form", "headers"),
    [
        (INVITATION | {"new_password1": "hunter2"}, {}),
        (INVITATION | {"client_secret": "hunter2"}, {}),
        (INVITATION, {"Sec-Fetch-Mode": "cors"}),
    ],
    ids=["a password", "a secret", "a script's"],
)
def test_unstorable_form_replaces_the_pending_one(form, headers, stale_browser, members_path):
    post_late_form(stale_browser, members_path, INVITATION)
    assert post_late_form(stale_browser, members_path, form, **headers) == members_path
    assert "waiting" not in stale_browser.session, "nor the one before it"


def test_pending_form_rejects_large_bodies(stale_browser, members_path):
    form = INVITATION | {
        "csrfmiddlewaretoken": get_csrf_token(stale_browser.get("/app/profile")),
        "more": "x" * 64 * 1024,
    }
    answer = stale_browser.post(members_path, urlencode(form), content_type="application/x-www-form-urlencoded")
    assert answer.status_code in (400, 413)
    assert "waiting" not in stale_browser.session


def test_pending_form_does_not_keep_files(stale_browser, members_path):
    form = INVITATION | {
        "csrfmiddlewaretoken": get_csrf_token(stale_browser.get("/app/profile")),
        "file": SimpleUploadedFile("a.txt", b"x"),
    }
    answer = stale_browser.post(members_path, form)
    assert "send-again" not in answer["Location"]
    assert "Confirm your identity, then repeat the action. Nothing was changed yet." in get_text(
        stale_browser.get(answer["Location"])
    )
    assert "waiting" not in stale_browser.session


def test_pending_form_needs_a_signed_in_user(visitor, members_path):
    sent = urlencode(INVITATION | {"csrfmiddlewaretoken": get_csrf_token(visitor.get(SIGN_IN_PATH))})
    answer = visitor.post(members_path, sent, content_type="application/x-www-form-urlencoded")
    assert "send-again" not in answer["Location"]
    assert "fill in the form again" in get_text(visitor.get(answer["Location"]))
    assert "waiting" not in visitor.session


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_pending_form_target_cannot_be_changed_by_query_parameters(elsewhere, stale_browser, alice, members_path):
    then = post_late_form(stale_browser, members_path, INVITATION)
    sign_in(stale_browser, alice)
    page = stale_browser.get(
        f"{NEWEST}?{urlencode({'next': elsewhere, 'address': elsewhere, 'email': 'eve@evil.example'})}"
    )
    assert then.startswith(NEWEST)
    assert parse_offered_form(page)[0] == members_path
    assert "evil.example" not in get_text(page)
    assert stale_browser.get(f"{NEWEST}?{urlencode({'next': elsewhere})}")["Location"] == "/app/"


def test_pending_form_is_hidden_after_access_is_lost(stale_browser, alice, acme, members_path):
    factories.make_member(acme, "olga@acme.example", role=Role.OWNER)
    then = post_late_form(stale_browser, members_path, INVITATION)
    Membership.objects.for_company(acme.id).filter(user=alice).delete()
    sign_in(stale_browser, alice, then=then)
    assert stale_browser.get(then).status_code == 404
