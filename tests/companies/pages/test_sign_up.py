"""Sign-up: who may create an account, the mailed link, and what is not revealed."""

import re

import pytest
from django.conf import settings as django_settings
from django.core import mail, signing
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies import email_limits
from companies.actions import sign_up
from companies.auth import throttling
from companies.models import Membership, User
from tests import factories

pytestmark = pytest.mark.django_db
SIGN_UP_PATH = "/app/sign-up"
PASSWORD = "staple battery 9"
SENT = "We sent you a link to continue. It is valid for one day."


@pytest.fixture(autouse=True)
def open_sign_up(settings):
    settings.SIGN_UP = "open"


@pytest.fixture
def visitor():
    return Client()


def request_link(visitor, email="new@example.com"):
    """Send the form, and return the path of the mailed link; empty if none was sent."""
    mail.outbox.clear()
    answer = visitor.post(SIGN_UP_PATH, {"email": email})
    assert (answer.status_code, SENT in answer.content.decode()) == (200, True)
    links = [link for letter in mail.outbox for link in re.findall(r"http\S+/sign-up/\S+", letter.body)]
    return links[0].replace(django_settings.APP_URL, "/app") if links else ""


def create_account(visitor, link, password=PASSWORD, **more):
    return visitor.post(link, {"new_password1": password} | more)


def test_emails_are_in_the_language_of_the_browser():
    visitor = Client(headers={"accept-language": "de-DE,de;q=0.9"})
    visitor.post(SIGN_UP_PATH, {"email": "neu@example.com"})
    assert mail.outbox[0].subject == "Ihr Tidebook-Benutzerkonto"
    link = re.search(r"http\S+/sign-up/\S+", mail.outbox[0].body)[0].replace(django_settings.APP_URL, "/app")
    create_account(visitor, link)
    assert User.objects.find_by_email("neu@example.com").locale == "de"


def test_visitor_confirms_the_address_and_creates_an_account(visitor):
    assert SIGN_UP_PATH in visitor.get("/app/sign-in").content.decode()
    assert "Create your account" in visitor.get(SIGN_UP_PATH).content.decode()
    link = request_link(visitor, "New@example.com")
    assert mail.outbox[0].to == ["New@example.com"]
    assert not User.objects.filter(canonical_email="new@example.com").exists(), "nothing is stored before"
    shown = visitor.get(link)
    assert "New@example.com" in shown.content.decode()
    assert shown.content.decode().count('type="password"') == 1
    assert not User.objects.filter(canonical_email="new@example.com").exists(), "mail programs open links"
    answer = create_account(visitor, link, name="Nia New")
    assert (answer.status_code, answer["Location"]) == (303, "/app/")
    user = User.objects.find_by_email("new@example.com")
    assert (user.name, user.check_password(PASSWORD), user.is_staff) == ("Nia New", True, False)
    assert "You are not a member of a company." in visitor.get("/app/").content.decode()
    company = {"name": "Newco", "baseCurrency": "EUR", "timeZone": "UTC"}
    assert visitor.post("/app/companies/new", company).status_code == 303
    assert Membership.objects.get(user=user).role == "owner"


@pytest.mark.parametrize(
    ("password", "message"),
    [
        pytest.param("a" * 12, "Use more different characters.", id="one-character"),
        pytest.param(" " * 14, "Use more different characters.", id="spaces"),
        pytest.param("1212 1212 1212", "Use more different characters.", id="few-characters"),
        pytest.param("staple battery" * 100, "at most 1,000 characters", id="longer-than-sign-in-takes"),
    ],
)
def test_unusable_password_is_rejected(visitor, password, message):
    answer = create_account(visitor, request_link(visitor), password)
    assert (answer.status_code, message in answer.content.decode()) == (400, True)
    assert not User.objects.filter(canonical_email="new@example.com").exists()


@pytest.mark.parametrize("mode", ["invite", "closed"])
def test_sign_up_is_not_there_unless_open(visitor, settings, mode):
    link = request_link(visitor)
    settings.SIGN_UP = mode
    for path in (SIGN_UP_PATH, link):
        assert (visitor.get(path).status_code, visitor.post(path, {"email": "a@b.example"}).status_code) == (404, 404)
    assert SIGN_UP_PATH not in visitor.get("/app/sign-in").content.decode()


def test_link_works_once(visitor):
    link = request_link(visitor)
    other_link = request_link(visitor)
    assert create_account(visitor, link).status_code == 303
    for path in (link, other_link):
        answer = create_account(Client(), path, "another password 7")
        assert (answer.status_code, "This link is no longer valid." in answer.content.decode()) == (410, True)
    assert User.objects.find_by_email("new@example.com").check_password(PASSWORD)


