"""Receivables and payables over HTTP: what is owed, on which day, by whom."""

from urllib.parse import parse_qs

import pytest

from companies.models import AuditEntry
from tests.planning.invoices.conftest import format_day, get_error

pytestmark = pytest.mark.django_db


def list_names(rows):
    return sorted(row["name"] for row in rows)


def test_receivable_is_listed_with_its_dates_amounts_and_state(ledger):
    customer = ledger.create_counterparty("Globex")
    owed = ledger.create_invoice(
        "119.00", invoiced=-20, days=30, counterparty=customer, externalInvoiceId="in_1",
        externalData={"invoiceNumber": "2026-17", "dueDate": format_day(-5), "invoiceUrl": "https://example.com/17"},
    )  # fmt: skip
    ledger.pay_invoice(owed, "19.00", -3)
    (row,) = ledger.list_invoices()
    assert row == {
        "id": owed["id"],
        "plannedTransactionId": owed["id"],
        "date": format_day(30),
        "name": "Invoice",
        "counterparty": customer,
        "counterpartyName": "Globex",
        "accountId": owed["accountId"],
        "categoryId": None,
        "invoiceNumber": "2026-17",
        "externalInvoiceId": "in_1",
        "invoiceUrl": "https://example.com/17",
        "invoiceDate": format_day(-20),
        "dueDate": format_day(-5),
        "expectedDate": format_day(-5),
        "basis": "dueDate",
        "amountValue": "119.00",
        "amountCurrency": "EUR",
        "settledAmountValue": "19.00",
        "writtenOffAmountValue": "0.00",
        "openAmountValue": "100.00",
        "state": "overdue",
        "daysOverdue": 5,
    }


def test_invoices_are_receivables_or_payables_by_counterparty_or_sign(ledger):
    customer, vendor = ledger.create_counterparty("Globex"), ledger.create_counterparty("Initech", "vendor")
    other = ledger.create_counterparty("Office", "authority")
    ledger.create_invoice("1.00", name="plain in")
    ledger.create_invoice("-1.00", name="plain out")
    ledger.create_invoice("2.00", name="to customer", counterparty=customer)
    ledger.create_invoice("-2.00", name="credit to customer", counterparty=customer)
    ledger.create_invoice("-3.00", name="of vendor", counterparty=vendor)
    ledger.create_invoice("3.00", name="credit of vendor", counterparty=vendor)
    ledger.create_invoice("-4.00", name="of authority", counterparty=other)
    ledger.create_invoice("4.00", name="to authority", counterparty=other)
    ledger.create_invoice("5.00", name="no invoice", invoiceDate=None)
    ledger.create_invoice("5.00", name="recurring", recurrence={"frequency": "month"})
    assert list_names(ledger.list_invoices()) == ["credit to customer", "plain in", "to authority", "to customer"]
    assert list_names(ledger.list_invoices("payables")) == [
        "credit of vendor",
        "of authority",
        "of vendor",
        "plain out",
    ]


def test_past_days_are_answered_as_they_were(ledger):
    owed = ledger.create_invoice("100.00", invoiced=-50, days=-20)
    ledger.pay_invoice(owed, "40.00", -30)
    ledger.pay_invoice(owed, "10.00", -10)
    assert ledger.write_off(owed, -5) == (200, None)
    expected = {
        -51: None, -50: ("100.00", "open"), -30: ("60.00", "partlyPaid"), -20: ("60.00", "partlyPaid"),
        -19: ("60.00", "overdue"), -10: ("50.00", "overdue"), -5: None,
    }  # fmt: skip
    for days, standing in expected.items():
        rows = ledger.list_invoices(asOf=format_day(days))
        assert [(row["openAmountValue"], row["state"]) for row in rows] == ([standing] if standing else []), days
    assert ledger.list_invoices() == []
    (row,) = ledger.list_invoices(state="writtenOff")
    assert (row["settledAmountValue"], row["writtenOffAmountValue"]) == ("50.00", "50.00")


def test_filters_by_state_and_counterparty(ledger):
    customer = ledger.create_counterparty("Globex")
    ledger.create_invoice("10.00", name="open", days=5, counterparty=customer)
    ledger.create_invoice("10.00", name="overdue", days=-5)
    ledger.pay_invoice(ledger.create_invoice("10.00", name="partlyPaid", days=5), "4.00", -1)
    ledger.pay_invoice(ledger.create_invoice("10.00", name="paid", days=5), "10.00", -1)
    ledger.write_off(ledger.create_invoice("10.00", name="writtenOff", days=5), -1)
    for state in ("open", "overdue", "partlyPaid", "paid", "writtenOff"):
        assert list_names(ledger.list_invoices(state=state)) == [state]
    assert list_names(ledger.list_invoices()) == ["open", "overdue", "partlyPaid"]
    assert list_names(ledger.list_invoices(counterpartyId=customer["id"])) == ["open"]


