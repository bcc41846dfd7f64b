"""Who sends a form that somebody overtook is told by whom, and what is there now; and what a split leaves open."""

import re

import pytest

from tests.ledger.conftest import get_page_text
from tests.ledger.inbox.test_inbox_pages import inbox_page
from tests.ledger.transactions.test_detail_pages import build_split_form

pytestmark = pytest.mark.django_db
assert inbox_page  # a fixture


def find_seen_value(page):
    return re.search(r'name="seen" value="([^"]+)"', page.content.decode())[1]


def test_transaction_edit_conflict_names_editor_and_current_values(api, books, bank, inbox_page):
    row = books.create_transaction(bank, "-12.00", fromTo="Nimbus")["id"]
    seen = find_seen_value(inbox_page.get(f"transactions/{row}/edit"))
    assert api.put(f"transactions/{row}", {"fromTo": "Cumulus", "amountValue": "-13.00"}).status_code == 200
    form = {"seen": seen, "accountId": bank, "date": "2026-03-15", "amountValue": "-12.00", "amountCurrency": "EUR"}
    page = inbox_page.post(f"transactions/{row}/edit", **form, fromTo="Stratus", description="", notes="")
    page_text = get_page_text(page)
    assert "API key “test” has changed “Cumulus” in the meantime. Your change was not saved." in page_text
    assert "Current values: amount −€13.00 and from / to Cumulus." in page_text
    assert books.get_transaction(row)["fromTo"] == "Cumulus"


def test_rule_edit_conflict_names_editor_and_current_rule(api, inbox_page, hosting):
    body = {"name": "Nimbus", "conditions": {"text": {"operator": "contains", "value": "nimbus"}}}
    rule = api.post("categorization_rules", body | {"action": {"categoryId": hosting}}).json()["id"]
    seen = find_seen_value(inbox_page.get(f"rules/{rule}"))
    other = {"conditions": {"text": {"operator": "contains", "value": "cumulus"}}, "action": {"categoryId": hosting}}
    assert api.put(f"categorization_rules/{rule}", {"name": "Cumulus"} | other).status_code == 200
    form = {"seen": seen, "name": "Stratus", "textOperator": "contains", "textValue": "stratus", "enabled": "on"}
    page_text = get_page_text(
        inbox_page.post(f"rules/{rule}", **form, category=f"{hosting}:cogs", dateRule="transactionDate")
    )
    assert "API key “test” has changed the rule in the meantime: “Cumulus”, " in page_text
    assert "“cumulus” → " in page_text


def test_inbox_conflict_links_to_changed_transaction(books, bank, inbox_page, hosting):
    row = books.create_transaction(bank, "-12.00", fromTo="Nimbus")["id"]
    seen = find_seen_value(inbox_page.get("inbox"))
    books.set_categorizations(row, {"categoryId": hosting, "plSplit": {"cogs": -12}})
    page = inbox_page.post("inbox", act="accept", id=row, seen=seen, category=f"{hosting}:cogs")
    assert re.search(
        rf'role="alert".*<a\s+href="[^"]+/transactions/{row}">View transaction</a>', page.content.decode(), re.DOTALL
    )


def test_partial_split_reports_open_amount(books, bank, inbox_page, hosting):
    row = books.create_transaction(bank, "-250.00", fromTo="Nimbus")["id"]
    page = inbox_page.get(f"transactions/{row}/split")
    assert len(re.findall(r"<select[^>]*\sautofocus", page.content.decode())) == 1
    form = build_split_form({"category": f"{hosting}:cogs", "amount": "-238"})
    answer = inbox_page.client.post(f"{inbox_page.base}/transactions/{row}/split?from=inbox", form, follow=True)
    assert "Categorizations saved. −€12.00 is uncategorized." in get_page_text(answer)
    assert "−€12.00 of −€250.00" in get_page_text(answer)


def test_empty_split_form_is_rejected_and_keeps_categorizations(books, bank, inbox_page, hosting):
    row = books.create_transaction(bank, "-250.00", fromTo="Nimbus")["id"]
    books.set_categorizations(row, {"categoryId": hosting, "plSplit": {"cogs": -250}})
    answer = inbox_page.post(f"transactions/{row}/split")
    assert answer.status_code == 400
    assert "The form could not be read. Nothing was saved." in get_page_text(answer)
    assert len(books.get_transaction(row)["categorizations"]) == 1
