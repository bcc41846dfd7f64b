"""Long pages fold on a phone, and nowhere else; test_every_page measures the length of the others."""

import pytest
from playwright.sync_api import expect

from companies.pages.guides import GUIDES
from tests.browser.page_length import MAX_PAGE_HEIGHT, PHONE, measure_length

pytestmark = [pytest.mark.browser, pytest.mark.server]
WIDE = {"width": 1280, "height": 900}
DOCUMENTATION = ["/docs/errors", *(f"/docs/guides/{name}" for name in GUIDES)]
PARAMETRIZED_PAGES = ("planned?months=60", "profit-and-loss?months=60", "recurring-revenue?months=60", "?months=60")
PARTS = ".page-section"


@pytest.mark.parametrize("locale", ["en", "de"])
def test_pages_of_five_years_and_documentation_do_not_exceed_maximum_height_on_phone(tabs, served, locale):
    page = tabs[locale, True]
    paths = [f"/app/companies/{served.company_id}/{each}" for each in PARAMETRIZED_PAGES] + DOCUMENTATION
    lengths = {path: measure_length(page, path) for path in paths}
    assert {path: length for path, length in lengths.items() if length > MAX_PAGE_HEIGHT} == {}


def test_longest_pages_are_filled_with_rows(open_page):
    assert open_page("transactions", **PHONE).locator("[data-row]").count() == 50
    assert open_page("settings/counterparties", **PHONE).locator("tbody tr").count() == 50
    assert open_page("", **PHONE).locator(".chart-card").count() == 7


@pytest.mark.parametrize("path", ["/docs/errors", "/docs/guides/numbers"])
@pytest.mark.parametrize("script", [True, False])
def test_folded_sections_are_open_on_wide_screens_and_paper(tabs, path, script):
    page = tabs["en", script]
    page.emulate_media(media="screen")
    page.set_viewport_size(WIDE)
    page.goto(path)
    parts = page.locator(PARTS)
    first, last = parts.first, parts.last
    assert parts.count() > 5
    for shown in (first.locator("h2"), last.locator("h2"), last.locator("h2 ~ *").last):
        assert shown.bounding_box()["height"] > 10
    expect(first.locator("summary")).to_be_hidden()
    page.set_viewport_size(PHONE)
    assert not last.locator("h2 ~ *").last.is_visible()
    last.locator("summary").click()
    assert last.locator("h2 ~ *").last.bounding_box()["height"] > 10
    page.emulate_media(media="print")
    assert first.locator("h2 ~ *").last.bounding_box()["height"] > 10
    expect(first.locator("summary")).to_be_hidden()


@pytest.mark.parametrize(
    ("path", "place", "seen"),
    [
        ("/docs/errors", "not_found", "#not_found"),
        ("/docs/guides/numbers", "recurring-revenue", "#recurring-revenue ~ p"),
    ],
)
def test_link_into_folded_section_unfolds_it(tabs, path, place, seen):
    page = tabs["en", False].context.new_page()
    page.set_viewport_size(PHONE)
    page.goto(f"{path}#{place}")
    opened = page.locator(f"{PARTS}[open]")
    assert opened.count() == 1
    assert opened.locator(f"#{place}").count() == 1
    expect(opened.locator(seen).first).to_be_in_viewport()
    page.close()
