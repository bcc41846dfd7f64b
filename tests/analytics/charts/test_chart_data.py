"""One set of numbers: each chart's table, its file and the data query of the API say the same."""

import csv
import gzip
import io
import re
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from html import escape

import pytest
from django.test import Client

from analytics.charts.amount_format import format_compact_amount
from companies.models import Company, Membership
from companies.permissions import Role
from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month
from ledger.models import AccountType, Transaction
from ledger.money.calc.fx import convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from tests import factories
from tests.conftest import Api
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
MONTH = get_first_day_of_month(TODAY)
START = add_months(MONTH, -11)
CHARTS = ("cash-balance", "accounts", "cash-flow", "revenue-expenses", "plan-actual", "mrr", "mrr-bridge")
LINES = {
    "revenue": "Revenue", "cogs": "Cost of revenue", "cac": "Sales and marketing", "pd": "Product development",
    "ga": "General and administration", "no": "Non-operating",
}  # fmt: skip
MOVEMENTS = ("new", "reactivate", "upgrade", "downgrade", "cancel", "currency")


class ChartPage:
    """A company in a browser and over the API."""

    def __init__(self, company, key):
        self.company, self.api = company, Api(company, key=key)
        self.client = Client()
        owner = Membership.objects.for_company(company.id).get(role=Role.OWNER).user
        self.client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
        self.path = f"/app/companies/{company.id}"

    def page(self, query=""):
        return self.client.get(f"{self.path}{query}").content.decode()

    def file(self, chart, query=""):
        """Rows of the file, its head first."""
        answer = self.client.get(f"{self.path}/overview/{chart}.csv{query}")
        assert answer.status_code == 200, answer.content
        return list(csv.reader(io.StringIO(answer.content.decode())))

    def numbers(self, chart, query=""):
        """First cell of each row -> its numbers."""
        return {name: [parse_plain_number(cell) for cell in cells] for name, *cells in self.file(chart, query)[1:]}

    def ask(self, query, **question):
        answer = self.api.post(f"data/{query}", question)
        assert answer.status_code == 200, answer.content
        return answer.json()


@pytest.fixture(scope="module")
def chart_page(make_demo_company):
    with make_demo_company(name="Shown", months=14, now=datetime.now(tz=UTC)) as made:
        yield ChartPage(Company.objects.get(id=made.company_id), made.api_key)


def parse_plain_number(text):
    """A cell of a file as a number; None where it is empty."""
    return Decimal(text) if text else None


def to_decimal(value):
    """What the API answered, as a decimal."""
    return None if value is None else Decimal(str(value))


def parse_chart_table(html, chart):
    """(cells of the head, rows of cells) of a chart's table as texts."""
    part = html.split(f'aria-labelledby="{chart}-heading"')[1].split("</section>")[0]
    head = re.findall(r'<th scope="col">(.*?)</th>', part)
    return head, [
        re.findall(r"<t[hd][^>]*>(?:<a [^>]*>)?(.*?)(?:</a>)?</t[hd]>", row)
        for row in re.findall(r"<tr[^>]*>(<th scope=\"row\".*?)</tr>", part)
    ]


def format_plain_cell(text):
    """What a cell of the page says, as the file writes it."""
    text = re.sub(r'<span class="(?:good|bad)">(\S+) <span[^>]*>\w+</span></span>', r"\1", text)
    return "" if text == "–" else text.replace("−", "-").replace(",", "").replace("+", "").removesuffix(" %")


def format_day_cell(text):
    """A row's name of the page as the file writes it, where it is a day or a month."""
    for pattern, written in (("%d %b %Y", "%Y-%m-%d"), ("%b %Y", "%Y-%m")):
        try:
            return datetime.strptime(text.removesuffix(" (incomplete)"), pattern).strftime(written)
        except ValueError:
            continue
    return text


# ---------------------------------------------------------------------------------------------- the page and the files


