"""The web pages: signing in and out, passwords, companies, API keys."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from axes.models import AccessAttempt
from django.conf import settings
from django.core import mail
from django.db.models import F
from django.test import Client

from companies import hooks
from companies.actions import members
from companies.models import ApiKey, AuditEntry, Membership, Session, User
from companies.permissions import ADMIN_PERMISSIONS, ALL_PERMISSIONS, Role, parse_permissions
from tests import factories

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
SIGN_IN_PATH = "/app/sign-in"


@pytest.fixture
def visitor():
    return Client(enforce_csrf_checks=True)


def get_csrf_token(page):
    return re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.content.decode())[1]


def submit_form(visitor, path, form, *, page=None):
    """Opens a page and sends its form."""
    shown = visitor.get(page or path)
    return visitor.post(path, form | {"csrfmiddlewaretoken": get_csrf_token(shown)})


def sign_in(visitor, user, *, password=PASSWORD, then="/app/"):
    form = {"username": user if isinstance(user, str) else user.email, "password": password, "next": then}
    return submit_form(visitor, SIGN_IN_PATH, form, page=f"{SIGN_IN_PATH}?again=1")


def move_clock_ahead(monkeypatch, **time):
    from django.utils import timezone

    from companies.auth import sessions

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz=tz) + timedelta(**time)

    monkeypatch.setattr(timezone, "now", lambda: Clock.now(tz=UTC))
    monkeypatch.setattr(sessions, "datetime", Clock)


# ---------------------------------------------------------------------------------------------- signing in and out


def test_user_signs_in_with_email_and_password_and_sees_own_companies(visitor, alice, acme, globex):
    answer = sign_in(visitor, alice)
    assert (answer.status_code, answer["Location"]) == (303, "/app/")
    page = visitor.get("/app/").content.decode()
    assert "Acme" in page
    assert "Globex" not in page
    assert "owner" in page


def test_session_cookie_is_protected_and_renewed_at_sign_in(visitor, alice):
    sign_in(visitor, alice)
    first = visitor.cookies["svc-session"]
    assert first["httponly"]
    assert first["samesite"] == "Lax"
    old = first.value
    sign_in(visitor, alice)
    assert visitor.cookies["svc-session"].value != old
    assert not Session.objects.filter(session_key=old).exists()


@pytest.mark.parametrize(
    ("name", "password"),
    [("ALICE@acme.example", PASSWORD), (" alice@acme.example ", PASSWORD)],
)
def test_sign_in_ignores_case_and_blanks_of_email_address(name, password, visitor, alice):
    assert sign_in(visitor, name, password=password).status_code == 303


@pytest.mark.parametrize(
    ("name", "password"),
    [("alice@acme.example", "wrong"), ("nobody@acme.example", PASSWORD), ("", ""), ("alice@acme.example", "")],
)
def test_failed_sign_ins_get_the_same_response(name, password, visitor, alice):
    answer = sign_in(visitor, name, password=password)
    assert answer.status_code == 400
    assert "Incorrect email address or password." in answer.content.decode()
    assert visitor.get("/app/").status_code == 302


def test_deactivated_user_is_signed_out_immediately(visitor, alice):
    sign_in(visitor, alice)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert visitor.get("/app/").status_code == 302
    assert sign_in(visitor, alice).status_code == 400


def test_sign_in_form_requires_csrf_token(visitor, alice):
    answer = visitor.post(SIGN_IN_PATH, {"username": alice.email, "password": PASSWORD})
    assert answer.status_code == 403
    assert answer["Content-Type"].startswith("text/html")


@pytest.mark.parametrize(
    "then",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "", "\t//evil.example"],
)
def test_a22_sign_in_redirects_only_to_own_paths(then, visitor, alice):
    assert sign_in(visitor, alice, then=then)["Location"] == "/app/"


def test_sign_in_redirects_to_requested_page(visitor, alice, acme):
    answer = visitor.get(f"/app/companies/{acme.id}?x=1")
    assert answer["Location"] == f"{SIGN_IN_PATH}?next=%2Fapp%2Fcompanies%2F{acme.id}%3Fx%3D1"
    assert sign_in(visitor, alice, then=f"/app/companies/{acme.id}?x=1")["Location"].endswith("?x=1")


def test_form_after_session_end_leads_to_sign_in_and_back(visitor, alice, acme):
    stood = f"/app/companies/{acme.id}/settings/members"
    form = {"csrfmiddlewaretoken": get_csrf_token(visitor.get(SIGN_IN_PATH))}
    sent = visitor.post(f"{stood}/{acme.id}/remove", form, headers={"Referer": f"http://testserver{stood}"})
    answer = visitor.get(sent["Location"])
    assert "Your session expired and nothing was saved." in answer.content.decode()
    assert f'name="next" value="{stood}"' in answer.content.decode()


@pytest.mark.parametrize("stood", ["https://elsewhere.example/app/", "http://testserver/companies", ""])
def test_form_from_foreign_page_after_session_end_redirects_to_home(stood, visitor, acme):
    form = {"csrfmiddlewaretoken": get_csrf_token(visitor.get(SIGN_IN_PATH))}
    sent = visitor.post("/app/password", form, headers={"Referer": stood})
    assert sent["Location"] == f"{SIGN_IN_PATH}?next=%2Fapp%2F&ended=1"


def test_signed_in_user_skips_the_sign_in_page(visitor, alice):
    sign_in(visitor, alice)
    assert visitor.get(SIGN_IN_PATH, {"next": "/app/password"})["Location"] == "/app/password"


def test_sign_out_requires_post(visitor, alice):
    sign_in(visitor, alice)
    assert visitor.get("/app/sign-out").status_code == 405
    answer = submit_form(visitor, "/app/sign-out", {}, page="/app/")
    assert answer["Location"] == SIGN_IN_PATH
    assert visitor.get("/app/").status_code == 302


def test_sign_in_is_locked_after_ten_failures_per_user_and_ip_address(visitor, alice, bob):
    for _ in range(9):
        assert sign_in(visitor, alice, password="wrong").status_code == 400
    assert sign_in(visitor, alice, password="wrong").status_code == 429
    locked = sign_in(visitor, alice)
    assert locked.status_code == 429
    assert locked["Retry-After"] == "900"
    assert "Too many attempts" in locked.content.decode()
    assert sign_in(visitor, bob).status_code == 303  # somebody else from the same place
    elsewhere = Client(REMOTE_ADDR="192.0.2.7")
    assert sign_in(elsewhere, alice).status_code == 303  # the owner from another place


def test_sign_in_lockout_is_not_extended_by_further_attempts(visitor, alice):
    def wait(minutes):
        AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=minutes))

    for _ in range(10):
        sign_in(visitor, alice, password="wrong")
    wait(10)
    assert sign_in(visitor, alice, password="wrong").status_code == 429
    assert sign_in(visitor, alice).status_code == 429
    wait(6)
    assert sign_in(visitor, alice).status_code == 303


def test_sign_in_lockout_cannot_be_bypassed_by_another_spelling(visitor, alice):
    for _ in range(10):
        sign_in(visitor, alice, password="wrong")
    assert sign_in(visitor, alice.email.upper()).status_code == 429


@pytest.mark.parametrize(
    ("days", "used", "inside"), [(13, False, True), (15, False, False), (29, True, True), (31, True, False)]
)
def test_session_ends_after_idle_time_and_maximum_age(days, used, inside, visitor, alice, monkeypatch):
    sign_in(visitor, alice)
    for day in range(7, days, 7) if used else ():
        move_clock_ahead(monkeypatch, days=day)
        assert visitor.get("/app/").status_code == 200
    move_clock_ahead(monkeypatch, days=days)
    assert visitor.get("/app/").status_code == (200 if inside else 302)


def test_session_is_not_written_on_every_request(visitor, alice, django_assert_max_num_queries):
    sign_in(visitor, alice)
    with django_assert_max_num_queries(2):  # session, user
        visitor.get("/app/password")


@pytest.mark.parametrize("path", ["/app/", "/app/sign-in", "/app/password-reset", "/app/nothing"])
def test_pages_have_security_headers_and_no_inline_code(path, visitor, alice):
    if path == "/app/":
        sign_in(visitor, alice)
    page = visitor.get(path)
    policy = page["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page["X-Frame-Options"] == "DENY"
    assert page["X-Content-Type-Options"] == "nosniff"
    assert page["Referrer-Policy"] == "same-origin"
    text = page.content.decode()
    assert " style=" not in text
    assert "<style" not in text
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)
    assert not re.search(r"\son\w+=", text)
    assert '<html lang="en"' in text


# ---------------------------------------------------------------------------------------------- passwords


def test_password_change_requires_old_password_and_ends_other_sessions(visitor, alice):
    other = Client()
    sign_in(other, alice)
    sign_in(visitor, alice)
    form = {"old_password": PASSWORD, "new_password1": "staple battery 9", "new_password2": "staple battery 9"}
    assert submit_form(visitor, "/app/password", form | {"old_password": "wrong"}).status_code == 400
    assert submit_form(visitor, "/app/password", form).status_code == 303
    assert visitor.get("/app/").status_code == 200
    assert other.get("/app/").status_code == 302
    assert sign_in(Client(), alice, password="staple battery 9").status_code == 303


def test_wrong_old_passwords_count_as_sign_in_failures_and_end_session(visitor, alice):
    other = Client(REMOTE_ADDR="192.0.2.7")
    sign_in(other, alice)
    sign_in(visitor, alice)
    form = {"old_password": PASSWORD, "new_password1": "staple battery 9", "new_password2": "staple battery 9"}
    for _ in range(9):
        assert submit_form(visitor, "/app/password", form | {"old_password": "wrong"}).status_code == 400
    assert submit_form(visitor, "/app/password", form | {"old_password": "wrong"}).status_code == 429
    assert visitor.get("/app/").status_code == 302
    assert sign_in(visitor, alice).status_code == 429
    assert other.get("/app/").status_code == 200
    assert submit_form(other, "/app/password", form).status_code == 303  # from another place
    assert other.get("/app/").status_code == 200


def test_password_change_is_refused_during_lockout(visitor, alice):
    sign_in(visitor, alice)
    for _ in range(10):
        sign_in(Client(), alice, password="wrong")
    form = {"old_password": PASSWORD, "new_password1": "staple battery 9", "new_password2": "staple battery 9"}
    assert submit_form(visitor, "/app/password", form).status_code == 429
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)


@pytest.mark.parametrize("weak", ["short", "password123", "1234567890123", "alice@acme.example"])
def test_weak_password_is_rejected(weak, visitor, alice):
    sign_in(visitor, alice)
    form = {"old_password": PASSWORD, "new_password1": weak, "new_password2": weak}
    assert submit_form(visitor, "/app/password", form).status_code == 400


def test_password_reset_link_works_once(visitor, alice):
    answer = submit_form(visitor, "/app/password-reset", {"email": alice.email})
    assert answer.status_code == 200
    link = re.search(rf"{re.escape(settings.APP_URL)}(/password-reset/\S+)", mail.outbox[0].body)[1]
    form = {"new_password1": "staple battery 9", "new_password2": "staple battery 9"}
    moved = visitor.get(f"/app{link}")
    assert moved["Location"].endswith("/set-password")  # the token is out of the address
    done = submit_form(visitor, moved["Location"], form)
    assert (done.status_code, done["Location"]) == (303, SIGN_IN_PATH)
    assert sign_in(visitor, alice, password="staple battery 9").status_code == 303
    assert "Link no longer valid" in Client().get(f"/app{link}").content.decode()


def test_password_link_sets_first_password_of_user_without_one(visitor, acme):
    user = User.objects.create_user("new@acme.example")
    link = members.build_password_link(user).removeprefix(settings.APP_URL)
    form = {"new_password1": "staple battery 9", "new_password2": "staple battery 9"}
    assert submit_form(visitor, visitor.get(f"/app{link}")["Location"], form).status_code == 303
    assert sign_in(visitor, user, password="staple battery 9").status_code == 303


@pytest.mark.parametrize("who", ["nobody@acme.example", "off@acme.example"])
def test_password_reset_does_not_reveal_whether_an_account_exists(who, visitor):
    factories.UserFactory(email="off@acme.example", is_active=False)
    answer = submit_form(visitor, "/app/password-reset", {"email": who})
    assert "If an account exists for this address, we sent a link. It is valid for 3 days." in answer.content.decode()
    assert mail.outbox == []


# ---------------------------------------------------------------------------------------------- companies


def test_unknown_url_is_html_under_app_and_problem_json_elsewhere(client):
    assert client.get("/app/nothing")["Content-Type"].startswith("text/html")
    assert client.get("/nothing")["Content-Type"] == "application/problem+json"


def build_figures(*, accesses, now):
    return {access.company.id: [("Cash", "1,234.00 EUR")] for access in accesses}


def test_home_page_shows_figures_from_other_apps(visitor, alice, monkeypatch):
    monkeypatch.setattr(hooks.list_home_figures, "functions", [build_figures])
    sign_in(visitor, alice)
    assert "1,234.00 EUR" in visitor.get("/app/").content.decode()


# ---------------------------------------------------------------------------------------------- API keys


@pytest.fixture
def api_keys_path(acme):
    return f"/app/companies/{acme.id}/settings/api-keys"


def find_new_key(answer):
    """The key of the page that shows it once."""
    return re.search(r"svc_[0-9a-f-]{36}[0-9A-Za-z]{36}", answer.content.decode())[0]


FORM = {"name": "ci", "preset": "read", "expiry": "90"}


def test_api_key_is_created_shown_once_used_and_revoked(visitor, alice, acme, api_keys_path, client):
    sign_in(visitor, alice)
    answer = submit_form(visitor, f"{api_keys_path}/new", FORM)
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"
    key = find_new_key(answer)
    headers = {"Authorization": f"Bearer {key}"}
    assert client.get("/companies", headers=headers).status_code == 200
    page = visitor.get(api_keys_path).content.decode()
    assert key not in page
    assert key[-36:] not in page
    assert f"…{key[-4:]}" in page
    assert "just now" in page
    row = ApiKey.objects.get()
    assert row.created_user_id == str(alice.id)
    assert submit_form(visitor, f"{api_keys_path}/{row.id}/revoke", {}, page=api_keys_path).status_code == 303
    assert client.get("/companies", headers=headers).status_code == 401
    assert "revoked" in visitor.get(api_keys_path).content.decode()
    assert AuditEntry.objects.for_company(acme.id).filter(action="apiKey.revoked", actor=str(alice.id)).exists()


@pytest.mark.parametrize(
    ("form", "permissions"),
    [
        ({"preset": "read"}, {p.value for p in ALL_PERMISSIONS - ADMIN_PERMISSIONS if p.is_read}),
        ({"preset": "write"}, {p.value for p in ALL_PERMISSIONS - ADMIN_PERMISSIONS}),
        (
            {"preset": "custom", "resource_accounts": "read", "resource_files": "write"},
            {"accounts:read", "files:read", "files:write"},
        ),
        (
            {"preset": "custom", "resource_balances": "read", "admin": ["audit:read"]},
            {"balances:read", "audit:read"},
        ),
        (
            {"preset": "read", "resource_accounts": "write"},
            {p.value for p in ALL_PERMISSIONS - ADMIN_PERMISSIONS if p.is_read},
        ),
    ],
)
def test_api_key_permissions_are_chosen_by_preset_or_resource(form, permissions, visitor, alice, api_keys_path):
    sign_in(visitor, alice)
    assert submit_form(visitor, f"{api_keys_path}/new", FORM | form).status_code == 200
    assert set(ApiKey.objects.get().permissions) == permissions


@pytest.mark.parametrize(("expiry", "days"), [("30", 30), ("90", 90), ("365", 365), ("never", None)])
def test_api_key_expires_after_chosen_time(expiry, days, visitor, alice, api_keys_path):
    sign_in(visitor, alice)
    submit_form(visitor, f"{api_keys_path}/new", FORM | {"expiry": expiry})
    row = ApiKey.objects.get()
    assert (row.expires_time and (row.expires_time - row.created_time).days in (days - 1, days)) == (
        None if days is None else True
    )


def test_invalid_key_form_creates_no_key(visitor, alice, api_keys_path):
    sign_in(visitor, alice)
    for form in (
        {"name": ""},
        {"preset": "custom"},
        {"preset": "nonsense"},
        {"expiry": "date"},
        {"expiry": "date", "expiry_date": "2020-01-01"},
        {"expiry": "7"},
        {"preset": "custom", "resource_balances": "write"},
        {"preset": "custom", "resource_accounts": "read", "resource_balances": "write"},
        {"admin": ["money:print"]},
        {"name": "x" * 201},
        {"expiry": "date", "expiry_date": "31.12.2030"},
    ):
        answer = submit_form(visitor, f"{api_keys_path}/new", FORM | form)
        assert answer.status_code == 400, form
        assert 'role="alert"' in answer.content.decode(), form
    assert not ApiKey.objects.exists()


def test_api_key_creation_page_needs_recent_sign_in(visitor, alice, api_keys_path, monkeypatch):
    sign_in(visitor, alice)
    page = visitor.get(f"{api_keys_path}/new")
    move_clock_ahead(monkeypatch, minutes=11)
    for answer in (
        visitor.get(f"{api_keys_path}/new"),
        visitor.post(f"{api_keys_path}/new", FORM | {"csrfmiddlewaretoken": get_csrf_token(page)}),
    ):
        assert answer["Location"].startswith(f"{SIGN_IN_PATH}?again=1&next=")
    assert visitor.get(api_keys_path).status_code == 200
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize(("role", "status"), [(Role.ADMIN, 200), (Role.EDITOR, 403), (Role.VIEWER, 403)])
def test_api_key_creation_page_is_open_to_owners_and_admins(role, status, visitor, acme, api_keys_path):
    user = factories.make_member(acme, "someone@acme.example", role=role)
    sign_in(visitor, user)
    assert visitor.get(api_keys_path).status_code == 200
    assert visitor.get(f"{api_keys_path}/new").status_code == status


def test_admin_cannot_create_administrative_api_key(visitor, acme, api_keys_path):
    user = factories.make_member(acme, "admin@acme.example", role=Role.ADMIN)
    sign_in(visitor, user)
    assert "Administration" not in visitor.get(f"{api_keys_path}/new").content.decode()
    answer = submit_form(visitor, f"{api_keys_path}/new", FORM | {"admin": ["audit:read"]})
    assert answer.status_code == 400
    assert not ApiKey.objects.exists()


def test_api_keys_are_hidden_from_members_without_permission(visitor, bob, api_keys_path, api):
    sign_in(visitor, bob)
    page = visitor.get(api_keys_path).content.decode()
    assert api.key[-4:] not in page
    assert "owners and admins" in page


@pytest.mark.parametrize(("overlap", "alive"), [("0", False), ("24", True)])
def test_rolled_api_key_stays_valid_for_chosen_overlap(overlap, alive, visitor, alice, api_keys_path, api, client):
    sign_in(visitor, alice)
    old = ApiKey.objects.get()
    answer = submit_form(visitor, f"{api_keys_path}/{old.id}/roll", {"overlap": overlap})
    fresh = find_new_key(answer)
    assert client.get("/companies", headers={"Authorization": f"Bearer {fresh}"}).status_code == 200
    assert (api.get().status_code == 200) is alive
    new = ApiKey.objects.exclude(id=old.id).get()
    assert parse_permissions(new.permissions) == parse_permissions(old.permissions)
    old.refresh_from_db()
    assert (old.expires_time is not None) is alive


def test_former_member_loses_access_to_settings(visitor, alice, acme, api_keys_path):
    sign_in(visitor, alice)
    Membership.objects.filter(user=alice).delete()
    assert visitor.get(api_keys_path).status_code == 404
