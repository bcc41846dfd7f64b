"""The profit and loss as a workbook: what its formulas come to is what the page and the API show."""

import io
import re
import zipfile
from collections import defaultdict
from datetime import UTC, date, datetime
from decimal import Decimal

import openpyxl
import pytest

from ledger.transactions.pages.labels import LINE_LABELS

pytestmark = pytest.mark.django_db

YEAR = {"startDate": "2024-01-01", "endDate": "2024-12-31"}
WORDS = {label: line.value for line, label in LINE_LABELS.items()}
TERM = re.compile(r"([+-])([A-Z]+\d+)")


def download_workbook(api, **parameters):
    answer = api.get("exports/profitAndLoss.xlsx", parameters)
    assert answer.status_code == 200, answer.content
    assert answer["Content-Disposition"] == 'attachment; filename="profitAndLoss.xlsx"'
    return b"".join(answer.streaming_content)


def evaluate_cell(sheet, cell):
    """What a cell comes to, by its formula: a SUM of a range, or terms added up."""
    value = sheet[cell].value
    if not isinstance(value, str):
        return Decimal(str(value or 0))
    if ranged := re.fullmatch(r"=SUM\(([A-Z]+\d+)(?::([A-Z]+\d+))?\)", value):
        first, last = ranged[1], ranged[2] or ranged[1]
        return sum(evaluate_cell(sheet, each.coordinate) for row in sheet[f"{first}:{last}"] for each in row)
    assert re.fullmatch(r"=0([+-][A-Z]+\d+)*", value), value
    return sum(evaluate_cell(sheet, at) * (1 if sign == "+" else -1) for sign, at in TERM.findall(value))


def read_workbook(content):
    """{sheet: {(line, category, period): amount}} by formulas; lines and sums have no category."""
    book, shown = (openpyxl.load_workbook(io.BytesIO(content), data_only=known) for known in (False, True))
    result = {}
    for sheet in book.worksheets:
        cells, line = {}, ""
        head = [each.value for each in sheet[1]]
        for row in sheet.iter_rows(min_row=2):
            name = row[0].value
            line = name if row[0].font.bold else line
            for period, cell in zip(head[1:], row[1:], strict=True):
                amount = evaluate_cell(sheet, cell.coordinate)
                assert amount == Decimal(str(shown[sheet.title][cell.coordinate].value)), cell.coordinate
                cells[line, "" if row[0].font.bold else name, period] = amount
        result[sheet.title] = cells
    return result


@pytest.fixture
def year_of_transactions(api, books, bank):
    """Sales, hosting, advertising and interest over some months, a plan, and a category that would be calculated."""
    made = api.post("categories", {"name": "=Extra", "plTypes": ["ga"]}).json()["id"]
    hosting = books.get_category_id("hosting")
    for month, amount, line, category in (
        (1, "1000.10", "revenue", books.get_category_id("revenueRecurring")), (2, "-119.37", "cogs", hosting),
        (2, "-20.05", "ga", made), (5, "400.00", "revenue", books.get_category_id("revenueOneOff")),
        (5, "-0.07", "cogs", hosting),
    ):  # fmt: skip
        row = books.create_transaction(bank, amount, f"2024-{month:02}-15")["id"]
        part = {"categoryId": category, "plSplit": {line: float(amount)}}
        assert books.set_categorizations(row, part).status_code == 200
    price = {"type": "fixed", "amount": {"value": 50.5, "currency": "EUR"}}
    item = {
        "month": "2024-01",
        "plType": "cogs",
        "categoryId": hosting,
        "duration": 12,
        "frequency": 1,
        "amount": price,
    }
    assert api.post("plan_items", item).status_code == 201