def test_chart_csv_has_same_numbers_as_chart_table(chart_page):
    for chart in CHARTS:
        head, rows = parse_chart_table(chart_page.page(), chart)
        written = chart_page.file(chart)
        assert [re.sub(r" \((EUR|%)\)$", "", name) for name in written[0]] == head, chart
        read = [[format_day_cell(name), *map(format_plain_cell, cells)] for name, *cells in rows]
        assert sorted(read) == sorted(written[1:]), chart
        assert len(written) > 2, chart
        assert f'href="{chart_page.path}/overview/{chart}.csv?months=12"' in chart_page.page()


def test_chart_has_title_description_and_table_caption(chart_page):
    for chart in [chart for chart in CHARTS if chart != "accounts"]:
        part = chart_page.page().split(f'aria-labelledby="{chart}-heading"')[1].split("</section>")[0]
        title = re.search(rf'<title id="{chart}-title">([^<]+)</title>', part)[1]
        assert re.search(rf'<svg class="plot[^>]+role="img"\s+aria-labelledby="{chart}-title {chart}-desc"', part)
        assert re.search(rf'<desc id="{chart}-desc">[^<]{{20,}}</desc>', part)
        assert f'<caption class="sr">{title} in EUR</caption>' in part, chart
        assert 'class="chart-message"' not in part, chart


def test_chart_csv_has_iso_dates_plain_decimals_and_descriptive_headers(chart_page):
    answer = chart_page.client.get(f"{chart_page.path}/overview/cash-balance.csv?months=6")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    name = f"cash-balance-{add_months(MONTH, -5)}-{TODAY}.csv"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert answer["Cache-Control"] == "private, no-cache"
    lines = answer.content.decode().split("\r\n")
    assert lines[0] == "Day,Cash (EUR),Projected cash (EUR),Other accounts (EUR)"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d,-?\d+\.\d\d,,-?\d+\.\d\d", lines[1])


@pytest.mark.parametrize("months", [6, 12])
def test_chart_csv_covers_period_of_the_page(chart_page, months):
    rows = [row for row in chart_page.file("cash-balance", f"?months={months}") if row[0] <= str(TODAY)]
    assert len(rows) == (TODAY - add_months(MONTH, 1 - months)).days + 1
    assert len(chart_page.file("mrr", f"?months={months}")) == 1 + months
    assert f'overview/mrr.csv?months={months}"' in chart_page.page(f"?months={months}")


@pytest.mark.parametrize(("path", "status"), [("nonsense.csv", 404), ("mrr.csv?months=7", 404), ("mrr", 404)])
def test_chart_csv_of_unknown_path_is_rejected(chart_page, path, status):
    assert chart_page.client.get(f"{chart_page.path}/overview/{path}").status_code == status


def test_chart_csv_requires_permission_of_its_chart(acme, carol):
    dan = factories.make_member(acme, "dan@acme.example", role=Role.VIEWER, permissions=["balances:read"])
    statuses = {}
    for user in (dan, carol):
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        path = f"/app/companies/{acme.id}/overview"
        statuses[user.email] = [client.get(f"{path}/{chart}.csv").status_code for chart in CHARTS]
    assert statuses[dan.email] == [200] * 3 + [403] * 4
    assert statuses[carol.email] == [404] * 7
    assert Client().get(f"/app/companies/{acme.id}/overview/mrr.csv").status_code == 302


def test_chart_csv_escapes_names_that_look_like_formulas(api, alice, acme):
    assert api.post("accounts", {"type": "bank", "name": '=HYPERLINK("https://evil.example")'}).status_code == 201
    client = Client()
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    answer = client.get(f"/app/companies/{acme.id}/overview/accounts.csv").content.decode()
    (row, _) = list(csv.reader(io.StringIO(answer)))[1:]
    assert row[0] == '\'=HYPERLINK("https://evil.example")'


# ---------------------------------------------------------------------------------------------- the API


