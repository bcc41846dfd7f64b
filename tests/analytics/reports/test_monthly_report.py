"""The monthly report: every figure is what the data queries answer, and a closed month shows what was reported."""

import pytest

from companies.permissions import Role
from tests import factories
from tests.analytics.reports.report_pages import build_report_path, format_number, read_table
from tests.ledger.closings.test_differences import load
from tests.ledger.conftest import get_page_text as text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("travel_to_may_2026")]


def test_profit_and_loss_of_the_report_equals_the_query(acme, viewer, query_data, books, booked_year, api):
    ga = books.get_category_id("officeAndAdmin")
    plan = {
        "month": "2026-03",
        "plType": "ga",
        "categoryId": ga,
        "amount": {"type": "fixed", "amount": {"value": 300, "currency": "EUR"}},
    }
    assert api.post("plan_items", plan).status_code == 201, api.post("plan_items", plan).content
    report = read_table(viewer.get(build_report_path(acme)), "results")
    rows = query_data("profitAndLoss", startMonth="2026-03", endMonth="2026-03", comparison="previousYear")
    assert len(rows) == 2
    for row in rows:
        name = row["categoryName"]
        sign = 1 if row["plType"] == "revenue" else -1
        assert report[name][0] == format_number(sign * row["actual"])
        assert report[name][1] == format_number(sign * row["planned"]), (
            "the month has a plan, which is zero for other rows"
        )
        assert report[name][3] == format_number(sign * row["comparisonActual"])
    assert report["Operating result"][0] == format_number(1000.50 - 400.25)
    assert report["Result"][3] == "800.00"
    figures = read_table(viewer.get(build_report_path(acme)), "figures")
    assert figures["Revenue"] == ["1,000.50", "0.00", "+1,000.50", "800.00"]
    assert figures["Gross margin"][0] == "100.00 %"


def test_cash_of_the_report_equals_the_query(acme, viewer, query_data, booked_year):
    report = viewer.get(build_report_path(acme))
    bridge = query_data("cashBridge", startDate="2026-03-01", endDate="2026-03-31")
    before = query_data("cashBridge", startDate="2025-03-01", endDate="2025-03-31")
    cash = read_table(report, "cash")
    labels = {"opening": "Opening cash", "operatingInflow": "Operating inflow", "operatingOutflow": "Operating outflow",
              "financing": "Financing", "revaluation": "Revaluation", "closing": "Closing cash"}  # fmt: skip
    assert bridge["financing"] == before["revaluation"] == 0
    for name, label in labels.items():
        is_shown = name in ("opening", "closing") or bridge[name] or before[name]
        amounts = [format_number(bridge[name]), format_number(before[name])]
        assert cash.get(label) == (amounts if is_shown else None), "parts that are zero are left out"
    figures = read_table(report, "figures")
    assert figures["Figure"] == ["Actual", "Last year"], "nothing is planned"
    assert figures["Cash at the end of the month"] == [
        format_number(bridge["closing"]),
        format_number(before["closing"]),
    ]


def test_recurring_revenue_of_the_report_equals_the_query(acme, viewer, query_data, booked_year, create_subscription):
    create_subscription("Big", "2025-06-01", "300.00")
    create_subscription("Small", "2026-03-05", "100.00")
    report = viewer.get(build_report_path(acme))
    (row,) = query_data("monthlyData", mrrType="mrr", startMonth="2026-03", endMonth="2026-03")
    table = read_table(report, "recurring")
    for name, label, sign in (("start", "MRR at the start", ""), ("new", "New", "+"), ("end", "MRR at the end", "")):
        assert table[label][:2] == [format_number(row[name]), f"{sign}{row[f'{name}Count']}"]
    assert table["Churn"][:2] == [format_number(row["cancel"]), "0"]
    assert table["MRR at the end"] == ["400.00", "2", "0.00"]
    customers = read_table(report, "customers")
    assert customers["Big"] == ["300.00", "75.00 %"]
    assert customers["Ten largest customers"] == ["400.00", "100.00 %"]


