"""Recurring revenue by the month, over HTTP: events in, rows out."""

import csv
import json
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import orjson
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.calc.mrr import MOVEMENTS, to_annual_row
from analytics.queries import recurring_revenue
from analytics.queries.monthly_rows import monthly_row_to_dict
from companies.models import Company
from ledger.calc.months import add_months, get_first_day_of_month, list_months
from ledger.models import Rate, RateLoad, RecurringRevenueMonth, RecurringRevenueState
from ledger.money.calc.money import get_minor_units
from ledger.money.rates import get_rate_table
from ledger.subscriptions.actions.subscription_events import create_subscription_event, retract_subscription_event
from ledger.subscriptions.actions.subscriptions import create_subscription
from ledger.subscriptions.calc.monthly_value import compute_monthly_value
from tests import factories
from tests.analytics.reference_mrr import Event, build_month_end_factors, compute_monthly_rows, snapshots
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"
RUNNING = get_first_day_of_month(TODAY)

with (Path(__file__).parents[2] / "data" / "mrr_normalization_killbill.csv").open(newline="") as file:
    PUBLISHED = [row for row in csv.DictReader(file) if row["period"] in {"MONTHLY", "ANNUAL"}]


def build_event(customer, amount, day, currency="EUR", **more):
    """An event of a customer's one subscription; a slash adds another one."""
    return {
        "subscriptionExternalId": customer,
        "customerExternalId": customer.partition("/")[0],
        "effectiveDate": day,
        "amountValue": amount,
        "amountCurrency": currency,
    } | more


def import_events(api, *items):
    answer = api.post("subscription_events/import", {"events": list(items)})
    assert answer.status_code == 200, answer.content
    assert answer.json()["count"] == len(items)


def query_monthly_rows(api, first="2024-01", last="2024-12", mrr_type="mrr", **more):
    answer = api.post("data/monthlyData", {"mrrType": mrr_type, "startMonth": first, "endMonth": last} | more)
    assert answer.status_code == 200, answer.content
    body = answer.json()
    check_rows_close(body)
    return body


def check_rows_close(found):
    """Every row closes exactly, amounts and counts, and starts where the one before ended."""
    for index, row in enumerate(found):
        exact = {name: Decimal(str(row[name])) for name in ("start", *MOVEMENTS, "end")}
        assert exact["start"] + sum(exact[name] for name in MOVEMENTS) == exact["end"], row
        assert row["startCount"] + row["newCount"] + row["reactivateCount"] - row["cancelCount"] == row["endCount"]
        if index:
            assert (row["start"], row["startCount"]) == (found[index - 1]["end"], found[index - 1]["endCount"])


def list_movements(row):
    """What is not zero of a row."""
    return {name: value for name, value in row.items() if value and name not in {"month", "start", "startCount"}}


def test_monthly_data_has_new_upgrade_downgrade_cancel_and_reactivate(api):
    import_events(
        api,
        build_event("a", "10.00", "2024-01-10"),
        build_event("b", "20.00", "2024-01-31"),
        build_event("a", "15.00", "2024-02-29"),
        build_event("b", "12.00", "2024-03-01"),
        build_event("a", "0.00", "2024-04-30"),
        build_event("a", "8.00", "2024-06-01"),
    )
    result = {row["month"]: list_movements(row) for row in query_monthly_rows(api, "2023-12", "2024-07")}
    assert result == {
        "2023-12": {},
        "2024-01": {"new": 30, "newCount": 2, "end": 30, "endCount": 2},
        "2024-02": {"upgrade": 5, "upgradeCount": 1, "end": 35, "endCount": 2},
        "2024-03": {"downgrade": -8, "downgradeCount": 1, "end": 27, "endCount": 2},
        "2024-04": {"cancel": -15, "cancelCount": 1, "end": 12, "endCount": 1},
        "2024-05": {"end": 12, "endCount": 1},
        "2024-06": {"reactivate": 8, "reactivateCount": 1, "end": 20, "endCount": 2},
        "2024-07": {"end": 20, "endCount": 2},
    }


