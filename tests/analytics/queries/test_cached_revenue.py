"""Results that are cached until a company's subscription events change: every change shows at once, over HTTP."""

from datetime import date
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.models import Rate, RateLoad
from tests.analytics.queries.test_recurring_revenue import build_event, import_events

pytestmark = pytest.mark.django_db
COHORTS = {"startMonth": "2024-01", "endMonth": "2024-03", "measure": "revenue"}


@pytest.fixture
def read_results(api, query_data):
    """Return (MRR at the end of March 2024, revenue of the cohorts of January to March at its end)."""

    def read_results():
        summary = query_data("recurringRevenueSummary", month="2024-03")
        return summary["mrr"], [cohort["values"][-1]["value"] for cohort in query_data("cohorts", **COHORTS)]

    return read_results


def test_second_read_queries_no_events(api, read_results):
    import_events(api, build_event("a", "10.00", "2024-01-10"))
    with CaptureQueriesContext(connection) as first:
        results = read_results()
    with CaptureQueriesContext(connection) as second:
        assert read_results() == results == (10, [10, 0, 0])
    counts = [
        sum("FROM ledger_subscriptionevent" in query["sql"] for query in queries.captured_queries)
        for queries in (first, second)
    ]
    assert counts[0] >= 2
    assert counts[1] == 0


def test_new_and_retracted_events_show_at_once(api, read_results):
    import_events(api, build_event("a", "10.00", "2024-01-10"))
    assert read_results() == (10, [10, 0, 0])
    import_events(api, build_event("a", "30.00", "2024-02-10"), build_event("b", "5.00", "2024-03-01"))
    assert read_results() == (35, [30, 0, 5])
    latest = api.get("subscription_events").json()[0]["id"]
    assert api.delete(f"subscription_events/{latest}").status_code == 200
    assert read_results() == (30, [30, 0, 0])


def test_subscription_of_another_customer_shows_at_once(api, read_results):
    import_events(api, build_event("a", "10.00", "2024-01-10"), build_event("b", "5.00", "2024-03-01"))
    assert read_results() == (15, [10, 0, 5])
    subscriptions = {each["externalId"]: each for each in api.get("subscriptions").json()}
    owner = subscriptions["a"]["customerId"]
    assert api.put(f"subscriptions/{subscriptions['b']['id']}", {"customerId": owner}).status_code == 200
    assert read_results() == (15, [15, 0, 0])


def test_new_rates_and_base_currency_show_at_once(api, read_results, now):
    import_events(api, build_event("a", "10.00", "2024-01-10", "USD"))
    before = read_results()
    Rate.objects.filter(currency="USD", date__range=(date(2024, 1, 31), date(2024, 3, 31))).update(
        per_euro=Decimal("0.5")
    )
    RateLoad.objects.create(source="test", loaded_time=now, rows=1)
    assert read_results() == (20, [20, 0, 0]) != before
    assert api.put("", {"baseCurrency": "USD"}).status_code == 200
    assert read_results() == (10, [10, 0, 0])


def test_other_company_with_equal_questions_has_its_own_results(api, globex_api, read_results):
    import_events(api, build_event("a", "10.00", "2024-01-10"))
    import_events(globex_api, build_event("a", "7.00", "2024-02-10"))
    assert read_results() == (10, [10, 0, 0])
    summary = globex_api.post("data/recurringRevenueSummary", {"month": "2024-03"}).json()
    assert summary["mrr"] == 7
    assert [cohort["values"][-1]["value"] for cohort in globex_api.post("data/cohorts", COHORTS).json()] == [0, 7, 0]
