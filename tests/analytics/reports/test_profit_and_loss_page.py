"""The page of the profit and loss: every amount is the API's, and leads to rows that add up to it."""

import csv
import io
import itertools
import re
from datetime import UTC, datetime
from decimal import Decimal
from html import unescape
from typing import NamedTuple

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
def chart_page(make_demo_company):
    with make_demo_company(name="Stated", months=14, now=datetime.now(tz=UTC)) as made:
        yield ChartPage(Company.objects.get(id=made.company_id), made.api_key)


class Row(NamedTuple):
    """A row of the sheet: its cells by (period, part of it)."""

    kind: str
    name: str
    cells: dict[tuple[str, str], "Cell"]


class Cell(NamedTuple):
    amount: Decimal | None
    link: str | None


def parse_statement(html):
    """(headings of the periods, rows) of the sheet; without parts the amounts are under "Actual"."""
    table = html.split('<div class="statement">')[1].split("</table>")[0]
    head, body = table.split("</thead>")
    periods, parts, *_ = [*re.findall(r"<tr>(.*?)</tr>", head, re.S), ""]
    columns = [
        (" ".join(re.split(r"<[^>]+>", inside)).split(), int((re.search(r'colspan="(\d+)"', tag) or [0, 1])[1]))
        for tag, inside in re.findall(r"<th (.*?)>(.*?)</th>", periods)[1:]
    ]
    names = [(" ".join(words), None) for words, width in columns for _ in range(width)]
    part_names = iter(re.findall(r"<th [^>]*>(.*?)</th>", parts)) if parts else itertools.repeat("Actual")
    keys = [(name, next(part_names)) for name, _ in names]
    rows = [
        Row(kind, unescape(name), dict(zip(keys, map(parse_cell, re.findall(r"<td.*?</td>", cells)), strict=True)))
        for kind, name, cells in re.findall(r'<tr class="kind-(\w+)"><th scope="row">(.*?)</th>(.*?)</tr>', body)
    ]
    return list(dict.fromkeys(name for name, _ in keys)), rows


def parse_cell(text):
    link = re.search(r'href="([^"]+)"', text)
    amount = re.sub(r"<[^>]+>", "", re.sub(r"<span class=.meta.*?</span>", "", text))
    return Cell(Decimal(amount.replace(",", "")) if amount else None, link and unescape(link[1]))


def format_heading(month, interval):
    """What a column of the last twelve months is headed."""
    length = {"month": 1, "quarter": 3, "year": 12}[interval]
    start = datetime.strptime(month, "%Y-%m").date()
    names = {"month": f"{start:%b %Y}", "quarter": f"Q{(start.month + 2) // 3} {start.year}", "year": f"{start.year}"}
    last = get_last_day_of_month(TODAY)
    begins, ends = max(start, add_months(MONTH, -11)), min(get_last_day_of_month(add_months(start, length - 1)), last)
    since = begins != start and f"{begins.day} {begins:%b}"
    until = ends != get_last_day_of_month(add_months(start, length - 1)) and f"to {ends.day} {ends:%b}"
    name = " ".join(filter(None, [names[interval], until or (since and f"from {since}")]))
    return f"{name} in progress" if ends == last != TODAY else name


