"""A forecast under a scenario is the forecast after its changes were really made, to the cent.

Random plans and scenarios over HTTP: queries under the scenario change nothing stored, equal those after the adoption,
and equal what a simple model of the rules says of each occurrence; undoing the adoption restores the plan.
"""

from collections import defaultdict
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.planning.scenarios.conftest import TODAY, day_in_month, month_ahead
from tests.planning.scenarios.test_adoption import list_plans
from tests.test_isolation import digest_all_rows

pytestmark = pytest.mark.django_db

WINDOW = (TODAY + timedelta(days=1), date.fromisoformat(day_in_month(14, 28)))
REACH = 100  # days by which the changes of one scenario may move a payment
EXAMPLES = 15
OVERDUE_PERIOD = timedelta(days=60)

days = st.builds(day_in_month, st.integers(1, 12), st.integers(1, 28))
numbers = st.integers(0, 2)
amounts = st.decimals(-9999, 9999, places=2).filter(bool)
planned_bodies = st.fixed_dictionaries(
    {
        "startDate": st.one_of(days, st.sampled_from(["2026-01-31", "2026-08-30"])),
        "amountValue": amounts.map(str),
        "category": st.none() | numbers,
        "counterparty": st.none() | numbers,
        "weekendShift": st.sampled_from(["none", "before", "after"]),
        "recurrence": st.none()
        | st.fixed_dictionaries(
            {
                "frequency": st.sampled_from(["day", "week", "month", "month", "year"]),
                "interval": st.integers(1, 4),
                "end": st.one_of(
                    st.just({"type": "never"}),
                    st.builds(lambda count: {"type": "count", "count": count}, st.integers(1, 30)),
                ),
            }
        ),
        "override": st.none()
        | st.fixed_dictionaries(
            {"index": st.integers(0, 5)},
            optional={
                "amountValue": amounts.map(str),
                "date": days,
                "skipped": st.booleans(),
                "category": numbers,
            },
        ),
    }
)
item_bodies = st.fixed_dictionaries(
    {
        "month": st.builds(month_ahead, st.integers(1, 12)),
        "category": numbers,
        "frequency": st.integers(0, 3),
        "duration": st.none() | st.integers(1, 20),
        "amount": st.builds(
            lambda kind, value, growth: {
                "type": kind,
                "amount": {"value": value / 100, "currency": "EUR"},
                "relativeChange": growth / 100,
            },
            st.sampled_from(["fixed", "changeByAmount", "relative"]),
            st.integers(-99999, 99999),
            st.integers(-5, 5),
        ),
    }
)
targets = st.one_of(
    st.tuples(st.just("plannedTransactionId"), numbers),
    st.tuples(st.just("counterpartyId"), numbers),
    st.tuples(st.just("categoryId"), numbers),
)
periods = st.fixed_dictionaries({}, optional={"from": days, "to": days}).filter(
    lambda period: period.get("from", "") <= period.get("to", "9")
)
changes = st.one_of(
    st.builds(lambda target, percent, period: ("scale", target, {"percent": percent} | period),
              targets | st.just(("plType", "ga")), st.integers(-1000, 1000).map(lambda number: number / 10), periods),
    st.builds(lambda target, number, period: ("shift", target, {"days": number} | period),
              targets.filter(lambda target: target[0] != "categoryId"), st.integers(-20, 20), periods),
    st.builds(lambda target, day: ("stop", target, {"from": day}), targets, days),
    st.builds(lambda body: ("add", ("plannedTransaction", body), {}), planned_bodies),
    st.builds(lambda body: ("add", ("planItem", body), {}), item_bodies),
)  # fmt: skip


