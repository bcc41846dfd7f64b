"""The monthly report printed by Chromium on A4 in portrait: nothing is cut off."""

import io
import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect
from pypdf import PdfReader

from companies.models import User
from ledger.calc.months import add_months, format_month, get_first_day_of_month
from tests import factories
from tests.browser.conftest import sign_in_by_cookie

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
A4_POINTS = (595, 842)
MARGIN_POINTS = 30  # the page's margins are a little wider
# Texts of cells and headings, and how far their tables and the page reach beyond their place.
CELLS = """
() => [...document.querySelectorAll('.report :is(td, th)')]
    .filter((cell) => !cell.closest('.screen-only, .kind-unavailable'))
    .map((cell) => cell.innerText.trim()).filter(Boolean)
"""
WIDTHS = """
() => [...document.querySelectorAll('.report .scroll-area')].map((place) => place.scrollWidth - place.clientWidth)
"""
# The profit and loss after an empty space, with more rows than a table that is kept together.
LENGTHEN_RESULTS = """
() => {
    for (const part of document.querySelectorAll('.report > :not(:has(#results-heading))')) part.remove();
    document.querySelector('.report').insertAdjacentHTML('afterbegin', '<div id="space"></div>');
    const body = document.querySelector('.report tbody');
    for (let count = 0; count < 20; count++) body.append(body.lastElementChild.cloneNode(true));
}
"""


@pytest.fixture
def report(make_api):
    """A month whose amounts have eight digits before the point, with a long category; returns what signs in to it."""
    owner = factories.UserFactory(email="olga@acme.example")
    acme = factories.make_company(name="Acme", owner=owner)
    api = make_api(acme)
    month = add_months(get_first_day_of_month(datetime.now(tz=UTC).date()), -1)
    bank = api.post("accounts", {"type": "bank", "name": "Bank"}).json()["id"]
    keys = {row["systemKey"]: row["id"] for row in api.get("categories").json()}
    name = "Subscriptions of software for the development of products"
    long_category = api.post("categories", {"name": name, "plTypes": ["pd"]}).json()["id"]
    lines = [(keys["revenueRecurring"], "revenue", 1), (keys["hosting"], "cogs", -1), (long_category, "pd", -1)]
    for back in (0, 1, 12):
        for number, (category, line, sign) in enumerate(lines):
            day = add_months(month, -back) + timedelta(days=3)
            amount = f"{sign * (98_765_432.10 - 11_111_111 * number - back):.2f}"
            row = {"accountId": bank, "date": str(day), "amountValue": amount, "fromTo": f"Party {number}"}
            made = api.post("transactions", row).json()["id"]
            split = {"categoryId": category, "plSplit": {line: float(amount)}}
            path = f"transactions/{made}/categorizations"
            assert api.put(path, {"categorizations": {"a": split}}).status_code == 200
    for category, line, _sign in lines:
        amount = {"type": "fixed", "amount": {"value": 87_654_321, "currency": "EUR"}}
        item = {"month": format_month(month), "plType": line, "categoryId": category, "amount": amount, "duration": 1}
        assert api.post("plan_items", item).status_code == 201
    api.put(f"reports/{format_month(month)}/commentary", {"text": "The month was as planned.\n\nWe hired two people."})
    return acme, format_month(month), api


def print_report(page):
    return PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True)))


