"""After somebody has said what a transaction was for, a rule is offered that says it of all that is like it."""

import re

import pytest

from tests.ledger.conftest import get_page_text
from tests.ledger.inbox.test_inbox_pages import InboxPage, book_categorized, site

pytestmark = pytest.mark.django_db
assert site  # a fixture
OFFER_TEXT = "Always categorize “Nimbus Ltd” this way? Create rule"


@pytest.fixture
def row(books, bank):
    return books.book(bank, "-12.00", fromTo="Nimbus Ltd")["id"]


@pytest.fixture
def done(site, row, hosting):
    """Says what the row was for at each place, and answers the page behind it."""

    def categorize(where):
        match where:
            case "inbox":
                answer = site.post("inbox", act="accept", id=row, category=f"{hosting}:cogs")
            case "list":
                answer = site.post("transactions", act="categorize", id=row, category=f"{hosting}:cogs")
            case "one":
                part = {"category-0": f"{hosting}:cogs", "amount-0": "-12.00"}
                answer = site.post(f"transactions/{row}/split", **part)
        assert answer.status_code == 303
        return site.client.get(answer["Location"].partition("#")[0])

    return categorize


@pytest.mark.parametrize("where", ["inbox", "list", "one"])
def test_rule_is_offered_after_categorizing_on_every_page(site, row, hosting, done, where):
    page = done(where)
    assert OFFER_TEXT in get_page_text(page)
    form = site.client.get(re.search(r'href="([^"]+rules/new\?transaction=[^"]+)"', page.content.decode())[1])
    assert re.search(rf'value="{hosting}:cogs" selected', form.content.decode())
    assert "Matches 1 transaction" in get_page_text(form)


@pytest.mark.parametrize("where", ["inbox", "list", "one"])
def test_rule_contradicting_earlier_categories_is_not_offered(api, books, bank, office, done, where):
    book_categorized(api, books, bank, office, fromTo="nimbus ltd")
    assert "Always categorize “" not in get_page_text(done(where))


def test_rule_already_existing_is_not_offered(site, books, bank, hosting, row, done):
    form = {"name": "x", "textOperator": "contains", "textValue": "nimbus", "enabled": "on"}
    assert site.post("rules/new", **form, category=f"{hosting}:cogs").status_code == 303
    assert "Always categorize “" not in get_page_text(done("inbox"))


def test_rule_offer_compares_texts_if_names_are_missing(api, books, bank, site, hosting, office):
    first = books.book(bank, "-1.00", description="Parking 17")["id"]
    site.post("transactions", act="categorize", id=first, category=f"{hosting}:cogs")
    assert "Always categorize “Parking 17” this way?" in get_page_text(site.get("inbox", said=first))
    book_categorized(api, books, bank, office, description="Parking 18")
    assert "Always categorize “" not in get_page_text(site.get("inbox", said=first))


def test_rule_offer_for_several_transactions_requires_the_same_name(books, bank, site, row, hosting):
    ids = [row, books.book(bank, "-13.00", fromTo="NIMBUS LTD")["id"]]
    answer = site.post("transactions", act="categorize", id=ids, category=f"{hosting}:cogs")
    assert "Always categorize “N" in get_page_text(site.client.get(answer["Location"]))
    ids.append(books.book(bank, "-13.00", fromTo="Cumulus")["id"])
    answer = site.post("transactions", act="categorize", id=ids, category=f"{hosting}:cogs")
    assert "Always categorize “" not in get_page_text(site.client.get(answer["Location"]))


def test_readers_get_no_rule_offer(books, site, row, browser_of, bob, acme, done):
    done("inbox")
    assert "Always categorize “" not in get_page_text(
        InboxPage(acme, browser_of(bob, acme).client).get("inbox", said=row)
    )


def test_broad_rule_form_selects_chosen_category_and_lists_conflicts(api, books, bank, site, hosting, office, row):
    book_categorized(api, books, bank, office, times=3, fromTo="Nimbus Ltd")
    said_otherwise = (
        "The rule also matches transactions with another category. Narrow the text or amount before you save:"
    )
    site.post("transactions", act="categorize", id=row, category=f"{hosting}:cogs")
    form = site.get("rules/new", transaction=row)
    assert form.status_code == 200
    assert said_otherwise in get_page_text(form)
    assert re.search(rf'value="{hosting}:cogs" selected', form.content.decode())
    assert f'href="{site.base}/transactions/{row}"' not in form.content.decode().partition(said_otherwise)[2][:2000]


def test_rule_form_for_split_transaction_asks_for_a_category(books, site, row, hosting, office):
    books.split(row, {"categoryId": hosting, "plSplit": {"cogs": -4}}, {"categoryId": office, "plSplit": {"ga": -8}})
    form = site.get("rules/new", transaction=row)
    assert "The transaction is split. Select the category for the rule." in get_page_text(form)
    assert not re.search(r'value="[^"]+:\w+" selected', form.content.decode())
