"""A scenario is a sandbox in which the same was really done, by the calls with which a person does it.

Random companies and scenarios over HTTP: the forecasts, the runway, the plan and the profit and loss under the scenario
are those of the copy, to the cent, and the company itself stays as it is.
"""

from collections import defaultdict
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from companies.models import Company
from tests.conftest import Api
from tests.planning.scenarios.by_hand import Person, PlanByHand
from tests.planning.scenarios.random_company import (
    WINDOW,
    RandomCompany,
    changes,
    invoice_bodies,
    item_bodies,
    planned_bodies,
)
from tests.test_isolation import digest_all_rows

pytestmark = pytest.mark.django_db

EXAMPLES = 5
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]  # a failure is shown as it was found: shrinking takes minutes
random_settings = settings(max_examples=EXAMPLES, deadline=None, phases=PHASES, suppress_health_check=list(HealthCheck))


@pytest.fixture
def build_company(api, acme, account, make_category, make_counterparty) -> Any:
    def build() -> RandomCompany:
        categories = [make_category(acme, name=f"Category {number}") for number in range(3)]
        counterparties = [make_counterparty(acme, name=f"Counterparty {number}") for number in range(3)]
        return RandomCompany(api, account, categories, counterparties)

    return build


@random_settings
@given(
    planned=st.lists(planned_bodies, min_size=1, max_size=3),
    items=st.lists(item_bodies, max_size=3),
    drawn_changes=st.lists(changes, min_size=1, max_size=5),
)
def test_scenario_equals_a_sandbox_with_the_same_changes(
    sign_in_browser, alice, acme, build_company, planned, items, drawn_changes
):
    with transaction.atomic():
        company = build_company()
        for each in planned:
            company.plan(each)
        for each in items:
            company.create("plan_items", company.build_item(each))
        compare_with_sandbox(company, sign_in_browser(alice, acme), drawn_changes)
        transaction.set_rollback(True)


@random_settings
@given(
    invoices=st.lists(invoice_bodies, min_size=1, max_size=5),
    drawn_changes=st.lists(changes.filter(lambda change: change[0] != "add"), min_size=1, max_size=5),
)
def test_scenario_over_invoices_equals_a_sandbox_with_the_same_changes(
    sign_in_browser, alice, acme, build_company, invoices, drawn_changes
):
    """Open, partly paid, paid and written-off invoices are shifted, scaled and stopped."""
    with transaction.atomic():
        company = build_company()
        for each in invoices:
            company.plan(each)
        compare_with_sandbox(company, sign_in_browser(alice, acme), drawn_changes)
        transaction.set_rollback(True)


def compare_with_sandbox(company: RandomCompany, member: Api, drawn_changes: list[Any]) -> None:
    scenario_changes = [company.build_change(*each) for each in drawn_changes]
    made = company.api.post("scenarios", {"name": "Random", "changes": scenario_changes})
    if made.status_code == 400:
        assert {each["code"] for each in made.json()["errors"]} == {"contradicting_changes"}
        return
    copied = member.post("copy", {"name": "Sandbox"})
    assert copied.status_code == 201, copied.content
    before = digest_all_rows(company.api.company)
    sandbox = Api(Company.objects.get(id=copied.json()["id"]), session=member.client)
    Person(sandbox).make_changes(scenario_changes)
    unchanged = sandbox.post("scenarios", {"name": "Nothing", "changes": []}).json()["id"]
    expected, result = query_all(company, unchanged, sandbox), query_all(company, made.json()["id"], company.api)
    assert result == expected
    assert digest_all_rows(company.api.company) == before


def query_all(company: RandomCompany, scenario_id: str, api: Api) -> list[Any]:
    """The answers of every query under a scenario, without the id of the company, and the plan."""
    answers = [*company.query(scenario_id, api=api), *sum_plan(api, scenario_id).items()]
    return [str(answer).replace(str(api.company.id), "company") for answer in answers]


def sum_plan(api: Api, scenario_id: str) -> dict[tuple[str, str], Decimal]:
    """The plan by category and month."""
    sums: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    answer = api.get("plan_items", {"limit": 1000, "scenarioId": scenario_id})
    assert answer.status_code == 200, answer.content
    for item in answer.json():
        for month, amount in PlanByHand(item).postings.items():
            if month <= date(WINDOW[1].year, WINDOW[1].month, 1):
                sums[item["categoryId"], str(month)] += amount
    return {key: sums[key] for key in sorted(sums) if sums[key]}
