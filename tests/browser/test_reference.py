"""The interactive reference: shown under the strict policy, and its calls go out with what "Authorize" was given."""

from typing import Any

import pytest

from tests.browser.axe import list_violations, set_color_scheme
from tests.browser.fonts import measure_width_at
from tests.browser.page_length import MAX_PAGE_HEIGHT

TIMEOUT_MS = 120_000  # milliseconds: Swagger UI draws for long where a machine has much else to do
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def run_operation(page: Any, operation: str) -> Any:
    """Calls an operation without parameters; the row of the live answer."""
    block = page.locator(f"[id$='-{operation}']")
    block.locator(".opblock-summary-control").click()
    block.get_by_role("button", name="Try it out").click()
    block.get_by_role("button", name="Execute").click()
    return block.locator(".live-responses-table .response").first


def list_faults(page: Any) -> list[str]:
    """What axe says against the page in the light and in the dark, where other colours stand in the same places, and
    the widths that it does not fit.
    """
    faults = []
    for width, scheme, rules in ((1280, "dark", ["color-contrast"]), (1280, "light", []), (360, "light", [])):
        page.set_viewport_size({"width": width, "height": 900})
        set_color_scheme(page, scheme)
        faults += [f"at {width}, {scheme}: {each}" for each in list_violations(page, *rules)]
    across_by_width = {width: measure_width_at(page, width) for width in (1280, 768, 360)}
    return faults + [f"{across} pixels wide at {width}" for width, across in across_by_width.items() if across > width]


def test_api_reference_is_short_accessible_and_calls_with_given_key(
    page: Any, complaints: list[str], live_server: Any, settings: Any, api: Any
) -> None:
    """In one visit: to draw the reference takes many seconds."""
    page.set_default_timeout(TIMEOUT_MS)
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 360, "height": 900})  # before it is drawn: groups grow and shrink slowly
    page.goto(f"{live_server.url}/docs")
    page.wait_for_selector(".models")  # is drawn last
    assert page.evaluate("document.documentElement.scrollHeight") <= MAX_PAGE_HEIGHT
    assert any("Accounts" in name for name in page.locator(".opblock-tag").all_inner_texts())

    page.locator(".opblock-tag", has_text="Companies").click()
    page.locator("[id$='-createCompany'] .opblock-summary-control").click()
    assert list_faults(page) == []

    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("button", name="Authorize").first.click()
    dialog = page.locator(".auth-container", has_text="apiKey").first
    dialog.locator("input").fill(api.key)
    dialog.get_by_role("button", name="Apply credentials").click()
    page.get_by_role("button", name="Close").first.click()
    answer = run_operation(page, "listCompanies")
    answer.wait_for()
    assert "200" in answer.locator(".response-col_status").inner_text()
    assert "Acme" in answer.inner_text()
    assert f"Authorization: Bearer {api.key}" in page.locator(".curl").inner_text()
    page.get_by_role("link", name="Tidebook").click()
    page.wait_for_url(f"{live_server.url}/app/**")