@pytest.mark.parametrize(
    ("interval", "comparison"),
    [("month", None), ("month", "plan"), ("month", "previousYear"), ("quarter", "previousPeriod"), ("year", None)],
)
def test_profit_and_loss_page_amounts_match_api_and_linked_transactions(chart_page, interval, comparison):
    chosen = f"&comparison={comparison}" if comparison else ""
    answer = chart_page.client.get(
        f"{chart_page.path}/profit-and-loss?months=12&interval={interval}{chosen}&unit=cents"
    )
    head, rows = parse_statement(answer.content.decode())
    answers = chart_page.ask(
        "profitAndLoss", startMonth=f"{add_months(MONTH, -11):%Y-%m}", endMonth=f"{MONTH:%Y-%m}", interval=interval,
        **({"comparison": comparison} if comparison not in {None, "plan"} else {}),
    )  # fmt: skip
    result, line = {}, ""
    for row in rows:
        line = NAMES[row.name] if row.kind == "line" else line
        if row.kind == "category":
            result[line, row.name] = row.cells
            total = sum(row.cells[period, "Actual"].amount for period in head[:-1])
            assert row.cells["Total", "Actual"].amount == total
    planned_months = {row["month"] for row in answers if row["planned"]}
    for row in answers:
        cells, name = result[row["plType"], row["categoryName"]], format_heading(row["month"], interval)
        period = next(each for each in head if each == name or each.startswith(f"{name} compared with"))
        sign = -1 if SIGNS.get(row["plType"]) == -1 else 1
        assert cells[period, "Actual"].amount == sign * to_decimal(row["actual"])
        assert bool(cells[period, "Actual"].link) is bool(row["actual"])
        if comparison == "plan":
            planned, variance = to_decimal(row["planned"]), to_decimal(row["actual"]) - to_decimal(row["planned"])
            if row["variance"] is not None:
                assert to_decimal(row["variance"]) == variance
            is_planned = row["month"] in planned_months  # then nothing planned in a row is a plan of zero
            assert cells[period, "Plan"].amount == (sign * planned if is_planned else None)
            assert cells[period, "Variance"].amount == (sign * variance if is_planned else None)
        elif comparison:
            ((before, change),) = [
                (cells[period, part].amount, cells[period, "Change"].amount)
                for each, part in cells
                if each == period and part not in {"Actual", "Change"}
            ]
            assert before == sign * to_decimal(row["comparisonActual"])
            assert change == cells[period, "Actual"].amount - before
    linked = [cell for cells in result.values() for (_, part), cell in cells.items() if part == "Actual" and cell.link]
    assert len(linked) > len(head)
    for cell in linked[:: max(len(linked) // 12, 1)]:
        page = chart_page.client.get(cell.link).content.decode()
        text = re.search(r'class="list-total"[^>]*>\s*<strong>([^<]+)</strong>', page)[1]
        assert Decimal(format_plain_cell(text.replace("€", ""))) == cell.amount, cell.link
    check_subtotals(rows)


def check_subtotals(rows):
    """Every subtotal is the sum of the lines above it, since costs are negative."""
    lines, subtotals = {}, {}
    for row in rows:
        amount = next(iter(row.cells.values())).amount
        if row.kind == "line":
            lines[NAMES[row.name]] = amount
        if row.kind == "sum":
            subtotals[row.name] = amount
    for name, count in ROWS_ABOVE_SUBTOTAL.items():
        assert subtotals[name] == sum(lines.get(line, 0) for line in list(SIGNS)[:count])


def plan_hosting(api, books, month, value=3000):
    amount = {"type": "fixed", "amount": {"value": value, "currency": "EUR"}}
    hosting = books.get_category_id("hosting")
    item = {"month": f"{month:%Y-%m}", "plType": "cogs", "categoryId": hosting, "frequency": 1, "amount": amount}
    assert api.post("plan_items", item).status_code == 201
    return hosting


def get_statement(user, company, query):
    return sign_in(user).get(f"/app/companies/{company.id}/profit-and-loss?{query}").content.decode()


@pytest.mark.parametrize(("query", "planned"), [("", {}), ("&toDate=true", {"toDate": True})])
def test_profit_and_loss_page_uses_full_month_plan_by_default(api, alice, acme, bank, books, query, planned):
    plan_hosting(api, books, MONTH)
    (row,) = api.post(
        "data/profitAndLoss", {"startMonth": f"{MONTH:%Y-%m}", "endMonth": f"{MONTH:%Y-%m}", **planned}
    ).json()
    assert planned or row["planned"] == 3000
    head, rows = parse_statement(get_statement(alice, acme, f"months=6&comparison=plan&unit=cents{query}"))
    category = next(each for each in rows if each.kind == "category")
    assert category.cells[head[-2], "Plan"].amount == -to_decimal(row["planned"])


def test_later_months_show_their_plan_and_are_marked(api, alice, acme, bank, books):
    """The total counts them; beside a plan it does not, since nothing can be compared yet."""
    hosting = plan_hosting(api, books, MONTH, value=100)
    books.set_categorizations(
        create_transaction(api, bank, "-70.00", MONTH), {"categoryId": hosting, "plSplit": {"cogs": -70}}
    )
    days = f"startDate={MONTH}&endDate={get_last_day_of_month(add_months(MONTH, 2))}"
    head, rows = parse_statement(get_statement(alice, acme, days))
    later = [f"{add_months(MONTH, ahead):%b %Y} plan" for ahead in (1, 2)]
    assert head == [format_heading(f"{MONTH:%Y-%m}", "month"), *later, "Total with plan"]
    result = next(row for row in rows if row.name == "Result")
    assert [cell.amount for cell in result.cells.values()] == [-70, -100, -100, -270]
    days_before = f"startDate={add_months(MONTH, -1)}&endDate={get_last_day_of_month(add_months(MONTH, 2))}"
    head, rows = parse_statement(get_statement(alice, acme, f"{days_before}&comparison=plan"))
    category = next(row for row in rows if row.kind == "category")
    assert head[-1] == "Total so far"
    assert [category.cells["Total so far", part].amount for part in ("Actual", "Plan", "Variance")] == [-70, -100, 30]
    assert [part for period, part in category.cells if period in later] == ["Plan", "Plan"]


def test_unit_and_sign_of_amounts_are_remembered(api, alice, acme, bank, books):
    books.set_categorizations(
        create_transaction(api, bank, "-1234.56", MONTH),
        {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -1234.56}},
    )
    client = sign_in(alice)

    def read_result(query=""):
        html = client.get(f"/app/companies/{acme.id}/profit-and-loss?{query}").content.decode()
        return re.findall(r"<td[^>]*>(.*?)</td>", html.split(">Result<")[1])[-1]

    assert read_result() == "-1,235"
    assert read_result("unit=cents") == "-1,234.56"
    assert read_result("negative=parentheses") == "(1,234.56)"
    assert read_result("unit=thousands") == "(1.2)"
    assert read_result("unit=pounds&negative=red") == "(1.2)"
    assert read_result("unit=whole&negative=minus") == "-1,235"


def test_csv_download_has_the_amounts_of_the_page_to_the_cent(api, alice, acme, bank, books):
    hosting = plan_hosting(api, books, MONTH, value=1000)
    books.set_categorizations(
        create_transaction(api, bank, "-1234.56", MONTH), {"categoryId": hosting, "plSplit": {"cogs": -1234.56}}
    )
    client = sign_in(alice)
    html = client.get(f"/app/companies/{acme.id}/profit-and-loss?months=6&comparison=plan").content.decode()
    answer = client.get(unescape(re.search(r'href="([^"]+\.csv[^"]*)"', html)[1]))
    assert answer["Content-Disposition"] == 'attachment; filename="profit-and-loss.csv"'
    head, *rows = csv.reader(io.StringIO(answer.content.decode()))
    assert head[-3:] == ["Total Actual", "Total Plan", "Total Variance"]
    assert all(len(row) == len(head) for row in rows)
    assert next(row for row in rows if row[0] == "Hosting")[-3:] == ["-1234.56", "-1000.00", "-234.56"]
    assert next(row for row in rows if row[0] == "Result")[-3:] == ["-1234.56", "-1000.00", "-234.56"]


def test_every_cell_of_the_page_is_one_number_for_a_spreadsheet(chart_page):
    for query in ("", "comparison=plan", "comparison=previousYear", "unit=cents&negative=parentheses"):
        html = chart_page.client.get(f"{chart_page.path}/profit-and-loss?{query}").content.decode()
        cells = re.findall(r"<td[^>]*>(.*?)</td>", html.split('<div class="statement">')[1].split("</table>")[0])
        texts = [re.sub(r"<[^>]+>", "", re.sub(r"<span class=.meta.*?</span>", "", cell)) for cell in cells]
        assert len(texts) > 100
        assert [text for text in texts if not re.fullmatch(r"|-?[\d,]+(\.\d+)?|\([\d,.]+\)", text)] == []
    chart_page.client.get(f"{chart_page.path}/profit-and-loss?unit=whole&negative=minus")


def test_partial_period_heading_states_its_dates(alice, acme, books, bank, api):
    books.set_categorizations(
        create_transaction(api, bank, "-70.00", MONTH),
        {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -70}},
    )
    start = MONTH.replace(month=MONTH.month % 3 + 1, year=MONTH.year - 1)
    html = sign_in(alice).get(
        f"/app/companies/{acme.id}/profit-and-loss?startDate={start}&endDate={TODAY}&interval=year"
    )
    head, _ = parse_statement(html.content.decode())
    end = get_last_day_of_month(TODAY)
    until = "" if end.month == 12 else f" to {end.day} {end:%b}"
    until += "" if end == TODAY else " in progress"
    since = "" if start.month == 1 else f" from 1 {start:%b}"
    assert head == [f"{start.year}{since}", f"{TODAY.year}{until}", "Total"]


