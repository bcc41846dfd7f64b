"""The page that creates rules for many counterparties at once, and its undo."""

import re

import pytest

from companies.models import AuditEntry
from ledger.rules.actions import suggested_rules as actions
from ledger.rules.pages import suggested_rules as pages
from tests.ledger.conftest import get_page_text
from tests.ledger.inbox.test_inbox_pages import InboxPage, book_categorized, inbox_page

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]
assert inbox_page  # a fixture
TICK_PATTERN = re.compile(r'name="suggestion" value="([^"]+)"( checked)?')


@pytest.fixture
def counterparties(api, books, bank, hosting):
    """Nimbus was categorized twice, Cumulus once."""
    book_categorized(api, books, bank, hosting, times=2, fromTo="Nimbus Ltd")
    book_categorized(api, books, bank, hosting, fromTo="Cumulus GmbH")


def list_suggestions(inbox_page):
    """Return {name: (form value, ticked)} of the page."""
    shown = inbox_page.get("rules/suggested")
    assert shown.status_code == 200
    return {
        value.partition(" ")[2]: (value, bool(ticked)) for value, ticked in TICK_PATTERN.findall(shown.content.decode())
    }


def list_rule_names(api):
    return [rule["name"] for rule in api.get("categorization_rules").json()]


def test_page_lists_suggestions_with_repeated_ones_selected(inbox_page, books, bank, counterparties):
    books.create_transaction(bank, fromTo="Cumulus GmbH")
    page = get_page_text(inbox_page.get("rules/suggested"))
    assert "Nimbus Ltd From / to is “Nimbus Ltd”, money out Hosting 2 1 0" in page
    assert "Cumulus GmbH From / to is “Cumulus GmbH”, money out Hosting 1 1 1" in page
    assert {name: ticked for name, (_, ticked) in list_suggestions(inbox_page).items()} == {
        "Nimbus Ltd": True,
        "Cumulus GmbH": False,
    }


def test_selected_rules_are_created_at_once_and_undone_in_one_step(inbox_page, api, acme, counterparties):
    values = [value for value, _ in list_suggestions(inbox_page).values()]
    answer = inbox_page.post("rules/suggested", suggestion=values)
    assert (answer.status_code, list_rule_names(api)) == (303, ["Nimbus Ltd", "Cumulus GmbH"])
    (entry,) = AuditEntry.objects.for_company(acme.id).filter(action__startswith="categorizationRule")
    assert entry.action == "categorizationRules.created"
    assert entry.after["names"] == ["Nimbus Ltd", "Cumulus GmbH"]
    page = inbox_page.client.get(answer["Location"])
    assert "2 rules created." in get_page_text(page)
    undone = inbox_page.client.post(re.search(r'action="([^"]+/created/[^"]+/undo)"', page.content.decode())[1])
    assert "2 rules deleted." in get_page_text(inbox_page.client.get(undone["Location"]))
    assert list_rule_names(api) == []
    assert set(list_suggestions(inbox_page)) == {"Nimbus Ltd", "Cumulus GmbH"}
    assert "Rules deleted (2)" in get_page_text(inbox_page.get("settings/activity"))


def test_created_rules_can_categorize_open_transactions_in_a_run(inbox_page, api, books, bank, hosting, counterparties):
    row = books.create_transaction(bank, fromTo="Nimbus Ltd")["id"]
    value, _ = list_suggestions(inbox_page)["Nimbus Ltd"]
    assert inbox_page.post("rules/suggested", suggestion=value).status_code == 303
    assert books.list_categorizations(row) == []
    api.delete(f"categorization_rules/{api.get('categorization_rules').json()[0]['id']}")
    answer = inbox_page.post("rules/suggested", suggestion=value, apply="1")
    assert [part["categoryId"] for part in books.list_categorizations(row)] == [hosting]
    page = inbox_page.client.get(answer["Location"])
    assert "1 transaction categorized." in get_page_text(page)
    inbox_page.client.post(re.search(r'action="([^"]+/runs/[^"]+/undo)"', page.content.decode())[1])
    assert books.list_categorizations(row) == []


def test_rules_are_created_after_existing_ones(inbox_page, api, hosting, counterparties):
    text = {"text": {"operator": "contains", "value": "other"}}
    rule = {"name": "First", "order": 7, "conditions": text, "action": {"categoryId": hosting, "plType": "cogs"}}
    assert api.post("categorization_rules", rule).status_code == 201
    inbox_page.post("rules/suggested", suggestion=[value for value, _ in list_suggestions(inbox_page).values()])
    orders = [(rule["name"], rule["order"]) for rule in api.get("categorization_rules").json()]
    assert orders == [("First", 7), ("Nimbus Ltd", 8), ("Cumulus GmbH", 9)]


def test_rules_created_meanwhile_are_skipped_and_named(inbox_page, api, counterparties):
    values = [value for value, _ in list_suggestions(inbox_page).values()]
    assert inbox_page.post("rules/suggested", suggestion=values[:1]).status_code == 303
    answer = inbox_page.post("rules/suggested", suggestion=values)
    text = get_page_text(inbox_page.client.get(answer["Location"]))
    assert "1 rule created." in text
    assert "Not created, because rules or categories changed in the meantime: Nimbus Ltd." in text
    assert list_rule_names(api) == ["Nimbus Ltd", "Cumulus GmbH"]
    again = inbox_page.post("rules/suggested", suggestion=values)
    assert again.status_code == 400
    assert "in the meantime: Nimbus Ltd and Cumulus GmbH." in get_page_text(again)


