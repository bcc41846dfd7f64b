"""Who is written to alone is written to in the language of their profile; what is kept of it stays English."""

import re

import pytest
from django.core import mail
from django.test import Client

from companies.models import SecurityEvent, SecurityLogEntry
from tests import factories
from tests.change_tables import list_changes
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db
CHROME = "Mozilla/5.0 (Windows NT 10.0) Chrome/126.0.0.0 Safari/537.36"


@pytest.fixture
def jens(acme):
    factories.UserFactory(email="jens@acme.example", locale="de")
    return factories.make_member(acme, "jens@acme.example")


def collect_mails(send, *args, **kwargs):
    mail.outbox.clear()
    answer = send(*args, **kwargs)
    return answer, list(mail.outbox)


def request_password_reset(email, languages=""):
    return Client(REMOTE_ADDR="192.0.2.60").post(
        "/app/password-reset", {"email": email}, headers={"Accept-Language": languages}
    )


def test_password_reset_mail_uses_profile_language_not_browser_language(alice, jens):
    answer, (letter,) = collect_mails(request_password_reset, jens.email)
    assert letter.subject == "Passwort zurücksetzen"
    assert "Setzen Sie das Passwort für jens@acme.example hier zurück:" in letter.body
    unknown, sent = collect_mails(request_password_reset, "nobody@acme.example")
    assert (sent, unknown.status_code) == ([], 200)
    assert remove_nonces(unknown) == remove_nonces(answer)
    assert (
        "If an account exists for this address, we sent a link. It is valid for 3 days." in unknown.content.decode()
    )  # the page is the visitor's, as their browser says
    answer, (letter,) = collect_mails(request_password_reset, alice.email, languages="de")
    assert (
        "Falls es zu dieser Adresse ein Benutzerkonto gibt, haben wir einen Link gesendet. Er gilt 3 Tage."
        in answer.content.decode()
    )
    assert letter.subject == "Reset password"


def remove_nonces(answer):
    return re.sub(r"nonce=\"[^\"]*\"", "", answer.content.decode())


def test_new_device_mail_uses_profile_language_and_log_stays_english(jens, django_capture_on_commit_callbacks):
    visitor = Client(headers={"User-Agent": CHROME})
    with django_capture_on_commit_callbacks(execute=True):
        visitor.post("/app/sign-in", {"username": jens.email, "password": PASSWORD, "next": ""})
    (letter,) = mail.outbox
    assert letter.subject == "Neue Anmeldung an Ihrem Benutzerkonto"
    assert letter.body.startswith("Chrome auf Windows (IP-Adresse 127.0.0.1) hat sich am ")
    entry = SecurityLogEntry.objects.for_user(jens).get(event=SecurityEvent.SIGNED_IN)
    assert (entry.device, entry.detail) == ("Chrome on Windows", "new device")
    page = visitor.get("/app/security").content.decode()
    assert "Chrome auf Windows" in page
    assert "neues Gerät" in page


def test_invitation_uses_the_users_language(sign_in_browser, alice, acme, django_capture_on_commit_callbacks):
    gerd = factories.UserFactory(email="gerd@globex.example", locale="de-AT")
    owner = sign_in_browser(alice, acme).client
    subjects = {}
    for email in (gerd.email, "new@acme.example"):
        with django_capture_on_commit_callbacks(execute=True):
            owner.post(f"/app/companies/{acme.id}/settings/members", {"email": email, "role": "viewer"})
        subjects[email] = mail.outbox[-1].subject
    assert subjects == {gerd.email: "Einladung zu „Acme“", "new@acme.example": "Invitation to “Acme”"}


def test_activity_page_uses_language_of_reader(sign_in_browser, jens, alice, acme, api):
    api.post("accounts", {"name": "Main", "type": "bank"})
    answer = sign_in_browser(alice, acme).client.get(
        f"/app/companies/{acme.id}/settings/activity", headers={"Accept-Language": "de"}
    )
    (created, *_) = list_changes(answer)
    assert (created.label, created.name) == ("Konto angelegt", "Main")
    assert created.fields["Typ"] == ("—", "Bank")
    assert created.actor == "API-Schlüssel „test“"