def test_heading_states_the_compared_part_of_a_quarter(alice, acme, books, bank, api):
    """Of a quarter under way only the months so far are compared."""
    quarter = add_months(MONTH, -((MONTH.month - 1) % 3))
    for months_ago in (0, 3):
        row = create_transaction(api, bank, "70.00", add_months(quarter, -months_ago))
        books.set_categorizations(
            row, {"categoryId": books.get_category_id("revenueOneOff"), "plSplit": {"revenue": 70}}
        )
    query = f"startDate={add_months(quarter, -3)}&endDate={TODAY}&interval=quarter&comparison=previousPeriod"
    html = sign_in(alice).get(f"/app/companies/{acme.id}/profit-and-loss?{query}").content.decode()
    before, current, _total = parse_statement(html)[0]
    assert "compared with" not in before
    end = get_last_day_of_month(add_months(MONTH, -3))
    is_whole = MONTH.month % 3 == 0
    name = f"compared with Q{(end.month + 2) // 3} {end.year}, to {end.day} {end:%b}"
    assert (name in current) is not is_whole


@pytest.mark.parametrize("shown_for_past", [False, True])
def test_past_totals_show_plan_percentage_if_enabled_for_company(api, alice, acme, books, bank, shown_for_past):
    assert api.put("", {"plShowPlanningPercentageForPastMonths": shown_for_past}).status_code == 200
    past = add_months(MONTH, -1)
    hosting = plan_hosting(api, books, past, value=100)
    for month in (past, MONTH):
        books.set_categorizations(
            create_transaction(api, bank, "-70.00", month), {"categoryId": hosting, "plSplit": {"cogs": -70}}
        )
    head, rows = parse_statement(get_statement(alice, acme, "months=6&comparison=plan"))
    assert {"line", "category", "sum"} == {row.kind for row in rows}
    for row in rows:
        assert ((head[-3], "%") in row.cells) is shown_for_past
        assert row.cells[head[-2], "%"].amount == 30
        assert (head[-1], "%") not in row.cells


