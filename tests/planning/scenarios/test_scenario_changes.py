"""What each kind of change does to the queries, and that adopting it does the same."""

from datetime import timedelta

import pytest

from tests.planning.scenarios.conftest import TODAY, day_in_month, month_ahead

pytestmark = pytest.mark.django_db


def test_scale_adds_percentage_to_each_occurrence_rounded_half_up(plan_rent, create_scenario, list_outflow):
    rent = plan_rent(amountValue="-33.35")
    scenario = create_scenario({"kind": "scale", "plannedTransactionId": rent["id"], "percent": 10})
    assert set(list_outflow(scenario).values()) == {36.69}
    assert set(list_outflow().values()) == {33.35}


def test_scale_applies_from_and_to_original_dates(plan_rent, create_scenario, list_outflow):
    rent = plan_rent(overrides={day_in_month(3): {"date": day_in_month(5, 20)}})
    scenario = create_scenario(
        {
            "kind": "scale",
            "plannedTransactionId": rent["id"],
            "percent": -50,
            "from": day_in_month(2),
            "to": day_in_month(3),
        }
    )
    outflow = list_outflow(scenario)
    assert [outflow[day_in_month(number)] for number in (1, 2, 4)] == [1000, 500, 1000]
    assert outflow[day_in_month(5, 20)] == 500


def test_scale_without_end_keeps_earlier_amounts_after_adoption(
    api, plan_rent, create_scenario, list_outflow, adopt_scenario
):
    rent = plan_rent()
    change = {"kind": "scale", "plannedTransactionId": rent["id"], "percent": 20, "from": day_in_month(3)}
    scenario = create_scenario(change)
    outflow = list_outflow(scenario)
    assert [outflow[day_in_month(number)] for number in (1, 2, 3, 24)] == [1000, 1000, 1200, 1200]
    adopt_scenario(scenario)
    assert list_outflow() == outflow
    assert api.get(f"planned_transactions/{rent['id']}").json()["amountValue"] == "-1200.00"


@pytest.mark.parametrize("values", [{"invoiceDate": str(TODAY - timedelta(30)), "recurrence": None}, {}])
def test_overdue_payment_scaled_to_zero_is_not_overdue(api, plan_rent, create_scenario, values):
    rent = plan_rent(startDate=str(TODAY - timedelta(10)), **values)
    scenario = create_scenario({"kind": "scale", "plannedTransactionId": rent["id"], "percent": -100})
    query = {"endDate": str(TODAY + timedelta(10))}
    overdue, zero = (
        api.post("data/forecastBalanceTimeSeries", query | {"scenarioId": scenario_id}).json()["overdue"]
        for scenario_id in (None, scenario)
    )
    assert (overdue["count"], overdue["value"]) == (1, -1000)
    assert (zero["count"], zero["value"]) == (0, 0)


def test_shift_moves_occurrences_by_days(plan_rent, create_scenario, list_outflow, adopt_scenario):
    rent = plan_rent()
    shift = {"kind": "shift", "plannedTransactionId": rent["id"], "days": 30, "from": day_in_month(2)}
    scenario = create_scenario(shift)
    outflow = list_outflow(scenario)
    assert outflow[day_in_month(1)] == 1000
    assert day_in_month(2) not in outflow
    assert len(outflow) >= 23
    adopt_scenario(scenario)
    assert list_outflow() == outflow


def test_stop_ends_payments_of_a_counterparty(
    acme, plan_rent, make_counterparty, create_scenario, list_outflow, adopt_scenario, api
):
    landlord = make_counterparty(acme)
    rent = plan_rent(counterparty={"id": str(landlord.id)})
    plan_rent(name="Loan", amountValue="-7.00", startDate=day_in_month(1, 6))
    scenario = create_scenario({"kind": "stop", "counterpartyId": str(landlord.id), "from": day_in_month(3)})
    outflow = list_outflow(scenario)
    assert sorted(day for day, value in outflow.items() if value == 1000) == [day_in_month(1), day_in_month(2)]
    assert sum(value == 7 for value in outflow.values()) == 24
    adopt_scenario(scenario)
    assert list_outflow() == outflow
    end = api.get(f"planned_transactions/{rent['id']}").json()["recurrence"]["end"]
    assert end == {"type": "date", "date": day_in_month(3, 4), "count": None}