def test_monthly_data_defaults_to_last_twelve_months(api):
    import_events(api, build_event("a", "10.00", "2020-01-10"))
    answer = api.post("data/monthlyData", {"mrrType": "cmrr"}).json()
    assert [row["month"] for row in answer] == [f"{add_months(RUNNING, n):%Y-%m}" for n in range(-11, 1)]
    assert {row["start"] for row in answer} == {10}
    only_end = api.post("data/monthlyData", {"mrrType": "mrr", "endMonth": "2021-12"}).json()
    assert [only_end[0]["month"], only_end[-1]["month"]] == ["2021-01", "2021-12"]


def test_monthly_data_without_events_has_empty_months(api):
    assert {tuple(list_movements(row)) for row in query_monthly_rows(api)} == {()}


def test_mrr_uses_effective_dates_and_cmrr_committed_dates(api):
    import_events(
        api,
        build_event("a", "10.00", "2024-03-01", committedDate="2024-01-20"),
        build_event("a", "0.00", "2024-12-01", committedDate="2024-05-02"),
    )
    mrr = {row["month"]: row["end"] for row in query_monthly_rows(api)}
    cmrr = {row["month"]: row["end"] for row in query_monthly_rows(api, mrr_type="cmrr")}
    assert [month for month, end in mrr.items() if end] == [f"2024-{n:02}" for n in range(3, 12)]
    assert [month for month, end in cmrr.items() if end] == [f"2024-{n:02}" for n in range(1, 5)]


def test_annual_rows_are_twelve_times_rounded_monthly_rows(api):
    import_events(
        api,
        build_event("a", "100.00", "2024-01-10", interval="year"),
        build_event("b", "10.00", "2024-02-10", interval="week"),
    )
    for monthly, yearly in (("mrr", "arr"), ("cmrr", "carr")):
        for one, twelve in zip(
            query_monthly_rows(api, mrr_type=monthly), query_monthly_rows(api, mrr_type=yearly), strict=True
        ):
            for name in ("start", *MOVEMENTS, "end"):
                assert Decimal(str(twelve[name])) == 12 * Decimal(str(one[name]))
                assert twelve["endCount"] == one["endCount"]


def get_day(index):
    """A day in a month of its own."""
    return add_months(date(2020, 1, 15), index)


@pytest.mark.parametrize("batch", ["MONTHLY", "ANNUAL"])
def test_monthly_data_of_published_prices_matches_published_values(api, batch):
    prices = [row for row in PUBLISHED if row["period"] == batch]
    interval = {"MONTHLY": "month", "ANNUAL": "year"}[batch]
    import_events(
        api,
        *(
            build_event(
                f"c{n}",
                row["price"].rstrip("0").rstrip("."),
                str(date(2020, 1, 1) + timedelta(days=31 * n)),
                interval=interval,
            )
            for n, row in enumerate(prices)
        ),
    )
    result = {row["month"]: row for row in query_monthly_rows(api, "2020-01", "2024-12")}
    for n, row in enumerate(prices):
        assert abs(Decimal(str(result[f"{get_day(n):%Y-%m}"]["new"])) - Decimal(row["mrr"])) <= Decimal("0.01"), row
    total = sum(Decimal(row["mrr"]) for row in prices)
    assert abs(Decimal(str(result["2024-12"]["end"])) - total) <= Decimal("0.006")