def test_last_year_is_left_out_before_the_first_transaction(acme, viewer, create_categorized_transaction):
    create_categorized_transaction("revenueRecurring", "revenue", "900.00", "2025-03-10")
    create_categorized_transaction("revenueRecurring", "revenue", "950.00", "2026-02-10")
    names = ("Revenue", "Result", "Gross margin", "Cash at the end of the month")
    before, after = (
        read_table(viewer.get(build_report_path(acme, month)), "figures") for month in ("2026-02", "2026-03")
    )
    assert before["Figure"] == ["Actual"]
    assert after["Figure"] == ["Actual", "Last year"]
    assert [after[name][-1] for name in names] == ["900.00", "900.00", "100.00 %", "900.00"]
    assert read_table(viewer.get(build_report_path(acme, "2026-02")), "results")["Line"] == ["Actual"]


def test_mrr_of_last_year_needs_no_transactions(
    acme, viewer, query_data, create_categorized_transaction, create_subscription
):
    create_categorized_transaction("revenueRecurring", "revenue", "900.00", "2026-01-10")
    create_subscription("Early", "2025-03-20", "300.00")
    create_subscription("Late", "2025-06-01", "100.00")
    report = viewer.get(build_report_path(acme))
    assert read_table(report, "recurring")["MRR at the end"] == ["400.00", "2", "300.00"]
    assert read_table(report, "figures")["MRR at the end of the month"][-1] == "300.00"
    assert read_table(report, "figures")["Customers at the end of the month"][-1] == "1"
    assert read_table(report, "figures")["Cash at the end of the month"][-1] == "–"
    assert read_table(viewer.get(build_report_path(acme, "2026-02")), "recurring")["Step"] == ["MRR", "Customers"]


def test_share_is_of_the_ten_largest_customers(acme, viewer, booked_year, create_subscription):
    for number in range(12):
        create_subscription(f"Customer {number:02}", "2026-02-01", "10.00")
    customers = read_table(viewer.get(build_report_path(acme)), "customers")
    assert len(customers) == 12  # heading, ten customers, their sum
    assert customers["Ten largest customers"] == ["100.00", "83.33 %"]


def test_measures_of_the_last_three_whole_months(acme, viewer, create_categorized_transaction, create_subscription):
    for day in ("2026-01-10", "2026-02-10", "2026-03-10"):
        create_categorized_transaction("revenueRecurring", "revenue", "100.00", day)
        create_categorized_transaction("hosting", "cogs", "-20.00", day)
        create_categorized_transaction("marketing", "cac", "-200.00", day)
    create_subscription("New", "2026-02-01", "50.00")
    measures = read_table(viewer.get(build_report_path(acme)), "measures")
    # Burned: 3 × 120; net new ARR: 12 × 50. Marketing of 600 for 50 MRR with a margin of 80 %.
    assert measures["Burn multiple Burn without new financing ÷ net new ARR, Jan 2026 to Mar 2026"] == ["0.60"]
    assert measures["CAC payback Sales and marketing ÷ gross profit of new MRR, Jan 2026 to Mar 2026"] == ["15 months"]
    assert measures["Net revenue retention Not available: no customer paid twelve months ago."] == ["–"]
    margin = read_table(viewer.get(build_report_path(acme)), "margin")
    assert margin["Mar 2026"] == ["100.00", "80.00", "80.00 %", "-120.00"]
    assert list(margin)[1:] == ["Jan 2026", "Feb 2026", "Mar 2026"]


def test_measures_say_why_they_are_not_available(acme, viewer, booked_year):
    measures = read_table(viewer.get(build_report_path(acme)), "measures")
    assert measures["Burn multiple Not available: no cash was burned in these months."] == ["–"]
    page = viewer.get(build_report_path(acme)).content.decode()
    assert '<tr class="kind-unavailable"><th scope="row">Burn multiple' in page, "print styles leave it out"
    first = read_table(viewer.get(build_report_path(acme, "2025-03")), "measures")
    assert first["Burn multiple Not available: it takes three whole months with transactions."] == ["–"]
    assert first["CAC payback Not available: it takes three whole months with transactions."] == ["–"]


