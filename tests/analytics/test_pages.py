"""The page of a company and the cards on the home page: what is shown to whom."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from companies.models import Membership
from companies.permissions import Role
from ledger import accounts, booking
from tests import factories

pytestmark = pytest.mark.django_db
TODAY = datetime.now(tz=UTC).date()
MONTH = TODAY.replace(day=1)
CASH = ["Cash balance", "Cash flow"]
RESULTS = ["Revenue and expenses", "Plan against actual"]
RECURRING = ["Committed MRR", "MRR from start to end", "MRR movements"]
TITLES = [*CASH, *RESULTS, *RECURRING]


def signed_in(user):
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def page(user, company, query=""):
    answer = signed_in(user).get(f"/app/companies/{company.id}{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def section(html, title):
    """The section under a heading."""
    return next(part for part in html.split("<section")[1:] if f">{title}</h2>" in part).split("</section>")[0]


def rows(html):
    """The table's rows: first cell -> the others."""
    found = re.findall(r'<tr[^>]*><th scope="row">(.*?)</th>(.*?)</tr>', html)
    return {name: re.findall(r"<td>(.*?)</td>", cells) for name, cells in found}


def figures(html):
    """Key figure -> its text and what is said of it."""
    found = re.findall(r"<dt>([^<]+)</dt>((?:<dd[^>]*>[^<]*</dd>)+)", html)
    return {name: re.findall(r">([^<]*)</dd>", rest) for name, rest in found}


@pytest.fixture
def bank(books):
    return books.account()


def book(api, bank, amount, day, currency="EUR"):
    answer = api.post(
        "transactions", {"accountId": bank, "date": str(day), "amountValue": amount, "amountCurrency": currency}
    )
    assert answer.status_code == 201, answer.content
    return answer.json()["id"]


# ---------------------------------------------------------------------------------------------- what is shown


def test_cash_is_what_the_accounts_that_count_hold_today(api, alice, acme, bank):
    book(api, bank, "1000.00", TODAY - timedelta(days=40))
    book(api, bank, "-250.50", TODAY - timedelta(days=3))
    html = page(alice, acme)
    assert figures(html)["Cash"][0] == "€750"
    assert figures(html)["Change in 30 days"] == ["−€251", "25.1 % of €1k"]
    table = rows(section(html, "Cash balance"))
    assert table[f"{TODAY:%-d %b %Y}"] == ["749.50", "0.00"]
    assert table[f"{TODAY - timedelta(days=4):%-d %b %Y}"] == ["1,000.00", "0.00"]


def test_cash_flow_shows_what_came_and_what_is_planned_apart(api, alice, acme, bank):
    book(api, bank, "500.00", MONTH)
    planned = {"accountId": bank, "name": "Rent", "startDate": str(next_month()), "amountValue": "-80.00"}
    assert api.post("planned_transactions", planned).status_code == 201
    flow = section(page(alice, acme), "Cash flow")
    assert rows(flow)[f"{MONTH:%b %Y}"] == ["500.00", "0.00", "0.00", "0.00", "500.00"]
    assert rows(flow)[f"{next_month():%b %Y}"] == ["0.00", "0.00", "0.00", "80.00", "−80.00"]
    assert flow.count('class="bar s-inflow"') == 1
    assert flow.count('class="bar s-planned-outflow"') == 1
    assert flow.count('class="now"') == 1


def next_month():
    return (MONTH + timedelta(days=32)).replace(day=1)


def test_revenue_and_expenses_stand_side_by_side(api, alice, acme, bank, books):
    categories = {row["systemKey"]: row["id"] for row in api.get("categories").json()}
    for amount, key in (("300.00", "revenueRecurring"), ("-120.00", "hosting")):
        selection = {"mode": "ids", "ids": [book(api, bank, amount, MONTH)]}
        body = {"selection": selection, "categoryId": categories[key]}
        assert api.post("transactions/categorize", body).status_code == 200
    shown = section(page(alice, acme), "Revenue and expenses")
    assert rows(shown)[f"{MONTH:%b %Y}"] == [
        "300.00", "300.00", "0.00", "0.00", "0.00", "120.00", "120.00", "0.00", "0.00", "0.00", "180.00",
    ]  # fmt: skip
    assert re.findall(r"</svg>([^<]+)</li>", shown) == ["Recurring", "Cost of revenue"]


def test_committed_revenue_counts_from_the_day_it_was_agreed(api, alice, acme):
    customer = factories.customer(acme)
    subscription = api.post("subscriptions", {"customerId": str(customer.id)}).json()["id"]
    event = {
        "subscriptionId": subscription, "effectiveDate": str(next_month()), "committedDate": str(TODAY),
        "amountValue": "90.00", "amountCurrency": "EUR",
    }  # fmt: skip
    assert api.post("subscription_events", event).status_code == 201
    html = page(alice, acme)
    assert figures(html)["Committed MRR"][0] == "€90"
    assert figures(html)["Active customers"] == ["1", "+1 this month"]
    assert rows(section(html, "MRR movements"))[f"{MONTH:%b %Y}"][:2] == ["0.00", "90.00"]


