"""The page of a company and the cards on the home page: what is shown to whom."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.test import Client

from companies.models import Membership
from companies.permissions import Role
from ledger.accounts.actions import accounts
from ledger.calc.months import add_months, get_last_day_of_month
from ledger.models import Account
from ledger.transactions.actions import transactions
from tests import factories
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
MONTH = TODAY.replace(day=1)
RUNNING = f"{MONTH:%b %Y}" if get_last_day_of_month(TODAY) == TODAY else f"{MONTH:%b %Y} (incomplete)"
CASH = ["Cash balance", "Cash flow"]
RESULTS = ["Revenue and expenses", "Plan vs. actual"]
RECURRING = ["Committed MRR", "Committed MRR bridge"]
TITLES = [*CASH, *RESULTS, *RECURRING]


def sign_in(user):
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def get_overview(user, company, query=""):
    answer = sign_in(user).get(f"/app/companies/{company.id}{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def find_section(html, title):
    """The section under a heading."""
    return next(part for part in html.split("<section")[1:] if f">{title}</h2>" in part).split("</section>")[0]


def parse_table_rows(html):
    """The table's rows: first cell -> the others."""
    result = re.findall(r'<tr[^>]*><th scope="row">(.*?)</th>(.*?)</tr>', re.sub(r"</?a\b[^>]*>", "", html))
    return {name: re.findall(r"<td>(.*?)</td>", cells) for name, cells in result}


def parse_key_figures(html):
    """Key figure -> its text and what is said of it."""
    result = re.findall(r"<dt>([^<]+)</dt>((?:\s*<dd[^>]*>[^<]*</dd>)+)", html)
    return {name: re.findall(r">([^<]*)</dd>", rest) for name, rest in result}


def create_transaction(api, bank, amount, day, currency="EUR"):
    answer = api.post(
        "transactions", {"accountId": bank, "date": str(day), "amountValue": amount, "amountCurrency": currency}
    )
    assert answer.status_code == 201, answer.content
    return answer.json()["id"]


# ---------------------------------------------------------------------------------------------- what is shown


def test_overview_cash_is_balance_of_cash_accounts_today(api, alice, acme, bank):
    create_transaction(api, bank, "1000.00", TODAY - timedelta(days=40))
    create_transaction(api, bank, "-250.50", TODAY - timedelta(days=3))
    html = get_overview(alice, acme)
    assert parse_key_figures(html)["Cash"][0] == "€750"
    assert parse_key_figures(html)["Change in 30 days"] == ["−€251", "25.1 % of €1k"]
    table = parse_table_rows(find_section(html, "Cash balance"))
    assert table[f"{TODAY:%-d %b %Y}"] == ["749.50", "–", "0.00"]
    assert table[f"{TODAY - timedelta(days=4):%-d %b %Y}"] == ["1,000.00", "–", "0.00"]


def test_overview_cash_flow_shows_actual_and_planned_separately(api, alice, acme, bank):
    create_transaction(api, bank, "500.00", MONTH)
    planned = {"accountId": bank, "name": "Rent", "startDate": str(get_next_month()), "amountValue": "-80.00"}
    assert api.post("planned_transactions", planned).status_code == 201
    flow = find_section(get_overview(alice, acme), "Cash flow")
    assert parse_table_rows(flow)[RUNNING] == ["500.00", "0.00", "0.00", "0.00", "500.00"]
    assert parse_table_rows(flow)[f"{get_next_month():%b %Y}"] == ["0.00", "0.00", "0.00", "80.00", "−80.00"]
    assert flow.count('class="bar s-inflow"') == 1
    assert flow.count('class="bar s-planned-outflow"') == 1
    assert flow.count('class="current-period"') == 1


def get_next_month():
    return (MONTH + timedelta(days=32)).replace(day=1)


def test_overview_shows_revenue_next_to_expenses(api, alice, acme, bank, books):
    categories = {row["systemKey"]: row["id"] for row in api.get("categories").json()}
    for amount, key in (("300.00", "revenueRecurring"), ("-120.00", "hosting")):
        selection = {"mode": "ids", "ids": [create_transaction(api, bank, amount, MONTH)]}
        body = {"selection": selection, "categoryId": categories[key]}
        assert api.post("transactions/categorize", body).status_code == 200
    shown = find_section(get_overview(alice, acme), "Revenue and expenses")
    assert parse_table_rows(shown)[RUNNING] == [
        "300.00", "300.00", "0.00", "0.00", "0.00", "120.00", "120.00", "0.00", "0.00", "0.00", "180.00",
    ]  # fmt: skip
    assert re.findall(r"</svg>([^<]+)</li>", shown) == ["Recurring", "Cost of revenue"]