def test_year_to_date_is_compared_with_its_plan(acme, viewer, query_data, books, booked_year, api):
    ga = books.get_category_id("officeAndAdmin")
    amount = {"type": "fixed", "amount": {"value": 300, "currency": "EUR"}}
    plan = {"month": "2026-01", "plType": "ga", "categoryId": ga, "amount": amount, "duration": 12, "frequency": 1}
    assert api.post("plan_items", plan).status_code == 201
    (row,) = [
        row
        for row in query_data("profitAndLoss", startMonth="2026-01", endMonth="2026-03", interval="year")
        if row["plType"] == "ga"
    ]
    table = read_table(viewer.get(build_report_path(acme)), "year")
    assert table["General and administration"] == [
        format_number(-row["actual"]),
        format_number(-row["planned"]),
        f"+{format_number(-row['variance'])}",
        "-3,600.00",
    ]


def test_year_is_compared_with_its_plan_from_the_first_month_with_data(acme, viewer, api, books, bank):
    plan = {"month": "2026-01", "plType": "ga", "categoryId": books.get_category_id("officeAndAdmin"), "duration": 12}
    amount = {"type": "fixed", "amount": {"value": 300, "currency": "EUR"}}
    assert api.post("plan_items", plan | {"amount": amount, "frequency": 1}).status_code == 201
    books.create_transaction(bank, "-100.00", "2026-02-12")
    answer = viewer.get(build_report_path(acme))
    assert "Plan and actual since February 2026" in answer.content.decode()
    assert read_table(answer, "year")["General and administration"] == ["0.00", "-600.00", "+600.00", "-3,600.00"]


def test_largest_variances_are_listed_with_their_line(acme, viewer, books, booked_year, api):
    assert 'id="variances-heading"' not in viewer.get(build_report_path(acme)).content.decode()  # nothing is planned
    for key, line, value in [("officeAndAdmin", "ga", 300), ("hosting", "cogs", 2500)]:
        amount = {"type": "fixed", "amount": {"value": value, "currency": "EUR"}}
        plan = {"month": "2026-03", "plType": line, "categoryId": books.get_category_id(key), "amount": amount}
        assert api.post("plan_items", plan).status_code == 201
    table = read_table(viewer.get(build_report_path(acme)), "variances")
    assert list(table.items()) == [
        ("Category", ["Actual", "Plan", "Variance"]),
        ("Hosting Cost of revenue", ["0.00", "-2,500.00", "+2,500.00"]),
        ("Recurring revenue Revenue", ["1,000.50", "0.00", "+1,000.50"]),
        ("Office and administration General and administration", ["-400.25", "-300.00", "-100.25"]),
    ]


def test_receivables_of_the_report_equal_the_query(acme, viewer, query_data, books, bank, booked_year, api):
    for start, invoiced, amount in (("2026-04-10", "2026-03-20", "70.00"), ("2026-02-10", "2026-01-20", "30.50")):
        body = {"accountId": bank, "name": "Invoice", "startDate": start, "amountValue": amount}
        body |= {"invoiceDate": invoiced, "autoSettle": False}
        assert api.post("planned_transactions", body).status_code == 201
    aging = query_data("aging", kind="receivables", asOf="2026-03-31")
    table = read_table(viewer.get(build_report_path(acme)), "aging")
    assert table["Not due yet"] == [format_number(aging["current"])] == ["70.00"]
    assert table["31–60 days overdue"] == [format_number(aging["buckets"][1])] == ["30.50"]
    assert table["Total"] == [format_number(aging["total"])] == ["100.50"]