def test_customer_with_several_subscriptions_and_currencies_counts_once(api):
    rates = get_rate_table()
    import_events(
        api,
        build_event("a/1", "10.00", "2024-01-10"),
        build_event("a/2", "10.00", "2024-01-10", "USD"),
        build_event("a/1", "0.00", "2024-03-10"),
        build_event("a/2", "0.00", "2024-05-10"),
    )
    result = {row["month"]: row for row in query_monthly_rows(api)}
    usd = {
        n: rates.get_cross_rate("USD", "EUR", add_months(date(2024, 2, 1), n - 1) - timedelta(days=1))
        for n in range(1, 13)
    }
    assert result["2024-01"]["newCount"] == 1
    assert result["2024-01"]["end"] == float(round(10 + 10 * usd[1], 2))
    # One live contract left is less, not gone; rates are told apart.
    assert result["2024-03"]["downgradeCount"] == 1
    assert result["2024-03"]["downgrade"] == -10
    assert result["2024-03"]["cancelCount"] == 0
    assert result["2024-02"]["currency"] == pytest.approx(float(10 * (usd[2] - usd[1])), abs=0.011)
    assert result["2024-02"]["currencyCount"] == 1
    assert result["2024-05"]["cancelCount"] == 1
    assert result["2024-05"]["cancel"] == -result["2024-04"]["end"]


def test_monthly_data_in_yen_has_no_decimals(make_api):
    company = factories.make_company(name="Nihon", base_currency="JPY")
    api = make_api(company)
    import_events(
        api,
        build_event("a", "1000", "2024-01-10", "JPY", interval="year"),
        build_event("b", "10.00", "2024-01-10", "EUR"),
    )
    monthly_rows = query_monthly_rows(api)
    assert all(isinstance(row[name], int) for row in monthly_rows for name in ("start", *MOVEMENTS, "end"))
    assert monthly_rows[-1]["end"] > 83


def test_first_known_rate_applies_before_it_was_published(api):
    import_events(api, build_event("a", "100.00", "2005-01-10", "ILS"))  # the first rate is of 2011
    result = {row["month"]: row for row in query_monthly_rows(api, "2005-01", "2011-12")}
    first = get_rate_table().get_cross_rate("ILS", "EUR", date(1999, 1, 4))
    assert result["2005-01"]["new"] == float(round(100 * first, 2))
    assert {result[f"200{n}-12"]["currency"] for n in range(5, 10)} == {0}


def test_future_months_include_scheduled_events_at_latest_rates(api):
    ahead = add_months(RUNNING, 2)
    import_events(
        api,
        build_event("a", "10.00", "2024-01-10", "USD"),
        build_event("a", "25.00", str(ahead), "USD", committedDate=str(TODAY)),
    )
    window = {"first": f"{RUNNING:%Y-%m}", "last": f"{add_months(RUNNING, 3):%Y-%m}"}
    mrr, cmrr = query_monthly_rows(api, **window), query_monthly_rows(api, mrr_type="cmrr", **window)
    assert [row["upgradeCount"] for row in mrr] == [0, 0, 1, 0]
    assert [row["upgradeCount"] for row in cmrr] == [1, 0, 0, 0]
    assert [row["currency"] for row in mrr[1:]] == [0, 0, 0]
    assert cmrr[-1]["end"] == mrr[-1]["end"]


# One event more or less


def test_retracting_first_event_changes_all_later_movements(api):
    import_events(api, build_event("a", "10.00", "2024-01-10"), build_event("a", "30.00", "2024-03-10"))
    assert list_movements(query_monthly_rows(api)[2]) == {"upgrade": 20, "upgradeCount": 1, "end": 30, "endCount": 1}
    first = api.get("subscription_events").json()[-1]["id"]
    api.delete(f"subscription_events/{first}")
    monthly_rows = query_monthly_rows(api)
    assert list_movements(monthly_rows[0]) == {}
    assert list_movements(monthly_rows[2]) == {"new": 30, "newCount": 1, "end": 30, "endCount": 1}


def test_base_currency_change_recomputes_monthly_data(api, acme):
    import_events(api, build_event("a", "10.00", "2024-01-10"))
    assert query_monthly_rows(api)[0]["new"] == 10
    assert api.put("", {"baseCurrency": "JPY"}).status_code == 200
    assert query_monthly_rows(api)[0]["new"] == int(
        10 * get_rate_table().get_cross_rate("EUR", "JPY", date(2024, 1, 31)) + Decimal("0.5")
    )


