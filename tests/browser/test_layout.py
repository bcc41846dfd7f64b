"""The frame of every page: a sidebar on wide screens, a bar with a menu on phones, no navigation on paper."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.server]
PHONE = {"width": 390, "height": 844}
MAX_SIDEBAR_WIDTH, MAX_BAR_HEIGHT, MAX_CONTENT_WIDTH, MAX_CASH_OFFSET = 280, 60, 1600, 500
LINE_HEIGHT = 24
MAX_LINE_LENGTH = 100  # characters
# Texts whose lines are longer on average than can be read well.
LONG_LINES_SCRIPT = """
(most) => [...document.querySelectorAll("main p:is(.hint, .lead)")].filter((text) => text.checkVisibility())
.map((text) => {
  const range = document.createRange();
  range.selectNodeContents(text);
  const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.bottom / 8)));
  return [text.innerText, text.innerText.length / lines.size];
}).filter(([, length]) => length > most).map(([text]) => text)
"""
PARTS = ("transactions", "accounts", "planned", "plan", "profit-and-loss", "recurring-revenue", "settings")


@pytest.mark.parametrize("width", [1280, 1440, 1920])
def test_sidebar_stands_beside_content_on_wide_screens(open_page, width):
    page = open_page("profit-and-loss", width)
    sidebar, main = page.locator(".sidebar").bounding_box(), page.locator("main").bounding_box()
    assert sidebar["x"] == 0
    assert sidebar["width"] <= MAX_SIDEBAR_WIDTH
    assert main["x"] >= sidebar["width"]
    assert main["width"] == min(width - sidebar["width"], MAX_CONTENT_WIDTH)
    expect(page.locator(".sidebar-nav").first.get_by_role("link", name="Transactions")).to_be_visible()
    expect(page.locator(".menu-toggle")).to_be_hidden()
    padding = 2 * 32
    assert page.locator(".statement").bounding_box()["width"] == main["width"] - padding


@pytest.mark.parametrize("script", [True, False])
def test_phone_has_a_low_bar_whose_menu_opens_without_javascript(open_page, served, script):
    page = open_page("", **PHONE, script=script)
    assert page.locator(".sidebar").bounding_box()["height"] <= MAX_BAR_HEIGHT
    link = page.locator(".sidebar-nav").first.get_by_role("link", name="Profit and loss")
    expect(link).to_be_hidden()
    toggle = page.locator("summary[aria-label=Menu]")
    toggle.focus()
    page.keyboard.press("Enter")
    expect(link).to_be_visible()
    assert toggle.evaluate("(each) => getComputedStyle(each).outlineStyle") == "solid"
    link.click()
    page.wait_for_url("**/profit-and-loss")


def test_cash_is_visible_at_once_on_a_phone(open_page):
    page = open_page("", **PHONE)
    figure = page.locator(".key-figures dd").first.bounding_box()
    assert figure["y"] + figure["height"] <= MAX_CASH_OFFSET


@pytest.mark.parametrize("path", PARTS)
def test_printed_page_has_no_navigation(open_page, path):
    page = open_page(path, 1280)
    page.emulate_media(media="print")
    for navigation in page.get_by_role("navigation").all():
        expect(navigation).to_be_hidden()
    expect(page.locator(".company-name strong")).to_be_visible()


@pytest.mark.parametrize("script", [True, False])
def test_settings_on_a_phone_are_one_line_that_names_the_section(open_page, script):
    page = open_page("settings/counterparties", **PHONE, script=script)
    menu = page.get_by_role("navigation", name="Settings")
    assert menu.bounding_box()["height"] <= MAX_BAR_HEIGHT
    expect(menu.locator("summary")).to_have_text("Counterparties")
    link = menu.get_by_role("link", name="Categories")
    expect(link).to_be_hidden()
    menu.locator("summary").click()
    link.click()
    page.wait_for_url("**/settings/categories")


@pytest.mark.parametrize("path", ["planned", "recurring-revenue", "accounts", "settings/api-keys"])
def test_tabs_on_a_phone_are_one_line(open_page, path):
    page = open_page(path, **PHONE)
    for tabs in page.locator(".subnav:not(.collapsible)").all():
        tops = tabs.locator("a").evaluate_all("(links) => links.map((link) => Math.round(link.offsetTop))")
        assert len(set(tops)) == 1
        assert tabs.bounding_box()["x"] + tabs.bounding_box()["width"] <= PHONE["width"]


@pytest.mark.parametrize("path", ["receivables", "planned", "planned/rules", "accounts"])
def test_rows_on_a_phone_have_name_and_amount_in_one_line(open_page, path):
    page = open_page(path, **PHONE)
    table = page.locator(".table-card.stacked table").last
    for row in table.locator("tbody tr:has(td.name-cell)").all()[:10]:
        name, amount = (
            row.locator("td.name-cell").bounding_box(),
            row.locator("td.amount:not(.secondary)").bounding_box(),
        )
        assert amount["x"] >= name["x"] + name["width"]
        assert abs(amount["y"] - name["y"]) < LINE_HEIGHT
        others = row.locator("td:not(.name-cell, .amount, .row-actions):visible")
        assert all(other.bounding_box()["y"] >= name["y"] + name["height"] - 1 for other in others.all())
        labels = row.locator("td:not(.row-actions, [hidden])").evaluate_all(
            "(cells) => cells.map((cell) => getComputedStyle(cell, '::before').content)"
        )
        assert all(label not in {"none", "normal"} for label in labels)  # headings of columns are read out


def test_title_and_buttons_stand_together_on_a_phone(open_page):
    page = open_page("receivables", **PHONE)
    lead, actions = page.locator(".page-head .lead").bounding_box(), page.locator(".page-actions").bounding_box()
    assert actions["y"] - lead["y"] - lead["height"] < 2 * LINE_HEIGHT


@pytest.mark.parametrize("width", [1440, 1920])
def test_each_row_of_the_plan_is_one_line_and_all_months_fit(open_page, width):
    page = open_page("plan", width)
    heights = page.locator(".sheet tbody th").evaluate_all("(names) => names.map((name) => name.clientHeight)")
    assert max(heights) < 2 * LINE_HEIGHT
    sheet = page.locator(".sheet")
    assert sheet.evaluate("(each) => each.scrollWidth <= each.clientWidth")


@pytest.mark.parametrize("path", ["", "change-of-cash", "planned/scenarios", "reports", "closings", *PARTS])
def test_lines_of_text_are_short_enough_on_a_large_screen(open_page, path):
    page = open_page(path, 1920)
    assert page.evaluate(LONG_LINES_SCRIPT, MAX_LINE_LENGTH) == []


# Pairs of texts in a chart that touch or overlap.
OVERLAP_SCRIPT = """
() => [...document.querySelectorAll(".chart .plot")].flatMap((plot) => {
  const texts = [...plot.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const shown = texts.filter(([, box]) => box.width);
  return shown.flatMap(([name, a], index) => shown.slice(index + 1)
    .filter(([, b]) => a.left < b.right + 1 && b.left < a.right + 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2)
    .map(([other]) => `${name} and ${other}`));
})
"""


@pytest.mark.parametrize("path", ["", "recurring-revenue"])
def test_german_chart_labels_do_not_overlap(open_page, path):
    page = open_page(path, 1280, locale="de")
    for width in (320, 390, 768, 1024, 1280, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(OVERLAP_SCRIPT) == [], width
