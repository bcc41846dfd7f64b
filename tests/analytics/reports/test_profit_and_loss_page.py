"""The page of the profit and loss: every amount is the API's, and leads to rows that add up to it."""

import re
from collections import defaultdict
from datetime import UTC, datetime
from decimal import Decimal
from html import unescape

import pytest

from companies.models import Company
from companies.permissions import Role
from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month
from tests import factories
from tests.analytics.charts.test_chart_data import ChartPage, format_plain_cell, to_decimal
from tests.analytics.reports.test_overview import create_transaction, read_list_total, sign_in
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
MONTH = get_first_day_of_month(TODAY)
NAMES = {
    "Revenue": "revenue", "Cost of revenue": "cogs", "Sales and marketing": "cac", "Product development": "pd",
    "General and administration": "ga", "Non-operating": "no", "Neutral": "neutral",
}  # fmt: skip
SIGNS = {"revenue": 1, "cogs": -1, "cac": -1, "pd": -1, "ga": -1, "no": 1}
ROWS_ABOVE_SUBTOTAL = {"Gross profit": 2, "Operating result": 5, "Result": 6}  # after how many lines


@pytest.fixture(scope="module")
def shown(furnished):
    with furnished(name="Stated", months=14, transactions=400, seed=5, now=datetime.now(tz=UTC)) as made:
        yield ChartPage(Company.objects.get(id=made.company_id), made.api_key)


def parse_statement(html):
    """(periods, rows of (kind, name, cells)); a cell is (actual, planned, before, link)."""
    table = html.split('<section class="card statement"')[1].split("</table>")[0]
    head = [name.partition("<span")[0] for name in re.findall(r'<th scope="col">(.*?)</th>', table)[1:-1]]
    found = re.findall(r'<tr class="of-(\w+)"><th scope="row">(.*?)</th>(.*?)</tr>', table)
    return head, [
        (kind, unescape(name), [parse_cell(text) for text in cells.split("</td>")[:-1]]) for kind, name, cells in found
    ]


def parse_cell(text):
    link = re.search(r'href="([^"]+)"', text)
    actual = re.sub(r"<span.*", "", text)
    plan, before = (re.search(rf">{word} ([−\d.,]+)", text) for word in ("plan", "previously"))
    return (
        Decimal(format_plain_cell(re.sub(r"<[^>]+>", "", actual))),
        Decimal(format_plain_cell(plan[1])) if plan else Decimal(0),
        Decimal(format_plain_cell(before[1])) if before else None,
        link and unescape(link[1]),
    )


def format_heading(month, interval):
    """What a column of the last twelve months is headed."""
    length = {"month": 1, "quarter": 3, "year": 12}[interval]
    start = datetime.strptime(month, "%Y-%m").date()
    names = {"month": f"{start:%b %Y}", "quarter": f"Q{(start.month + 2) // 3} {start.year}", "year": f"{start.year}"}
    last = get_last_day_of_month(TODAY)
    begins, ends = max(start, add_months(MONTH, -11)), min(get_last_day_of_month(add_months(start, length - 1)), last)
    since = begins != start and f"{begins.day} {begins:%b}"
    until = ends != get_last_day_of_month(add_months(start, length - 1)) and f"to {ends.day} {ends:%b}"
    name = ", ".join(filter(None, [names[interval], until or (since and f"from {since}")]))
    return f"{name} (in progress)" if ends == last != TODAY else name