def test_stop_before_the_first_occurrence_skips_it(plan_rent, create_scenario, list_outflow, adopt_scenario):
    rent, once = plan_rent(), plan_rent(recurrence=None, amountValue="-5.00")
    changes = [
        {"kind": "stop", "plannedTransactionId": each["id"], "from": day_in_month(1, 1)} for each in (rent, once)
    ]
    scenario = create_scenario(*changes)
    assert list_outflow(scenario) == {}
    adopt_scenario(scenario)
    assert list_outflow() == {}


def test_add_plans_a_payment_that_later_changes_apply_to(
    plan_rent, create_scenario, list_outflow, adopt_scenario, account
):
    plan_rent()
    hire = {
        "accountId": str(account.id),
        "name": "Engineer",
        "startDate": day_in_month(2, 28),
        "amountValue": "-5000.00",
        "recurrence": {"frequency": "month"},
        "counterparty": None,
    }
    raise_pay = {"kind": "scale", "categoryId": None, "plType": "ga", "percent": 5}
    scenario = create_scenario({"kind": "add", "plannedTransaction": hire}, raise_pay)
    outflow = list_outflow(scenario)
    assert (outflow[day_in_month(1)], outflow[day_in_month(2, 28)]) == (1000, 5000)
    adopt_scenario(scenario)
    assert list_outflow() == outflow


def test_category_change_follows_category_of_each_occurrence(
    acme, plan_rent, category, make_category, create_scenario, list_outflow, adopt_scenario
):
    other = make_category(acme, name="Travel")
    overrides = {day_in_month(2): {"categoryId": str(other.id)}}
    plan_rent(categoryId=str(category.id), overrides=overrides)
    scenario = create_scenario({"kind": "scale", "categoryId": str(category.id), "percent": 10})
    outflow = list_outflow(scenario)
    assert [outflow[day_in_month(number)] for number in (1, 2, 3)] == [1100, 1000, 1100]
    opposite = create_scenario({"kind": "stop", "categoryId": str(other.id), "from": day_in_month(1, 1)})
    assert day_in_month(2) not in list_outflow(opposite)
    adopt_scenario(scenario)
    assert list_outflow() == outflow


def test_pl_type_change_applies_to_categories_of_that_line_only(
    acme, plan_rent, category, make_category, create_scenario, list_outflow
):
    both = make_category(acme, name="People", pl_types=["ga", "pd"])
    plan_rent(categoryId=str(category.id))
    plan_rent(categoryId=str(both.id), startDate=day_in_month(1, 7))
    outflow = list_outflow(create_scenario({"kind": "scale", "plType": "ga", "percent": 10}))
    assert (outflow[day_in_month(1)], outflow[day_in_month(1, 7)]) == (1100, 1000)


def test_settled_occurrences_do_not_change(api, account, make_transaction, plan_rent, create_scenario, adopt_scenario):
    rent = plan_rent()
    paid = make_transaction(account, amount_value="-1000", date="2026-01-05")
    settle = {"date": day_in_month(1), "transactionId": str(paid.id)}
    assert api.post(f"planned_transactions/{rent['id']}/settle", settle).status_code == 200
    scenario = create_scenario(
        {"kind": "scale", "plannedTransactionId": rent["id"], "percent": 10},
        {"kind": "shift", "plannedTransactionId": rent["id"], "days": 3},
    )
    adopt_scenario(scenario)
    window = f"startDate={day_in_month(1, 1)}&endDate={day_in_month(1, 28)}"
    (occurrence,) = api.get(f"planned_transactions/{rent['id']}/occurrences?{window}").json()
    assert (occurrence["date"], occurrence["amountValue"]) == (day_in_month(1), "-1000.00")


@pytest.mark.parametrize("amount_type", ["fixed", "changeByAmount", "relative"])
def test_scale_of_a_category_changes_plan_items_in_its_months(
    amount_type, plan_item, category, create_scenario, list_plan, adopt_scenario
):
    money = {"value": 333.33, "currency": "EUR"}
    plan_item(amount={"type": amount_type, "amount": money, "relativeChange": 0.03})
    before = list_plan()
    change = {
        "kind": "scale",
        "categoryId": str(category.id),
        "percent": 10,
        "from": day_in_month(3, 1),
        "to": day_in_month(4, 28),
    }
    scenario = create_scenario(change)
    plan = list_plan(scenario)
    changed = {month for month in plan if plan[month] != before[month]}
    assert changed == {month_ahead(3), month_ahead(4)}
    assert all(abs(plan[month] - before[month] * 1.1) < 0.011 for month in changed)
    adopt_scenario(scenario)
    assert list_plan() == plan


