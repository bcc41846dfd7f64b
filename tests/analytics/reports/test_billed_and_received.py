"""What was billed to customers against what came in from them: the page and its file."""

import csv
import re
from datetime import timedelta
from decimal import Decimal
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from companies.permissions import Role
from ledger.calc.months import add_months, get_first_day_of_month
from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from tests import factories
from tests.analytics.queries.test_recurring_revenue import build_event, import_events
from tests.ledger.conftest import Books
from tests.page_text import get_page_text
from tests.rollback import undo_changes
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
RUNNING = get_first_day_of_month(TODAY)
OTHERS = "Customers without subscription or invoice"


def build_path(company, path="billed-and-received"):
    return f"/app/companies/{company.id}/recurring-revenue/{path}"


def get_month(back):
    """The first day of a month before the current one."""
    return add_months(RUNNING, -back)


def read_rows(client, company, months=6):
    """Customer -> (billed, received, difference) of each month and in total, from the file."""
    answer = client.get(build_path(company, f"billed-and-received.csv?months={months}"))
    assert answer.status_code == 200, answer.status_code
    _head, *rows = csv.reader(answer.content.decode().splitlines())
    amounts = {name: [Decimal(cell) for cell in cells] for name, *cells in rows}
    return {name: list(zip(*[iter(row)] * 3, strict=True)) for name, row in amounts.items()}


def read_links(client, company):
    """Customer -> the addresses of the cells of each month and in total, from the page."""
    html = client.get(build_path(company)).content.decode()
    rows = re.findall(r'<tr class="kind-category"><th scope="row">(.*?)</th>(.*?)</tr>', html)
    links = {}
    for name, cells in rows:
        hrefs = [re.search(r'href="(.*?)"', cell) for cell in re.findall(r"<td.*?</td>", cells)]
        addresses = [unescape(href[1]) if href else "" for href in hrefs]
        links[unescape(name)] = list(zip(*[iter(addresses)] * 3, strict=True))
    return links


class Receipts:
    """Payments of customers, booked on a bank account and categorized with the customer."""

    def __init__(self, api):
        self.api, self.books = api, Books(api)
        self.bank = self.books.account()
        self.category = self.books.category("revenueRecurring")

    def get_customer(self, name):
        return next(each["id"] for each in self.api.get("counterparties").json() if each["name"] == name)

    def receive(self, name, amount, day, *, account=None, **values):
        made = self.books.book(account or self.bank, amount, str(day), **values)
        part = {
            "categoryId": self.category,
            "plSplit": {"revenue": float(amount)},
            "counterparty": {"id": self.get_customer(name)},
        }
        answer = self.books.split(made["id"], part)
        assert answer.status_code == 200, answer.content
        return made["id"]

    def invoice(self, name, amount, day, **values):
        body = {
            "accountId": self.bank, "name": f"Invoice {amount}", "startDate": str(day), "amountValue": amount,
            "invoiceDate": str(day), "autoSettle": False, "counterparty": {"id": self.get_customer(name)},
        }  # fmt: skip
        made = self.api.post("planned_transactions", body | values)
        assert made.status_code == 201, made.content
        return made.json()["id"]


@pytest.fixture
def receipts(api):
    return Receipts(api)


def subscribe(api, *, start=2, name="Initech", amount="100.00", **values):
    """Add a customer with a subscription that started some months ago, on the first day."""
    import_events(api, build_event(name, amount, str(get_month(start)), customerName=name, **values))


