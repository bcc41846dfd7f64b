"""Planned transactions beside the plan: proposals by month and category, and using them in the plan."""

import re
from datetime import date
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planning.models import PlanItem
from planning.planned_transactions.queries import occurrences
from tests import factories
from tests.page_text import get_page_text
from tests.planning.plan.test_plan_grid import (
    build_page_path,
    create_growth_rule,
    fill_cells,
    list_plan_items,
    list_planned,
    parse_grid_form,
    press_undo,
)

pytestmark = pytest.mark.django_db
YEAR = {"startDate": "2026-01-01", "endDate": "2026-12-31"}


@pytest.fixture
def revenue(api):
    return api.get_category_id("revenueRecurring")


@pytest.fixture
def plan_payment(api, account):
    """Plan a payment, and return its id."""

    def plan(category, amount, day="2026-03-10", **more):
        body = {"accountId": str(account.id), "name": "Payment", "startDate": day, "amountValue": amount}
        answer = api.post("planned_transactions", body | {"categoryId": category} | more)
        assert answer.status_code == 201, answer.content
        return answer.json()["id"]

    return plan


def list_proposals(api, window=YEAR):
    answer = api.post("plan_items/proposals", window)
    assert answer.status_code == 200, answer.content
    return answer.json()


def list_payments(api, window=YEAR):
    """(category, month) → what is planned as payments."""
    return {(row["categoryId"], row["month"]): row["plannedPayments"] for row in list_proposals(api, window)}


def accept(api, proposal):
    """Create the plan item that the documentation names."""
    price = {"type": "fixed", "amount": {"value": proposal["difference"], "currency": "EUR"}}
    item = {name: proposal[name] for name in ("categoryId", "plType", "month")} | {"amount": price, "frequency": 0}
    assert api.post("plan_items", item).status_code == 201


# ---------------------------------------------------------------------------------------------- proposals


def test_proposals_compare_planned_payments_with_the_plan(api, revenue, office, plan_payment):
    plan_payment(revenue, "12400.00")
    plan_payment(
        office, "-800.00", day="2026-02-28", recurrence={"frequency": "month", "end": {"type": "count", "count": 2}}
    )
    create_growth_rule(api, office, 500, month="2026-02", frequency=0)
    names = ("categoryId", "plType", "month", "plannedPayments", "planned", "difference")
    assert [tuple(proposal[name] for name in names) for proposal in list_proposals(api)] == [
        (office, "ga", "2026-02", 800, 500, 300),
        (revenue, "revenue", "2026-03", 12400, 0, 12400),
        (office, "ga", "2026-03", 800, 0, 800),
    ]
    assert {row["month"] for row in list_proposals(api, {"startDate": "2026-03-31", "endDate": "2026-04-01"})} == {
        "2026-03"
    }


AMOUNTS = st.integers(-99999, 99999).filter(bool)


@given(
    payments=st.lists(
        st.tuples(st.integers(1, 12), AMOUNTS, st.booleans(), st.sampled_from(["EUR", "USD"])), max_size=5
    ),
    items=st.lists(st.tuples(st.integers(1, 12), AMOUNTS, st.integers(0, 4)), max_size=3),
)
@settings(max_examples=7)
def test_accepted_proposals_make_the_plan_equal_to_planned_payments(db, make_api, payments, items):
    api = make_api(factories.make_company(name="Any"))
    accounts = {
        currency: api.post("accounts", {"name": currency, "type": "bank", "defaultCurrency": currency}).json()["id"]
        for currency in ("EUR", "USD")
    }
    category = api.get_category_id("officeAndAdmin")
    for month, cents, repeats, currency in payments:
        body = {"accountId": accounts[currency], "name": "Payment", "startDate": f"2026-{month:02}-28"}
        body |= {"amountValue": f"{cents / 100:.2f}", "categoryId": category}
        body |= {"recurrence": {"frequency": "month"} if repeats else None}
        assert api.post("planned_transactions", body).status_code == 201
    for month, cents, frequency in items:
        create_growth_rule(api, category, cents / 100, month=f"2026-{month:02}", frequency=frequency)
    before = list_planned(api, category)
    proposals = list_proposals(api)
    for proposal in proposals:
        accept(api, proposal)
    accepted = {proposal["month"]: proposal["plannedPayments"] for proposal in proposals}
    planned = list_planned(api, category)
    assert {month: planned.get(month, 0) for month in accepted} == accepted
    assert {month: amount for month, amount in planned.items() if month not in accepted} == {
        month: amount for month, amount in before.items() if month not in accepted
    }
    assert all(proposal["difference"] == 0 for proposal in list_proposals(api))