def test_stop_of_a_category_ends_plan_items(plan_item, category, create_scenario, list_plan, adopt_scenario):
    plan_item()
    plan_item(month=month_ahead(4), frequency=0)
    scenario = create_scenario({"kind": "stop", "categoryId": str(category.id), "from": day_in_month(3, 1)})
    plan = list_plan(scenario)
    assert plan == {month_ahead(1): 500, month_ahead(2): 500}
    adopt_scenario(scenario)
    assert list_plan() == plan


def test_added_plan_item_is_planned(category, create_scenario, list_plan, adopt_scenario):
    item = {
        "month": month_ahead(2),
        "plType": "ga",
        "categoryId": str(category.id),
        "amount": {"type": "relative", "amount": {"value": 100.5, "currency": "EUR"}, "relativeChange": 0},
        "duration": 2,
    }
    scale = {"kind": "scale", "plType": "ga", "percent": 100}
    scenario = create_scenario({"kind": "add", "planItem": item}, scale)
    plan = list_plan(scenario)
    assert plan == {month_ahead(2): 201, month_ahead(3): 201}
    adopt_scenario(scenario)
    assert list_plan() == plan


def test_balance_forecast_and_runway_follow_the_scenario(api, account, plan_rent, create_scenario, make_transaction):
    rent = plan_rent()
    api.put(f"accounts/{account.id}/initial_balance", {"date": "2026-01-01", "amountValue": "3500.00"})
    scenario = create_scenario({"kind": "scale", "plannedTransactionId": rent["id"], "percent": 100})
    query = {"startDate": day_in_month(1, 1), "endDate": day_in_month(12)}
    plain, changed = (
        api.post("data/forecastBalanceTimeSeries", query | {"scenarioId": each}).json() for each in (None, scenario)
    )
    assert (plain["belowZero"], changed["belowZero"]) == (day_in_month(4), day_in_month(2))
    assert "brokenChanges" not in plain
    assert changed["brokenChanges"] == []
    assert api.post("data/runway", {"scenarioId": scenario}).json()["belowZero"] == day_in_month(2)
    assert "belowZero" not in api.post("data/runway").json()


def test_plan_items_are_listed_as_the_scenario_changes_them(api, plan_item, category, create_scenario, adopt_scenario):
    def list_items(query: str = "") -> list[tuple[str, object, object]]:
        rows = api.get(f"plan_items{query}").json()
        return sorted((row["month"], row["amount"]["amount"]["value"], row["duration"]) for row in rows)

    remaining = plan_item()
    plan_item(month=month_ahead(6))
    change = {"kind": "scale", "categoryId": str(category.id), "percent": 10, "from": day_in_month(3, 1)}
    scenario = create_scenario(change, {"kind": "stop", "categoryId": str(category.id), "from": day_in_month(5, 1)})
    items = list_items(f"?scenarioId={scenario}")
    assert items == [(month_ahead(1), 500, 4), (month_ahead(3), 50, 2)]
    first = api.get(f"plan_items?scenarioId={scenario}&limit=1")
    assert "scenarioId" in first["Link"]
    assert remaining["id"] in {row["id"] for row in api.get(f"plan_items?scenarioId={scenario}").json()}
    adopt_scenario(scenario)
    assert list_items() == items


def test_stopped_invoice_leaves_its_planned_total_whole(plan_rent, create_scenario, list_outflow, hosting):
    """An invoice is part of the total of its category and month; without the invoice the total is expected alone."""
    plan_rent(settledBy="category", categoryId=hosting, startDate=day_in_month(1, 20))
    invoice = plan_rent(
        categoryId=hosting, amountValue="-300.00", startDate=day_in_month(1, 10), dueDate=day_in_month(1, 10),
        invoiceDate=str(TODAY), recurrence=None,
    )  # fmt: skip
    scenario_id = create_scenario({"kind": "stop", "plannedTransactionId": invoice["id"], "from": str(TODAY)})
    first_days = day_in_month(1, 10), day_in_month(1, 20)
    assert [list_outflow().get(day) for day in first_days] == [300, 700]
    assert [list_outflow(scenario_id).get(day) for day in first_days] == [None, 1000]
