"""The draft of a commentary: the largest variances or changes, with the items behind each."""

import re
from html import unescape

import pytest

from analytics.templatetags.commentary import format_commentary
from companies.permissions import Role
from tests import factories
from tests.analytics.reports.report_pages import build_report_path

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("travel_to_may_2026")]


@pytest.fixture
def create_plan(api, books):
    def create(key, line, value):
        amount = {"type": "fixed", "amount": {"value": value, "currency": "EUR"}}
        plan = {"month": "2026-03", "plType": line, "categoryId": books.get_category_id(key), "amount": amount}
        assert api.post("plan_items", plan).status_code == 201

    return create


def read_draft(company, client, language="en"):
    answer = client.get(build_report_path(company), headers={"Accept-Language": language})
    html = re.search(r"<textarea[^>]*>([^<]*)</textarea>", answer.content.decode())[1]
    return unescape(html).replace("−", "-").splitlines()


def test_draft_names_the_largest_items_of_each_variance(
    acme, owner, api, booked_year, create_plan, create_categorized_transaction
):
    for amount, values in (
        ("-90.00", {"fromTo": "PAYPAL *SHOP"}),
        ("-60.00", {"fromTo": "PAYPAL *CAFE"}),
        ("-80.00", {"description": "Account fee\nMarch"}),
        ("-10.00", {"fromTo": "Landlord"}),
    ):
        create_categorized_transaction("officeAndAdmin", "ga", amount, "2026-03-15", **values)
    create_plan("hosting", "cogs", 2500)
    create_plan("officeAndAdmin", "ga", 600)
    draft = read_draft(acme, owner)
    assert draft == [
        "- **Hosting**: Actual 0.00, Plan -2,500.00, Variance +2,500.00; nothing was booked. ",
        "- **Recurring revenue**: Actual 1,000.50, Plan 0.00, Variance +1,000.50; not planned; "
        "largest item: Customer A 1,000.50. ",
        "- **Office and administration**: Actual -640.25, Plan -600.00, Variance -40.25; "
        "largest items: Landlord -410.25, PAYPAL \\*SHOP -90.00. ",
    ]
    assert "PAYPAL *SHOP -90.00" in format_commentary(draft[2])
    assert read_draft(acme, owner, "de")[2] == (
        "- **Büro und Verwaltung**: Ist -640,25, Plan -600,00, Abweichung -40,25; "
        "größte Posten: Landlord -410,25, PAYPAL \\*SHOP -90,00. "
    )
    assert api.put("reports/2026-03/commentary", {"text": "All as planned."}).status_code == 200
    assert read_draft(acme, owner) == ["All as planned."]


def test_draft_names_transactions_without_a_party_by_their_description(
    acme, owner, create_plan, create_categorized_transaction
):
    create_categorized_transaction("officeAndAdmin", "ga", "-80.00", "2026-03-15", description="Account fee\nMarch")
    create_plan("officeAndAdmin", "ga", 600)
    assert read_draft(acme, owner)[0].endswith("; largest item: Account fee March -80.00. ")


def test_draft_names_nobody_who_gets_a_salary(acme, owner, api, books, bank):
    salaries = api.post("categories", {"name": "Gehälter", "plTypes": ["ga"]}).json()["id"]
    for day, amount in (("2026-02-27", "-2000.00"), ("2026-03-27", "-3000.00")):
        paid = books.create_transaction(bank, amount, day, fromTo="Ann Lee")
        books.set_categorizations(paid["id"], {"categoryId": salaries, "plSplit": {"ga": float(amount)}})
    assert read_draft(acme, owner) == ["- **Gehälter**: Mar 2026 -3,000.00, Feb 2026 -2,000.00, Change -1,000.00. "]
    amount = {"type": "fixed", "amount": {"value": 2500, "currency": "EUR"}}
    plan = {"month": "2026-03", "plType": "ga", "categoryId": salaries, "amount": amount}
    assert api.post("plan_items", plan).status_code == 201
    assert read_draft(acme, owner) == ["- **Gehälter**: Actual -3,000.00, Plan -2,500.00, Variance -500.00. "]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("**B** _i_ a\\*b* c\\*", "**B** _i_ a\\*b* c\\*", id="emphasis"),
        pytest.param("Shop\u202e 12\u200f", "Shop 12", id="direction-marks"),
        pytest.param("*" * 5000, "*" * 60, id="long"),
        pytest.param(" ", "No name", id="blank"),
    ],
)
def test_draft_shows_any_name_as_it_is(acme, owner, create_plan, create_categorized_transaction, name, shown):
    create_categorized_transaction("officeAndAdmin", "ga", "-80.00", "2026-03-15", fromTo=name)
    create_plan("officeAndAdmin", "ga", 600)
    assert f"; largest item: {shown} -80.00." in format_commentary(read_draft(acme, owner)[0])


def test_draft_without_a_plan_names_the_counterparties_that_changed(acme, owner, booked_year):
    draft = read_draft(acme, owner)
    assert draft[0].startswith("- **Office and administration**: Mar 2026 -400.25, Feb 2026 -100.00, Change -300.25; ")
    assert draft[0].endswith("; largest items: Landlord -400.25, Small landlord +100.00. ")


def test_draft_names_no_items_to_members_without_transactions(acme, sign_in_browser, booked_year, create_plan):
    create_plan("hosting", "cogs", 2500)
    permissions = ["financials:read", "planning:read", "planning:write"]
    planner = factories.make_member(acme, "p@acme.example", role=Role.VIEWER, permissions=permissions)
    draft = "\n".join(read_draft(acme, sign_in_browser(planner, acme).client))
    assert "Variance +2,500.00. " in draft
    assert "Variance +1,000.50; not planned. " in draft
    assert "Landlord" not in draft
