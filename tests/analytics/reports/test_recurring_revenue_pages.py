"""Recurring revenue on pages: each figure that of the API to the cent, and everything that a member may do there."""

import csv
import io
import re
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analytics.queries.customers import PAGE_SIZE
from companies.models import AuditEntry
from companies.pages.amount_formats import format_money
from companies.permissions import Role
from ledger.calc.months import add_months, format_month, get_first_day_of_month
from tests import factories
from tests.analytics.queries.test_recurring_revenue import build_event, import_events
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
RUNNING = get_first_day_of_month(TODAY)
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def customer_ids(api):
    """Customers with new, expansion, contraction, churn and reactivation MRR."""
    import_events(
        api,
        build_event("a", "100.00", "2023-03-01", customerName="Initech", productExternalId="p", productName="Team"),
        build_event("a", "150.00", "2024-07-01"),
        build_event("b", "200.00", "2023-05-01", customerName="Hooli", currency="USD"),
        build_event("b", "0.00", "2024-03-15"),
        build_event("c", "300.00", "2023-12-31", customerName="Globex"), build_event("c", "250.00", "2024-12-31"),
        build_event("c/2", "33.33", "2024-02-01", interval="week"),
        build_event("d", "80.00", "2024-05-01", customerName="Umbrella"), build_event("d", "0.00", "2024-06-01"),
        build_event("d", "70.00", "2024-11-01"),
    )  # fmt: skip
    return {each["name"]: each["id"] for each in api.get("counterparties").json()}


def build_page_path(company, path=""):
    return f"/app/companies/{company.id}/recurring-revenue{path}"


def get_page_text(answer):
    assert answer.status_code in (200, 400), answer.status_code
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def parse_table_rows(answer, section):
    """The rows of a section's table, as texts."""
    html = answer.content.decode()
    part = html[html.index(f'"{section}-heading"') :]
    body = re.search(r"<tbody>(.*?)</tbody>", part, re.DOTALL)[1]
    cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in re.findall(r"<tr.*?</tr>", body, re.S))
    return [[unescape(re.sub(r"<[^>]+>", " ", cell)).strip() for cell in row] for row in cells]


def format_number(value):
    return f"{value:,.2f}".replace("-", "−")


MOVEMENT_TYPES = ("new", "reactivate", "upgrade", "downgrade", "cancel", "currency")


@pytest.mark.parametrize("measure", ["mrr", "cmrr", "arr", "carr"])
def test_recurring_revenue_page_movements_match_api(viewer, api, acme, customer_ids, measure):
    query = {"startMonth": "2023-11", "endMonth": "2024-12", "mrrType": measure}
    rows = api.post("data/monthlyData", query).json()
    table_rows = parse_table_rows(viewer.get(build_page_path(acme), query), "mrr-movements")
    assert [row[1:] for row in table_rows] == [
        [*(format_number(row[name]) for name in ("start", *MOVEMENT_TYPES, "end")), f"{row['endCount']:,}"]
        for row in rows
    ]
    assert [row[0] for row in table_rows][:3] == ["Nov 2023", "Dec 2023", "Jan 2024"]


def test_recurring_revenue_page_filters_by_product(viewer, api, acme, customer_ids):
    product = api.get("products").json()[0]["id"]
    query = {"startMonth": "2024-01", "endMonth": "2024-12", "mrrType": "mrr"}
    rows = api.post("data/monthlyData", query | {"productIds": [product]}).json()
    table_rows = parse_table_rows(viewer.get(build_page_path(acme), query | {"productId": product}), "mrr-movements")
    assert [row[-2] for row in table_rows] == [format_number(row["end"]) for row in rows]
    assert table_rows[-1][-2] == "150.00"