def test_committed_mrr_counts_from_committed_date(api, alice, acme):
    customer = factories.make_customer(acme)
    subscription = api.post("subscriptions", {"customerId": str(customer.id)}).json()["id"]
    event = {
        "subscriptionId": subscription, "effectiveDate": str(get_next_month()), "committedDate": str(TODAY),
        "amountValue": "90.00", "amountCurrency": "EUR",
    }  # fmt: skip
    assert api.post("subscription_events", event).status_code == 201
    html = get_overview(alice, acme)
    assert parse_key_figures(html)["MRR"] == ["€0", "at the end of the month"]
    assert parse_key_figures(html)["Committed MRR"][0] == "€90"
    assert parse_key_figures(html)["Contracted customers"] == ["1", "+1 this month"]
    assert parse_table_rows(find_section(html, "Committed MRR"))[RUNNING] == ["90.00", "1"]


def test_overview_runway_is_cash_divided_by_burn_of_last_whole_months(api, alice, acme, bank):
    create_transaction(api, bank, "10000.00", MONTH - timedelta(days=300))
    for back in (5, 35, 66):
        create_transaction(api, bank, "-500.00", MONTH - timedelta(days=back))
    assert parse_key_figures(get_overview(alice, acme))["Runway"] == [
        "17 months",
        "−€500 a month without new financing, average of the last 3 months",
    ]


def test_overview_runway_is_zero_if_cash_is_negative(api, alice, acme, bank):
    create_transaction(api, bank, "300.00", MONTH - timedelta(days=5))
    create_transaction(api, bank, "-400.00", TODAY)
    assert parse_key_figures(get_overview(alice, acme))["Runway"] == ["0 months", "cash is below zero"]


def test_key_figure_too_long_to_read_is_abbreviated(api, alice, acme, bank):
    create_transaction(api, bank, "123456789.50", TODAY)
    assert parse_key_figures(get_overview(alice, acme))["Cash"][0] == "€123,456,790"
    create_transaction(api, bank, "987654321012345.67", TODAY)
    html = get_overview(alice, acme)
    assert parse_key_figures(html)["Cash"][0] == "€988T"
    assert parse_table_rows(find_section(html, "Accounts"))["All accounts"][0] == "987,654,444,469,135.17"


def test_chart_axis_omits_currency_written_in_letters(alice):
    zurich = factories.make_company(name="Zurich", base_currency="CHF")
    member = factories.make_member(zurich, "ueli@zurich.example")
    bank = accounts.create_account(
        company=zurich, context=factories.make_audit_context(), values={"type": "bank", "name": "Main"}
    )
    values = {"account_id": bank.id, "date": TODAY, "amount_value": "12500"}
    transactions.create_transaction(company=zurich, context=factories.make_audit_context(), values=values)
    html = get_overview(member, zurich)
    assert parse_key_figures(html)["Cash"][0] == "CHF\u202f12,500"
    ticks = re.findall(r"<text[^>]*>([^<]+)</text>", find_section(html, "Cash balance").split('class="plot"')[0])
    assert ticks
    assert not any("CHF" in tick for tick in ticks)


def test_overview_runway_says_no_burn_if_income_exceeds_spending(api, alice, acme, bank):
    create_transaction(api, bank, "300.00", MONTH - timedelta(days=5))
    assert parse_key_figures(get_overview(alice, acme))["Runway"] == [
        "No burn",
        "+€300 without new financing in the last month",
    ]


@pytest.mark.parametrize("amount", ["0.01", "-999999999999999.99", "999999999999999.99"])
def test_balance_chart_draws_any_amount(api, alice, acme, bank, amount):
    create_transaction(api, bank, amount, TODAY)
    assert "<path" in find_section(get_overview(alice, acme), "Cash balance")


def test_overview_in_yen_has_no_decimals(alice):
    tokyo = factories.make_company(name="Tokyo", base_currency="JPY")
    member = factories.make_member(tokyo, "yuki@tokyo.example")
    html = get_overview(member, tokyo)
    assert parse_key_figures(html)["Cash"][0] == "¥0"
    assert parse_table_rows(find_section(html, "Committed MRR"))[RUNNING] == ["0", "0"]


