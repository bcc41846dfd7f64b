"""What twelve months did to recurring revenue, and what became of each month's new customers: over HTTP."""

from collections import Counter
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.calc.mrr import build_contract_key, to_month_number
from analytics.queries.cohorts import compute_cohorts
from analytics.queries.recurring_revenue import MRR, EventSelection, iter_histories
from analytics.queries.recurring_revenue_summary import get_contracts_at, iter_customer_spans, measure_span
from ledger.calc.months import add_months, format_month, get_last_day_of_month, list_months
from ledger.money.calc.fx import convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from ledger.subscriptions.calc.monthly_value import drop_rounding_noise
from tests import factories
from tests.analytics.queries.test_recurring_revenue import (
    build_event,
    import_events,
    list_movements,
    query_monthly_rows,
)

pytestmark = pytest.mark.django_db
RATES = ("netRevenueRetention", "grossRevenueRetention", "customerChurnRate", "revenueChurnRate", "quickRatio")


def test_summary_counts_each_customer_once_over_twelve_months(api, query_data):
    import_events(
        api,
        build_event("a", "100.00", "2023-03-01"), build_event("a", "120.00", "2024-02-01"),
        build_event("a", "150.00", "2024-07-01"),
        build_event("b", "200.00", "2023-05-01"), build_event("b", "0.00", "2024-03-15"),
        build_event("c", "300.00", "2023-12-31"), build_event("c", "250.00", "2024-12-31"),
        build_event("d", "80.00", "2024-05-01"),
        build_event("e", "50.00", "2024-06-01"), build_event("e", "0.00", "2024-08-01"),
        build_event("f", "10.00", "2022-06-01"), build_event("f", "0.00", "2023-06-01"),
        build_event("f", "40.00", "2024-09-01"),
    )  # fmt: skip
    assert query_data("recurringRevenueSummary", month="2024-12") == {
        "mrr": 520, "arr": 6240, "customers": 4, "arpa": 130,
        "netRevenueRetention": 66.67, "grossRevenueRetention": 58.33, "customerChurnRate": 33.33,
        "revenueChurnRate": 41.67, "quickRatio": 0.68,
    }  # fmt: skip


def test_summary_includes_changes_on_the_first_day(api, acme):
    import_events(api, build_event("a", "100.00", "2023-12-05"), build_event("a", "150.00", "2024-01-01"))
    result = measure_span(company=acme, first=date(2024, 1, 1), last=date(2024, 1, 1), rates=get_rate_table()).row
    assert (result.start, result.upgrade, result.new, result.end) == (100, 50, 0, 150)


def test_summary_counts_customer_with_several_subscriptions_once(api, query_data):
    """Another subscription of a customer is an upgrade, the end of one of them a downgrade, and only the last one's end
    loses the customer."""
    import_events(
        api,
        build_event("a", "100.00", "2024-01-01", productExternalId="p"),
        build_event("a/2", "40.00", "2024-02-01", productExternalId="q"),
        build_event("a/3", "25.00", "2024-02-10", productExternalId="q"),
        build_event("a", "0.00", "2024-03-05", productExternalId="p"),
        build_event("a/2", "0.00", "2024-04-01"), build_event("a/3", "0.00", "2024-04-20"),
        build_event("b", "10.00", "2024-01-01", productExternalId="q"), build_event("b/2", "10.00", "2024-01-01"),
    )  # fmt: skip
    result = {row["month"]: list_movements(row) for row in query_monthly_rows(api, "2024-01", "2024-04")}
    assert result == {
        "2024-01": {"new": 120, "newCount": 2, "end": 120, "endCount": 2},
        "2024-02": {"upgrade": 65, "upgradeCount": 1, "end": 185, "endCount": 2},
        "2024-03": {"downgrade": -100, "downgradeCount": 1, "end": 85, "endCount": 2},
        "2024-04": {"cancel": -65, "cancelCount": 1, "end": 20, "endCount": 1},
    }
    summary = query_data("recurringRevenueSummary", month="2024-03")
    assert (summary["mrr"], summary["customers"], summary["arpa"]) == (85, 2, 42.5)


def test_summary_rates_are_null_without_starting_revenue(api, query_data):
    nothing = {"mrr": 0, "arr": 0, "customers": 0, "arpa": None} | dict.fromkeys(RATES)
    assert query_data("recurringRevenueSummary") == nothing
    assert query_data("recurringRevenueSummary", month="0001-01") == nothing
    import_events(api, build_event("a", "90.00", "2024-01-01"))
    result = query_data("recurringRevenueSummary", month="2024-01")
    assert (result["mrr"], result["arpa"]) == (90, 90)
    assert [result[name] for name in RATES] == [None] * 5
    later = query_data("recurringRevenueSummary", month="2025-01")
    assert [later[name] for name in RATES] == [100, 100, 0, 0, None]


