"""Whole walks through the pages, in a real browser."""

import re
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests
from playwright.sync_api import expect

from companies.models import Membership
from companies.permissions import Role
from oauth.registration import register_app
from tests import factories
from tests.browser.fonts import list_too_wide
from tests.oauth.conftest import compute_s256_challenge

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "correct horse battery"
# Keeps how the button that lets an app in was turned off and on, which nobody may come in time to see.
RECORD_SPINNERS = """
    window.turned = [];
    new MutationObserver((changes) => {
        for (const { target } of changes) {
            if (target.matches("[data-allow]")) window.turned.push(target.disabled ? "off" : "on");
        }
    }).observe(document, { attributes: true, subtree: true, attributeFilter: ["disabled"] });
"""
VERIFIER = "v" * 64


def sign_in(page, user):
    page.get_by_label("Email address").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


class OAuthApp:
    """An app on this machine, and its request."""

    def __init__(self, site, server, redirect_uri=None):
        self.site, self.server = site, server
        self.redirect_uri = redirect_uri or f"http://127.0.0.1:{server.server_port}/callback"
        registered = self.redirect_uri.replace(f":{server.server_port}/", "/")  # any port is allowed there
        made = register_app(name="Forecaster", redirect_uris=[registered], allowed=[], confidential=False)
        self.client_id = made.application.client_id

    def url(self, **changes):
        parameters = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": "svc:read openid offline_access",
            "state": "s",
            "code_challenge": compute_s256_challenge(VERIFIER),
            "code_challenge_method": "S256",
        }
        return f"{self.site}/auth/oauth2/authorize?{urlencode(parameters | changes)}"

    @property
    def returned(self):
        path = next(path for path in self.server.called if path.startswith("/callback"))
        return {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}

    def token(self):
        form = {
            "grant_type": "authorization_code",
            "code": self.returned["code"],
            "redirect_uri": self.redirect_uri,
            "client_id": self.client_id,
            "code_verifier": VERIFIER,
        }
        return requests.post(f"{self.site}/auth/oauth2/token", form, timeout=60).json()["access_token"]

    def status(self, token):
        headers = {"Authorization": f"Bearer {token}"}
        return requests.get(f"{self.site}/companies", headers=headers, timeout=60).status_code


@pytest.fixture
def app(site, app_site):
    return OAuthApp(site, app_site)


def test_user_signs_in_consents_returns_to_app_and_disconnects(page, complaints, site, app, alice, acme, globex):
    Membership(company=globex, user=alice, role=Role.VIEWER).mark_created(factories.make_audit_context()).save(
        force_insert=True
    )
    page.add_init_script(RECORD_SPINNERS)
    page.goto(app.url())
    expect(page).to_have_title("Sign in · Tidebook")
    sign_in(page, alice)
    expect(page.get_by_role("heading", level=1)).to_have_text("Forecaster wants access to your company")
    allow = page.locator("[data-allow]")
    expect(allow).to_be_enabled()
    assert page.evaluate("window.turned") == ["off", "on"], "for half a second"
    page.get_by_text("Globex", exact=True).click()
    expect(allow).to_have_text("Allow access to Globex")
    page.get_by_text("Acme", exact=True).click()
    allow.click()
    expect(page.get_by_role("heading")).to_have_text("Back in the app")
    assert app.returned["iss"] == f"{site}/auth"
    token = app.token()
    assert app.status(token) == 200
    page.goto(f"{site}/app/companies/{acme.id}/settings/api-keys")
    row = page.get_by_role("row").filter(has_text="Forecaster")
    expect(row).to_contain_text("just now")
    row.get_by_text("Disconnect", exact=True).click()
    row.get_by_role("button", name="Disconnect Forecaster").click()
    expect(
        page.get_by_text("No connected apps yet. You choose the company and permissions when an app requests access.")
    ).to_be_visible()
    assert app.status(token) == 401


def test_cancelled_consent_returns_access_denied_to_app(page, complaints, app, alice):
    page.goto(app.url())
    sign_in(page, alice)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading")).to_have_text("Back in the app")
    assert app.returned["error"] == "access_denied"


def test_invalid_oauth_request_returns_to_app_after_sign_in(page, complaints, app, alice):
    """The policy of the sign-in page lets its form lead there."""
    page.goto(app.url(scope="nonsense"))
    sign_in(page, alice)
    expect(page.get_by_role("heading")).to_have_text("Back in the app")
    assert app.returned["error"] == "invalid_scope"


def test_consent_reaches_app_whose_callback_redirects_to_another_origin(page, complaints, site, app_site, alice, acme):
    """Chromium holds a form to ``form-action`` through every redirect that follows."""
    app = OAuthApp(site, app_site, redirect_uri=f"http://127.0.0.1:{app_site.server_port}/redirect")
    page.goto(app.url())
    sign_in(page, alice)
    page.get_by_role("button", name="Allow access").click()
    expect(page.get_by_role("heading")).to_have_text("Back in the app")
    assert urlsplit(page.url).hostname == "localhost"


def test_consent_reaches_an_app_at_an_ipv6_address(page, complaints, site, ipv6_app_site, alice, acme):
    app = OAuthApp(site, ipv6_app_site, redirect_uri=f"http://[::1]:{ipv6_app_site.server_port}/callback")
    page.goto(app.url())
    sign_in(page, alice)
    page.get_by_role("button", name="Allow access").click()
    expect(page.get_by_role("heading")).to_have_text("Back in the app")
    assert app.returned["code"]


