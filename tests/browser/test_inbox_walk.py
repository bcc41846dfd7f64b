"""From an empty company to an empty inbox: statements dropped and reconciled, proposals taken, a rule, a transfer."""

import re
import time
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from companies.models import User
from ledger.imports import progress
from ledger.imports.actions import imports
from ledger.models import Account, Categorization, CategorizationRule, Category, Transaction
from tests import factories
from tests.browser.conftest import sign_in_by_cookie
from tests.browser.fonts import measure_width_at
from tests.ledger.bank_file_builders import build_camt, build_entry, build_simple_camt, build_statement
from tests.run_date import TODAY

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MAIN, SAVINGS = "DE89370400440532013000", "DE02120300000000202051"
LAST = TODAY.replace(day=1) - timedelta(days=1)
DAY, START, END = str(LAST.replace(day=10)), str(LAST.replace(day=1)), str(LAST)
PERIOD = {"start": START, "end": END}
PHONE, DESK_WIDTH = {"width": 360, "height": 800}, 1280


def build_main_statement():
    rows = [
        build_entry("-120.00", DAY, name="Nimbus Hosting", text="Servers", ref="1"),
        build_entry("-121.00", DAY, name="Nimbus Hosting", text="Servers", ref="2"),
        build_entry("-15.00", DAY, name="Metro", text="Ticket 1", ref="3"),
        build_entry("-16.00", DAY, name="Metro", text="Ticket 2", ref="4"),
        build_entry("-500.00", DAY, name="Own savings", text="Put aside", ref="5"),
    ]
    return build_camt(build_statement(*rows, iban=MAIN, opening="1000.00", closing="228.00", **PERIOD))


def build_savings_statement():
    row = build_entry("500.00", DAY, name="Acme", text="Put aside", ref="6")
    return build_camt(build_statement(row, iban=SAVINGS, opening="0.00", closing="500.00", **PERIOD))


@pytest.fixture
def file(tmp_path):
    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return written


@pytest.fixture
def acme(site):
    owner = factories.UserFactory(email="olga@acme.example")
    return factories.make_company(name="Acme", owner=owner)


def sign_in_and_open(page, site, company, path):
    sign_in_by_cookie(page, site, User.objects.get(email="olga@acme.example"))
    page.goto(f"{site}/app/companies/{company.id}{path}")


def open_account(page, name, number):
    page.get_by_role("link", name="New account").first.click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Number or IBAN").fill(number)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)


def open_tab(page, name):
    menu = page.locator(".menu-toggle summary")
    if menu.is_visible():
        menu.click()
    page.get_by_role("navigation", name="Acme").get_by_role("link", name=name).click()


def get_posting_choice(company, key, line):
    """A system category's choice in a form."""
    return f"{Category.objects.for_company(company.id).get(system_key=key).id}:{line}"


def record_announcements(page):
    """A list that fills with what the page says of its progress, until the next page is there."""
    heard = []
    page.on("console", lambda message: heard.append(message.text))
    page.evaluate("""() => {
        const told = document.querySelector("[data-status]");
        new MutationObserver(() => console.info(told.textContent)).observe(told, { childList: true });
    }""")
    return heard


def find_waiting_note(page, text):
    return page.locator("[data-review-row]").filter(has_text=text).first