def test_cash_balance_chart_matches_balance_by_cash_type_query(chart_page):
    answer = chart_page.ask("balanceByCashType", startDate=str(START), endDate=str(TODAY))
    assert {day: cells for day, cells in chart_page.numbers("cash-balance").items() if day <= str(TODAY)} == {
        cash["date"]: [to_decimal(cash["value"]), None, to_decimal(other["value"])]
        for cash, other in zip(answer["cash"], answer["nonCash"], strict=True)
    }


@pytest.mark.parametrize("ahead", [0, 1, 40, 700, 1500])
def test_projected_cash_chart_matches_balance_forecast_query(chart_page, ahead):
    end = TODAY + timedelta(days=ahead)
    query = f"?startDate={START}&endDate={end}"
    answer = chart_page.ask("forecastBalanceTimeSeries", startDate=str(START), endDate=str(end))
    if ahead > 365:
        answer |= {
            "projected": chart_page.ask(
                "forecastBalanceTimeSeries", startDate=str(START), endDate=str(end), interval="month"
            )["projected"]
        }
    rows = {
        name: [parse_plain_number(cell) for cell in cells]
        for name, *cells in chart_page.file("cash-balance", query)[1:]
    }
    length = 10 if ahead <= 365 else 7
    assert {day: cells[1] for day, cells in rows.items() if cells[1] is not None} == {
        point["date"][:length]: to_decimal(point["value"]) for point in answer["projected"]
    }
    page = chart_page.page(query)
    if ahead:
        points = [(point["date"], to_decimal(point["value"])) for point in (answer["actual"][-1], answer["lowest"])]
        day, value = min(points, key=lambda point: point[1])
        mark = f"Lowest {format_compact_amount(value, 'EUR')}, {date.fromisoformat(day):%-d %b}"
        assert mark in page
        assert ("below zero from" in page) is (answer["belowZero"] is not None)
    else:
        assert 'class="point-mark' not in page


def test_accounts_table_matches_account_balance_by_account_query(chart_page):
    answer = chart_page.ask(
        "accountBalanceByAccount", startDate=str(START), endDate=str(TODAY), accountTypes=list(AccountType.values)
    )
    results = chart_page.numbers("accounts")
    total, cash = results.pop("All accounts"), results.pop("Cash accounts")
    assert cash[0] == chart_page.numbers("cash-balance")[str(TODAY)][0]
    assert results == {
        each["accountName"]: [to_decimal(each["value"]), to_decimal(each["valueChange"])] for each in answer.values()
    }
    assert total[0] == sum(filter(None, chart_page.numbers("cash-balance")[str(TODAY)]))


@pytest.mark.parametrize("months", [6, 12, 24])
def test_accounts_table_change_is_balance_difference_less_initial_balances(chart_page, months):
    query = f"?months={months}"
    rows = [row for row in chart_page.file("cash-balance", query)[1:] if row[0] <= str(TODAY)]
    last = parse_plain_number(rows[-1][1]) + parse_plain_number(rows[-1][3])
    eve = str(add_months(MONTH, 1 - months) - timedelta(days=1))
    before = chart_page.ask("balanceByCashType", startDate=eve, endDate=eve)
    first = sum(to_decimal(before[name][0]["value"]) for name in ("cash", "nonCash"))
    opened = [
        convert_currency(
            row.amount_value, source=row.amount_currency, target="EUR", day=row.date, rates=get_rate_table()
        )
        for row in Transaction.objects.for_company(chart_page.company.id).initial_balances().filter(date__gt=eve)
    ]
    change = parse_plain_number(chart_page.file("accounts", query)[-1][2])
    assert change == last - first - sum(round_half_up(each, "EUR") for each in opened) != 0


def test_accounts_table_includes_emptied_archived_account(api, alice, acme):
    old, new = (api.post("accounts", {"name": name, "type": "bank"}).json()["id"] for name in ("Old", "New"))
    for account, day, amount in (
        (old, START - timedelta(days=1), "100.00"),
        (old, TODAY, "-100.00"),
        (new, TODAY, "100.00"),
    ):
        body = {"accountId": account, "date": str(day), "amountValue": amount}
        assert api.post("transactions", body).status_code == 201
    assert api.put(f"accounts/{old}/archive").status_code == 200
    visitor = Client()
    visitor.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    answer = visitor.get(f"/app/companies/{acme.id}/overview/accounts.csv")
    _, *rows = csv.reader(io.StringIO(answer.content.decode()))
    assert sorted(rows) == [["All accounts", "100.00", "0.00"], ["New", "100.00", "100.00"], ["Old", "0.00", "-100.00"]]