def test_overview_of_empty_company_shows_all_sections(alice, acme):
    html = get_overview(alice, acme)
    assert [title for title in TITLES if f"{title}</h2>" in html] == TITLES
    assert parse_table_rows(find_section(html, "Accounts")) == {"All accounts": ["0.00", "0.00"]}
    assert parse_key_figures(html)["Runway"] == ["–", "no full month of transactions yet"]


def test_revenue_of_own_categories_alone_is_called_revenue(api, alice, acme, bank, books):
    """Beside recurring, usage or one-off revenue it is other revenue."""
    category = api.post("categories", {"name": "Projects", "plTypes": ["revenue"]}).json()["id"]
    for category_id, labels in (
        (category, ["Revenue"]),
        (books.get_category_id("revenueUsage"), ["Usage", "Other revenue"]),
    ):
        paid = create_transaction(api, bank, "70.00", TODAY)
        books.set_categorizations(paid, {"categoryId": category_id, "plSplit": {"revenue": 70}})
        section = find_section(get_overview(alice, acme), "Revenue and expenses")
        assert re.findall(r"</svg>([^<]+)</li>", section) == labels


def test_overview_links_to_uncategorized_transactions(api, alice, acme, bank, books):
    assert "not yet in revenue and expenses." not in get_overview(alice, acme)
    done = create_transaction(api, bank, "-70.00", MONTH)
    books.set_categorizations(done, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -70}})
    create_transaction(api, bank, "-120.00", MONTH)
    create_transaction(api, bank, "30.00", TODAY)
    html = get_overview(alice, acme)
    notice = html.split('<p class="notice info" role="status">')[1].split("</p>")[0]
    address, label = re.findall(r'<a href="([^"]+)">([^<]+)</a>', notice)[0]
    assert (label, notice.partition("</a>, ")[2]) == (
        "2 uncategorized transactions", "inflow of €30 and outflow of €120 are not yet in revenue and expenses.",
    )  # fmt: skip
    listed = sign_in(alice).get(address.replace("&amp;", "&"))
    assert listed.status_code == 200
    assert "120.00" in listed.content.decode()
    assert "70.00" not in listed.content.decode()
    blind = factories.make_member(acme, "dora@acme.example", role=Role.VIEWER, permissions=["financials:read"])
    assert "2 uncategorized transactions" in get_overview(blind, acme)


def test_uncategorized_notice_counts_remainder_of_partly_split_transaction(api, alice, acme, bank, books):
    half = create_transaction(api, bank, "-30.00", MONTH)
    books.set_categorizations(half, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -20}})
    create_transaction(api, bank, "-7.00", MONTH)
    notice = get_overview(alice, acme).split('<p class="notice info" role="status">')[1].split("</p>")[0]
    assert notice.partition("</a>, ")[2] == (
        "outflow of €17 is not yet in revenue and expenses. 1 is partly categorized: only its remainder counts here."
    )
    address = re.search(r'href="([^"]+)"', notice)[1]
    assert read_list_total(alice, f"{address}&amp;total=true") == ("−€37.00", 2)


def test_empty_charts_explain_where_numbers_come_from(api, alice, acme, bank):
    create_transaction(api, bank, "1000.00", TODAY)
    html = get_overview(alice, acme)
    drawn = {title for title in TITLES if 'class="plot"' in find_section(html, title)}
    assert drawn == {*CASH}
    assert "No categorized transactions in this period. Categorize transactions in the inbox." in find_section(
        html, "Revenue and expenses"
    )
    assert "No subscriptions in this period. Add them under Recurring revenue, or import them." in find_section(
        html, "Committed MRR"
    )
    assert parse_table_rows(find_section(html, "Committed MRR"))  # the numbers are there all the same


