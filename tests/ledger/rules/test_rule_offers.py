"""After a transaction is categorized, a rule for similar transactions is offered, on pages and in the API."""

import re

import pytest

from ledger.models import Categorization
from tests.ledger.conftest import get_page_text
from tests.ledger.inbox.test_inbox_pages import InboxPage, book_categorized, inbox_page

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]
assert inbox_page  # a fixture
OFFER_TEXT = "Always categorize “Nimbus Ltd” this way? Create rule"


@pytest.fixture
def transaction_id(books, bank):
    return books.create_transaction(bank, "-12.00", fromTo="Nimbus Ltd")["id"]


@pytest.fixture
def categorize_on_page(inbox_page, transaction_id, hosting):
    """Categorize the transaction on one of the pages; return the page that follows."""

    def categorize(where):
        match where:
            case "inbox":
                answer = inbox_page.post("inbox", act="accept", id=transaction_id, category=f"{hosting}:cogs")
            case "list":
                answer = inbox_page.post(
                    "transactions", act="categorize", id=transaction_id, category=f"{hosting}:cogs"
                )
            case "one":
                part = {"category-0": f"{hosting}:cogs", "amount-0": "-12.00"}
                answer = inbox_page.post(f"transactions/{transaction_id}/split", **part)
        assert answer.status_code == 303
        return inbox_page.client.get(answer["Location"].partition("#")[0])

    return categorize


@pytest.mark.parametrize("where", ["inbox", "list", "one"])
def test_rule_is_offered_after_categorizing_on_every_page(
    inbox_page, transaction_id, hosting, categorize_on_page, where
):
    page = categorize_on_page(where)
    assert OFFER_TEXT in get_page_text(page)
    form = inbox_page.client.get(re.search(r'href="([^"]+rules/new\?transaction=[^"]+)"', page.content.decode())[1])
    assert re.search(rf'value="{hosting}:cogs" selected', form.content.decode())
    assert "Matches 1 transaction" in get_page_text(form)


@pytest.mark.parametrize("where", ["inbox", "list", "one"])
def test_rule_contradicting_earlier_categories_is_not_offered(api, books, bank, office, categorize_on_page, where):
    book_categorized(api, books, bank, office, fromTo="nimbus ltd")
    assert "Always categorize “" not in get_page_text(categorize_on_page(where))


def test_rule_already_existing_is_not_offered(inbox_page, books, bank, hosting, transaction_id, categorize_on_page):
    form = {"name": "x", "textOperator": "contains", "textValue": "nimbus", "enabled": "on"}
    assert inbox_page.post("rules/new", **form, category=f"{hosting}:cogs").status_code == 303
    assert "Always categorize “" not in get_page_text(categorize_on_page("inbox"))


def test_rule_offer_compares_texts_if_names_are_missing(api, books, bank, inbox_page, hosting, office):
    first = books.create_transaction(bank, "-1.00", description="Parking 17")["id"]
    inbox_page.post("transactions", act="categorize", id=first, category=f"{hosting}:cogs")
    assert "Always categorize “Parking 17” this way?" in get_page_text(inbox_page.get("inbox", said=first))
    book_categorized(api, books, bank, office, description="Parking 18")
    assert "Always categorize “" not in get_page_text(inbox_page.get("inbox", said=first))


def test_rule_offer_for_several_transactions_requires_the_same_name(books, bank, inbox_page, transaction_id, hosting):
    ids = [transaction_id, books.create_transaction(bank, "-13.00", fromTo="NIMBUS LTD")["id"]]
    answer = inbox_page.post("transactions", act="categorize", id=ids, category=f"{hosting}:cogs")
    assert "Always categorize “N" in get_page_text(inbox_page.client.get(answer["Location"]))
    ids.append(books.create_transaction(bank, "-13.00", fromTo="Cumulus")["id"])
    answer = inbox_page.post("transactions", act="categorize", id=ids, category=f"{hosting}:cogs")
    assert "Always categorize “" not in get_page_text(inbox_page.client.get(answer["Location"]))


def test_readers_get_no_rule_offer(books, inbox_page, transaction_id, sign_in_browser, bob, acme, categorize_on_page):
    categorize_on_page("inbox")
    assert "Always categorize “" not in get_page_text(
        InboxPage(acme, sign_in_browser(bob, acme).client).get("inbox", said=transaction_id)
    )


