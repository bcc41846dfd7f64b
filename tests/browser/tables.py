"""What holds for every table of a page: its copied cells are numbers, and it is a CSV file as well."""

import csv
import io
import re
from typing import Any

CHECKED_BOXES = (
    "api-keys/new",
    "/permissions",
    "/import/",
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


def list_table_faults(page: Any, path: str) -> list[str]:
    """Return what is wrong with the tables of the open page."""
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => (each.open = true))")
    faults = []
    for table in page.evaluate(READ_TABLES):
        cells = [cell for row in table["copied"].split("\n") for cell in row.split("\t")]
        if len(cells) < 2:
            faults.append(f"{table['name']}: is not copied")
        if amounts := [cell for cell in cells if AMOUNT.match(cell)]:
            faults.append(f"{table['name']}: copied as text: {amounts}")
        if any(each in path for each in CHECKED_BOXES):
            continue
        if not table["links"]:
            faults.append(f"{table['name']}: has no CSV file")
        elif table["isOwn"]:
            faults += [f"{table['name']}: {fault}" for fault in list_csv_faults(page, table["links"][0])]
    return faults


def list_csv_faults(page: Any, link: str) -> list[str]:
    """Return what is wrong with the CSV file of a table."""
    answer = page.context.request.get(link)
    if not answer.headers["content-type"].startswith("text/csv"):
        return [f"CSV: {answer.text()[:300]}"]
    rows = list(csv.reader(io.StringIO(answer.text())))
    faults = [f"CSV: amount as text: {cell}" for row in rows for cell in row if AMOUNT.match(cell)]
    if len(rows) < 2 or len({len(row) for row in rows}) != 1:
        faults.append(f"CSV: rows of {sorted({len(row) for row in rows})} cells, {len(rows)} rows")
    return faults
