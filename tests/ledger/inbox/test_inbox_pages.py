"""The inbox and the rules as pages: one press each, and what the pages say."""

import re
from datetime import UTC, datetime

import pytest

from companies.models import Company
from tests.ledger.conftest import find_field_error, get_page_text

pytestmark = pytest.mark.django_db


class InboxPage:
    def __init__(self, company, client):
        self.base, self.client = f"/app/companies/{company.id}", client

    def get(self, path, **params):
        return self.client.get(f"{self.base}/{path}", params)

    def post(self, path, **form):
        return self.client.post(f"{self.base}/{path}", form)


@pytest.fixture
def inbox_page(sign_in_browser, alice, acme) -> InboxPage:
    return InboxPage(acme, sign_in_browser(alice, acme).client)


def book_categorized(api, books, bank, category, *, times=1, amount="-100.00", **values):
    ids = [books.create_transaction(bank, amount, **values)["id"] for _ in range(times)]
    api.post("transactions/categorize", {"selection": {"mode": "ids", "ids": ids}, "categoryId": category})


def test_inbox_without_transactions_links_to_import(inbox_page):
    page = inbox_page.get("inbox")
    assert "No transactions yet" in get_page_text(page)
    assert f'href="{inbox_page.base}/imports/new"' in page.content.decode()
    assert "All done" not in get_page_text(page)


def list_accept_buttons(page):
    """(classes, key, why) of the buttons that accept a suggestion, by how the page lists them."""
    shown = page.content.decode()
    pattern = (
        r'class="button small( primary)?" type="submit"\s+name="category"\s+value="[^"]+"\s*'
        r'(?:data-shortcut-key="(\w)")?\s*title="([^"]*)"'
    )
    return [(bool(primary), key or None, why) for primary, key, why in re.findall(pattern, shown)]


def test_account_alone_suggests_no_category(api, books, bank, hosting, inbox_page):
    book_categorized(api, books, bank, hosting, times=20, fromTo="Nimbus Ltd")
    books.create_transaction(bank, "-12.00", fromTo="Nimbus Ltd")
    books.create_transaction(bank, "-13.00", fromTo="Somebody new")
    assert list_accept_buttons(inbox_page.get("inbox")) == [(True, "a", "20 of 20 transactions with this name")]


def test_suggestion_below_even_odds_has_no_primary_shortcut_key(api, books, bank, hosting, inbox_page):
    for number, key in enumerate(("hosting", "support", "marketing")):
        book_categorized(api, books, bank, books.get_category_id(key), fromTo="Nimbus Ltd", description=f"{number}")
    books.create_transaction(bank, "-100.00", fromTo="Nimbus Ltd")
    found = list_accept_buttons(inbox_page.get("inbox"))
    assert [(primary, key) for primary, key, _ in found] == [(False, None), (False, "2"), (False, "3")]


def test_own_transfer_is_the_only_and_primary_suggestion(api, books, bank, inbox_page):
    book_categorized(
        api, books, bank, books.get_category_id("revenueRecurring"), times=6, fromTo="Customer", amount="500.00"
    )
    row = books.create_transaction(bank, "17390.00", fromTo="ACME GmbH")["id"]
    page = inbox_page.get("inbox")
    assert list_accept_buttons(page) == [(True, "a", "Your company is the counterparty")]
    transfer = f"{books.get_category_id('transfer')}:neutral"
    assert f'value="{transfer}" data-shortcut-key="a"' in page.content.decode()
    assert inbox_page.post("inbox", act="accept", id=row, category=transfer, counterparty="").status_code == 303
    assert [part["categoryId"] for part in books.list_categorizations(row)] == [books.get_category_id("transfer")]


def test_leg_of_a_suggested_pair_is_linked_and_not_categorized(books, bank, savings, inbox_page):
    """The category Transfers alone would leave it in the cash flow."""
    day = datetime.now(tz=UTC).date().isoformat()
    books.create_transaction(bank, "-500.00", day, fromTo="Acme")
    books.create_transaction(savings, "500.00", day, fromTo="Acme")
    page = inbox_page.get("inbox")
    assert list_accept_buttons(page) == []
    assert get_page_text(page).count("Part of a suggested transfer. Link it above.") == 2
    assert page.content.decode().count("Link as transfer") == 1


