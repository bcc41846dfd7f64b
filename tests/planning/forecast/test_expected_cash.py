"""What is expected of a whole company, as analytics reads it."""

from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from ledger.models import AccountType
from ledger.money.calc.fx import RateTable
from planning.forecast.expected_cash import find_expectations_after_cutover, sum_expected_cash
from planning.forecast.queries import iter_planned_flows, sum_planned_results

pytestmark = pytest.mark.django_db

YEAR = (date(2026, 1, 1), date(2026, 12, 31))


def create_planned_transaction(api: Any, body: dict[str, Any], **values: Any) -> dict[str, Any]:
    made = api.post("planned_transactions", body | values)
    assert made.status_code == 201, made.content
    return made.json()


def list_planned_flows(company: Any, start: date, end: date) -> list[tuple[str, str]]:
    return sorted((str(flow.date), str(flow.amount.normalize())) for flow in iter_planned_flows(company, start, end))


def list_forecast_sums(company: Any) -> dict[Any, tuple[Decimal, Decimal]]:
    """What the forecast takes of the year, asked on the day before it."""
    eve = YEAR[0] - timedelta(days=1)
    expectations = find_expectations_after_cutover(
        company=company, cutover=eve, end=YEAR[1], today=eve, rates=RateTable([])
    )
    return sum_expected_cash(expectations, cutover=eve, end=YEAR[1], today=eve).sums


def test_forecast_lists_every_occurrence_in_the_window(acme, api, body):
    planned = create_planned_transaction(api, body)
    (flow,) = iter_planned_flows(acme, date(2026, 2, 1), date(2026, 2, 28))
    assert (flow.date, flow.amount, flow.currency) == (date(2026, 2, 28), Decimal("-2400.00"), "EUR")
    assert (str(flow.account_id), str(flow.planned_id)) == (body["accountId"], planned["id"])
    assert len([*iter_planned_flows(acme, *YEAR)]) == 12


def test_forecast_omits_settled_and_skipped_and_uses_moved_dates(acme, api, body, account, make_transaction):
    paid = make_transaction(account, amount_value="-2400")
    overrides = {
        "2026-02-28": {"skipped": True},
        "2026-03-31": {"date": "2026-04-02", "amountValue": "-1.00"},
        "2026-12-31": {"date": "2027-01-02"},
    }
    planned = create_planned_transaction(api, body, overrides=overrides)
    settlement = {"date": "2026-01-31", "transactionId": str(paid.id)}
    assert api.post(f"planned_transactions/{planned['id']}/settle", settlement).status_code == 200
    assert list_planned_flows(acme, date(2026, 1, 1), date(2026, 4, 30)) == [
        ("2026-04-02", "-1"),
        ("2026-04-30", "-2.4E+3"),
    ]
    assert list_planned_flows(acme, date(2026, 12, 1), date(2026, 12, 31)) == []
    assert list_planned_flows(acme, date(2027, 1, 1), date(2027, 1, 30)) == [("2027-01-02", "-2.4E+3")]


def test_occurrence_moved_beyond_its_rule_appears_in_window(acme, api, body):
    create_planned_transaction(api, body, recurrence=None, overrides={"2026-01-31": {"date": "2027-05-01"}})
    ended = {"frequency": "month", "end": {"type": "date", "date": "2026-02-28"}}
    create_planned_transaction(api, body, recurrence=ended, overrides={"2026-02-28": {"date": "2027-05-02"}})
    create_planned_transaction(api, body, startDate="2028-01-01", overrides={"2028-01-01": {"date": "2027-05-03"}})
    assert [day for day, _ in list_planned_flows(acme, date(2027, 5, 1), date(2027, 5, 30))] == [
        "2027-05-01",
        "2027-05-02",
        "2027-05-03",
    ]


def test_forecast_omits_transit_accounts_and_includes_accountless_plans(acme, api, body, make_account):
    transit = make_account(acme, type=AccountType.TRANSIT)
    create_planned_transaction(api, body, accountId=str(transit.id), recurrence=None)
    create_planned_transaction(api, body, accountId=None, recurrence=None, amountValue="7.00")
    create_planned_transaction(api, body, recurrence=None, overrides={"2026-01-31": {"accountId": str(transit.id)}})
    back = {"2026-01-31": {"accountId": body["accountId"]}}
    create_planned_transaction(
        api, body, accountId=str(transit.id), recurrence=None, amountValue="9.00", overrides=back
    )
    assert list_forecast_sums(acme) == {(date(2026, 1, 31), "EUR"): (Decimal(16), Decimal(0))}


def test_forecast_excludes_plans_of_other_companies(globex, api, body):
    create_planned_transaction(api, body)
    assert list_planned_flows(globex, *YEAR) == []
    assert list_forecast_sums(globex) == {}