def test_broad_rule_form_selects_chosen_category_and_lists_conflicts(
    api, books, bank, inbox_page, hosting, office, transaction_id
):
    book_categorized(api, books, bank, office, times=3, fromTo="Nimbus Ltd")
    said_otherwise = (
        "The rule also matches transactions with another category. Narrow the text or amount before you save:"
    )
    inbox_page.post("transactions", act="categorize", id=transaction_id, category=f"{hosting}:cogs")
    form = inbox_page.get("rules/new", transaction=transaction_id)
    assert form.status_code == 200
    assert said_otherwise in get_page_text(form)
    assert re.search(rf'value="{hosting}:cogs" selected', form.content.decode())
    assert (
        f'href="{inbox_page.base}/transactions/{transaction_id}"'
        not in form.content.decode().partition(said_otherwise)[2][:2000]
    )


def test_rule_form_for_split_transaction_asks_for_a_category(books, inbox_page, transaction_id, hosting, office):
    books.set_categorizations(
        transaction_id, {"categoryId": hosting, "plSplit": {"cogs": -4}}, {"categoryId": office, "plSplit": {"ga": -8}}
    )
    form = inbox_page.get("rules/new", transaction=transaction_id)
    assert "The transaction is split. Select the category for the rule." in get_page_text(form)
    assert not re.search(r'value="[^"]+:\w+" selected', form.content.decode())


def request_rule_offer(api, transaction_id):
    return api.post("categorization_rules/from_transaction", {"transactionId": transaction_id})


def test_rule_is_offered_from_categorized_transaction(api, books, bank, hosting):
    vendor = api.post("counterparties", {"type": "vendor", "name": "Nimbus"}).json()["id"]
    row = books.create_transaction(bank, "-119.00", fromTo="Nimbus  Ltd", description="Invoice 7")["id"]
    waits = books.create_transaction(bank, "-50.00", fromTo="nimbus ltd")["id"]
    books.set_categorizations(
        row,
        {
            "categoryId": hosting,
            "plSplit": {"cogs": -100},
            "passThroughTax": -19,
            "counterparty": {"type": "vendor", "id": vendor},
            "usingDateRule": {"type": "month"},
        },
    )
    answer = request_rule_offer(api, row)
    assert answer.status_code == 200, answer.content
    rule, preview = answer.json()["rule"], answer.json()["preview"]
    conditions = {name: value for name, value in rule["conditions"].items() if value is not None}
    assert conditions == {"fromTo": {"operator": "equals", "value": "Nimbus Ltd"}, "direction": "out"}
    assert rule["action"] == {
        "categoryId": hosting,
        "plType": "cogs",
        "counterparty": {"type": "vendor", "id": vendor},
        "counterpartyFrom": None,
        "usingDateRule": {"type": "month", "startDate": None, "endDate": None, "invoiceDate": None},
        "servicePeriod": None,
        "passThroughTaxPercent": 19,
        "splits": [],
    }
    assert (preview["matched"], preview["changed"]) == (2, 1)
    assert api.get("categorization_rules").json() == []
    made = api.post("categorization_rules", rule).json()["id"]
    api.post("categorization_rules/apply", {"selection": {"mode": "ids", "ids": [row, waits]}})
    assert [part["sourceNote"] for part in books.list_categorizations(waits)] == [f"rule:{made}"]


def test_rule_offer_without_name_uses_common_start_of_text(api, books, bank, create_history, hosting):
    (row,) = create_history(hosting, name="", description="Card payment AMZN 4711 Berlin")
    conditions = request_rule_offer(api, row).json()["rule"]["conditions"]
    assert conditions["description"] == {"operator": "startsWith", "value": "Card payment AMZN"}


def test_rule_offer_contradicting_history_is_rejected(api, books, bank, create_history, hosting):
    support = books.get_category_id("support")
    (row,), (other,) = create_history(hosting), create_history(support, name="NIMBUS LTD")
    answer = request_rule_offer(api, row)
    assert (answer.status_code, answer.json()["code"]) == (409, "rule_too_broad")
    assert answer.json()["counterExamples"] == [{"transactionId": other, "categoryId": support}]


def test_open_and_split_transactions_get_no_rule_offer(api, books, bank, hosting):
    row = books.create_transaction(bank, "-10.00", fromTo="x")["id"]
    assert (request_rule_offer(api, row).status_code, request_rule_offer(api, row).json()["code"]) == (
        409,
        "nothing_to_learn",
    )
    support = books.get_category_id("support")
    parts = [{"categoryId": each, "plSplit": {"cogs": -5}} for each in (hosting, support)]
    books.set_categorizations(row, *parts)
    assert request_rule_offer(api, row).json()["code"] == "nothing_to_learn"
    assert request_rule_offer(api, "x").json()["errors"][0]["code"] == "unknown_id"
    assert Categorization.objects.filter(transaction=row).count() == 2