def test_suggestion_by_similar_amount_names_its_basis(api, books, bank, hosting, inbox_page):
    book_categorized(api, books, bank, hosting, times=5, fromTo="Nimbus Ltd", amount="-20.00")
    book_categorized(api, books, bank, books.get_category_id("support"), times=2, fromTo="Nimbus Ltd", amount="-750.00")
    books.create_transaction(bank, "-750.00", fromTo="Nimbus Ltd")
    first, second = list_accept_buttons(inbox_page.get("inbox"))
    assert first == (True, "a", "Similar amount, account or text; 2 of 7 transactions with this name")
    assert second == (False, "2", "5 of 7 transactions with this name")


def test_basis_says_that_transactions_under_other_names_are_counted(api, books, bank, hosting, inbox_page):
    vendor = {"id": api.post("counterparties", {"type": "vendor", "name": "Nimbus Ltd"}).json()["id"]}
    part = {"categoryId": hosting, "plSplit": {"cogs": -100}, "counterparty": vendor}
    for name in ("Nimbus Ltd", "NIMBUS LTD", "NMB 1", "NMB 2"):
        assert books.set_categorizations(books.create_transaction(bank, fromTo=name)["id"], part).status_code == 200
    books.create_transaction(bank, fromTo="Nimbus Ltd")
    ((_, _, why),) = list_accept_buttons(inbox_page.get("inbox"))
    assert why == "4 of 4 transactions with this name or counterparty"


def test_basis_counts_transactions_and_no_parts_or_deleted_ones(api, books, bank, hosting, inbox_page):
    book_categorized(api, books, bank, hosting, times=2, fromTo="Nimbus Ltd")
    split_row, deleted = (books.create_transaction(bank, fromTo="Nimbus Ltd")["id"] for _ in range(2))
    parts = [{"categoryId": hosting, "plSplit": {"cogs": -value}} for value in (60, 40)]
    assert books.set_categorizations(deleted, {"categoryId": hosting, "plSplit": {"cogs": -100}}).status_code == 200
    assert api.delete(f"transactions/{deleted}").status_code == 200
    assert books.set_categorizations(split_row, *parts).status_code == 200
    older = books.create_transaction(bank, date="2026-03-01", fromTo="Nimbus Ltd")["id"]
    assert books.set_categorizations(older, {"categoryId": hosting, "plSplit": {"cogs": -100}}).status_code == 200
    row = books.create_transaction(bank, date="2026-03-20", fromTo="Nimbus Ltd")["id"]
    (proposal,) = api.post("transactions/proposals", {"transactionIds": [row]}).json()[row]
    assert (proposal["basis"]["seen"], proposal["basis"]["agreed"]) == (3, 3)


def test_inbox_shows_texts_without_phrases_of_the_bank(books, bank, inbox_page):
    books.create_transaction(bank, "-9.00", fromTo="BVG", description="FOLGELASTSCHRIFT Jobticket Mai Umsatz gebucht")
    books.create_transaction(bank, "-8.00", fromTo="", description="FOLGELASTSCHRIFT Parkhaus Umsatz gebucht")
    shown = get_page_text(inbox_page.get("inbox"))
    assert "Jobticket Mai" in shown
    assert "Parkhaus" in shown
    assert "FOLGELASTSCHRIFT" not in shown
    assert "Umsatz gebucht" not in shown


def test_empty_inbox_shows_all_done(api, books, bank, hosting, inbox_page):
    book_categorized(api, books, bank, hosting, fromTo="Nimbus Ltd")
    page = inbox_page.get("inbox")
    assert page.status_code == 200
    assert "All done" in get_page_text(page)
    assert 'class="count"' not in page.content.decode().partition("</nav>")[2].partition("</nav>")[0]
    assert re.search(r'href="[^"]+/closings">Close month<', page.content.decode())


def test_inbox_suggestion_is_accepted_in_one_step(api, books, bank, hosting, inbox_page):
    book_categorized(api, books, bank, hosting, times=3, fromTo="Nimbus Ltd")
    row = books.create_transaction(bank, "-12.00", fromTo="Nimbus Ltd")["id"]
    books.create_transaction(bank, "-12.00", fromTo="pending", pending=True)
    page = inbox_page.get("inbox")
    text = get_page_text(page)
    assert "Nimbus Ltd" in text
    assert "3 of 3 transactions with this name" in text
    assert "pending" not in text
    assert "Inbox 1 to review" in text
    form = re.search(r'name="category" value="([^"]+)" data-shortcut-key="a"', page.content.decode())
    done = inbox_page.post("inbox", act="accept", id=row, category=form[1], counterparty="")
    assert (done.status_code, done["Location"].partition("&")[0]) == (303, f"{inbox_page.base}/inbox?said={row}")
    (part,) = books.list_categorizations(row)
    assert part["categoryId"] == hosting
    assert books.get_transaction(row)["categorizationsAutoAssigned"] is False
    assert "All done" in get_page_text(inbox_page.get("inbox"))


