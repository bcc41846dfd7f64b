"""A CSV file imported by keyboard, corrected and undone; and something planned and skipped; in a real browser."""

from contextlib import suppress

import pytest
from playwright.sync_api import TimeoutError as NothingCame
from playwright.sync_api import expect

from ledger.accounts.actions import accounts
from ledger.calc.months import add_months, get_first_day_of_month
from ledger.models import Account, ImportBatch, Transaction
from planning.models import PlannedOverride
from tests import factories
from tests.browser.conftest import sign_in_by_cookie
from tests.run_date import TODAY

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NEXT_MONTH = add_months(get_first_day_of_month(TODAY), 1)
BAD = (
    "Buchungstag;Empfänger;Verwendungszweck;Betrag\n31.01.2026;Initech;Rechnung 1042;1.190,00\n32.02.2026;Bank;;-4,00\n"
)
GOOD = BAD.replace("32.02.", "28.02.")


@pytest.fixture
def books():
    owner = factories.UserFactory(email="olga@acme.example")
    acme = factories.make_company(name="Acme", owner=owner)
    accounts.create_account(
        company=acme, context=factories.make_audit_context(), values={"type": "bank", "name": "Main"}
    )
    return acme, owner


@pytest.fixture
def csv_file(tmp_path):
    def written(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode("cp1252"))
        return str(path)

    return written


def open_page(page, site, books, path):
    acme, owner = books
    sign_in_by_cookie(page, site, owner)
    page.goto(f"{site}/app/companies/{acme.id}{path}")