def test_new_exchange_rates_apply_to_monthly_data_immediately(api, acme, now):
    import_events(api, build_event("a", "10.00", "2024-01-10", "USD"))
    before = query_monthly_rows(api)[0]["new"]
    Rate.objects.filter(currency="USD", date=date(2024, 1, 31)).update(per_euro=Decimal("0.5"))
    RateLoad.objects.create(source="test", loaded_time=now, rows=1)
    assert query_monthly_rows(api)[0]["new"] == 20 != before


def test_currency_without_rate_is_an_error_and_never_counted_at_par(api, now):
    Rate.objects.filter(currency="ILS").delete()
    RateLoad.objects.create(source="test", loaded_time=now, rows=1)
    import_events(api, build_event("a", "10.00", "2024-01-10"))
    assert query_monthly_rows(api)[0]["new"] == 10
    subscription = api.get("subscriptions").json()[0]["id"]
    event = {"subscriptionId": subscription, "effectiveDate": "2024-02-10", "amountValue": "9", "amountCurrency": "ILS"}
    assert api.post("subscription_events", event).status_code == 201
    assert api.get().json()["computedCommittedMrrEur"] is None
    for answer in (api.post("data/monthlyData", {"mrrType": "mrr"}), api.get("products")):
        assert (answer.status_code, answer.json()["code"]) == (409, "rate_missing")
    with pytest.raises(CommandError, match="1 companies"):
        call_command("refresh_metrics")
    api.delete(f"subscription_events/{api.get('subscription_events').json()[0]['id']}")
    assert query_monthly_rows(api)[1]["end"] == 10
    assert api.get().json()["computedCommittedMrrEur"] == "10.00"


def test_product_filter_counts_only_events_of_those_products(api):
    import_events(
        api,
        build_event("a/1", "10.00", "2024-01-10", productExternalId="p1"),
        build_event("a/2", "5.00", "2024-02-10", productExternalId="p2"),
        build_event("b", "7.00", "2024-03-10"),
    )
    products = {each["externalIds"][0]: each["id"] for each in api.get("products").json()}
    only = query_monthly_rows(api, productIds=[products["p2"]])
    assert [list_movements(row) for row in only[:3]] == [
        {},
        {"new": 5, "newCount": 1, "end": 5, "endCount": 1},
        {"end": 5, "endCount": 1},
    ]
    assert query_monthly_rows(api, productIds=list(products.values()))[2]["end"] == 15
    assert (
        query_monthly_rows(api)[2]["end"]
        == query_monthly_rows(api, productIds=[])[2]["end"]
        == query_monthly_rows(api, productIds=None)[2]["end"]
        == 22
    )


def test_monthly_data_rejects_invalid_parameters(api):
    for body, pointer, code in [
        ({}, "#/mrrType", "required"),
        ({"mrrType": "nmrr"}, "#/mrrType", "invalid_choice"),
        ({"mrrType": None}, "#/mrrType", "must_not_be_null"),
        ({"mrrType": "mrr", "startMonth": "2024-13"}, "#/startMonth", "invalid_month"),
        ({"mrrType": "mrr", "startMonth": "2024-01-01"}, "#/startMonth", "invalid_month"),
        ({"mrrType": "mrr", "startMonth": "2024-02", "endMonth": "2024-01"}, "#/endMonth", "end_before_start"),
        ({"mrrType": "mrr", "startMonth": "2000-01", "endMonth": "2020-01"}, "#/endMonth", "window_too_long"),
        ({"mrrType": "mrr", "productIds": [UNKNOWN_ID]}, "#/productIds/0", "unknown_id"),
        ({"mrrType": "mrr", "productIds": ["x"]}, "#/productIds/0", "unknown_id"),
        ({"mrrType": "mrr", "productIds": "x"}, "#/productIds", "invalid_value"),
    ]:
        refused = api.post("data/monthlyData", body)
        assert refused.status_code == 400, body
        assert refused.json()["code"] == "validation_failed", body
        assert [(error["pointer"], error["code"]) for error in refused.json()["errors"]] == [(pointer, code)], body


