"""Sheets in a browser: what is in view, what is copied, and what is printed."""

import re
from datetime import date

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.server]
WIDTH = 1440
A4_WIDTH, A4_HEIGHT = 794, 1123  # pixels of a sheet of paper at 96 dpi
PAGES = ("profit-and-loss", "profit-and-loss?comparison=plan", "profit-and-loss?months=24", "plan", "planned")


def is_within(inner, outer):
    return outer["x"] <= inner["x"] and inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("script", [True, False])
def test_latest_month_and_total_are_in_view_without_scrolling(open_page, path, script):
    page = open_page(path, WIDTH, script=script)
    card = page.locator(".sheet").first
    card_box = card.bounding_box()
    for kind in ("kind-current", "kind-total"):
        assert is_within(card.locator(f"thead th.{kind}").bounding_box(), card_box), kind
    first = card.locator("tbody th").first.bounding_box()
    assert abs(first["x"] - card_box["x"]) <= 2


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize(
    "query", ["", "?comparison=plan", "?months=24", "?startDate=2026-01-01&endDate={next_year}-06-30"]
)
def test_phone_shows_lines_beside_the_latest_actual_month(open_page, query, script):
    query = query.format(next_year=date.today().year + 1)
    page = open_page(f"profit-and-loss{query}", 390, script=script)
    card = page.locator(".sheet")
    card_box, name = card.bounding_box(), card.locator("tbody th").first.bounding_box()
    month = card.locator("thead th.kind-current").bounding_box()
    first_column = name["x"] + name["width"]
    assert abs(name["x"] - card_box["x"]) <= 2
    assert first_column <= month["x"] + 1
    assert month["x"] + month["width"] <= card_box["x"] + card_box["width"] + 1


def test_twelve_months_and_total_fit_into_a_screen_of_1440(open_page):
    for path in ("profit-and-loss", "plan"):
        card = open_page(path, WIDTH).locator(".sheet")
        assert card.evaluate("(card) => card.scrollWidth - card.clientWidth") <= 0, path


@pytest.mark.parametrize("path", PAGES)
def test_printed_sheet_has_every_column_on_the_paper(open_page, path):
    page = open_page(path, WIDTH)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": A4_WIDTH, "height": A4_HEIGHT})
    sheet = page.locator(".sheet").first
    columns = sheet.locator("thead tr").first.locator("th")
    boxes = [columns.nth(number).bounding_box() for number in range(columns.count())]
    assert min(box["x"] for box in boxes) >= 0
    if len(boxes) <= 14:  # browsers shrink wider ones
        is_across = "wide" in sheet.get_attribute("class").split()
        assert max(box["x"] + box["width"] for box in boxes) <= (A4_HEIGHT if is_across else A4_WIDTH)


def test_copied_sheet_is_numbers(open_page):
    page = open_page("profit-and-loss", WIDTH)
    page.locator(".sheet table").evaluate("(table) => getSelection().selectAllChildren(table)")
    page.keyboard.press("Control+c")
    rows = [line.split("\t") for line in page.evaluate("navigator.clipboard.readText()").splitlines()]
    width = len(rows[0])
    assert width == 14
    assert rows[0][-1] == "Total"
    assert all(len(row) == width for row in rows)
    assert [cell for row in rows[1:] for cell in row[1:] if not re.fullmatch(r"-?[\d,]+", cell)] == []
    assert any(cell.startswith("-") for row in rows for cell in row)


def test_copied_amounts_of_other_tables_have_no_currency(open_page):
    page = open_page("transactions", WIDTH)
    page.locator(".transaction-list table").evaluate("(table) => getSelection().selectAllChildren(table)")
    page.keyboard.press("Control+c")
    rows = [line.split("\t") for line in page.evaluate("navigator.clipboard.readText()").splitlines()]
    assert len(rows) > 20
    assert [row[-1] for row in rows[1:] if not re.fullmatch(r"-?[\d,]+\.\d\d", row[-1])] == []


def test_switch_of_units_works_without_javascript(open_page):
    page = open_page("profit-and-loss", WIDTH, script=False)
    amount = page.locator(".sheet td").first
    expect(amount).not_to_contain_text(".")
    page.get_by_role("link", name="Cents").click()
    expect(amount).to_contain_text(".")
    page.get_by_role("link", name="Whole").click()
    expect(amount).not_to_contain_text(".")
