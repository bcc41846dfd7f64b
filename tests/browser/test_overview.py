"""The page of a company in a real browser: what is drawn, what the pointer and the keys say, wide and narrow."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from ledger.accounts.actions import accounts as account_actions
from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month
from ledger.transactions.actions import transactions
from tests import factories
from tests.browser.conftest import sign_in_by_cookie
from tests.browser.fonts import list_too_wide

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Text that is larger than its place, or a colour too near to what lies behind it (WCAG 1.4.3).
CONTRAST = """
() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const card = light(parse(getComputedStyle(document.querySelector(".chart-card")).backgroundColor));
  const found = [];
  for (const each of document.querySelectorAll(".chart-card h2, .hint, .legend li, .chart text, .key-figures dd")) {
    const style = getComputedStyle(each);
    const ink = light(parse(each instanceof SVGElement ? style.fill : style.color));
    const ratio = (Math.max(ink, card) + 0.05) / (Math.min(ink, card) + 0.05);
    if (ratio < 4.5) found.push(`${each.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return found;
}
"""


@pytest.fixture
def busy(make_api):
    """A company with money that came and went over some months and a customer who pays monthly, and its owner."""
    owner = factories.UserFactory(email="olga@acme.example")
    acme = factories.make_company(name="Acme", owner=owner)
    audit_context = factories.make_audit_context()
    bank = account_actions.create_account(company=acme, context=audit_context, values={"type": "bank", "name": "Bank"})
    today = datetime.now(tz=UTC).date()
    for back in range(0, 300, 15):
        for amount in ("1500.00", "-900.00"):
            values = {"account_id": bank.id, "date": today - timedelta(days=back), "amount_value": amount}
            transactions.create_transaction(company=acme, context=audit_context, values=values)
    api = make_api(acme)
    sales = api.get_category_id("revenueRecurring")
    selection = {"mode": "filter", "filter": {"direction": "in"}}
    assert api.post("transactions/categorize", {"selection": selection, "categoryId": sales}).json()["affected"] == 20
    customer = {"customerId": str(factories.make_customer(acme).id)}
    event = {"effectiveDate": str(add_months(today, -3)), "amountValue": "90.00", "amountCurrency": "EUR"}
    event["subscriptionId"] = api.post("subscriptions", customer).json()["id"]
    assert api.post("subscription_events", event).status_code == 201
    return acme, owner


def open_page(page, live_server, busy, query=""):
    acme, owner = busy
    sign_in_by_cookie(page, live_server.url, owner)
    page.goto(f"{live_server.url}/app/companies/{acme.id}{query}")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


FILLED_LINES = """
() => [...document.querySelectorAll(".plot path")]
  .filter((each) => !each.classList.contains("area") && getComputedStyle(each).fill !== "none")
  .map((each) => each.getAttribute("class"))
"""


def test_balance_chart_fills_the_area_of_its_first_line_alone(page, live_server, busy, make_api):
    """A loan that is paid out within the period bends the line of the other accounts."""
    api, today = make_api(busy[0]), datetime.now(tz=UTC).date()
    rows = {row["type"]: row["id"] for row in api.get("accounts").json()}
    loan = api.post("accounts", {"type": "loan", "name": "Loan"}).json()["id"]
    legs = [
        api.post("transactions", {"accountId": account, "date": str(today - timedelta(days=90)), "amountValue": amount})
        for account, amount in ((loan, "-20000.00"), (rows["bank"], "20000.00"))
    ]
    source, target = (leg.json()["id"] for leg in legs)
    api.post("transactions/link_transfer", {"sourceTransactionId": source, "targetTransactionId": target})
    open_page(page, live_server, busy)
    expect(page.locator("#cash-balance-heading")).to_be_visible()
    assert page.locator("path.l-nonCash").count() == 1
    assert page.evaluate(FILLED_LINES) == []
    assert page.locator("path.area").evaluate_all("all => all.map((each) => each.getAttribute('class'))") == [
        "area a-cash"
    ]


def read_chart_table(page, title):
    """First cell of each row -> the numbers of the others, as a browser shows them."""
    rows = page.get_by_role("region", name=f"Data table: {title}", include_hidden=True).locator("tbody tr")
    cells = rows.evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.textContent))")
    return {name: [float(cell.translate(NUMBER_TRANSLATION)) for cell in rest if cell != "–"] for name, *rest in cells}


NUMBER_TRANSLATION = str.maketrans({"−": "-", ",": None, "+": None, "%": None, " ": None})


def test_overview_draws_charts_and_shows_same_numbers_as_api(page, live_server, busy, make_api, complaints):
    open_page(page, live_server, busy)
    for name in ("Cash balance", "Cash flow", "Revenue and expenses", "Committed MRR"):
        assert page.get_by_role("img", name=name, exact=True).bounding_box()["width"] >= 400
    table = page.get_by_role("table", name="Cash flow in EUR")
    expect(table).to_be_hidden()
    page.get_by_text("Data table: Cash flow").click()
    expect(table).to_be_visible()
    acme, _ = busy
    today = datetime.now(tz=UTC).date()
    api = make_api(acme)

    def ask(query, **question):
        return api.post(f"data/{query}", question).json()

    first_payment = today - timedelta(days=285)  # of the company: the overview begins with its month
    window = {"startDate": str(get_first_day_of_month(first_payment)), "endDate": str(today)}
    answer = ask("balanceByCashType", **window)
    days = {each["date"]: [each["value"]] for each in answer["cash"]}
    for each in answer["nonCash"]:
        days[each["date"]].append(each["value"])
    read = read_chart_table(page, "Cash balance")
    read = {str(datetime.strptime(day, "%d %b %Y").date()): cells for day, cells in read.items()}
    assert {day: read[day][:2] for day in days} == days  # the days after these are projected
    accounts = ask("accountBalanceByAccount", **window)
    assert {each["accountName"]: each["value"] for each in accounts.values()} == {
        name: cells[0] for name, cells in read_chart_table(page, "Accounts").items() if name != "All accounts"
    }
    flows = ask("cashFlowTimeSeries", startDate=str(today.replace(day=1)), endDate=str(today), interval="month")
    running = f"{today:%b %Y}" if today == get_last_day_of_month(today) else f"{today:%b %Y} (incomplete)"
    assert read_chart_table(page, "Cash flow")[running][:2] == [
        flows["inflow"][0]["value"],
        flows["outflow"][0]["value"],
    ]
    cash = page.locator(".key-figures div").filter(has_text="Cash").first.locator("dd").first.inner_text()
    assert cash == f"€{round(answer['cash'][-1]['value']):,}"


def test_chart_texts_have_contrast_and_tooltip_works_with_pointer_and_arrow_keys(page, live_server, busy, complaints):
    open_page(page, live_server, busy)
    plot = page.get_by_role("img", name="Cash flow")
    plot.hover(position={"x": 20, "y": 60})
    tip = page.locator(".chart-tooltip:visible")
    expect(tip).to_contain_text("Net")
    page.mouse.move(0, 0)
    expect(tip).to_have_count(0)
    plot.focus()
    page.keyboard.press("End")
    last = tip.inner_text()
    page.keyboard.press("ArrowLeft")
    assert tip.inner_text() != last
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    page.wait_for_load_state("load")
    page.evaluate("document.fonts.ready.then(() => true)")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for _ in range(300):  # a busy machine may not have painted the scheme yet
            if page.evaluate(CONTRAST) == []:
                break
            page.wait_for_timeout(100)
        assert page.evaluate(CONTRAST) == [], scheme


# Names below a chart that touch another in their line.
TOUCHING = """
() => [...document.querySelectorAll(".plot")].flatMap((plot) => {
  const names = [...plot.querySelectorAll(".x-label text:not(.year)")].map((each) => each.getBoundingClientRect())
    .filter((box) => box.width);
  return names.filter((box, index) => names.slice(index + 1).some((other) => box.left < other.right + 2
      && other.left < box.right + 2 && box.top < other.bottom - 2 && other.top < box.bottom - 2))
    .map(() => plot.getAttribute("aria-label"));
})
"""


def test_overview_fits_the_window_and_its_chart_labels_do_not_touch(page, live_server, busy, complaints):
    open_page(page, live_server, busy)
    for months in (6, 12, 24):
        page.goto(f"{live_server.url}/app/companies/{busy[0].id}?months={months}")
        for width in (1280, 1024, 768, 360):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(TOUCHING) == [], (months, width)
    assert list_too_wide(page, 360, 768, 1280) == []


def test_overview_works_without_javascript(browser, live_server, busy):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    open_page(page, live_server, busy)
    expect(page.get_by_role("img", name="Cash balance")).to_be_visible()
    page.get_by_text("Data table: Cash balance").click()
    expect(page.get_by_role("table", name="Cash balance in EUR")).to_be_visible()
    context.close()
