"""A forecast under a scenario is the forecast after its changes were really made, to the cent.

Random plans and scenarios over HTTP: queries under the scenario change nothing stored, equal those after the adoption,
and equal what a simple model of the rules says of each occurrence; undoing the adoption restores the plan.
"""

from collections import defaultdict
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.planning.scenarios.conftest import TODAY
from tests.planning.scenarios.random_company import (
    WINDOW,
    RandomCompany,
    apply_to_occurrence,
    changes,
    item_bodies,
    planned_bodies,
)
from tests.planning.scenarios.test_adoption import list_plans
from tests.test_isolation import digest_all_rows

pytestmark = pytest.mark.django_db

EXAMPLES = 15
OVERDUE_PERIOD = timedelta(days=60)


def drop_scenario_members(answer: Any) -> Any:
    """Return an answer without what only queries with a scenario have; runway's day is compared with a scenario."""
    if not isinstance(answer, dict):
        return answer
    left_out = {"brokenChanges"} | ({"belowZero"} if "runwayMonths" in answer else set())
    return {name: value for name, value in answer.items() if name not in left_out}


def list_expected_flows(company: RandomCompany, scenario_changes: list[dict[str, Any]]) -> dict[str, Decimal]:
    """The net flow by day, from the occurrences and the rules of each kind of change, one occurrence at a time."""
    flows: defaultdict[str, Decimal] = defaultdict(Decimal)
    added = [each["plannedTransaction"] for each in scenario_changes if "plannedTransaction" in each]
    with transaction.atomic():
        rows = [(-1, planned) for planned in company.planned]
        for body in added:
            position = next(
                place for place, each in enumerate(scenario_changes) if each.get("plannedTransaction") is body
            )
            rows.append((position, company.create("planned_transactions", body)))
        for position, planned in rows:
            if planned["transferAccountId"] is not None:
                continue  # no flow
            for occurrence in company.list_occurrences(planned["id"]):
                day, amount = apply_to_occurrence(planned, occurrence, scenario_changes[position + 1 :])
                amount -= Decimal(occurrence["settledAmountValue"]) + Decimal(occurrence["writtenOffAmountValue"])
                if TODAY - OVERDUE_PERIOD <= day <= TODAY:
                    day = WINDOW[0]  # what is overdue or due today is expected tomorrow
                if amount and WINDOW[0] <= day <= WINDOW[1]:
                    flows[str(day)] += amount
        transaction.set_rollback(True)
    return {day: amount for day, amount in flows.items() if amount}


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    planned=st.lists(planned_bodies, min_size=1, max_size=3),
    items=st.lists(item_bodies, max_size=3),
    drawn_changes=st.lists(changes, min_size=1, max_size=5),
)
def test_scenario_equals_what_is_really_done(
    api, acme, account, make_category, make_counterparty, planned, items, drawn_changes
):
    with transaction.atomic():
        categories = [make_category(acme, name=f"Category {number}") for number in range(3)]
        counterparties = [make_counterparty(acme, name=f"Counterparty {number}") for number in range(3)]
        company = RandomCompany(api, account, categories, counterparties)
        for each in planned:
            company.plan(each)
        for each in items:
            company.create("plan_items", company.build_item(each))
        scenario_changes = [company.build_change(*each) for each in drawn_changes]
        check_scenario(company, acme, scenario_changes)
        transaction.set_rollback(True)


def check_scenario(company: RandomCompany, acme: Any, scenario_changes: list[dict[str, Any]]) -> None:
    made = company.api.post("scenarios", {"name": "Random", "changes": scenario_changes})
    if made.status_code == 400:
        assert {each["code"] for each in made.json()["errors"]} == {"contradicting_changes"}
        return
    assert made.status_code == 201, made.content
    scenario, before, plans = made.json()["id"], digest_all_rows(acme), list_plans(company.api)
    result = company.query(scenario)
    assert digest_all_rows(acme) == before
    expected = list_expected_flows(company, scenario_changes)
    assert sum_net_flows(result[0]) == expected
    assert company.api.post(f"scenarios/{scenario}/adopt").status_code == 200
    assert list(map(drop_scenario_members, company.query(None))) == list(map(drop_scenario_members, result))
    assert company.query(scenario) == result
    assert company.api.delete(f"scenarios/{scenario}/adopt").status_code == 200
    assert list_plans(company.api) == plans
    assert company.query(scenario) == result


def sum_net_flows(answer: dict[str, Any]) -> dict[str, Decimal]:
    flows: defaultdict[str, Decimal] = defaultdict(Decimal)
    for name, sign in (("plannedInflow", 1), ("plannedOutflow", -1)):
        for point in answer[name]:
            flows[point["date"]] += sign * Decimal(str(point["value"]))
    return {day: amount for day, amount in flows.items() if amount}
