"""Cash and receivables of a monthly report: a closed month keeps what it reported, whatever is called cash later."""

import pytest

from tests.analytics.reports.report_pages import page, read_table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("may")]


def read_cash(answer):
    """The key figures of cash, the bridge, and receivables."""
    figures = read_table(answer, "figures")
    rows = [figures[name][0] for name in figures if name.startswith(("Cash at", "Change in", "Runway"))]
    return [rows, read_table(answer, "cash"), read_table(answer, "aging")]


def remove_other_amounts(table):
    """The cells without the amounts of today that stand below the reported ones."""
    if isinstance(table, dict):
        return {name: remove_other_amounts(cells) for name, cells in table.items()}
    return [cell.partition(" now ")[0] if isinstance(cell, str) else remove_other_amounts(cell) for cell in table]


def test_closed_report_keeps_cash_when_an_account_is_cash_no_more(acme, viewer, api, bank, booked_year, close):
    close()
    before = read_cash(viewer.get(page(acme)))
    assert api.put(f"accounts/{bank}", {"includeInCashBalance": False}).status_code == 200
    after = read_cash(viewer.get(page(acme)))
    assert remove_other_amounts(after) == before
    assert after[1]["Closing cash"][0] == f"{before[1]['Closing cash'][0]} now 0.00"
    assert before[1]["Closing cash"][0] != "0.00"


def test_closed_report_keeps_the_bridge_when_a_category_becomes_financing(acme, viewer, api, books, booked_year, close):
    close()
    before = read_cash(viewer.get(page(acme)))
    category = books.category("revenueRecurring")
    assert api.put(f"categories/{category}", {"financing": True}).status_code == 200
    after = read_cash(viewer.get(page(acme)))
    assert remove_other_amounts(after) == before
    assert " now " in after[1]["Financing"][0]


def test_closed_report_keeps_receivables_when_an_invoice_of_the_month_comes_late(
    acme, viewer, api, bank, booked_year, close
):
    body = {"accountId": bank, "name": "Invoice", "startDate": "2026-03-20", "amountValue": "70.00"}
    body |= {"invoiceDate": "2026-03-01", "autoSettle": False}
    assert api.post("planned_transactions", body).status_code == 201
    close()
    assert api.post("planned_transactions", body | {"amountValue": "7.00"}).status_code == 201
    assert read_table(viewer.get(page(acme)), "aging")["Total"] == ["70.00 now 77.00"]
    assert api.post("closings/2026-03/reopen", {"reason": "Late invoice"}).status_code == 200
    assert read_table(viewer.get(page(acme)), "aging")["Total"] == ["77.00 reported 70.00"]
    close()
    assert read_table(viewer.get(page(acme)), "aging")["Total"] == ["77.00"]


def test_reopened_report_shows_the_reported_change_in_cash(acme, viewer, api, categorized, booked_year, close):
    close()
    assert api.post("closings/2026-03/reopen", {"reason": "Late payment"}).status_code == 200
    categorized("officeAndAdmin", "ga", "-40.00", "2026-03-20")
    change = read_table(viewer.get(page(acme)), "figures")["Change in cash"][0]
    assert change == "+560.25 reported 600.25"