def test_cash_flow_chart_matches_cash_flow_forecast_query(chart_page):
    end = get_last_day_of_month(add_months(MONTH, 6))
    answer = chart_page.ask(
        "forecastCashFlowTimeSeries", startDate=str(add_months(MONTH, -11)), endDate=str(end), interval="month"
    )
    series = [answer[name] for name in ("inflow", "outflow", "plannedInflow", "plannedOutflow")]
    for points, (name, cells) in zip(zip(*series, strict=True), chart_page.numbers("cash-flow").items(), strict=True):
        assert points[0]["date"][:7] == name
        inflow, outflow, planned_in, planned_out = values = [to_decimal(point["value"]) for point in points]
        assert cells == [*values, inflow + planned_in - outflow - planned_out]


def test_revenue_expenses_chart_matches_revenue_expenses_bar_query(chart_page):
    answer = chart_page.ask("revenueExpensesBar", startDate=str(add_months(MONTH, -11)), endDate=str(TODAY))
    for row in answer:
        revenue = [to_decimal(row[f"revenue{kind}"]) for kind in ("Recurring", "Usage", "OneOff", "Other")]
        expenses = [to_decimal(row[kind]) for kind in ("cogs", "cac", "pd", "ga")]
        assert chart_page.numbers("revenue-expenses")[row["month"]] == [
            sum(revenue), *revenue, sum(expenses), *expenses, sum(revenue) - sum(expenses),
        ]  # fmt: skip


def test_plan_actual_table_sums_profit_and_loss_query(chart_page):
    answer = chart_page.ask("profitAndLoss", startMonth=f"{MONTH:%Y}-01", endMonth=f"{MONTH:%Y-%m}")
    month, year = (defaultdict(lambda: [Decimal(0)] * 2) for _ in range(2))
    for row in answer:
        for sums in (month, year) if row["month"] == f"{MONTH:%Y-%m}" else (year,):
            pair = zip(sums[row["plType"]], (to_decimal(row["actual"]), to_decimal(row["planned"])), strict=True)
            sums[row["plType"]] = [before + more for before, more in pair]
    results = chart_page.numbers("plan-actual")
    assert [*results] == [*LINES.values(), "Result"]
    for line, name in LINES.items():
        assert results[name][:2] == month[line]
        assert results[name][4:6] == year[line]
    signs = {"revenue": 1, "no": 1} | dict.fromkeys(("cogs", "cac", "pd", "ga"), -1)
    for place, sums in ((0, month), (4, year)):
        assert results["Result"][place : place + 2] == [
            sum(sign * sums[line][side] for line, sign in signs.items()) for side in (0, 1)
        ]
    planned = {name: cells for name, cells in results.items() if cells[2] is not None}
    assert "Revenue" in planned
    for actual, plan, variance, share, *_ in planned.values():
        assert variance == actual - plan
        assert abs(share - variance * 100 / abs(plan)) <= Decimal("0.005")


def test_variance_is_labelled_favourable_or_adverse(chart_page):
    html = chart_page.page().split('aria-labelledby="plan-actual-heading"')[1].split("</section>")[0]
    results = chart_page.numbers("plan-actual")
    for name, cells in results.items():
        heading = rf'<th scope="row">(?:<a [^>]*>)?{re.escape(escape(name))}(?:</a>)?</th>'
        row = re.split(heading, html)[1].split("</tr>")[0]
        word = re.findall(r'<span class="(good|bad)">[^<]*<span[^>]*>(favourable|adverse)</span>', row)
        variances = [cells[2], cells[6]]
        is_cost = name in {LINES[line] for line in ("cogs", "cac", "pd", "ga")}
        assert word == [
            ("good", "favourable") if (variance > 0) is not is_cost else ("bad", "adverse")
            for variance in variances
            if variance
        ]