def test_moved_changed_and_skipped_occurrences_count_as_they_are_expected(api, office, hosting, plan_payment):
    recurrence = {"frequency": "month", "end": {"type": "count", "count": 4}}
    planned = plan_payment(office, "-100.00", day="2026-01-31", recurrence=recurrence)
    for day, change in (
        ("2026-01-31", {"date": "2026-02-03"}),
        ("2026-02-28", {"amountValue": "-150.00"}),
        ("2026-03-31", {"skipped": True}),
        ("2026-04-30", {"categoryId": hosting}),
    ):
        assert api.put(f"planned_transactions/{planned}/overrides/{day}", change).status_code == 200
    assert list_payments(api) == {(office, "2026-02"): 250, (hosting, "2026-04"): 100}


def test_tax_is_not_part_of_the_plan(api, revenue, plan_payment):
    planned = plan_payment(revenue, "1190.00", passThroughTaxAmount="190.00", recurrence={"frequency": "month"})
    api.put(f"planned_transactions/{planned}/overrides/2026-04-10", {"amountValue": "595.00"})
    payments = list_payments(api)
    assert (payments[revenue, "2026-03"], payments[revenue, "2026-04"]) == (1000, 500)


def test_invoices_inside_a_planned_total_count_once(api, revenue, plan_payment):
    plan_payment(revenue, "10000.00", settledBy="category")
    plan_payment(revenue, "3000.00", day="2026-03-20", invoiceDate="2026-03-01")
    assert list_payments(api) == {(revenue, "2026-03"): 10000}
    plan_payment(revenue, "9000.00", day="2026-03-25", invoiceDate="2026-03-02")
    assert list_payments(api) == {(revenue, "2026-03"): 12000}


def test_paid_occurrences_stay_planned(api, office, account, plan_payment):
    planned = plan_payment(office, "-100.00")
    row = {"accountId": str(account.id), "date": "2026-03-11", "amountValue": "-100.00"}
    paid = api.post("transactions", row).json()["id"]
    api.post(f"planned_transactions/{planned}/settle", {"date": "2026-03-10", "transactionId": paid})
    assert list_payments(api) == {(office, "2026-03"): 100}


def test_categories_with_several_lines_or_none_are_left_out(api, plan_payment):
    several = api.post("categories", {"name": "People", "plTypes": ["ga", "pd"]}).json()["id"]
    neutral = api.get_category_id("taxPayments")
    for category in (several, neutral, None):
        plan_payment(category, "-100.00")
    assert list_proposals(api) == []


@pytest.mark.parametrize(
    ("window", "code"),
    [
        ({"startDate": "2026-02-01", "endDate": "2026-01-31"}, "end_before_start"),
        ({"startDate": "2026-02-01", "endDate": "2036-02-02"}, "window_too_long"),
        ({"startDate": "2026-02-01"}, "required"),
    ],
)
def test_proposals_reject_invalid_windows(api, window, code):
    answer = api.post("plan_items/proposals", window)
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, code)


def test_too_many_occurrences_are_an_error_and_a_notice(owner, api, acme, office, plan_payment, monkeypatch):
    monkeypatch.setattr(occurrences, "MAX_OCCURRENCES", 2)
    plan_payment(office, "-1.00", recurrence={"frequency": "day"})
    answer = api.post("plan_items/proposals", YEAR)
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, "window_too_long")
    assert "You have too many planned transactions" in get_page_text(owner.get(build_page_path(acme)))


# ---------------------------------------------------------------------------------------------- pages


def read_payments(answer):
    """Texts of the rows of planned transactions."""
    rows = re.findall(r'<tr class="kind-payments">(.*?)</tr>', answer.content.decode(), re.DOTALL)
    return [
        [unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)][
            :13
        ]
        for row in rows
    ]


