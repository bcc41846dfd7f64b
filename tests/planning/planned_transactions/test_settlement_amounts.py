"""Settlements with amounts: instalments, one payment for several invoices, credit notes, write-offs, currencies."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from companies.models import AuditEntry
from ledger.models import Transaction
from ledger.money.calc.fx import convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from planning.models import PlannedTransaction, Settlement
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db

AMOUNTS = ("settledAmountValue", "writtenOffAmountValue", "openAmountValue", "state")


def format_day(days: int) -> str:
    return str(TODAY + timedelta(days=days))


@pytest.fixture
def customer(api) -> dict[str, str]:
    made = api.post("counterparties", {"type": "customer", "name": "Globex"})
    return {"id": made.json()["id"], "type": "customer"}


@pytest.fixture
def plan_invoice(api, account) -> Any:
    def plan(amount: str, days: int = 10, **values: Any) -> dict[str, Any]:
        body = {
            "accountId": str(account.id), "name": "Invoice", "startDate": format_day(days), "amountValue": amount,
            "invoiceDate": format_day(-20), "autoSettle": False,
        }  # fmt: skip
        made = api.post("planned_transactions", body | values)
        assert made.status_code == 201, made.content
        return made.json()

    return plan


@pytest.fixture
def create_payment(api, account) -> Any:
    def create(amount: str, days: int = -1, **values: Any) -> str:
        body = {"accountId": str(account.id), "date": format_day(days), "amountValue": amount}
        made = api.post("transactions", body | values)
        assert made.status_code == 201, made.content
        return made.json()["id"]

    return create


def settle(api: Any, planned: dict[str, Any], transaction_id: str, amount: str | None = None) -> tuple[int, str | None]:
    body = {"date": planned["startDate"], "transactionId": transaction_id}
    answer = api.post(
        f"planned_transactions/{planned['id']}/settle", body | ({"amountValue": amount} if amount else {})
    )
    return get_error(answer)


def unsettle(api: Any, planned: dict[str, Any], **body: Any) -> tuple[int, str | None]:
    return get_error(api.post(f"planned_transactions/{planned['id']}/unsettle", {"date": planned["startDate"]} | body))


def write_off(api: Any, planned: dict[str, Any], day: str, reason: str = "Fee") -> tuple[int, str | None]:
    body = {"date": day, "reason": reason}
    return get_error(api.post(f"planned_transactions/{planned['id']}/write_off", body))


def get_error(answer: Any) -> tuple[int, str | None]:
    if answer.status_code < 400:
        return answer.status_code, None
    body = answer.json()
    return answer.status_code, body["errors"][0]["code"] if body["code"] == "validation_failed" else body["code"]


def get_amounts(api: Any, planned: dict[str, Any]) -> tuple[str, ...]:
    window = {"startDate": format_day(-400), "endDate": format_day(400)}
    (occurrence,) = api.get(f"planned_transactions/{planned['id']}/occurrences", window).json()
    return tuple(occurrence[name] for name in AMOUNTS)


def get_payer(api: Any, planned: dict[str, Any]) -> str | None:
    window = {"startDate": format_day(-400), "endDate": format_day(400)}
    (occurrence,) = api.get(f"planned_transactions/{planned['id']}/occurrences", window).json()
    return occurrence["transactionId"]


def list_settled(api: Any, transaction_id: str) -> list[str]:
    return [each["amountValue"] for each in api.get(f"transactions/{transaction_id}").json()["settlements"]]


def test_instalments_close_an_invoice_to_the_cent(api, plan_invoice, create_payment):
    owed = plan_invoice("100.00")
    assert get_amounts(api, owed) == ("0.00", "0.00", "100.00", "open")
    first = create_payment("33.33")
    assert get_payer(api, owed) is None
    assert settle(api, owed, first) == (200, None)
    assert get_amounts(api, owed) == ("33.33", "0.00", "66.67", "partlyPaid")
    assert get_payer(api, owed) == first
    assert settle(api, owed, create_payment("33.33")) == (200, None)
    last = create_payment("40.00")
    assert settle(api, owed, last) == (200, None)
    assert get_amounts(api, owed) == ("100.00", "0.00", "0.00", "paid")
    assert list_settled(api, last) == ["33.34"]
    assert get_payer(api, owed) is None  # several paid
    assert PlannedTransaction.objects.get().is_closed


def test_one_payment_settles_several_invoices(api, plan_invoice, create_payment):
    first, second, third = plan_invoice("60.00"), plan_invoice("50.00"), plan_invoice("10.00")
    paid = create_payment("115.00")
    assert [settle(api, each, paid) for each in (first, second, third)] == [(200, None)] * 3
    assert sorted(list_settled(api, paid)) == ["5.00", "50.00", "60.00"]
    assert get_amounts(api, third) == ("5.00", "0.00", "5.00", "partlyPaid")
    assert settle(api, third, paid, "6.00") == (409, "settles_too_much")


def test_settled_amount_is_bounded_by_both_sides_and_has_the_planned_sign(api, plan_invoice, create_payment):
    owed, paid = plan_invoice("-100.00"), create_payment("-150.00")
    assert settle(api, owed, paid, "-100.01") == (409, "settles_too_much")
    assert settle(api, owed, create_payment("-20.00"), "-20.01") == (409, "settles_too_much")
    assert settle(api, owed, paid, "50.00") == (400, "wrong_direction")
    assert settle(api, owed, paid, "0.00") == (400, "wrong_direction")
    assert settle(api, owed, paid, "-1.234") == (400, "too_many_decimals")
    assert settle(api, owed, create_payment("100.00"), "-10.00") == (400, "wrong_direction")
    assert not Settlement.objects.exists()


def test_same_pair_again_replaces_the_amount(api, plan_invoice, create_payment):
    owed, paid = plan_invoice("100.00"), create_payment("80.00")
    assert settle(api, owed, paid, "30.00") == (200, None)
    assert settle(api, owed, paid, "70.00") == (200, None)
    assert list_settled(api, paid) == ["70.00"]
    assert settle(api, owed, paid) == (200, None)
    assert list_settled(api, paid) == ["80.00"]
    entries = AuditEntry.objects.filter(action="invoice.settled").count()
    assert settle(api, owed, paid) == (200, None)
    assert AuditEntry.objects.filter(action="invoice.settled").count() == entries, "nothing changed"


def test_one_settlement_or_all_are_taken_back(api, plan_invoice, create_payment):
    owed, first, second = plan_invoice("100.00"), create_payment("30.00"), create_payment("30.00")
    for paid in (first, second):
        settle(api, owed, paid)
    write_off(api, owed, format_day(-1))
    assert get_amounts(api, owed) == ("60.00", "40.00", "0.00", "writtenOff")
    assert unsettle(api, owed, transactionId=first) == (200, None)
    assert get_amounts(api, owed) == ("30.00", "40.00", "30.00", "partlyPaid")
    assert unsettle(api, owed, transactionId=first) == (409, "occurrence_not_settled")
    assert unsettle(api, owed) == (200, None)
    assert get_amounts(api, owed) == ("0.00", "0.00", "100.00", "open")
    assert not PlannedTransaction.objects.get().is_closed


def test_fee_kept_back_is_written_off(api, plan_invoice, create_payment):
    owed = plan_invoice("100.00")
    settle(api, owed, create_payment("97.50"))
    for day in (format_day(400), "9999-12-31", "1999-12-31"):
        assert write_off(api, owed, day) == (400, "out_of_range")
    assert write_off(api, owed, format_day(-1), "Bank fee") == (200, None)
    assert get_amounts(api, owed) == ("97.50", "2.50", "0.00", "writtenOff")
    assert write_off(api, owed, format_day(-1)) == (409, "nothing_open")
    assert settle(api, owed, create_payment("2.50")) == (409, "nothing_open")
    assert settle(api, owed, create_payment("2.50"), "2.50") == (409, "settles_too_much")


def test_invoice_date_stays_before_its_write_off(api, plan_invoice):
    owed = plan_invoice("100.00")
    assert write_off(api, owed, format_day(-5)) == (200, None)
    body = {name: owed[name] for name in ("accountId", "name", "startDate", "amountValue", "autoSettle")}
    for days, result in ((-4, (400, "out_of_range")), (-5, (200, None))):
        answer = api.put(f"planned_transactions/{owed['id']}", body | {"invoiceDate": format_day(days)})
        assert get_error(answer) == result


def test_occurrence_of_a_recurring_plan_is_written_off_by_its_date(api, plan_invoice):
    rent = plan_invoice("-100.00", invoiceDate=None, recurrence={"frequency": "week"})
    assert write_off(api, rent, format_day(11)) == (400, "not_an_occurrence")
    assert write_off(api, rent, format_day(17)) == (200, None)
    window = {"startDate": format_day(0), "endDate": format_day(24)}
    states = [each["state"] for each in api.get(f"planned_transactions/{rent['id']}/occurrences", window).json()]
    assert states == ["open", "writtenOff", "open"]


def test_credit_note_and_invoice_are_settled_by_one_payment(api, plan_invoice, create_payment, customer):
    owed, credit = plan_invoice("100.00", counterparty=customer), plan_invoice("-20.00", counterparty=customer)
    paid = create_payment("80.00")
    assert settle(api, owed, paid, "100.00") == (409, "settles_too_much")
    assert settle(api, credit, paid) == (200, None)
    assert settle(api, owed, paid) == (200, None)
    assert sorted(list_settled(api, paid)) == ["-20.00", "100.00"]
    assert [get_amounts(api, each)[2:] for each in (owed, credit)] == [("0.00", "paid")] * 2
    assert unsettle(api, credit) == (409, "settles_too_much"), "the invoice needs it"
    assert settle(api, credit, paid, "-10.00") == (409, "settles_too_much"), "and all of it"
    assert sorted(list_settled(api, paid)) == ["-20.00", "100.00"]
    assert get_error(api.delete(f"planned_transactions/{credit['id']}")) == (409, "settles_too_much")
    assert unsettle(api, owed) == (200, None)
    assert unsettle(api, credit) == (200, None)


def test_refund_is_settled_by_a_credit_note_and_an_invoice(api, plan_invoice, create_payment, customer):
    owed, credit = plan_invoice("20.00", counterparty=customer), plan_invoice("-100.00", counterparty=customer)
    refund = create_payment("-80.00")
    assert settle(api, owed, refund) == (200, None)
    assert settle(api, credit, refund) == (200, None)
    assert [get_amounts(api, each)[2:] for each in (owed, credit)] == [("0.00", "paid")] * 2


def test_amount_in_another_currency_is_converted_at_the_day_of_the_transaction(api, plan_invoice, create_payment):
    owed = plan_invoice("100.00", amountCurrency="USD")
    rates, day = get_rate_table(), TODAY - timedelta(days=1)
    euros = round_half_up(convert_currency(Decimal(40), source="USD", target="EUR", day=day, rates=rates), "EUR")
    paid = create_payment(str(euros))
    dollars = round_half_up(convert_currency(euros, source="EUR", target="USD", day=day, rates=rates), "USD")
    assert settle(api, owed, paid, str(dollars + Decimal("0.01"))) == (409, "settles_too_much")
    assert settle(api, owed, paid) == (200, None)
    assert get_amounts(api, owed)[0] == str(dollars)
    assert Settlement.objects.get().transaction_amount_value == euros, "all of the transaction is used"
    assert settle(api, owed, create_payment("500.00")) == (200, None)
    assert get_amounts(api, owed)[2:] == ("0.00", "paid")


def test_planned_amount_cannot_fall_below_what_is_settled(api, plan_invoice, create_payment):
    owed = plan_invoice("100.00")
    settle(api, owed, create_payment("60.00"))
    path = f"planned_transactions/{owed['id']}"
    assert get_error(api.put(path, {"amountValue": "59.99"})) == (409, "settles_too_much")
    assert get_error(api.put(path, {"amountValue": "-100.00"})) == (409, "settles_too_much")
    assert get_error(api.put(path, {"amountCurrency": "USD"})) == (409, "occurrence_settled")
    override = f"{path}/overrides/{owed['startDate']}"
    assert get_error(api.put(override, {"amountValue": "50.00"})) == (409, "settles_too_much")
    assert get_error(api.put(override, {"amountValue": "60.00"})) == (200, None)
    assert get_amounts(api, owed)[2:] == ("0.00", "paid")
    assert get_error(api.delete(override)) == (200, None)
    assert get_amounts(api, owed)[2:] == ("40.00", "partlyPaid")


def test_partly_paid_and_late_is_overdue(api, plan_invoice, create_payment):
    owed = plan_invoice("100.00", days=-3)
    settle(api, owed, create_payment("60.00"))
    assert get_amounts(api, owed) == ("60.00", "0.00", "40.00", "overdue")


def test_forecast_expects_what_is_open(api, plan_invoice, create_payment):
    owed = plan_invoice("100.00", days=5)
    settle(api, owed, create_payment("60.00"))
    flows = api.post("data/forecastCashFlowTimeSeries", {"endDate": format_day(30)}).json()
    assert [point["value"] for point in flows["plannedInflow"] if point["value"]] == [40]
    write_off(api, owed, format_day(0))
    flows = api.post("data/forecastCashFlowTimeSeries", {"endDate": format_day(30)}).json()
    assert not any(point["value"] for point in flows["plannedInflow"])


def test_deleted_transaction_takes_its_settlements_along(api, plan_invoice, create_payment):
    first, second, paid = plan_invoice("60.00"), plan_invoice("40.00"), create_payment("100.00")
    for owed in (first, second):
        settle(api, owed, paid)
    assert api.delete(f"transactions/{paid}").status_code == 200
    assert [get_amounts(api, each)[2:] for each in (first, second)] == [("60.00", "open"), ("40.00", "open")]
    assert not PlannedTransaction.objects.filter(is_closed=True).exists()


def test_payment_of_invoices_of_two_categories_is_left_to_a_person(api, plan_invoice, create_payment):
    ids = [
        api.post("categories", {"name": name, "plTypes": ["revenue"]}).json()["id"] for name in ("Goods", "Services")
    ]
    first, second = (plan_invoice("50.00", categoryId=category_id) for category_id in ids)
    paid, other = create_payment("50.00"), create_payment("50.00")
    settle(api, first, paid, "20.00")
    assert [row.category_id for row in list_categorizations(paid)] == [first["categoryId"]]
    settle(api, first, other, "30.00")
    unsettle(api, first)
    assert list_categorizations(paid) == []
    settle(api, second, paid, "20.00")
    assert [row.category_id for row in list_categorizations(paid)] == [second["categoryId"]]


def list_categorizations(transaction_id: str) -> list[Any]:
    from ledger.models import Categorization

    rows = Categorization.objects.filter(transaction=Transaction.objects.get(id=transaction_id))
    for row in rows:
        row.category_id = str(row.category_id)
    return list(rows)
