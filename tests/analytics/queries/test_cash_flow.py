"""Cash flow and its forecast over HTTP."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.calc.months import add_months, get_first_day_of_month
from ledger.money.calc.fx import convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from tests import factories
from tests.ledger.conftest import Books
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db


def map_nonzero_points(series):
    """Date -> value of the points that are not zero."""
    return {point["date"]: point["value"] for point in series if point["value"]}


def build_window(first, last, **more):
    return {"startDate": str(first), "endDate": str(last)} | more


def test_cash_flow_groups_by_day_week_or_month(query_data, books, bank):
    books.create_transaction(bank, "100.00", "2024-01-31")
    books.create_transaction(bank, "-30.00", "2024-01-31")
    books.create_transaction(bank, "-5.50", "2024-02-01")
    books.create_transaction(bank, "7.00", "2024-02-06")
    window = build_window("2024-01-29", "2024-02-09")
    result = query_data("cashFlowTimeSeries", **window)
    assert list(result) == ["inflow", "outflow"]
    assert [point["date"] for point in result["inflow"]] == [
        str(date(2024, 1, 29) + timedelta(days=n)) for n in range(12)
    ]
    assert map_nonzero_points(result["inflow"]) == {"2024-01-31": 100, "2024-02-06": 7}
    assert map_nonzero_points(result["outflow"]) == {"2024-01-31": 30, "2024-02-01": 5.5}
    weekly = query_data("cashFlowTimeSeries", **window, interval="week")
    assert map_nonzero_points(weekly["inflow"]) == {"2024-01-29": 100, "2024-02-05": 7}
    assert map_nonzero_points(weekly["outflow"]) == {"2024-01-29": 35.5}
    monthly = query_data("cashFlowTimeSeries", **window, interval="month")
    assert monthly["outflow"] == [{"date": "2024-01-01", "value": 30}, {"date": "2024-02-01", "value": 5.5}]


def test_cash_flow_excludes_transfers_initial_balances_pending_and_transit(api, query_data, books, bank):
    savings, transit = books.create_account(name="Savings"), books.create_account(name="Stripe", type="transit")
    api.put(f"accounts/{bank}/initial_balance", {"date": "2024-01-01", "amountValue": "1000.00"})
    books.create_transaction(bank, "50.00", "2024-01-02", pending=True)
    books.create_transaction(transit, "70.00", "2024-01-02")
    out, into = (
        books.create_transaction(bank, "-200.00", "2024-01-03"),
        books.create_transaction(savings, "200.00", "2024-01-03"),
    )
    assert books.link_transfer(out["id"], into["id"]).status_code == 200
    books.create_transaction(bank, "-9.00", "2024-01-04")
    result = query_data("cashFlowTimeSeries", **build_window("2024-01-01", "2024-01-31"))
    assert map_nonzero_points(result["inflow"]) == {}
    assert map_nonzero_points(result["outflow"]) == {"2024-01-04": 9}


def test_cash_flow_converts_at_daily_rates_and_rounds_each_point_once(query_data, books, bank):
    days = [date(2024, 1, 2), date(2024, 1, 3), date(2024, 1, 31)]
    for day in days:
        books.create_transaction(bank, "33.33", str(day), amountCurrency="USD")
    rates = get_rate_table()
    worth = [convert_currency(Decimal("33.33"), source="USD", target="EUR", day=day, rates=rates) for day in days]
    (point,) = query_data("cashFlowTimeSeries", **build_window("2024-01-01", "2024-01-31"), interval="month")["inflow"]
    assert Decimal(str(point["value"])) == round_half_up(sum(worth), "EUR")


def test_cash_flow_in_yen_has_whole_numbers(make_api):
    api = make_api(factories.make_company(name="Nihon", base_currency="JPY"))
    books = Books(api)
    account = books.create_account()
    books.create_transaction(account, "1000", "2024-01-02", amountCurrency="JPY")
    books.create_transaction(account, "1.00", "2024-01-02", amountCurrency="EUR")
    (point,) = api.post("data/cashFlowTimeSeries", build_window("2024-01-02", "2024-01-02")).json()["inflow"]
    assert isinstance(point["value"], int)


# Forecast


def create_planned_transaction(api, account, amount, start, **more):
    body = {"accountId": account, "name": "Plan", "startDate": str(start), "amountValue": amount} | more
    answer = api.post("planned_transactions", body)
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_cash_flow_actuals_end_and_planned_amounts_start_at_cutover(api, query_data, books, bank):
    books.create_transaction(bank, "100.00", str(TODAY - timedelta(days=1)))
    books.create_transaction(bank, "11.00", str(TODAY))
    books.create_transaction(bank, "5.00", str(TODAY + timedelta(days=1)))
    create_planned_transaction(api, bank, "-3.00", TODAY - timedelta(days=2), recurrence={"frequency": "day"})
    result = query_data("forecastCashFlowTimeSeries", endDate=str(TODAY + timedelta(days=3)))
    assert list(result) == ["inflow", "outflow", "plannedInflow", "plannedOutflow"]
    axis = [point["date"] for point in result["inflow"]]
    assert axis[0] == str(add_months(get_first_day_of_month(TODAY), -11))
    assert axis[-1] == str(TODAY + timedelta(days=3))
    assert all([point["date"] for point in series] == axis for series in result.values())
    assert map_nonzero_points(result["inflow"]) == {str(TODAY - timedelta(days=1)): 100, str(TODAY): 11}
    overdue = 3 * 2
    assert map_nonzero_points(result["plannedOutflow"]) == {
        str(TODAY + timedelta(days=1)): 3 + 3 + overdue,
        str(TODAY + timedelta(days=2)): 3,
        str(TODAY + timedelta(days=3)): 3,
    }
    assert map_nonzero_points(result["plannedInflow"]) == {str(TODAY + timedelta(days=1)): 5}
    assert map_nonzero_points(result["outflow"]) == {}
    earlier = query_data(
        "forecastCashFlowTimeSeries",
        endDate=str(TODAY),
        cutoverDate=str(TODAY - timedelta(days=1)),
        startDate=str(TODAY),
    )
    assert map_nonzero_points(earlier["inflow"]) == {}
    assert map_nonzero_points(earlier["plannedInflow"]) == {str(TODAY): 11}
    assert map_nonzero_points(earlier["plannedOutflow"]) == {str(TODAY): 3 + overdue}


def test_cash_flow_forecast_of_past_window_has_no_planned_amounts(api, query_data, books, bank):
    books.create_transaction(bank, "100.00", "2020-05-05")
    create_planned_transaction(api, bank, "-3.00", "2020-01-01", recurrence={"frequency": "day"})
    result = query_data("forecastCashFlowTimeSeries", endDate="2020-06-15", interval="month")
    assert [result["inflow"][0]["date"], result["inflow"][-1]["date"]] == ["2019-07-01", "2020-06-01"]
    assert map_nonzero_points(result["inflow"]) == {"2020-05-01": 100}
    assert map_nonzero_points(result["plannedOutflow"]) == map_nonzero_points(result["plannedInflow"]) == {}
    assert len(result["plannedOutflow"]) == 12
    assert (
        query_data("forecastCashFlowTimeSeries", endDate="2020-06-15", startDate="2019-07-01", interval="month")
        == result
    )
    cut = {"cutoverDate": "2020-01-31", "startDate": "2019-07-01"}
    assert query_data("forecastCashFlowTimeSeries", endDate="2020-06-15", interval="month", **cut) == result


def test_cash_flow_forecast_excludes_settled_skipped_transit_occurrences(api, query_data, books, bank):
    transit = books.create_account(name="Stripe", type="transit")
    paid = books.create_transaction(bank, "-3.00", str(TODAY))["id"]
    days = [TODAY + timedelta(days=n) for n in range(1, 5)]
    overrides = {str(days[1]): {"skipped": True}}
    daily = create_planned_transaction(
        api, bank, "-3.00", days[0], recurrence={"frequency": "day"}, overrides=overrides
    )
    body = {"date": str(days[0]), "transactionId": paid}
    assert api.post(f"planned_transactions/{daily['id']}/settle", body).status_code == 200
    create_planned_transaction(api, transit, "-4.00", days[0], recurrence={"frequency": "day"})
    create_planned_transaction(api, None, "8.00", days[2])
    result = query_data("forecastCashFlowTimeSeries", endDate=str(days[3]))
    assert map_nonzero_points(result["plannedOutflow"]) == {str(days[2]): 3, str(days[3]): 3}
    assert map_nonzero_points(result["plannedInflow"]) == {str(days[2]): 8}


def test_cash_flow_forecast_uses_latest_rate_for_planned_amounts(api, query_data, bank):
    create_planned_transaction(api, bank, "100.00", TODAY + timedelta(days=400), amountCurrency="USD")
    result = query_data("forecastCashFlowTimeSeries", endDate=str(TODAY + timedelta(days=400)), interval="month")
    worth = convert_currency(Decimal(100), source="USD", target="EUR", day=TODAY, rates=get_rate_table())
    assert [Decimal(str(value)) for value in map_nonzero_points(result["plannedInflow"]).values()] == [
        round_half_up(worth, "EUR")
    ]


FLOWS = st.lists(st.tuples(st.integers(0, 30), st.integers(-500, 500), st.booleans()), max_size=8)


@given(flows=FLOWS, moved=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 300)), max_size=3))
@settings(max_examples=6)
def test_cash_flow_net_and_transfers_equal_balance_change(db, make_api, flows, moved):
    api = make_api(factories.make_company(name="Any"))
    books = Books(api)
    bank, savings = books.create_account(), books.create_account(name="Loan", type="loan")
    start = date(2024, 2, 1)
    net = transferred = 0
    for day, cents, pending in flows:
        books.create_transaction(bank, f"{Decimal(cents) / 100:.2f}", str(start + timedelta(days=day)), pending=pending)
        net += 0 if pending else cents
    for day, cents in moved:
        dated = str(start + timedelta(days=day))
        out = books.create_transaction(bank, f"-{Decimal(cents) / 100:.2f}", dated)["id"]
        into = books.create_transaction(savings, f"{Decimal(cents) / 100:.2f}", dated)["id"]
        assert books.link_transfer(out, into).status_code == 200
        transferred -= cents
    window = build_window(start, start + timedelta(days=30))
    body = api.post("data/cashFlowTimeSeries", window).json()
    totals = {name: sum(Decimal(str(point["value"])) for point in series) for name, series in body.items()}
    assert totals["inflow"] - totals["outflow"] == Decimal(net) / 100
    balance = api.post("data/accountBalanceByAccount", window).json()[bank]
    assert Decimal(str(balance["valueChange"])) == Decimal(net + transferred) / 100


@given(
    rules=st.lists(
        st.tuples(
            st.integers(-80, 40),
            st.integers(-500, 500).filter(bool),
            st.sampled_from(["day", "week", "month"]),
            st.integers(1, 3),
            st.lists(st.integers(0, 20), max_size=3),
        ),
        max_size=4,
    ),
    days=st.integers(0, 80),
    interval=st.sampled_from(["day", "week", "month"]),
)
@settings(max_examples=6)
def test_cash_flow_forecast_counts_each_occurrence_once(db, make_api, rules, days, interval):
    api = make_api(factories.make_company(name="Any"))
    books = Books(api)
    bank = books.create_account()
    end = TODAY + timedelta(days=days)
    window = build_window(TODAY - timedelta(days=60), end)
    everything = []
    for offset, cents, frequency, every, paid in rules:
        amount, start = f"{Decimal(cents) / 100:.2f}", TODAY + timedelta(days=offset)
        made = create_planned_transaction(
            api, bank, amount, start, recurrence={"frequency": frequency, "interval": every}
        )
        path = f"planned_transactions/{made['id']}"
        occurring = api.get(f"{path}/occurrences", window).json()
        everything += [(made["id"], each["originalDate"], Decimal(each["amountValue"])) for each in occurring]
        for place in paid:
            if place < len(occurring):
                day = occurring[place]["date"]
                booked = books.create_transaction(bank, amount, min(day, str(TODAY)))  # may have settled one by itself
                answer = api.post(f"{path}/settle", {"date": day, "transactionId": booked["id"]})
                assert answer.status_code in (200, 409)
    came, still = {}, {}
    for each in api.get("planned_transactions/due", window).json():
        group = came if each["state"] == "paid" else still
        group[each["plannedTransactionId"], each["originalDate"]] = Decimal(each["amountValue"])
    assert sorted((*key, value) for key, value in (came | still).items()) == sorted(everything)
    rows = [row for row in api.get("transactions", {"limit": 1000}).json() if row["settlements"]]
    answers = {(each["plannedTransactionId"], each["date"]) for row in rows for each in row["settlements"]}
    assert len(rows) == len(answers)
    assert {key for key in answers if key in {each[:2] for each in everything}} == came.keys()
    body = api.post("data/forecastCashFlowTimeSeries", {"endDate": str(end), "interval": interval}).json()
    flows = {name: sum(Decimal(str(point["value"])) for point in series) for name, series in body.items()}
    assert flows["plannedInflow"] - flows["plannedOutflow"] == (sum(still.values()) if days else 0)


def test_cash_flow_forecast_default_start_is_eleven_months_before_cutover(query_data):
    ended = get_first_day_of_month(TODAY) - timedelta(days=1)
    result = query_data("forecastCashFlowTimeSeries", endDate=str(add_months(ended, -3)), interval="month")
    assert result["inflow"][0]["date"] == str(add_months(get_first_day_of_month(TODAY), -11))
    assert len(result["inflow"]) == 8


@pytest.mark.parametrize(
    "parameters", [{"endDate": "0001-02-01"}, {"endDate": "0001-02-01", "cutoverDate": "0001-01-31"}]
)
def test_cash_flow_forecast_default_start_is_not_before_calendar_start(api, parameters):
    response = api.post("data/forecastCashFlowTimeSeries", parameters | {"interval": "month"})
    assert [point["date"] for point in response.json()["inflow"]] == ["0001-01-01", "0001-02-01"]


# What is refused


def test_cash_flow_queries_reject_invalid_parameters(api):
    for query, body, pointer, code in [
        ("cashFlowTimeSeries", {}, "#/startDate", "required"),
        ("cashFlowTimeSeries", build_window("2024-02-01", "2024-01-31"), "#/endDate", "end_before_start"),
        ("cashFlowTimeSeries", build_window("2014-01-01", "2024-01-02"), "#/endDate", "window_too_long"),
        (
            "cashFlowTimeSeries",
            build_window("2024-01-01", "2024-01-02", interval="year"),
            "#/interval",
            "invalid_choice",
        ),
        ("cashFlowTimeSeries", build_window("2023-02-29", "2024-01-02"), "#/startDate", "invalid_date"),
        ("forecastCashFlowTimeSeries", {}, "#/endDate", "required"),
        ("forecastCashFlowTimeSeries", build_window("2024-02-01", "2024-01-31"), "#/endDate", "end_before_start"),
        ("forecastCashFlowTimeSeries", {"endDate": "2099-01-01"}, "#/endDate", "window_too_long"),
        (
            "forecastCashFlowTimeSeries",
            {"endDate": str(TODAY), "cutoverDate": str(TODAY + timedelta(days=1))},
            "#/cutoverDate",
            "cutover_in_future",
        ),
    ]:
        refused = api.post(f"data/{query}", body)
        assert refused.status_code == 400, refused.content
        answers = [(error["pointer"], error["code"]) for error in refused.json()["errors"]]
        assert (pointer, code) in answers, query
