"""Every report takes a period by its address, or says what it does not take; and says one thing of one fact."""

import re
from datetime import timedelta
from html import unescape

import pytest

from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month
from tests.analytics.reports.test_overview import (
    create_transaction,
    find_section,
    get_overview,
    parse_key_figures,
    parse_table_rows,
    sign_in,
)
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
MONTH = get_first_day_of_month(TODAY)
NEXT = add_months(MONTH, 1)


@pytest.fixture
def get_page_html(alice, acme):
    """Return the HTML of a page of the company."""

    def get(path=""):
        answer = sign_in(alice).get(f"/app/companies/{acme.id}{path}")
        assert answer.status_code == 200
        return unescape(answer.content.decode())

    return get


def extract_text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def create_planned_transaction(api, account, name, start, amount, **more):
    body = {"accountId": account, "name": name, "startDate": str(start), "amountValue": amount}
    assert api.post("planned_transactions", body | more).status_code == 201


def test_cash_plan_extends_to_end_of_period(api, bank, get_page_html):
    create_planned_transaction(api, bank, "Rent", NEXT, "-100.00", recurrence={"frequency": "month"})
    far = get_last_day_of_month(add_months(MONTH, 9))
    html = get_page_html(f"/planned?startDate={TODAY}&endDate={far}")
    assert f"{add_months(NEXT, 8):%b %Y}" in extract_text(html)
    assert f'value="{far}"' in html
    assert f"{add_months(NEXT, 8):%b %Y}" not in extract_text(get_page_html("/planned"))
    assert f"{add_months(NEXT, 5):%b %Y}" in extract_text(get_page_html("/planned?months=12"))
    assert 'name="comparison"' not in html


def test_cash_plan_accepts_future_period_and_period_without_end(api, bank, get_page_html):
    create_planned_transaction(api, bank, "Rent", NEXT, "-100.00", recurrence={"frequency": "month"})
    far = get_last_day_of_month(add_months(MONTH, 9))
    ahead = get_page_html(f"/planned?startDate={NEXT}&endDate={far}")
    assert f"{add_months(NEXT, 8):%b %Y}" in extract_text(ahead)
    assert "The start date must be between" not in extract_text(ahead)
    alone = get_page_html("/planned?startDate=2024-01-01")
    assert f'value="{get_last_day_of_month(add_months(MONTH, 3))}"' in alone


def test_cash_plan_of_one_month_has_no_total(api, bank, get_page_html):
    create_planned_transaction(api, bank, "Rent", TODAY, "-100.00", recurrence={"frequency": "month"})
    for last, has_total in ((TODAY, False), (get_last_day_of_month(NEXT), True)):
        html = get_page_html(f"/planned?startDate={TODAY}&endDate={last}")
        assert ('class="kind-total"' in html) is has_total
        (cells,) = re.findall(r'<tr class="kind-sum"><th scope="row">Net</th>(.*?)</tr>', html)
        assert cells.count("<td") == 1 + 2 * has_total


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("comparison=previousYear", "This page has no comparison. Compare periods on the overview."),
        ("startDate=2024-01-01&endDate=2024-03-31", "The period must end today or later. Showing the default period."),
        (f"startDate={TODAY}&endDate={TODAY + timedelta(days=900)}", "The plan covers at most 2 years."),
        ("months=7", "Unknown period."),
    ],
)
def test_cash_plan_names_invalid_parameters(api, bank, get_page_html, query, said):
    create_planned_transaction(api, bank, "Rent", NEXT, "-100.00", recurrence={"frequency": "month"})
    seen = extract_text(get_page_html(f"/planned?{query}"))
    assert said in seen
    assert "Rent" in seen


def test_account_page_offers_no_comparison_and_explains_if_requested(bank, get_page_html):
    assert 'name="comparison"' not in get_page_html(f"/accounts/{bank}")
    html = get_page_html(f"/accounts/{bank}?months=6&comparison=previousYear")
    assert "This page has no comparison. Compare periods on the overview." in html
    assert "comparison=previousYear" not in html


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("startDate=2024-03-05&endDate=2024-06-20", "2024-03", "2024-06"),
        ("months=6&endDate=2024-06-20", "2024-01", "2024-06"),
        ("months=24", f"{add_months(MONTH, -23):%Y-%m}", f"{MONTH:%Y-%m}"),
        ("startMonth=2024-02&startDate=2023-01-01&endMonth=2024-04", "2024-02", "2024-04"),
    ],
)
def test_recurring_revenue_accepts_period_of_other_reports(get_page_html, query, first, last):
    html = get_page_html(f"/recurring-revenue?{query}")
    assert re.search(rf'name="startMonth"[^>]*value="{first}"', html)
    assert re.search(rf'name="endMonth"[^>]*value="{last}"', html)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("startDate=2024-02-31", "“startDate” is not a valid date"),
        ("months=7", "The value of “months” is not valid"),
        ("startDate=2024-03-20&endDate=2024-03-01", "The end date must be after the start date."),
    ],
)
def test_recurring_revenue_names_invalid_parameters(get_page_html, query, said):
    assert said in get_page_html(f"/recurring-revenue?{query}")