@pytest.mark.parametrize("interval", ["month", "quarter", "year"])
@pytest.mark.parametrize("comparison", [None, "previousPeriod"])
def test_workbook_formulas_match_profit_and_loss_statement(api, year_of_transactions, interval, comparison):
    query = {"interval": interval} | ({"comparison": comparison} if comparison else {})
    workbook = read_workbook(download_workbook(api, **YEAR, **query))
    body = api.post("data/profitAndLoss", {"startMonth": "2024-01", "endMonth": "2024-12"} | query).json()
    sheets = {"Actual": "actual", "Plan": "planned"} | ({"Comparison": "comparisonActual"} if comparison else {})
    assert list(workbook) == list(sheets)
    for sheet, field in sheets.items():
        cells = workbook[sheet]
        expected, lines = defaultdict(Decimal), defaultdict(Decimal)
        for row in body:
            amount = Decimal(str(row[field]))
            expected[row["plType"], row["categoryName"]] += amount
            lines[row["plType"]] += amount
        totals = {(line, name): amount for (line, name, period), amount in cells.items() if period == "Total"}
        for (line, name), amount in expected.items():
            label = next(label for label, word in WORDS.items() if word == line)
            assert totals[label, f"'{name}" if name.startswith("=") else name] == amount
            assert totals[label, ""] == lines[line]
        left = lines["revenue"] - lines["cogs"]
        assert totals["Gross profit", ""] == left
        left -= lines["cac"] + lines["pd"] + lines["ga"]
        assert totals["Operating result", ""] == left
        assert totals["Result", ""] == left + lines["no"]


def test_workbook_has_one_column_per_month(api, year_of_transactions):
    actual = read_workbook(download_workbook(api, **YEAR))["Actual"]
    assert actual["Gross profit", "", "Jan 2024"] == Decimal("1000.10")
    assert actual["Result", "", "Feb 2024"] == Decimal("-139.42")
    assert actual["Cost of revenue", "Hosting", "May 2024"] == Decimal("0.07")


def test_workbook_shows_comparison_months(api, year_of_transactions, monkeypatch):
    monkeypatch.setattr("django.utils.timezone.now", lambda: datetime(2024, 3, 10, tzinfo=UTC))
    query = {"startDate": "2024-02-01", "endDate": "2024-03-10", "comparison": "previousPeriod", "toDate": "true"}
    workbook = read_workbook(download_workbook(api, **query))
    assert {period for _, _, period in workbook["Actual"]} == {"Feb 2024", "Mar 2024, to 10 Mar", "Total"}
    assert {period for _, _, period in workbook["Comparison"]} == {"Jan 2024", "Feb 2024, to 10 Feb", "Total"}
    assert workbook["Comparison"]["Gross profit", "", "Jan 2024"] == Decimal("1000.10")


def test_workbook_stays_valid_with_markup_in_category_name(api, books, bank):
    made = api.post("categories", {"name": "<r>&</r>", "plTypes": ["ga"]}).json()["id"]
    row = books.create_transaction(bank, "-20.05", "2024-02-15")["id"]
    assert books.set_categorizations(row, {"categoryId": made, "plSplit": {"ga": -20.05}})
    names = {category for _, category, _ in read_workbook(download_workbook(api, **YEAR))["Actual"]}
    assert "'<r>&</r>" in names


def test_workbook_comparison_before_calendar_start_has_no_heading(api, year_of_transactions):
    query = {"startDate": "0001-12-01", "endDate": "0002-01-31", "comparison": "previousYear"}
    workbook = openpyxl.load_workbook(io.BytesIO(download_workbook(api, **query)))
    heads = {sheet.title: [cell.value for cell in sheet[1]][1:] for sheet in workbook}
    assert heads["Actual"] == ["Dec 1", "Jan 2", "Total"]


def test_workbook_omits_future_months(api, year_of_transactions, monkeypatch):
    monkeypatch.setattr("django.utils.timezone.now", lambda: datetime(2024, 3, 10, tzinfo=UTC))
    actual = read_workbook(download_workbook(api, **YEAR))["Actual"]
    assert {period for _, _, period in actual} == {"Jan 2024", "Feb 2024", "Mar 2024 (in progress)", "Total"}
    ahead = read_workbook(download_workbook(api, startDate="2025-01-01", endDate="2025-12-31"))["Actual"]
    assert set(ahead.values()) == {0}


