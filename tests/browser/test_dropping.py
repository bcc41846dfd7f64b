"""A document dropped on any page of a company is uploaded and shown; in a real browser."""

import pytest
from playwright.sync_api import expect

from ledger.models import File
from tests.browser.test_import_walk import books, open_page  # noqa: F401 - fixture
from tests.ledger.files.einvoice_documents import build_ubl

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DROP = """([name, text]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], name, { type: "application/xml" }));
  const send = (kind) => document.body.dispatchEvent(
    new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
  send("dragenter");
  const shown = document.body.classList.contains("drop-active");
  send("drop");
  return shown;
}"""


def test_dropped_invoice_leads_to_its_page(page, site, books):  # noqa: F811
    open_page(page, site, books, "/receivables")
    with page.expect_navigation(url="**/documents/*"):
        assert page.evaluate(DROP, ["invoice.xml", build_ubl().decode()]) is True
    expect(page.get_by_role("heading", name="invoice.xml")).to_be_visible()
    expect(page.get_by_role("button", name="Create payable")).to_be_visible()


def test_file_dropped_on_a_page_with_a_field_for_files_goes_there(page, site, books):  # noqa: F811
    open_page(page, site, books, "/receivables/import")
    page.evaluate(DROP, ["open.csv", "Invoice,Customer,Date,Total\n1,Globex,2025-03-31,1.00\n"])
    expect(page.locator("[data-selected-files]")).to_contain_text("open.csv")
    assert not File.objects.exists()