def test_consent_in_popup_keeps_reference_to_opener(page, complaints, site, app, app_site, alice, acme):
    page.goto(f"http://127.0.0.1:{app_site.server_port}/")
    with page.expect_popup() as opened:
        page.evaluate("address => { window.popup = window.open(address) }", app.url())
    popup = opened.value
    sign_in(popup, alice)
    popup.get_by_role("button", name="Allow access").click()
    expect(popup.get_by_role("heading")).to_have_text("Back in the app")
    assert popup.evaluate("window.opener !== null")
    assert page.evaluate("window.popup.closed") is False


def test_api_key_is_created_used_and_revoked(page, complaints, context, site, alice, acme):
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site)
    page.goto(f"{site}/app/")
    sign_in(page, alice)
    page.get_by_role("link", name="Acme").click()
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Developers").click()
    page.get_by_role("link", name="Create key").click()
    expect(page.locator("[data-resources]")).to_be_hidden()
    page.get_by_label("Name").fill("Nightly export")
    page.get_by_label("Custom permissions").check()
    page.get_by_label("Company: Read", exact=True).check()
    page.get_by_role("button", name="Create key").click()
    key = page.get_by_label("API key").input_value()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == key
    headers = {"Authorization": f"Bearer {key}"}
    assert requests.get(f"{site}/companies/{acme.id}", headers=headers, timeout=60).status_code == 200
    page.get_by_role("link", name="Done").click()
    row = page.get_by_role("row").filter(has_text="Nightly export")
    expect(row).to_contain_text("company:read")
    expect(row).to_contain_text("just now")
    assert key not in page.content()
    row.get_by_text("Revoke", exact=True).click()
    row.get_by_role("button", name="Revoke “Nightly export”").click()
    expect(page.get_by_role("row").filter(has_text="Nightly export")).to_contain_text("revoked")
    assert requests.get(f"{site}/companies", headers=headers, timeout=60).status_code == 401


def test_consent_and_api_key_pages_work_without_javascript(browser, site, app, alice, acme):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(app.url())
    sign_in(page, alice)
    page.get_by_role("button", name="Allow access").click()
    expect(page.get_by_role("heading")).to_have_text("Back in the app")
    page.goto(f"{site}/app/companies/{acme.id}/settings/api-keys/new")
    page.get_by_label("Name").fill("Without scripts")
    page.get_by_role("button", name="Create key").click()
    assert page.get_by_label("API key").input_value().startswith("svc_")
    page.get_by_role("link", name="Done").click()
    row = page.get_by_role("row").filter(has_text="Without scripts")
    row.get_by_text("Revoke", exact=True).click()
    row.get_by_role("button", name="Revoke “Without scripts”").click()
    expect(page.get_by_role("row").filter(has_text="Without scripts")).to_contain_text("revoked")
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_title("Sign in · Tidebook")
    context.close()


def tab_to_element(page, target):
    """Presses Tab until the target has the focus, as somebody without a pointer does."""
    page.wait_for_load_state()  # scripts put the focus where a page begins, which may be after a Tab
    for _ in range(100):
        page.keyboard.press("Tab")
        if target.evaluate("each => each === document.activeElement"):
            return
    pytest.fail(f"{target} cannot be reached by Tab")


def press_control(page, target, key="Enter"):
    tab_to_element(page, target)
    page.keyboard.press(key)


def test_api_key_can_be_created_by_keyboard(page, complaints, site, alice, bob, acme):
    page.goto(f"{site}/app/")
    page.keyboard.type(alice.email)  # the first field has the focus
    for key in ("Tab", "Tab"):
        page.keyboard.press(key)
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Companies")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to content")).to_be_focused()
    press_control(page, page.get_by_role("link", name="Acme"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    press_control(page, page.get_by_role("link", name="Settings"))
    press_control(page, page.get_by_role("link", name="Members"))
    tab_to_element(page, page.get_by_label("Email address"))
    page.keyboard.type("new@acme.example")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("new@acme.example was invited as viewer.")
    press_control(page, page.get_by_role("button", name="Withdraw invitation of new@acme.example"))
    expect(page.get_by_text("new@acme.example", exact=True)).to_have_count(0)
    press_control(page, page.get_by_label(f"Remove {bob.email}"))
    press_control(page, page.get_by_role("button", name=f"Remove {bob.email}"))
    expect(page.get_by_role("status")).to_contain_text("was removed from the company")
    press_control(page, page.get_by_role("link", name="Developers"))
    press_control(page, page.get_by_role("link", name="Create key"))
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("Nightly")
    page.keyboard.press("Enter")
    expect(page.get_by_label("API key")).to_have_value(re.compile("^svc_"))


def test_pages_do_not_exceed_screen_width(page, complaints, site, app, alice, acme):
    page.goto(app.url())
    sign_in(page, alice)
    expect(page.get_by_role("heading", level=1)).to_have_text("Forecaster wants access to your company")
    settings = f"/app/companies/{acme.id}/settings/api-keys"
    for path in (None, "/app/", f"/app/companies/{acme.id}", settings, f"{settings}/new", "/app/password"):
        if path:
            page.goto(site + path)
        assert list_too_wide(page, 320, 390, 1280) == []
