"""The interactive reference: shown under the strict policy, and its calls go out with what "Authorize" was given."""

import os
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def reference(live_server: Any, page: Any, complaints: list[str], settings: Any) -> Any:
    """The reference in a browser, its operations unfolded as far as their names."""
    page.goto(f"{live_server.url}/docs")
    page.wait_for_selector(".opblock-tag-section")
    return page


def try_out(page: Any, operation: str) -> Any:
    """Calls an operation without parameters; the row of the live answer."""
    page.locator(".opblock-tag", has_text="Companies").click()
    block = page.locator(f"[id$='-{operation}']")
    block.locator(".opblock-summary-control").click()
    block.get_by_role("button", name="Try it out").click()
    block.get_by_role("button", name="Execute").click()
    return block.locator(".live-responses-table .response").first


def test_every_group_of_operations_is_shown_without_a_complaint_of_the_browser(reference: Any) -> None:
    names = reference.locator(".opblock-tag").all_inner_texts()
    assert any("Accounts" in name for name in names)
    assert any("Companies" in name for name in names)
    if where := os.environ.get("SCREENSHOTS"):
        reference.screenshot(path=f"{where}/reference.png")


def test_authorize_takes_an_api_key_and_adds_the_prefix_itself(reference: Any, api: Any, settings: Any) -> None:
    reference.get_by_role("button", name="Authorize").first.click()
    dialog = reference.locator(".auth-container", has_text="apiKey").first
    dialog.locator("input").fill(api.key)
    dialog.get_by_role("button", name="Apply credentials").click()
    reference.get_by_role("button", name="Close").first.click()
    answer = try_out(reference, "listCompanies")
    answer.wait_for()
    assert "200" in answer.locator(".response-col_status").inner_text()
    assert "Acme" in answer.inner_text()
    shown = reference.locator(".curl").inner_text()
    assert f"Authorization: Bearer {api.key}" in shown
    if where := os.environ.get("SCREENSHOTS"):
        answer.scroll_into_view_if_needed()
        reference.screenshot(path=f"{where}/answer.png")