def test_inbox_action_error_is_shown(books, bank, inbox_page):
    row = books.create_transaction(bank, fromTo="x")["id"]
    for form in ({"act": "accept", "id": row}, {"act": "accept", "id": "x", "category": "x:ga"}, {"act": "no"}):
        page = inbox_page.post("inbox", **form)
        assert page.status_code == 400
        assert 'role="alert"' in page.content.decode()
    assert books.list_categorizations(row) == []


def test_transfer_proposal_is_linked_in_one_step(books, bank, savings, inbox_page):
    day = datetime.now(tz=UTC).date().isoformat()
    source, target = (
        books.create_transaction(bank, "-80.00", day)["id"],
        books.create_transaction(savings, "80.00", day)["id"],
    )
    page = inbox_page.get("inbox")
    assert "Main → Savings" in get_page_text(page)
    assert inbox_page.post("inbox", act="link", source=source, target=target).status_code == 303
    assert books.get_transaction(source)["categorizations"]
    assert "All done" in get_page_text(inbox_page.get("inbox"))


def test_inbox_shows_balance_mismatch(bank, inbox_page, acme):
    from ledger.models import Account

    Account.objects.for_company(acme.id).filter(id=bank).update(
        bank_connection={"balanceMismatchSince": "2026-01-01T00:00:00Z"}
    )
    assert "Main is out of balance" in get_page_text(inbox_page.get("inbox"))
    Account.objects.for_company(acme.id).filter(id=bank).update(bank_connection={"balanceMismatchSince": None})
    assert "balance" not in get_page_text(inbox_page.get("inbox"))


def test_inbox_shows_overdue_payments(api, bank, inbox_page):
    from datetime import UTC, datetime, timedelta

    day = (datetime.now(tz=UTC).date() - timedelta(days=3)).isoformat()
    api.post("planned_transactions", {"accountId": bank, "name": "Rent", "startDate": day, "amountValue": "-1.00"})
    assert "1 overdue planned transaction" in get_page_text(inbox_page.get("inbox"))


def test_inbox_settles_a_planned_match_in_one_step(api, books, bank, inbox_page, sign_in_browser, bob, acme):
    from datetime import UTC, datetime, timedelta

    today = datetime.now(tz=UTC).date()
    body = {"accountId": bank, "name": "Rent", "startDate": f"{today - timedelta(days=3)}", "amountValue": "-100.00"}
    planned = api.post("planned_transactions", body | {"autoSettle": False}).json()["id"]
    row = books.create_transaction(bank, "-104.00", str(today), fromTo="Landlord")["id"]
    page = inbox_page.get("inbox")
    assert "Matches Rent" in get_page_text(page)
    assert "Landlord · Main · expected" in get_page_text(page)
    assert "/settle" not in InboxPage(acme, sign_in_browser(bob, acme).client).get("inbox").content.decode()
    action = re.search(r'action="([^"]+/settle)"', page.content.decode())[1]
    done = inbox_page.client.post(action, {"transactionId": row, "from": "inbox"})
    assert (done.status_code, done["Location"].partition("?")[0]) == (303, f"{inbox_page.base}/inbox")
    assert books.get_transaction(row)["settlements"][0]["plannedTransactionId"] == planned
    assert "Matches" not in get_page_text(inbox_page.get("inbox"))


def test_readers_see_no_action_buttons(books, bank, sign_in_browser, bob, acme, inbox_page):
    row = books.create_transaction(bank, fromTo="x")["id"]
    reader = InboxPage(acme, sign_in_browser(bob, acme).client)
    assert 'name="act"' not in reader.get("inbox").content.decode()
    assert reader.post("inbox", act="accept", id=row, category="x").status_code == 403


# ---------------------------------------------------------------------------------------------- rules

RULE_FORM = {"name": "Hosting", "textOperator": "contains", "textValue": "nimbus", "direction": "out", "enabled": "on"}


