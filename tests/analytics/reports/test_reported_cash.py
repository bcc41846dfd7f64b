"""Cash and receivables of a monthly report: a closed month keeps what it reported, whatever is called cash later."""

import re
from html import unescape

import pytest

from tests.analytics.reports.report_pages import build_report_path, get_cell_text, read_table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("travel_to_may_2026")]


def read_cash(answer):
    """The key figures of cash, and the bridge."""
    figures = read_table(answer, "figures")
    rows = [figures[name][0] for name in figures if name.startswith(("Cash at", "Change in", "Runway"))]
    return [rows, read_table(answer, "cash")]


def remove_other_amounts(table):
    """The cells without the amounts of today that stand below the reported ones."""
    if isinstance(table, dict):
        return {name: remove_other_amounts(cells) for name, cells in table.items()}
    return [cell.partition(" now ")[0] if isinstance(cell, str) else remove_other_amounts(cell) for cell in table]


def test_closed_report_keeps_cash_when_an_account_is_cash_no_more(acme, viewer, api, bank, booked_year, close_month):
    close_month()
    before = read_cash(viewer.get(build_report_path(acme)))
    assert api.put(f"accounts/{bank}", {"includeInCashBalance": False}).status_code == 200
    after = read_cash(viewer.get(build_report_path(acme)))
    assert remove_other_amounts(after) == before
    assert after[1]["Closing cash"][0] == f"{before[1]['Closing cash'][0]} now 0.00"
    assert before[1]["Closing cash"][0] != "0.00"


def test_closed_report_keeps_the_bridge_when_a_category_becomes_financing(
    acme, viewer, api, books, booked_year, close_month
):
    close_month()
    before = read_cash(viewer.get(build_report_path(acme)))
    category = books.get_category_id("revenueRecurring")
    assert api.put(f"categories/{category}", {"financing": True}).status_code == 200
    after = read_cash(viewer.get(build_report_path(acme)))
    assert "Financing" not in before[1], "parts that are zero are left out"
    assert after[1].pop("Financing")[0].startswith("0.00 now ")
    assert remove_other_amounts(after) == before


def test_closed_report_keeps_receivables_when_an_invoice_of_the_month_comes_late(
    acme, viewer, api, bank, booked_year, close_month
):
    body = {"accountId": bank, "name": "Invoice", "startDate": "2026-03-20", "amountValue": "70.00"}
    body |= {"invoiceDate": "2026-03-01", "autoSettle": False}
    assert api.post("planned_transactions", body).status_code == 201
    close_month()
    assert api.post("planned_transactions", body | {"amountValue": "7.00"}).status_code == 201
    assert read_table(viewer.get(build_report_path(acme)), "aging")["Total"] == ["70.00 now 77.00"]
    assert api.post("closings/2026-03/reopen", {"reason": "Late invoice"}).status_code == 200
    assert read_table(viewer.get(build_report_path(acme)), "aging")["Total"] == ["77.00 reported 70.00"]
    close_month()
    assert read_table(viewer.get(build_report_path(acme)), "aging")["Total"] == ["77.00"]


def test_closed_report_keeps_payables_when_a_bill_of_the_month_comes_late(
    acme, viewer, api, bank, booked_year, close_month
):
    body = {"accountId": bank, "name": "Bill", "startDate": "2026-03-20", "amountValue": "-1309.00"}
    body |= {"invoiceDate": "2026-03-01", "autoSettle": False}
    assert api.post("planned_transactions", body).status_code == 201
    assert read_table(viewer.get(build_report_path(acme)), "payables")["Total"] == ["-1,309.00"]
    close_month()
    assert api.post("planned_transactions", body | {"amountValue": "-7.00"}).status_code == 201
    assert read_table(viewer.get(build_report_path(acme)), "payables")["Total"] == ["-1,309.00 now -1,316.00"]
    differences = read_differences(viewer, acme)
    assert differences["Payables"] == ("-€1,309.00", "-€1,316.00", "-€7.00", f"/app/companies/{acme.id}/payables")