def test_monthly_data_default_start_is_not_before_calendar_start(api):
    response = api.post("data/monthlyData", {"mrrType": "mrr", "endMonth": "0001-02"})
    assert [row["month"] for row in response.json()] == ["0001-01", "0001-02"]


def test_monthly_data_allows_window_of_twenty_years(api):
    assert len(query_monthly_rows(api, "2000-01", "2019-12")) == 240


def test_monthly_data_needs_permission_and_is_limited_to_company(api, make_api, acme, globex_api):
    import_events(api, build_event("a", "10.00", "2024-01-10"))
    assert {row["end"] for row in query_monthly_rows(globex_api)} == {0}
    refused = make_api(acme, "products:read", "balances:read").post("data/monthlyData", {"mrrType": "mrr"})
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")


def test_stored_monthly_rows_are_read_with_one_query(api, acme, django_assert_num_queries):
    import_events(api, build_event("a", "10.00", "2024-01-10"))
    query_monthly_rows(api)
    with django_assert_num_queries(1):
        recurring_revenue.compute_monthly_data(
            company=acme, mrr_type="mrr", first=date(2020, 1, 1), last=date(2024, 12, 1)
        )


def test_monthly_data_handles_events_centuries_apart(api, acme):
    import_events(
        api,
        build_event("a", "10.00", "0001-01-10", "USD"),
        build_event("b", "20.00", "2024-01-10"),
        build_event("b", "5.00", "9999-12-31"),
    )
    assert [row["end"] > 20 for row in query_monthly_rows(api, "2023-12", "2024-02")] == [False, True, True]
    assert query_monthly_rows(api, "9999-11", "9999-12")[1]["downgrade"] == -15
    assert recurring_revenue.find_recurring_revenue_differences(acme.id) == []


def test_stored_monthly_rows_equal_computed_rows(api, acme):
    import_events(
        api, build_event("a", "100.00", "2022-05-10", interval="year"), build_event("b", "10.00", "2023-02-10", "USD")
    )
    for mrr_type in ("mrr", "cmrr", "arr", "carr"):
        for first, last in (
            ("2020-01", "2022-04"),
            ("2022-01", "2024-12"),
            ("2024-01", "2030-12"),
            ("2030-01", "2030-02"),
        ):
            window = {"first": date.fromisoformat(f"{first}-01"), "last": date.fromisoformat(f"{last}-01")}
            added_up = recurring_revenue.compute_monthly_data(company=acme, mrr_type=mrr_type, **window)
            assert query_monthly_rows(api, first, last, mrr_type) == json.loads(
                orjson.dumps([monthly_row_to_dict(row) for row in added_up])
            )


def test_refresh_metrics_command_updates_mrr_and_customer_count(api, acme, capsys):
    import_events(
        api, build_event("a", "10.00", "2024-01-10"), build_event("b", "120.00", "2024-01-10", interval="year")
    )
    Company.objects.filter(id=acme.id).update(computed_committed_mrr_eur=None, computed_active_customer_count=None)
    call_command("refresh_metrics")
    read = api.get().json()
    assert (read["computedCommittedMrrEur"], read["computedActiveCustomerCount"]) == ("20.00", 2)
    assert not RecurringRevenueState.objects.get(company_id=acme.id).stale