def test_overview_accepts_any_period_and_keeps_period_in_links(api, alice, acme, bank):
    create_transaction(api, bank, "100.00", "2024-03-10")
    create_transaction(api, bank, "-30.00", "2024-04-02")
    html = get_overview(alice, acme, "?startDate=2024-03-05&endDate=2024-04-20&comparison=previousYear")
    assert parse_key_figures(html)["Cash on 20 Apr 2024"][0] == "€70"
    assert "Lowest forecast" not in parse_key_figures(html)
    assert parse_table_rows(find_section(html, "Cash flow")) == {
        "Mar 2024": ["100.00", "0.00", "0.00", "0.00", "100.00"],
        "Apr 2024": ["0.00", "30.00", "0.00", "0.00", "−30.00"],
    }  # fmt: skip
    assert [*parse_table_rows(find_section(html, "Committed MRR"))] == ["Mar 2024", "Apr 2024"]
    assert "cash-flow.csv?startDate=2024-03-05&endDate=2024-04-20&comparison=previousYear" in unescape(html)
    assert 'href="?months=6&comparison=previousYear"' in unescape(html)


@pytest.mark.parametrize(
    ("comparison", "days", "cells"),
    [
        ("previousYear", "1 Nov 2025 to 30 Nov 2025", ["1,000.00", "27.00", "+973.00"]),
        ("previousPeriod", "1 Oct 2026 to 31 Oct 2026", ["1,000.00", "38.00", "+962.00"]),
    ],
)
def test_overview_compares_full_months_for_revenue_and_same_days_for_cash(
    api, alice, acme, bank, books, monkeypatch, comparison, days, cells
):
    noon = datetime(2026, 11, 22, 12, tzinfo=UTC)
    monkeypatch.setattr("analytics.reports.overview.timezone.now", lambda: noon)
    for day, amount in (
        ("2026-11-05", 100), ("2026-11-28", 900), ("2026-10-22", 30), ("2026-10-23", 8), ("2026-09-30", 4),
        ("2025-11-22", 20), ("2025-11-23", 7),
    ):  # fmt: skip
        made = create_transaction(api, bank, f"{amount}.00", day)
        part = {"categoryId": books.get_category_id("revenueOther"), "plSplit": {"revenue": amount}}
        assert books.set_categorizations(made, part).status_code == 200
    html = get_overview(alice, acme, f"?startDate=2026-11-01&endDate=2026-12-31&comparison={comparison}")
    compared = find_section(html, "Revenue and expenses compared")
    assert days in compared
    assert days.replace("31 Oct", "22 Oct").replace("30 Nov", "22 Nov") in find_section(
        html, "Cash and cash flow compared"
    )
    row = next(row for row in compared.split("<tr") if "Revenue</th>" in row)
    assert re.findall(r"<td[^>]*>([^<]*)</td>", row) == cells


@pytest.mark.parametrize(("comparison", "then"), [("previousYear", "2023-03-11"), ("previousPeriod", "2024-01-20")])
def test_overview_compares_with_previous_period_or_previous_year(api, alice, acme, bank, books, comparison, then):
    create_transaction(api, bank, "10.00", "2023-01-01")
    for amount, day in (("100.00", "2024-03-10"), ("40.00", then)):
        part = {"categoryId": books.get_category_id("revenueOneOff"), "plSplit": {"revenue": float(amount)}}
        books.set_categorizations(create_transaction(api, bank, amount, day), part)
    create_transaction(api, bank, "-25.00", "2024-03-12")
    html = get_overview(alice, acme, f"?startDate=2024-03-01&endDate=2024-04-30&comparison={comparison}")
    assert parse_table_rows(find_section(html, "Cash and cash flow compared")) == {
        "Money in": ["100.00", "40.00", "+60.00"], "Money out": ["25.00", "0.00", "+25.00"],
        "Net": ["75.00", "40.00", "+35.00"], "Closing cash": ["125.00", "50.00", "+75.00"],
    }  # fmt: skip
    assert parse_table_rows(find_section(html, "Revenue and expenses compared"))["Revenue"] == [
        "100.00",
        "40.00",
        "+60.00",
    ]
    assert "compared" not in get_overview(alice, acme, "?startDate=2024-03-01&endDate=2024-04-30")


def read_list_total(user, address):
    """What the page of an address comes to, and how many rows it says."""
    answer = sign_in(user).get(unescape(address))
    assert answer.status_code == 200
    amount, count = re.search(
        r'class="list-total"[^>]*>\s*<strong>([^<]+)</strong> (?:in|recognized in this period from) (\d+) ',
        answer.content.decode(),
    ).groups()
    return amount, int(count)


def list_row_links(html, name):
    """The addresses of the cells of a table's row."""
    row = re.search(rf'<th scope="row">(?:<a [^>]*>)?{re.escape(name)}(?:</a>)?</th>(.*?)</tr>', html)[1]
    return [(result := re.search(r'href="([^"]+)"', cell)) and result[1] for cell in row.split("</td>")[:-1]]