def test_closed_month_is_reported_as_it_was_closed(
    acme, viewer, owner, query_data, books, close_month, api, create_categorized_transaction
):
    dollars = books.create_account(name="Dollars", defaultCurrency="USD")
    create_categorized_transaction(
        "officeAndAdmin", "ga", "-100.00", "2026-03-15", account=dollars, amountCurrency="USD"
    )
    assert "Not closed yet" in text(viewer.get(build_report_path(acme)))
    close_month()
    untouched = text(viewer.get(build_report_path(acme)))
    assert "As reported on 10 May 2026, version 1" in untouched
    assert "Figures have changed" not in untouched
    load("Date,USD\n2026-03-13,2\n2026-03-31,4\n")
    answer = viewer.get(build_report_path(acme))
    ga = read_table(answer, "results")["General and administration"][0]
    (reported,) = query_data("profitAndLoss", startMonth="2026-03", endMonth="2026-03", asReported=True)
    (now,) = query_data("profitAndLoss", startMonth="2026-03", endMonth="2026-03")
    assert reported["actual"] != now["actual"]
    assert ga == f"{format_number(-reported['actual'])} now {format_number(-now['actual'])}"
    assert "Figures have changed since the month was reported" in text(answer)
    assert f'/app/companies/{acme.id}/closings/2026-03"' in answer.content.decode()
    figures = {each["figure"]: each["value"] for each in api.get("closings/2026-03").json()["figures"]}
    cash = read_table(answer, "cash")["Closing cash"][0]
    assert cash.startswith(f"{format_number(figures['balance'])} now ")


def test_reopened_month_shows_the_books_and_what_was_reported(
    acme, viewer, api, create_categorized_transaction, booked_year, close_month
):
    close_month()
    assert api.post("closings/2026-03/reopen", {"reason": "Late invoice"}).status_code == 200
    create_categorized_transaction("officeAndAdmin", "ga", "-50.00", "2026-03-31")
    create_categorized_transaction("hosting", "cogs", "-7.00", "2026-03-31")
    answer = viewer.get(build_report_path(acme))
    assert "Current figures. Reported on 10 May 2026, reopened on 10 May 2026." in text(answer)
    results = read_table(answer, "results")
    assert results["General and administration"][0] == "-450.25 reported -400.25"
    assert results["Cost of revenue"][0] == "-7.00 reported 0.00"
    assert results["Revenue"][0] == "1,000.50"
    assert results["Result"][0] == "543.25 reported 600.25"
    assert read_table(answer, "cash")["Closing cash"][0] == "3,093.25 reported 3,150.25"
    close_month()
    again = viewer.get(build_report_path(acme))
    assert "version 2" in text(again)
    assert read_table(again, "results")["General and administration"][0] == "-450.25"


def test_what_was_reported_and_is_gone_is_still_shown(
    acme, viewer, api, create_categorized_transaction, booked_year, close_month
):
    paid = create_categorized_transaction("hosting", "cogs", "-7.00", "2026-03-31")
    close_month()
    assert api.post("closings/2026-03/reopen", {"reason": "Mistake"}).status_code == 200
    assert api.delete(f"transactions/{paid}").status_code == 200
    results = read_table(viewer.get(build_report_path(acme)), "results")
    assert results["Cost of revenue"][0] == "0.00 reported -7.00"
    assert results["Gross profit"][0] == "1,000.50 reported 993.50"


@pytest.mark.parametrize("month", ["2025-02", "2026-06", "9999-12", "0001-01"])
def test_months_without_report_say_so(acme, viewer, booked_year, month):
    answer = viewer.get(build_report_path(acme, month))
    assert answer.status_code == 404
    assert "There is no report for this month" in text(answer)


def test_malformed_months_are_not_found(acme, viewer, booked_year):
    for month in ["2026-13", "2026-3", "march", "0000-01", "2026-03-01"]:
        assert viewer.get(build_report_path(acme, month)).status_code == 404


def test_month_in_progress_has_a_report(acme, viewer, booked_year):
    assert "In progress: the month is not over" in text(viewer.get(build_report_path(acme, "2026-05")))