def test_recurring_revenue_check_finds_and_rebuild_fixes_wrong_month(api, acme):
    import_events(api, build_event("a", "10.00", "2024-01-10"))
    query_monthly_rows(api)
    assert recurring_revenue.find_recurring_revenue_differences(acme.id) == []
    RecurringRevenueMonth.objects.for_company(acme.id).filter(basis="cmrr").update(new=11)
    recurring_revenue_differences = recurring_revenue.find_recurring_revenue_differences(acme.id)
    assert recurring_revenue_differences == ["ledger_recurringmonth: cmrr 2024-01"]
    recurring_revenue.rebuild_recurring_revenue(acme.id)
    assert recurring_revenue.find_recurring_revenue_differences(acme.id) == []


# Any history, one event at a time

EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["a/1", "a/2", "b", "c"]),
        st.integers(0, 420),
        st.integers(-60, 60),
        st.sampled_from(["0", "10", "0.07", "25", "333"]),
        st.sampled_from(["EUR", "USD", "JPY"]),
        st.sampled_from(["month", "year", "week", "day"]),
        st.booleans(),
    ),
    max_size=12,
)


@given(drawn=EVENTS, base=st.sampled_from(["EUR", "USD", "JPY"]), read_early=st.booleans())
@settings(max_examples=20)
def test_incremental_recurring_revenue_equals_full_recomputation(db, audit_context, drawn, base, read_early):
    company = factories.make_company(name="Any", base_currency=base)
    subscriptions, customers = {}, {}
    months = list_months(date(2023, 6, 1), date(2025, 12, 1))
    if read_early:
        recurring_revenue.refresh_recurring_revenue(company)
    remaining = []
    for name, day, delay, amount, currency, interval, retracted in drawn:
        owner = name.partition("/")[0]
        if owner not in customers:
            customers[owner] = factories.make_customer(company, owner)
        if name not in subscriptions:
            subscriptions[name] = create_subscription(
                company=company, context=audit_context, values={"customer_id": customers[owner].id, "external_id": name}
            )
        effective = date(2024, 1, 1) + timedelta(days=day)
        price = Decimal(amount) if get_minor_units(currency) else Decimal(int(Decimal(amount)))
        values = {
            "subscription_id": subscriptions[name].id,
            "effective_date": effective,
            "committed_date": effective + timedelta(days=delay),
            "amount_value": price,
            "amount_currency": currency,
            "interval": interval,
        }
        event = create_subscription_event(company=company, context=audit_context, values=values)
        remaining.append((event, name, owner, values))
        if retracted:
            retract_subscription_event(
                company=company, context=audit_context, event_id=remaining.pop(len(remaining) // 2)[0].id
            )
    if read_early:
        assert not RecurringRevenueState.objects.get(company_id=company.id).stale
        assert recurring_revenue.find_recurring_revenue_differences(company.id) == []
    for basis, by in (("mrr", "effective_date"), ("cmrr", "committed_date")):
        expected = compute_rows_by_hand(remaining, by, months=months, base=base)
        monthly_data = recurring_revenue.compute_monthly_data(
            company=company, mrr_type=basis, first=months[0], last=months[-1]
        )
        assert monthly_data == expected
        yearly = recurring_revenue.compute_monthly_data(
            company=company, mrr_type=basis.replace("mrr", "arr"), first=months[0], last=months[-1]
        )
        assert yearly == [to_annual_row(row) for row in expected]
    assert recurring_revenue.find_recurring_revenue_differences(company.id) == []


def compute_rows_by_hand(kept, by, *, months, base):
    """The rows by the arithmetic that looks at one customer and one month at a time."""
    events = {}
    for _, name, owner, values in kept:
        monthly = compute_monthly_value(values["amount_value"], values["interval"])
        events.setdefault(owner, []).append(Event(name, values[by], monthly, values["amount_currency"]))
    factors = build_month_end_factors(get_rate_table(), months=months, base=base, currencies=["EUR", "USD", "JPY"])
    histories = [snapshots(own, months=months) for own in events.values()]
    return compute_monthly_rows(histories, months=months, factors=factors, base=base)