def test_suggestion_with_another_category_meanwhile_is_skipped(inbox_page, api, books, bank, office, counterparties):
    value, _ = list_suggestions(inbox_page)["Cumulus GmbH"]
    row = next(row["id"] for row in api.get("transactions").json() if row["fromTo"] == "Cumulus GmbH")
    books.set_categorizations(row, {"categoryId": office, "plSplit": {"ga": -100}})
    assert inbox_page.post("rules/suggested", suggestion=value).status_code == 400
    assert list_rule_names(api) == []


def test_undo_keeps_rules_changed_since(inbox_page, api, counterparties):
    answer = inbox_page.post(
        "rules/suggested", suggestion=[value for value, _ in list_suggestions(inbox_page).values()]
    )
    undo_url = re.search(
        r'action="([^"]+/created/[^"]+/undo)"', inbox_page.client.get(answer["Location"]).content.decode()
    )[1]
    rule, other = api.get("categorization_rules").json()
    assert api.put(f"categorization_rules/{rule['id']}", {"name": "Servers"}).status_code == 200
    order = [other["id"], rule["id"]]  # which is of all rules
    assert api.put("categorization_rules/order", {"ids": order}).status_code in (200, 204)
    text = get_page_text(inbox_page.client.get(inbox_page.client.post(undo_url)["Location"]))
    assert "1 rule deleted. 1 rule was changed since and stays." in text
    assert list_rule_names(api) == ["Servers"]
    api.delete(f"categorization_rules/{rule['id']}")
    assert "Already undone." in get_page_text(inbox_page.client.get(inbox_page.client.post(undo_url)["Location"]))
    unknown_url = re.sub(r"created/[^/]+/", "created/01a2222a-5c97-74f6-a8c6-99ff44ec0c0e/", undo_url)
    assert inbox_page.client.post(unknown_url).status_code == 404


def test_nothing_or_too_much_selected_is_refused(monkeypatch, inbox_page, api, counterparties):
    values = [value for value, _ in list_suggestions(inbox_page).values()]
    refused = inbox_page.post("rules/suggested")
    assert (refused.status_code, "Select at least one rule." in get_page_text(refused)) == (400, True)
    monkeypatch.setattr(pages, "MAX_CREATED", 1)
    refused = inbox_page.post("rules/suggested", suggestion=values)
    assert "Select at most 1 rules at once." in get_page_text(refused)
    assert refused.content.decode().count(" checked") == 2, "the selection stays"
    monkeypatch.setattr(pages, "MAX_CREATED", 200)
    monkeypatch.setattr(actions, "MAX_RULES", 1)
    refused = inbox_page.post("rules/suggested", suggestion=values)
    assert (refused.status_code, list_rule_names(api)) == (400, [])


def test_readers_see_suggestions_without_form(inbox_page, sign_in_browser, bob, acme, counterparties):
    reader = InboxPage(acme, sign_in_browser(bob, acme).client)
    page = reader.get("rules/suggested")
    assert "Nimbus Ltd" in get_page_text(page)
    assert 'name="suggestion"' not in page.content.decode()
    assert reader.post("rules/suggested", suggestion="x").status_code == 403


def test_rules_page_empty_inbox_and_groups_link_to_the_page(inbox_page, api, books, bank, hosting, counterparties):
    link = f'href="{inbox_page.base}/rules/suggested"'
    assert link in inbox_page.get("rules").content.decode()
    assert link in inbox_page.get("inbox").content.decode()
    assert link in inbox_page.get("inbox/groups").content.decode()
    row = books.create_transaction(bank, fromTo="Nimbus Ltd")["id"]
    other = books.create_transaction(bank, fromTo="Stratus")["id"]
    assert other
    assert link not in inbox_page.get("inbox").content.decode()
    assert link not in inbox_page.get("inbox/groups").content.decode()
    version = re.search(rf'value="({row} [^"]+)"', inbox_page.get("inbox/groups").content.decode())[1]
    answer = inbox_page.post("inbox/groups", act="categorize", transaction=version, category=f"{hosting}:cogs")
    assert answer.status_code == 303
    assert link in inbox_page.client.get(answer["Location"].partition("#")[0]).content.decode()


def test_page_without_suggestions_says_when_there_are_some(inbox_page):
    assert "No rules to suggest" in get_page_text(inbox_page.get("rules/suggested"))


def test_created_rules_categorize_the_next_import_which_says_so(inbox_page, books, bank, hosting, counterparties):
    inbox_page.post("rules/suggested", suggestion=[value for value, _ in list_suggestions(inbox_page).values()])
    names = ("Nimbus Ltd", "Cumulus GmbH", "Somebody new")
    rows = ({"fromTo": name, "amountValue": f"-{n}.00"} for n, name in enumerate(names, 1))
    ids = books.import_transactions(bank, *rows, date="2026-04-15")
    categories = [[part["categoryId"] for part in books.list_categorizations(each)] for each in ids]
    assert categories == [[hosting], [hosting], []]
    page = inbox_page.get("imports")
    assert "Categorized by rules: 2" in get_page_text(page)
    link = re.search(r'href="([^"]+assignedBy=rule)"', page.content.decode())[1].replace("&amp;", "&")
    listed = get_page_text(inbox_page.client.get(link))
    assert all(name in listed for name in names[:2])
    assert "Somebody new" not in listed