def test_summary_ignores_exchange_rate_changes_in_retention_and_churn(api, query_data):
    import_events(api, build_event("a", "100.00", "2023-01-01", currency="USD"))
    result = query_data("recurringRevenueSummary", month="2024-12")
    assert [result[name] for name in RATES] == [100, 100, 0, 0, None]


def test_cohort_follows_customers_from_their_first_month(api, query_data):
    import_events(
        api,
        build_event("a", "100.00", "2024-01-10"), build_event("a", "150.00", "2024-02-01"),
        build_event("b", "50.00", "2024-01-31"), build_event("b", "0.00", "2024-02-20"),
        build_event("b", "30.00", "2024-04-01"),
        build_event("c", "70.00", "2024-03-01", currency="USD"),
        build_event("d", "10.00", "2023-12-01"),
    )  # fmt: skip
    query = {"startMonth": "2024-01", "endMonth": "2024-04"}
    heads = query_data("cohorts", **query, measure="customers")
    assert [(each["month"], each["start"]) for each in heads] == [
        ("2024-01", 2), ("2024-02", 0), ("2024-03", 1), ("2024-04", 0),
    ]  # fmt: skip
    assert [tuple(mark.values()) for mark in heads[0]["values"]] == [
        ("2024-01", 2, 100), ("2024-02", 1, 50), ("2024-03", 1, 50), ("2024-04", 2, 100),
    ]  # fmt: skip
    assert [tuple(mark.values()) for mark in heads[3]["values"]] == [("2024-04", 0, None)]
    revenue = query_data("cohorts", **query, measure="revenue")
    assert [tuple(mark.values())[1:] for mark in revenue[0]["values"]] == [
        (150, 100),
        (150, 100),
        (150, 100),
        (180, 120),
    ]
    assert [mark["percentage"] for mark in revenue[2]["values"]] == [100, 100], "rates keep and lose nothing"
    assert revenue[2]["values"][0]["value"] != revenue[2]["values"][1]["value"]


FIRST, LAST = date(2023, 1, 1), date(2024, 12, 1)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "b/2", "c", "d"]),
        st.integers(0, 23),
        st.integers(1, 28),
        st.sampled_from(["0.00", "10.00", "33.33", "120.00"]),
        st.sampled_from(["EUR", "USD", "JPY"]),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda each: each[:3],
)


def count_stays(company, *, first, last, basis):
    """As the database says it."""
    result = Counter()
    for stay in iter_customer_spans(company, first=first, last=last, basis=basis, products=()):
        result[build_contract_key(stay.before), build_contract_key(stay.after), stay.was_active_before] += stay.times
    return result


def count_by_customer(company, *, first, last, basis):
    """The same from everybody's whole history, one after the other."""
    start, end = to_month_number(first) - 1, to_month_number(last)
    result = Counter()
    for history in iter_histories(company.id, EventSelection()):
        before, now = get_contracts_at(history[basis], start), get_contracts_at(history[basis], end)
        if before or now:
            seen = any(contracts for number, contracts in history[basis] if number <= start)
            result[build_contract_key(before), build_contract_key(now), seen] += 1
    return result


def follow_cohorts(company, *, months):
    """Month in which they came -> what those customers pay at the end of each month from then on, and how many do."""
    numbers, rates = [to_month_number(month) for month in months], get_rate_table()
    result = {came: [[Decimal(0), 0] for number in numbers if number >= came] for came in numbers}
    for history in iter_histories(company.id, EventSelection()):
        came = next((number for number, contracts in history[MRR] if contracts), None)
        for place, mark in enumerate(result.get(came, [])):
            held, day = (
                get_contracts_at(history[MRR], came + place),
                get_last_day_of_month(add_months(months[numbers.index(came)], place)),
            )
            mark[0] += sum(
                convert_currency(held[each], source=each, target="EUR", day=day, rates=rates) for each in held
            )
            mark[1] += bool(held)
    return list(result.values())


