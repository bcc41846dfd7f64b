"""How often a place may try passwords, and how many a worker checks at once."""

import threading
import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.contrib.auth.hashers import check_password, make_password
from django.test import Client

from companies import email_limits
from companies.auth import passwords, throttling
from companies.pages.user import sign_in
from tests import factories

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
SIGN_IN_PATHS = ["/app/sign-in"]  # staff come through it too
NOON = datetime(2026, 5, 4, 12, 0, 10, tzinfo=UTC)


@pytest.fixture(autouse=True)
def isolate_counters(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    throttling.reset_local_counts()
    yield
    throttling.reset_local_counts()


@pytest.fixture
def clock(monkeypatch):
    """The clock of password limits, ten seconds after a window began."""
    clock = SimpleNamespace(now=NOON)
    monkeypatch.setattr(passwords, "datetime", SimpleNamespace(now=lambda tz: clock.now))
    return clock


def try_sign_in(door, email, password=PASSWORD, *, place="192.0.2.1"):
    return Client(REMOTE_ADDR=place).post(door, {"username": email, "password": password, "next": "/"})


@pytest.mark.parametrize("door", SIGN_IN_PATHS)
def test_sign_in_attempts_are_limited_per_ip_address_for_any_user(door, settings, clock):
    settings.SIGN_IN_LIMIT = 3
    user = factories.UserFactory(is_staff=True)
    for n in range(3):
        assert try_sign_in(door, f"person{n}@acme.example", "wrong").status_code in (200, 400)
    refused = try_sign_in(door, user.email)
    assert refused.status_code == 429
    assert refused["Retry-After"] == "290"
    assert refused["Cache-Control"] == "no-store"
    assert "Too many attempts" in refused.content.decode()
    assert try_sign_in(door, user.email, place="192.0.2.2").status_code == 303
    clock.now += timedelta(seconds=289)
    assert try_sign_in(door, user.email).status_code == 429
    clock.now += timedelta(seconds=1)
    assert try_sign_in(door, user.email).status_code == 303


def test_sign_in_limit_is_shared_by_all_login_forms(settings, clock):
    settings.SIGN_IN_LIMIT = 3
    user = factories.UserFactory(is_staff=True)
    browser = Client(REMOTE_ADDR="192.0.2.1")
    assert browser.post("/app/sign-in", {"username": user.email, "password": PASSWORD}).status_code == 303
    assert try_sign_in("/app/sign-in", user.email).status_code == 303
    form = {"old_password": "wrong", "new_password1": "staple battery 9", "new_password2": "staple battery 9"}
    assert browser.post("/app/password", form).status_code == 400
    for answer in (browser.post("/app/password", form), try_sign_in("/app/sign-in", user.email)):
        assert answer.status_code == 429


def test_password_reset_mails_are_limited_to_five_per_hour_and_address(monkeypatch, mailoutbox):
    """Those before hold good. Whoever asks is answered as ever, and learns nothing of the others."""
    clock = SimpleNamespace(now=NOON)
    monkeypatch.setattr(sign_in, "timezone", SimpleNamespace(now=lambda: clock.now))
    monkeypatch.setattr(email_limits, "MAX_EMAILS_PER_HOUR", 5)
    factories.UserFactory(email="anna@acme.example")
    factories.UserFactory(email="otto@acme.example")

    def request_reset(email, place):
        return Client(REMOTE_ADDR=f"192.0.2.{place}").post("/app/password-reset", {"email": email})

    answers = {
        request_reset(email, n).content for n in range(6) for email in ("anna@acme.example", "ANNA@acme.example")
    }
    assert len(answers) == 1
    assert [each.to for each in mailoutbox] == [["anna@acme.example"]] * 5
    request_reset("otto@acme.example", 1)
    assert mailoutbox[-1].to == ["otto@acme.example"]
    clock.now += timedelta(hours=1)
    request_reset("anna@acme.example", 1)
    assert len(mailoutbox) == 7


def test_sign_in_limit_counts_ipv6_addresses_by_64_bit_prefix(settings, clock):
    settings.SIGN_IN_LIMIT = 1
    assert try_sign_in(SIGN_IN_PATHS[0], "a@acme.example", place="2001:db8:1:2::1").status_code == 400
    assert try_sign_in(SIGN_IN_PATHS[0], "a@acme.example", place="2001:db8:1:2:ffff::9").status_code == 429
    assert try_sign_in(SIGN_IN_PATHS[0], "a@acme.example", place="2001:db8:1:3::1").status_code == 400
    assert try_sign_in(SIGN_IN_PATHS[0], "a@acme.example", place="::ffff:192.0.2.1").status_code == 400
    assert try_sign_in(SIGN_IN_PATHS[0], "a@acme.example", place="192.0.2.1").status_code == 429


def test_sign_in_lockout_counts_ipv6_addresses_by_64_bit_prefix(settings):
    person = factories.UserFactory()
    places = [f"2001:db8:1:2::{number:x}" for number in range(9)] + ["2001:db8:1:2:ffff::9"]
    tried = [try_sign_in(SIGN_IN_PATHS[0], person.email, "wrong", place=place).status_code for place in places]
    assert tried == [400] * 9 + [429]
    assert try_sign_in(SIGN_IN_PATHS[0], person.email, place="2001:db8:1:2::a").status_code == 429
    assert try_sign_in(SIGN_IN_PATHS[0], person.email, place="2001:db8:1:3::1").status_code == 303
    assert try_sign_in(SIGN_IN_PATHS[0], person.email, place="192.0.2.1").status_code == 303


def test_rate_counters_with_different_windows_are_separate():
    """A window of another length never passes for the next one."""
    for n in range(1, 4):
        assert throttling.consume_budget("a", now=120.0).used == n
        assert throttling.consume_budget("a", now=120.0, seconds=300).used == n


# ---------------------------------------------------------------------------------------------- at once


@pytest.fixture
def use_argon2(settings):
    settings.PASSWORD_HASHERS = ["companies.auth.passwords.LimitedArgon2Hasher"]


def test_passwords_are_hashed_with_argon2id(use_argon2):
    password = make_password(PASSWORD)
    assert password.startswith("argon2$argon2id$")
    assert check_password(PASSWORD, password)
    assert not check_password("wrong", password)


@pytest.mark.parametrize("door", SIGN_IN_PATHS)
def test_password_check_timeout_returns_retry_after(door, use_argon2, monkeypatch):
    monkeypatch.setattr(passwords, "CHECK_WAIT_SECONDS", 0.05)
    user = factories.UserFactory(is_staff=True)
    monkeypatch.setattr(passwords, "CHECK_SLOTS", threading.BoundedSemaphore(1))
    with passwords.acquire_check_slot():
        for email in (user.email, "nobody@acme.example"):
            answer = try_sign_in(door, email)
            assert (answer.status_code, answer["Retry-After"]) == (429, "1")
            assert "Sign-in is busy" in answer.content.decode()
        assert Client().get("/app/sign-in").status_code == 200
    assert try_sign_in(door, user.email).status_code == 303


def test_password_checks_leave_threads_free(use_argon2, monkeypatch):
    password = make_password(PASSWORD)
    monkeypatch.setattr(passwords, "CHECK_SLOTS", threading.BoundedSemaphore(1))
    monkeypatch.setattr(passwords, "WAITING_SLOTS", threading.Semaphore(0))
    monkeypatch.setattr(passwords, "CHECK_WAIT_SECONDS", 60)
    with passwords.acquire_check_slot():
        began = time.monotonic()
        with pytest.raises(passwords.SignInThrottled):
            check_password(PASSWORD, password)
    assert time.monotonic() - began < passwords.CHECK_WAIT_SECONDS / 2
    assert check_password(PASSWORD, password)


def test_concurrent_password_checks_are_limited_by_setting(use_argon2, monkeypatch, settings):
    assert settings.PASSWORD_CHECKS in (1, 2)
    monkeypatch.setattr(passwords, "CHECK_SLOTS", threading.BoundedSemaphore(2))
    monkeypatch.setattr(passwords, "WAITING_SLOTS", threading.Semaphore(4))
    monkeypatch.setattr(passwords, "CHECK_WAIT_SECONDS", 30)
    remaining, inside, most, lock = make_password(PASSWORD), [], [], threading.Lock()
    verify = passwords.Argon2PasswordHasher.verify

    def watched(self, password, encoded):
        with lock:
            inside.append(1)
            most.append(len(inside))
        try:
            return verify(self, password, encoded)
        finally:
            inside.pop()

    monkeypatch.setattr(passwords.Argon2PasswordHasher, "verify", watched)
    right = []
    threads = [threading.Thread(target=lambda: right.append(check_password(PASSWORD, remaining))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 6
    assert max(most) == 2
