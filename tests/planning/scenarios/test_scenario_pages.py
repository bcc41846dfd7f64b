"""Pages of scenarios: create, add changes in the words of finance, compare, adopt, undo, duplicate, delete."""

from datetime import date
from html import unescape
from typing import Any

import pytest

from analytics.queries.balance_forecast import compute_balance_forecast
from analytics.queries.scenario_forecasts import forecast_scenarios
from ledger.models import Category
from ledger.money.rates import get_rate_table
from planning.models import Scenario
from planning.scenarios.queries import load_scenario
from tests.ledger.conftest import Pages
from tests.planning.scenarios.conftest import TODAY, day_in_month

pytestmark = pytest.mark.django_db
HIRE = {"name": "Engineer", "amountValue": "1", "startDate": "2027-01-01"}


@pytest.fixture
def make_pages(sign_in_browser: Any) -> Any:
    def make(user: Any, company: Any) -> Pages:
        pages = Pages(company, sign_in_browser(user, company).client)
        pages.base = f"/app/companies/{company.id}"
        return pages

    return make


@pytest.fixture
def pages(make_pages: Any, alice: Any, acme: Any) -> Pages:
    return make_pages(alice, acme)


@pytest.fixture
def scenario(acme: Any, pages: Any) -> Scenario:
    assert pages.post("/planned/scenarios/new", name="Bad year").status_code == 303
    return Scenario.objects.for_company(acme.id).get()


def read(pages: Any, path: str) -> str:
    answer = pages.get(path)
    assert answer.status_code == 200, answer.content
    return unescape(answer.content.decode())


def add(pages: Any, scenario: Scenario, kind: str, **form: str) -> Any:
    return pages.post(f"/planned/scenarios/{scenario.id}/changes/new/{kind}", **form)


def test_changes_are_added_in_the_words_of_finance(acme, pages, scenario, plan_rent, category, make_counterparty):
    customer, rent = make_counterparty(acme, type="customer", name="Initech"), plan_rent()
    forms = [
        ("hire", {"name": "Engineer", "amountValue": "5,000.00", "startDate": day_in_month(3)}),
        ("price", {"target": f"categoryId:{category.id}", "percent": "10", "from": day_in_month(1)}),
        ("lose", {"target": f"counterpartyId:{customer.id}", "from": day_in_month(2)}),
        ("delay", {"target": f"plannedTransactionId:{rent['id']}", "days": "30", "to": day_in_month(4)}),
    ]
    for kind, form in forms:
        assert add(pages, scenario, kind, **form).status_code == 303
    scenario.refresh_from_db()
    assert [each["kind"] for each in scenario.changes] == ["add", "scale", "stop", "shift"]
    assert scenario.changes[0]["plannedTransaction"]["amountValue"] == "-5000.00"
    shown = read(pages, f"/planned/scenarios/{scenario.id}")
    for text in ("Add Engineer: −€5,000.00", "Change Rent by +10%", "Stop Initech", "Move Rent by +30 days"):
        assert text in shown
    assert pages.post(f"/planned/scenarios/{scenario.id}/changes/0/delete").status_code == 303
    scenario.refresh_from_db()
    assert [each["kind"] for each in scenario.changes] == ["scale", "stop", "shift"]


def test_percentages_of_one_target_apply_one_after_another_and_the_page_says_so(api, acme, pages, scenario, plan_rent):
    rent = plan_rent()
    halved = {"target": f"plannedTransactionId:{rent['id']}", "percent": "-50"}
    for count in (1, 2):
        assert add(pages, scenario, "price", **halved).status_code == 303
        shown = read(pages, f"/planned/scenarios/{scenario.id}")
        assert ("−50% twice leaves 25%" in shown) is (count == 2)
    end = day_in_month(6)
    plain = api.post("data/forecastCashFlowTimeSeries", {"endDate": end}).json()["plannedOutflow"]
    body = {"endDate": end, "scenarioId": str(scenario.id)}
    changed = api.post("data/forecastCashFlowTimeSeries", body).json()["plannedOutflow"]
    total, quarter = (sum(each["value"] for each in series) for series in (plain, changed))
    assert total > 0
    assert round(quarter * 4, 2) == round(total, 2)