def test_runway_is_cash_over_what_the_last_whole_months_burnt(api, alice, acme, bank):
    book(api, bank, "10000.00", MONTH - timedelta(days=300))
    for back in (5, 35, 66):
        book(api, bank, "-500.00", MONTH - timedelta(days=back))
    assert figures(page(alice, acme))["Runway"] == ["17 months", "at −€500 a month, 3-month average"]


def test_cash_below_zero_lasts_no_month_whatever_came_in(api, alice, acme, bank):
    book(api, bank, "300.00", MONTH - timedelta(days=5))
    book(api, bank, "-400.00", TODAY)
    assert figures(page(alice, acme))["Runway"] == ["0 months", "cash is below zero"]


def test_a_figure_too_long_to_be_read_at_a_glance_is_told_in_short(api, alice, acme, bank):
    book(api, bank, "123456789.50", TODAY)
    assert figures(page(alice, acme))["Cash"][0] == "€123,456,790"
    book(api, bank, "987654321012345.67", TODAY)
    html = page(alice, acme)
    assert figures(html)["Cash"][0] == "€988T"
    assert rows(section(html, "Accounts"))["All accounts"][0] == "987,654,444,469,135.17"


def test_axes_have_no_room_for_a_currency_of_letters(alice):
    zurich = factories.company(name="Zurich", base_currency="CHF")
    member = factories.member(zurich, "ueli@zurich.example")
    bank = accounts.open_account(company=zurich, stamp=factories.stamp(), values={"type": "bank", "name": "Main"})
    values = {"account_id": bank.id, "date": TODAY, "amount_value": "12500"}
    booking.book(company=zurich, stamp=factories.stamp(), values=values)
    html = page(member, zurich)
    assert figures(html)["Cash"][0] == "CHF\u202f12,500"
    ticks = re.findall(r"<text[^>]*>([^<]+)</text>", section(html, "Cash balance").split('class="plot"')[0])
    assert ticks
    assert not any("CHF" in tick for tick in ticks)


def test_nobody_runs_out_who_earns_more_than_they_spend(api, alice, acme, bank):
    book(api, bank, "300.00", MONTH - timedelta(days=5))
    assert figures(page(alice, acme))["Runway"] == ["No burn", "+€100 a month, 3-month average"]


@pytest.mark.parametrize("amount", ["0.01", "-999999999999999.99", "999999999999999.99"])
def test_any_amount_can_be_drawn(api, alice, acme, bank, amount):
    book(api, bank, amount, TODAY)
    assert "<path" in section(page(alice, acme), "Cash balance")


def test_yen_have_no_decimals(alice):
    tokyo = factories.company(name="Tokyo", base_currency="JPY")
    member = factories.member(tokyo, "yuki@tokyo.example")
    html = page(member, tokyo)
    assert figures(html)["Cash"][0] == "¥0"
    assert rows(section(html, "Committed MRR"))[f"{MONTH:%b %Y}"] == ["0", "0"]


def test_a_company_without_anything_has_its_page(alice, acme):
    html = page(alice, acme)
    assert [title for title in TITLES if f"{title}</h2>" in html] == TITLES
    assert rows(section(html, "Accounts")) == {"All accounts": ["0.00", "0.00"]}
    assert figures(html)["Runway"] == ["–", "no movements yet"]


def first_step(html):
    """(what is offered, the addresses it leads to) before the figures."""
    part = html.split('id="first-step">')
    return (
        (part[1].split("</h2>")[0], re.findall(r'href="([^"]+)"', part[1].split("</section>")[0])) if part[1:] else None
    )


def test_whoever_may_is_shown_what_to_do_first_and_then_next(api, alice, bob, acme):
    path = f"/app/companies/{acme.id}"
    assert first_step(page(alice, acme)) == ("Start with an account", [f"{path}/accounts/new"])
    assert first_step(page(bob, acme)) == ("Start with an account", [])
    bank = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    ways = [f"{path}/imports/new", f"{path}/transactions/new"]
    assert first_step(page(alice, acme)) == ("Bring in what happened", ways)
    assert first_step(page(bob, acme)) == ("Bring in what happened", [])
    book(api, bank, "5.00", TODAY)
    assert first_step(page(alice, acme)) is None


def test_where_there_is_nothing_to_draw_it_says_so_and_where_numbers_come_from(api, alice, acme, bank):
    book(api, bank, "1000.00", TODAY)
    html = page(alice, acme)
    drawn = {title for title in TITLES if 'class="plot"' in section(html, title)}
    assert drawn == {*CASH}
    assert "Categories are given under Transactions." in section(html, "Revenue and expenses")
    assert "Subscriptions are made and imported through the API." in section(html, "Committed MRR")
    assert 'class="legend"' not in section(html, "MRR movements")
    assert rows(section(html, "MRR movements"))  # the numbers are there all the same