def test_recurring_revenue_bridge_counts_each_customer_once(viewer, api, acme, customer_ids):
    query = {"startMonth": "2024-01", "endMonth": "2024-12", "mrrType": "mrr"}
    rows = api.post("data/monthlyData", query).json()
    results = {row[0]: row[1:] for row in parse_table_rows(viewer.get(build_page_path(acme), query), "mrr-bridge")}
    assert results["Start"] == [format_number(rows[0]["start"]), "3"]
    assert results["End"] == [format_number(rows[-1]["end"]), "3"]
    assert results["New"] == ["70.00", "+1"], "who came, left and came back is new once"
    assert results["Churn"][1] == "−1"
    added = [int(results[name][1].replace("−", "-")) for name in ("Start", "New", "Reactivation", "Churn")]
    assert sum(added) == int(results["End"][1])


def test_recurring_revenue_summary_explains_difference_to_monthly_rows(viewer, acme, customer_ids):
    seen = get_page_text(viewer.get(build_page_path(acme), {"endMonth": "2024-12"}))
    assert (
        "All products. Rates cover 12 months, with each customer counted once. "
        "Monthly rows below count every movement, so their totals differ."
    ) in seen


def test_recurring_revenue_summary_matches_api(viewer, api, acme, customer_ids):
    body = api.post("data/recurringRevenueSummary", {"month": "2024-12"}).json()
    seen = get_page_text(viewer.get(build_page_path(acme), {"endMonth": "2024-12"}))
    for name in ("mrr", "arr", "arpa"):
        assert f"{name.upper()} {format_money(str(body[name]), 'EUR')} " in seen
    assert f"Customers {body['customers']} with active subscriptions" in seen
    for name, label in (
        ("netRevenueRetention", "Net revenue retention"),
        ("grossRevenueRetention", "Gross revenue retention"),
        ("customerChurnRate", "Customer churn"),
        ("revenueChurnRate", "Revenue churn"),
    ):
        assert f"{label} {body[name]:.2f} %" in seen
    assert f"Quick ratio {body['quickRatio']:.2f} " in seen


@pytest.mark.parametrize(
    ("comparison", "month", "named"),
    [("previousYear", "2023-12", "Dec 2023"), ("previousPeriod", "2024-09", "Sep 2024")],
)
def test_recurring_revenue_summary_compares_with_another_month(
    viewer, api, acme, customer_ids, comparison, month, named
):
    query = {"startMonth": "2024-10", "endMonth": "2024-12", "comparison": comparison}
    body = api.post("data/recurringRevenueSummary", {"month": month}).json()
    seen = get_page_text(viewer.get(build_page_path(acme), query))
    assert f"at the end of the month, {format_money(str(body['mrr']), 'EUR')} in {named}" in seen
    assert f"with active subscriptions, {body['customers']} in {named}" in seen


@pytest.mark.parametrize(
    ("measure", "unit", "title"),
    [
        ("revenue", "percent", "Revenue retained, % of first month"),
        ("revenue", "value", "Revenue retained"),
        ("customers", "percent", "Customers retained, % of first month"),
        ("customers", "value", "Customers retained"),
    ],
)
def test_cohort_table_matches_api(viewer, api, acme, customer_ids, measure, unit, title):
    query = {"startMonth": "2023-12", "endMonth": "2024-12", "measure": measure}
    answer = viewer.get(build_page_path(acme), query | {"unit": "cents", "cohortUnit": unit})
    assert f'<h2 id="cohorts-heading">{title}</h2>' in answer.content.decode()
    unit_text = " in EUR" if (measure, unit) == ("revenue", "value") else ""
    assert f'<caption class="sr">{title}{unit_text}</caption>' in answer.content.decode()
    assert ("&amp;unit=thousands" in answer.content.decode()) is (measure == "revenue"), "counts have no unit"
    shown = {unit} ^ {"percent", "value"}
    (other,) = re.findall(r'href="\?([^"#]*)#cohorts-heading">', answer.content.decode())
    assert ("cohortUnit=value" in other) is ("value" in shown)
    table_rows = parse_table_rows(answer, "cohorts")
    for row, cohort in zip(table_rows, api.post("data/cohorts", query).json(), strict=True):
        start = format_number(cohort["start"]) if measure == "revenue" else str(cohort["start"])
        marks = [] if not cohort["start"] else [
            f"{Decimal(str(mark['percentage'])):,.1f}" if unit == "percent"
            else format_number(mark["value"]) if measure == "revenue" else str(mark["value"])
            for mark in cohort["values"]
        ]  # fmt: skip
        assert [cell for cell in row[1:] if cell] == [start, *marks]