def test_mistakes_are_shown_at_their_field(pages, scenario):
    for kind, form, field in [
        ("hire", HIRE | {"amountValue": "x"}, "amountValue"),
        ("hire", HIRE | {"name": ""}, "name"),
        ("hire", HIRE | {"people": "0"}, "people"),
        ("hire", HIRE | {"oneOffValue": "x"}, "oneOffValue"),
        ("hire", HIRE | {"oneOffValue": "999999999999999"} | {"people": "9"}, "oneOffValue"),
        ("hire", HIRE | {"lastMonth": "x"}, "lastMonth"),
        ("hire", HIRE | {"lastMonth": "2026-12"}, "lastMonth"),
        ("price", {"target": "plType:ga", "percent": "5000"}, "percent"),
        ("price", {"target": "", "percent": "5"}, "target"),
        ("lose", {"target": "plType:ga", "from": "2027-01-01"}, "target"),
        ("lose", {"target": "counterpartyId:x", "from": "2027-01-01"}, "target"),
        ("price", {"target": "plType:ga", "percent": "5", "from": "2027-02-01", "to": "2027-01-01"}, "to"),
    ]:
        answer = add(pages, scenario, kind, **form)
        assert answer.status_code == 400, kind
        assert field in answer.context["form"].errors, answer.context["form"].errors
        scenario.refresh_from_db()
        assert scenario.changes == [], kind


def test_forms_offer_counterparties_with_planned_payments(acme, pages, scenario, plan_rent, make_counterparty):
    planned, other = (make_counterparty(acme, name=name) for name in ("Initech", "Hooli"))
    plan_rent(counterparty={"id": str(planned.id)})
    for kind in ("price", "delay"):
        shown = read(pages, f"/planned/scenarios/{scenario.id}/changes/new/{kind}")
        assert f"counterpartyId:{planned.id}" in shown
        assert f"counterpartyId:{other.id}" not in shown
    plan_rent(counterparty={"id": str(other.id)})
    assert f"counterpartyId:{other.id}" in read(pages, f"/planned/scenarios/{scenario.id}/changes/new/delay")


def test_lose_a_customer_offers_income_only(acme, pages, scenario, plan_rent, category, make_counterparty):
    customer, vendor = (make_counterparty(acme, name=name) for name in ("Initech", "Hooli"))
    rent = plan_rent(counterparty={"id": str(vendor.id)})
    fee = plan_rent(counterparty={"id": str(customer.id)}, amountValue="900.00", name="Fee")
    shown = read(pages, f"/planned/scenarios/{scenario.id}/changes/new/lose")
    assert f"counterpartyId:{customer.id}" in shown
    assert f"counterpartyId:{vendor.id}" not in shown
    assert f"plannedTransactionId:{fee['id']}" in shown
    assert f"plannedTransactionId:{rent['id']}" not in shown
    lines = {str(row.id): row.pl_types for row in Category.objects.for_company(acme.id)}
    offered = {row_id for row_id in lines if f"categoryId:{row_id}" in shown}
    assert offered == {row_id for row_id, types in lines.items() if "revenue" in types}


def test_scenario_leads_to_its_comparison(pages, scenario, plan_rent):
    path = f"/planned/scenarios?scenario={scenario.id}"
    assert path not in read(pages, f"/planned/scenarios/{scenario.id}")
    add(pages, scenario, "hire", **HIRE)
    assert path in read(pages, f"/planned/scenarios/{scenario.id}")


def test_unknown_form_is_not_found(pages, scenario):
    assert pages.get(f"/planned/scenarios/{scenario.id}/changes/new/fire").status_code == 404


def test_scenario_is_adopted_undone_duplicated_and_deleted(api, acme, pages, scenario, plan_rent):
    rent = plan_rent()
    add(pages, scenario, "price", target=f"plannedTransactionId:{rent['id']}", percent="10")
    path = f"/planned/scenarios/{scenario.id}"
    assert pages.post(f"{path}/adopt").status_code == 303
    assert api.get(f"planned_transactions/{rent['id']}").json()["amountValue"] == "-1100.00"
    assert "Undo adoption" in read(pages, path)
    assert pages.post(f"{path}/undo").status_code == 303
    assert api.get(f"planned_transactions/{rent['id']}").json()["amountValue"] == "-1000.00"
    assert pages.post(f"{path}/duplicate").status_code == 303
    copy = Scenario.objects.for_company(acme.id).exclude(id=scenario.id).get()
    assert (copy.name, copy.changes) == ("Copy of Bad year", Scenario.objects.get(id=scenario.id).changes)
    assert pages.post(f"{path}/delete").status_code == 303
    assert list(Scenario.objects.for_company(acme.id)) == [copy]
    assert pages.post(f"/planned/scenarios/{copy.id}", name="Worse").status_code == 303
    assert "Worse" in read(pages, "/planned/scenarios")