@pytest.mark.parametrize("token", ["", "x", "ImEi:1abc:c0ffee"])
def test_wrong_link_is_rejected(visitor, token):
    forged = signing.dumps("new@example.com", salt="another purpose")
    for path in (f"{SIGN_UP_PATH}/{token or forged}", request_link(visitor).replace(":", ";")):
        assert create_account(visitor, path).status_code == 410
    assert not User.objects.filter(canonical_email="new@example.com").exists()


def test_link_expires_after_a_day(visitor, monkeypatch):
    link = request_link(visitor)
    monkeypatch.setattr(signing.time, "time", lambda: timezone.now().timestamp() + sign_up.LINK_TTL.total_seconds() + 1)
    assert visitor.get(link).status_code == 410


@pytest.mark.parametrize(("password", "said"), [("short", "at least 12 characters"), ("password123456", "too common")])
def test_weak_password_is_rejected(visitor, password, said):
    answer = create_account(visitor, request_link(visitor), password)
    assert (answer.status_code, said in answer.content.decode()) == (400, True)
    assert not User.objects.filter(canonical_email="new@example.com").exists()


def test_existing_account_gets_no_link_and_the_same_answer(visitor, alice):
    answers, counts = [], []
    for email in ("nobody@example.com", alice.email.upper()):
        mail.outbox.clear()
        with CaptureQueriesContext(
            connection,
        ) as statements:
            answers.append(visitor.post(SIGN_UP_PATH, {"email": email}))
        counts.append((len(statements), len(mail.outbox)))
    bodies = [re.sub(r'value="\w{64}"|nonce="[^"]*"', "", answer.content.decode()) for answer in answers]
    assert bodies[0] == bodies[1]
    assert counts[0] == counts[1]
    assert "You already have a Tidebook account." in mail.outbox[0].body
    assert "/sign-up/" not in mail.outbox[0].body


def test_deactivated_user_gets_no_mail_and_cannot_return(visitor):
    factories.UserFactory(email="off@acme.example", is_active=False)
    assert request_link(visitor, "off@acme.example") == ""
    assert mail.outbox == []
    link = f"{SIGN_UP_PATH}/{sign_up.build_sign_up_token('off@acme.example')}"
    assert create_account(visitor, link).status_code == 410


def test_user_without_password_sets_one(visitor):
    user = User.objects.create_user("first@acme.example")
    assert create_account(visitor, request_link(visitor, user.email)).status_code == 303
    user.refresh_from_db()
    assert user.check_password(PASSWORD)


@pytest.mark.parametrize("email", ["", "nobody", "ä@example.com", "a@b.example\nc@d.example"])
def test_invalid_address_is_an_error(visitor, email):
    answer = visitor.post(SIGN_UP_PATH, {"email": email})
    assert (answer.status_code, "email-error" in answer.content.decode()) == (400, True)
    assert mail.outbox == []


def test_sign_ups_are_limited_per_network_and_address(visitor, settings, monkeypatch):
    monkeypatch.setattr(email_limits, "MAX_EMAILS_PER_HOUR", 5)
    links = [request_link(visitor) for _ in range(6)]
    assert [bool(link) for link in links] == [True] * 5 + [False], "five mails an hour"
    settings.SIGN_IN_LIMIT = 1
    throttling.reset_local_counts()
    for path, form in ((SIGN_UP_PATH, {"email": "b@example.com"}), (links[0], {})):
        answer = visitor.post(path, form)
        assert (answer.status_code, "Retry-After" in answer) == (429, True)


def test_signed_in_user_is_redirected_to_own_companies(alice, acme, sign_in_browser):
    client = sign_in_browser(alice, acme).client
    for path in (SIGN_UP_PATH, f"{SIGN_UP_PATH}/x"):
        assert client.get(path)["Location"] == "/app/"


def test_closed_sign_up_creates_no_account_of_an_invitation(settings, sign_in_browser, alice, acme, invite_member):
    owner = sign_in_browser(alice, acme)
    link = invite_member(owner, "dora@acme.example").link
    form = {"new_password1": PASSWORD, "new_password2": PASSWORD, "decision": "accept"}
    settings.SIGN_UP = "closed"
    for answer in (Client().get(link), Client().post(link, form)):
        assert (answer.status_code, "Sign-up is closed" in answer.content.decode()) == (403, True)
    assert User.objects.find_by_email("dora@acme.example") is None
    settings.SIGN_UP = "invite"
    assert Client().post(link, form).status_code == 303
    assert User.objects.find_by_email("dora@acme.example").check_password(PASSWORD)