def remove_spaces(text):
    """The text without spaces and ligatures."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def list_text_positions(pdf_page):
    """(text, left) of each piece of text on a page, in points."""
    results = []

    def note(text, cm, tm, font, size):
        if text.strip():
            results.append((text.strip(), cm[0] * tm[4] + cm[2] * tm[5] + cm[4]))

    pdf_page.extract_text(visitor_text=note)
    return results


@pytest.mark.parametrize("shared", [False, True])
def test_report_prints_on_a4_without_cut_columns(page, live_server, report, settings, shared):
    acme, month, api = report
    settings.ALLOWED_HOSTS = ["*"]
    settings.APP_URL = f"{live_server.url}/app"
    if shared:
        expires = (datetime.now(tz=UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        page.goto(api.post(f"reports/{month}/links", {"expiresTime": expires}).json()["url"])
    else:
        sign_in_by_cookie(page, live_server.url, User.objects.get(email="olga@acme.example"))
        page.goto(f"{live_server.url}/app/companies/{acme.id}/reports/{month}")
    page.wait_for_selector("#figures-heading")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 703, "height": 1000})  # 186 mm: A4 without the margins of the style sheet
    assert set(page.evaluate(WIDTHS)) == {0}
    cells = page.evaluate(CELLS)
    printed = print_report(page)
    whole = "".join(each.extract_text() for each in printed.pages)
    compact = remove_spaces(whole)
    for each in printed.pages:
        assert (each.mediabox.width, each.mediabox.height) == pytest.approx(A4_POINTS, abs=2)
        assert all(0 < left < A4_POINTS[0] - MARGIN_POINTS for _text, left in list_text_positions(each))
    assert [text for text in cells if remove_spaces(text) not in compact] == []
    assert any("98,765,432.10" in text for text in cells)
    assert page.locator(".kind-unavailable").count() == (0 if shared else 4)
    assert "Notavailable" not in compact, "measures without a figure are for the screen"
    assert "Themonthwasasplanned." in compact
    assert "Writecommentary" not in compact
    assert "Editcommentary" not in compact
    count = len(printed.pages)
    assert count <= 4
    for number, each in enumerate(printed.pages, 1):
        assert f"{number} / {count}" in each.extract_text()
        assert remove_spaces(each.extract_text()).count("Acme·") == 1, "the heading, or the line above each later page"


def test_heading_of_a_long_table_is_printed_with_its_first_rows(page, live_server, report):
    """Wherever on a page the table begins."""
    acme, month, _api = report
    sign_in_by_cookie(page, live_server.url, User.objects.get(email="olga@acme.example"))
    page.goto(f"{live_server.url}/app/companies/{acme.id}/reports/{month}")
    page.wait_for_selector("#results-heading")
    page.evaluate(LENGTHEN_RESULTS)
    page.emulate_media(media="print")
    positions = set()
    for height in range(700, 960, 20):
        page.evaluate("(height) => { document.getElementById('space').style.height = `${height}px`; }", height)
        texts = [remove_spaces(each.extract_text()) for each in print_report(page).pages]
        (number,) = [number for number, text in enumerate(texts) if "ProfitandlossLine" in text]
        assert "Costofrevenue" in texts[number], height
        positions.add(number)
    assert positions == {0, 1}, "the table begins on either page"


def test_print_names_the_company_once_and_underlines_nothing(page, live_server, report):
    acme, month, _api = report
    sign_in_by_cookie(page, live_server.url, User.objects.get(email="olga@acme.example"))
    page.goto(f"{live_server.url}/app/companies/{acme.id}/reports/{month}")
    page.emulate_media(media="print")
    assert remove_spaces(print_report(page).pages[0].extract_text()).count("Acme") == 1
    links = page.locator(".report .statement td a")
    assert links.count() > 0
    assert set(links.evaluate_all("all => all.map((each) => getComputedStyle(each).textDecorationLine)")) == {"none"}


def test_shared_report_names_the_product_and_prints_with_a_button(page, live_server, report, settings):
    _acme, month, api = report
    settings.ALLOWED_HOSTS = ["*"]
    settings.APP_URL = f"{live_server.url}/app"
    expires = (datetime.now(tz=UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    page.add_init_script("window.print = () => { window.printed = true; }")
    page.goto(api.post(f"reports/{month}/links", {"expiresTime": expires}).json()["url"])
    expect(page.locator("header .brand")).to_have_text("Tidebook")
    expect(page.locator("h1")).to_contain_text("Acme")
    button = page.get_by_role("button", name="Print")
    button.click()
    assert page.evaluate("window.printed")
    page.emulate_media(media="print")
    expect(button).to_be_hidden()
    expect(page.locator("header .brand")).to_be_visible()