def test_comparison_shows_lowest_cash_and_runway_of_up_to_four(api, account, pages, plan_rent, create_scenario):
    rent = plan_rent()
    api.put(f"accounts/{account.id}/initial_balance", {"date": "2026-01-01", "amountValue": "3500.00"})
    double = {"kind": "scale", "plannedTransactionId": rent["id"], "percent": 100}
    stop = {"kind": "stop", "plannedTransactionId": rent["id"], "from": day_in_month(3, 1)}
    ids = [create_scenario(*changes, name=name) for name, changes in (("Double", [double]), ("Stop", [stop]))]
    for path in ("/planned/scenarios", "/planned", "/plan"):
        shown = pages.get(path)
        rows = {row.scenario.name if row.scenario else "Plan": row for row in shown.context["comparison"].rows}
        assert {name: str(row.below_zero) for name, row in rows.items()} == {
            "Plan": day_in_month(4), "Double": day_in_month(2), "Stop": "None",
        }  # fmt: skip
        assert (rows["Plan"].runway_months, rows["Double"].runway_months) == (3, 1)
        assert rows["Stop"].lowest[1] == 1500
    for _ in range(4):
        create_scenario(name="Empty")
    assert len(pages.get("/planned/scenarios").context["comparison"].rows) == 5
    chosen = pages.get("/planned/scenarios", scenario=ids[0]).context["comparison"].rows
    assert [row.scenario.name for row in chosen[1:]] == ["Double"]


def test_broken_scenario_is_marked_on_every_page_that_uses_it(api, acme, pages, plan_rent, create_scenario):
    rent = plan_rent()
    plan_rent(name="Loan")
    scenario = create_scenario({"kind": "stop", "plannedTransactionId": rent["id"], "from": day_in_month(3)})
    paths = ("/planned/scenarios", "/planned", "/plan")
    for path in paths:
        assert "Refers to something deleted" not in read(pages, path)
    assert api.delete(f"planned_transactions/{rent['id']}").status_code == 200
    for path in paths:
        rows = pages.get(path).context["comparison"].rows
        assert [row.has_broken_changes for row in rows] == [False, True]
        assert "Refers to something deleted" in read(pages, path)
    shown = read(pages, f"/planned/scenarios/{scenario}")
    assert "Deleted: does not apply" in shown
    assert "/adopt" not in shown
    pages.post(f"/planned/scenarios/{scenario}/adopt")
    assert "Remove the broken changes first" in read(pages, "/planned/scenarios")
    assert pages.post(f"/planned/scenarios/{scenario}/changes/0/delete").status_code == 303
    assert "Deleted: does not apply" not in read(pages, f"/planned/scenarios/{scenario}")


def test_twenty_first_scenario_is_refused_on_pages(acme, pages, scenario):
    for _ in range(19):
        assert pages.post("/planned/scenarios/new", name="One more").status_code == 303
    refused = pages.post("/planned/scenarios/new", name="Too many")
    assert refused.status_code == 400
    assert "already has 20 scenarios" in unescape(refused.content.decode())
    pages.post(f"/planned/scenarios/{scenario.id}/duplicate")
    assert "already has 20 scenarios" in read(pages, "/planned/scenarios")
    assert Scenario.objects.for_company(acme.id).count() == 20


def test_comparison_is_the_balance_forecast_of_each(
    api, acme, account, plan_rent, create_scenario, category, make_transaction
):
    """What scenarios share is added up once: each is what the API answers alone."""
    rent, income = plan_rent(), plan_rent(amountValue="250.10", categoryId=str(category.id))
    plan_rent(settledBy="category", categoryId=str(category.id), amountValue="-70.00", startDate="2026-10-20")
    plan_rent(startDate="2026-10-01", amountValue="-9.00")
    make_transaction(account, date=day_in_month(2, 3), amount_value="-12.34")
    shift = {"kind": "shift", "plannedTransactionId": rent["id"], "days": 45}
    scale = {"kind": "scale", "categoryId": str(category.id), "percent": 33}
    early = {"kind": "shift", "plannedTransactionId": income["id"], "days": -3}
    for changes in ([shift], [scale, early], []):
        create_scenario(*changes)
    rows = [None, *Scenario.objects.for_company(acme.id)]
    loaded = [row and load_scenario(row, today=TODAY) for row in rows]
    end, rates = date.fromisoformat(day_in_month(30)), get_rate_table()
    arguments = {"company": acme, "end": end, "today": TODAY, "interval": "month", "rates": rates}
    for scenario, found in zip(loaded, forecast_scenarios(loaded, **arguments), strict=True):
        alone = compute_balance_forecast(start=TODAY, cutover=TODAY, scenario=scenario, **arguments)
        assert found == alone


def test_reader_sees_scenarios_without_forms(make_pages, bob, acme, scenario):
    viewer = make_pages(bob, acme)
    shown = viewer.get(f"/planned/scenarios/{scenario.id}").content.decode()
    assert "Bad year" in shown
    assert "Adopt" not in shown
    assert viewer.get("/planned/scenarios/new").status_code == 403


