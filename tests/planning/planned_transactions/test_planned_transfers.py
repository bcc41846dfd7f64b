"""Planned transfers between own accounts, over HTTP: both balances move, money in and out stays as it is."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from companies.models import Company
from tests.conftest import Api
from tests.page_text import get_page_text
from tests.planning.planned_transactions.test_planned_transaction_pages import build_page_path, build_rule_form
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db

FIRST, LAST = TODAY + timedelta(days=1), TODAY + timedelta(days=40)
WINDOW = {"startDate": str(FIRST), "endDate": str(LAST), "interval": "day"}
DAY = TODAY + timedelta(days=10)


@pytest.fixture
def reserve(acme, make_account):
    return make_account(acme, name="Reserve")


@pytest.fixture
def card(acme, make_account):
    return make_account(acme, name="Card", type="creditCard", include_in_cash_balance=False)


@pytest.fixture
def plan_transfer(api, account, reserve) -> Any:
    """Plan a transfer of 300.00 from the main account to the reserve in ten days, with changed values."""

    def plan(**values: Any) -> dict[str, Any]:
        answer = api.post("planned_transactions", build_transfer(account, reserve) | values)
        assert answer.status_code == 201, answer.content
        return answer.json()

    return plan


def build_transfer(account: Any, reserve: Any) -> dict[str, Any]:
    return {
        "accountId": str(account.id),
        "transferAccountId": str(reserve.id),
        "name": "Put aside",
        "startDate": str(DAY),
        "amountValue": "-300.00",
    }


def forecast_balance(api: Any, *accounts: Any, **values: Any) -> float:
    """What the accounts, or all cash accounts, hold on the last day."""
    query = WINDOW | values | ({"accountIds": [str(each.id) for each in accounts]} if accounts else {})
    answer = api.post("data/forecastBalanceTimeSeries", query)
    assert answer.status_code == 200, answer.content
    return answer.json()["projected"][-1]["value"]


def sum_flows(api: Any, **values: Any) -> tuple[float, float]:
    flows = api.post("data/forecastCashFlowTimeSeries", WINDOW | values).json()
    inflow, outflow = (sum(point["value"] for point in flows[name]) for name in ("plannedInflow", "plannedOutflow"))
    return inflow, outflow


def list_errors(answer: Any) -> list[tuple[str, str]]:
    assert answer.status_code == 400, answer.content
    return sorted((each["pointer"], each["code"]) for each in answer.json()["errors"])


def test_transfer_account_is_created_read_changed_and_removed(api, account, reserve, card, plan_transfer, body):
    planned = plan_transfer()
    path = f"planned_transactions/{planned['id']}"
    assert planned["transferAccountId"] == api.get(path).json()["transferAccountId"] == str(reserve.id)
    assert api.get("planned_transactions").json()[0]["transferAccountId"] == str(reserve.id)
    assert api.put(path, {"transferAccountId": str(card.id)}).json()["transferAccountId"] == str(card.id)
    assert api.put(path, {"name": "Card"}).json()["transferAccountId"] == str(card.id)
    assert api.put(path, {"transferAccountId": None}).json()["transferAccountId"] is None
    assert api.post("planned_transactions", body).json()["transferAccountId"] is None


def test_contradicting_fields_of_a_transfer_are_rejected(api, account, reserve, category, plan_transfer):
    path, same = f"planned_transactions/{plan_transfer()['id']}", str(account.id)
    transfer, unknown = build_transfer(account, reserve), "01a00000-0000-7000-8000-000000000000"
    for values, errors in (
        ({"transferAccountId": unknown}, [("#/transferAccountId", "unknown_id")]),
        ({"transferAccountId": "x"}, [("#/transferAccountId", "unknown_id")]),
        ({"transferAccountId": same}, [("#/transferAccountId", "same_account")]),
        ({"accountId": None}, [("#/accountId", "required")]),
        ({"categoryId": str(category.id)}, [("#/categoryId", "contradicting_fields")]),
        ({"invoiceDate": "2026-01-01"}, [("#/invoiceDate", "contradicting_fields")]),
        (
            {"settledBy": "category", "categoryId": str(category.id)},
            [("#/categoryId", "contradicting_fields"), ("#/settledBy", "contradicting_fields")],
        ),
        (
            {"overrides": {str(DAY): {"categoryId": str(category.id), "accountId": str(reserve.id)}}},
            [
                (f"#/overrides/{DAY}/accountId", "same_account"),
                (f"#/overrides/{DAY}/categoryId", "contradicting_fields"),
            ],
        ),
    ):
        assert list_errors(api.post("planned_transactions", transfer | values)) == errors
        assert list_errors(api.put(path, values)) == errors
    answer = api.put(f"{path}/overrides/{DAY}", {"categoryId": str(category.id), "accountId": str(reserve.id)})
    assert list_errors(answer) == [("#/accountId", "same_account"), ("#/categoryId", "contradicting_fields")]
    assert len(api.get("planned_transactions").json()) == 1


@pytest.mark.parametrize(("amount", "sign"), [("-300.00", 1), ("300.00", -1)])
def test_transfer_moves_both_accounts_and_neither_cash_nor_flows(api, account, reserve, plan_transfer, amount, sign):
    plan_transfer(amountValue=amount)
    assert forecast_balance(api, account) == -300 * sign
    assert forecast_balance(api, reserve) == 300 * sign
    assert forecast_balance(api) == 0
    assert sum_flows(api) == (0, 0)
    answer = api.post("data/forecastBalanceTimeSeries", WINDOW | {"byAccount": True}).json()
    lowest = {each["accountId"]: (each["lowest"]["value"], each["belowZero"]) for each in answer["accounts"]}
    payer, payee = (account, reserve) if sign == 1 else (reserve, account)
    assert lowest == {str(payer.id): (-300, str(DAY)), str(payee.id): (0, None)}
    assert (answer["plannedInflow"], answer["plannedOutflow"], answer["lowest"]["value"]) == (0, 0, 0)


def test_transfer_to_a_card_leaves_cash_but_is_no_outflow(api, account, card, plan_transfer):
    plan_transfer(transferAccountId=str(card.id), recurrence={"frequency": "week", "interval": 2})
    assert (forecast_balance(api), forecast_balance(api, card)) == (-900, 900)
    assert sum_flows(api) == (0, 0)
    answer = api.post("data/forecastBalanceTimeSeries", WINDOW).json()
    assert [answer[name] for name in ("plannedInflow", "plannedOutflow", "transfersOut")] == [0, 0, 900]


def test_transfer_arrives_at_the_rate_of_the_day_in_an_account_of_another_currency(
    api, acme, make_account, plan_transfer
):
    dollars = make_account(acme, name="Dollars", default_currency="USD")
    plan_transfer(transferAccountId=str(dollars.id), amountValue="300.00")
    answer = api.post("data/forecastBalanceTimeSeries", WINDOW | {"byAccount": True}).json()
    assert {point["value"] for point in answer["projected"]} == {0}
    (lowest,) = [each["lowest"]["value"] for each in answer["accounts"] if each["accountId"] == str(dollars.id)]
    (rate,) = [each["rate"] for each in api.get("rates").json() if each["currency"] == "USD"]
    assert lowest == pytest.approx(-300 / float(rate), abs=0.005)


def test_copied_company_has_its_own_transfer(sign_in_browser, alice, acme, plan_transfer):
    planned = plan_transfer()
    member = sign_in_browser(alice, acme)
    copied = member.post("copy", {"name": "Sandbox"})
    assert copied.status_code == 201, copied.content
    sandbox = Api(Company.objects.get(id=copied.json()["id"]), session=member.client)
    (row,) = sandbox.get("planned_transactions").json()
    names = {each["id"]: each["name"] for each in sandbox.get("accounts").json()}
    assert (names[row["accountId"]], names[row["transferAccountId"]]) == ("Main", "Reserve")
    assert row["companyId"] != planned["companyId"]


def test_overdue_transfer_counts_once_and_lapses_after_sixty_days(api, account, reserve, plan_transfer):
    plan_transfer(startDate=str(TODAY - timedelta(days=5)))
    plan_transfer(startDate=str(TODAY - timedelta(days=61)))
    for accounts, value in ((), 0), ((account,), -300), ((reserve,), 300):
        query = WINDOW | ({"accountIds": [str(each.id) for each in accounts]} if accounts else {})
        answer = api.post("data/forecastBalanceTimeSeries", query).json()
        assert (answer["overdue"], answer["projected"][0]["value"]) == ({"count": 1, "value": value}, value)
    window = {"startDate": str(TODAY - timedelta(days=60)), "endDate": str(TODAY)}
    assert [each["state"] for each in api.get("planned_transactions/due", window).json()] == ["overdue"]


def test_changed_occurrence_of_a_transfer_changes_both_accounts(api, account, reserve, card, plan_transfer):
    path = f"planned_transactions/{plan_transfer(recurrence={'frequency': 'week'})['id']}/overrides"
    for days, patch in ((0, {"skipped": True}), (7, {"amountValue": "-50.00"}), (14, {"accountId": str(card.id)})):
        assert api.put(f"{path}/{DAY + timedelta(days=days)}", patch).status_code == 200
    moved = {"date": str(LAST + timedelta(days=1))}
    assert api.put(f"{path}/{DAY + timedelta(days=21)}", moved).status_code == 200
    balances = [forecast_balance(api, each) for each in (account, reserve, card)]
    assert balances == [-350, 650, -300]


def test_leg_on_the_account_settles_both_legs(api, account, reserve, plan_transfer):
    planned = plan_transfer(startDate=str(TODAY), amountValue="-300.00")
    out = {"accountId": str(account.id), "date": str(TODAY), "amountValue": "-300.00"}
    source = api.post("transactions", out).json()
    assert source["settlements"] == [
        {"plannedTransactionId": planned["id"], "date": str(TODAY), "amountValue": "-300.00"}
    ]
    assert (forecast_balance(api, account), forecast_balance(api, reserve)) == (-300, 0)
    arrived = {"accountId": str(reserve.id), "date": str(TODAY), "amountValue": "300.00"}
    target = api.post("transactions", arrived).json()
    assert target["settlements"] == []
    link = {"sourceTransactionId": source["id"], "sourceCategorizationId": None, "targetTransactionId": target["id"]}
    assert api.post("transactions/link_transfer", link).status_code == 200
    assert (forecast_balance(api, account), forecast_balance(api, reserve), forecast_balance(api)) == (-300, 300, 0)
    assert sum_flows(api) == (0, 0)


def test_transfer_is_in_no_planned_profit_and_loss(api, account, plan_transfer):
    def read() -> list[Any]:
        days = {"startDate": str(TODAY), "endDate": str(LAST)}
        months = {"startMonth": f"{TODAY:%Y-%m}", "endMonth": f"{LAST:%Y-%m}"}
        return [api.post("plan_items/proposals", days).json(), api.post("data/profitAndLoss", months).json()]

    before = read()
    plan_transfer()
    assert read() == before


def test_scenario_adds_scales_and_stops_transfers_and_adoption_keeps_them(api, account, reserve, card, plan_transfer):
    planned = plan_transfer(recurrence={"frequency": "week"})
    added = build_transfer(account, reserve) | {"transferAccountId": str(card.id), "amountValue": "-10.00"}
    changes = [
        {"kind": "scale", "plannedTransactionId": planned["id"], "percent": 50, "to": str(DAY + timedelta(days=13))},
        {"kind": "stop", "plannedTransactionId": planned["id"], "from": str(DAY + timedelta(days=14))},
        {"kind": "add", "plannedTransaction": added},
    ]
    made = api.post("scenarios", {"name": "What if", "changes": changes})
    scenario = api.get(f"scenarios/{made.json()['id']}").json()
    assert scenario["changes"][2]["plannedTransaction"]["transferAccountId"] == str(card.id)
    scenario_balances = [forecast_balance(api, each, scenarioId=scenario["id"]) for each in (account, reserve, card)]
    assert scenario_balances == [-910, 900, 10]
    assert forecast_balance(api, scenarioId=scenario["id"]) == -10
    assert sum_flows(api, scenarioId=scenario["id"]) == (0, 0)
    assert api.post(f"scenarios/{scenario['id']}/adopt").status_code == 200
    assert [forecast_balance(api, each) for each in (account, reserve, card)] == scenario_balances


def test_deleted_transfer_account_makes_the_change_of_a_scenario_broken(api, account, reserve):
    change = {"kind": "add", "plannedTransaction": build_transfer(account, reserve)}
    scenario = api.post("scenarios", {"name": "What if", "changes": [change]}).json()
    assert api.delete(f"accounts/{reserve.id}").status_code == 200
    assert api.get(f"scenarios/{scenario['id']}").json()["changes"][0]["broken"] is True


def test_deleted_transfer_account_leaves_a_payment(api, account, reserve, plan_transfer):
    planned = plan_transfer()
    assert api.delete(f"accounts/{reserve.id}").status_code == 200
    stored = api.get(f"planned_transactions/{planned['id']}").json()
    assert (stored["accountId"], stored["transferAccountId"]) == (str(account.id), None)
    assert (forecast_balance(api, account), sum_flows(api)) == (-300, (0, 300))


moved_amounts = st.decimals(-9999, 9999, places=2).filter(bool)
days_ahead = st.integers(-70, 60).map(lambda number: TODAY + timedelta(days=number))


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_transfers_between_cash_accounts_leave_the_sum_of_account_forecasts(api, account, reserve, body, data):
    def sum_account_forecasts() -> tuple[float, list[Any]]:
        values = [forecast_balance(api, each) for each in (account, reserve)]
        return round(sum(values), 2), api.post("data/forecastBalanceTimeSeries", WINDOW).json()["projected"]

    before = sum_account_forecasts()
    for amount, day, weekly in data.draw(
        st.lists(st.tuples(moved_amounts, days_ahead, st.booleans()), min_size=1, max_size=4)
    ):
        transfer = build_transfer(account, reserve) | {"amountValue": str(amount), "startDate": str(day)}
        recurrence = {"frequency": "week"} if weekly else None
        assert api.post("planned_transactions", transfer | {"recurrence": recurrence}).status_code == 201
    assert sum_account_forecasts() == before


def test_pages_plan_and_show_transfers(owner, api, acme, account, reserve):
    form = build_rule_form(accountId=str(account.id), transferAccountId=str(reserve.id), categoryId="")
    assert owner.post(build_page_path(acme, "/new"), form).status_code == 303
    (planned,) = api.get("planned_transactions").json()
    assert planned["transferAccountId"] == str(reserve.id)
    for path in ("", "/rules", f"/{planned['id']}"):
        assert "Main → Reserve" in get_page_text(owner.get(build_page_path(acme, path))), path
    edit = build_page_path(acme, f"/{planned['id']}/edit")
    assert f'<option value="{reserve.id}" selected>Reserve' in owner.get(edit).content.decode()
    assert owner.post(edit, form | {"direction": "in"}).status_code == 303
    assert "Reserve → Main" in get_page_text(owner.get(build_page_path(acme, f"/{planned['id']}")))
    refused = owner.post(edit, form | {"transferAccountId": str(account.id)})
    assert refused.status_code == 400
    assert "Choose two different accounts." in get_page_text(refused)


def test_page_of_upcoming_movements_names_a_planned_transfer(owner, acme, plan_transfer):
    plan_transfer()
    text = get_page_text(owner.get(f"/app/companies/{acme.id}/ahead", {"startDate": str(DAY), "endDate": str(DAY)}))
    assert "Put aside planned transfer" in text
    assert "booked on a card" not in text
