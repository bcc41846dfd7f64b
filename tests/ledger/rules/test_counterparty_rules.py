"""Which rules are suggested for many counterparties at once, and what supports them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.rules.queries import counterparty_rules
from ledger.rules.queries.counterparty_rules import list_counterparty_rules

pytestmark = pytest.mark.django_db


@pytest.fixture
def suggest(acme):
    """List the suggestions as (name, payments, months, open, recommended)."""

    def suggest():
        return [
            (each.rule.name, each.payment_count, each.month_count, each.open_count, each.is_recommended)
            for each in list_counterparty_rules(acme)
        ]

    return suggest


@pytest.fixture
def categorize(books):
    """Categorize a new transaction of a name; return its id."""

    def categorize(account_id, category_id, line="cogs", *, amount="-100.00", day="2026-03-15", **values):
        row_values = {name: values.pop(name) for name in ("fromTo", "description") if name in values}
        row = books.create_transaction(account_id, amount, day, **row_values)["id"]
        net = round(float(amount) - values.get("passThroughTax", 0), 2)
        part = {"categoryId": category_id, "plSplit": {line: net}, **values}
        response = books.set_categorizations(row, part)
        assert response.status_code == 200, response.content
        return row

    return categorize


def test_counterparties_categorized_alike_are_suggested_most_frequent_first(suggest, categorize, books, bank, hosting):
    categorize(bank, hosting, fromTo="Cumulus GmbH")
    for day in ("2026-01-10", "2026-02-10", "2026-02-20"):
        categorize(bank, hosting, fromTo="Nimbus Ltd", day=day)
    categorize(bank, hosting, fromTo="NIMBUS  LTD", day="2026-03-10")
    books.import_transactions(bank, {"fromTo": "Nimbus Ltd"}, {"fromTo": "nimbus ltd"}, {"fromTo": "Someone"})
    assert suggest() == [("NIMBUS  LTD", 4, 3, 2, True), ("Cumulus GmbH", 1, 1, 0, False)]


def test_suggestion_has_condition_category_counterparty_and_tax(acme, api, categorize, bank, hosting):
    vendor = api.post("counterparties", {"type": "vendor", "name": "Nimbus Ltd"}).json()
    categorize(
        bank, hosting, fromTo="Nimbus Ltd", amount="-119.00", counterparty={"id": vendor["id"]}, passThroughTax=-19
    )
    categorize(
        bank, hosting, fromTo="Nimbus Ltd", amount="-0.99", counterparty={"id": vendor["id"]}, passThroughTax=-0.16
    )
    (suggestion,) = list_counterparty_rules(acme)
    rule = suggestion.rule
    assert (rule.from_to_operator, rule.from_to_value, rule.direction) == ("equals", "Nimbus Ltd", "out")
    assert (str(rule.category_id), rule.pl_type, str(rule.given_counterparty_id)) == (hosting, "cogs", vendor["id"])
    assert rule.pass_through_tax_percent == 19


@pytest.mark.parametrize(
    "second",
    [
        pytest.param({"category": "support"}, id="another category"),
        pytest.param({"category": "officeAndAdmin", "line": "ga"}, id="another line"),
        pytest.param({"passThroughTax": -15.97}, id="another tax rate"),
        pytest.param({"usingDateRule": {"type": "month"}}, id="another date rule"),
        pytest.param(
            {"usingDateRule": {"type": "servicePeriod", "startDate": "2026-03-01", "endDate": "2027-02-28"}},
            id="service period",
        ),
        pytest.param({"category": "transfer", "line": "neutral"}, id="transfer"),
    ],
)
def test_counterparty_categorized_in_different_ways_is_not_suggested(suggest, categorize, books, bank, hosting, second):
    categorize(bank, hosting, fromTo="Nimbus Ltd", description="Rack A")
    assert [name for name, *_ in suggest()] == ["Nimbus Ltd"]
    category = books.get_category_id(second.pop("category", "hosting"))
    categorize(bank, category, second.pop("line", "cogs"), fromTo="Nimbus Ltd", description="Rack B", **second)
    assert suggest() == []


def test_bill_with_several_tax_rates_is_not_suggested(suggest, categorize, bank, hosting):
    for _ in range(2):
        categorize(bank, hosting, fromTo="Nimbus Ltd", passThroughTax=-12.34)
    assert suggest() == []


def test_directions_of_a_name_are_suggested_separately(suggest, acme, categorize, books, bank, hosting):
    categorize(bank, hosting, fromTo="Nimbus Ltd")
    categorize(bank, books.get_category_id("revenueRecurring"), "revenue", fromTo="Nimbus Ltd", amount="50.00")
    directions = {each.rule.direction: str(each.rule.category_id) for each in list_counterparty_rules(acme)}
    assert directions == {"out": hosting, "in": books.get_category_id("revenueRecurring")}


def test_split_and_linked_transactions_are_not_suggested(suggest, books, bank, savings, hosting, office):
    split = books.create_transaction(bank, "-12.00", fromTo="Split Ltd")["id"]
    books.set_categorizations(
        split, {"categoryId": hosting, "plSplit": {"cogs": -4}}, {"categoryId": office, "plSplit": {"ga": -8}}
    )
    source = books.create_transaction(bank, "-50.00", fromTo="Own account")["id"]
    target = books.create_transaction(savings, "50.00", fromTo="Own account")["id"]
    assert books.link_transfer(source, target).status_code == 200
    part = books.create_transaction(bank, "-12.00", fromTo="Partly Ltd")["id"]
    books.set_categorizations(part, {"categoryId": hosting, "plSplit": {"cogs": -4}})
    assert suggest() == []


def create_rule(api, category_id, conditions, **values):
    body = {"name": "x", "conditions": conditions, "action": {"categoryId": category_id, "plType": "cogs"}}
    response = api.post("categorization_rules", body | values)
    assert response.status_code == 201, response.content
    return response.json()["id"]


@pytest.mark.parametrize(
    "conditions",
    [
        pytest.param({"text": {"operator": "contains", "value": "nimbus"}}, id="text"),
        pytest.param({"direction": "out"}, id="direction"),
    ],
)
@pytest.mark.parametrize("enabled", [True, False])
def test_counterparty_matched_by_a_rule_is_not_suggested(suggest, api, categorize, bank, hosting, conditions, enabled):
    categorize(bank, hosting, fromTo="Nimbus Ltd")
    create_rule(api, hosting, conditions, enabled=enabled)
    assert suggest() == []


def test_payments_that_rules_or_history_categorized_do_not_support_a_suggestion(suggest, api, books, bank, hosting):
    rule_id = create_rule(api, hosting, {"fromTo": {"operator": "equals", "value": "Nimbus Ltd"}})
    books.create_transaction(bank, fromTo="Nimbus Ltd")
    api.delete(f"categorization_rules/{rule_id}")
    assert books.list_categorizations(api.get("transactions").json()[0]["id"])[0]["categoryId"] == hosting
    assert suggest() == []


@pytest.mark.parametrize(
    ("name", "description", "is_recommended"),
    [
        ("Anna Becker", "Gehalt Oktober 2026", True),
        ("Hausverwaltung Beck", "Miete Büro Oktober", True),
        ("AOK Rheinland/Hamburg", "Beitrag 10/2026", True),
        ("Allianz Versicherungs-AG", "Beitrag 2026", True),
        ("Telekom Deutschland GmbH", "Rechnung 4711", True),
        ("Hetzner Online GmbH", "R0012345678", True),
        ("Steuerkanzlei Hagen & Partner", "Buchhaltung September", True),
        ("Motel One Berlin", "Übernachtung", False),
        ("Somebody new", "Danke", False),
    ],
)
def test_single_payment_is_recommended_only_if_its_kind_recurs(
    suggest, categorize, bank, hosting, name, description, is_recommended
):
    categorize(bank, hosting, fromTo=name, description=description)
    assert suggest() == [(name, 1, 1, 0, is_recommended)]


def test_name_of_a_tax_office_or_bank_alone_is_not_suggested(suggest, categorize, bank, hosting):
    for month in ("3", "4"):
        categorize(bank, hosting, fromTo="Finanzamt Köln-Mitte", description=f"{month}/2026 Vorauszahlung")
        categorize(bank, hosting, fromTo="Sparkasse KölnBonn", description=f"{month}/2026 Abrechnung")
    assert suggest() == []


def test_word_of_the_text_tells_kinds_of_a_name_apart(acme, api, suggest, categorize, books, bank, hosting, office):
    support = books.get_category_id("support")
    for month in ("09", "10"):
        day = f"2026-{month}-10"
        categorize(bank, office, "ga", fromTo="Finanzamt Köln", description=f"LOHNST {month}/26 StNr 215", day=day)
        categorize(bank, support, fromTo="Finanzamt Köln", description=f"UMS.ST {month}/26 StNr 215", day=day)
    categorize(bank, hosting, fromTo="Finanzamt Köln", description="KSt 4/2026 StNr 215")
    books.create_transaction(bank, fromTo="Finanzamt Köln", description="LOHNST 11/26 StNr 215", date="2026-11-10")
    books.create_transaction(bank, fromTo="Finanzamt Köln", description="KSt 1/2027 StNr 215", date="2026-11-10")
    suggested = list_counterparty_rules(acme)
    assert {
        (each.rule.name, each.rule.description_operator, each.rule.description_value, str(each.rule.category_id))
        for each in suggested
    } == {
        ("Finanzamt Köln: LOHNST", "wholeWord", "LOHNST", office),
        ("Finanzamt Köln: UMS.ST", "wholeWord", "UMS.ST", support),
    }
    assert {each.rule.name: (each.payment_count, each.month_count, each.open_count) for each in suggested} == {
        "Finanzamt Köln: LOHNST": (2, 2, 1),
        "Finanzamt Köln: UMS.ST": (2, 2, 0),
    }


def test_steady_text_of_payments_without_a_name_is_suggested(acme, suggest, categorize, books, bank, hosting, office):
    for number in (4711, 4712):
        categorize(bank, hosting, description=f"ADOBE *CREATIVE CLOUD {number} DUBLIN")
        categorize(bank, hosting, description=f"Kartenzahlung {number}")
    categorize(bank, hosting, description="GITHUB INC 1")
    books.create_transaction(bank, description="Adobe *Creative  Cloud 4713")
    assert suggest() == [("ADOBE *CREATIVE CLOUD", 2, 1, 1, True)]
    ((rule, ids),) = [(each.rule, each.payment_ids) for each in list_counterparty_rules(acme)]
    assert (rule.description_operator, rule.description_value) == ("startsWith", "ADOBE *CREATIVE CLOUD")
    assert (rule.from_to_value, len(ids)) == (None, 2)
    categorize(bank, office, "ga", description="ADOBE *CREATIVE CLOUDS 1", fromTo="Adobe")
    assert [name for name, *_ in suggest()] == ["Adobe"]


def test_open_count_leaves_out_what_earlier_rules_match(suggest, api, categorize, books, bank, hosting):
    categorize(bank, hosting, fromTo="Nimbus Ltd", description="Rack 4711")
    books.import_transactions(bank, *({"fromTo": "Nimbus Ltd", "description": f"Extra {n}"} for n in range(3)))
    assert suggest()[0][3] == 3
    create_rule(api, hosting, {"description": {"operator": "startsWith", "value": "extra"}})
    assert suggest()[0][3] == 0


@pytest.mark.parametrize("limit", ["MAX_COUNTERPARTIES", "MAX_NAMES"])
def test_most_frequent_counterparties_are_listed(monkeypatch, suggest, categorize, bank, hosting, limit):
    monkeypatch.setattr(counterparty_rules, limit, 1)
    for name in ("Cumulus", "Nimbus", "Nimbus", "Stratus"):
        categorize(bank, hosting, fromTo=name)
    assert [name for name, *_ in suggest()] == ["Nimbus"]


def test_number_of_statements_does_not_grow_with_counterparties(acme, api, books, bank, hosting):
    counts = []
    for first, last in ((0, 5), (5, 50)):
        ids = books.import_transactions(bank, *({"fromTo": f"Vendor {n:02}"} for n in range(first, last)))
        body = {"selection": {"mode": "ids", "ids": ids}, "categoryId": hosting}
        assert api.post("transactions/categorize", body).status_code == 200
        books.import_transactions(bank, *({"fromTo": f"Vendor {n:02}"} for n in range(first, last)))
        with CaptureQueriesContext(
            connection,
        ) as seen:
            assert len(list_counterparty_rules(acme)) == last
        counts.append(len(seen))
    assert counts[0] == counts[1] <= 10


def test_suggested_rules_are_listed_by_the_api_and_can_be_created(api, suggest, categorize, books, bank, hosting):
    categorize(bank, hosting, fromTo="Nimbus Ltd", amount="-119.00", passThroughTax=-19)
    books.create_transaction(bank, fromTo="Nimbus Ltd")
    (suggested,) = api.get("categorization_rules/suggestions").json()
    rule = suggested.pop("rule")
    assert suggested == {"paymentCount": 1, "monthCount": 1, "openCount": 1, "isRecommended": False}
    assert rule["conditions"]["fromTo"] == {"operator": "equals", "value": "Nimbus Ltd"}
    assert (rule["action"]["categoryId"], rule["action"]["passThroughTaxPercent"]) == (hosting, 19)
    assert api.post("categorization_rules", rule).status_code == 201
    assert api.get("categorization_rules/suggestions").json() == []


def test_other_companies_do_not_count(suggest, categorize, bank, hosting, globex):
    categorize(bank, hosting, fromTo="Nimbus Ltd")
    assert list_counterparty_rules(globex) == []
