"""Transactions in a real browser: found, categorized, split and linked, with the pointer and by keyboard alone."""

from datetime import date

import pytest
from playwright.sync_api import expect

from companies.models import Company, User
from ledger.accounts.actions import accounts
from ledger.categorization.actions import categories, split
from ledger.models import Transaction
from ledger.transactions.actions import transactions
from tests import factories
from tests.browser.conftest import sign_in_by_cookie

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "correct horse battery"


@pytest.fixture
def books():
    """Acme with two accounts: bills of Nimbus, a coffee, and hundred euros that went to the savings."""
    owner = factories.UserFactory(email="olga@acme.example", password=PASSWORD)
    acme, audit_context = factories.make_company(name="Acme", owner=owner), factories.make_audit_context()
    bank = accounts.create_account(company=acme, context=audit_context, values={"type": "bank", "name": "Main"})
    savings = accounts.create_account(company=acme, context=audit_context, values={"type": "bank", "name": "Savings"})
    factories.make_customer(acme, "Nimbus")
    for account, day, amount, who in (
        (bank, 1, "-119.00", "Nimbus Cloud"),
        (bank, 2, "-238.00", "Nimbus Cloud"),
        (bank, 3, "-4.50", "Corner Bistro"),
        (bank, 4, "-100.00", "Own account"),
        (savings, 5, "100.00", "Own account"),
    ):
        values = {"account_id": account.id, "date": date(2026, 3, day), "amount_value": amount, "from_to": who}
        transactions.create_transaction(company=acme, context=audit_context, values=values)
    return acme


@pytest.fixture
def desk(page, live_server, books, complaints):
    """The list, signed in."""
    sign_in_by_cookie(page, live_server.url, User.objects.get(email="olga@acme.example"))
    page.goto(f"{live_server.url}/app/companies/{books.id}/transactions")
    expect(page.get_by_role("heading", name="Transactions")).to_be_visible()
    return page


def find_rows(page):
    return page.get_by_role("table", name="Transactions").locator("tbody tr")


def test_open_transactions_can_be_filtered_selected_and_categorized(desk):
    desk.get_by_label("Search").fill("nimbus")
    desk.get_by_label("Status").select_option("Uncategorized")
    desk.get_by_role("button", name="Filter").click()
    expect(find_rows(desk)).to_have_count(2)
    for box in desk.get_by_role("checkbox", name="Nimbus Cloud").all():
        box.check()
    expect(desk.locator("[data-selection-summary]")).to_have_text("2 selected · −€357.00")
    choose_category(
        desk.get_by_role("group", name="Actions for selected transactions").get_by_label("Category"), "Hosting"
    )
    desk.get_by_role("button", name="Categorize", exact=True).click()
    expect(desk.get_by_role("status")).to_have_text("2 transactions categorized.")
    expect(desk.get_by_text("No transactions found")).to_be_visible()
    desk.get_by_label("Status").select_option("Categorized")
    desk.get_by_role("button", name="Filter").click()
    expect(find_rows(desk)).to_have_count(2)
    expect(find_rows(desk).first).to_contain_text("Hosting")


def choose_category(field, category):
    """Chooses a category by its name, whatever its emoji is."""
    field.select_option(value=field.locator("option", has_text=category).first.get_attribute("value"))


def test_transaction_is_split_and_invalid_part_shows_error(desk):
    desk.get_by_role("link", name="Nimbus Cloud").first.click()
    desk.get_by_role("link", name="Categorize").click()
    first, second = (
        desk.get_by_role("group", name="Categorization 1"),
        desk.get_by_role("group", name="Categorization 2"),
    )
    choose_category(first.get_by_label("Category"), "Hosting")
    first.get_by_label("Amount", exact=True).fill("-238")
    first.get_by_label("VAT, amount or %").fill("19 %")
    expect(desk.get_by_text("€0.00 uncategorized.")).to_be_visible()  # the rate is taken out of the whole amount
    first.get_by_label("Amount", exact=True).fill("-200")
    first.get_by_label("VAT, amount or %").fill("-38")
    choose_category(second.get_by_label("Category"), "Support")
    second.get_by_label("Amount", exact=True).fill("+10")
    desk.get_by_role("button", name="Save").click()
    expect(second.get_by_text("Must have the same sign as the transaction.")).to_be_visible()
    expect(second.get_by_label("Amount", exact=True)).to_have_attribute("aria-invalid", "true")
    first.get_by_label("Amount", exact=True).fill("-190")
    second.get_by_label("Amount", exact=True).fill("10")
    expect(desk.get_by_text("€0.00 uncategorized.")).to_be_visible()
    desk.get_by_role("button", name="Save").click()
    parts = desk.get_by_role("table", name="Categorizations")
    expect(parts.locator("tbody tr")).to_have_count(2)
    expect(parts).to_contain_text("−€190.00")
    expect(desk.get_by_text("Uncategorized")).to_have_count(0)