class RandomCompany:
    """A company with random plans, which can turn drawn values into bodies."""

    def __init__(self, api: Any, account: Any, categories: list[Any], counterparties: list[Any]):
        self.api, self.account, self.planned = api, account, list[dict[str, Any]]()
        self.categories = [str(category.id) for category in categories]
        self.counterparties = [str(counterparty.id) for counterparty in counterparties]

    def build_planned(self, drawn: dict[str, Any]) -> dict[str, Any]:
        body = {name: drawn[name] for name in ("startDate", "amountValue", "recurrence", "weekendShift")}
        body |= {"accountId": str(self.account.id), "name": "Planned", "categoryId": None, "counterparty": None}
        if drawn["category"] is not None:
            body["categoryId"] = self.categories[drawn["category"]]
        if drawn["counterparty"] is not None:
            body["counterparty"] = {"id": self.counterparties[drawn["counterparty"]]}
        return body

    def build_item(self, drawn: dict[str, Any]) -> dict[str, Any]:
        body = {name: drawn[name] for name in ("month", "frequency", "duration", "amount")}
        return body | {"plType": "ga", "categoryId": self.categories[drawn["category"]]}

    def create(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        made = self.api.post(path, body)
        assert made.status_code == 201, made.content
        return made.json()

    def plan(self, drawn: dict[str, Any]) -> None:
        planned = self.create("planned_transactions", self.build_planned(drawn))
        self.planned.append(planned)
        if (override := drawn["override"]) is None:
            return
        occurrences = self.list_occurrences(planned["id"])
        if occurrences:
            day = occurrences[override["index"] % len(occurrences)]["originalDate"]
            patch = {name: value for name, value in override.items() if name in ("amountValue", "date", "skipped")}
            if "category" in override:
                patch["categoryId"] = self.categories[override["category"]]
            answer = self.api.put(f"planned_transactions/{planned['id']}/overrides/{day}", patch)
            assert answer.status_code == 200, answer.content

    def list_occurrences(self, planned_id: str) -> list[dict[str, Any]]:
        query = {"startDate": "2026-01-01", "endDate": str(WINDOW[1] + timedelta(days=REACH))}
        answer = self.api.get(f"planned_transactions/{planned_id}/occurrences", query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def build_change(self, kind: str, target: tuple[str, Any], values: dict[str, Any]) -> dict[str, Any]:
        name, value = target
        if name == "plannedTransaction":
            value = self.build_planned(value)
        elif name == "planItem":
            value = self.build_item(value)
        elif name == "plannedTransactionId":
            value = self.planned[value % len(self.planned)]["id"]
        elif name in ("categoryId", "counterpartyId"):
            value = (self.categories if name == "categoryId" else self.counterparties)[value]
        return {"kind": kind, name: value, **values}

    def query(self, scenario_id: str | None) -> list[Any]:
        """The cash flow, the balances and the plan, under a scenario or without one."""
        days = {"startDate": str(WINDOW[0]), "endDate": str(WINDOW[1]), "interval": "day", "scenarioId": scenario_id}
        months = {"startMonth": month_ahead(1), "endMonth": month_ahead(14), "scenarioId": scenario_id}
        bodies = {
            "forecastCashFlowTimeSeries": days,
            "forecastBalanceTimeSeries": days | {"byAccount": True},
            "profitAndLoss": months,
            "runway": {"scenarioId": scenario_id},
        }
        answers = [self.api.post(f"data/{name}", body) for name, body in bodies.items()]
        assert [answer.status_code for answer in answers] == [200] * 4, [answer.content for answer in answers]
        return [answer.json() for answer in answers]


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
            for occurrence in company.list_occurrences(planned["id"]):
                day, amount = apply_to_occurrence(planned, occurrence, scenario_changes[position + 1 :])
                if TODAY - OVERDUE_PERIOD <= day <= TODAY:
                    day = WINDOW[0]  # what is overdue or due today is expected tomorrow
                if amount and WINDOW[0] <= day <= WINDOW[1]:
                    flows[str(day)] += amount
        transaction.set_rollback(True)
    return {day: amount for day, amount in flows.items() if amount}


def apply_to_occurrence(
    planned: dict[str, Any], occurrence: dict[str, Any], scenario_changes: list[dict[str, Any]]
) -> tuple[date, Decimal]:
    day, amount = date.fromisoformat(occurrence["date"]), Decimal(occurrence["amountValue"])
    for change in scenario_changes:
        is_target = (
            change.get("plannedTransactionId") == planned["id"]
            or (planned["counterparty"] and change.get("counterpartyId") == planned["counterparty"]["id"])
            or (occurrence["categoryId"] and change.get("categoryId") == occurrence["categoryId"])
            or (occurrence["categoryId"] and change.get("plType"))
        )
        first, last = change.get("from", ""), change.get("to", "9")
        if change["kind"] == "add" or not is_target or not first <= occurrence["originalDate"] <= last:
            continue
        if change["kind"] == "stop":
            return day, Decimal(0)
        if change["kind"] == "shift":
            day += timedelta(days=change["days"])
        else:
            factor = 1 + Decimal(str(change["percent"])) / 100
            amount = (amount * factor).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return day, amount


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
    found = company.query(scenario)
    assert digest_all_rows(acme) == before
    expected = list_expected_flows(company, scenario_changes)
    assert sum_net_flows(found[0]) == expected
    assert company.api.post(f"scenarios/{scenario}/adopt").status_code == 200
    assert list(map(drop_scenario_members, company.query(None))) == list(map(drop_scenario_members, found))
    assert company.query(scenario) == found
    assert company.api.delete(f"scenarios/{scenario}/adopt").status_code == 200
    assert list_plans(company.api) == plans
    assert company.query(scenario) == found


def sum_net_flows(answer: dict[str, Any]) -> dict[str, Decimal]:
    flows: defaultdict[str, Decimal] = defaultdict(Decimal)
    for name, sign in (("plannedInflow", 1), ("plannedOutflow", -1)):
        for point in answer[name]:
            flows[point["date"]] += sign * Decimal(str(point["value"]))
    return {day: amount for day, amount in flows.items() if amount}