@given(events=EVENTS, start=st.integers(0, 23), length=st.integers(1, 24))
@settings(max_examples=6)
def test_spans_and_cohorts_agree_with_monthly_data(db, make_api, events, start, length):
    company = factories.make_company(name="Any")
    api = make_api(company)
    import_events(
        api,
        *(
            build_event(
                who, amount.partition(".")[0] if currency == "JPY" else amount,
                str(add_months(FIRST, month).replace(day=day)), currency=currency,
                committedDate=str(add_months(FIRST, max(month - day % 3, 0)).replace(day=1)),
            )
            for who, month, day, amount, currency in events
        ),
    )  # fmt: skip
    first = add_months(FIRST, start)
    last = min(add_months(first, length - 1), LAST)
    months = query_monthly_rows(api, format_month(first), format_month(last))
    cohorts = measure_span(company=company, first=first, last=last, rates=get_rate_table()).row
    assert (float(cohorts.start), cohorts.start_count) == (months[0]["start"], months[0]["startCount"])
    assert (float(cohorts.end), cohorts.end_count) == (months[-1]["end"], months[-1]["endCount"])
    for basis in ("mrr", "cmrr"):
        assert count_stays(company, first=first, last=last, basis=basis) == count_by_customer(
            company, first=first, last=last, basis=basis
        )
    moved = ("new", "reactivate", "upgrade", "downgrade", "cancel")
    assert sum(getattr(cohorts, f"{kind}_count") for kind in moved) <= len(
        {who.partition("/")[0] for who, *_ in events}
    )
    if length == 1:
        assert [float(getattr(cohorts, kind)) for kind in moved] == [months[0][kind] for kind in moved]
    for measure in ("cmrr", "arr", "carr"):
        query_monthly_rows(api, format_month(first), format_month(last), mrr_type=measure)  # each row closes
    marks = follow_cohorts(company, months=list_months(first, last))
    for place, measure in enumerate(("revenue", "customers")):
        cohorts = compute_cohorts(
            company=company, months=list_months(first, last), measure=measure, rates=get_rate_table()
        )
        assert [[each.value for each in cohort.marks] for cohort in cohorts] == [
            [round_half_up(drop_rounding_noise(Decimal(mark[place])), "EUR") for mark in cohort] for cohort in marks
        ]
    query = {"startMonth": format_month(FIRST), "endMonth": format_month(LAST)}
    every = query_monthly_rows(api, *query.values())
    heads = api.post("data/cohorts", query | {"measure": "customers"}).json()
    revenue = api.post("data/cohorts", query | {"measure": "revenue"}).json()
    for n, month in enumerate(list_months(FIRST, LAST)):
        assert every[n]["month"] == format_month(month)
        assert every[n]["newCount"] == heads[n]["start"]
        assert revenue[n]["start"] == revenue[n]["values"][0]["value"]
        assert every[n]["new"] == revenue[n]["start"]
        assert every[n]["endCount"] == sum(cohort["values"][n - m]["value"] for m, cohort in enumerate(heads[: n + 1]))
        worth = sum(Decimal(str(cohort["values"][n - m]["value"])) for m, cohort in enumerate(revenue[: n + 1]))
        assert abs(Decimal(str(every[n]["end"])) - worth) <= Decimal("0.01") * len(events)


@pytest.mark.parametrize(
    ("query", "body", "pointer", "code"),
    [
        ("recurringRevenueSummary", {"month": "2024-1"}, "#/month", "invalid_month"),
        ("cohorts", {"startMonth": "2024-01", "endMonth": "2024-02"}, "#/measure", "required"),
        ("cohorts", {"startMonth": "2024-01", "endMonth": "2024-02", "measure": "mrr"}, "#/measure", "invalid_choice"),
        (
            "cohorts",
            {"startMonth": "2024-03", "endMonth": "2024-02", "measure": "revenue"},
            "#/endMonth",
            "end_before_start",
        ),
    ],
)
def test_summary_and_cohorts_reject_invalid_parameters(api, query, body, pointer, code):
    refused = api.post(f"data/{query}", body)
    assert refused.status_code == 400
    assert [(error["pointer"], error["code"]) for error in refused.json()["errors"]] == [(pointer, code)]


def test_summary_and_cohorts_need_permission_and_are_limited_to_company(api, make_api, acme, globex_api):
    import_events(api, build_event("a", "90.00", "2024-01-01"))
    body = {"startMonth": "2024-01", "endMonth": "2024-01", "measure": "customers"}
    for query in ("recurringRevenueSummary", "cohorts"):
        assert make_api(acme, "financials:read").post(f"data/{query}", body).status_code == 403
    assert globex_api.post("data/cohorts", body).json()[0]["start"] == 0
    assert globex_api.post("data/recurringRevenueSummary", {"month": "2024-01"}).json()["mrr"] == 0