def test_cash_flow_bars_link_to_their_transactions(api, alice, acme, bank, books):
    transit = books.create_account(name="Transit", type="transit")
    api.put(f"accounts/{bank}/initial_balance", {"date": str(MONTH), "amountValue": "5000.00"})
    for account, amount in ((bank, "300.00"), (bank, "20.00"), (bank, "-120.00"), (transit, "77.00")):
        create_transaction(api, account, amount, MONTH)
    out, into = (
        create_transaction(api, bank, "-9.00", MONTH),
        create_transaction(api, books.create_account(name="Other"), "9.00", MONTH),
    )
    assert books.link_transfer(out, into).status_code == 200
    html = get_overview(alice, acme)
    inflow, outflow, *_ = list_row_links(find_section(html, "Cash flow"), RUNNING)
    assert read_list_total(alice, inflow) == ("€320.00", 2)
    assert read_list_total(alice, outflow) == ("−€120.00", 1)


def test_revenue_and_expense_amounts_link_to_their_transactions(api, alice, acme, bank, books):
    for amount, key, line in (
        ("300.00", "revenueRecurring", "revenue"),
        ("7.00", "revenueOther", "revenue"),
        ("-120.00", "hosting", "cogs"),
    ):
        part = {"categoryId": books.get_category_id(key), "plSplit": {line: float(amount)}}
        books.set_categorizations(create_transaction(api, bank, amount, MONTH), part)
    shown = find_section(get_overview(alice, acme), "Revenue and expenses")
    cells = dict(zip(parse_table_rows(shown)[RUNNING], list_row_links(shown, RUNNING), strict=False))
    assert read_list_total(alice, cells["300.00"]) == ("€300.00", 1)
    assert read_list_total(alice, cells["7.00"]) == ("€7.00", 1)
    assert read_list_total(alice, cells["120.00"]) == ("−€120.00", 1)


def test_cash_line_days_link_to_booked_or_expected_movements(api, alice, acme, bank):
    tomorrow, later = TODAY + timedelta(days=1), TODAY + timedelta(days=9)
    last = get_last_day_of_month(add_months(MONTH, 6))
    create_transaction(api, bank, "100.00", TODAY)
    create_transaction(api, bank, "-30.00", tomorrow)
    for name, day, amount in (("Late rent", TODAY - timedelta(days=3), "-80.00"), ("New rent", later, "-90.00")):
        planned = {"accountId": bank, "name": name, "startDate": str(day), "amountValue": amount}
        assert api.post("planned_transactions", planned).status_code == 201
    html = get_overview(alice, acme)
    shown = find_section(html, "Cash balance")
    address = {day: re.search(rf'href="([^"]+)">{day:%-d %b %Y}<', shown)[1] for day in (TODAY, tomorrow, later)}
    opened = {day: sign_in(alice).get(unescape(url)).content.decode() for day, url in address.items()}
    assert "€100.00" in opened[TODAY]
    assert "€0.00 in, €110.00 out, −€110.00 net" in opened[tomorrow]
    assert f"overdue since {TODAY - timedelta(days=3):%-d %b %Y}" in opened[tomorrow]
    assert "€90.00 out" in opened[later]
    assert "New rent" in opened[later]
    table = parse_table_rows(shown)
    assert [table[f"{day:%-d %b %Y}"][1] for day in (tomorrow, later)] == ["−10.00", "−100.00"]
    assert parse_key_figures(html)["Lowest forecast"] == [
        "−€100",
        f"on {later:%-d %b %Y}: lowest planned balance to {last:%-d %b %Y}; below zero from {tomorrow:%-d %b %Y}",
    ]
    assert "1 overdue planned transaction" in html


def test_overview_names_account_with_balance_mismatch(alice, acme, bank):
    bank_connection = {
        "balanceMismatchSince": "2026-01-31T00:00:00Z", "balanceMismatchReportedBalances": [120.5],
        "balanceMismatchCalculatedBalance": 100,
    }  # fmt: skip
    Account.objects.filter(id=bank).update(bank_connection=bank_connection)
    html = get_overview(alice, acme)
    place = f"/app/companies/{acme.id}/accounts/{bank}#reconciliation"
    assert f'<a href="{place}">Main is out of balance</a>' in html
    assert "since 31 Jan 2026: statement €120.50, ledger €100.00." in html