def test_list_of_reports_names_their_states(acme, viewer, booked_year, close_month, api):
    address = f"/app/companies/{acme.id}/reports"
    close_month("2026-02")
    assert api.put("reports/2026-03/commentary", {"text": "Good month"}).status_code == 200
    listed = text(viewer.get(address))
    assert "May 2026 In progress" in listed
    assert "March 2026 Open Yes" in listed
    assert "February 2026 Closed on 10 May 2026" in listed
    assert "March 2025" not in listed
    assert "March 2025" in text(viewer.get(address, {"year": "2025"}))


def test_empty_company_has_no_reports(acme, viewer):
    assert "No reports yet" in text(viewer.get(f"/app/companies/{acme.id}/reports"))


def test_sections_need_their_permissions(acme, sign_in_browser, booked_year, create_subscription):
    create_subscription("Big", "2025-06-01", "300.00")
    reader = factories.make_member(acme, "r@acme.example", role=Role.VIEWER, permissions=["financials:read"])
    answer = sign_in_browser(reader, acme).client.get(build_report_path(acme))
    assert answer.status_code == 200
    html = answer.content.decode()
    for section in ("cash", "recurring", "customers"):
        assert f'id="{section}-heading"' not in html
    assert "Landlord" not in html
    assert "/transactions" not in html


def test_report_leads_to_closing_its_month(acme, owner, viewer, booked_year, close_month):
    base = f"/app/companies/{acme.id}/closings"
    open_month = owner.get(build_report_path(acme)).content.decode()
    assert f'href="{base}?month=2026-03">Close March 2026</a>' in open_month
    assert "Close March 2026" not in viewer.get(build_report_path(acme)).content.decode()
    assert "Close May 2026" not in owner.get(build_report_path(acme, "2026-05")).content.decode()
    close_month()
    closed = viewer.get(build_report_path(acme)).content.decode()
    assert f'href="{base}/2026-03">View closing</a>' in closed
    assert "Close March 2026" not in owner.get(build_report_path(acme)).content.decode()
    assert (
        f'href="{base}/2026-03">Closed on 10 May 2026</a>'
        in owner.get(f"/app/companies/{acme.id}/reports").content.decode()
    )


def test_overview_reminds_of_the_last_month_until_it_is_closed(acme, owner, viewer, booked_year, close_month):
    base = f"/app/companies/{acme.id}"
    reminder = f'href="{base}/closings?month=2026-04"'
    assert "April 2026 is not closed" in text(owner.get(base))
    assert reminder in owner.get(base).content.decode()
    assert "is not closed" not in text(viewer.get(base))
    close_month("2026-03")
    assert reminder in owner.get(base).content.decode()
    close_month("2026-04")
    assert "is not closed" not in text(owner.get(base))


def test_overview_of_a_company_without_a_whole_month_has_no_reminder(acme, owner, books, bank):
    books.create_transaction(bank, "-5.00", "2026-05-02")
    assert "is not closed" not in text(owner.get(f"/app/companies/{acme.id}"))


def test_sections_without_data_are_named_in_one_line(acme, viewer, api, booked_year, create_subscription):
    """Print styles leave out whatever is for the screen only."""
    first = viewer.get(build_report_path(acme)).content.decode()
    for section in ("recurring", "aging", "payables", "customers"):
        assert f'id="{section}-heading"' not in first, section
    assert "There were no subscriptions. No receivables are open. No payables are open.</p>" in first
    assert "MRR at the end of the month" not in first
    assert '<section class="card panel stack screen-only" aria-labelledby="commentary-heading">' in first
    assert '<section class="card statement screen-only">\n  <h2 id="measures-heading">' in first, "why there are none"
    create_subscription("Globex", "2026-03-05", "50.00")
    assert api.put("reports/2026-03/commentary", {"text": "As planned."}).status_code == 200
    filled = viewer.get(build_report_path(acme)).content.decode()
    assert "MRR at the end of the month" in filled
    assert ">No receivables are open. No payables are open.</p>" in filled
    assert filled.count("screen-only") == 1, "the measures"