def test_invalid_filter_is_rejected(api):
    for query, code in [
        ({"state": "late"}, "invalid_choice"),
        ({"asOf": "x"}, "invalid_value"),
        ({"counterpartyId": "x"}, "unknown_id"),
        ({"kind": "receivables"}, "unknown_parameter"),
        ({"limit": "0"}, "out_of_range"),
    ]:
        for kind in ("receivables", "payables"):
            assert get_error(api.get(kind, query)) == (400, code)


def test_skipped_invoice_is_not_owed(api, ledger):
    owed = ledger.create_invoice("10.00")
    assert (
        api.put(f"planned_transactions/{owed['id']}/overrides/{owed['startDate']}", {"skipped": True}).status_code
        == 200
    )
    assert ledger.list_invoices() == []
    assert ledger.get_aging()["total"] == 0


def test_due_list_answers_the_states_of_invoices(api, ledger):
    ledger.create_invoice("10.00", name="open", days=5)
    ledger.create_invoice("10.00", name="overdue", days=-5)
    ledger.pay_invoice(ledger.create_invoice("10.00", name="partlyPaid", days=5), "4.00", -1)
    ledger.pay_invoice(ledger.create_invoice("10.00", name="paid", days=5), "10.00", -1)
    ledger.write_off(ledger.create_invoice("10.00", name="writtenOff", days=5), -1)
    rows = api.get("planned_transactions/due", {"startDate": format_day(-9), "endDate": format_day(9)}).json()
    assert {row["name"]: row["state"] for row in rows} == {
        name: name for name in ("open", "overdue", "partlyPaid", "paid", "writtenOff")
    }


def test_receivables_are_paged(api, ledger):
    for number in range(7):
        ledger.create_invoice("10.00", invoiced=-number, name=str(number))
    first = api.get("receivables", {"limit": 3})
    names, seen = [row["name"] for row in first.json()], first
    while "Link" in seen.headers:
        seen = api.get("receivables", parse_link(seen))
        names += [row["name"] for row in seen.json()]
    assert names == ["6", "5", "4", "3", "2", "1", "0"]


def parse_link(answer):
    query = answer.headers["Link"].partition("?")[2].partition(">")[0]
    return {name: values[0] for name, values in parse_qs(query).items()}


def test_other_company_sees_nothing(globex_api, ledger):
    customer = ledger.create_counterparty("Initech")
    ledger.create_invoice("10.00", counterparty=customer)
    assert globex_api.get("receivables").json() == []
    assert get_error(globex_api.get("receivables", {"counterpartyId": customer["id"]})) == (400, "unknown_id")
    assert globex_api.post("data/aging", {"kind": "receivables"}).json()["total"] == 0
    body = {"kind": "receivables", "counterpartyId": customer["id"]}
    assert get_error(globex_api.post("data/aging", body)) == (400, "unknown_id")


def test_expected_date_follows_history_of_the_counterparty(api, ledger):
    customer = ledger.create_counterparty("Globex", paymentTerms=14)
    for number in range(5):
        invoiced = -200 + 20 * number
        owed = ledger.create_invoice("10.00", invoiced=invoiced, days=invoiced, counterparty=customer)
        occurrence = ledger.get_occurrence(owed)
        assert (occurrence["expectedDate"], occurrence["basis"]) == (format_day(invoiced + 14), "dueDate")
        ledger.pay_invoice(owed, "10.00", invoiced + 14 + 9 + number)
    owed = ledger.create_invoice("70.00", invoiced=-10, days=0, counterparty=customer)
    occurrence = ledger.get_occurrence(owed)
    assert (occurrence["expectedDate"], occurrence["basis"]) == (format_day(4 + 11), "history")
    own = ledger.create_invoice("5.00", invoiced=-10, days=0, counterparty=customer, paymentTerms=30)
    assert ledger.get_occurrence(own)["expectedDate"] == format_day(20 + 11)
    path = f"planned_transactions/{owed['id']}"
    api.put(path, {"externalData": {"nextPaymentAttemptDate": format_day(3)}})
    assert ledger.get_occurrence(owed)["basis"] == "paymentAttempt"
    api.put(f"{path}/overrides/{owed['startDate']}", {"date": format_day(40)})
    occurrence = ledger.get_occurrence(owed)
    assert (occurrence["date"], occurrence["expectedDate"], occurrence["basis"]) == (
        format_day(40), format_day(40), "person",
    )  # fmt: skip


def test_written_off_invoices_are_no_history(ledger):
    customer = ledger.create_counterparty("Globex")
    for number in range(5):
        owed = ledger.create_invoice("10.00", invoiced=-100, days=-90, counterparty=customer)
        ledger.pay_invoice(owed, "9.00", -50)
        ledger.write_off(owed, -50 + number)
    assert ledger.get_occurrence(ledger.create_invoice("10.00", counterparty=customer))["basis"] == "startDate"