def tab_to_element(page, target):
    """Goes to an element of a page that is there wholly, with the tabulator key alone."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if target.evaluate("each => each === document.activeElement"):
            return
    raise AssertionError(f"{target} cannot be reached by keyboard")


def press_control(page, name, role="button"):
    """Presses what leads to another page, and waits for that: keys that come before it is drawn can be lost."""
    tab_to_element(page, page.get_by_role(role, name=name))
    with page.expect_navigation():
        page.keyboard.press("Enter")


def choose_file(page, label, path):
    """The dialogue of the system is not the browser's: it opens by keyboard, and a file is put in its place.

    A busy browser learns too late that somebody wants the dialogue: the key is pressed again then.
    """
    tab_to_element(page, page.get_by_label(label))
    for patience in (5_000, 10_000, 30_000):
        with suppress(NothingCame):
            with page.expect_file_chooser(timeout=patience) as chooser:
                page.keyboard.press("Space")
            chooser.value.set_files(path)
            return
    raise AssertionError(f"no dialogue opens for {label}")


def test_import_can_be_checked_corrected_and_undone_by_keyboard(page, complaints, site, books, csv_file):
    acme, _ = books
    page.on("filechooser", lambda chooser: None)  # asked for in time, see choose_file
    open_page(page, site, books, "/imports")
    press_control(page, "Import a file", role="link")
    choose_file(page, "Files", csv_file("bad.csv", BAD))
    press_control(page, "Upload and review")
    expect(page.get_by_role("heading", level=1)).to_have_text("Review import")
    row = page.get_by_role("row").filter(has_text="” is not a valid date.")
    expect(row).to_contain_text("32.02.2026")
    expect(row).to_contain_text("Buchungstag")
    assert Transaction.objects.count() == 0
    choose_file(page, "Corrected file", csv_file("good.csv", GOOD))
    press_control(page, "Upload and review")
    expect(page.get_by_role("row").filter(has_text="Initech")).to_contain_text("€1,190.00")
    expect(page.get_by_role("heading", name="Rows with errors")).to_have_count(0)
    press_control(page, "Import 2 transactions")
    expect(page.get_by_role("status")).to_have_text("2 transactions imported into Main.")
    assert Transaction.objects.for_company(acme.id).filter(from_to="Initech", date="2026-01-31").count() == 1
    press_control(page, "Transactions imported", role="link")
    row = page.get_by_role("row").filter(has_text="Initech")
    expect(row).to_contain_text("€1,190.00")
    page.go_back()
    press_control(page, "Undo import of", role="link")
    press_control(page, "Undo import")
    expect(page.get_by_role("status")).to_have_text("2 transactions deleted.")
    assert Transaction.objects.count() == 0


def test_import_check_works_without_javascript_on_phone(browser, site, books, csv_file):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 360, "height": 800})
    page = context.new_page()
    open_page(page, site, books, "/imports/new")
    page.get_by_label("Files").set_input_files(csv_file("bad.csv", BAD))
    page.get_by_role("button", name="Upload and review").click()
    page.get_by_text("Change settings").click()
    page.get_by_label("Decimal mark").select_option("point")
    page.get_by_role("button", name="Update preview", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="” is not an amount with a decimal point.")).to_have_count(1)
    page.get_by_text("Change settings").click()
    page.get_by_label("Decimal mark").select_option("comma")
    page.get_by_role("button", name="Update preview", exact=True).click()
    expect(page.get_by_label("Skip the row with errors", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.get_by_label("Skip the row with errors").check()
    page.get_by_role("button", name="Import 1 transaction").click()
    expect(page.get_by_role("status")).to_contain_text("1 row with errors skipped.")
    context.close()


def test_planned_transaction_occurrence_can_be_skipped_and_restored(page, complaints, site, books):
    open_page(page, site, books, "/planned")
    page.get_by_role("link", name="Plan transaction").click()
    page.get_by_label("Name").fill("Rent")
    page.get_by_role("textbox", name="Amount", exact=True).fill("2400.00")
    page.get_by_label("Account").select_option("Main")
    page.get_by_label("Start date").fill(f"{NEXT_MONTH}")
    page.get_by_role("button", name="Plan transaction").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rent")
    shown = f"{NEXT_MONTH:%-d %b %Y}"
    page.get_by_role("button", name=f"Skip Rent on {shown}").click()
    expect(page.get_by_role("button", name=f"Skip Rent on {shown}")).to_have_count(0)
    assert PlannedOverride.objects.get().skipped
    page.get_by_role("navigation", name="Acme").get_by_role("link", name="Cash plan").click()
    expect(page.get_by_role("row").filter(has_text=shown)).to_have_count(0)
    page.get_by_role("link", name="Rent").first.click()
    page.get_by_role("button", name=f"Reset {shown} to plan").click()
    expect(page.get_by_role("button", name=f"Skip Rent on {shown}")).to_have_count(1)


def test_upload_of_too_many_files_is_rejected_before_sending(page, complaints, site, books, csv_file):
    open_page(page, site, books, "/imports/new")
    files = page.get_by_label("Files")
    expect(files).to_be_visible()
    page.wait_for_load_state()
    files.set_input_files([csv_file(f"{n}.csv", GOOD) for n in range(21)])
    page.get_by_role("button", name="Upload and review").click()
    text = "Select at most 20 files."
    assert files.evaluate("each => each.validationMessage") == text
    assert page.url.endswith("/imports/new")
    files.set_input_files([csv_file("one.csv", GOOD)])
    page.get_by_role("button", name="Upload and review").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review import")


def test_import_list_with_many_imports_stays_short_on_phone(page, complaints, site, books):
    acme, _ = books
    account = Account.objects.for_company(acme.id).get().id
    for _ in range(22):
        ImportBatch.objects.create(
            company=acme,
            source="bank",
            count=1000,
            duplicates=30,
            skipped_before_data_start=20,
            created_time=factories.make_audit_context().time,
            filename="statement of the current account 2026-01.xml",
            format="camt.053",
            account_ids=[account],
        )
    page.set_viewport_size({"width": 360, "height": 800})
    open_page(page, site, books, "/imports")
    expect(page.get_by_role("heading", name="Imports")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollHeight") <= 5000
    expect(page.get_by_role("link", name="Earlier")).to_be_visible()
