"""What somebody who only asks leaves behind: nothing. What of a request comes back in an address: nothing long."""

from urllib.parse import urlencode

import pytest

from companies.models import Session
from tests.oauth.conftest import AUTHORIZE, move_clock_ahead
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db


def test_authorization_request_creates_no_session(flow):
    for changes in [{}, {"prompt": "login"}, {"max_age": "0"}, {"prompt": "none"}, {"scope": "x"}]:
        with undo_changes():
            flow.browser.get(flow.ask(**changes)["Location"])
            assert not Session.objects.exists(), changes


def test_altered_reauthentication_cookie_is_ignored(alice_flow, monkeypatch):
    move_clock_ahead(monkeypatch, seconds=5)
    cookie = alice_flow.ask(prompt="login").cookies["svc-asked"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", AUTHORIZE)
    alice_flow.browser.cookies["svc-asked"] = cookie.value[:-2] + "xx"
    assert "again=1" in alice_flow.ask(prompt="login")["Location"]


LONG_VALUE = "x" * 3000


@pytest.mark.parametrize("who", ["anonymous", "alice"])
def test_long_request_values_are_not_reflected_in_redirects(who, flow, alice, acme):
    if who == "alice":
        flow.sign_in(alice)
    for name in ("state", "login_hint", "nonce", "scope", "code_challenge", "foo", "prompt"):
        answer = flow.ask(**{name: LONG_VALUE})
        assert (answer.status_code, "Location" in answer) == (400, False), name
        posted = urlencode(flow.parameters(**{name: LONG_VALUE}))
        answer = flow.browser.post(AUTHORIZE, posted, content_type="application/x-www-form-urlencoded")
        assert (answer.status_code, "Location" in answer) == (400, False), name


@pytest.mark.parametrize("path", ["/app/", "/app/sign-in", "/app/companies/x", f"/app/companies/{LONG_VALUE}"])
def test_long_values_are_not_carried_through_sign_in(path, flow, alice):
    answer = flow.browser.get(path, {"next": f"/{LONG_VALUE}"})
    assert len(answer.headers.get("Location", "")) < 2200
    assert len(flow.sign_in(alice, then=f"/app/?{LONG_VALUE}")["Location"]) < 2200
