"""Rules on pages: what is too broad is asked about before it is kept, and the list tells all that a rule gives."""

import pytest

from tests.ledger.conftest import get_page_text
from tests.ledger.inbox.test_inbox_pages import inbox_page

pytestmark = pytest.mark.django_db
assert inbox_page  # a fixture
BROAD_RULE_QUESTION = (
    "The rule also matches transactions with another category. Narrow the text or amount before you save:"
)


@pytest.fixture
def rule_form(hosting):
    base = {"name": "Nimbus", "enabled": "on", "fromToOperator": "equals", "fromToValue": "Nimbus Ltd"}
    return base | {"category": f"{hosting}:cogs", "dateRule": "transactionDate"}


@pytest.fixture
def split_transaction_id(books, bank):
    """The id of a transaction with two categorizations."""
    row = books.create_transaction(bank, "-12.00", fromTo="Nimbus Ltd")["id"]
    support = books.get_category_id("support")
    parts = [{"categoryId": support, "plSplit": {"cogs": -value}} for value in (5, 7)]
    assert books.set_categorizations(row, *parts).status_code == 200
    return row


def test_too_broad_rule_is_saved_only_after_confirmation(
    api, books, bank, split_transaction_id, hosting, inbox_page, rule_form
):
    row = books.create_transaction(bank, "-12.00", fromTo="Nimbus Ltd")["id"]
    books.set_categorizations(row, {"categoryId": hosting, "plSplit": {"cogs": -12}})
    address = f"{inbox_page.base}/rules/new?transaction={row}"
    page = inbox_page.client.get(address)
    assert BROAD_RULE_QUESTION in get_page_text(page)
    assert page.content.decode().count(f"/transactions/{split_transaction_id}") == 1, "a split one is told once"
    again = inbox_page.client.post(address, rule_form)
    assert BROAD_RULE_QUESTION in get_page_text(again)
    assert "Save anyway" in get_page_text(again)
    assert api.get("categorization_rules").json() == []
    assert inbox_page.client.post(address, rule_form | {"anyway": "1"}).status_code == 303
    assert len(api.get("categorization_rules").json()) == 1


def test_narrowed_rule_is_saved_without_confirmation(api, books, bank, split_transaction_id, inbox_page, rule_form):
    row = books.create_transaction(bank, "-20.00", fromTo="Nimbus Ltd")["id"]
    answer = inbox_page.client.post(f"{inbox_page.base}/rules/new?transaction={row}", rule_form | {"minAmount": "15"})
    assert (answer.status_code, len(api.get("categorization_rules").json())) == (303, 1)


def test_rule_page_without_rules_says_so(inbox_page):
    page = get_page_text(inbox_page.client.get(f"{inbox_page.base}/rules"))
    assert "No rules yet" in page
    assert "No planned transactions yet" not in page


@pytest.mark.parametrize(("tax", "percent"), [("19", "19"), ("19 %", "19"), ("5,5%", "5.5"), ("7.0 %", "7")])
def test_rule_list_shows_tax(inbox_page, rule_form, tax, percent):
    assert inbox_page.client.post(f"{inbox_page.base}/rules/new", rule_form | {"tax": tax}).status_code == 303
    assert f"{percent} % tax" in get_page_text(inbox_page.get("rules"))


@pytest.mark.parametrize(
    ("tax", "message"),
    [("much", "Enter a percentage, such as 19 %."), ("101 %", "Must be more than 0% and at most 100%.")],
)
def test_rule_refuses_tax_that_is_no_percentage(inbox_page, rule_form, tax, message):
    refused = inbox_page.client.post(f"{inbox_page.base}/rules/new", rule_form | {"tax": tax})
    assert refused.status_code == 400
    assert message in get_page_text(refused)


def test_initial_balance_is_not_listed_as_assigned_by_person(api, books, bank, hosting):
    row = books.create_transaction(bank, "-12.00")["id"]
    books.set_categorizations(row, {"categoryId": hosting, "plSplit": {"cogs": -12}})
    api.put(f"accounts/{bank}/initial_balance", {"date": "2026-01-01", "amountValue": "90.00"})
    assert [each["id"] for each in api.get("transactions", {"assignedBy": "person"}).json()] == [row]


def test_rule_form_saves_splits_service_period_and_counterparty(api, books, hosting, inbox_page, rule_form):
    office = books.get_category_id("officeAndAdmin")
    more = {
        "splitCategory-2": f"{office}:ga", "splitShare-2": "30 %", "splitCategory-3": f"{hosting}:cogs",
        "splitShare-3": "12.50", "serviceMonths": "12", "serviceStart": "nextMonth", "counterpartyFrom": "on",
    }  # fmt: skip
    assert inbox_page.client.post(f"{inbox_page.base}/rules/new", rule_form | more).status_code == 303
    (rule,) = api.get("categorization_rules").json()
    assert rule["action"] == {
        "categoryId": hosting, "plType": "cogs", "counterparty": None, "counterpartyFrom": "fromTo",
        "usingDateRule": {"type": "transactionDate", "startDate": None, "endDate": None, "invoiceDate": None},
        "servicePeriod": {"months": 12, "start": "nextMonth"}, "passThroughTaxPercent": None,
        "splits": [
            {"categoryId": office, "plType": "ga", "percent": 30, "amountValue": None},
            {"categoryId": hosting, "plType": "cogs", "percent": None, "amountValue": "12.50"},
        ],
    }  # fmt: skip
    listed = get_page_text(inbox_page.get("rules"))
    assert "30 % to Office and administration, 12.5 to Hosting" in listed
    assert "12 months from the month after payment" in listed
    assert "counterparty from From / to" in listed
    form = inbox_page.get(f"rules/{rule['id']}").content.decode()
    assert 'name="splitShare-1" class="number" value="30 %"' in form
    assert 'name="splitShare-2" class="number" value="12.5"' in form
    assert 'name="splitCategory-4"' in form


def test_rule_form_shows_what_is_wrong_with_a_split(books, hosting, inbox_page, rule_form):
    for values, message in [
        ({"splitShare-1": "30 %"}, "Choose a category."),
        ({"splitShare-1": "130 %"}, "Must be more than 0% and at most 100%."),
        ({"splitShare-1": "much"}, "Enter an amount such as"),
        ({}, "Enter a percentage or an amount."),
        ({"serviceMonths": "many"}, "Enter a whole number."),
    ]:
        category = {} if message == "Choose a category." else {"splitCategory-1": f"{hosting}:cogs"}
        if "serviceMonths" in values:
            category["splitShare-1"] = "1 %"
        answer = inbox_page.client.post(f"{inbox_page.base}/rules/new", rule_form | category | values)
        assert (answer.status_code, message in get_page_text(answer)) == (400, True), values
