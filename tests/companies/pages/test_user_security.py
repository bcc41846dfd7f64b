"""Security: where somebody is signed in, what their own log says, and what is told by mail."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.auth import emails, password_validators, security_log, session_revocation, sessions
from companies.models import AuditContext, SecurityEvent, SecurityLogEntry, Session, User
from tests import factories
from tests.companies.pages.test_user_pages import PASSWORD, move_clock_ahead, sign_in, submit_form

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.django_db
PAGE, END = "/app/security", "/app/security/end"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Mobile/15E148 Safari/604.1"
OTHER = "staple battery 9"


def open_browser(agent=FIREFOX, place="192.0.2.1"):
    return Client(REMOTE_ADDR=place, headers={"User-Agent": agent})


@pytest.fixture
def desktop_browser(alice):
    desk = open_browser()
    sign_in(desk, alice)
    return desk


@pytest.fixture
def phone_browser(alice, desktop_browser):
    phone = open_browser(SAFARI, "2001:db8::7")
    sign_in(phone, alice)
    return phone


def get_security_page(client):
    return client.get(PAGE).content.decode()


def list_session_handles(client):
    return re.findall(r'name="session" value="([0-9a-f]{32})"', get_security_page(client))


def list_events(user):
    return list(SecurityLogEntry.objects.for_user(user).order_by("time", "id").values_list("event", flat=True))


# ---------------------------------------------------------------------------------------------- sessions


def test_security_page_lists_sessions_and_marks_current_one(desktop_browser, phone_browser):
    page = " ".join(get_security_page(desktop_browser).split())
    first, second = re.findall(r'<td data-label="Device".*?</td>', page)[:2]
    assert "Firefox on Windows" in first
    assert "192.0.2.1" in first
    assert "This session" in first
    assert "Safari on iPhone" in second
    assert "2001:db8::7" in second
    assert "This session" not in second
    assert desktop_browser.get(PAGE)["Cache-Control"] == "private, no-cache"


def test_sessions_of_another_user_cannot_be_seen_or_ended(desktop_browser, phone_browser, carol):
    hers = open_browser(place="198.51.100.9")
    sign_in(hers, carol)
    assert "192.0.2.1" not in get_security_page(hers)
    assert list_session_handles(hers) == []
    answer = hers.post(END, {"session": list_session_handles(desktop_browser)[0]}, follow=True)
    assert "This session is already signed out." in answer.content.decode()
    hers.post(END, {"session": "others"})
    assert phone_browser.get(PAGE).status_code == desktop_browser.get(PAGE).status_code == 200


def test_ended_session_is_rejected_at_next_request(desktop_browser, phone_browser, alice, acme):
    (handle,) = list_session_handles(desktop_browser)
    answer = desktop_browser.post(END, {"session": handle}, follow=True)
    assert "Signed out: Safari on iPhone (2001:db8::7)." in answer.content.decode()
    assert phone_browser.get("/app/").status_code == 302
    assert phone_browser.get(f"/companies/{acme.id}").status_code == 401
    assert desktop_browser.get("/app/").status_code == 200
    assert list_session_handles(desktop_browser) == []
    again = desktop_browser.post(END, {"session": handle}, follow=True).content.decode()
    assert "This session is already signed out." in again
    assert list_events(alice)[-1] == SecurityEvent.SESSIONS_ENDED


def test_unknown_session_handle_ends_no_session(desktop_browser, phone_browser):
    for wrong in ["", "x", "0" * 32, "é" * 32, "\x00"]:
        answer = desktop_browser.post(END, {"session": wrong}, follow=True)
        assert "This session is already signed out." in answer.content.decode(), wrong
        assert phone_browser.get("/app/").status_code == 200, wrong


def test_all_other_sessions_can_be_ended_at_once(desktop_browser, phone_browser, alice):
    third = open_browser(place="192.0.2.3")
    sign_in(third, alice)
    answer = desktop_browser.post(END, {"session": "others"}, follow=True)
    assert "Signed out: 2 other sessions." in answer.content.decode()
    assert {each.get("/app/").status_code for each in (phone_browser, third)} == {302}
    assert "Sign out other sessions" not in get_security_page(desktop_browser)


def test_ending_sessions_needs_a_recent_sign_in(desktop_browser, phone_browser, monkeypatch):
    (handle,) = list_session_handles(desktop_browser)
    move_clock_ahead(monkeypatch, minutes=11)
    for wanted in (handle, "others"):
        answer = desktop_browser.post(END, {"session": wanted})
        assert answer["Location"] == "/app/sign-in?again=1&next=%2Fapp%2Fsecurity"
    assert phone_browser.get("/app/").status_code == 200


def test_ending_current_session_signs_out(desktop_browser, alice):
    (row,) = Session.objects.for_user(alice)
    assert desktop_browser.post(END, {"session": row.handle})["Location"] == "/app/sign-in"
    assert not Session.objects.for_user(alice).exists()


def test_expired_session_is_not_listed(desktop_browser, phone_browser, alice, monkeypatch):
    move_clock_ahead(monkeypatch, days=13)
    assert desktop_browser.get("/app/").status_code == 200
    move_clock_ahead(monkeypatch, days=15)
    assert list_session_handles(desktop_browser) == []
    assert "Firefox on Windows" in get_security_page(desktop_browser)


def test_session_last_seen_is_updated_at_most_every_ten_minutes(desktop_browser, alice, monkeypatch):
    (before,) = Session.objects.for_user(alice)
    move_clock_ahead(monkeypatch, minutes=5)
    with CaptureQueriesContext(connection) as queries:
        desktop_browser.get("/app/password")
    assert not [each for each in queries if each["sql"].startswith("UPDATE")]
    move_clock_ahead(monkeypatch, minutes=11)
    desktop_browser.get("/app/password", REMOTE_ADDR="192.0.2.99")
    (after,) = Session.objects.for_user(alice)
    assert after.started_time == before.started_time
    assert after.seen_time - before.seen_time >= timedelta(minutes=11)
    assert after.address == "192.0.2.99"


def test_session_start_time_survives_repeated_sign_in(desktop_browser, alice, monkeypatch):
    (before,) = Session.objects.for_user(alice)
    move_clock_ahead(monkeypatch, hours=1)
    sign_in(desktop_browser, alice)
    (after,) = Session.objects.for_user(alice)
    assert after.session_key != before.session_key
    assert after.started_time == before.started_time
    assert after.auth_time > before.auth_time


def test_session_limit_ends_longest_unused_session(desktop_browser, phone_browser, alice, monkeypatch):
    monkeypatch.setattr(session_revocation, "MAX_SESSIONS", 2)
    third = open_browser(place="192.0.2.3")
    sign_in(third, alice)
    assert desktop_browser.get("/app/").status_code == 302
    assert phone_browser.get("/app/").status_code == third.get("/app/").status_code == 200


def test_session_list_is_collapsed_after_ten_sessions(desktop_browser, alice):
    for n in range(10):
        sign_in(open_browser(place=f"198.51.100.{n}"), alice)
    page = get_security_page(desktop_browser).split("<main")[1]
    folded = page[page.index("<details") : page.index("</details>")]
    assert "1 more" in folded
    assert "198.51.100.0" in folded
    assert len(list_session_handles(desktop_browser)) == 10


def test_security_page_redirects_visitor_to_sign_in(client):
    assert client.get(PAGE)["Location"] == "/app/sign-in?next=%2Fapp%2Fsecurity"
    assert client.post(END, {"session": "others"}).status_code == 303
    assert client.get(END).status_code == 405


# ---------------------------------------------------------------------------------------------- the log


def test_failed_sign_in_is_recorded_in_log_of_that_user(desktop_browser, alice, bob):
    sign_in(open_browser("curl/8.5.0", "203.0.113.5"), alice.email.upper(), password="wrong")
    assert (list_events(alice), list_events(bob)) == ([SecurityEvent.SIGNED_IN, SecurityEvent.SIGN_IN_FAILED], [])
    entry = SecurityLogEntry.objects.for_user(alice).get(event=SecurityEvent.SIGN_IN_FAILED)
    assert (entry.device, entry.address, bool(entry.request_id)) == ("curl", "203.0.113.5", True)
    page = get_security_page(desktop_browser)
    assert "Sign-in failed" in page
    assert "203.0.113.5" in page


def try_failed_sign_in(email):
    """(status, page, statements) of a try to sign in that fails."""
    visitor = open_browser(place="203.0.113.6")
    with CaptureQueriesContext(connection) as queries:
        answer = visitor.post("/app/sign-in", {"username": email, "password": "wrong"})
    text = re.sub(r'value="[^"]*"', "", answer.content.decode())
    return answer.status_code, text, [re.sub(r"'[^']*'|\d+", "?", each["sql"]) for each in queries]


def test_failed_sign_in_of_unknown_address_runs_same_queries(alice):
    known, unknown = try_failed_sign_in(alice.email), try_failed_sign_in("nobody@acme.example")
    assert known == unknown
    assert SecurityLogEntry.objects.count() == 1


def test_failed_sign_in_of_deactivated_user_runs_same_queries(alice, bob):
    User.objects.filter(pk=bob.pk).update(is_active=False)
    assert try_failed_sign_in(bob.email) == try_failed_sign_in(alice.email)


def test_wrong_old_password_is_recorded_as_failed_sign_in(desktop_browser, alice):
    form = {"old_password": "wrong", "new_password1": OTHER, "new_password2": OTHER}
    assert submit_form(desktop_browser, "/app/password", form).status_code == 400
    assert list_events(alice) == [SecurityEvent.SIGNED_IN, SecurityEvent.SIGN_IN_FAILED]


def test_security_log_limits_failures_by_lockout_and_per_day(alice, monkeypatch):
    for _ in range(12):
        sign_in(open_browser(), alice, password="wrong")
    assert len(list_events(alice)) == 10
    monkeypatch.setattr(security_log, "MAX_FAILURES_PER_DAY", 11)
    for n in range(3):
        sign_in(open_browser(place=f"192.0.2.{n + 10}"), alice, password="wrong")
    assert len(list_events(alice)) == 11


def test_security_log_is_paginated_with_latest_first(desktop_browser, alice):
    for n in range(25):
        when = timezone.now() + timedelta(seconds=n + 1)
        security_log.record_security_action(
            user=alice, event=SecurityEvent.FACTOR_CHANGED, context=AuditContext(time=when), detail=f"entry {n:02}"
        )
    first = re.findall(r"entry (\d\d)", get_security_page(desktop_browser))
    assert first == [f"{n:02}" for n in range(24, 4, -1)]
    cursor = re.search(r'href="\?cursor=([^"#]+)', get_security_page(desktop_browser))[1]
    second = desktop_browser.get(f"{PAGE}?cursor={cursor}").content.decode()
    assert re.findall(r"entry (\d\d)", second) == ["04", "03", "02", "01", "00"]
    assert "Signed in" in second
    assert desktop_browser.get(PAGE, {"cursor": "nonsense"}).status_code == 400


def test_security_log_entries_are_pruned_after_ninety_days(alice, audit_context):
    for days in (91, 89):
        when = datetime.now(tz=UTC) - timedelta(days=days)
        security_log.record_security_action(
            user=alice, event=SecurityEvent.PASSWORD_CHANGED, context=AuditContext(time=when), detail=f"{days}"
        )
    call_command("prune")
    assert [entry.detail for entry in SecurityLogEntry.objects.for_user(alice)] == ["89"]


# ---------------------------------------------------------------------------------------------- mails


@pytest.fixture
def capture_mails(mailoutbox, django_capture_on_commit_callbacks):
    """Call a function; return the mails that it sent."""

    def capture_mails(act, *args, **kwargs):
        mailoutbox.clear()
        with django_capture_on_commit_callbacks(execute=True):
            act(*args, **kwargs)
        return list(mailoutbox)

    return capture_mails


def test_new_device_sign_in_is_mailed_once_per_device(capture_mails, alice):
    desk = open_browser()
    (mail,) = capture_mails(sign_in, desk, alice)
    assert mail.to == [alice.email]
    assert mail.subject == "New sign-in to your account"
    assert "Firefox on Windows (IP address 192.0.2.1) signed in to your account on " in mail.body
    assert "/app/security" in mail.body
    desk.post("/app/sign-out")
    assert capture_mails(sign_in, desk, alice) == []
    (other,) = capture_mails(sign_in, open_browser(), alice)
    assert other.subject == mail.subject


def test_device_cookie_is_http_only_and_same_site(alice):
    desk = open_browser()
    sign_in(desk, alice)
    cookie = desk.cookies["svc-device"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["max-age"] == 90 * 24 * 3600
    assert SecurityLogEntry.objects.for_user(alice).get().browser not in ("", cookie.value)
    assert "svc-device" not in Client().get("/app/sign-in").cookies


@pytest.mark.parametrize("forged", ["", "x", "é" * 32, "x" * 4000])
def test_forged_device_cookie_counts_as_new_device(forged, capture_mails, alice):
    for _ in range(2):
        desk = open_browser()
        desk.cookies["svc-device"] = forged
        assert len(capture_mails(sign_in, desk, alice)) == 1
        assert desk.cookies["svc-device"].value != forged


def test_shared_device_is_new_for_each_user(capture_mails, alice, bob):
    desk = open_browser()
    assert len(capture_mails(sign_in, desk, alice)) == 1
    desk.post("/app/sign-out")
    (mail,) = capture_mails(sign_in, desk, bob)
    assert mail.to == [bob.email]


def test_device_is_new_again_after_ninety_days(capture_mails, alice):
    desk = open_browser()
    capture_mails(sign_in, desk, alice)
    SecurityLogEntry.objects.update(time=datetime.now(tz=UTC) - timedelta(days=91))
    assert len(capture_mails(sign_in, desk, alice)) == 1


def test_unknown_user_agent_is_not_quoted_in_mail(capture_mails, alice):
    (mail,) = capture_mails(sign_in, open_browser("Call +1 555 or visit https://evil.example now"), alice)
    assert "Unknown device (IP address" in mail.body
    assert "evil" not in mail.body


def test_password_change_is_mailed_and_ends_other_sessions(capture_mails, desktop_browser, phone_browser, alice):
    form = {"old_password": PASSWORD, "new_password1": OTHER, "new_password2": OTHER}
    (mail,) = capture_mails(submit_form, desktop_browser, "/app/password", form)
    assert (mail.subject, mail.to) == ("Password changed", [alice.email])
    assert "from Firefox on Windows (IP address 192.0.2.1)" in mail.body
    assert Session.objects.for_user(alice).count() == 1
    assert (phone_browser.get("/app/").status_code, desktop_browser.get("/app/").status_code) == (302, 200)
    assert list_events(alice)[-1] == SecurityEvent.PASSWORD_CHANGED


def test_password_reset_is_mailed_and_ends_all_sessions(capture_mails, desktop_browser, alice):
    (reset_mail,) = capture_mails(submit_form, Client(), "/app/password-reset", {"email": alice.email})
    link = re.search(r"/app(/password-reset/\S+)", reset_mail.body)[0]
    visitor = open_browser(SAFARI, "192.0.2.8")
    moved = visitor.get(link)["Location"]
    (mail,) = capture_mails(submit_form, visitor, moved, {"new_password1": OTHER, "new_password2": OTHER})
    assert mail.subject == "Password changed"
    assert "from Safari on iPhone (IP address 192.0.2.8)" in mail.body
    assert desktop_browser.get("/app/").status_code == 302
    assert not Session.objects.for_user(alice).exists()


def test_password_reset_link_works_in_signed_in_browser(capture_mails, desktop_browser, alice):
    (reset_mail,) = capture_mails(submit_form, Client(), "/app/password-reset", {"email": alice.email})
    moved = desktop_browser.get(re.search(r"/app(/password-reset/\S+)", reset_mail.body)[0])["Location"]
    assert submit_form(desktop_browser, moved, {"new_password1": OTHER, "new_password2": OTHER}).status_code == 303
    assert desktop_browser.get("/app/").status_code == 302
    assert sign_in(desktop_browser, alice, password=OTHER).status_code == 303


def test_password_change_by_staff_is_mailed_and_ends_sessions(capture_mails, desktop_browser, alice):
    chief = factories.UserFactory(email="chief@example.com", is_staff=True, is_superuser=True)
    staff = Client()
    staff.force_login(chief, backend="django.contrib.auth.backends.ModelBackend")
    form = {"password1": OTHER, "password2": OTHER, "usable_password": "true", "set-password": "1"}
    address = f"/admin/companies/user/{alice.pk}/password/"
    assert capture_mails(staff.post, address, form | {"password2": "x"}) == []
    (mail,) = capture_mails(staff.post, address, form)
    assert mail.to == [alice.email]
    assert "Support changed the password" in mail.body
    assert desktop_browser.get("/app/").status_code == 302
    assert staff.get("/admin/").status_code == 200


def test_password_set_on_command_line_is_mailed(capture_mails, alice):
    line = ["create_company", "--name", "New", "--currency", "EUR", "--owner", alice.email, "--password", OTHER]
    (mail,) = capture_mails(call_command, *line)
    assert mail.subject == "Password changed"


def test_api_key_creation_is_mailed_without_links_from_its_name(capture_mails, sign_in_browser, alice, acme, api):
    body = {"name": "see https://evil.example", "permissions": ["accounts:read"]}
    (mail,) = capture_mails(sign_in_browser(alice, acme).post, "api_keys", body)
    assert (mail.subject, mail.to) == ("API key created", [alice.email])
    assert "was created for “Acme” from your account" in mail.body
    assert "https://evil" not in mail.body
    assert list_events(alice) == [SecurityEvent.API_KEY_CREATED]
    assert capture_mails(api.post, "api_keys", body | {"name": "by a key"}) == []


def test_mfa_change_is_mailed_and_logged(capture_mails, alice, audit_context):
    (mail,) = capture_mails(
        emails.send_mfa_changed_email, user=alice, event="A passkey was added", context=audit_context
    )
    assert (mail.subject, mail.to) == ("Two-factor authentication changed", [alice.email])
    assert mail.body.startswith("A passkey was added on ")
    entry = SecurityLogEntry.objects.for_user(alice).get()
    assert (entry.event, entry.detail) == (SecurityEvent.FACTOR_CHANGED, "A passkey was added")


# ---------------------------------------------------------------------------------------------- staff


def test_reactivated_user_does_not_regain_old_sessions(desktop_browser, alice):
    chief = factories.UserFactory(email="chief@example.com", is_staff=True, is_superuser=True)
    staff = Client()
    staff.force_login(chief, backend="django.contrib.auth.backends.ModelBackend")
    for active in ({}, {"is_active": "on"}):
        form = {"email": alice.email, "name": "Alice", "_save": "Save", **active}
        assert staff.post(f"/admin/companies/user/{alice.pk}/change/", form).status_code == 303
    alice.refresh_from_db()
    assert alice.is_active
    assert desktop_browser.get("/app/").status_code == 302


def test_staff_can_end_sessions_of_one_or_all_users(desktop_browser, alice, bob):
    chief = factories.UserFactory(email="chief@example.com", is_staff=True, is_superuser=True)
    staff, his = Client(), open_browser()
    staff.force_login(chief, backend="django.contrib.auth.backends.ModelBackend")
    sign_in(his, bob)
    form = {"action": "end_sessions", "_selected_action": [str(alice.pk)]}
    assert staff.post("/admin/companies/user/", form).status_code == 303
    assert (desktop_browser.get("/app/").status_code, his.get("/app/").status_code) == (302, 200)
    everyone = [str(user.pk) for user in User.objects.all()]
    staff.post("/admin/companies/user/", form | {"_selected_action": everyone})
    assert his.get("/app/").status_code == 302
    assert staff.get("/admin/").status_code == 200


def test_staff_cannot_end_sessions_of_superuser(desktop_browser, alice):
    from django.contrib.auth.models import Permission

    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    helper = factories.UserFactory(email="helper@example.com", is_staff=True)
    helper.user_permissions.add(*Permission.objects.filter(codename__in=["change_user", "view_user"]))
    staff = Client()
    staff.force_login(helper, backend="django.contrib.auth.backends.ModelBackend")
    staff.post("/admin/companies/user/", {"action": "end_sessions", "_selected_action": [str(alice.pk)]})
    assert desktop_browser.get("/app/").status_code == 200


# ---------------------------------------------------------------------------------------------- passwords


@pytest.mark.parametrize(
    ("password", "taken"),
    [
        ("tidebook2026!", False),
        ("Tidebook Password 1", False),
        ("globex-Globex-1", False),
        ("acme corporation 77", True),
        ("1029384756102938", True),
        ("correct tidebook horse", True),
    ],
)
def test_password_of_commonly_guessed_words_is_rejected(password, taken, alice, globex):
    factories.make_member(globex, alice.email)
    desk = open_browser()
    sign_in(desk, alice)
    form = {"old_password": PASSWORD, "new_password1": password, "new_password2": password}
    answer = submit_form(desk, "/app/password", form)
    assert answer.status_code == (303 if taken else 400)
    assert (
        taken
        or "This password is too easy to guess. Do not use the name of Tidebook or your company."
        in answer.content.decode()
    )


def test_documented_forbidden_password_words_match_validator():
    page = " ".join((ROOT / "docs" / "signing-in.md").read_text().split())
    words = re.search(r"fewer than eight characters besides these words: ([a-z, ]+), the words of", page)[1]
    assert tuple(words.split(", ")) == password_validators.PRODUCT_WORDS


def test_session_is_recently_authenticated_after_sign_in(desktop_browser, rf):
    request = rf.get("/")
    request.session = desktop_browser.session
    assert sessions.is_recently_authenticated(request, now=timezone.now())


def test_malformed_referer_header_redirects_to_sign_in():
    answer = Client().post("/app/security/end", headers={"Referer": "http://["})
    assert answer.headers["Location"].startswith("/app/sign-in")