def test_payments_stand_beside_what_subscription_bills(viewer, acme, api, receipts):
    subscribe(api)
    for payments, received in [
        ([(2, "100.00"), (1, "100.00"), (0, "100.00")], [100, 100, 100]),
        ([(2, "119.00"), (1, "119.00")], [119, 119, 0]),
        ([(1, "100.00"), (1, "100.00")], [0, 200, 0]),
        ([(2, "60.00"), (1, "100.00")], [60, 100, 0]),
        ([(2, "100.00"), (2, "-30.00"), (1, "-100.00")], [70, -100, 0]),
        ([], [0, 0, 0]),
    ]:
        with undo_changes():
            for back, amount in payments:
                receipts.receive("Initech", amount, get_month(back))
            rows = read_rows(viewer, acme)
            assert rows["Initech"] == [
                *[(0, 0, 0)] * 3,
                *((100, amount, amount - 100) for amount in received),
                (300, sum(received), sum(received) - 300),
            ], payments
            assert rows["Total"] == rows["Initech"], payments
            assert list(rows) == ["Initech", "Total"], payments


def test_yearly_price_is_billed_in_its_renewal_month(viewer, acme, api):
    subscribe(api, start=14, amount="1200.00", interval="year")
    import_events(api, build_event("Initech", "1500.00", str(get_month(4)), interval="year"))
    rows = read_rows(viewer, acme, months=24)
    billed = [month[0] for month in rows["Initech"][:-1]]
    assert {back: amount for back, amount in enumerate(reversed(billed)) if amount} == {14: 1200, 2: 1500}


def test_retracted_and_future_prices_are_not_billed(viewer, acme, api):
    subscribe(api)
    tomorrow = TODAY + timedelta(days=1)
    import_events(api, build_event("Hooli", "70.00", str(tomorrow), customerName="Hooli"))
    assert list(read_rows(viewer, acme)) == ["Initech", "Total"]
    event = next(each for each in api.get("subscription_events").json() if Decimal(each["amountValue"]) == 100)
    assert api.delete(f"subscription_events/{event['id']}").status_code == 200
    assert read_rows(viewer, acme) == {}


def test_invoices_of_a_month_replace_its_prices(viewer, acme, api, receipts):
    subscribe(api)
    first = receipts.invoice("Initech", "119.00", get_month(2))
    receipts.invoice("Initech", "250.00", get_month(1), passThroughTaxAmount="39.92")
    receipts.invoice("Initech", "-50.00", get_month(1) + timedelta(days=20))
    receipts.invoice("Initech", "999.00", TODAY + timedelta(days=1))
    rows, links = read_rows(viewer, acme), read_links(viewer, acme)["Initech"]
    assert [month[0] for month in rows["Initech"]] == [0, 0, 0, 119, 200, 100, 419]
    customer = f"/app/companies/{acme.id}/recurring-revenue/customers/{receipts.get_customer('Initech')}"
    assert [month[0] for month in links] == [
        "", "", "", f"/app/companies/{acme.id}/planned/{first}",
        f"{customer}#invoices-title", f"{customer}#events-title", customer,
    ]  # fmt: skip
    html = viewer.get(customer).content.decode()
    assert 'id="invoices-title"' in html
    assert 'id="events-title"' in html
    text = get_page_text(viewer.get(customer))
    assert re.search(r"Invoice 250.00 €250.00 .* Invoice 119.00 €119.00", text)
    assert "119.00" in get_page_text(viewer.get(links[3][0]))


def test_skipped_invoice_is_not_billed(viewer, acme, api, receipts):
    subscribe(api)
    planned = receipts.invoice("Initech", "119.00", get_month(1))
    answer = api.put(f"planned_transactions/{planned}/overrides/{get_month(1)}", {"skipped": True})
    assert answer.status_code == 200, answer.content
    assert read_rows(viewer, acme)["Initech"][4] == (100, 0, -100)


def test_only_booked_money_on_cash_accounts_is_received(viewer, acme, api, receipts):
    subscribe(api)
    day, books = get_month(1), receipts.books
    receipts.receive("Initech", "10.00", day)
    receipts.receive("Initech", "20.00", day, pending=True)
    receipts.receive("Initech", "40.00", day, account=books.account(name="Card", type="creditCard"))
    assert books.link(
        books.book(receipts.bank, "-80.00", str(day))["id"],
        books.book(books.account(name="Savings"), "80.00", str(day))["id"],
    ).status_code == 200  # fmt: skip
    shared = books.book(receipts.bank, "5.00", str(day))["id"]
    part = {"categoryId": receipts.category, "plSplit": {"revenue": 2}}
    both = [part | {"counterparty": {"id": receipts.get_customer("Initech")}}, part | {"plSplit": {"revenue": 3}}]
    assert books.split(shared, *both).status_code == 200
    assert read_rows(viewer, acme)["Initech"][4] == (100, 12, -88)


