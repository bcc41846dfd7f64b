"""Customers behind the figures of recurring revenue: each list adds up to its cell."""

import csv
import io
import re
from decimal import Decimal
from html import unescape

import pytest

from companies.permissions import Role
from tests import factories
from tests.analytics.queries.test_recurring_revenue import build_event, import_events
from tests.analytics.reports.test_recurring_revenue_pages import build_page_path, get_page_text

pytestmark = pytest.mark.django_db
FIGURES = ("start", "new", "reactivate", "upgrade", "downgrade", "cancel", "currency", "end")
PATH = "/movements"


@pytest.fixture
def customer_ids(api):
    """Customers with each kind of MRR movement, in two currencies and with fractions of cents."""
    import_events(
        api,
        build_event("a", "100.00", "2023-03-01", customerName="Initech", productExternalId="p", productName="Team"),
        build_event("a", "150.00", "2024-07-01"),
        build_event("b", "200.00", "2023-05-01", customerName="Hooli", currency="USD"),
        build_event("b", "0.00", "2024-09-15"),
        build_event("c", "300.00", "2023-12-31", customerName="Globex"), build_event("c", "250.00", "2024-12-31"),
        build_event("c/2", "33.33", "2024-02-01", interval="week"),
        build_event("d", "80.00", "2024-05-01", customerName="Umbrella"), build_event("d", "0.00", "2024-06-01"),
        build_event("d", "70.00", "2024-11-01"),
        build_event("e", "10.01", "2024-07-01", customerName="Wayne", interval="year"),
        build_event("f", "10.01", "2024-07-02", customerName="Stark", interval="year"),
    )  # fmt: skip
    return {each["name"]: each["id"] for each in api.get("counterparties").json()}


def list_cells(viewer, company, query, section):
    """Return (link, amount) of each cell of a table that leads anywhere."""
    html = viewer.get(build_page_path(company), query).content.decode()
    part = html[html.index(f'"{section}-heading"') :]
    body = re.search(r"<tbody>(.*?)</tbody>", part, re.DOTALL)[1]
    if section == "mrr-bridge":
        cells = re.findall(r'<a href="([^"]+)">[^<]*</a></th><td>([^<]+)<', body)
    else:
        cells = re.findall(r'<td><a href="([^"]+)">([^<]+)</a>', body)
    return [(unescape(link), parse_number(text)) for link, text in cells]


def parse_number(text):
    return Decimal(re.sub(r"[^\d.−]", "", text).replace("−", "-"))


def read_amounts(viewer, link):
    """Return ({customer: amount}, total) of the list."""
    html = viewer.get(link).content.decode()
    amounts = {}
    for row in re.findall(r"<tr.*?</tr>", html[html.find("<tbody>") :] if "<tbody>" in html else "", re.DOTALL):
        name, *_others, amount = (
            re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", row, re.S)
        )
        amounts[name] = parse_number(amount)
    total = next((amounts.pop(name) for name in [*amounts] if name.startswith("Total of")), Decimal(0))
    return amounts, total


@pytest.mark.parametrize("mrr_type", ["mrr", "carr"])
@pytest.mark.parametrize("section", ["mrr-movements", "mrr-bridge", "mrr"])
def test_customers_behind_each_cell_add_up_to_it(viewer, acme, customer_ids, section, mrr_type):
    query = {"startMonth": "2024-05", "endMonth": "2024-07", "mrrType": mrr_type}
    cells = list_cells(viewer, acme, query, section)
    assert len(cells) == {"mrr-movements": 3 * len(FIGURES), "mrr-bridge": len(FIGURES), "mrr": 3}[section]
    for link, shown in cells:
        amounts, total = read_amounts(viewer, link)
        assert total == shown == sum(amounts.values()), link


def test_movement_lists_only_its_own_customers(viewer, acme, customer_ids):
    address = build_page_path(acme, PATH)
    months = {"startMonth": "2024-07", "endMonth": "2024-07", "mrrType": "mrr"}
    assert read_amounts(viewer, f"{address}?startMonth=2024-07&endMonth=2024-07&movement=upgrade") == (
        {"Initech": Decimal("50.00")},
        Decimal("50.00"),
    )
    seen = get_page_text(viewer.get(address, months | {"movement": "upgrade"}))
    assert "Initech €100.00 €150.00 €50.00 Total of 1 customer €50.00" in seen
    seen = get_page_text(viewer.get(address, months | {"movement": "new"}))
    assert "€0.83 Rounding €0.01 Total of 2 customers €1.67" in seen
    seen = get_page_text(viewer.get(address, {"startMonth": "2024-06", "endMonth": "2024-06", "movement": "cancel"}))
    assert "Umbrella €80.00 €0.00 −€80.00 Total of 1 customer −€80.00" in seen
    assert "No customers in this period." in get_page_text(viewer.get(address, months | {"movement": "cancel"}))


