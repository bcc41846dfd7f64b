"""Aging over HTTP: buckets by due date, past days, currencies; and what must add up on every day."""

from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.money.calc.fx import convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from tests import factories
from tests.planning.invoices.conftest import Ledger, format_day, get_error
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db


def test_open_amounts_are_aged_by_due_date(ledger):
    customer = ledger.create_counterparty("Globex", paymentTerms=10)
    ledger.create_invoice("1.00", days=0)
    for days in (-1, -30, -31, -60, -61, -90, -91, -400):
        ledger.create_invoice("10.00", invoiced=-500, days=0, externalData={"dueDate": format_day(days)})
    ledger.create_invoice("7.00", invoiced=-15, days=3, counterparty=customer)
    result = ledger.get_aging()
    assert (result["current"], result["buckets"], result["total"]) == (1, [27, 20, 20, 20], 88)
    assert result["counterparties"] == [
        {"counterpartyId": customer["id"], "name": "Globex", "current": 0, "buckets": [7, 0, 0, 0], "total": 7},
        {"counterpartyId": None, "name": None, "current": 1, "buckets": [20, 20, 20, 20], "total": 81},
    ]
    assert ledger.get_aging(interval=[60])["buckets"] == [47, 40]
    of_customer = ledger.get_aging(counterpartyId=customer["id"])
    assert (of_customer["total"], len(of_customer["counterparties"])) == (7, 1)
    assert ledger.get_aging("payables") == {"counterparties": [], "current": 0, "buckets": [0, 0, 0, 0], "total": 0}


def test_payables_are_negative_and_credit_notes_reduce_them(ledger):
    vendor = ledger.create_counterparty("Initech", "vendor")
    ledger.create_invoice("-100.00", days=-5, counterparty=vendor)
    ledger.create_invoice("30.00", days=-5, counterparty=vendor)
    assert ledger.get_aging("payables")["buckets"] == [-70, 0, 0, 0]


def test_other_currencies_are_converted_at_the_rate_of_the_day(ledger):
    ledger.create_invoice("100.00", amountCurrency="USD", invoiced=-100, days=-50)
    for days in (-80, 0):
        day = TODAY + timedelta(days=days)
        worth = convert_currency(Decimal(100), source="USD", target="EUR", day=day, rates=get_rate_table())
        assert Decimal(str(ledger.get_aging(asOf=str(day))["total"])) == round_half_up(worth, "EUR")


def test_invalid_query_is_rejected(api):
    for body, code in [
        ({}, "required"),
        ({"kind": "debts"}, None),
        ({"kind": "payables", "interval": []}, None),
        ({"kind": "payables", "interval": [30, 30]}, "not_in_order"),
        ({"kind": "payables", "interval": [0]}, None),
        ({"kind": "payables", "asOf": "2026-02-30"}, "invalid_date"),
        ({"kind": "payables", "counterpartyId": "00000000-0000-7000-8000-000000000000"}, "unknown_id"),
    ]:
        status, result = get_error(api.post("data/aging", body))
        assert status == 400, body
        assert code in (None, result), body


INVOICES = st.lists(
    st.tuples(
        st.integers(-120, 0),  # invoice date
        st.integers(-100, 40),  # due date
        st.integers(-20_000, 20_000).filter(bool),  # cents
        st.lists(st.tuples(st.integers(-120, 0), st.integers(1, 15_000)), max_size=3),  # payments: day, cents
        st.none() | st.integers(-100, 0),  # write-off
    ),
    min_size=1,
    max_size=5,
)


@given(invoices=INVOICES, days=st.lists(st.integers(-125, 5), min_size=1, max_size=4, unique=True))
@settings(max_examples=12)
def test_open_amounts_add_up_on_every_day(make_api, invoices, days):
    """Open = invoices - settlements - write-offs, and the aging and the forecast say the same."""
    api = make_api(factories.make_company(name="Any"))
    ledger = Ledger(api, api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"])
    expected = {day: {"receivables": Decimal(0), "payables": Decimal(0)} for day in days}
    for invoice in invoices:
        kind = "receivables" if invoice[2] > 0 else "payables"
        parts = create_invoice_with_settlements(ledger, *invoice)
        for day in days:
            if day >= invoice[0]:
                expected[day][kind] += sum(value for from_day, value in parts if from_day <= day)
    for day, sums in expected.items():
        for kind, total in sums.items():
            check_open_total(ledger, kind, format_day(day), total)
    flows = api.post("data/forecastCashFlowTimeSeries", {"endDate": format_day(60)}).json()
    forecast = {
        name: sum(Decimal(str(point["value"])) for point in flows[name]) for name in ("plannedInflow", "plannedOutflow")
    }
    still_open = {kind: Decimal(str(ledger.get_aging(kind)["total"])) for kind in ("receivables", "payables")}
    assert forecast == {"plannedInflow": still_open["receivables"], "plannedOutflow": -still_open["payables"]}


def create_invoice_with_settlements(ledger, invoiced, due, cents, payments, written_off):
    """Create an invoice, pay and write off parts of it; return (day, change of the open amount) of each."""
    amount = left = Decimal(cents) / 100
    owed = ledger.create_invoice(str(amount), invoiced=invoiced, days=due)
    parts = [(invoiced, amount)]
    for day, paid_cents in payments:
        paid = min(Decimal(paid_cents) / 100, abs(left)).copy_sign(amount)
        if paid:
            ledger.pay_invoice(owed, str(paid), day)
            parts.append((day, -paid))
            left -= paid
    if written_off is not None and left:
        written_off = max(written_off, invoiced)
        assert ledger.write_off(owed, written_off) == (200, None)
        parts.append((written_off, -left))
    return parts


def check_open_total(ledger, kind, day, total):
    rows = ledger.list_invoices(kind, asOf=day)
    assert sum(Decimal(row["openAmountValue"]) for row in rows) == total
    result = ledger.get_aging(kind, asOf=day)
    assert Decimal(str(result["total"])) == total
    assert sum(Decimal(str(each["total"])) for each in result["counterparties"]) == total