def test_plan_row_shows_planned_payments_and_uses_them(owner, api, acme, office, hosting, plan_payment):
    plan_payment(office, "-800.40", recurrence={"frequency": "month", "end": {"type": "count", "count": 2}})
    fill_cells(owner, acme, {(office, "ga", 2): "500", (office, "ga", 8): "7"})
    before = list_plan_items(api)
    assert read_payments(owner.get(build_page_path(acme))) == [
        ["", "", "-800", "-800", "", "", "", "", "", "", "", "", "-1,601"]
    ]
    answer = fill_cells(owner, acme, {(hosting, "cogs", 0): "11"}, use=f"{office}:ga")
    assert answer.status_code == 303
    assert list_planned(api, office) == {"2026-03": 800.4, "2026-04": 800.4, "2026-09": 7}
    assert list_planned(api, hosting) == {"2026-01": 11}, "other cells are saved with it"
    saved = owner.get(build_page_path(acme))
    assert 'name="use"' not in saved.content.decode(), "nothing differs"
    press_undo(owner, acme, answer)
    assert list_plan_items(api) == before


def test_planned_payments_are_used_in_all_rows_at_once(owner, api, acme, office, revenue, plan_payment):
    plan_payment(office, "-800.00")
    plan_payment(revenue, "12400.00")
    form, _rows = parse_grid_form(owner.get(build_page_path(acme)))
    assert owner.post(build_page_path(acme), form | {"use": "all"}).status_code == 303
    assert list_planned(api, office) | list_planned(api, revenue) == {"2026-03": 12400}
    assert all(proposal["difference"] == 0 for proposal in list_proposals(api))


def test_plan_changed_in_the_meantime_is_not_overwritten(owner, api, acme, office, plan_payment):
    plan_payment(office, "-800.00")
    form, _rows = parse_grid_form(owner.get(build_page_path(acme)))
    create_growth_rule(api, office, 40, frequency=0, month="2026-03")
    answer = owner.post(build_page_path(acme), form | {"use": "all"})
    assert (answer.status_code, "changed in the meantime" in get_page_text(answer)) == (400, True)
    assert list_planned(api, office) == {"2026-03": 40}


def find_drill_down(answer):
    return unescape(re.search(r'href="([^"]*/plan/payments\?[^"]*)"', answer.content.decode())[1])


def test_cell_leads_to_its_planned_payments_and_uses_their_sum(owner, api, acme, office, plan_payment):
    plan_payment(office, "-800.40")
    plan_payment(office, "-100.00", day="2026-03-31", name="Cleaning")
    path = find_drill_down(owner.get(build_page_path(acme)))
    answer = owner.get(path)
    text = get_page_text(answer)
    assert "Planned transactions add up to −€900.40 for March 2026. The plan has €0.00." in text
    assert "Cleaning" in text
    form = dict(re.findall(r'name="(amount|planned)" value="([^"]*)"', answer.content.decode()))
    create_growth_rule(api, office, 5, frequency=0, month="2026-03")
    assert owner.post(path, form).status_code == 400, "the plan was changed in the meantime"
    assert owner.post(path, form | {"planned": "5.00"}).status_code == 303
    assert list_planned(api, office) == {"2026-03": 900.4}
    assert owner.post(path, form | {"amount": "much"}).status_code == 400
    assert PlanItem.objects.count() == 1


def test_planned_payments_of_unknown_cells_are_not_found(owner, acme, globex_api, office):
    foreign = globex_api.get("categories").json()[0]["id"]
    for query in (
        "",
        f"row={office}:ga",
        f"row={office}:ga&month=soon",
        "row=x&month=2026-03",
        f"row={foreign}:ga&month=2026-03",
    ):
        assert owner.get(f"/app/companies/{acme.id}/plan/payments?{query}").status_code == 404, query
    empty = owner.get(f"/app/companies/{acme.id}/plan/payments?row={office}:ga&month={date.today():%Y-%m}")
    assert "No planned transactions in this month." in get_page_text(empty)


def test_viewer_sees_planned_payments_without_buttons(viewer, api, acme, office, plan_payment):
    plan_payment(office, "-800.00")
    answer = viewer.get(build_page_path(acme))
    assert read_payments(answer)[0][2] == "-800"
    assert 'name="use"' not in answer.content.decode()
    path = find_drill_down(answer)
    assert "Use −€800.00" not in get_page_text(viewer.get(path))
    assert viewer.post(path, {"amount": "800.00", "planned": "0.00"}).status_code == 403