def test_empty_company_imports_statements_and_empties_inbox(page, complaints, site, acme, file):
    """On a phone, whose menu folds; each page fits a desk as well."""
    page.set_viewport_size(PHONE)

    def fits():
        for width in (DESK_WIDTH, PHONE["width"]):
            assert measure_width_at(page, width) == width
        page.set_viewport_size(PHONE)

    sign_in_and_open(page, site, acme, "/accounts")
    open_account(page, "Main", MAIN)
    open_tab(page, "Accounts")
    open_account(page, "Savings", SAVINGS)

    page.goto(f"{site}/app/companies/{acme.id}/imports")
    page.get_by_role("link", name="Import a file").click()
    page.get_by_label("Files").set_input_files(
        [file("main.xml", build_main_statement()), file("savings.xml", build_savings_statement())]
    )
    expect(page.get_by_role("listitem").filter(has_text="main.xml")).to_contain_text("kB")
    fits()
    page.get_by_role("button", name="Upload and review").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review statements")
    row = page.get_by_role("row").filter(has_text=MAIN)
    for amount in ("€1,000.00", "€228.00", "€0.00"):
        expect(row).to_contain_text(amount)
    fits()
    page.get_by_role("button", name="Import 6 transactions").click()
    expect(page.get_by_role("status")).to_have_text("6 transactions imported from 2 files.")
    for account in Account.objects.for_company(acme.id):
        assert account.bank_connection["balanceMismatchSince"] is None
    fits()

    open_tab(page, "Inbox")
    expect(page.get_by_role("link", name="Inbox 6 to review", include_hidden=True)).to_be_attached()
    page.get_by_role("button", name="Link Main and Savings").click()
    expect(page.get_by_role("status")).to_have_text("Transactions linked as a transfer.")
    fits()

    first = find_waiting_note(page, "Nimbus Hosting")
    first.get_by_role("combobox").select_option(get_posting_choice(acme, "hosting", "cogs"))
    first.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("1 transaction categorized.")
    proposed = find_waiting_note(page, "Nimbus Hosting")
    expect(proposed).to_contain_text("1 of 1 transaction with this name")
    proposed.focus()
    page.keyboard.press("a")
    expect(page.locator("[data-review-row]").filter(has_text="Nimbus Hosting")).to_have_count(0)
    fits()

    find_waiting_note(page, "Metro").focus()
    page.keyboard.press("r")
    expect(page.get_by_role("heading", level=1)).to_contain_text("rule")
    page.get_by_label("Category", exact=True).select_option(get_posting_choice(acme, "officeAndAdmin", "ga"))
    fits()
    page.get_by_role("button", name="Save").click()
    fits()
    page.get_by_role("button", name="Apply rules").click()
    expect(page.get_by_role("status")).to_have_text("2 transactions categorized by rules.")

    open_tab(page, "Inbox")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    fits()
    assert not Transaction.objects.for_company(acme.id).booked().open().exists()
    rule = CategorizationRule.objects.for_company(acme.id).get()
    assert Categorization.objects.for_company(acme.id).filter(source_note=f"rule:{rule.id}").count() == 2


def test_long_file_upload_shows_progress(page, complaints, site, acme, file):
    sign_in_and_open(page, site, acme, "/accounts")
    open_account(page, "Main", MAIN)
    page.goto(f"{site}/app/companies/{acme.id}/imports/new")
    answers = record_announcements(page)
    padding = b"".join(b"<!-- %s -->\n" % (b"x" * 10_000) for _ in range(150))
    long = build_simple_camt("-1.00", day=DAY, **PERIOD).replace(b"<Ntry>", padding + b"<Ntry>")
    page.get_by_label("Files").set_input_files(file("long.xml", long))
    expect(page.get_by_role("listitem").filter(has_text="long.xml")).to_have_text("long.xml, 1.5 MB")
    page.get_by_role("button", name="Upload and review").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review statements")
    assert "1.5 of 1.5 MB uploaded" in answers
    assert "Reading 1.5 MB, 0 s" in answers
    page.get_by_role("button", name="Import 1 transaction").click()
    expect(page.get_by_role("status")).to_have_text("1 transaction imported from 1 file.")


def test_rejected_long_file_shows_error(page, complaints, site, acme, file):
    sign_in_and_open(page, site, acme, "/accounts")
    open_account(page, "Main", MAIN)
    page.goto(f"{site}/app/companies/{acme.id}/imports/new")
    page.get_by_label("Files").set_input_files(file("long.pdf", b"%PDF-1.4" + b"x" * 2_000_000))
    page.get_by_role("button", name="Upload and review").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert Transaction.objects.count() == 0


def test_long_import_shows_progress(page, complaints, site, acme, file, monkeypatch):
    sign_in_and_open(page, site, acme, "/accounts")
    open_account(page, "Main", MAIN)
    open_tab(page, "Accounts")
    open_account(page, "Savings", SAVINGS)
    page.goto(f"{site}/app/companies/{acme.id}/imports/new")
    page.get_by_label("Files").set_input_files(
        [file("main.xml", build_main_statement()), file("savings.xml", build_savings_statement())]
    )
    page.get_by_role("button", name="Upload and review").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review statements")
    answers = record_announcements(page)

    def slowly(table, columns, lines):
        seconds = next(waits, 0)
        copied(table, columns, (time.sleep(seconds) or line for line in lines))

    copied, waits = imports.copy_lines, iter([1.0])  # of the first file: the page asks once a second
    monkeypatch.setattr(imports, "copy_lines", slowly)
    monkeypatch.setattr(progress, "ROWS_PER_NOTE", 1)

    page.get_by_role("button", name="Import 6 transactions").click()
    expect(page.get_by_role("status")).to_have_text("6 transactions imported from 2 files.")
    assert "Importing 6 transactions, 0 s" in answers
    assert any(re.fullmatch(r"File 1 of 2: [1-4] of 5 transactions, \d+ s", each) for each in answers)