def test_transfer_can_be_linked_and_unlinked(desk):
    desk.get_by_role("link", name="Own account").last.click()
    desk.get_by_role("link", name="Link transfer").click()
    expect(desk.get_by_role("radio")).to_have_count(1)
    desk.get_by_role("button", name="Link as transfer").click()
    expect(desk.get_by_text("Transactions linked as a transfer.")).to_be_visible()
    desk.get_by_role("link", name="Savings, 5 Mar 2026").click()
    desk.get_by_text("Unlink", exact=True).click()
    desk.get_by_role("button", name="Unlink transfer").click()
    expect(desk.get_by_text("Transfer unlinked. Both transactions are now uncategorized.")).to_be_visible()


def test_transactions_can_be_categorized_by_keyboard(desk):
    desk.get_by_label("Search").focus()
    desk.keyboard.type("nimbus")
    desk.keyboard.press("Enter")
    expect(find_rows(desk)).to_have_count(2)
    for box in (0, 1):
        tab_to_element(desk, f'input[name="id"] >> nth={box}')
        desk.keyboard.press("Space")
    tab_to_element(desk, "#category", key="Shift+Tab")
    while "Hosting" not in desk.locator("#category option:checked").inner_text():
        desk.keyboard.press("ArrowDown")
    tab_to_element(desk, 'button[value="categorize"]')
    desk.keyboard.press("Enter")
    expect(desk.get_by_role("status")).to_have_text("2 transactions categorized.")
    assert (
        Transaction.objects.for_company(Company.objects.get(name="Acme").id).filter(categorized_value__lt=0).count()
        == 2
    )


def test_double_click_books_transaction_once(desk):
    desk.get_by_role("link", name="New transaction").click()
    desk.get_by_label("Account").select_option("Main")
    desk.get_by_label("Amount", exact=True).fill("-7.00")
    desk.get_by_label("From / to").fill("Twice")
    sent = []
    desk.on("request", lambda request: sent.append(request) if request.method == "POST" else None)
    desk.get_by_role("button", name="Create transaction").scroll_into_view_if_needed()
    button = desk.get_by_role("button", name="Create transaction").bounding_box()
    desk.mouse.dblclick(button["x"] + 5, button["y"] + 5, delay=20)
    expect(desk.get_by_text("Transaction created.")).to_be_visible()
    assert len(sent) == 1
    assert Transaction.objects.for_company(Company.objects.get(name="Acme").id).filter(from_to="Twice").count() == 1


def tab_to_element(page, selector, key="Tab"):
    """Presses Tab until the element has the focus."""
    wanted = page.locator(selector)
    for _ in range(60):
        if wanted.evaluate("each => each === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{selector} is not reached by {key}")


def test_transaction_pages_work_without_javascript(browser, live_server, books):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/app/companies/{books.id}/transactions?q=bistro")
    page.get_by_label("Email address").fill("olga@acme.example")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("checkbox", name="Corner Bistro").check()
    page.get_by_text("Delete", exact=True).click()
    page.get_by_role("button", name="Delete transactions").click()
    expect(page.get_by_role("status")).to_have_text("1 transaction deleted.")
    context.close()


def test_long_category_hides_no_other_cell_on_phone(desk, books):
    """The category ends in an ellipsis, and what says that a row is pending stands below it."""
    audit_context = factories.make_audit_context()
    long = categories.create_category(
        company=books, context=audit_context, values={"name": "W" * 40, "pl_types": ["cogs"]}
    )
    coffee = Transaction.objects.for_company(books.id).get(amount_value="-4.50")
    given = [split.CategorizationInput(key="a", category_id=long.id, lines={"cogs": coffee.amount_value})]
    split.replace_categorizations(company=books, context=audit_context, transaction_id=coffee.id, inputs=given)
    transactions.update_transaction(
        company=books, context=audit_context, transaction_id=coffee.id, values={"pending": True}
    )
    desk.set_viewport_size({"width": 360, "height": 800})
    desk.reload()
    row = find_rows(desk).filter(has_text="Corner Bistro")
    chip, badge, cell = (row.locator(each).bounding_box() for each in (".chip", ".badge", "td.detail-cell"))
    assert chip["x"] + chip["width"] <= cell["x"] + cell["width"]
    assert badge["x"] + badge["width"] <= cell["x"] + cell["width"]
    assert badge["y"] >= chip["y"] + chip["height"]


