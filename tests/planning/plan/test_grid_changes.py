"""Rows of the plan: copied, cleared and filled by rules, and the last change taken back."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from planning.models import PlanItem
from tests import factories
from tests.planning.plan.test_plan_grid import (  # fmt: skip
    MONTHS,
    UNKNOWN_ID,
    build_page_path,
    create_growth_rule,
    fill_cells,
    get_page_text,
    list_plan_items,
    list_planned,
    parse_undo_form,
    press_undo,
)
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db


# ---------------------------------------------------------------------------------------------- rows


def test_row_is_copied_across_from_first_changed_cell(owner, api, acme, office):
    fill_cells(owner, acme, {(office, "ga", 0): "10", (office, "ga", 9): "7"})
    fill_cells(owner, acme, {(office, "ga", 4): "25"}, across=f"{office}:ga")
    assert list_planned(api, office) == {"2026-01": 10, **dict.fromkeys(MONTHS[4:], 25)}
    fill_cells(owner, acme, {}, across=f"{office}:ga")
    assert list_planned(api, office) == dict.fromkeys(MONTHS, 10), "without a change from the first amount on"


def test_clearing_a_row_affects_only_the_months_shown(owner, api, acme, office, hosting):
    create_growth_rule(api, office, 100, month="2025-07")
    create_growth_rule(api, office, 5, month="2026-03", frequency=5, duration=17)
    create_growth_rule(api, office, 1, month="2025-12", frequency=0)
    create_growth_rule(api, office, 2, month="2026-04", frequency=0)
    create_growth_rule(api, office, 3, month="2026-05", duration=8)
    create_growth_rule(api, hosting, 9, plType="cogs")
    before, after = list_planned(api, office, ("2025-01", "2025-12")), list_planned(api, office, ("2027-01", "2028-12"))
    assert after["2027-06"] == 105
    assert fill_cells(owner, acme, {(hosting, "cogs", 1): "11"}, clear=f"{office}:ga").status_code == 303
    assert list_planned(api, office) == {}
    assert list_planned(api, office, ("2025-01", "2025-12")) == before
    assert list_planned(api, office, ("2027-01", "2028-12")) == after
    assert list_planned(api, hosting)["2026-02"] == 11, "other rows are saved with it"


@pytest.mark.parametrize("kind", ["relative", "changeByAmount"])
def test_growth_continues_after_cleared_months(owner, api, acme, office, kind):
    price = {"type": kind, "amount": {"value": 100, "currency": "USD"}} | (
        {"relativeChange": 0.1} if kind == "relative" else {}
    )
    create_growth_rule(api, office, 0, month="2025-11", amount=price, duration=30, frequency=2)
    create_growth_rule(api, office, 0, month="2026-02", amount=price, duration=10)
    before, stood = list_plan_items(api), list_planned(api, office, ("2025-01", "2028-12"))
    answer = fill_cells(owner, acme, {}, clear=f"{office}:ga")
    assert set(list_planned(api, office).values()) <= {0}
    now = list_planned(api, office, ("2025-01", "2028-12"))
    assert {m: v for m, v in now.items() if m[:4] != "2026"} == {m: v for m, v in stood.items() if m[:4] != "2026"}
    press_undo(owner, acme, answer)
    assert list_plan_items(api) == before


def test_clearing_an_empty_row_changes_nothing_and_offers_no_undo(owner, api, acme, office, hosting):
    create_growth_rule(api, office, 100, month="2027-01")
    answer = fill_cells(owner, acme, {}, clear=f"{hosting}:cogs")
    shown = owner.get(answer["Location"])
    assert "Nothing to clear in this row." in get_page_text(shown)
    assert 'name="changed"' not in shown.content.decode()
    answer = fill_cells(owner, acme, {}, clear=f"{office}:ga")
    assert 'name="changed"' not in owner.get(answer["Location"]).content.decode(), "all of it lies behind these months"
    assert list_plan_items(api) == [("2027-01", 100, 1, None)]


def test_number_of_statements_does_not_depend_on_the_cells(owner, api, acme, office):
    counts = {}
    for months in (1, 1, 12):  # the first fills caches
        for amount in ("10", "20", "0"):  # created, updated, deleted
            with CaptureQueriesContext(connection) as queries:
                answer = fill_cells(owner, acme, {(office, "ga", month): amount for month in range(months)})
            counts.setdefault(months, {})[amount] = len(queries)
        with CaptureQueriesContext(connection) as queries:
            press_undo(owner, acme, answer)
        counts[months]["undo"] = len(queries)
        fill_cells(owner, acme, {(office, "ga", month): "0" for month in range(months)})
    assert counts[1] == counts[12]


def test_undo_is_offered_while_last_change_can_be_undone(owner, viewer, api, acme, office):
    fill_cells(owner, acme, {(office, "ga", 1): "30"})
    for path in ("?startMonth=2026-01", "?startMonth=2030-01", ""):
        assert 'name="changed"' in owner.get(build_page_path(acme, path)).content.decode()
    assert 'name="changed"' not in viewer.get(build_page_path(acme)).content.decode()
    (made,) = api.get("plan_items").json()
    api.put(f"plan_items/{made['id']}", {"duration": 9})
    assert 'name="changed"' not in owner.get(build_page_path(acme)).content.decode(), "another person changed it since"


def test_copying_invalid_amount_across_is_rejected_at_that_cell_only(owner, api, acme, office):
    answer = fill_cells(owner, acme, {(office, "ga", 3): "much"}, across=f"{office}:ga")
    assert answer.status_code == 400
    html = answer.content.decode()
    assert "Nothing was saved. Correct 1 amount first." in html
    assert html.count('aria-invalid="true"') == 1
    assert list_plan_items(api) == []


RULE = {"month": "2026-02", "amount": "100", "currency": "EUR", "frequency": "3", "duration": "9", "growth": "fixed"}


def test_row_can_be_filled_by_a_rule(owner, api, acme, office):
    for more, found in [
        ({}, {"2026-02": 100, "2026-05": 100, "2026-08": 100}),
        ({"growth": "changeByAmount"}, {"2026-02": 100, "2026-05": 200, "2026-08": 300}),
        ({"growth": "relative", "percent": "2.5"}, {"2026-02": 100, "2026-05": 102.5, "2026-08": 105.06}),
        ({"frequency": "0", "duration": ""}, {"2026-02": 100}),
        ({"frequency": "", "duration": ""}, {"2026-02": 100}),
        ({"frequency": "1", "duration": "2"}, {"2026-02": 100, "2026-03": 100}),
    ]:
        with undo_changes():
            sent = RULE | {"row": f"{office}:ga", "percent": ""} | more
            assert owner.post(build_page_path(acme, "/fill"), sent).status_code == 303, more
            assert list_planned(api, office) == found, more
            assert "Plan items in this row" in get_page_text(
                owner.get(build_page_path(acme, f"/fill?row={office}:ga"))
            ), more


def test_fill_rule_may_replace_planned_amounts(owner, api, acme, office):
    create_growth_rule(api, office, 40)
    sent = RULE | {"row": f"{office}:ga", "percent": "", "replaces": "on", "frequency": "1", "duration": ""}
    answer = owner.post(build_page_path(acme, "/fill"), sent)
    assert list_planned(api, office) == {"2026-01": 40, **dict.fromkeys(MONTHS[1:], 100)}
    press_undo(owner, acme, answer)
    assert list_plan_items(api) == [("2026-01", 40, 1, None)]


def test_invalid_fill_rule_shows_field_errors(owner, acme, office):
    for wrong, field in [
        ({"amount": "much"}, "amount"),
        ({"currency": "XXX"}, "currency"),
        ({"month": "soon"}, "month"),
        ({"frequency": "-1"}, "frequency"),
        ({"duration": "0"}, "duration"),
        ({"growth": "wild"}, "growth"),
        ({"growth": "relative", "percent": ""}, "percent"),
        ({"growth": "relative", "percent": "-101"}, "percent"),
        ({"row": ""}, "row"),
        ({"row": f"{UNKNOWN_ID}:ga"}, "row"),
    ]:
        answer = owner.post(build_page_path(acme, "/fill"), RULE | {"row": f"{office}:ga", "percent": ""} | wrong)
        assert answer.status_code == 400, wrong
        assert f'id="{field}-error"' in answer.content.decode(), wrong
        assert not PlanItem.objects.exists(), wrong


def test_plan_item_can_be_changed_and_deleted_on_its_page(owner, api, acme, office):
    price = {"type": "relative", "amount": {"value": 99.5, "currency": "USD"}, "relativeChange": 0.025}
    made = create_growth_rule(api, office, 0, amount=price, duration=6, frequency=2)
    place = build_page_path(acme, f"/items/{made}")
    html = owner.get(place).content.decode()
    for name, value in {
        "amount": "99.50",
        "month": "2026-01",
        "frequency": "2",
        "duration": "6",
        "percent": "2.5",
    }.items():
        assert re.search(rf'name="{name}"[^>]*value="{value}"', html), name
    before = api.get(f"plan_items/{made}").json()
    sent = {"row": f"{office}:ga", "month": "2026-01", "amount": "99.50", "currency": "USD", "frequency": "2"}
    sent |= {"duration": "6", "growth": "relative", "percent": "2.5"}
    assert owner.post(place, sent).status_code == 303
    assert api.get(f"plan_items/{made}").json() == before, "sent as it is shown it changes nothing"
    seen = re.search(r'name="seen" value="([^"]+)"', html)[1]
    api.put(f"plan_items/{made}", {"duration": 7})
    stale = owner.post(place, sent | {"seen": seen, "amount": "1"})
    assert (
        stale.status_code,
        "Someone else changed this in the meantime. Review the current values and submit again."
        in get_page_text(stale),
    ) == (400, True)
    assert owner.post(f"{place}/delete").status_code == 303
    assert list_plan_items(api) == []


# ---------------------------------------------------------------------------------------------- taking back


def test_undo_reverts_exactly_the_last_change(owner, api, acme, office, hosting):
    create_growth_rule(api, office, 100)
    fill_cells(owner, acme, {(office, "ga", 1): "30", (office, "ga", 2): "60"})
    before, stood = list_plan_items(api), api.get("plan_items").json()
    cells = {(office, "ga", 1): "", (office, "ga", 2): "61", (hosting, "cogs", 3): "5", (office, "ga", 3): "0"}
    answer = fill_cells(owner, acme, cells)
    assert list_plan_items(api) != before
    assert "Change undone." in get_page_text(press_undo(owner, acme, answer))
    assert list_plan_items(api) == before
    assert {each["id"] for each in api.get("plan_items").json()} == {each["id"] for each in stood}


def test_undo_restores_a_cleared_row(owner, api, acme, office):
    create_growth_rule(api, office, 100, month="2025-07")
    create_growth_rule(api, office, 5, month="2026-03", frequency=3, duration=12)
    before = list_plan_items(api)
    answer = fill_cells(owner, acme, {}, clear=f"{office}:ga")
    assert list_plan_items(api) != before
    press_undo(owner, acme, answer)
    assert list_plan_items(api) == before


def test_grid_undo_keeps_later_changes(owner, api, acme, office):
    undo = parse_undo_form(owner, fill_cells(owner, acme, {(office, "ga", 1): "30", (office, "ga", 2): "40"}))
    one = api.get("plan_items").json()[0]["id"]
    api.put(f"plan_items/{one}", {"duration": 9})
    before = list_plan_items(api)
    assert "The plan was changed since. Your change cannot be undone." in get_page_text(
        owner.post(build_page_path(acme, "/undo"), undo, follow=True)
    )
    assert list_plan_items(api) == before
    api.delete(f"plan_items/{one}")
    assert "The plan was changed since. Your change cannot be undone." in get_page_text(
        owner.post(build_page_path(acme, "/undo"), undo, follow=True)
    )


def test_undo_applies_once_and_only_to_own_changes(owner, sign_in_browser, api, acme, office):
    undo = parse_undo_form(owner, fill_cells(owner, acme, {(office, "ga", 1): "30"}))
    other = sign_in_browser(factories.make_member(acme, "erin@acme.example"), acme).client
    assert 'name="changed"' not in other.get(build_page_path(acme)).content.decode()
    assert "You have no change to undo." in get_page_text(other.post(build_page_path(acme, "/undo"), undo, follow=True))
    assert len(list_plan_items(api)) == 1
    owner.post(build_page_path(acme, "/undo"), undo)
    assert list_plan_items(api) == []
    assert "The plan was changed since. Your change cannot be undone." in get_page_text(
        owner.post(build_page_path(acme, "/undo"), undo, follow=True)
    )
    for changed in ("", "soon", "2026-01-01T00:00:00", "2026-01-01T00:00:00+00:00"):
        said = owner.post(build_page_path(acme, "/undo"), {"changed": changed}, follow=True)
        assert "You have no change to undo." in get_page_text(said)
