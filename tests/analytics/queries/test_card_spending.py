"""Planned totals of a month with spending on cards: it leaves cash when the card is settled."""

from datetime import timedelta

import pytest
from django.test import Client

from ledger.calc.months import get_last_day_of_month
from tests.analytics.queries.test_planned_totals import QUERY, TWENTIETH, list_open, plan_total
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db


@pytest.fixture
def sales_category(api, bank, set_today):
    """The id of a category for sales; the bank account starts with 5,000.00."""
    set_today(TWENTIETH)
    api.put(f"accounts/{bank}/initial_balance", {"date": "2026-01-01", "amountValue": "5000.00"})
    return api.post("categories", {"name": "Sales", "plTypes": ["neutral"]}).json()["id"]


@pytest.fixture
def card(books):
    return books.create_account(name="Card", type="creditCard")


@pytest.fixture
def spend(books):
    def spend(account, amount, day, category):
        made = books.create_transaction(account, amount, day)["id"]
        part = {"categoryId": category, "plSplit": {"neutral": float(amount)}}
        assert books.set_categorizations(made, part).status_code == 200
        return made

    return spend


def test_card_spending_of_a_planned_total_is_expected_to_leave_cash(api, query_data, bank, sales_category, card, spend):
    planned = plan_total(api, bank, "-1000.00", "2026-02-25", sales_category)
    spend(card, "-412.30", "2026-02-05", sales_category)
    assert list_open(api, planned) == {"2026-02-25": "-587.70"}
    forecast = query_data(QUERY, endDate="2026-02-28", byAccount=True)
    assert forecast["projected"][-1]["value"] == 4_000
    assert (forecast["plannedOutflow"], forecast["transfersOut"]) == (587.7, 412.3)
    assert [each["lowest"]["value"] for each in forecast["accounts"]] == [4_000]
    flows = query_data("forecastCashFlowTimeSeries", startDate="2026-02-01", endDate="2026-02-28", interval="month")
    assert (flows["outflow"][0]["value"], flows["plannedOutflow"][0]["value"]) == (412.3, 587.7)
    both = query_data(QUERY, endDate="2026-02-28", accountIds=[bank, card])
    assert (both["projected"][-1]["value"], both["transfersOut"]) == (4_000, 0)


def test_settled_card_spending_of_a_planned_total_is_not_expected_again(
    api, query_data, books, bank, sales_category, card, spend
):
    plan_total(api, bank, "-1000.00", "2026-02-10", sales_category)
    spend(card, "-412.30", "2026-02-05", sales_category)
    out, into = (
        books.create_transaction(bank, "-300.00", "2026-02-12"),
        books.create_transaction(card, "300.00", "2026-02-12"),
    )
    assert books.link_transfer(out["id"], into["id"]).status_code == 200
    forecast = query_data(QUERY, endDate="2026-02-28")
    assert (forecast["projected"][-1]["value"], forecast["transfersOut"]) == (4_000, 112.3)
    assert forecast["overdue"] == {"count": 1, "value": -587.7}, "a card that is not settled yet is not overdue"


def test_card_spending_beyond_the_planned_total_counts_up_to_the_plan(
    api, query_data, bank, sales_category, card, spend
):
    plan_total(api, bank, "-1000.00", "2026-02-25", sales_category)
    spend(bank, "-900.00", "2026-02-03", sales_category)
    spend(card, "-412.30", "2026-02-05", sales_category)
    forecast = query_data(QUERY, endDate="2026-02-28")
    assert (forecast["projected"][-1]["value"], forecast["transfersOut"]) == (4_000, 100)


def test_receipts_in_transit_of_a_planned_total_are_expected_to_arrive(
    api, query_data, books, bank, sales_category, spend
):
    plan_total(api, bank, "1000.00", "2026-02-25", sales_category)
    spend(books.create_account(name="Stripe", type="transit"), "250.00", "2026-02-05", sales_category)
    forecast = query_data(QUERY, endDate="2026-02-28")
    assert (forecast["projected"][-1]["value"], forecast["plannedInflow"]) == (6_000, 750)
    assert forecast["transfersOut"] == -250


def test_planned_total_on_a_card_expects_no_settlement(api, query_data, bank, sales_category, card, spend):
    plan_total(api, card, "-1000.00", "2026-02-25", sales_category)
    spend(card, "-412.30", "2026-02-05", sales_category)
    forecast = query_data(QUERY, endDate="2026-02-28")
    assert (forecast["projected"][-1]["value"], forecast["transfersOut"]) == (5_000, 0)


def test_upcoming_movements_list_the_expected_card_settlement(alice, acme, api, books, card, spend):
    travel = api.post("categories", {"name": "Travel", "plTypes": ["neutral"]}).json()["id"]
    bank, last = books.create_account(), get_last_day_of_month(TODAY + timedelta(days=1))
    plan_total(api, bank, "-1000.00", last.isoformat(), travel)
    spend(card, "-412.30", last.isoformat(), travel)
    client = Client()
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    window = {"startDate": str(TODAY + timedelta(days=1)), "endDate": str(last)}
    page = f"/app/companies/{acme.id}/ahead"
    html = client.get(page, window).content.decode()
    assert "booked on a card or in transit" in html
    assert "€1,000.00 out" in html
    flows = client.get(page, window | {"accounts": "all"}).content.decode()
    assert "booked on a card or in transit" not in flows
    assert "€1,000.00 out" in flows