def test_cohorts_can_be_downloaded(viewer, api, acme, customer_ids):
    query = {"startMonth": "2023-12", "endMonth": "2024-12"}
    answer = viewer.get(build_page_path(acme, "/cohorts.csv"), query)
    head, *rows = csv.reader(io.StringIO(answer.content.decode()))
    assert head[:3] == ["Start month", "EUR", "0"]
    for row, cohort in zip(rows, api.post("data/cohorts", query | {"measure": "revenue"}).json(), strict=True):
        assert row[1] == f"{cohort['start']:.2f}"
        assert len(row) == len(head)


def test_customers_can_be_downloaded(viewer, acme, customer_ids):
    assert (
        f'href="{build_page_path(acme, "/customers.csv")}?sort=-mrr"'
        in viewer.get(build_page_path(acme, "/customers")).content.decode()
    )
    answer = viewer.get(build_page_path(acme, "/customers.csv"))
    head, *rows = csv.reader(io.StringIO(answer.content.decode()))
    assert head == ["Customer", "Since", "Subscriptions", "MRR (EUR)"]
    assert {row[0] for row in rows} == {"Initech", "Hooli", "Globex", "Umbrella"}
    assert next(row for row in rows if row[0] == "Initech")[1:] == ["2023-03", "1", "150.00"]


def test_recurring_revenue_period_links_keep_other_parameters(viewer, acme, customer_ids):
    html = viewer.get(build_page_path(acme), {"mrrType": "arr", "measure": "customers"}).content.decode()
    start = format_month(add_months(RUNNING, -5))
    assert f"?startMonth={start}&amp;endMonth={format_month(RUNNING)}&amp;mrrType=arr&amp;measure=customers" in html
    chosen = viewer.get(build_page_path(acme), {"startMonth": start}).content.decode()
    assert re.search(r'<a href="[^"]*" aria-current="true">6<', chosen)


def test_recurring_revenue_page_shows_message_for_invalid_parameters(viewer, acme, customer_ids):
    for parameters, message in [
        ({"startMonth": "2024-13"}, "“startMonth” is not a valid month"),
        ({"endMonth": "soon"}, "“endMonth” is not a valid month"),
        (
            {"startMonth": "2024-05", "endMonth": "2024-03"},
            "The last month is before the first. Showing 12 months up to the last.",
        ),
        ({"startMonth": "1990-05", "endMonth": "2024-03"}, "A period covers at most 20 years"),
        ({"mrrType": "xrr"}, "The value of “mrrType” is not valid"),
        ({"measure": "hats"}, "The value of “measure” is not valid"),
        ({"comparison": "rivals"}, "The value of “comparison” is not valid"),
        ({"productId": UNKNOWN_ID}, "The value of “productId” is not valid"),
    ]:
        answer = viewer.get(build_page_path(acme), parameters)
        assert answer.status_code == 200, parameters
        assert message in get_page_text(answer), parameters


@pytest.mark.parametrize(
    "parameters",
    [{"startMonth": "0001-01", "endMonth": "0001-02", "comparison": "previousYear"}, {"endMonth": "9999-12"}],
)
def test_recurring_revenue_page_accepts_first_and_last_calendar_months(viewer, acme, customer_ids, parameters):
    assert viewer.get(build_page_path(acme), parameters).status_code == 200


