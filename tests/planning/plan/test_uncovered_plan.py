"""What the plan has beyond planned transactions: the cash plan shows it, since no forecast counts it."""

import re
from datetime import date, timedelta
from decimal import Decimal
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest

from ledger.calc.months import add_months, get_last_day_of_month
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db
TODAY = date.today()
NEXT_MONTH, SECOND_MONTH = (add_months(TODAY.replace(day=1), count) for count in (1, 2))
END = get_last_day_of_month(SECOND_MONTH)
TITLE = "Plan without planned transactions"


@pytest.fixture
def revenue(api):
    return api.get_category_id("revenueRecurring")


@pytest.fixture
def add_plan_item(api):
    def add(category, line, amount, month=NEXT_MONTH, **more):
        price = {"type": "fixed", "amount": {"value": amount, "currency": "EUR"}}
        body = {"categoryId": category, "plType": line, "month": f"{month:%Y-%m}", "amount": price} | more
        answer = api.post("plan_items", body)
        assert answer.status_code == 201, answer.content

    return add


@pytest.fixture
def plan_payment(api, account):
    def plan(category, amount, day=NEXT_MONTH, **more):
        body = {"accountId": str(account.id), "name": "Payment", "startDate": day.isoformat(), "amountValue": amount}
        answer = api.post("planned_transactions", body | {"categoryId": category} | more)
        assert answer.status_code == 201, answer.content

    return plan


@pytest.fixture
def show_cash_plan(owner, acme):
    def show(**query):
        return owner.get(f"/app/companies/{acme.id}/planned", {"endDate": END.isoformat()} | query)

    return show


def list_uncovered(answer):
    """Row name → its amounts."""
    part = answer.content.decode().partition(TITLE)[2].partition("</section>")[0]
    rows = re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', part, re.DOTALL)
    return {name: [re.sub(r"<.*?>", "", cell) for cell in re.findall(r"<td.*?</td>", cells)] for name, cells in rows}


def test_plan_beyond_planned_transactions_is_listed_by_month(
    add_plan_item, plan_payment, show_cash_plan, office, revenue
):
    add_plan_item(office, "ga", 500)
    add_plan_item(revenue, "revenue", 2000, frequency=0)
    plan_payment(office, "-120.00")
    answer = show_cash_plan()
    assert list_uncovered(answer) == {
        "Recurring revenue": ["2,000", "", "2,000"],
        "Office and administration": ["-380", "-500", "-880"],
        "Total": ["1,620", "-500", "1,120"],
    }
    assert "The forecast counts planned transactions and open invoices only." in get_page_text(answer)


def test_covered_plan_and_months_that_are_not_whole_are_left_out(add_plan_item, plan_payment, show_cash_plan, office):
    plan_payment(office, "-600.00", recurrence={"frequency": "month"})
    add_plan_item(office, "ga", 500)
    assert TITLE not in get_page_text(show_cash_plan())
    add_plan_item(office, "ga", 300, frequency=0, month=SECOND_MONTH)
    assert list_uncovered(show_cash_plan()) == {
        "Office and administration": ["", "-200", "-200"],
        "Total": ["0", "-200", "-200"],
    }
    assert TITLE not in get_page_text(show_cash_plan(endDate=(END - timedelta(days=1)).isoformat()))


def test_planned_transactions_without_line_reduce_the_total(api, account, add_plan_item, show_cash_plan, office):
    add_plan_item(office, "ga", 500)
    several = api.post("categories", {"name": "Payroll", "plTypes": ["cogs", "ga"]}).json()["id"]
    body = {"accountId": str(account.id), "name": "Payroll", "startDate": NEXT_MONTH.isoformat()}
    for more in ({"amountValue": "-400.00", "categoryId": several}, {"amountValue": "-30.00"}):
        assert api.post("planned_transactions", body | more).status_code == 201
    assert list_uncovered(show_cash_plan()) == {
        "Office and administration": ["-500", "-500", "-1,000"],
        "Less planned transactions without a P&amp;L line": ["430", "0", "430"],
        "Total": ["-70", "-500", "-570"],
    }


def test_amount_leads_to_the_form_that_plans_it(add_plan_item, plan_payment, show_cash_plan, owner, api, office):
    plan_payment(office, "-1.00")
    add_plan_item(office, "ga", 500)
    link = unescape(re.search(r'href="([^"]+planned/new\?[^"]+)"', show_cash_plan().content.decode())[1])
    form = owner.get(link).content.decode()
    assert 'value="499.00"' in form
    assert f'<option value="{office}" selected>' in form
    values = dict(parse_qsl(urlsplit(link).query)) | {"amountCurrency": "EUR", "frequency": "month", "interval": "1"}
    saved = owner.post(urlsplit(link).path, values | {"endType": "never", "weekendShift": "none"})
    assert saved.status_code == 303, get_page_text(saved)
    planned = next(row for row in api.get("planned_transactions").json() if row["settledBy"] == "category")
    assert (Decimal(planned["amountValue"]), planned["startDate"]) == (
        -499,
        get_last_day_of_month(NEXT_MONTH).isoformat(),
    )
    assert list_uncovered(show_cash_plan())["Office and administration"] == ["", "-1", "-1"]


def test_reader_sees_amounts_without_links(sign_in_browser, bob, acme, add_plan_item, plan_payment, office):
    plan_payment(office, "-1.00")
    add_plan_item(office, "ga", 500)
    answer = sign_in_browser(bob, acme).client.get(f"/app/companies/{acme.id}/planned", {"endDate": END.isoformat()})
    assert list_uncovered(answer)["Office and administration"] == ["-499", "-500", "-999"]
    assert "planned/new" not in answer.content.decode()
