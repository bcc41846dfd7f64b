"""The plan typed like a sheet, in a real browser: with the keys, from a spreadsheet, undone, and without JavaScript."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import sign_in_by_cookie

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASTE = """
    ([cell, text]) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text", text);
        cell.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }
"""


def find_cell(page, category, month):
    return page.get_by_label(f"{category}, {month}", exact=True)


@pytest.fixture
def plan(site, acme, alice):
    """Opens the plan of 2026 as Alice."""

    def opened(page):
        sign_in_by_cookie(page, site, alice)
        page.goto(f"{site}/app/companies/{acme.id}/plan?startMonth=2026-01")
        expect(page.get_by_role("heading", level=1)).to_have_text("Plan")
        return page

    return opened


def list_category_names(page):
    """The categories as the cells are called, in their order."""
    labels = [each.get_attribute("aria-label") for each in page.locator("[data-plan] td > input").all()]
    return list(dict.fromkeys(label.rpartition(", ")[0] for label in labels))


def test_plan_grid_pastes_navigates_saves_and_undoes(page, complaints, plan):
    plan(page)
    first, second = list_category_names(page)[:2]
    at = find_cell(page, first, "Feb 2026")
    at.evaluate(f"(cell) => ({PASTE})([cell, '10\\t20\\n30\\t40\\n'])")
    expect(find_cell(page, second, "Mar 2026")).to_have_value("40")
    expect(at).to_have_class("differs")
    expect(page.get_by_text("Unsaved changes")).to_be_visible()
    at.focus()
    page.keyboard.press("Enter")
    expect(find_cell(page, second, "Feb 2026")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(at).to_be_focused()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("4 amounts saved.")).to_be_visible()
    expect(find_cell(page, first, "Mar 2026")).to_have_value("20")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Change undone.")).to_be_visible()
    expect(find_cell(page, first, "Mar 2026")).to_have_value("")


def test_plan_grid_asks_before_unsaved_cells_are_lost(page, complaints, plan):
    plan(page)
    cell = find_cell(page, list_category_names(page)[0], "Feb 2026")
    expect(page.get_by_text("Unsaved changes")).to_be_hidden()
    cell.fill("10")
    expect(page.get_by_text("Unsaved changes")).to_be_visible()
    queries = []
    page.on("dialog", lambda dialog: (queries.append(dialog.type), dialog.accept()))
    page.reload()
    assert queries == ["beforeunload"]


def test_plan_grid_copies_and_clears_row_without_javascript(browser, plan):
    context = browser.new_context(java_script_enabled=False)
    page = plan(context.new_page())
    first = list_category_names(page)[0]
    find_cell(page, first, "Mar 2026").fill("25")
    page.get_by_role("button", name=f"Copy across: {first}").click()
    expect(find_cell(page, first, "Dec 2026")).to_have_value("25")
    expect(find_cell(page, first, "Feb 2026")).to_have_value("")
    page.get_by_role("button", name=f"Clear: {first}").click()
    expect(page.get_by_text("Row cleared from Jan 2026 to Dec 2026.")).to_be_visible()
    expect(find_cell(page, first, "Dec 2026")).to_have_value("")
    context.close()


def test_focus_moves_to_first_error_or_notice_after_reload(site, acme, page, complaints, plan):
    plan(page)
    first, second = list_category_names(page)[:2]
    find_cell(page, first, "Feb 2026").fill("ten")
    find_cell(page, second, "Jan 2026").fill("twenty")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(find_cell(page, first, "Feb 2026")).to_be_focused()
    find_cell(page, first, "Feb 2026").fill("10")
    find_cell(page, second, "Jan 2026").fill("20")
    page.get_by_role("button", name=f"Copy across: {first}").click()
    expect(page.locator(".notice", has_text="amounts saved.")).to_be_focused()
    page.goto(f"{site}/app/companies/{acme.id}/planned/new")
    page.locator("#name").fill("Rent")
    page.locator("#amountValue").fill("much")
    page.locator("main form").last.evaluate("(form) => { form.noValidate = true; form.requestSubmit(); }")
    expect(page.locator('[aria-invalid="true"]').first).to_be_focused()