def test_movement_list_has_csv_whose_amounts_add_up(viewer, acme, customer_ids):
    query = "startMonth=2024-07&endMonth=2024-07&mrrType=mrr&movement=new"
    html = viewer.get(f"{build_page_path(acme, PATH)}?{query}").content.decode()
    link = unescape(re.search(r'class="download" href="([^"]+)"', html)[1])
    head, *rows = csv.reader(io.StringIO(viewer.get(link).content.decode()))
    assert head == ["Customer", "Before (EUR)", "After (EUR)", "Amount (EUR)"]
    assert sorted(row[0] for row in rows) == ["Rounding", "Stark", "Wayne"]
    assert sum(Decimal(row[-1]) for row in rows) == Decimal("1.67")


def test_movement_list_has_negative_amounts_as_numbers(viewer, acme, customer_ids):
    query = "startMonth=2024-01&endMonth=2024-12&mrrType=mrr&movement=cancel"
    answer = viewer.get(f"{build_page_path(acme, PATH)}.csv?{query}")
    _head, *rows = csv.reader(io.StringIO(answer.content.decode()))
    assert rows
    assert all(Decimal(row[-1]) < 0 for row in rows if row[0] != "Rounding")


def test_movement_list_keeps_product_and_leads_to_customers_and_events(viewer, api, acme, customer_ids):
    product = api.get("products").json()[0]["id"]
    query = {"startMonth": "2024-07", "endMonth": "2024-07", "mrrType": "mrr", "productId": product}
    cells = list_cells(viewer, acme, query, "mrr-movements")
    assert [shown for _link, shown in cells] == [100, 0, 0, 50, 0, 0, 0, 150]
    for link, shown in cells:
        assert sum(read_amounts(viewer, link)[0].values()) == shown
    html = viewer.get(build_page_path(acme, PATH), query | {"movement": "end"}).content.decode()
    assert f'{build_page_path(acme)}/customers/{customer_ids["Initech"]}#events-title"' in html
    events = unescape(re.search(r'href="([^"]*/events\?[^"]+)"', html)[1])
    assert "Events from Jul 2024 to Jul 2024." in get_page_text(viewer.get(events))


def test_movement_list_has_pages(viewer, api, acme):
    events = [build_event(f"c{n}", "10.00", "2024-01-10", customerName=f"Customer {n:02}") for n in range(60)]
    import_events(api, *events)
    query = {"startMonth": "2024-01", "endMonth": "2024-01", "movement": "new"}
    first = viewer.get(build_page_path(acme, PATH), query).content.decode()
    following = unescape(re.search(r'href="(\?[^"]*page=2)"', first)[1])
    second = viewer.get(build_page_path(acme, PATH) + following).content.decode()
    names = [re.findall(r"#events-title\">([^<]+)<", html) for html in (first, second)]
    assert [len(each) for each in names] == [50, 10]
    assert len({*names[0], *names[1]}) == 60
    for html in (first, second):
        assert "Total of 60 customers" in html
        assert "€600.00" in html
    assert viewer.get(build_page_path(acme, PATH), query | {"page": "0"}).status_code == 400


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"movement": "hats"}, "The value of “movement” is not valid"),
        ({"movement": "\0"}, "The value of “movement” is not valid"),
        ({"startMonth": "2024-13"}, "“startMonth” is not a valid month"),
        ({"mrrType": "xrr"}, "The value of “mrrType” is not valid"),
    ],
)
def test_movement_list_says_what_is_invalid(viewer, acme, customer_ids, parameters, message):
    for path in (PATH, f"{PATH}.csv"):
        answer = viewer.get(build_page_path(acme, path), parameters)
        assert answer.status_code == 200
    assert message in get_page_text(viewer.get(build_page_path(acme, PATH), parameters))


def test_movement_list_names_customers_with_permission_only(sign_in_browser, acme, customer_ids):
    held = ["subscriptions:read", "company:read"]
    blind = sign_in_browser(
        factories.make_member(acme, "x@acme.example", role=Role.VIEWER, permissions=held), acme
    ).client
    query = {"startMonth": "2024-07", "endMonth": "2024-07", "movement": "upgrade"}
    for path in (PATH, f"{PATH}.csv"):
        seen = blind.get(build_page_path(acme, path), query).content.decode()
        assert "Initech" not in seen
        assert "(no access)" in seen
        assert "50.00" in seen