def test_forecast_sums_equal_sums_of_flows(acme, api, body):
    create_planned_transaction(api, body)
    create_planned_transaction(api, body, amountValue="100.00", recurrence={"frequency": "week"})
    create_planned_transaction(api, body, amountValue="5.00", amountCurrency="USD", startDate="2026-03-31")
    create_planned_transaction(
        api, body, amountValue="-6.00", overrides={"2026-02-28": {"skipped": True}, "2026-03-31": {"name": "x"}}
    )
    added: dict[Any, list[Decimal]] = defaultdict(lambda: [Decimal(0), Decimal(0)])
    for flow in iter_planned_flows(acme, *YEAR):
        added[flow.date, flow.currency][flow.amount < 0] += abs(flow.amount)
    assert list_forecast_sums(acme) == {key: tuple(value) for key, value in added.items()}


def test_forecast_agrees_with_occurrences_of_every_rule(acme, api, body):
    made = [create_planned_transaction(api, body, startDate=f"2025-{month:02}-28") for month in range(1, 13)]
    api.put(f"planned_transactions/{made[3]['id']}/overrides/2026-02-28", {"date": "2026-02-27"})
    window = {"startDate": "2026-01-01", "endDate": "2026-12-31"}
    listed = [
        (occurrence["date"], planned["id"])
        for planned in made
        for occurrence in api.get(f"planned_transactions/{planned['id']}/occurrences", window).json()
    ]
    assert sorted(listed) == sorted((str(flow.date), str(flow.planned_id)) for flow in iter_planned_flows(acme, *YEAR))


def test_forecast_queries_do_not_grow_with_rules(acme, api, body, django_assert_num_queries):
    for count in (1, 20):
        for _ in range(count):
            create_planned_transaction(api, body, overrides={"2026-01-31": {"skipped": True}})
        with django_assert_num_queries(4):  # transit accounts, rules, settlements, invoices
            list_forecast_sums(acme)
        with django_assert_num_queries(3):
            list_planned_flows(acme, *YEAR)


def create_plan_item(api: Any, category: Any, amount: dict[str, Any], **values: Any) -> None:
    body = {"month": "2026-01", "plType": "ga", "categoryId": str(category.id), "amount": amount} | values
    made = api.post("plan_items", body)
    assert made.status_code == 201, made.content


def build_money(value: Any, currency: str = "EUR") -> dict[str, Any]:
    return {"value": value, "currency": currency}


def test_plan_is_summed_by_month_line_category_and_currency(acme, api, category):
    create_plan_item(api, category, {"type": "fixed", "amount": build_money(100)}, duration=2)
    create_plan_item(api, category, {"type": "changeByAmount", "amount": build_money(10)}, month="2026-02")
    create_plan_item(
        api, category, {"type": "relative", "amount": build_money(100, "USD"), "relativeChange": 0.1}, frequency=2
    )
    create_plan_item(api, category, {"type": "fixed", "amount": build_money(5)}, frequency=0, month="2026-03")
    months = [date(2026, month, 1) for month in (1, 2, 3)]
    planned_results = sum_planned_results(acme, months)
    key = ("ga", category.id)
    assert {month: {c: a for a, c in planned_results[month, *key]} for month in months} == {
        date(2026, 1, 1): {"EUR": Decimal(100), "USD": Decimal(100)},
        date(2026, 2, 1): {"EUR": Decimal(110)},
        date(2026, 3, 1): {"EUR": Decimal(25), "USD": Decimal(110)},
    }


def test_ended_or_not_started_plan_has_no_results(acme, api, category, globex):
    create_plan_item(api, category, {"type": "fixed", "amount": build_money(100)}, duration=2)
    assert sum_planned_results(acme, [date(2026, 3, 1)]) == {}
    assert sum_planned_results(acme, [date(2025, 12, 1)]) == {}
    assert sum_planned_results(acme, []) == {}
    assert sum_planned_results(globex, [date(2026, 1, 1)]) == {}


def test_overflowing_plan_growth_is_capped(acme, api, category):
    create_plan_item(
        api, category, {"type": "relative", "amount": build_money(-1), "relativeChange": 10}, month="0001-01"
    )
    create_plan_item(api, category, {"type": "changeByAmount", "amount": build_money(999999999999999)}, month="0001-01")
    (((amount, _),),) = sum_planned_results(acme, [date(9999, 12, 1)]).values()
    assert amount == 0


def test_plan_is_read_in_one_query(acme, api, category, django_assert_num_queries):
    for _ in range(5):
        create_plan_item(api, category, {"type": "fixed", "amount": build_money(100)})
    with django_assert_num_queries(1):
        sum_planned_results(acme, [date(2026, 1, 1)])
