"""Mail goes out behind the answer, and the answer tells nothing of it."""

import threading
from smtplib import SMTPRecipientsRefused
from time import monotonic

import pytest
from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend
from django.test import Client

from companies import mailer
from companies.actions import members
from companies.pages.user import sign_in

pytestmark = pytest.mark.django_db
HAND_OVER = mailer.submit_email  # in the other tests mail is sent at once
GATE = threading.Event()
SENT = []


class Slow(BaseEmailBackend):
    def send_messages(self, messages):
        GATE.wait(timeout=30)
        SENT.extend(messages)


class Refusing(BaseEmailBackend):
    def send_messages(self, messages):
        raise SMTPRecipientsRefused({"alice@acme.example": (550, b"no such user")})


@pytest.fixture
def use_slow_mail_server(settings, monkeypatch):
    """Use a mail server that blocks until GATE opens."""
    settings.EMAIL_BACKEND = f"{__name__}.Slow"
    monkeypatch.setattr(mailer, "submit_email", HAND_OVER)
    monkeypatch.setattr(mailer, "SEND_DELAY_SECONDS", 0)
    GATE.clear()
    SENT.clear()
    yield
    GATE.set()


def request_password_reset(email):
    """From a place that asks for nothing else: each has a budget a minute."""
    return Client(REMOTE_ADDR="192.0.2.50").post("/app/password-reset", {"email": email})


def wait_until_sent():
    """Waits for what was handed over before: as many pieces of work as there are threads, none done twice."""
    GATE.set()
    barrier = threading.Barrier(3)
    for _ in range(2):
        mailer.SENDER_POOL.submit(barrier.wait, 10)
    barrier.wait(10)


def test_slow_mail_server_does_not_delay_responses(use_slow_mail_server, alice):
    started = monotonic()
    for _ in range(3):
        assert request_password_reset(alice.email).status_code == 200
    assert monotonic() - started < 10
    assert SENT == []
    wait_until_sent()
    assert [each.to for each in SENT] == [[alice.email]] * 3


def test_invitation_mail_is_sent_after_commit_in_background(
    use_slow_mail_server, alice, acme, sign_in_browser, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        made = sign_in_browser(alice, acme).post("members", {"email": "new@acme.example", "role": "viewer"})
        wait_until_sent()
        assert SENT == []
    assert made.status_code == 201
    wait_until_sent()
    assert [each.to for each in SENT] == [["new@acme.example"]]


def test_password_reset_does_same_work_for_unknown_address(alice, monkeypatch):
    links, letters = [], []
    link = members.build_password_link
    monkeypatch.setattr(sign_in, "build_password_link", lambda user: links.append(user) or link(user))
    monkeypatch.setattr(mailer, "submit_email", letters.append)
    for email in (alice.email, "nobody@acme.example"):
        request_password_reset(email)
    assert [user.email for user in links] == [alice.email, "nobody@acme.example"]
    assert [letter.recipients() for letter in letters] == [[alice.email], []]
    for letter in letters:
        mailer.send_email(letter)
    assert [each.to for each in mail.outbox] == [[alice.email]]


def test_undeliverable_mail_is_logged_without_address(settings, alice, caplog):
    settings.EMAIL_BACKEND = f"{__name__}.Refusing"
    assert request_password_reset(alice.email).status_code == 200
    assert "SMTPRecipientsRefused" in caplog.text
    assert "alice" not in caplog.text