@pytest.mark.parametrize(
    ("interval", "comparison"),
    [("month", None), ("month", "previousYear"), ("quarter", "previousPeriod"), ("year", None)],
)
def test_profit_and_loss_page_amounts_match_api_and_linked_transactions(shown, interval, comparison):
    chosen = f"&comparison={comparison}" if comparison else ""
    answer = shown.client.get(f"{shown.path}/profit-and-loss?months=12&interval={interval}{chosen}")
    head, rows = parse_statement(answer.content.decode())
    told = shown.ask(
        "profitAndLoss", startMonth=f"{add_months(MONTH, -11):%Y-%m}", endMonth=f"{MONTH:%Y-%m}", interval=interval,
        **({"comparison": comparison} if comparison else {}),
    )  # fmt: skip
    found, line = {}, ""
    for kind, name, cells in rows:
        if kind == "line":
            line = NAMES[name]
        if kind == "category":
            found |= {(line, name, period): cells[place] for place, period in enumerate(head)}
            assert cells[-1][0] == sum(each[0] for each in cells[:-1])
    for row in told:
        actual, planned, before, link = found[
            row["plType"], row["categoryName"], format_heading(row["month"], interval)
        ]
        assert (actual, planned, before) == tuple(
            map(to_decimal, (row["actual"], row["planned"], row["comparisonActual"]))
        )
        assert bool(link) is bool(actual)
    linked = [(key, cells) for key, cells in found.items() if cells[3]]
    assert len(linked) > len(head)
    for _, (actual, _, _, link) in linked[:: max(len(linked) // 12, 1)]:
        page = shown.client.get(link).content.decode()
        said = re.search(r'class="list-total"[^>]*>\s*<strong>([^<]+)</strong>', page)[1]
        assert Decimal(format_plain_cell(said.replace("€", ""))) == actual, link
    check_sums(rows)


def check_sums(rows):
    sums, lines = defaultdict(list), [Decimal(0)] * 7
    for kind, name, cells in rows:
        if kind == "line":
            lines[list(NAMES.values()).index(NAMES[name])] = cells[0][0]
        if kind == "sum":
            sums[name] = cells[0][0]
    for name, count in ROWS_ABOVE_SUBTOTAL.items():
        kept = zip(list(SIGNS.values())[:count], lines, strict=False)
        assert sums[name] == sum(sign * amount for sign, amount in kept)


@pytest.mark.parametrize(("query", "planned"), [("", {}), ("&toDate=true", {"toDate": True})])
def test_profit_and_loss_page_uses_full_month_plan_by_default(api, alice, acme, bank, books, query, planned):
    hosting = books.category("hosting")
    amount = {"type": "fixed", "amount": {"value": 3000, "currency": "EUR"}}
    item = {"month": f"{MONTH:%Y-%m}", "plType": "cogs", "categoryId": hosting, "frequency": 1, "amount": amount}
    assert api.post("plan_items", item).status_code == 201
    html = sign_in(alice).get(f"/app/companies/{acme.id}/profit-and-loss?months=6{query}").content.decode()
    (row,) = api.post(
        "data/profitAndLoss", {"startMonth": f"{MONTH:%Y-%m}", "endMonth": f"{MONTH:%Y-%m}", **planned}
    ).json()
    assert planned or row["planned"] == 3000
    _, rows = parse_statement(html)
    assert next(cells for kind, _, cells in rows if kind == "category")[-2][1] == to_decimal(row["planned"])


def test_partial_period_heading_states_its_dates(alice, acme, books, bank, api):
    books.split(
        create_transaction(api, bank, "-70.00", MONTH),
        {"categoryId": books.category("hosting"), "plSplit": {"cogs": -70}},
    )
    start = MONTH.replace(month=MONTH.month % 3 + 1, year=MONTH.year - 1)
    html = sign_in(alice).get(
        f"/app/companies/{acme.id}/profit-and-loss?startDate={start}&endDate={TODAY}&interval=year"
    )
    head, _ = parse_statement(html.content.decode())
    end = get_last_day_of_month(TODAY)
    until = "" if end.month == 12 else f", to {end.day} {end:%b}"
    until += "" if end == TODAY else " (in progress)"
    since = "" if start.month == 1 else f", from 1 {start:%b}"
    assert head == [f"{start.year}{since}", f"{TODAY.year}{until}"]


def test_page_says_that_later_months_are_planned_only(alice, acme):
    def get_page(query):
        return sign_in(alice).get(f"/app/companies/{acme.id}/profit-and-loss?{query}").content.decode()

    ahead = get_page(f"startDate={MONTH}&endDate={get_last_day_of_month(add_months(MONTH, 1))}")
    assert f"This page ends with {MONTH:%b %Y}. Later months are planned only." in ahead
    assert f'href="/app/companies/{acme.id}/plan?startMonth={MONTH:%Y-%m}">Show the financial plan' in ahead
    for query in ("", "months=6", f"startDate={MONTH}&endDate={get_last_day_of_month(MONTH)}"):
        assert "This page ends with" not in get_page(query)


def test_heading_states_the_compared_part_of_a_quarter(alice, acme, books, bank, api):
    """Of a quarter under way only the months so far are compared."""
    quarter = add_months(MONTH, -((MONTH.month - 1) % 3))
    for months_ago in (0, 3):
        row = create_transaction(api, bank, "70.00", add_months(quarter, -months_ago))
        books.split(row, {"categoryId": books.category("revenueOneOff"), "plSplit": {"revenue": 70}})
    query = f"startDate={add_months(quarter, -3)}&endDate={TODAY}&interval=quarter&comparison=previousPeriod"
    html = sign_in(alice).get(f"/app/companies/{acme.id}/profit-and-loss?{query}").content.decode()
    before, current = re.findall(r'<th scope="col">(.*?)</th>', html)[1:-1]
    assert "compared with" not in before
    end = get_last_day_of_month(add_months(MONTH, -3))
    is_whole = MONTH.month % 3 == 0
    name = f"compared with Q{(end.month + 2) // 3} {end.year}, to {end.day} {end:%b}"
    assert (name in current) is not is_whole


@pytest.mark.parametrize("shown_for_past", [False, True])
def test_past_totals_show_plan_percentage_if_enabled_for_company(api, alice, acme, books, bank, shown_for_past):
    assert api.put("", {"plShowPlanningPercentageForPastMonths": shown_for_past}).status_code == 200
    hosting, past = books.category("hosting"), add_months(MONTH, -1)
    amount = {"type": "fixed", "amount": {"value": 100, "currency": "EUR"}}
    item = {"month": f"{past:%Y-%m}", "plType": "cogs", "categoryId": hosting, "frequency": 1, "amount": amount}
    assert api.post("plan_items", item).status_code == 201
    for month in (past, MONTH):
        books.split(create_transaction(api, bank, "-70.00", month), {"categoryId": hosting, "plSplit": {"cogs": -70}})
    html = sign_in(alice).get(f"/app/companies/{acme.id}/profit-and-loss?months=6").content.decode()
    table = html.split('<section class="card statement"')[1].split("</table>")[0]
    rows = re.findall(r'<tr class="of-(\w+)">(.*?)</tr>', table)
    assert {"line", "category", "sum"} == {kind for kind, _ in rows}
    for _, row in rows:
        *_, last, running, _ = row.split("<td>")
        assert "plan" in last
        assert ("%" in last) is shown_for_past
        assert "%" in running


def test_profit_and_loss_links_to_uncategorized_transactions(api, alice, acme, bank):
    create_transaction(api, bank, "-120.00", MONTH)
    html = sign_in(alice).get(f"/app/companies/{acme.id}/profit-and-loss").content.decode()
    address, said = re.search(r'class="notice info" role="status"><a href="([^"]+)">([^<]+)</a>', html).groups()
    assert said == "1 uncategorized transaction"
    assert "120.00" in sign_in(alice).get(unescape(address)).content.decode()
    assert read_list_total(alice, f"{address}&amp;total=true") == ("−€120.00", 1)
    nothing = html.split("No data for this period")[1].split("</section>")[0]
    assert f'href="/app/companies/{acme.id}/inbox"' in nothing


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("interval=decade", "Unknown interval. Showing the default."),
        ("startDate=2018-01-01&endDate=2026-01-01&interval=month", "The period is too long to show by month."),
        ("months=x&interval=quarter", "Unknown period."),
        ("comparison=x", "Unknown comparison. Showing none."),
    ],
)
def test_profit_and_loss_page_shows_message_for_invalid_parameters(alice, acme, query, said):
    answer = sign_in(alice).get(f"/app/companies/{acme.id}/profit-and-loss?{query}")
    assert answer.status_code == 200
    assert said in answer.content.decode()


def test_profit_and_loss_page_needs_few_queries(shown, django_assert_max_num_queries):
    address = f"{shown.path}/profit-and-loss?months=24&comparison=previousYear"
    shown.client.get(address)  # the session is told of its first use in a while
    with django_assert_max_num_queries(12):
        shown.client.get(address)


def test_amounts_have_no_links_without_transaction_permission(api, acme, bank, books):
    books.split(
        create_transaction(api, bank, "-70.00", MONTH),
        {"categoryId": books.category("hosting"), "plSplit": {"cogs": -70}},
    )
    dan = factories.make_member(acme, "dan@acme.example", role=Role.VIEWER, permissions=["financials:read"])
    _, rows = parse_statement(sign_in(dan).get(f"/app/companies/{acme.id}/profit-and-loss").content.decode())
    amounts = next(cells for kind, _, cells in rows if kind == "category")[-2]
    assert (amounts[0], amounts[3]) == (70, None)