def test_forecast_expects_open_invoices_on_their_expected_day(api, ledger):
    due = ledger.create_invoice("100.00", days=0, externalData={"dueDate": format_day(7)})
    ledger.pay_invoice(due, "30.00", -1)
    ledger.create_invoice("50.00", invoiced=-400, days=-300)
    ledger.pay_invoice(ledger.create_invoice("20.00", days=5), "20.00", -1)
    flows = api.post("data/forecastCashFlowTimeSeries", {"endDate": format_day(30)}).json()
    assert {point["date"]: point["value"] for point in flows["plannedInflow"] if point["value"]} == {
        format_day(1): 50, format_day(7): 70,
    }  # fmt: skip
    balance = api.post("data/forecastBalanceTimeSeries", {"endDate": format_day(30)}).json()
    assert balance["overdue"] == {"count": 1, "value": 50}, "an open invoice never lapses"
    assert balance["projected"][-1]["value"] == 30 + 20 + 120
    window = {"startDate": format_day(-301), "endDate": format_day(30)}
    states = {each["date"]: each["state"] for each in api.get("planned_transactions/due", window).json()}
    assert states[format_day(-300)] == "overdue"
    assert states[format_day(7)] == "partlyPaid"


def test_undone_import_takes_its_settlements_along(api, ledger):
    owed = ledger.create_invoice("100.00", days=-3, autoSettle=True, externalData={"invoiceNumber": "R-2024-1"})
    row = {"accountId": ledger.account, "date": format_day(-2), "amountValue": "100.00", "description": "R-2024-1"}
    done = api.post("transactions/import", {"transactions": [row]}).json()
    assert ledger.list_invoices() == []
    assert api.delete(f"imports/{done['importId']}").status_code == 200
    assert [row["openAmountValue"] for row in ledger.list_invoices()] == ["100.00"]
    assert ledger.get_occurrence(owed)["settlements"] == []


def test_invoice_inside_a_planned_total_counts_once(api, ledger):
    category = api.post("categories", {"name": "Sales", "plTypes": ["revenue"]}).json()["id"]
    total = ledger.create_invoice(
        "1000.00", invoiceDate=None, days=20, name="All sales", categoryId=category, settledBy="category",
    )  # fmt: skip

    def sum_forecast():
        flows = api.post("data/forecastCashFlowTimeSeries", {"endDate": format_day(60)}).json()
        return sum(point["value"] for point in flows["plannedInflow"])

    assert sum_forecast() == 1000
    owed = ledger.create_invoice("300.00", days=20, categoryId=category)
    assert sum_forecast() == 1000
    assert ledger.get_occurrence(total)["openAmountValue"] == "700.00"
    ledger.create_invoice("50.00", days=20)
    assert sum_forecast() == 1050, "that one has no category"
    ledger.write_off(owed, 0)
    assert sum_forecast() == 1050, "what is written off is expected of others"


def test_invoices_have_events_of_their_own(api, acme, ledger):
    owed = ledger.create_invoice("100.00", days=-3)
    path = f"planned_transactions/{owed['id']}"
    first = ledger.pay_invoice(owed, "40.00", -2)
    ledger.pay_invoice(owed, "60.00", -1)
    api.post(f"{path}/unsettle", {"date": owed["startDate"], "transactionId": first})
    ledger.write_off(owed, 0)
    api.put(path, {"name": "Other"})
    api.put(f"{path}/overrides/{owed['startDate']}", {"name": "Third"})
    api.delete(path)
    entries = AuditEntry.objects.filter(company=acme, entity_type="invoice").order_by("time")
    assert [entry.action.partition(".")[2] for entry in entries] == [
        "created", "settled", "paid", "unsettled", "writtenOff", "updated", "overridden", "deleted",
    ]  # fmt: skip
    assert not AuditEntry.objects.filter(entity_type="plannedTransaction").exists()


def test_automatic_settlement_records_each_paid_invoice(api, acme, ledger):
    numbers = ["R-2024-1", "R-2024-2"]
    for number in numbers:
        ledger.create_invoice("100.00", days=-3, autoSettle=True, externalData={"invoiceNumber": number})
    row = {"accountId": ledger.account, "date": format_day(-2), "amountValue": "100.00"}
    rows = [row | {"description": number} for number in numbers]
    assert api.post("transactions/import", {"transactions": rows, "duplicates": "keep"}).status_code == 200
    assert AuditEntry.objects.filter(action="invoice.paid").count() == 2
    assert ledger.list_invoices() == []


def test_invoice_at_the_end_of_the_calendar_breaks_no_list(api, ledger):
    ledger.create_invoice("1.00", invoiceDate="9999-12-31", startDate="9999-12-31", paymentTerms=999)
    (row,) = ledger.list_invoices(asOf="9999-12-31")
    assert (row["dueDate"], row["expectedDate"]) == ("9999-12-31", "9999-12-31")
    window = {"startDate": format_day(-10), "endDate": format_day(10)}
    assert api.get("planned_transactions/due", window).status_code == 200
    assert ledger.get_aging(asOf="9999-12-31")["total"] == 1