def test_transaction_list_updates_in_place_and_keeps_url_in_sync(desk, books):
    """One page is loaded: filters, a category chosen in its row, an act on two and its undoing come into it."""
    desk.evaluate("window.stays = true")
    desk.get_by_label("Search", exact=True).fill("nimbus")
    desk.get_by_role("button", name="Filter").click()
    expect(find_rows(desk)).to_have_count(2)
    assert desk.url.endswith("?q=nimbus")
    expect(desk.get_by_text("2 transactions · −€357.00")).to_be_visible()
    find_rows(desk).first.get_by_role("link", name="Category…").click()
    choose_category(find_rows(desk).first.get_by_role("combobox"), "Hosting")
    expect(find_rows(desk).first.get_by_role("link", name="Hosting")).to_be_visible()
    expect(desk.get_by_role("status")).to_have_text("1 transaction categorized.")
    desk.get_by_role("button", name="Undo").click()
    expect(desk.get_by_role("status")).to_have_text("1 transaction restored.")
    expect(find_rows(desk).first.get_by_role("link", name="Category…")).to_be_visible()
    desk.get_by_label("Select all on this page").check()
    expect(desk.locator("[data-selection-summary]")).to_have_text("2 selected · −€357.00")
    desk.get_by_text("Delete", exact=True).click()
    desk.get_by_role("button", name="Delete transactions").click()
    expect(desk.get_by_text("No transactions found")).to_be_visible()
    expect(desk.get_by_role("status").filter(has_text="2 transactions deleted.")).to_be_focused()
    desk.get_by_role("button", name="Undo").click()
    expect(find_rows(desk)).to_have_count(2)
    expect(desk.get_by_role("status").filter(has_text="2 transactions restored.")).to_be_focused()
    desk.go_back()
    expect(desk.get_by_role("button", name="Undo")).to_have_count(0)  # what was taken back is over
    assert desk.evaluate("window.stays")
    assert Transaction.objects.for_company(books.id).count() == 5


def test_transaction_keys_search_navigate_select_and_show_help(desk):
    desk.locator("h1").click()
    desk.keyboard.press("j")
    expect(find_rows(desk).first.get_by_role("link").first).to_be_focused()
    desk.keyboard.press("j")
    desk.keyboard.press("x")
    expect(find_rows(desk).nth(1).get_by_role("checkbox")).to_be_checked()
    desk.keyboard.press("c")
    expect(find_rows(desk).nth(1).get_by_role("combobox")).to_be_focused()
    desk.keyboard.press("Escape")
    desk.keyboard.press("?")
    box = desk.get_by_role("dialog")
    expect(box.get_by_role("heading", name="Shortcuts")).to_be_visible()
    box.get_by_label("Enable single-key shortcuts in this browser").uncheck()
    desk.keyboard.press("Escape")
    expect(box).to_have_count(0)
    desk.keyboard.press("/")
    expect(desk.get_by_role("dialog")).to_have_count(0)
    desk.goto(desk.url.partition("/app/")[0] + "/app/shortcuts")
    desk.get_by_label("Enable single-key shortcuts in this browser").check()
    desk.go_back()
    desk.locator("h1").click()
    desk.keyboard.press("/")
    desk.keyboard.type("bistro")
    desk.get_by_role("dialog").get_by_role("link", name="Corner Bistro").click()
    expect(desk.get_by_role("heading", name="Corner Bistro")).to_be_visible()


def test_split_form_shows_remaining_amount(desk):
    desk.get_by_role("link", name="Corner Bistro").first.click()
    desk.get_by_role("link", name="Categorize").click()
    first, second = (
        desk.get_by_role("group", name="Categorization 1"),
        desk.get_by_role("group", name="Categorization 2"),
    )
    choose_category(first.get_by_label("Category"), "Hosting")
    first.get_by_label("Amount", exact=True).fill("40%")
    expect(desk.get_by_text("−€2.70 uncategorized.")).to_be_visible()
    choose_category(second.get_by_label("Category"), "Support")
    expect(second.get_by_label("Amount", exact=True)).to_have_attribute("placeholder", "−€2.70")
    desk.get_by_role("button", name="Save").click()
    expect(desk.get_by_role("table", name="Categorizations")).to_contain_text("−€2.70")
    expect(desk.get_by_text("Uncategorized")).to_have_count(0)
