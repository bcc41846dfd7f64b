"""The profile: a name, a locale, another address that its holder confirms, and which notifications come by mail."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from companies.actions import email_change
from companies.models import AuditContext, AuditEntry, EmailChange, SecurityLogEntry, User
from notifications import notify
from notifications.emails import EMAIL_SUBJECTS
from notifications.models import NotificationType
from tests import factories
from tests.companies.pages.test_user_pages import move_clock_ahead, sign_in
from tests.companies.pages.test_user_security import open_browser

pytestmark = pytest.mark.django_db
PAGE, CHANGE, MAILED = "/app/profile", "/app/profile/email", "/app/profile/notifications"
NEW_ADDRESS = "anna@new.example"


@pytest.fixture(autouse=True)
def send_mail_immediately(monkeypatch):
    """Send mails before the response."""
    monkeypatch.setattr("companies.mailer.submit_email", lambda letter: letter.to and letter.send())


@pytest.fixture
def desktop_browser(alice):
    desk = open_browser()
    sign_in(desk, alice)
    return desk


@pytest.fixture
def post_form(desktop_browser, django_capture_on_commit_callbacks):
    def post(path, **values):
        with django_capture_on_commit_callbacks(execute=True):
            return desktop_browser.post(path, values)

    return post


def find_link(mail):
    return re.search(r"/app/profile/email/[\w-]+", mail.body)[0]


def list_mails_to(box, address):
    return [mail for mail in box if mail.to == [address]]


def test_profile_name_and_locale_are_saved_and_shown(post_form, desktop_browser, alice):
    assert "Profile</a>" in desktop_browser.get("/app/").content.decode(), "the header leads there"
    assert post_form(PAGE, name=" Anna Berg ", locale="de").status_code == 303
    alice.refresh_from_db()
    assert (alice.name, alice.locale) == ("Anna Berg", "de")
    page = desktop_browser.get(PAGE).content.decode()
    assert '<option value="de" selected>Deutsch: 10.000,00 · 31.12.2026</option>' in page
    assert 'value="Anna Berg"' in page
    assert 'data-locale="de"' in page
    assert post_form(PAGE, name="", locale="").status_code == 303
    alice.refresh_from_db()
    assert (alice.name, alice.locale, alice.display_name) == ("", "", alice.email)


def test_companies_record_visible_profile_changes_in_audit_log(post_form, api, alice, globex, mailoutbox):
    factories.make_member(globex, alice.email)

    def updates():
        return AuditEntry.objects.filter(action="member.updated").order_by("company_id", "number")

    post_form(PAGE, name="Anna Berg", locale="")
    assert [entry.after for entry in updates()] == [{"name": "Anna Berg"}] * 2
    assert {entry.company.name for entry in updates()} == {"Acme", "Globex"}
    assert api.get("events?type=member.updated").json()[-1]["type"] == "member.updated"
    post_form(PAGE, name="Anna Berg", locale="de")
    assert len(updates()) == 2, "how somebody reads is nobody else's"
    post_form(CHANGE, email=NEW_ADDRESS)
    post_form(find_link(list_mails_to(mailoutbox, NEW_ADDRESS)[0]))
    assert [entry.after for entry in updates()] == [{"name": "Anna Berg"}, {"email": NEW_ADDRESS}] * 2


def test_profile_message_uses_the_chosen_language(post_form, desktop_browser):
    post_form(PAGE, name="", locale="de")
    assert "Profil gespeichert." in desktop_browser.get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": "x" * 201, "locale": ""}, "name"),
        ({"name": "a\nb", "locale": ""}, "name"),
        ({"locale": "xx"}, "locale"),
    ],
)
def test_invalid_profile_shows_field_errors(post_form, alice, values, field):
    answer = post_form(PAGE, **{"name": "", **values})
    assert answer.status_code == 400
    assert f'id="{field}-error"' in answer.content.decode()
    before = alice.name
    alice.refresh_from_db()
    assert alice.name == before


def test_email_address_changes_after_confirmation_by_link(post_form, desktop_browser, alice, mailoutbox):
    old = alice.email
    mailoutbox.clear()
    assert post_form(CHANGE, email=NEW_ADDRESS).status_code == 303
    alice.refresh_from_db()
    assert alice.email == old, "until then nothing changes"
    (letter,), (answer,) = list_mails_to(mailoutbox, NEW_ADDRESS), list_mails_to(mailoutbox, old)
    assert NEW_ADDRESS in answer.body
    link = find_link(letter)
    assert link not in answer.body
    assert NEW_ADDRESS in desktop_browser.get(link).content.decode()
    alice.refresh_from_db()
    assert alice.email == old, "programs that read mails open links"
    mailoutbox.clear()
    assert post_form(link).headers["Location"] == PAGE
    alice.refresh_from_db()
    assert (alice.email, alice.canonical_email) == (NEW_ADDRESS, NEW_ADDRESS)
    (answer,) = mailoutbox
    assert (answer.to, NEW_ADDRESS in answer.body) == ([old], True)
    entry = SecurityLogEntry.objects.for_user(alice).latest("time", "id")
    assert (entry.event, entry.detail) == ("emailChanged", f"{old} changed to {NEW_ADDRESS}")
    assert f"{old} changed to {NEW_ADDRESS}" in desktop_browser.get("/app/security").content.decode()
    assert "This link has expired or does not belong to" in desktop_browser.post(link, follow=True).content.decode(), (
        "it works once"
    )


def test_newer_email_change_request_invalidates_older_one(post_form, desktop_browser, alice, mailoutbox):
    post_form(CHANGE, email=NEW_ADDRESS)
    first = find_link(list_mails_to(mailoutbox, NEW_ADDRESS)[0])
    post_form(CHANGE, email="other@new.example")
    assert EmailChange.objects.count() == 1
    assert "This link has expired or does not belong to" in desktop_browser.get(first, follow=True).content.decode()
    desktop_browser.post(first)
    alice.refresh_from_db()
    assert alice.email != NEW_ADDRESS


def test_email_change_link_is_bound_to_user_and_expires(post_form, desktop_browser, alice, carol, mailoutbox):
    post_form(CHANGE, email=NEW_ADDRESS)
    link, other = find_link(list_mails_to(mailoutbox, NEW_ADDRESS)[0]), open_browser(place="198.51.100.9")
    assert other.get(link).headers["Location"].startswith("/app/sign-in")
    sign_in(other, carol)
    other.post(link)
    EmailChange.objects.update(expires_time=timezone.now() - timedelta(seconds=1))
    desktop_browser.post(link)
    for user in (alice, carol):
        user.refresh_from_db()
        assert user.email != NEW_ADDRESS


def test_email_change_does_not_reveal_taken_address(post_form, desktop_browser, alice, carol, mailoutbox):
    mailoutbox.clear()
    free = post_form(CHANGE, email=NEW_ADDRESS)
    taken = post_form(CHANGE, email=carol.email.upper())
    assert (free.status_code, free.headers["Location"]) == (taken.status_code, taken.headers["Location"])
    assert not [mail for mail in mailoutbox if mail.to[0].lower() == carol.email]
    name, _, domain = carol.email.partition("@")
    sent = f"{name.upper()}@{domain}"
    page = " ".join(desktop_browser.get(PAGE).content.decode().split())
    assert f"Confirmation link sent to {sent}" in page, "as of any other"


def test_email_change_fails_if_address_was_taken_meanwhile(post_form, alice, mailoutbox):
    old = alice.email
    post_form(CHANGE, email=NEW_ADDRESS)
    User.objects.create_user(NEW_ADDRESS.upper())
    assert post_form(find_link(list_mails_to(mailoutbox, NEW_ADDRESS)[0])).status_code == 303
    alice.refresh_from_db()
    assert alice.email == old
    assert User.objects.filter(canonical_email=NEW_ADDRESS).count() == 1


def test_email_change_requires_step_up(post_form, alice, monkeypatch, mailoutbox):
    mailoutbox.clear()
    move_clock_ahead(monkeypatch, minutes=20)
    answer = post_form(CHANGE, email=NEW_ADDRESS)
    assert answer.headers["Location"].startswith("/app/sign-in")
    assert (EmailChange.objects.count(), mailoutbox) == (0, [])


def test_invalid_email_address_shows_a_field_error(post_form):
    for wrong in ("nobody", "ı@example.com", "a@b@", ""):
        answer = post_form(CHANGE, email=wrong)
        assert answer.status_code == 400
        assert 'id="email-error"' in answer.content.decode()


def test_email_change_requests_are_limited_per_hour(post_form, mailoutbox):
    mailoutbox.clear()
    for number in range(7):
        last = post_form(CHANGE, email=f"anna{number}@new.example")
    assert last.status_code == 400
    assert (
        len([mail for mail in mailoutbox if mail.to[0].endswith("new.example")]) == email_change.MAX_REQUESTS_PER_HOUR
    )


def test_profile_pages_require_sign_in():
    for path in (PAGE, MAILED):
        assert Client().get(path).headers["Location"].startswith("/app/sign-in")


# ---------------------------------------------------------------------------------------------- notifications by mail


def notify_of_import(company, user):
    audit_context = AuditContext(time=timezone.now(), user_id=user.pk)
    notify.notify_import_undone(company_id=company.id, context=audit_context, import_id=company.id, deleted_count=3)


def test_every_notification_type_has_an_email_subject():
    never_mailed = {NotificationType.SANDBOX_EXPIRING}  # nothing leaves a sandbox
    assert set(EMAIL_SUBJECTS) == set(NotificationType) - never_mailed


def test_notification_emails_go_to_users_who_chose_the_type(
    post_form, desktop_browser, alice, acme, mailoutbox, django_capture_on_commit_callbacks
):
    mailoutbox.clear()
    with django_capture_on_commit_callbacks(execute=True):
        notify_of_import(acme, alice)
    assert mailoutbox == []
    assert post_form(MAILED, mailed=["import.undone", "nothing"]).headers["Location"] == PAGE
    alice.refresh_from_db()
    assert alice.mailed == ["import.undone"]
    assert re.search(r'value="import.undone" checked', desktop_browser.get(MAILED).content.decode())
    with django_capture_on_commit_callbacks(execute=True):
        notify_of_import(acme, alice)
    (mail,) = mailoutbox
    assert mail.to == [alice.email]
    assert mail.subject == f"Import undone: “{acme.name}”"
    assert f"/companies/{acme.id}/notifications" in mail.body
    post_form(MAILED)
    mailoutbox.clear()
    with django_capture_on_commit_callbacks(execute=True):
        notify_of_import(acme, alice)
    assert mailoutbox == []