@pytest.mark.parametrize(("months", "shown"), [(6, 6), (12, 12), (24, 24)])
def test_one_chooses_how_far_to_look_back(alice, acme, months, shown):
    html = page(alice, acme, f"?months={months}")
    assert len(rows(section(html, "Committed MRR"))) == shown
    assert len(rows(section(html, "Cash flow"))) == shown + 6


@pytest.mark.parametrize("query", ["?months=13", "?months=-1", "?months=x", "?months="])
def test_other_spans_are_not_found(alice, acme, query):
    assert signed_in(alice).get(f"/app/companies/{acme.id}{query}").status_code == 404


# ---------------------------------------------------------------------------------------------- how it is made


def test_a_chart_says_what_it_is_and_its_numbers_stand_below(api, alice, acme, bank):
    book(api, bank, "1000.00", TODAY)
    html = page(alice, acme)
    for title in CASH:
        shown = section(html, title)
        assert re.search(r'<svg class="plot"[^>]+role="img" aria-labelledby="([\w-]+)-title \1-desc"', shown)
        assert f">{title}</title>" in shown
        assert re.search(r"<desc id=[^>]+>[^<]{20,}</desc>", shown)
        assert '<th scope="col">' in shown
        assert f'<caption class="sr">{title} in EUR</caption>' in shown
    assert len(re.findall(r'id="([\w-]+)"', html)) == len(set(re.findall(r'id="([\w-]+)"', html)))


def test_nothing_on_the_page_needs_a_laxer_policy(alice, acme):
    answer = signed_in(alice).get(f"/app/companies/{acme.id}")
    html = answer.content.decode()
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?![^>]*\ssrc=)", html)
    assert answer["Cache-Control"] == "private, no-cache"


def test_texts_of_users_stay_texts(api, alice, acme, bank):
    acme.name = "<b>Acme</b>"
    acme.save(update_fields=["name"])
    assert "<b>Acme" not in page(alice, acme)


def test_the_page_asks_as_many_questions_with_many_transactions_as_with_one(
    api, alice, acme, bank, django_assert_max_num_queries
):
    items = [{"accountId": bank, "date": str(TODAY - timedelta(days=n % 300)), "fromTo": "", "description": "",
              "amountValue": "1.00", "amountCurrency": "EUR"} for n in range(1000)]  # fmt: skip
    assert api.post("transactions/import", {"transactions": items}).status_code == 200
    client = signed_in(alice)
    client.get(f"/app/companies/{acme.id}")
    with django_assert_max_num_queries(21):
        client.get(f"/app/companies/{acme.id}")


# ---------------------------------------------------------------------------------------------- to whom


@pytest.mark.parametrize(
    ("permission", "hidden"),
    [
        ("balances:read", {*CASH}),
        ("financials:read", {*RESULTS}),
        ("subscriptions:read", {*RECURRING}),
    ],
)
def test_sections_that_one_may_not_see_say_so(api, acme, bank, permission, hidden):
    book(api, bank, "4711.00", TODAY)
    others = [name for name in ("balances:read", "financials:read", "subscriptions:read") if name != permission]
    dan = factories.member(acme, "dan@acme.example", role=Role.VIEWER, permissions=others)
    html = page(dan, acme)
    assert f"it needs the permission {permission}." in html
    shown = {title for title in TITLES if f">{title} in EUR</caption>" in html}
    assert shown == set(TITLES) - hidden
    assert ("4,711" in html) is (permission != "balances:read")


def test_another_company_is_not_found(carol, acme, globex):
    client = signed_in(carol)
    assert client.get(f"/app/companies/{globex.id}").status_code == 200
    for company_id in (acme.id, "nonsense"):
        assert client.get(f"/app/companies/{company_id}").status_code == 404


def test_strangers_sign_in_first(acme):
    answer = Client().get(f"/app/companies/{acme.id}")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/app/sign-in?next=%2Fapp%2Fcompanies%2F")


def test_the_home_page_tells_cash_and_recurring_revenue(api, alice, acme, bank):
    book(api, bank, "12345.00", TODAY)
    assert figures(signed_in(alice).get("/app/").content.decode()) == {"Cash": ["€12.3k"], "Committed MRR": ["€0"]}


def test_the_home_page_tells_nothing_that_one_may_not_see(api, acme, bank):
    book(api, bank, "12345.00", TODAY)
    dan = factories.member(acme, "dan@acme.example", role=Role.VIEWER, permissions=["company:read"])
    html = signed_in(dan).get("/app/").content.decode()
    assert "Acme" in html
    assert figures(html) == {}
    Membership.objects.filter(user=dan).update(permissions=["balances:read"])
    assert list(figures(signed_in(dan).get("/app/").content.decode())) == ["Cash"]
