"""The plan of a monthly report: a closed month shows the plan as it was when the month was closed."""

import pytest

from ledger.models import Closing
from tests.analytics.reports.report_pages import build_report_path, read_table
from tests.ledger.conftest import get_page_text as text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("travel_to_may_2026")]


@pytest.fixture
def plan_item(api, books):
    """A plan item of 300 a month for office and administration in 2026."""
    item = {
        "month": "2026-01",
        "plType": "ga",
        "categoryId": books.get_category_id("officeAndAdmin"),
        "amount": {"type": "fixed", "amount": {"value": 300, "currency": "EUR"}},
        "duration": 12,
        "frequency": 1,
    }
    answer = api.post("plan_items", item)
    assert answer.status_code == 201, answer.content
    return item | {"id": answer.json()["id"]}


@pytest.fixture
def change_plan_item(api, plan_item):
    def change(value):
        body = {name: plan_item[name] for name in plan_item if name != "id"}
        body["amount"] = {"type": "fixed", "amount": {"value": value, "currency": "EUR"}}
        answer = api.put(f"plan_items/{plan_item['id']}", body)
        assert answer.status_code == 200, answer.content

    return change


def read_plans(answer):
    """The planned amounts of a line in the month, the year to date and the whole year."""
    year = read_table(answer, "year")["General and administration"]
    return [read_table(answer, "results")["General and administration"][1], year[1], year[3]]


def test_closed_month_keeps_the_plan_it_was_closed_with(
    acme, viewer, api, booked_year, plan_item, change_plan_item, close_month
):
    digest = close_month()["digest"]
    before = ["-300.00", "-900.00", "-3,600.00"]
    assert read_plans(viewer.get(build_report_path(acme))) == before
    change_plan_item(500)
    answer = viewer.get(build_report_path(acme))
    assert read_plans(answer) == before
    assert read_table(answer, "figures")["Operating result"][1] == "-300.00"
    assert "Plan as of 10 May 2026, when the month was closed." in text(answer)
    assert "Plan as of today." not in text(answer)
    assert api.get("closings/2026-03").json()["digest"] == digest
    assert read_plans(viewer.get(build_report_path(acme, "2026-04"))) == ["-500.00", "-2,000.00", "-6,000.00"]


def test_closing_again_takes_the_plan_of_that_day(
    acme, viewer, api, booked_year, plan_item, change_plan_item, close_month
):
    close_month()
    change_plan_item(500)
    assert api.post("closings/2026-03/reopen", {"reason": "Late invoice"}).status_code == 200
    assert read_plans(viewer.get(build_report_path(acme))) == ["-500.00", "-1,500.00", "-6,000.00"]
    close_month()
    change_plan_item(700)
    assert read_plans(viewer.get(build_report_path(acme))) == ["-500.00", "-1,500.00", "-6,000.00"]


def test_plan_of_a_deleted_category_stays_in_the_report(acme, viewer, api, booked_year, plan_item, close_month):
    category = api.post("categories", {"name": "Events", "plTypes": ["ga"]}).json()["id"]
    item = {name: plan_item[name] for name in plan_item if name != "id"} | {"categoryId": category}
    item["id"] = api.post("plan_items", item).json()["id"]
    close_month()
    assert api.delete(f"plan_items/{item['id']}").status_code == 200
    assert api.delete(f"categories/{category}").status_code == 200
    answer = viewer.get(build_report_path(acme))
    assert read_plans(answer) == ["-600.00", "-1,800.00", "-7,200.00"]
    assert read_table(answer, "results")["a deleted category"][1] == "-300.00"


def test_closing_without_a_stored_plan_says_that_the_plan_is_of_today(
    acme, viewer, booked_year, plan_item, close_month
):
    close_month()
    closing = Closing.objects.get(company_id=acme.id, month="2026-03-01")
    assert closing.plan is not None
    drop_stored_plan(closing)
    answer = viewer.get(build_report_path(acme))
    assert "Plan as of today." in text(answer)
    assert read_plans(answer) == ["-300.00", "-900.00", "-3,600.00"]


def drop_stored_plan(closing):
    """Make a closing one of those that were stored before the plan was kept with them."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE ledger_closing DISABLE TRIGGER USER")
        cursor.execute("UPDATE ledger_closing SET plan = NULL WHERE company_id = %s", [closing.company_id])
        cursor.execute("ALTER TABLE ledger_closing ENABLE TRIGGER USER")


def test_receivables_are_those_of_the_last_day_of_the_month(acme, viewer, api, bank, books, booked_year, close_month):
    body = {"accountId": bank, "name": "Invoice", "startDate": "2026-03-20", "amountValue": "70.00"}
    body |= {"invoiceDate": "2026-03-01", "autoSettle": False}
    invoice = api.post("planned_transactions", body).json()["id"]
    close_month()
    paid = books.create_transaction(bank, "70.00", "2026-04-20")["id"]
    settled = {"date": "2026-03-20", "transactionId": paid}
    assert api.post(f"planned_transactions/{invoice}/settle", settled).status_code == 200
    answer = viewer.get(build_report_path(acme))
    table = read_table(answer, "aging")
    assert table["1–30 days overdue"] == ["70.00"]
    assert table["Total"] == ["70.00"]
    assert "Open on 31 Mar 2026." in text(answer)