def test_recurring_revenue_chart_has_csv(viewer, api, acme, customer_ids):
    answer = viewer.get(build_page_path(acme, "/mrr-movements.csv"), {"startMonth": "2024-01", "endMonth": "2024-01"})
    assert answer.content.decode().splitlines()[1].startswith("2024-01,")
    assert viewer.get(build_page_path(acme, "/other.csv")).status_code == 404


def test_recurring_revenue_pages_show_empty_state_without_customers(viewer, acme):
    answer = viewer.get(build_page_path(acme))
    assert "No subscription yet" in get_page_text(answer)
    assert f'href="{build_page_path(acme, "/customers")}">Customers</a></div>' in answer.content.decode()
    assert "Net revenue retention" not in get_page_text(answer)
    assert "No customers yet" in get_page_text(viewer.get(build_page_path(acme, "/customers")))
    assert "No products yet" in get_page_text(viewer.get(build_page_path(acme, "/products")))


# ---------------------------------------------------------------------------------------------- customers


def list_customer_names(answer):
    return re.findall(r'/customers/[0-9a-f-]{36}">([^<]+)<', answer.content.decode())


def test_customer_list_sorts_by_revenue_and_searches_by_name(viewer, api, acme, customer_ids):
    answer = viewer.get(build_page_path(acme, "/customers"))
    assert list_customer_names(answer) == ["Globex", "Initech", "Umbrella", "Hooli"]
    seen = get_page_text(answer)
    assert "Initech a Mar 2023 1 subscription €150.00" in seen
    assert "Hooli b May 2023 1 subscription €0.00" in seen
    total = sum(float(each.replace(",", "")) for each in re.findall(r"€([\d,]+\.\d\d)", seen))
    assert round(total, 2) == api.post("data/recurringRevenueSummary", {}).json()["mrr"]
    assert list_customer_names(viewer.get(build_page_path(acme, "/customers"), {"sort": "name"})) == [
        "Globex",
        "Hooli",
        "Initech",
        "Umbrella",
    ]
    assert list_customer_names(viewer.get(build_page_path(acme, "/customers"), {"q": "OOL"})) == ["Hooli"]
    assert list_customer_names(viewer.get(build_page_path(acme, "/customers"), {"q": "d"})) == ["Umbrella"]
    assert "No customers found" in get_page_text(viewer.get(build_page_path(acme, "/customers"), {"q": "%"}))


def test_customer_list_is_paginated_with_constant_queries(viewer, acme, customer_ids, django_assert_max_num_queries):
    for n in range(PAGE_SIZE + 1):
        factories.make_customer(acme, f"Customer {n:02}")
    with django_assert_max_num_queries(25):
        first = viewer.get(build_page_path(acme, "/customers"), {"sort": "name"})
    assert len(list_customer_names(first)) == PAGE_SIZE
    following = re.search(r'href="(\?[^"]*page=2)"', first.content.decode())[1].replace("&amp;", "&")
    assert len(list_customer_names(viewer.get(build_page_path(acme, "/customers") + following))) == 5
    for number in ("0", "3", "99999"):
        beyond = viewer.get(build_page_path(acme, "/customers"), {"page": number})
        assert beyond.status_code == 400
        assert "This page of the list does not exist." in get_page_text(beyond)


@pytest.mark.parametrize(
    ("status", "names"),
    [
        ("", ["Globex", "Initech", "Umbrella", "Brief", "Future", "Hooli", "Prospect"]),
        ("active", ["Globex", "Initech", "Umbrella"]),
        ("churned", ["Hooli"]),
        ("hats", ["Globex", "Initech", "Umbrella", "Brief", "Future", "Hooli", "Prospect"]),
    ],
)
def test_customer_list_filters_by_status_on_page_and_in_file(viewer, api, acme, customer_ids, status, names):
    factories.make_customer(acme, "Prospect")
    import_events(
        api,
        build_event("f", "10.00", str(add_months(RUNNING, 2)), customerName="Future"),
        build_event("g", "10.00", "2024-03-02", customerName="Brief"),
        build_event("g", "0.00", "2024-03-20"),
    )
    answer = viewer.get(build_page_path(acme, "/customers"), {"status": status})
    assert list_customer_names(answer) == names
    assert f"{len(names)} customer" in get_page_text(answer)
    link = unescape(re.search(r'class="download" href="([^"]+)"', answer.content.decode())[1])
    rows = [*csv.reader(io.StringIO(viewer.get(link).content.decode()))]
    assert [row[0] for row in rows[1:]] == names