def test_hire_with_a_category_changes_cash_and_planned_result_once(api, acme, pages, scenario, plan_rent):
    plan_rent()
    category = next(row for row in api.get("categories").json() if row["systemKey"] == "productDevelopment")
    assert f'value="{category["id"]}" selected' in read(pages, f"/planned/scenarios/{scenario.id}/changes/new/hire")
    start = day_in_month(3)
    form = {"name": "Engineer", "amountValue": "5,000.00", "startDate": start, "categoryId": category["id"]}
    assert add(pages, scenario, "hire", **form).status_code == 303
    months = {"startMonth": start[:7], "endMonth": day_in_month(4)[:7]}

    def read_figures(**more: Any) -> tuple[float, float]:
        rows = api.post("data/profitAndLoss", months | more).json()
        cost = sum(row["planned"] or 0 for row in rows if row["categoryId"] == category["id"])
        projected = api.post("data/forecastBalanceTimeSeries", {"endDate": day_in_month(5)} | more).json()["projected"]
        return cost, projected[-1]["value"]

    (cost, cash), (changed_cost, changed_cash) = read_figures(), read_figures(scenarioId=str(scenario.id))
    assert changed_cost - cost == 2 * 5000  # two months
    assert changed_cash - cash == -3 * 5000  # three payments


@pytest.mark.parametrize("cost", ["-5,000.00", "(5,000.00)", "€ (5,000.00)"])
def test_hire_with_a_negative_cost_is_money_out(pages, scenario, cost):
    form = {"name": "Engineer", "amountValue": cost, "startDate": day_in_month(3)}
    assert add(pages, scenario, "hire", **form).status_code == 303
    scenario.refresh_from_db()
    assert [each["plannedTransaction"]["amountValue"] for each in scenario.changes] == ["-5000.00"]


@pytest.mark.parametrize("field", ["amountValue", "oneOffValue"])
def test_hire_without_cost_is_refused(pages, scenario, field):
    answer = add(pages, scenario, "hire", **HIRE | {field: "0.00"})
    assert answer.status_code == 400
    shown = unescape(answer.content.decode())
    assert f'id="{field}-error">Enter an amount other than 0.<' in shown
    scenario.refresh_from_db()
    assert scenario.changes == []


def test_delay_without_days_is_refused(pages, scenario, plan_rent):
    rent = plan_rent()
    answer = add(pages, scenario, "delay", target=f"plannedTransactionId:{rent['id']}", days="")
    assert answer.status_code == 400
    assert 'id="days-error">This field is required.<' in answer.content.decode()


def test_hire_without_a_category_changes_cash_only(pages, scenario):
    assert add(pages, scenario, "hire", **HIRE, categoryId="").status_code == 303
    scenario.refresh_from_db()
    assert [sorted(each) for each in scenario.changes if "planItem" in each] == []


def test_hire_of_several_people_for_some_months_with_recruiting(api, acme, pages, scenario, plan_rent):
    plan_rent()
    category = api.get_category_id("productDevelopment")
    start, last = day_in_month(3), day_in_month(4)
    form = {
        "name": "Engineer", "amountValue": "5,000.00", "startDate": start, "categoryId": category, "people": "3",
        "lastMonth": last[:7], "oneOffValue": "2,000.00",
    }  # fmt: skip
    assert add(pages, scenario, "hire", **form).status_code == 303
    scenario.refresh_from_db()
    assert [each["kind"] for each in scenario.changes] == ["add"] * 4
    salary, one_off = (each["plannedTransaction"] for each in scenario.changes[:2])
    assert (salary["amountValue"], one_off["amountValue"]) == ("-15000.00", "-6000.00")
    assert salary["recurrence"]["end"]["date"][:7] == last[:7]
    assert (one_off["name"], one_off.get("recurrence")) == ("Engineer: one-off cost", None)
    shown = read(pages, f"/planned/scenarios/{scenario.id}")
    for text in ("Add Engineer: −€15,000.00, recurring from", "Plan €15,000.00 for", "Plan €6,000.00 for"):
        assert text in shown
    months = {"startMonth": start[:7], "endMonth": day_in_month(6)[:7]}

    def read_figures(**more: Any) -> tuple[float, float]:
        rows = api.post("data/profitAndLoss", months | more).json()
        cost = sum(row["planned"] or 0 for row in rows if row["categoryId"] == category)
        projected = api.post("data/forecastBalanceTimeSeries", {"endDate": day_in_month(7)} | more).json()["projected"]
        return cost, projected[-1]["value"]

    (cost, cash), (changed_cost, changed_cash) = read_figures(), read_figures(scenarioId=str(scenario.id))
    assert changed_cost - cost == 2 * 15000 + 6000
    assert changed_cash - cash == -(2 * 15000 + 6000)
    assert pages.post(f"/planned/scenarios/{scenario.id}/adopt").status_code == 303
    assert read_figures() == (changed_cost, changed_cash)
