"""Fixtures for scenarios over HTTP: planned payments, plan items, scenarios, and forecasts under a scenario."""

from datetime import date, timedelta
from typing import Any

import pytest

from ledger.calc.months import add_months, get_first_day_of_month

TODAY = date.today()
NEXT_MONTH = add_months(get_first_day_of_month(TODAY), 1)
END = add_months(NEXT_MONTH, 24) - timedelta(days=1)


@pytest.fixture
def plan_rent(api: Any, account: Any) -> Any:
    """Plan a payment of 1,000.00 on the 5th of each month from next month on, with changed values."""

    def plan(**values: Any) -> dict[str, Any]:
        body = {
            "accountId": str(account.id),
            "name": "Rent",
            "startDate": str(NEXT_MONTH.replace(day=5)),
            "amountValue": "-1000.00",
            "recurrence": {"frequency": "month"},
        }
        response = api.post("planned_transactions", body | values)
        assert response.status_code == 201, response.content
        return response.json()

    return plan


@pytest.fixture
def plan_item(api: Any, category: Any) -> Any:
    """Plan 500.00 a month on the line `ga` from next month on, with changed values."""

    def plan(value: float = 500, **values: Any) -> dict[str, Any]:
        body = {
            "month": f"{NEXT_MONTH:%Y-%m}",
            "plType": "ga",
            "categoryId": str(category.id),
            "amount": {"type": "fixed", "amount": {"value": value, "currency": "EUR"}},
        }
        response = api.post("plan_items", body | values)
        assert response.status_code == 201, response.content
        return response.json()

    return plan


@pytest.fixture
def create_scenario(api: Any) -> Any:
    """Create a scenario with changes; return its id."""

    def create(*changes: dict[str, Any], name: str = "What if") -> str:
        response = api.post("scenarios", {"name": name, "changes": list(changes)})
        assert response.status_code == 201, response.content
        return response.json()["id"]

    return create


@pytest.fixture
def list_outflow(api: Any) -> Any:
    """Return {day: planned outflow} without zeros, with or without a scenario."""

    def list_points(scenario_id: str | None = None, *, name: str = "plannedOutflow") -> dict[str, float]:
        query = {"startDate": str(TODAY), "endDate": str(END), "interval": "day", "scenarioId": scenario_id}
        response = api.post("data/forecastCashFlowTimeSeries", query)
        assert response.status_code == 200, response.content
        return {point["date"]: point["value"] for point in response.json()[name] if point["value"]}

    return list_points


@pytest.fixture
def list_plan(api: Any) -> Any:
    """Return {month: planned amount} without zeros, with or without a scenario."""

    def list_months(scenario_id: str | None = None) -> dict[str, float]:
        query = {"startMonth": f"{TODAY:%Y-%m}", "endMonth": f"{END:%Y-%m}", "scenarioId": scenario_id}
        response = api.post("data/profitAndLoss", query)
        assert response.status_code == 200, response.content
        return {row["month"]: row["planned"] for row in response.json() if row["planned"]}

    return list_months


@pytest.fixture
def adopt_scenario(api: Any) -> Any:
    """Adopt a scenario; return the id of the adoption."""

    def adopt(scenario_id: str) -> str:
        response = api.post(f"scenarios/{scenario_id}/adopt")
        assert response.status_code == 200, response.content
        return response.json()["adoptionId"]

    return adopt


def day_in_month(number: int, day: int = 5) -> str:
    """Return a day of a future month; 1 is next month."""
    return str(add_months(NEXT_MONTH, number - 1).replace(day=day))


def month_ahead(number: int) -> str:
    return day_in_month(number)[:7]