def test_operating_result_plus_non_operating_equals_plan_result(chart_page):
    """The bars leave out what is beside the business, so what is left of them is no line of the plan's. The month under
    way counts whole in both."""
    assert chart_page.file("revenue-expenses")[0][-1] == "Operating result (EUR)"
    operating = chart_page.numbers("revenue-expenses")[f"{MONTH:%Y-%m}"][-1]
    plan = chart_page.numbers("plan-actual")
    assert operating + plan["Non-operating"][0] == plan["Result"][0]


def test_mrr_charts_match_monthly_data_query(chart_page):
    answer = chart_page.ask("monthlyData", mrrType="cmrr", startMonth=f"{add_months(MONTH, -11):%Y-%m}")
    level, bridge = (chart_page.numbers(chart) for chart in ("mrr", "mrr-bridge"))
    for row in answer:
        assert level[row["month"]] == [to_decimal(row["end"]), row["endCount"]]
    first, *steps, last = bridge.values()
    assert first == [to_decimal(answer[0]["start"]), answer[0]["startCount"]]
    assert last == [to_decimal(answer[-1]["end"]), answer[-1]["endCount"]]
    counts = dict(zip(MOVEMENTS, (count for _, count in steps), strict=True))
    assert first[1] + counts["new"] + counts["reactivate"] + counts["cancel"] == last[1]
    assert counts["cancel"] < 0 < counts["new"]
    assert 0 < counts["upgrade"] < sum(row["upgradeCount"] for row in answer), "each customer once, however often"


def test_mrr_bridge_of_a_year_closes_exactly(chart_page):
    start, *moved, end = (cells[0] for cells in chart_page.numbers("mrr-bridge").values())
    assert start + sum(moved) == end
    assert sum(1 for change in moved if change) >= 3


# ---------------------------------------------------------------------------------------------- how it is drawn


def test_charts_mark_where_planned_amounts_begin(chart_page):
    html = chart_page.page()
    flow = html.split('aria-labelledby="cash-flow-heading"')[1].split("</section>")[0]
    (place,) = re.findall(r'<line class="cutover" x1="([\d.]+)%"', flow)
    month = 100 / 18
    assert 11 * month < float(place) <= 12 * month
    assert "planned →" in flow
    assert html.count('class="cutover"') == 2
    assert 'class="cutover"' in html.split('aria-labelledby="cash-balance-heading"')[1].split("</section>")[0]


def test_overview_of_demo_company_needs_few_queries(chart_page, django_assert_max_num_queries):
    chart_page.page()
    for query in ("", "?months=24&comparison=previousYear"):
        # One of them names the currencies of old rates, seven read what is settled and owed.
        with django_assert_max_num_queries(33):
            chart_page.page(query)


def test_overview_states_period_and_currency(chart_page):
    start = f"{START:%-d %b %Y}"
    assert f"{start} to {TODAY:%-d %b %Y} · in EUR" in chart_page.page()


def test_overview_page_and_assets_stay_below_transfer_size_limit(chart_page):
    """200 KB at most, as they come over the wire; the longest period."""
    client = Client(headers={"accept-encoding": "gzip"})
    client.cookies = chart_page.client.cookies
    answer = client.get(f"{chart_page.path}?months=24")
    html = gzip.decompress(answer.content).decode()
    loaded = set(re.findall(r'<(?:link|script|img)[^>]+(?:href|src)="(/[^"]+)"', html))
    assert {"/static/site.css", "/static/charts.js", "/static/mark.svg"} <= loaded
    weights = {path: len(client.get(path).getvalue()) for path in loaded} | {"": len(answer.content)}
    assert all(client.get(path).status_code == 200 for path in loaded)
    assert sum(weights.values()) < 100_000, weights