def test_foreign_currencies_count_at_the_rate_of_each_day(viewer, acme, api, receipts):
    subscribe(api, currency="USD")
    dollars = receipts.books.account(name="Dollars", defaultCurrency="USD")
    days, rates = [get_month(1), get_month(1) + timedelta(days=9)], get_rate_table()
    for day in days:
        receipts.receive("Initech", "33.33", day, account=dollars, amountCurrency="USD")

    def to_euros(amount, day):
        return convert_currency(Decimal(amount), source="USD", target="EUR", day=day, rates=rates)

    billed = round_half_up(to_euros("100", days[0]), "EUR")
    received = round_half_up(sum(to_euros("33.33", day) for day in days), "EUR")
    assert read_rows(viewer, acme)["Initech"][4] == (billed, received, received - billed)


def test_missing_rate_is_shown_instead_of_figures(viewer, acme, api, monkeypatch):
    subscribe(api, currency="USD")
    monkeypatch.setattr("analytics.reports.billed_and_received.get_rate_table", lambda: RateTable([]))
    text = get_page_text(viewer.get(build_path(acme)))
    assert "No exchange rate for USD. Totals are not shown." in text
    assert "Initech" not in text
    assert viewer.get(build_path(acme, "billed-and-received.csv"))["Location"] == build_path(acme)


def test_customers_that_are_never_billed_are_one_row(viewer, acme, api, receipts):
    subscribe(api)
    for name in ("Hooli", "Umbrella"):
        assert api.post("counterparties", {"type": "customer", "name": name}).status_code == 201
        receipts.receive(name, "7.00", get_month(1))
    assert api.post("counterparties", {"type": "vendor", "name": "Cirrus"}).status_code == 201
    receipts.receive("Cirrus", "9.00", get_month(1))
    rows = read_rows(viewer, acme)
    assert list(rows) == ["Initech", OTHERS, "Total"]
    assert rows[OTHERS][4] == (0, 14, 14)
    assert rows["Total"][4] == (100, 14, -86)


def test_page_lists_largest_shortfalls_first_and_adds_up_the_rest(viewer, acme, api, receipts, monkeypatch):
    for name, amount in (("Acorn", "10.00"), ("Birch", "30.00"), ("Cedar", "20.00")):
        subscribe(api, name=name, amount=amount)
    assert list(read_rows(viewer, acme)) == ["Birch", "Cedar", "Acorn", "Total"]
    monkeypatch.setattr("analytics.reports.billed_and_received.MAX_CUSTOMERS", 1)
    text = get_page_text(viewer.get(f"{build_path(acme)}?unit=cents"))
    assert "Cedar" not in text
    assert re.search(r"2 more customers( 0.00){9}( 30.00 0.00 -30.00){3} 90.00 0.00 -90.00", text)
    assert re.search(r"Total( 0.00){9}( 60.00 0.00 -60.00){3} 180.00 0.00 -180.00", text)


def test_rows_of_another_company_never_count(viewer, acme, api, globex_api, receipts):
    subscribe(globex_api)
    theirs = Receipts(globex_api)
    theirs.receive("Initech", "100.00", get_month(1))
    theirs.invoice("Initech", "50.00", get_month(0))
    assert read_rows(viewer, acme) == {}
    subscribe(api)
    assert read_rows(viewer, acme)["Initech"][3:] == [*[(100, 0, -100)] * 3, (300, 0, -300)]


