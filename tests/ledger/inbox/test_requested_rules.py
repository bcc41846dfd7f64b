"""Categorizing with the box "Also from now on": the rules that are created with it, and their undo."""

import re
from urllib.parse import urlencode

import pytest

from tests.ledger.conftest import get_page_text
from tests.ledger.inbox.test_groups import list_forms
from tests.ledger.inbox.test_inbox_pages import InboxPage, book_categorized, inbox_page

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]
assert inbox_page  # a fixture


@pytest.fixture
def accept(inbox_page, hosting):
    """Categorize a transaction as Hosting with the box; return the page that follows."""

    def accept(row_id, **form):
        body = {"act": "accept", "id": row_id, "category": f"{hosting}:cogs", "always": "1"} | form
        return inbox_page.client.post(f"{inbox_page.base}/inbox", body, follow=True)

    return accept


def list_rules(api):
    return [
        (rule["name"], rule["conditions"].get("fromTo"), rule["action"]["categoryId"])
        for rule in api.get("categorization_rules").json()
    ]


def undo(inbox_page, page, path="inbox"):
    (form,) = [each for each in re.findall(r"<form.*?</form>", page.content.decode(), re.DOTALL) if ">Undo<" in each]
    fields = dict(re.findall(r'name="(act|run|created|next)"\s+value="([^"]*)"', form))
    return inbox_page.client.post(f"{inbox_page.base}/{path}", fields, follow=True)


def test_rule_of_the_counterparty_is_created_and_undone_with_the_category(
    inbox_page, accept, api, books, bank, hosting
):
    row = books.create_transaction(bank, "-12.00", fromTo="Nimbus Ltd", description="Rack 7")["id"]
    other = books.create_transaction(bank, "-14.00", fromTo="Nimbus Ltd")["id"]
    assert "Also from now on" in get_page_text(inbox_page.get("inbox"))
    done = accept(row)
    text = get_page_text(done)
    assert "1 transaction categorized. 1 rule created. Undo deletes it too." in text
    assert "Always categorize" not in text
    assert list_rules(api) == [("Nimbus Ltd", {"operator": "equals", "value": "Nimbus Ltd"}, hosting)]
    (rule,) = api.get("categorization_rules").json()
    assert f'href="{inbox_page.base}/rules/{rule["id"]}"' in done.content.decode()
    again = accept(other)
    assert "1 transaction categorized. No rule created: one exists already" in get_page_text(again)
    assert len(list_rules(api)) == 1
    undone = undo(inbox_page, done)
    assert "1 transaction restored. 1 rule deleted." in get_page_text(undone)
    assert (list_rules(api), books.list_categorizations(row)) == ([], [])
    assert len(books.list_categorizations(other)) == 1


def test_no_rule_is_created_without_the_box_or_for_payments_with_several_categories(accept, api, books, bank, office):
    book_categorized(api, books, bank, office, fromTo="Nimbus Ltd", description="Rack 7")
    row = books.create_transaction(bank, fromTo="Nimbus Ltd", description="Rack 8")["id"]
    assert "No rule created:" in get_page_text(accept(row))
    assert "rule created" not in get_page_text(
        accept(books.create_transaction(bank, fromTo="Cumulus")["id"], always="")
    )
    assert list_rules(api) == []


def test_no_rule_of_a_text_is_created_that_matches_a_name_with_another_category(accept, api, books, bank, office):
    book_categorized(api, books, bank, office, fromTo="Adobe", description="ADOBE *CREATIVE CLOUDS 1")
    row = books.create_transaction(bank, description="ADOBE *CREATIVE CLOUD 4711")["id"]
    assert "similar payments have other categories" in get_page_text(accept(row))
    assert list_rules(api) == []


def test_rule_of_a_text_is_created_for_one_payment_without_a_name(accept, api, books, bank):
    row = books.create_transaction(bank, description="ADOBE *CREATIVE CLOUD 4711")["id"]
    assert "1 rule created." in get_page_text(accept(row))
    (rule,) = api.get("categorization_rules").json()
    assert rule["conditions"]["description"] == {"operator": "startsWith", "value": "ADOBE *CREATIVE CLOUD"}


@pytest.mark.parametrize("text", ["Rechnung Nr. 4711", "VISA 1234 REWE", "PayPal 99", "Lastschrift NOTPROVIDED", "A 1"])
def test_no_rule_is_created_for_a_text_that_says_not_for_what(accept, api, books, bank, text):
    row = books.create_transaction(bank, description=text)["id"]
    assert "or the text is too general." in get_page_text(accept(row))
    assert list_rules(api) == []


@pytest.mark.parametrize("field", ["fromTo", "description"])
def test_name_of_a_rule_has_no_direction_marks(accept, api, books, bank, field):
    accept(books.create_transaction(bank, **{field: "\u202eNimbus\u200f Ltd"})["id"])
    assert [name for name, *_ in list_rules(api)] == ["Nimbus  Ltd"]


def test_no_rule_is_created_for_what_somebody_else_categorized_meanwhile(inbox_page, api, books, bank, office):
    ids = [books.create_transaction(bank, fromTo=name)["id"] for name in ("netcup GmbH", "Hetzner Online GmbH")]
    ((_, values, choice),) = list_forms(inbox_page.get("inbox/groups"))
    api.post("transactions/categorize", {"selection": {"mode": "ids", "ids": ids[:1]}, "categoryId": office})
    inbox_page.post("inbox/groups", act="categorize", transaction=values, category=choice, always="1")
    assert [name for name, *_ in list_rules(api)] == ["Hetzner Online GmbH"]


def test_rules_of_a_group_are_created(inbox_page, api, books, bank, hosting):
    for name in ("Hetzner Online GmbH", "netcup GmbH"):
        books.create_transaction(bank, "-12.00", fromTo=name)
    books.create_transaction(bank, "-5.00", fromTo="Somebody")
    ((_, values, choice), (_, others, _)) = list_forms(inbox_page.get("inbox/groups"))
    groups = [
        {"transaction": values, "category": choice, "always": "1"},
        {"transaction": others, "other": f"{hosting}:cogs"},
    ]
    body = {"act": "categorize", "group": [urlencode(group, True) for group in groups]}
    done = inbox_page.client.post(f"{inbox_page.base}/inbox/groups", body, follow=True)
    assert "3 transactions categorized. 2 rules created." in get_page_text(done)
    assert sorted(name for name, *_ in list_rules(api)) == ["Hetzner Online GmbH", "netcup GmbH"]
    assert done.content.decode().count(f'href="{inbox_page.base}/rules/0') == 2
    undone = undo(inbox_page, done, "inbox/groups")
    assert "3 transactions restored. 2 rules deleted." in get_page_text(undone)
    assert list_rules(api) == []


def test_reader_sees_no_box(sign_in_browser, bob, acme, books, bank):
    books.create_transaction(bank, fromTo="Nimbus Ltd")
    reader = InboxPage(acme, sign_in_browser(bob, acme).client)
    for path in ("inbox", "inbox/groups"):
        assert "Also from now on" not in get_page_text(reader.get(path))
