"""Scenarios over HTTP: what is planned of Acme, a scenario of changes, and the queries under it."""

from datetime import date, timedelta
from typing import Any

import pytest

from ledger.calc.months import add_months, get_first_day_of_month

TODAY = date.today()
NEXT_MONTH = add_months(get_first_day_of_month(TODAY), 1)
END = add_months(NEXT_MONTH, 24) - timedelta(days=1)


@pytest.fixture
def plan_rent(api: Any, account: Any) -> Any:
    """Plan a payment of 1,000.00 on the 5th of each month from the next one on, or another one."""

    def plan(**values: Any) -> dict[str, Any]:
        body = {
            "accountId": str(account.id),
            "name": "Rent",
            "startDate": str(NEXT_MONTH.replace(day=5)),
            "amountValue": "-1000.00",
            "recurrence": {"frequency": "month"},
        }
        made = api.post("planned_transactions", body | values)
        assert made.status_code == 201, made.content
        return made.json()

    return plan


@pytest.fixture
def plan_item(api: Any, category: Any) -> Any:
    """Plan 500.00 a month on the line `ga` from the next month on, or something else."""

    def plan(value: float = 500, **values: Any) -> dict[str, Any]:
        body = {
            "month": f"{NEXT_MONTH:%Y-%m}",
            "plType": "ga",
            "categoryId": str(category.id),
            "amount": {"type": "fixed", "amount": {"value": value, "currency": "EUR"}},
        }
        made = api.post("plan_items", body | values)
        assert made.status_code == 201, made.content
        return made.json()

    return plan


@pytest.fixture
def create_scenario(api: Any) -> Any:
    def create(*changes: dict[str, Any], name: str = "What if") -> str:
        made = api.post("scenarios", {"name": name, "changes": list(changes)})
        assert made.status_code == 201, made.content
        return made.json()["id"]

    return create


@pytest.fixture
def list_outflow(api: Any) -> Any:
    """The planned outflow by day, without zeros, under a scenario or without one."""

    def list_points(scenario_id: str | None = None, *, name: str = "plannedOutflow") -> dict[str, float]:
        query = {"startDate": str(TODAY), "endDate": str(END), "interval": "day", "scenarioId": scenario_id}
        answer = api.post("data/forecastCashFlowTimeSeries", query)
        assert answer.status_code == 200, answer.content
        return {point["date"]: point["value"] for point in answer.json()[name] if point["value"]}

    return list_points


@pytest.fixture
def list_plan(api: Any) -> Any:
    """What the plan says, by month, under a scenario or without one."""

    def list_months(scenario_id: str | None = None) -> dict[str, float]:
        query = {"startMonth": f"{TODAY:%Y-%m}", "endMonth": f"{END:%Y-%m}", "scenarioId": scenario_id}
        answer = api.post("data/profitAndLoss", query)
        assert answer.status_code == 200, answer.content
        return {row["month"]: row["planned"] for row in answer.json() if row["planned"]}

    return list_months


@pytest.fixture
def adopt(api: Any) -> Any:
    def post(scenario_id: str) -> str:
        answer = api.post(f"scenarios/{scenario_id}/adopt")
        assert answer.status_code == 200, answer.content
        return answer.json()["adoptionId"]

    return post


def day_in_month(number: int, day: int = 5) -> str:
    """A day of a month from now on: 1 is the next one."""
    return str(add_months(NEXT_MONTH, number - 1).replace(day=day))


def month_ahead(number: int) -> str:
    return day_in_month(number)[:7]