@pytest.mark.parametrize("missing", ["subscriptions:read", "transactions:read", "planning:read"])
def test_page_needs_all_permissions_for_what_it_shows(browser_of, acme, api, missing):
    subscribe(api)
    permissions = [each.value for each in Role.OWNER.permissions if each != missing]
    member = factories.make_member(acme, "some@acme.example", role=Role.ADMIN, permissions=permissions)
    client = browser_of(member, acme).client
    for path in ("billed-and-received", "billed-and-received.csv"):
        assert client.get(build_path(acme, path)).status_code == 403
    if missing != "subscriptions:read":
        assert "billed-and-received" not in client.get(build_path(acme, "customers")).content.decode()


def test_names_are_hidden_without_permission_to_read_them(browser_of, acme, api):
    subscribe(api)
    permissions = [each.value for each in Role.OWNER.permissions if not each.value.startswith("counterparties:")]
    member = factories.make_member(acme, "some@acme.example", role=Role.ADMIN, permissions=permissions)
    client = browser_of(member, acme).client
    assert "Initech" not in get_page_text(client.get(build_path(acme)))
    assert list(read_rows(client, acme)) == ["(no access)", "Total"]


def test_page_without_figures_says_what_to_do(viewer, acme):
    text = get_page_text(viewer.get(build_path(acme)))
    assert "Nothing billed or received yet Add a customer with a subscription or an invoice." in text
    assert "The value of “months” is not valid." in get_page_text(viewer.get(build_path(acme) + "?months=7"))


def test_page_is_linked_and_offers_its_file(viewer, acme, api):
    subscribe(api)
    assert f'href="{build_path(acme)}"' in viewer.get(build_path(acme, "customers")).content.decode()
    html = viewer.get(f"{build_path(acme)}?months=12").content.decode()
    assert f'href="{build_path(acme, "billed-and-received.csv")}?months=12"' in html
    assert "Fakturiert" in get_page_text(viewer.get(build_path(acme), headers={"accept-language": "de"}))


PAYMENTS = st.tuples(
    st.integers(0, 1),  # the customer
    st.integers(0, 5),  # months back
    st.integers(0, 27).filter(lambda day: day < TODAY.day),
    st.integers(-20_000, 50_000).filter(bool),  # cents
    st.sampled_from(["EUR", "USD"]),
)


@given(payments=st.lists(PAYMENTS, min_size=1, max_size=6))
@settings(max_examples=5)
def test_cells_add_up_to_totals_and_to_the_linked_transactions(db, make_api, payments):
    company = factories.make_company(name="Any", base_currency="EUR")
    api, rates = make_api(company), get_rate_table()
    receipts = Receipts(api)
    names = ["Initech", "Hooli"]
    for name in names:
        subscribe(api, name=name, start=6, amount="33.33", currency="USD")
    for customer, back, day, cents, currency in payments:
        amount = f"{Decimal(cents) / 100:.2f}"
        receipts.receive(names[customer], amount, get_month(back) + timedelta(days=day), amountCurrency=currency)
    owner = factories.make_member(company, "any@example.com", role=Role.OWNER)
    client = Client()
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    rows, links = read_rows(client, company), read_links(client, company)
    for row in rows.values():
        assert row[-1] == tuple(sum(cells) for cells in zip(*row[:-1], strict=True))
    assert rows["Total"] == [
        tuple(map(sum, zip(*cells, strict=True))) for cells in zip(*(rows[name] for name in names), strict=True)
    ]
    for name in names:
        for cells, addresses in zip(rows[name][:-1], links[name][:-1], strict=True):
            if not addresses[1]:
                assert cells[1] == 0
                continue
            query = dict(parse_qsl(urlsplit(addresses[1]).query))
            assert query.pop("total") == "true"
            assert client.get(addresses[1]).status_code == 200
            total = sum(
                convert_currency(
                    Decimal(each["amountValue"]),
                    source=each["amountCurrency"],
                    target="EUR",
                    day=get_month(0).fromisoformat(each["date"]),
                    rates=rates,
                )
                for each in api.get("transactions", query).json()
            )
            assert cells[1] == round_half_up(total, "EUR")