def test_customer_list_shows_changes_of_customers_and_events_at_once(viewer, owner, api, acme, customer_ids):
    def list_names(sort="-mrr"):
        return list_customer_names(viewer.get(build_page_path(acme, "/customers"), {"sort": sort}))

    assert list_names() == ["Globex", "Initech", "Umbrella", "Hooli"]
    import_events(api, build_event("d", "900.00", str(RUNNING)))
    assert list_names() == ["Umbrella", "Globex", "Initech", "Hooli"]
    assert list_names("name")[0] == "Globex"
    api.put(f"counterparties/{customer_ids['Hooli']}", {"name": "Acorn"})
    assert list_names("name") == ["Acorn", "Globex", "Initech", "Umbrella"]
    made = api.post("counterparties", {"type": "customer", "name": "Beta"}).json()["id"]
    assert list_names("name")[:2] == ["Acorn", "Beta"]
    api.delete(f"counterparties/{made}")
    assert list_names("name")[:2] == ["Acorn", "Globex"]


def test_second_customer_list_reads_events_of_its_page_only(viewer, acme, customer_ids):
    for n in range(PAGE_SIZE):
        factories.make_customer(acme, f"Customer {n:02}")
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as sent:
            viewer.get(build_page_path(acme, "/customers"))
        statements = [query["sql"] for query in sent.captured_queries if "ledger_subscriptionevent" in query["sql"]]
        # The currencies of events are read too, by one statement for the notice of old rates.
        counts.append(sum("ledger_account" not in sql for sql in statements))
        assert len(statements) <= counts[-1] + 1
    assert counts == [2, 1]


def test_customer_page_months_match_api(viewer, api, globex_api, acme, customer_ids):
    """What the page of one customer says is what a company answers that has no other."""
    import_events(globex_api, build_event("c", "300.00", "2023-12-31"), build_event("c", "250.00", "2024-12-31"),
         build_event("c/2", "33.33", "2024-02-01", interval="week"))  # fmt: skip
    query = {"startMonth": "2023-11", "endMonth": "2024-12"}
    rows = globex_api.post("data/monthlyData", query | {"mrrType": "mrr"}).json()
    answer = viewer.get(build_page_path(acme, f"/customers/{customer_ids['Globex']}"), query)
    assert [row[1] for row in parse_table_rows(answer, "mrr")] == [format_number(row["end"]) for row in rows]
    assert "€394.43 per month, customer since December 2023" in get_page_text(answer)


def test_customer_page_shows_subscriptions_and_retracted_events(viewer, api, acme, customer_ids):
    event = api.get("subscription_events", {"customerId": customer_ids["Umbrella"]}).json()[0]
    api.delete(f"subscription_events/{event['id']}")
    seen = get_page_text(viewer.get(build_page_path(acme, f"/customers/{customer_ids['Umbrella']}")))
    assert "No product d ended €0.00" in seen
    assert "1 Nov 2024 1 Nov 2024 €70.00 per month retracted" in seen
    assert "Retract " not in seen.replace("Retracted", ""), "nobody who may not write"
    assert viewer.get(build_page_path(acme, f"/customers/{UNKNOWN_ID}")).status_code == 404