def test_rule_can_be_created_previewed_applied_and_undone(api, books, bank, hosting, inbox_page):
    row = books.create_transaction(bank, "-119.00", fromTo="Nimbus Ltd")["id"]
    form = RULE_FORM | {"category": f"{hosting}:cogs", "tax": "19", "dateRule": "month"}
    tried = inbox_page.post("rules/new", preview="1", **form)
    assert "Matches 1 transaction" in get_page_text(tried)
    assert api.get("categorization_rules").json() == []
    assert inbox_page.post("rules/new", **form).status_code == 303
    (rule,) = api.get("categorization_rules").json()
    assert rule["conditions"]["text"] == {"operator": "contains", "value": "nimbus"}
    assert (rule["action"]["passThroughTaxPercent"], rule["action"]["usingDateRule"]["type"]) == (19, "month")
    listed = get_page_text(inbox_page.get("rules"))
    assert "From / to or description contains “nimbus”, money out" in listed
    assert "1 uncategorized transaction matches." in listed
    done = inbox_page.post("rules/apply")
    assert books.list_categorizations(row)[0]["sourceNote"] == f"rule:{rule['id']}"
    shown = inbox_page.client.get(done["Location"]).content.decode()
    undo = re.search(r'action="([^"]+/undo)"', shown)[1]
    inbox_page.client.post(undo)
    assert books.list_categorizations(row) == []


def test_rule_can_be_changed_moved_and_deleted(api, hosting, inbox_page):
    for name in ("First", "Second"):
        inbox_page.post("rules/new", **RULE_FORM | {"name": name, "category": f"{hosting}:cogs"})
    first, second = (each["id"] for each in api.get("categorization_rules").json())
    page = inbox_page.get(f"rules/{first}").content.decode()
    assert 'value="nimbus"' in page
    seen = re.search(r'name="seen" value="([^"]+)"', page)[1]
    changed = RULE_FORM | {"name": "Changed", "category": f"{hosting}:cogs", "minAmount": "5", "seen": seen}
    assert inbox_page.post(f"rules/{first}", **changed).status_code == 303
    assert api.get(f"categorization_rules/{first}").json()["conditions"]["minAmount"] == "5.00"
    inbox_page.post(f"rules/{second}/move", to="up")
    assert [each["id"] for each in api.get("categorization_rules").json()] == [second, first]
    inbox_page.post(f"rules/{second}/delete")
    assert [each["name"] for each in api.get("categorization_rules").json()] == ["Changed"]


def test_invalid_rule_shows_field_errors(hosting, inbox_page):
    form = RULE_FORM | {"category": f"{hosting}:cogs"}
    for wrong, name in [
        ({"textValue": ""} | {"direction": ""}, None),
        ({"category": ""}, "category"),
        ({"minAmount": "x"}, "minAmount"),
        ({"tax": "x"}, "tax"),
        ({"counterparty": "Nobody"}, "counterparty"),
        ({"dateRule": "custom"}, "ruleStart"),
    ]:
        page = inbox_page.post("rules/new", **form | wrong)
        assert page.status_code == 400, wrong
        assert find_field_error(page, name) if name else 'role="alert"' in page.content.decode(), wrong


def test_rule_form_is_prefilled_from_transaction(api, books, bank, hosting, inbox_page):
    book_categorized(api, books, bank, hosting, fromTo="Nimbus Ltd")
    row = books.create_transaction(bank, fromTo="Nimbus Ltd")["id"]
    page = inbox_page.get("rules/new", transaction=row).content.decode()
    assert page.count('value="Nimbus Ltd"') == 2  # its name and its condition
    assert re.search(rf'value="{hosting}:cogs" selected', page)


def test_rule_edit_keeps_hidden_fields(api, books, bank, hosting, sign_in_browser, acme, inbox_page):
    from companies.permissions import Role
    from tests import factories

    vendor = api.post("counterparties", {"type": "vendor", "name": "Nimbus"}).json()["id"]
    body = {
        "name": "x",
        "conditions": {"accountIds": [bank], "counterpartyId": vendor},
        "action": {"categoryId": hosting, "counterparty": {"id": vendor}},
    }
    made = api.post("categorization_rules", body).json()
    held = ["company:read", "transactions:read", "transactions:write", "categories:read"]
    clerk = factories.make_member(acme, "clerk@acme.example", role=Role.EDITOR, permissions=held)
    form = {"name": "y", "category": f"{hosting}:cogs", "enabled": "on"}
    assert InboxPage(acme, sign_in_browser(clerk, acme).client).post(f"rules/{made['id']}", **form).status_code == 303
    changed = api.get(f"categorization_rules/{made['id']}").json()
    assert (changed["name"], changed["conditions"], changed["action"]) == ("y", made["conditions"], made["action"])
    assert Company.objects.filter(id=acme.id).exists()
