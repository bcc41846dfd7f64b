"""The inbox by keys alone: from its first row to the empty inbox, the focus on what comes next after each act."""

from datetime import timedelta
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from ledger.models import Transaction
from tests import factories
from tests.browser.test_inbox_walk import get_posting_choice, sign_in_and_open
from tests.ledger.conftest import Books
from tests.run_date import TODAY

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def acme(site):
    owner = factories.UserFactory(email="olga@acme.example")
    return factories.make_company(name="Acme", owner=owner)


@pytest.fixture
def books(make_api, acme, settings):
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    return Books(make_api(acme))


@pytest.fixture
def waiting(books, acme):
    """Books what waits, the first on top; of Nimbus there is a history."""
    bank, hosting = books.create_account(), books.get_category_id("hosting")
    known = books.create_transaction(bank, "-9.00", str(TODAY - timedelta(days=40)), fromTo="Nimbus")["id"]
    selection = {"mode": "ids", "ids": [known]}
    books.api.post("transactions/categorize", {"selection": selection, "categoryId": hosting})

    def book(*names):
        days = [str(TODAY - timedelta(days=n)) for n in range(len(names))]
        return [
            books.create_transaction(bank, "-9.00", day, fromTo=name)["id"]
            for name, day in zip(names, days, strict=True)
        ]

    return book


def get_focused_id(page):
    """The row that has the focus, or the heading of the empty inbox."""
    return page.evaluate("document.activeElement.id")


def test_inbox_keys_categorize_from_first_row_to_empty_inbox(page, complaints, site, acme, waiting):
    one, two, new, last = waiting("Nimbus", "Nimbus", "Somebody new", "Nimbus")
    sign_in_and_open(page, site, acme, "/inbox")
    expect(page.locator("[data-shortcut-hint]")).to_be_visible()
    page.keyboard.press("j")
    assert get_focused_id(page) == f"t-{one}"
    page.keyboard.press("a")
    expect(page.get_by_role("status").first).to_contain_text("1 transaction categorized.")
    assert get_focused_id(page) == f"t-{two}"
    page.keyboard.press("a")
    page.wait_for_url(f"**#t-{new}")
    assert get_focused_id(page) == f"t-{new}"
    page.keyboard.press("s")
    assert get_focused_id(page) == f"t-{last}"
    page.keyboard.press("a")
    expect(page.locator(f"#t-{new}")).to_be_focused()
    page.keyboard.press("c")
    select = page.locator(f"#t-{new}").get_by_role("combobox")
    expect(select).to_be_focused()
    page.keyboard.press("Escape")
    assert get_focused_id(page) == f"t-{new}"
    page.keyboard.press("c")
    select.select_option(get_posting_choice(acme, "hosting", "cogs"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="All done")).to_be_focused()
    assert not Transaction.objects.for_company(acme.id).open().exists()


def test_inbox_keys_continue_after_transfer_pair_and_split(page, complaints, site, acme, books, waiting):
    (nimbus,) = waiting("Nimbus")
    main, savings = books.create_account(name="Current"), books.create_account(name="Savings")
    source = books.create_transaction(main, "-80.00", str(TODAY), fromTo="Own")["id"]
    books.create_transaction(savings, "80.00", str(TODAY), fromTo="Own")
    sign_in_and_open(page, site, acme, "/inbox")
    expect(page.locator("[data-shortcut-hint]")).to_be_visible()
    page.keyboard.press("j")
    assert get_focused_id(page) == f"p-{source}"
    page.keyboard.press("a")
    page.wait_for_url(f"**#t-{nimbus}")
    assert get_focused_id(page) == f"t-{nimbus}"
    page.keyboard.press("p")
    page.get_by_label("Category").first.select_option(get_posting_choice(acme, "hosting", "cogs"))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="All done")).to_be_focused()


