"""Tables of pages in German, where amounts are written in another way; those in English are checked with each page."""

import pytest

from tests.browser.tables import list_table_faults

pytestmark = [pytest.mark.browser, pytest.mark.server]
COMPANY = "app/companies/<str:company_id>"
# Tables of every kind: statements, grids, lists, cohorts, aging, and small ones beside charts.
ROUTES = (
    COMPANY,
    f"{COMPANY}/profit-and-loss",
    f"{COMPANY}/plan",
    f"{COMPANY}/planned",
    f"{COMPANY}/ahead",
    f"{COMPANY}/transactions",
    f"{COMPANY}/receivables",
    f"{COMPANY}/recurring-revenue",
    f"{COMPANY}/recurring-revenue/billed-and-received",
    f"{COMPANY}/recurring-revenue/customers",
    f"{COMPANY}/accounts/<uuid:account_id>",
    f"{COMPANY}/reports/<str:month>",
)


@pytest.fixture
def german_page(tabs):
    page = tabs["de", True]
    page.set_viewport_size({"width": 1280, "height": 900})
    return page


# Then the page's script has seen the window.
NEXT_FRAMES_SCRIPT = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Elements that scroll a table sideways and have no hint below them.
UNHINTED_SCRIPT = """
() => [...document.querySelectorAll("main .table-card, main .sheet, main .scroll-area, main .chart-data .table-scroll")]
  .filter((card) => card.checkVisibility() && card.scrollWidth > card.clientWidth + 1)
  .filter((card) => !card.nextElementSibling?.matches(".scroll-hint"))
  .map((card) => card.querySelector("caption")?.textContent ?? card.className)
"""


@pytest.mark.parametrize("route", ROUTES)
def test_german_tables_have_scroll_hints_and_are_copied_as_numbers_and_downloaded_as_csv(route, german_page, served):
    path = served.address(route)
    german_page.goto(path)
    assert german_page.locator("html").get_attribute("lang") == "de"
    assert german_page.locator("main table").count() > 0
    for width in (1280, 390):
        german_page.set_viewport_size({"width": width, "height": 900})
        german_page.evaluate(NEXT_FRAMES_SCRIPT)
        assert german_page.evaluate(UNHINTED_SCRIPT) == [], width
    assert list_table_faults(german_page, path) == []


def test_table_of_revenue_movements_fits_a_laptop_in_german(german_page, served):
    german_page.goto(served.address(f"{COMPANY}/recurring-revenue"))
    table = german_page.locator("[data-table=mrr-movements]")
    assert table.evaluate("(table) => table.scrollWidth <= table.parentElement.clientWidth + 1")


def test_table_check_finds_faults(german_page):
    """Tables broken on purpose: amounts that are texts, and no CSV file."""
    table = "<table><caption>Sales</caption><tr><td>March</td><td>€12.50</td></tr></table>"
    page = german_page.context.new_page()
    page.route("**/app/broken", lambda route: route.fulfill(body=f"<main>{table}</main>", content_type="text/html"))
    page.goto("/app/broken")
    faults = list_table_faults(page, "/app/broken")
    page.close()
    assert faults[-1] == "Sales: has no CSV file"
    assert len(faults) == 2