def test_event_list_shows_latest_event_first(viewer, api, acme, customer_ids):
    page_text = get_page_text(viewer.get(build_page_path(acme, "/events")))
    texts = ["1 Nov 2024 Umbrella No product €70.00 per month", "1 Jun 2024 Umbrella No product €0.00 per month"]
    places = [page_text.index(text) for text in texts]
    assert places == sorted(places)
    assert "1 Mar 2023 Initech Team €100.00 per month" in page_text
    assert "1 Feb 2024 Globex No product €33.33 per week" in page_text
    api.delete(f"subscription_events/{api.get('subscription_events').json()[0]['id']}")
    assert "Umbrella No product retracted €70.00" in get_page_text(viewer.get(build_page_path(acme, "/events")))


def test_customer_names_require_counterparty_permission(sign_in_browser, acme, customer_ids):
    held = ["subscriptions:read", "company:read"]
    blind = sign_in_browser(
        factories.make_member(acme, "x@acme.example", role=Role.VIEWER, permissions=held), acme
    ).client
    for path in ("/customers", f"/customers/{customer_ids['Hooli']}", "/customers?q=Hooli&sort=name", "/events"):
        seen = blind.get(build_page_path(acme, path)).content.decode()
        assert "Hooli" not in seen.replace("q=Hooli", "")
        assert "(no access)" in seen


# ---------------------------------------------------------------------------------------------- forms


def test_customer_can_be_created_changed_and_deleted(owner, api, acme):
    answer = owner.post(build_page_path(acme, "/customers/new"), {"name": " Initech ", "externalId": ""})
    assert answer.status_code == 303
    made = api.get("counterparties").json()[0]
    assert (made["name"], made["type"], made["externalId"]) == ("Initech", "customer", None)
    assert answer["Location"] == build_page_path(acme, f"/customers/{made['id']}")
    place = build_page_path(acme, f"/customers/{made['id']}")
    assert owner.post(f"{place}/edit", {"name": "Initrode", "externalId": "cus_1"}).status_code == 303
    assert api.get("counterparties").json()[0]["externalId"] == "cus_1"
    refused = owner.post(build_page_path(acme, "/customers/new"), {"name": "Other", "externalId": "cus_1"})
    assert (refused.status_code, "already has this external ID" in get_page_text(refused)) == (400, True)
    assert owner.post(build_page_path(acme, "/customers/new"), {"name": "", "externalId": ""}).status_code == 400
    assert owner.post(f"{place}/delete").status_code == 303
    assert api.get("counterparties").json() == []


PRICE = {"amountValue": "99.00", "amountCurrency": "EUR", "interval": "month", "intervalCount": "3"}
PRICE |= {"effectiveDate": str(RUNNING), "committedDate": ""}


def test_subscription_can_be_created_repriced_ended_and_deleted(owner, api, acme):
    customer = factories.make_customer(acme)
    product = api.post("products", {"name": "Team"}).json()["id"]
    place = build_page_path(acme, f"/customers/{customer.id}")
    answer = owner.post(f"{place}/subscriptions/new", {"productId": product, "externalId": "s", **PRICE})
    assert (answer.status_code, answer["Location"]) == (303, place)
    made = api.get("subscriptions").json()[0]
    assert (made["productId"], made["currentAmountValue"], made["intervalCount"]) == (product, "99.00", 3)
    seen = get_page_text(owner.get(place))
    assert "Team s active €99.00 every 3 months" in seen
    assert "€33.00 per month, customer since" in seen
    one = build_page_path(acme, f"/subscriptions/{made['id']}")
    assert 'value="99.00"' in owner.get(f"{one}/events/new").content.decode()
    assert owner.post(f"{one}/events/new", PRICE | {"amountValue": "120", "intervalCount": "1"}).status_code == 303
    assert api.get(f"subscriptions/{made['id']}").json()["currentAmountValue"] == "120.00"
    ends = {"amountCurrency": "EUR", "effectiveDate": str(RUNNING), "committedDate": ""}
    assert owner.post(f"{one}/events/new?end=1", ends).status_code == 303
    assert api.get(f"subscriptions/{made['id']}").json()["status"] == "ended"
    assert owner.post(f"{one}/edit", {"productId": "", "externalId": "t"}).status_code == 303
    changed = api.get(f"subscriptions/{made['id']}").json()
    assert (changed["productId"], changed["externalId"]) == (None, "t")
    text = owner.post(f"{one}/delete", follow=True)
    assert "The subscription has active events. Retract them first." in get_page_text(text)
    for event in api.get("subscription_events").json():
        assert owner.post(build_page_path(acme, f"/events/{event['id']}/retract")).status_code == 303
    assert "Subscription deleted." in get_page_text(owner.post(f"{one}/delete", follow=True))
    assert api.get("subscriptions").json() == []


