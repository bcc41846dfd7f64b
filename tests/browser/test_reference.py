"""The interactive reference: shown under the strict policy, and its calls go out with what "Authorize" was given."""

from typing import Any

import pytest

from tests.browser.axe import list_violations, set_color_scheme
from tests.browser.page_length import MAX_PAGE_HEIGHT

TIMEOUT_MS = 120_000  # milliseconds: Swagger UI draws for long where a machine has much else to do
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def reference(live_server: Any, page: Any, complaints: list[str], settings: Any) -> Any:
    """The reference in a browser, its operations unfolded as far as their names."""
    page.set_default_timeout(TIMEOUT_MS)
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{live_server.url}/docs")
    page.wait_for_selector(".opblock-tag-section")
    return page


def run_operation(page: Any, operation: str) -> Any:
    """Calls an operation without parameters; the row of the live answer."""
    page.locator(".opblock-tag", has_text="Companies").click()
    block = page.locator(f"[id$='-{operation}']")
    block.locator(".opblock-summary-control").click()
    block.get_by_role("button", name="Try it out").click()
    block.get_by_role("button", name="Execute").click()
    return block.locator(".live-responses-table .response").first


def test_api_reference_shows_groups_and_calls_with_given_key(reference: Any, live_server: Any, api: Any) -> None:
    names = reference.locator(".opblock-tag").all_inner_texts()
    assert any("Accounts" in name for name in names)
    reference.get_by_role("button", name="Authorize").first.click()
    dialog = reference.locator(".auth-container", has_text="apiKey").first
    dialog.locator("input").fill(api.key)
    dialog.get_by_role("button", name="Apply credentials").click()
    reference.get_by_role("button", name="Close").first.click()
    answer = run_operation(reference, "listCompanies")
    answer.wait_for()
    assert "200" in answer.locator(".response-col_status").inner_text()
    assert "Acme" in answer.inner_text()
    shown = reference.locator(".curl").inner_text()
    assert f"Authorization: Bearer {api.key}" in shown
    reference.get_by_role("link", name="Tidebook").click()
    reference.wait_for_url(f"{live_server.url}/app/**")


def test_api_reference_is_accessible_and_fits_every_width(reference: Any) -> None:
    reference.locator(".opblock-tag", has_text="Companies").click()
    reference.locator("[id$='-createCompany'] .opblock-summary-control").click()
    texts = []
    for width, scheme in ((1280, "dark"), (1280, "light"), (768, "light"), (360, "light")):
        set_color_scheme(reference, scheme)
        reference.set_viewport_size({"width": width, "height": 900})
        rules = ["color-contrast"] if scheme == "dark" else []  # in the dark other colours stand in the same places
        texts += (
            [f"at {width}, {scheme}: {each}" for each in list_violations(reference, *rules)] if width != 768 else []
        )
        across = reference.evaluate("document.documentElement.scrollWidth")
        texts += [f"{across} pixels wide at {width}"] if across > width else []
    assert texts == []


def test_api_reference_does_not_exceed_maximum_height_on_phone(page: Any, live_server: Any) -> None:
    page.set_default_timeout(TIMEOUT_MS)
    page.set_viewport_size({"width": 360, "height": 900})  # before it is drawn: groups grow and shrink slowly
    page.goto(f"{live_server.url}/docs")
    page.wait_for_selector(".models")  # is drawn last
    assert page.evaluate("document.documentElement.scrollHeight") <= MAX_PAGE_HEIGHT
