"""Occurrences on weekends, over HTTP: expected on another day, and found by their original date."""

from datetime import timedelta
from typing import Any

import pytest

from tests.page_text import get_page_text
from tests.planning.planned_transactions.test_planned_transaction_pages import build_page_path, build_rule_form
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db

SATURDAY = TODAY + timedelta(days=7 + (5 - TODAY.weekday()) % 7)
PAST_SUNDAY = TODAY - timedelta(days=14 + (TODAY.weekday() - 6) % 7)
WINDOW = {"startDate": str(SATURDAY - timedelta(days=3)), "endDate": str(SATURDAY + timedelta(days=3))}


def day_beside(days: int) -> str:
    return str(SATURDAY + timedelta(days=days))


@pytest.fixture
def plan_payment(api, account) -> Any:
    """Plan a payment every four weeks from a day on; return its id."""

    def plan(day: Any = SATURDAY, **values: Any) -> str:
        body = {"accountId": str(account.id), "name": "Rent", "startDate": str(day), "amountValue": "-100.00"}
        body |= {"recurrence": {"frequency": "week", "interval": 4}, "autoSettle": False}
        made = api.post("planned_transactions", body | values)
        assert made.status_code == 201, made.content
        assert made.json()["weekendShift"] == values.get("weekendShift", "none")
        return made.json()["id"]

    return plan


@pytest.mark.parametrize(("shift", "days"), [("none", 0), ("before", -1), ("after", 2)])
def test_forecast_expects_weekend_occurrences_on_the_shifted_day(api, plan_payment, shift, days):
    plan_payment(weekendShift=shift)
    flows = api.post("data/forecastCashFlowTimeSeries", WINDOW | {"interval": "day"}).json()
    assert [each["date"] for each in flows["plannedOutflow"] if each["value"]] == [day_beside(days)]
    balances = api.post("data/forecastBalanceTimeSeries", WINDOW | {"interval": "day"}).json()
    assert next(each["date"] for each in balances["projected"] if each["value"] == -100) == day_beside(days)
    only_shifted = {"startDate": day_beside(days), "endDate": day_beside(days)}
    flows = api.post("data/forecastCashFlowTimeSeries", only_shifted).json()
    assert [each["value"] for each in flows["plannedOutflow"]] == [100]


def test_due_list_and_occurrences_show_the_shifted_day_with_the_original_date(api, plan_payment):
    planned = plan_payment(weekendShift="after")
    monday = {"startDate": day_beside(2), "endDate": day_beside(2)}
    for path in ("planned_transactions/due", f"planned_transactions/{planned}/occurrences"):
        (occurrence,) = api.get(path, monday).json()
        days = occurrence["date"], occurrence["expectedDate"], occurrence["originalDate"]
        assert days == (day_beside(2), day_beside(2), str(SATURDAY))
        assert api.get(path, {"startDate": str(SATURDAY), "endDate": day_beside(1)}).json() == []


def test_shifted_occurrence_is_matched_and_settled_by_its_original_date(api, account, plan_payment):
    planned = plan_payment(PAST_SUNDAY, weekendShift="after")
    booked = {"accountId": str(account.id), "date": str(PAST_SUNDAY + timedelta(days=1)), "amountValue": "-100.00"}
    paid = api.post("transactions", booked).json()["id"]
    window = {"startDate": booked["date"], "endDate": booked["date"]}
    (match,) = api.post("planned_transactions/matches", window).json()
    assert (match["transactionId"], match["date"], match["days"]) == (paid, str(PAST_SUNDAY), 0)
    body = {"date": str(PAST_SUNDAY), "transactionId": paid}
    assert api.post(f"planned_transactions/{planned}/settle", body).status_code == 200
    (due,) = api.get("planned_transactions/due", window).json()
    assert (due["state"], due["date"], due["originalDate"]) == ("paid", booked["date"], str(PAST_SUNDAY))
    answer = api.post(f"planned_transactions/{planned}/unsettle", {"date": booked["date"]})
    assert answer.status_code == 409, "settlements are found by the original date"


def test_date_of_an_override_is_not_shifted(api, plan_payment):
    planned = plan_payment(weekendShift="before")
    sunday = day_beside(1)
    assert api.put(f"planned_transactions/{planned}/overrides/{SATURDAY}", {"date": sunday}).status_code == 200
    (occurrence,) = api.get(f"planned_transactions/{planned}/occurrences", WINDOW).json()
    assert (occurrence["date"], occurrence["basis"]) == (sunday, "person")
    assert api.put(f"planned_transactions/{planned}/overrides/{SATURDAY}", {"date": None}).status_code == 200
    (occurrence,) = api.get(f"planned_transactions/{planned}/occurrences", WINDOW).json()
    assert (occurrence["date"], occurrence["basis"]) == (day_beside(-1), "startDate")


def test_planned_total_is_not_shifted(api, category, plan_payment):
    planned = plan_payment(weekendShift="after", settledBy="category", categoryId=str(category.id))
    (occurrence,) = api.get(f"planned_transactions/{planned}/occurrences", WINDOW).json()
    assert occurrence["date"] == str(SATURDAY)


def test_unknown_weekend_shift_is_rejected(api, plan_payment):
    answer = api.put(f"planned_transactions/{plan_payment()}", {"weekendShift": "never"})
    assert [(each["pointer"], each["code"]) for each in answer.json()["errors"]] == [
        ("#/weekendShift", "invalid_choice")
    ]


def test_pages_offer_weekend_shift_and_show_shifted_days(owner, api, acme, account):
    form = build_rule_form(startDate=str(SATURDAY), weekendShift="before")
    assert owner.post(build_page_path(acme, "/new"), form).status_code == 303
    (planned,) = api.get("planned_transactions").json()
    assert planned["weekendShift"] == "before"
    friday = SATURDAY - timedelta(days=1)
    moved = f"{friday:%-d %b %Y} moved from {SATURDAY:%-d %b %Y} Rent"
    assert moved in get_page_text(owner.get(build_page_path(acme)))
    page = owner.get(build_page_path(acme, f"/{planned['id']}"))
    assert "every month, on weekends the Friday before" in get_page_text(page)
    path = build_page_path(acme, f"/{planned['id']}/occurrences/{SATURDAY}")
    shown = owner.get(path)
    assert f'value="{friday}"' in shown.content.decode()
    values = {"date": str(friday), "direction": "out", "amountValue": "2400.00", "name": "Rent"}
    assert owner.post(path, values).status_code == 303
    assert api.get(f"planned_transactions/{planned['id']}").json()["overrides"] == {}
