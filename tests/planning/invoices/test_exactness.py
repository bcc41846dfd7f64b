"""What must agree on made-up books: open amounts, aging, forecast, planned totals; and concurrent sums."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from threading import Barrier

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from planning.models import Settlement
from planning.planned_transactions.actions.transaction_settlements import (
    RequestedSettlement,
    settle_with_transaction,
    unsettle_transaction,
)
from tests import factories
from tests.planning.invoices.conftest import Ledger, format_day
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db

# An invoice in the category of a monthly total: days until it is due, cents, cents that are paid, whether it is lost.
TOTAL_INVOICES = st.lists(
    st.tuples(st.integers(1, 25), st.integers(1, 50_000), st.integers(0, 50_000), st.booleans()), max_size=4
)


def sum_forecast(api, days=200):
    flows = api.post("data/forecastCashFlowTimeSeries", {"endDate": format_day(days)}).json()
    return sum(Decimal(str(point["value"])) for point in flows["plannedInflow"])


@given(total=st.integers(1, 100_000), invoices=TOTAL_INVOICES)
@settings(max_examples=12)
def test_invoices_inside_a_planned_total_are_forecast_once(make_api, total, invoices):
    """Expected = what is open of invoices, and what the total has beyond them and beyond what is booked."""
    api = make_api(factories.make_company(name="Any"))
    ledger = Ledger(api, api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"])
    category = api.post("categories", {"name": "Sales", "plTypes": ["revenue"]}).json()["id"]
    month = (TODAY.replace(day=1) + timedelta(days=62)).replace(day=1)  # not this one, nor the next
    day = (month - TODAY).days
    ledger.create_invoice(
        f"{Decimal(total) / 100}", invoiceDate=None, days=day, name="All", categoryId=category, settledBy="category"
    )
    left = Decimal(0)
    for due, cents, paid_cents, is_lost in invoices:
        amount = Decimal(cents) / 100
        owed = ledger.create_invoice(f"{amount}", invoiced=-5, days=day + due, categoryId=category)
        paid = min(Decimal(paid_cents) / 100, amount)
        if paid:
            ledger.pay_invoice(owed, f"{paid}", -1)
        if is_lost and paid < amount:
            ledger.write_off(owed, 0)
            paid = amount
        left += amount - paid
    assert sum_forecast(api) == max(Decimal(total) / 100, left)


@given(
    invoices=st.lists(st.tuples(st.integers(-90, 40), st.integers(1, 9_000)), min_size=2, max_size=5),
    credit=st.integers(0, 8_000),
)
@settings(max_examples=12)
def test_a_sum_closes_its_invoices_to_the_cent_and_opens_them_again(make_api, alice, invoices, credit):
    company = factories.make_company(name="Any")
    api, context = make_api(company), factories.make_audit_context()
    ledger = Ledger(api, api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"])
    customer = ledger.create_counterparty("Globex")
    amounts = [Decimal(cents) / 100 for _due, cents in invoices]
    plans = [
        ledger.create_invoice(f"{amount}", invoiced=-90, days=due, counterparty=customer)
        for (due, _cents), amount in zip(invoices, amounts, strict=True)
    ]
    note = min(Decimal(credit) / 100, sum(amounts) - Decimal("0.01"))
    if note > 0:
        amounts.append(-note)
        plans.append(ledger.create_invoice(f"{-note}", invoiced=-90, days=0, counterparty=customer))
    body = {"accountId": ledger.account, "date": format_day(-1), "amountValue": f"{sum(amounts)}"}
    payment = api.post("transactions", body).json()["id"]
    settle_with_transaction(
        company=company,
        context=context,
        transaction_id=payment,
        settlements=[
            RequestedSettlement(plan["id"], TODAY.fromisoformat(plan["startDate"]), amount)
            for plan, amount in zip(plans, amounts, strict=True)
        ],
    )
    assert ledger.list_invoices() == []
    assert sum_forecast(api) == 0
    assert Decimal(str(ledger.get_aging(asOf=format_day(-2))["total"])) == sum(amounts)
    unsettle_transaction(company=company, context=context, transaction_id=payment)
    assert sum(Decimal(row["openAmountValue"]) for row in ledger.list_invoices()) == sum(amounts)
    assert Decimal(str(ledger.get_aging()["total"])) == sum(amounts)


@pytest.mark.django_db(transaction=True)
def test_concurrent_sums_of_one_transaction_settle_it_once(acme, api, account):
    ledger = Ledger(api, str(account.id))
    plans = [ledger.create_invoice("10.00") for _ in range(4)]
    body = {"accountId": ledger.account, "date": format_day(-1), "amountValue": "20.00"}
    payment = api.post("transactions", body).json()["id"]
    start = Barrier(2)

    def settle(pair):
        try:
            start.wait()
            settle_with_transaction(
                company=acme,
                context=factories.make_audit_context(),
                transaction_id=payment,
                settlements=[
                    RequestedSettlement(plan["id"], TODAY.fromisoformat(plan["startDate"]), Decimal(10))
                    for plan in pair
                ],
            )
        except Exception as error:  # noqa: BLE001 - its code is compared
            return getattr(error, "code", repr(error))
        else:
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        answers = sorted(pool.map(settle, [plans[:2], plans[2:]]), key=str)
    assert answers == [None, "settles_too_much"]
    assert Settlement.objects.filter(transaction=payment).count() == 2
