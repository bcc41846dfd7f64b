"""Where the cash goes: the query, over HTTP."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.calc.months import get_last_day_of_month
from ledger.money.calc.fx import convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from tests import factories
from tests.analytics.booking_strategies import CURRENCIES, draw_bookings
from tests.analytics.queries.test_cash_flow import create_planned_transaction
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
PARTS = {"plannedInflow": 1, "plannedOutflow": -1, "transfersOut": -1, "revaluation": 1}
QUERY = "forecastBalanceTimeSeries"
ONE_DAY = timedelta(days=1)


def format_day(days):
    return str(TODAY + timedelta(days=days))


def map_points(series):
    return {point["date"]: point["value"] for point in series}


def to_decimal(value):
    return Decimal(str(value))


def test_forecast_shows_actual_cash_until_cutover_and_projected_cash_after(api, query_data, books, bank):
    card = books.create_account(name="Card", type="creditCard")
    books.create_transaction(bank, "100.00", format_day(-2))
    books.create_transaction(bank, "-30.00", format_day(2))
    books.create_transaction(card, "-999.00", format_day(1))
    create_planned_transaction(api, bank, "-80.00", format_day(3))
    create_planned_transaction(api, card, "-555.00", format_day(1))
    create_planned_transaction(api, None, "20.00", format_day(4))
    result = query_data(QUERY, startDate=format_day(-3), endDate=format_day(4))
    assert map_points(result["actual"]) == {
        format_day(-3): 0,
        format_day(-2): 100,
        format_day(-1): 100,
        format_day(0): 100,
    }
    assert map_points(result["projected"]) == {
        format_day(1): 100,
        format_day(2): 70,
        format_day(3): -10,
        format_day(4): 10,
    }
    assert result["lowest"] == {"date": format_day(3), "value": -10}
    assert result["belowZero"] == format_day(3)
    assert result["overdue"] == {"count": 0, "value": 0}
    assert [result[name] for name in PARTS] == [20, 110, 0, 0]
    of_card = query_data(QUERY, startDate=format_day(1), endDate=format_day(1), accountIds=[card])
    assert map_points(of_card["projected"]) == {format_day(1): -999 - 555}
    assert of_card["actual"] == []


def test_forecast_counts_overdue_occurrences_for_sixty_days(api, query_data, books, bank):
    books.create_transaction(bank, "1000.00", format_day(-90))
    create_planned_transaction(api, bank, "-1.00", format_day(-61))
    create_planned_transaction(api, bank, "-2.00", format_day(-60))
    create_planned_transaction(api, bank, "-4.00", format_day(-1))
    create_planned_transaction(api, bank, "-8.00", format_day(0))
    settled = books.create_transaction(bank, "-16.00", format_day(-5))["id"]
    paid = create_planned_transaction(api, bank, "-16.00", format_day(-5), autoSettle=False)
    body = {"date": format_day(-5), "transactionId": settled}
    assert api.post(f"planned_transactions/{paid['id']}/settle", body).status_code == 200
    create_planned_transaction(api, bank, "-32.00", format_day(-5), overrides={format_day(-5): {"skipped": True}})
    result = query_data(QUERY, endDate=format_day(2))
    assert result["overdue"] == {"count": 2, "value": -6}
    assert map_points(result["projected"]) == {format_day(1): 970, format_day(2): 970}, (
        "what is due today comes tomorrow, and is not overdue"
    )
    flows = query_data("forecastCashFlowTimeSeries", startDate=format_day(0), endDate=format_day(2))
    assert map_points(flows["plannedOutflow"]) == {format_day(0): 0, format_day(1): 14, format_day(2): 0}
    earlier = query_data(QUERY, startDate=format_day(-5), endDate=format_day(2), cutoverDate=format_day(-4))
    assert earlier["overdue"] == {"count": 1, "value": -2}
    assert map_points(earlier["projected"])[format_day(-3)] == 982
    assert map_points(earlier["projected"])[format_day(2)] == 970, "what is due after the cutover counts on its own day"


def test_forecast_bucket_shows_closing_balance_and_lowest_is_a_single_day(api, query_data, books, bank):
    books.create_transaction(bank, "50.00", format_day(-400))
    create_planned_transaction(api, bank, "-60.00", format_day(40))
    create_planned_transaction(api, bank, "70.00", format_day(41))
    result = query_data(QUERY, endDate=format_day(80), interval="month")
    assert result["lowest"] == {"date": format_day(40), "value": -10}
    assert result["belowZero"] == format_day(40)
    assert result["actual"][-1]["date"] == f"{TODAY:%Y-%m-01}"
    assert result["projected"][-1]["value"] == 60


def test_forecast_of_past_window_has_no_projection(api, query_data, books, bank):
    books.create_transaction(bank, "50.00", format_day(-20))
    create_planned_transaction(api, bank, "-60.00", format_day(-5))
    result = query_data(QUERY, startDate=format_day(-21), endDate=format_day(-19))
    assert map_points(result["actual"]) == {format_day(-21): 0, format_day(-20): 50, format_day(-19): 50}
    assert (result["projected"], result["lowest"], result["belowZero"]) == ([], None, None)
    assert result["overdue"] == {"count": 0, "value": 0}


def test_forecast_default_start_is_not_before_calendar_start(query_data):
    result = query_data(QUERY, endDate="0001-02-01", interval="month")
    assert map_points(result["actual"]) == {"0001-01-01": 0, "0001-02-01": 0}


def test_forecast_counts_transfer_to_noncash_account_as_outgoing_transfer(query_data, books, bank):
    loan = books.create_account(name="Loan", type="loan")
    out, into = (
        books.create_transaction(bank, "-40.00", format_day(3)),
        books.create_transaction(loan, "40.00", format_day(3)),
    )
    assert books.link_transfer(out["id"], into["id"]).status_code == 200
    result = query_data(QUERY, endDate=format_day(5))
    assert map_points(result["projected"])[format_day(5)] == -40
    assert (result["plannedOutflow"], result["transfersOut"]) == (0, 40)


RULES = st.lists(
    st.tuples(
        st.integers(-1, 3),  # the account, -1 is none
        st.integers(-70, 30),
        st.integers(-50_000, 50_000).filter(bool),
        st.sampled_from(CURRENCIES),
        st.sampled_from(["day", "week", "month"]),
        st.integers(1, 9),
    ),
    max_size=3,
)


def list_planned_movements(api, drawn, rules, *, end):
    """(day, amount, currency) of every occurrence from sixty days ago on that counts as cash."""
    results = []
    for account, offset, cents, currency, frequency, every in rules:
        index = account if 0 <= account < len(drawn.types) else None
        made = create_planned_transaction(
            api, None if index is None else drawn.ids[index], f"{Decimal(cents) / 100:.2f}", format_day(offset),
            amountCurrency=currency, recurrence={"frequency": frequency, "interval": every},
        )  # fmt: skip
        within = {"startDate": format_day(-60), "endDate": str(end)}
        occurring = api.get(f"planned_transactions/{made['id']}/occurrences", within).json()
        if index is None or drawn.is_cash(index):
            results += [
                (date.fromisoformat(each["date"]), Decimal(each["amountValue"]), currency) for each in occurring
            ]
    return results


def convert_total(rows, day, base):
    return sum(
        (
            convert_currency(amount, source=currency, target=base, day=day, rates=get_rate_table())
            for _, amount, currency in rows
        ),
        start=Decimal(0),
    )


@given(
    drawn=draw_bookings(first=TODAY - timedelta(days=50), days=90),
    rules=RULES,
    back=st.sampled_from([0, 0, 1, 20]),
    ahead=st.integers(0, 60),
)
@settings(max_examples=7)
def test_forecast_sums_booked_expected_and_overdue_amounts_in_currencies(db, make_api, drawn, rules, back, ahead):
    api = make_api(factories.make_company(name="Any", base_currency=drawn.base))
    drawn.create(api)
    base, cutover, end = drawn.base, TODAY - timedelta(days=back), TODAY + timedelta(days=ahead)
    opening = drawn.sum_cash(cutover, get_rate_table())
    occurring = list_planned_movements(api, drawn, rules, end=end)
    late = [each for each in occurring if each[0] <= cutover and each[0] < TODAY]
    coming = [(max(each[0], cutover + ONE_DAY), *each[1:]) for each in occurring]
    booked = [(each.day, each.amount, each.currency) for each in drawn.list_booked() if drawn.is_cash(each.account)]
    held = convert_total([each for each in booked if each[0] <= cutover], cutover, base)

    def projected(day):
        there = [each for each in (*booked, *coming) if each[0] <= day]
        return round_half_up(opening + convert_total(there, min(day, TODAY), base) - held, base)

    parameters = {"startDate": str(cutover - timedelta(days=5)), "endDate": str(end), "cutoverDate": str(cutover)}
    forecast = api.post(f"data/{QUERY}", parameters).json()
    assert {day: to_decimal(value) for day, value in map_points(forecast["actual"]).items()} == {
        str(day): drawn.sum_cash(day, get_rate_table()) for day in (cutover - timedelta(days=n) for n in range(6))
    }
    days = [cutover + timedelta(days=n) for n in range(1, (end - cutover).days + 1)]
    balances = {date.fromisoformat(day): to_decimal(value) for day, value in map_points(forecast["projected"]).items()}
    assert balances == {day: projected(day) for day in days}
    assert forecast["overdue"] == {
        "count": len(late),
        "value": float(round_half_up(convert_total(late, TODAY, base), base)),
    }
    check_bridge(forecast, opening=opening, ends=balances.get(end, opening), at_one_rate=cutover == TODAY)
    check_lowest(forecast, balances)
    check_buckets(api, parameters, balances, end=end)
    if set(drawn.types) <= {"bank", "cash"}:
        check_flows(api, parameters, forecast)


def check_bridge(forecast, *, opening, ends, at_one_rate):
    assert opening + sum(sign * to_decimal(forecast[name]) for name, sign in PARTS.items()) == ends
    assert not at_one_rate or forecast["revaluation"] == 0


def check_lowest(forecast, balances):
    lowest = min(balances, key=lambda day: (balances[day], day), default=None)
    assert forecast["lowest"] == (lowest and {"date": str(lowest), "value": float(balances[lowest])})
    assert forecast["belowZero"] == next((str(day) for day in sorted(balances) if balances[day] < 0), None)


def check_buckets(api, parameters, balances, *, end):
    monthly = api.post(f"data/{QUERY}", parameters | {"interval": "month"}).json()["projected"]
    assert {day: to_decimal(value) for day, value in map_points(monthly).items()} == {
        f"{day:%Y-%m-01}": value for day, value in balances.items() if day == min(get_last_day_of_month(day), end)
    }


def check_flows(api, parameters, forecast):
    flows = api.post("data/forecastCashFlowTimeSeries", parameters | {"interval": "month"}).json()
    for name in ("plannedInflow", "plannedOutflow"):
        total = sum(to_decimal(point["value"]) for point in flows[name])
        assert abs(total - to_decimal(forecast[name])) <= Decimal("0.01") * len(flows[name])


def test_forecast_rejects_invalid_parameters(api):
    for more, pointer, code in [
        ({"accountIds": []}, "#/accountIds", "must_not_be_empty"),
        ({"accountIds": ["x"]}, "#/accountIds/0", "unknown_id"),
        ({"accountIds": ["0199a0c1-7a00-7000-8000-000000000001"]}, "#/accountIds/0", "unknown_id"),
        ({"interval": "quarter"}, "#/interval", "invalid_choice"),
        ({"cutoverDate": format_day(1)}, "#/cutoverDate", "cutover_in_future"),
        ({"endDate": "2099-01-01"}, "#/endDate", "window_too_long"),
    ]:
        refused = api.post(f"data/{QUERY}", {"endDate": format_day(5)} | more)
        assert refused.status_code == 400, more
        assert [(error["pointer"], error["code"]) for error in refused.json()["errors"]] == [(pointer, code)], more
