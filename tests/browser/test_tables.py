"""Every table of every page: what is copied are numbers, and the table is a CSV file."""

import csv
import io
import re

import pytest

from tests.browser.demo_site import ROUTES, SIGNED_OUT, is_page

pytestmark = [pytest.mark.browser, pytest.mark.server]
CHECKED_BOXES = (
    "api-keys/new",
    "/permissions",
    "/import/<uuid:upload_id>",
    "imports/new/",
)  # forms to fill in, and files that wait for their import
AMOUNT = re.compile(r"[+−-]?\s?(?:[€$£]|[A-Z]{3})\s?\d|−")
# Copies a table as a person does, and says by which links it is downloaded: its own one, or one of its card or page.
READ_TABLES = """
() => [...document.querySelectorAll("main table")].map((table) => {
  const selection = getSelection(), range = document.createRange(), data = new DataTransfer();
  range.selectNode(table);
  selection.removeAllRanges();
  selection.addRange(range);
  table.dispatchEvent(new ClipboardEvent("copy", { clipboardData: data, bubbles: true, cancelable: true }));
  const name = table.dataset.table;
  const links = [...document.querySelectorAll("main a[download]")].map((link) => link.href);
  const own = name ? links.filter((link) => new URL(link).searchParams.get("table") === name) : [];
  const place = table.closest(".chart-card, section, main");
  const around = [...place.querySelectorAll("a[download]"), ...document.querySelectorAll("main .page-actions a")];
  return {
    name: table.caption?.textContent ?? name ?? "",
    copied: data.getData("text/plain"),
    links: own.length ? own : [...around.map((link) => link.href), ...links].filter((link) => /csv|export/.test(link)),
    isOwn: own.length > 0,
  };
})
"""


@pytest.fixture(scope="module", params=["en", "de"])
def page(request, browser, served, cookies):
    context = browser.new_context(base_url=served.url, storage_state=cookies, locale=request.param)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("route", [each for each in ROUTES if not each.startswith(SIGNED_OUT)])
def test_tables_are_copied_as_numbers_and_downloaded_as_csv(route, page, served):
    path = served.address(route)
    if not is_page(page.context, path):
        return
    page.goto(path)
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => (each.open = true))")
    for table in page.evaluate(READ_TABLES):
        cells = [cell for row in table["copied"].split("\n") for cell in row.split("\t")]
        assert len(cells) > 1, (path, table["name"])
        assert [cell for cell in cells if AMOUNT.match(cell)] == [], (path, table["name"])
        if any(each in route for each in CHECKED_BOXES):
            continue
        assert table["links"], (path, table["name"])
        if table["isOwn"]:
            answer = page.context.request.get(table["links"][0])
            assert answer.headers["content-type"].startswith("text/csv"), (path, table["name"], answer.text()[:300])
            rows = list(csv.reader(io.StringIO(answer.text())))
            assert len(rows) > 1, (path, table["name"])
            assert [cell for row in rows for cell in row if AMOUNT.match(cell)] == [], (path, table["name"])
            assert len({len(row) for row in rows}) == 1, (path, table["name"])