def read_differences(viewer, acme):
    """figure → (as reported, now, difference, address) of the page of a closing."""
    html = viewer.get(f"/app/companies/{acme.id}/closings/2026-03").content.decode()
    table = re.search(r'data-table="differences".*?<tbody>(.*?)</tbody>', html, re.S)
    rows = re.findall(r"<tr>(.*?)</tr>", table[1], re.S) if table else []
    differences = {}
    for row in rows:
        figure, was, now, change, _because = [
            get_cell_text(each) for each in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)
        ]
        address = re.search(r'<th scope="row"><a href="([^"]+)"', row)
        differences[figure] = (was, now, change, unescape(address[1]) if address else "")
    assert bool(rows) != ("Nothing has changed since it was reported." in html)
    return differences


def test_settlement_taken_back_after_closing_is_among_the_differences(acme, viewer, api, bank, books, close_month):
    body = {"accountId": bank, "name": "Invoice", "startDate": "2026-03-20", "amountValue": "70.00"}
    body |= {"invoiceDate": "2026-03-01", "autoSettle": False}
    invoice = api.post("planned_transactions", body).json()["id"]
    paid = {"date": "2026-03-20", "transactionId": books.create_transaction(bank, "70.00", "2026-03-25")["id"]}
    assert api.post(f"planned_transactions/{invoice}/settle", paid).status_code == 200
    close_month()
    assert read_differences(viewer, acme) == {}
    assert "Figures have changed" not in viewer.get(build_report_path(acme)).content.decode()
    assert api.post(f"planned_transactions/{invoice}/unsettle", {"date": "2026-03-20"}).status_code == 200
    assert "Figures have changed since the month was reported" in viewer.get(build_report_path(acme)).content.decode()
    change = ("€0.00", "€70.00", "€70.00", f"/app/companies/{acme.id}/receivables")
    assert read_differences(viewer, acme) == {"Receivables": change, "Receivables: 1–30 days overdue": change}


def test_parts_of_the_bridge_are_among_the_differences(acme, viewer, api, books, booked_year, close_month):
    close_month()
    assert api.put(f"categories/{books.get_category_id('revenueRecurring')}", {"financing": True}).status_code == 200
    differences = read_differences(viewer, acme)
    inflow, financing = (differences[f"Cash bridge: {part}"] for part in ("Operating inflow", "Financing"))
    assert (inflow[:3], financing[:3]) == (("€1,000.50", "€0.00", "-€1,000.50"), ("€0.00", "€1,000.50", "€1,000.50"))
    assert len(differences) == 2
    listed = viewer.get(financing[3])
    assert "Customer A" in listed.content.decode()
    assert "Landlord" not in listed.content.decode()


def test_reopened_report_shows_the_reported_change_in_cash(
    acme, viewer, api, create_categorized_transaction, booked_year, close_month
):
    close_month()
    assert api.post("closings/2026-03/reopen", {"reason": "Late payment"}).status_code == 200
    create_categorized_transaction("officeAndAdmin", "ga", "-40.00", "2026-03-20")
    change = read_table(viewer.get(build_report_path(acme)), "figures")["Change in cash"][0]
    assert change == "+560.25 reported 600.25"


def test_change_in_cash_is_without_opening_balances(acme, viewer, api, bank, booked_year, close_month, query_data):
    opening = {"amountValue": "5000.00", "date": "2026-03-01"}
    assert api.put(f"accounts/{bank}/initial_balance", opening).status_code in (200, 201)
    bridge = query_data("cashBridge", startDate="2026-03-01", endDate="2026-03-31")
    assert bridge["openingBalances"] == 5000
    for is_closed in (False, True):
        report = viewer.get(build_report_path(acme))
        figures = read_table(report, "figures")
        (label,) = [name for name in figures if name.startswith("Change in cash")]
        assert label == "Change in cash Without opening balances of 5,000.00"
        assert figures[label][0] == "+600.25"
        assert read_table(report, "cash")["Opening balances"][0] == "5,000.00"
        if not is_closed:
            close_month()


def test_change_in_cash_of_last_year_is_without_opening_balances(acme, viewer, api, bank, booked_year):
    before = read_table(viewer.get(build_report_path(acme)), "figures")["Change in cash"][1]
    opening = {"amountValue": "5000.00", "date": "2025-03-01"}
    assert api.put(f"accounts/{bank}/initial_balance", opening).status_code in (200, 201)
    assert read_table(viewer.get(build_report_path(acme)), "figures")["Change in cash"][1] == before
