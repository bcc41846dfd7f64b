"""The exchange rates that a company's figures stand on: answered, on their page, and as a notice where they are old."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import Company
from ledger.models import Category
from ledger.money.current_rates import list_current_rates
from ledger.money.rates import get_rate_table, load_rates
from tests import factories
from tests.ledger.conftest import get_page_text

pytestmark = pytest.mark.django_db


@pytest.fixture
def publish_rates():
    """Load rates (units per euro) as of some days ago."""

    def publish(days_ago=0, **rates):
        now = timezone.now()
        data = f"Date,{','.join(rates)}\n{now.date() - timedelta(days=days_ago)},{','.join(rates.values())}\n"
        load_rates(data=data.encode(), source="test", now=now)
        get_rate_table()

    return publish


@pytest.fixture
def dollars(books):
    return books.create_account(defaultCurrency="USD")


def format_day_ago(days_ago):
    return str(timezone.now().date() - timedelta(days=days_ago))


def test_rates_of_used_currencies_are_listed(api, books, bank, dollars, publish_rates):
    publish_rates(USD="1.25", GBP="0.8", CHF="0.95")
    publish_rates(2, JPY="160")
    books.create_transaction(bank, "-5.00", "2026-03-01", amountCurrency="GBP")
    books.create_transaction(bank, "-5", "2026-03-01", amountCurrency="JPY")
    assert api.get("rates").json() == [
        {"currency": "GBP", "date": format_day_ago(0), "rate": 1.25, "ageDays": 0},
        {"currency": "JPY", "date": format_day_ago(2), "rate": 0.00625, "ageDays": 2},
        {"currency": "USD", "date": format_day_ago(0), "rate": 0.8, "ageDays": 0},
    ]


def test_single_currency_company_has_no_rates_listed(api, books, bank):
    books.create_transaction(bank, "-5.00", "2026-03-01")
    assert api.get("rates").json() == []


def plan_invoice(api, acme):
    body = {"accountId": None, "name": "Invoice", "startDate": "2026-03-20", "invoiceDate": "2026-03-01"}
    return api.post("planned_transactions", body | {"amountValue": "70.00", "amountCurrency": "USD"})


def plan_amount(api, acme):
    category = str(Category.objects.for_company(acme.id).get(system_key="officeAndAdmin").id)
    body = {"month": "2026-03", "plType": "ga", "categoryId": category, "frequency": 1}
    amount = {"value": 70, "currency": "USD"}
    return api.post("plan_items", body | {"amount": {"type": "fixed", "amount": amount}})


def record_subscription(api, acme):
    customer = str(factories.make_customer(acme).id)
    subscription = api.post("subscriptions", {"customerId": customer, "externalId": "sub_1"}).json()["id"]
    body = {"subscriptionId": subscription, "effectiveDate": "2026-03-01", "amountValue": "70.00"}
    return api.post("subscription_events", body | {"amountCurrency": "USD"})


@pytest.mark.parametrize("store", [plan_invoice, plan_amount, record_subscription])
def test_currency_of_plans_and_subscriptions_needs_its_rate(pages, acme, api, bank, publish_rates, store, monkeypatch):
    publish_rates(USD="1.25")
    address = f"/app/companies/{acme.id}"
    without = get_page_text(pages.client.get(f"{address}/settings/exchange-rates"))
    assert "All amounts are in EUR. No exchange rates are needed." in without
    answer = store(api, acme)
    assert answer.status_code == 201, answer.content
    assert [rate["currency"] for rate in api.get("rates").json()] == ["USD"]
    assert "USD 0.8" in get_page_text(pages.client.get(f"{address}/settings/exchange-rates"))
    monkeypatch.setattr("ledger.templatetags.rates.timezone.now", lambda: datetime.now(UTC) + timedelta(days=5))
    assert "The exchange rate of USD is from" in get_page_text(pages.client.get(f"{address}/plan"))


def test_currency_of_a_written_off_invoice_needs_no_rate(api, acme, bank, publish_rates):
    publish_rates(USD="1.25")
    invoice = plan_invoice(api, acme).json()["id"]
    body = {"date": "2026-03-21", "reason": "Insolvent"}
    assert api.post(f"planned_transactions/{invoice}/write_off", body).status_code == 200
    assert api.get("rates").json() == []


def test_cross_rate_has_the_older_publication_date(api, acme, dollars, publish_rates):
    publish_rates(6, USD="1.25")
    publish_rates(1, GBP="0.75")
    Company.objects.filter(id=acme.id).update(base_currency="GBP")
    assert api.get("rates").json() == [{"currency": "USD", "date": format_day_ago(6), "rate": 0.6, "ageDays": 6}]
    assert [each.is_old for each in list_current_rates(company=acme, today=timezone.now().date())] == [True]


def test_rates_are_listed_with_one_query_for_any_number_of_transactions(api, acme, books, bank, dollars):
    today = timezone.now().date()
    for count in (1, 20):
        for _ in range(count):
            books.create_transaction(bank, "-5.00", "2026-03-01", amountCurrency="GBP")
        rates = get_rate_table()
        with CaptureQueriesContext(connection) as seen:
            assert len(list_current_rates(company=acme, today=today, rates=rates)) == 2
        assert len(seen) == 1


def test_exchange_rate_page_shows_currency_rate_and_age(pages, acme, dollars, publish_rates):
    publish_rates(3, USD="1.25")
    text = get_page_text(pages.client.get(f"/app/companies/{acme.id}/settings/exchange-rates"))
    assert "USD 0.8 " in text.replace("0.80", "0.8")
    assert "3 days" in text


CONVERTED = ("", "/accounts", "/plan", "/profit-and-loss", "/recurring-revenue")


def test_four_day_old_rates_show_no_warning(pages, acme, dollars, publish_rates):
    publish_rates(4, USD="1.25")
    for path in CONVERTED:
        address = f"/app/companies/{acme.id}{path}"
        assert "exchange rate of USD" not in get_page_text(pages.client.get(address)), path


def test_five_day_old_rates_show_a_warning_with_their_date(pages, acme, dollars, publish_rates, monkeypatch):
    publish_rates(USD="1.25")
    later = datetime.now(UTC) + timedelta(days=5)
    monkeypatch.setattr("ledger.templatetags.rates.timezone.now", lambda: later)
    for path in CONVERTED:
        answer = pages.client.get(f"/app/companies/{acme.id}{path}")
        assert answer.status_code == 200, path
        assert "The exchange rate of USD is from" in get_page_text(answer), path
        assert f"/app/companies/{acme.id}/settings/exchange-rates" in answer.content.decode(), path


PAGES_WITHOUT_CONVERSION = (
    "/transactions",
    "/settings",
    "/accounts/new",
    "/accounts/groups",
    "/accounts/{bank}",
    "/planned/rules",
    "/planned/new",
    "/planned/proposals",
    "/receivables",
    "/receivables/import",
    "/reports",
    "/recurring-revenue/products",
    "/recurring-revenue/events",
)


def test_pages_that_convert_nothing_show_no_rate_warning(pages, acme, bank, dollars, publish_rates, monkeypatch):
    publish_rates(USD="1.25")
    monkeypatch.setattr("ledger.templatetags.rates.timezone.now", lambda: datetime.now(UTC) + timedelta(days=5))
    for path in PAGES_WITHOUT_CONVERSION:
        answer = pages.client.get(f"/app/companies/{acme.id}{path.format(bank=bank)}")
        assert answer.status_code == 200, path
        assert "exchange rate of USD" not in get_page_text(answer), path


def test_page_of_an_account_in_another_currency_shows_the_rate_warning(
    pages, acme, dollars, publish_rates, monkeypatch
):
    publish_rates(USD="1.25")
    monkeypatch.setattr("ledger.templatetags.rates.timezone.now", lambda: datetime.now(UTC) + timedelta(days=5))
    answer = pages.client.get(f"/app/companies/{acme.id}/accounts/{dollars}")
    assert "The exchange rate of USD is from" in get_page_text(answer)


def test_cash_plan_shows_the_rate_warning_once_something_is_planned(
    pages, acme, api, dollars, publish_rates, monkeypatch
):
    publish_rates(USD="1.25")
    monkeypatch.setattr("ledger.templatetags.rates.timezone.now", lambda: datetime.now(UTC) + timedelta(days=5))
    assert "exchange rate of USD" not in get_page_text(pages.client.get(f"/app/companies/{acme.id}/planned"))
    rent = {"accountId": dollars, "name": "Rent", "startDate": format_day_ago(-3), "amountValue": "-100.00"}
    assert api.post("planned_transactions", rent).status_code == 201
    assert "exchange rate of USD" in get_page_text(pages.client.get(f"/app/companies/{acme.id}/planned"))


@pytest.mark.parametrize(
    ("days_ago", "prints"),
    [pytest.param(0, True, id="figures of today"), pytest.param(6, False, id="figures of days with rates")],
)
def test_rate_warning_is_printed_with_figures_that_it_concerns(
    pages, acme, books, dollars, publish_rates, days_ago, prints
):
    publish_rates(6, USD="1.25")
    books.create_transaction(dollars, "-5.00", format_day_ago(20))
    query = f"startDate={format_day_ago(30)}&endDate={format_day_ago(days_ago)}"
    html = pages.client.get(f"/app/companies/{acme.id}/change-of-cash?{query}").content.decode()
    assert "The exchange rate of USD is from" in html
    assert ('<p class="notice warning" role="status">' in html) is prints
    assert ("screen-only" in html) is not prints
