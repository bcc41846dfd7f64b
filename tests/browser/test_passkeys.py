"""Passkeys in a real Chromium, with the authenticator that its protocol for developers has."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from companies.models import Passkey
from tests.companies.auth.mfa.test_mfa import PASSWORD

pytestmark = [pytest.mark.browser]
KIND = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}


@pytest.fixture
def named(site, settings):
    """The running server under a name, for which alone browsers have passkeys."""
    address = site.replace("127.0.0.1", "localhost")
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
    settings.BASE_URL = address
    settings.APP_URL = f"{address}/app"
    settings.CSRF_TRUSTED_ORIGINS = [address]
    return address


@pytest.fixture
def chip(page):
    """A device of the page's browser: (protocol, its number)."""
    protocol = page.context.new_cdp_session(page)
    protocol.send("WebAuthn.enable")
    options = KIND | {"isUserVerified": True, "automaticPresenceSimulation": True}
    made = protocol.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return protocol, made["authenticatorId"]


def check_accessibility(page):
    page.wait_for_load_state()  # what is half here has no heading yet
    violations = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:120] for node in each["nodes"]]) for each in violations] == []


def sign_in_with_password(page, named, email):
    page.goto(f"{named}/app/sign-in")
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_passkey_signs_in_alone_and_as_second_factor(page, complaints, named, chip, alice):
    sign_in_with_password(page, named, alice.email)
    page.goto(f"{named}/app/security/factors")
    check_accessibility(page)
    page.get_by_label("Device name").fill("Laptop")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_text("10 of 10 left")).to_be_visible()
    check_accessibility(page)

    page.get_by_role("button", name="Sign out").click()
    check_accessibility(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="Companies")).to_be_visible()

    page.get_by_role("button", name="Sign out").click()
    sign_in_with_password(page, named, alice.email)
    expect(page.get_by_role("heading", name="Two-factor authentication")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Companies")).to_be_visible()
    assert Passkey.objects.get().sign_count == 3


def test_passkey_with_decreased_counter_is_rejected(page, named, chip, alice):
    protocol, number = chip
    sign_in_with_password(page, named, alice.email)
    page.goto(f"{named}/app/security/factors")
    page.get_by_label("Device name").fill("Laptop")
    page.get_by_role("button", name="Add passkey").click()
    page.get_by_role("link", name="Done").click()
    page.get_by_role("button", name="Sign out").click()
    Passkey.objects.update(sign_count=50)  # as if a copy of the key had been used elsewhere
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("Passkey not accepted.")).to_be_visible()
    assert protocol.send("WebAuthn.getCredentials", {"authenticatorId": number})["credentials"][0]["signCount"] < 50


def test_passkey_without_user_verification_is_not_registered(page, named, chip, alice):
    protocol, number = chip
    protocol.send("WebAuthn.setUserVerified", {"authenticatorId": number, "isUserVerified": False})
    sign_in_with_password(page, named, alice.email)
    page.goto(f"{named}/app/security/factors")
    page.get_by_label("Device name").fill("Laptop")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_text("No passkey was used.")).to_be_visible()
    assert not Passkey.objects.exists()