def test_invalid_subscription_shows_field_errors(owner, acme):
    customer = factories.make_customer(acme)
    before = AuditEntry.objects.for_company(acme.id).count()
    place = build_page_path(acme, f"/customers/{customer.id}/subscriptions/new")
    for wrong, field, said in [
        ({"amountValue": "-1"}, "amountValue", "The amount of a subscription must not be negative."),
        ({"amountValue": "1.234"}, "amountValue", "EUR has 2 decimals. 1.234 has 3."),
        ({"amountValue": "much"}, "amountValue", "Enter an amount such as"),
        ({"amountCurrency": "XXX"}, "amountCurrency", ""),
        ({"interval": "hour"}, "interval", ""),
        ({"intervalCount": "0"}, "intervalCount", ""),
        ({"effectiveDate": "soon"}, "effectiveDate", ""),
        ({"productId": UNKNOWN_ID}, "productId", "This record does not exist in this company."),
    ]:
        answer = owner.post(place, {"productId": "", "externalId": "", **PRICE} | wrong)
        assert answer.status_code == 400, wrong
        error = re.search(rf'id="{field}-error">([^<]+)<', answer.content.decode())
        assert error, wrong
        assert said in error[1], wrong
        assert AuditEntry.objects.for_company(acme.id).count() == before, wrong


def test_products_and_groups_can_be_created_renamed_and_deleted(owner, viewer, api, acme):
    assert owner.post(build_page_path(acme, "/product-groups/new"), {"name": "Plans", "order": "1"}).status_code == 303
    group = api.get("product_groups").json()[0]["id"]
    sent = {"name": "Team", "productGroupId": group, "order": "-2", "externalIds": "a\r\n b \r\n"}
    assert owner.post(build_page_path(acme, "/products/new"), sent).status_code == 303
    made = api.get("products").json()[0]
    assert (made["productGroupId"], made["order"], made["externalIds"]) == (group, -2, ["a", "b"])
    seen = get_page_text(viewer.get(build_page_path(acme, "/products")))
    assert "Plans Team a b 0 €0.00" in seen
    assert "New product" not in seen
    place = build_page_path(acme, f"/products/{made['id']}")
    assert owner.post(f"{place}/edit", sent | {"name": "Teams", "externalIds": ""}).status_code == 303
    assert api.get("products").json()[0]["nameManuallyEdited"]
    assert owner.post(f"{place}/edit", sent | {"order": "x"}).status_code == 400
    shelf = build_page_path(acme, f"/product-groups/{group}")
    assert "The group still has products. Move them to another group first." in get_page_text(
        owner.post(f"{shelf}/delete", follow=True)
    )
    assert owner.post(f"{shelf}/edit", {"name": "Tariffs", "order": ""}).status_code == 303
    assert owner.post(f"{place}/delete").status_code == 303
    assert owner.post(f"{shelf}/delete").status_code == 303
    assert (api.get("products").json(), api.get("product_groups").json()) == ([], [])


def test_recurring_revenue_pages_need_few_queries(viewer, acme, customer_ids, django_assert_max_num_queries):
    for path in ("", "/customers", f"/customers/{customer_ids['Globex']}", "/products", "/events"):
        viewer.get(build_page_path(acme, path))
        with django_assert_max_num_queries(25):
            viewer.get(build_page_path(acme, path), {"months": "24"})