def test_cash_plan_months_count_only_cash_accounts(api, books, bank, get_page_html):
    loan = books.create_account(name="Loan", type="loan")
    create_planned_transaction(api, bank, "Rent", NEXT, "-100.00")
    create_planned_transaction(api, loan, "Drawn", NEXT, "5000.00")
    create_planned_transaction(api, None, "Grant", NEXT, "30.00")
    books.create_transaction(loan, "700.00", str(TODAY + timedelta(days=40)))
    body = {"endDate": str(get_last_day_of_month(NEXT)), "interval": "month"}
    (point,) = [
        each for each in api.post("data/forecastBalanceTimeSeries", body).json()["projected"]
        if each["date"] == str(NEXT)
    ]  # fmt: skip
    assert point["value"] == -70
    html = get_page_html("/planned?unit=cents")
    rows = dict(re.findall(r'<tr class="kind-(?:line|sum)"><th scope="row">(.*?)</th>(.*?)</tr>', html))
    months = [name.strip() for name in re.findall(r'<th scope="col"[^>]*>([^<]*)', html)]
    place = months.index(f"{NEXT:%b %Y}") - months.index("Month") - 1
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", rows[name])[place] for name in ("In", "Out", "Net")]
    assert cells == ["30.00", "-100.00", "-70.00"]
    csv_url = re.search(r'href="([^"]*planned\.csv[^"]*)"', html)[1]
    assert "Net," in get_page_html(csv_url[csv_url.index("/planned.csv") :])


def test_inbox_overview_and_cash_plan_count_same_overdue_payments(api, books, bank, get_page_html):
    loan = books.create_account(name="Loan", type="loan")
    for account, days in ((bank, 3), (bank, 30), (loan, 5), (None, 60), (bank, 61)):
        create_planned_transaction(api, account, "Late", TODAY - timedelta(days=days), "-10.00")
    assert "4 overdue planned transactions" in extract_text(get_page_html("/inbox"))
    overview = extract_text(get_page_html())
    assert "4 overdue planned transactions" in overview
    assert "−€40 in total" in overview
    assert len(re.findall(r"Late overdue", extract_text(get_page_html("/planned")))) == 4


def test_runway_states_its_date_for_past_period(api, bank, books, get_page_html):
    books.create_transaction(bank, "100.00", "2024-03-10")
    assert f"Runway on {TODAY:%-d %b %Y}" in parse_key_figures(
        get_page_html("?startDate=2024-03-01&endDate=2024-04-30")
    )
    assert "Runway" in parse_key_figures(get_page_html())


@pytest.mark.parametrize("path", ["", "/profit-and-loss"])
def test_uncategorized_notice_covers_the_months_shown(path, api, bank, get_page_html):
    """The period ends on the 20th, revenue and expenses with the last day of its month."""
    last = MONTH - timedelta(days=1)
    create_transaction(api, bank, "-500.00", last)
    html = get_page_html(f"{path}?startDate={add_months(MONTH, -3)}&endDate={last.replace(day=20)}")
    [address] = re.findall(r'<a href="([^"]*)">1 uncategorized transaction</a>', html)
    assert f"endDate={last}" in address


def test_profit_and_loss_page_links_to_plan(acme, get_page_html):
    assert f'href="/app/companies/{acme.id}/plan"' in get_page_html("/profit-and-loss")


@pytest.mark.parametrize(("months", "shown"), [(6, 6), (12, 12), (24, 24)])
def test_overview_months_parameter_sets_length_of_history(alice, acme, months, shown):
    html = get_overview(alice, acme, f"?months={months}")
    assert len(parse_table_rows(find_section(html, "Committed MRR"))) == shown
    assert len(parse_table_rows(find_section(html, "Cash flow"))) == shown + 6


def test_invalid_period_shows_a_message_and_the_default(alice, acme):
    for query, said in [
        ("months=13", "Unknown period."),
        ("months=-1", "Unknown period."),
        ("comparison=lastWeek", "Unknown comparison. Showing none."),
        ("startDate=2026-02-31", "“2026-02-31” is not a valid date."),
        ("startDate=%00", "is not a valid date."),
        ("startDate=2099-01-01&endDate=2099-02-01", "The start date must be between 1900 and today."),
        ("startDate=0001-01-01", "The start date must be between 1900 and today."),
        ("startDate=2020-01-01&endDate=2019-01-01", "The end date must be after the start date."),
        ("startDate=2010-01-01&endDate=2025-01-01", "A period covers at most 10 years."),
        ("endDate=9999-12-31", "A period covers at most 10 years."),
    ]:
        html = unescape(get_overview(alice, acme, f"?{query}"))
        assert said in html, query
        assert len(parse_table_rows(find_section(html, "Committed MRR"))) == 12, query