def test_profit_and_loss_links_to_uncategorized_transactions(api, alice, acme, bank):
    create_transaction(api, bank, "-120.00", MONTH)
    html = sign_in(alice).get(f"/app/companies/{acme.id}/profit-and-loss").content.decode()
    address, text = re.search(r'class="notice info" role="status"><a href="([^"]+)">([^<]+)</a>', html).groups()
    assert text == "1 uncategorized transaction"
    assert "120.00" in sign_in(alice).get(unescape(address)).content.decode()
    assert read_list_total(alice, f"{address}&amp;total=true") == ("−€120.00", 1)
    nothing = html.split("No data for this period")[1].split("</main>")[0]
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


def test_last_month_is_offered(alice, acme, books, bank):
    page = sign_in(alice).get(f"/app/companies/{acme.id}/profit-and-loss").content.decode()
    (query,) = re.findall(r'href="[?]([^"]+)"[^>]*>Last month</a>', page)
    last = add_months(MONTH, -1)
    assert unescape(query).startswith(f"startDate={last}&endDate={get_last_day_of_month(last)}")
    chosen = sign_in(alice).get(f"/app/companies/{acme.id}/profit-and-loss?{unescape(query)}").content.decode()
    assert re.search(r'aria-current="true">Last month</a>', chosen)


def test_profit_and_loss_page_needs_few_queries(chart_page, django_assert_max_num_queries):
    address = f"{chart_page.path}/profit-and-loss?months=24&comparison=previousYear"
    chart_page.client.get(address)  # the session is told of its first use in a while
    with django_assert_max_num_queries(12):
        chart_page.client.get(address)


def test_amounts_have_no_links_without_transaction_permission(api, acme, bank, books):
    books.set_categorizations(
        create_transaction(api, bank, "-70.00", MONTH),
        {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -70}},
    )
    dan = factories.make_member(acme, "dan@acme.example", role=Role.VIEWER, permissions=["financials:read"])
    _, rows = parse_statement(sign_in(dan).get(f"/app/companies/{acme.id}/profit-and-loss").content.decode())
    cell = list(next(row.cells for row in rows if row.kind == "category").values())[-1]
    assert (cell.amount, cell.link) == (-70, None)


def test_plan_and_variance_lead_to_the_row_of_the_plan(api, alice, acme, bank, books):
    hosting = plan_hosting(api, books, MONTH)
    days = f"startDate={add_months(MONTH, -1)}&endDate={get_last_day_of_month(add_months(MONTH, 1))}"
    head, rows = parse_statement(get_statement(alice, acme, f"{days}&comparison=plan"))
    (category,) = (row for row in rows if row.kind == "category")
    links = {category.cells[head[1], part].link for part in ("Plan", "Variance")}
    links.add(
        category.cells[head[2], "Plan"].link.replace(
            f"startMonth={add_months(MONTH, 1).year}", f"startMonth={MONTH.year}"
        )
    )
    assert links == {f"/app/companies/{acme.id}/plan?startMonth={MONTH.year}-01#row-{hosting}:cogs"}
    assert category.cells[head[-1], "Plan"].link is None
    address, _, anchor = links.pop().partition("#")
    assert f'id="{anchor}"' in sign_in(alice).get(address).content.decode()
    reader = factories.make_member(acme, "ed@acme.example", role=Role.VIEWER, permissions=["financials:read"])
    _, rows = parse_statement(get_statement(reader, acme, f"{days}&comparison=plan"))
    assert {cell.link for row in rows for cell in row.cells.values()} == {None}