def test_inbox_key_does_not_act_on_skipped_rows_after_last_transaction(page, complaints, site, acme, books, waiting):
    (nimbus,) = waiting("Nimbus")
    bank, hosting = books.create_account(name="Other"), books.get_category_id("hosting")
    plan = {"accountId": bank, "name": "Rent", "startDate": str(TODAY), "amountValue": "-80.00", "autoSettle": False}
    assert books.api.post("planned_transactions", plan).status_code == 201
    paid = books.create_transaction(bank, "-80.00", str(TODAY), fromTo="Landlord")["id"]
    books.api.post("transactions/categorize", {"selection": {"mode": "ids", "ids": [paid]}, "categoryId": hosting})
    sign_in_and_open(page, site, acme, "/inbox")
    expect(page.locator("[data-shortcut-hint]")).to_be_visible()
    page.keyboard.press("j")
    assert get_focused_id(page) == "o-1"
    page.keyboard.press("s")
    assert get_focused_id(page) == f"t-{nimbus}"
    page.keyboard.press("a")
    expect(page.get_by_role("status").first).to_be_focused()
    expect(page.get_by_role("status").first).to_contain_text("1 transaction categorized.")
    page.keyboard.press("a")
    page.keyboard.press("j")
    assert get_focused_id(page) == "o-1"
    assert books.get_transaction(paid)["settlements"] == []


def test_inbox_keys_do_nothing_if_switched_off(page, complaints, site, acme, waiting):
    waiting("Nimbus")
    sign_in_and_open(page, site, acme, "/inbox")
    expect(page.locator("[data-shortcut-hint]")).to_be_visible()
    page.evaluate("localStorage.setItem('keys-off', '1')")
    page.reload(wait_until="load")
    page.locator("[data-review-row]").first.focus()
    for key in "ajck":
        page.keyboard.press(key)
    assert page.get_by_role("heading", name="All done").count() == 0
    assert Transaction.objects.for_company(acme.id).open().count() == 1
    expect(page.locator("[data-shortcut-hint]")).to_be_hidden()


def test_inbox_focuses_next_row_without_javascript(browser, site, acme, waiting):
    one, two = waiting("Nimbus", "Nimbus")
    page = browser.new_context(java_script_enabled=False, locale="en").new_page()
    sign_in_and_open(page, site, acme, "/inbox")
    for row, then in ((one, f"t-{two}"), (two, "done")):
        page.locator(f"#t-{row}").get_by_role("button", name="Hosting").click()
        page.wait_for_url(f"**#{then}")
        assert get_focused_id(page) == then
    page.context.close()


def test_status_message_stays_visible_above_the_next_row(page, complaints, site, acme, waiting):
    page.set_viewport_size({"width": 360, "height": 640})
    rows = waiting(*["Nimbus"] * 3, *["Cumulus"] * 3)
    sign_in_and_open(page, site, acme, "/inbox")
    for row, then in pairwise(rows[:4]):
        page.locator(f"#t-{row}").get_by_role("button", name="Hosting").click()
        page.wait_for_url(f"**#t-{then}")
        expect(page.get_by_text("1 transaction categorized.")).to_be_in_viewport()
        expect(page.locator(f"#t-{then}")).to_be_in_viewport()
        assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_cancelled_split_returns_to_its_inbox_row(page, complaints, site, acme, waiting):
    (row,) = waiting("Nimbus")
    sign_in_and_open(page, site, acme, "/inbox")
    page.locator(f"#t-{row}").get_by_role("link", name="Split").click()
    page.get_by_role("link", name="Cancel").click()
    page.wait_for_url(f"**/inbox#t-{row}")
    assert get_focused_id(page) == f"t-{row}"


def test_box_of_a_row_creates_the_rule_of_the_suggestion_that_is_accepted(page, complaints, site, acme, books, waiting):
    first, other = waiting("Nimbus", "Somebody new")
    sign_in_and_open(page, site, acme, "/inbox")
    page.locator(f"#t-{first}").get_by_label("Also from now on").check()
    page.keyboard.press("j")
    page.locator(f"#t-{first}").get_by_role("button", name="Hosting", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("1 rule created. Undo deletes it too.")
    expect(page.get_by_role("link", name="Nimbus", exact=True)).to_be_visible()
    expect(page.locator(f"#t-{other}").get_by_label("Also from now on")).not_to_be_checked()
    assert [rule["name"] for rule in books.api.get("categorization_rules").json()] == ["Nimbus"]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").first).to_contain_text("1 transaction restored. 1 rule deleted.")