# ---------------------------------------------------------------------------------------------- how it is made


def test_chart_has_title_description_and_table_of_numbers(api, alice, acme, bank):
    create_transaction(api, bank, "1000.00", TODAY)
    html = get_overview(alice, acme)
    for title in CASH:
        shown = find_section(html, title)
        assert re.search(r'<svg class="plot"[^>]+role="img"\s+aria-labelledby="([\w-]+)-title \1-desc"', shown)
        assert f">{title}</title>" in shown
        assert re.search(r"<desc id=[^>]+>[^<]{20,}</desc>", shown)
        assert '<th scope="col">' in shown
        assert f'<caption class="sr">{title} in EUR</caption>' in shown
    assert len(re.findall(r'id="([\w-]+)"', html)) == len(set(re.findall(r'id="([\w-]+)"', html)))


def test_overview_needs_no_unsafe_content_security_policy(alice, acme):
    answer = sign_in(alice).get(f"/app/companies/{acme.id}")
    html = answer.content.decode()
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?![^>]*\ssrc=)", html)
    assert answer["Cache-Control"] == "private, no-cache"


def test_overview_escapes_user_text(api, alice, acme, bank):
    acme.name = "<b>Acme</b>"
    acme.save(update_fields=["name"])
    assert "<b>Acme" not in get_overview(alice, acme)


def test_overview_queries_do_not_grow_with_transactions(api, alice, acme, bank, django_assert_max_num_queries):
    items = [{"accountId": bank, "date": str(TODAY - timedelta(days=n % 300)), "fromTo": "", "description": "",
              "amountValue": "1.00", "amountCurrency": "EUR"} for n in range(1000)]  # fmt: skip
    assert api.post("transactions/import", {"transactions": items}).status_code == 200
    client = sign_in(alice)
    client.get(f"/app/companies/{acme.id}")
    with django_assert_max_num_queries(26):
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
def test_overview_section_names_missing_permission(api, acme, bank, permission, hidden):
    create_transaction(api, bank, "4711.00", TODAY)
    others = [name for name in ("balances:read", "financials:read", "subscriptions:read") if name != permission]
    dan = factories.make_member(acme, "dan@acme.example", role=Role.VIEWER, permissions=others)
    html = get_overview(dan, acme)
    assert f"It needs the permission {permission}." in html
    shown = {title for title in TITLES if f">{title} in EUR</caption>" in html}
    assert shown == set(TITLES) - hidden
    assert ("4,711" in html) is (permission != "balances:read")


def test_home_page_shows_cash_and_committed_mrr(api, alice, acme, bank):
    create_transaction(api, bank, "12345.00", TODAY)
    assert parse_key_figures(sign_in(alice).get("/app/").content.decode()) == {
        "Cash": ["€12.3k"],
        "Committed MRR": ["€0"],
    }


def test_home_page_hides_figures_without_permission(api, acme, bank):
    create_transaction(api, bank, "12345.00", TODAY)
    dan = factories.make_member(acme, "dan@acme.example", role=Role.VIEWER, permissions=["company:read"])
    html = sign_in(dan).get("/app/").content.decode()
    assert "Acme" in html
    assert parse_key_figures(html) == {}
    Membership.objects.filter(user=dan).update(permissions=["balances:read"])
    assert list(parse_key_figures(sign_in(dan).get("/app/").content.decode())) == ["Cash"]


def test_overview_url_with_trailing_slash_redirects(alice, carol, acme):
    for query in ("", "?months=6&comparison=previousYear"):
        answer = sign_in(alice).get(f"/app/companies/{acme.id}/{query}")
        assert (answer.status_code, answer["Location"]) == (302, f"/app/companies/{acme.id}{query}")
    assert sign_in(carol).get(f"/app/companies/{acme.id}/").status_code == 404


@pytest.mark.parametrize(("role", "led"), [(Role.EDITOR, True), (Role.VIEWER, False)])
def test_empty_plan_section_links_to_plan_for_members_who_may_edit(acme, role, led):
    person = factories.make_member(acme, "dan@example.com", role=role)
    part = find_section(get_overview(person, acme), "Plan vs. actual")
    assert "Nothing to compare yet. Fill in the plan and categorize transactions." in part
    assert (f'<a href="/app/companies/{acme.id}/plan">Fill in the plan</a>' in part) == led