def test_workbook_defaults_to_months_up_to_today(api, books, bank):
    actual = read_workbook(download_workbook(api))["Actual"]
    assert any(period.startswith(f"{date.today():%b %Y}") for _, _, period in actual)
    assert len({period for _, _, period in actual}) == 13


def test_invalid_export_parameters_return_an_error_code(api):
    for parameters, code in [
        ({"startDate": "2024-02-30"}, "invalid_date"),
        ({"endDate": "x"}, "invalid_value"),
        ({"startDate": "2024-02-01", "endDate": "2024-01-31"}, "end_before_start"),
        ({"startDate": "1990-01-01", "endDate": "2024-01-31"}, "window_too_long"),
        ({"interval": "week"}, "invalid_choice"),
        ({"comparison": "x"}, "invalid_choice"),
        ({"toDate": "yes"}, "invalid_choice"),
        ({"colour": "red"}, "unknown_parameter"),
    ]:
        answer = api.get("exports/profitAndLoss.xlsx", parameters)
        assert (answer.status_code, [each["code"] for each in answer.json()["errors"]]) == (400, [code]), parameters


def test_workbook_needs_the_statement_permission(acme, make_api, globex_api, year_of_transactions):
    assert make_api(acme, "transactions:read").get("exports/profitAndLoss.xlsx").status_code == 403
    assert make_api(acme, "financials:read").get("exports/profitAndLoss.xlsx").status_code == 200
    assert not any(read_workbook(download_workbook(globex_api, **YEAR))["Actual"].values())


def test_workbook_and_statement_show_transactions_only_with_permission(
    acme, make_api, books, bank, year_of_transactions
):
    """Whoever may see the statement alone gets lines and categories, and neither a transaction nor a link to one."""
    sale = books.create_transaction(bank, "77.00", "2024-06-03", fromTo="Secret Ltd", description="Secret project")[
        "id"
    ]
    part = {"categoryId": books.get_category_id("revenueOneOff"), "plSplit": {"revenue": 77}}
    assert books.set_categorizations(sale, part).status_code == 200
    reader = make_api(acme, "financials:read")
    content = download_workbook(reader, **YEAR)
    assert read_workbook(content)["Actual"]["Gross profit", "", "Jun 2024"] == 77
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        text = b"".join(book.read(part) for part in book.namelist())
    assert not [word for word in (b"Secret", sale.encode(), b"/transactions", b"hyperlink") if word in text]
    body = reader.post("data/profitAndLoss", {"startMonth": "2024-06", "endMonth": "2024-06"}).json()
    (behind,) = {row["transactionsUrl"] for row in body if row["actual"]}
    assert reader.get(behind).status_code == 403
    both = make_api(acme, "financials:read", "transactions:read")
    assert [row["id"] for row in both.get(behind).json()] == [sale]


def test_workbook_does_not_evaluate_category_names_as_formulas(api, year_of_transactions):
    book = openpyxl.load_workbook(io.BytesIO(download_workbook(api, **YEAR)))
    assert "'=Extra" in [row[0].value for row in book["Actual"].iter_rows()]


def test_profit_and_loss_page_links_to_workbook_of_same_parameters(
    sign_in_browser, alice, acme, api, year_of_transactions
):
    browser = sign_in_browser(alice, acme).client
    page = f"/app/companies/{acme.id}/profit-and-loss"
    query = {**YEAR, "interval": "quarter"}
    shown = browser.get(page, query).content.decode()
    (link,) = re.findall(rf'href="({page}\.xlsx\?[^"]+)"', shown)
    file = b"".join(browser.get(link.replace("&amp;", "&")).streaming_content)
    assert read_workbook(file) == read_workbook(download_workbook(api, **query))
