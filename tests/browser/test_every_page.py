"""What every page keeps to, in English and German, light and dark, wide and narrow: no page can be added without it.

Each page is loaded once in each language; all else is looked at in these two.
"""

from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from companies.pages.guides import GUIDES
from tests.browser.axe import list_violations, set_color_scheme
from tests.browser.demo_site import ROUTES, SIGNED_OUT, is_page
from tests.browser.fonts import list_too_wide, measure_width_at
from tests.browser.page_length import MAX_PAGE_HEIGHT, PHONE, get_page_height
from tests.browser.tables import list_table_faults
from tests.browser.visible_text import list_english_texts, list_known_words

pytestmark = [pytest.mark.browser, pytest.mark.server]
WIDE, NARROW = 1280, 360
WIDTHS = (320, 768, WIDE, 1440, 1920)  # the narrowest of each layout
GERMAN_WIDTHS = (320, 768)
COMPANY = "app/companies/<str:company_id>"
# Pages with all that only wide screens show: sidebar, tabs, filters, headings of columns.
WIDE_ROUTES = (
    COMPANY,
    f"{COMPANY}/transactions",
    f"{COMPANY}/accounts",
    f"{COMPANY}/plan",
    f"{COMPANY}/receivables",
    f"{COMPANY}/settings/categories",
    f"{COMPANY}/settings/members",
)
REPORT_SCRIPT = """
    window.broken = [];
    document.addEventListener("securitypolicyviolation", (event) => {
        window.broken.push(`${event.violatedDirective} ${event.blockedURI}`);
    });
"""

# Boxes that ask for confirmation and open beside the page, under the sidebar or over the edge of the window.
HIDDEN_BOXES_SCRIPT = """
() => [...document.querySelectorAll("main details.confirm")].flatMap((details) => {
  details.open = true;
  const box = details.querySelector(".confirm-box")?.getBoundingClientRect();
  details.open = false;
  const left = document.querySelector("main").getBoundingClientRect().left;
  const isInside = !box?.width || (box.left >= left && box.right <= innerWidth);
  return isInside ? [] : [`${details.textContent.trim().slice(0, 40)}: opens beside the page`];
})
"""


@pytest.fixture(scope="module")
def tabs(browser, served, cookies):
    """By language, and whether somebody is signed in: a page to go on in, for a new one costs as much as what is looked
    at there."""
    contexts = {
        (locale, signed_in): open_context(browser, served, cookies if signed_in else None, locale)
        for locale in ("en-GB", "de-DE")
        for signed_in in (True, False)
    }
    yield {key: context.new_page() for key, context in contexts.items()}
    for context in contexts.values():
        context.close()


def open_context(browser, served, cookies, locale="en-GB"):
    """A browser that reports what the policy of a page forbids."""
    context = browser.new_context(
        base_url=served.url,
        locale=locale,
        reduced_motion="reduce",  # a colour on its way to another is none that axe should judge
        storage_state=cookies,
    )
    context.add_init_script(REPORT_SCRIPT)
    return context


@pytest.fixture(scope="module")
def known_words(served):
    """Words that are the same in both languages, with those of everything that has an address."""
    for route in ROUTES:
        served.address(route)
    return list_known_words(served.machine)


@pytest.fixture
def look(tabs, known_words):
    """Opens a page in English and in German and says what is wrong with it; None where there is no page."""

    def look_at(path, *, signed_in=True, is_translated=True):
        page = tabs["en-GB", signed_in]
        with collect_errors(page) as errors:
            response = open_page(page, path)
            if response is None:
                return None
            english = response.text()
            complaints = list_complaints(page, response)
        if signed_in and path.startswith("/app"):
            complaints += list_table_faults(page, path)
        if is_translated:
            complaints += list_german_complaints(tabs["de-DE", signed_in], path, english, known_words)
        return complaints + errors

    return look_at


@contextmanager
def collect_errors(page):
    """What the browser's console says within the context."""
    errors = []

    def hear(message):
        if message.type == "error":
            errors.append(message.text)

    def fail(error):
        errors.append(str(error))

    page.on("console", hear)
    page.on("pageerror", fail)
    try:
        yield errors
    finally:
        page.remove_listener("console", hear)
        page.remove_listener("pageerror", fail)


def open_page(page, path):
    """Open a page on a phone, in the light; None where a browser is shown none."""
    return open_on_phone(page, path) if is_page(page.context, path) else None


def open_on_phone(page, path):
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="light")
    return page.goto(path)


def list_complaints(page, response):
    """What axe, the page's policy, its length and its width say against a page that was just opened.

    In the dark other colours stand in the same places: only they are judged, on a wide screen.
    """
    length = get_page_height(page)
    texts = [f"at {NARROW}: {length} pixels long"] if length > MAX_PAGE_HEIGHT else []
    # A browser then sends "Origin: null" with the page's forms, which the CSRF check refuses.
    if response.headers.get("referrer-policy") == "no-referrer" and page.locator("form[method=post]").count():
        texts.append("forms of this page cannot be sent")
    texts += [f"at {NARROW}, light: {each}" for each in list_violations(page)]
    page.set_viewport_size({"width": WIDE, "height": 900})
    set_color_scheme(page, "dark")
    texts += [f"at {WIDE}, dark: {each}" for each in list_violations(page, "color-contrast")]
    texts += page.evaluate(HIDDEN_BOXES_SCRIPT)
    texts += list_too_wide(page, *WIDTHS)
    return texts + page.evaluate("window.broken")


def list_german_complaints(page, path, english, known_words):
    """What is wrong with a page in German: its length, its width, and what is left of the English one."""
    response = open_on_phone(page, path)
    length = get_page_height(page)
    texts = [f"in German: {length} pixels long"] if length > MAX_PAGE_HEIGHT else []
    texts += list_too_wide(page, *GERMAN_WIDTHS)
    if path.endswith("/notifications"):  # kept for all who are told, in one language
        return texts
    return texts + list_english_texts(english, response.text(), known_words)


@pytest.mark.parametrize("route", ROUTES)
def test_every_page_passes_accessibility_csp_width_and_language_checks(route, look, served):
    complaints = look(served.address(route), signed_in=not route.startswith(SIGNED_OUT))
    assert not complaints


def test_list_with_a_wrong_filter_passes_accessibility_csp_and_width_checks(tabs, served):
    page = tabs["en-GB", True]
    response = open_on_phone(page, f"{served.address(COMPANY)}/transactions?startDate=x&counterparty=y")
    assert response.status == 400
    assert list_complaints(page, response) == []


@pytest.mark.parametrize("path", ["/docs/errors", *(f"/docs/guides/{name}" for name in GUIDES)])
def test_documentation_pages_pass_accessibility_csp_and_width_checks(path, look):
    assert look(path, is_translated=False) == []


def test_consent_page_passes_accessibility_csp_width_and_language_checks(browser, served, tabs, look):
    # Consent asks for the password again where the sign-in is old, as it is late in a slow run.
    recent_cookies = served.signed_in(browser)["cookies"]
    for locale in ("en-GB", "de-DE"):
        tabs[locale, True].context.add_cookies(recent_cookies)
    assert look(served.consent()) == []
    expect(tabs["en-GB", True].get_by_role("heading", level=1)).to_contain_text("Forecaster")


@pytest.mark.parametrize("route", WIDE_ROUTES)
def test_parts_of_wide_screens_are_accessible_in_the_light(route, tabs, served):
    page = tabs["en-GB", True]
    assert open_page(page, served.address(route))
    page.set_viewport_size({"width": WIDE, "height": 900})
    assert list_violations(page) == []


def test_wide_table_scrolls_inside_its_card_with_a_hint(browser, served, cookies):
    context = browser.new_context(
        base_url=served.url, viewport={"width": 768, "height": 900}, storage_state=cookies, bypass_csp=True
    )  # fmt: skip
    page = context.new_page()
    page.goto(f"/app/companies/{served.company_id}/transactions")
    page.add_style_tag(content=".transaction-list td.name-cell { min-width: 60rem; }")
    expect(page.get_by_text("Scroll right for more columns.")).to_be_visible()
    card = page.get_by_role("region", name="Transactions")
    card.evaluate("(card) => card.scrollTo(300, 0)")
    assert page.locator("tbody td.select-cell").first.bounding_box()["x"] == card.bounding_box()["x"] + 1
    assert measure_width_at(page, 768) <= 768
    context.close()


@pytest.mark.parametrize(
    ("route", "signed_in"),
    [("app/", True), ("app/sign-in", False), (COMPANY, True), (f"{COMPANY}/accounts/<uuid:account_id>", True)],
)
def test_page_checks_reach_the_main_pages(tabs, served, route, signed_in):
    """The walk is no walk past closed doors."""
    assert route in ROUTES
    assert open_page(tabs["en-GB", signed_in], served.address(route))


def test_page_check_finds_faults(browser, served, cookies):
    """A page broken on purpose, in each of the ways."""
    context = browser.new_context(base_url=served.url, storage_state=cookies)
    context.add_init_script(REPORT_SCRIPT)
    broken = (
        '<!doctype html><html lang="en"><title>x</title><body><img src="/mark.svg"><p id="wide">wide</p>'
        '<div><button class="low">a</button></div><div><button class="low">b</button></div>'
        '<script>document.title = "y"</script></body></html>'
    )
    policy = {"Content-Security-Policy": "script-src 'none'", "Content-Type": "text/html"}
    context.route("**/app/broken", lambda route: route.fulfill(body=broken, headers=policy))
    page = context.new_page()
    page.goto("/app/broken")
    page.evaluate("document.getElementById('wide').style.width = '2000px'")
    page.evaluate(
        "document.querySelectorAll('.low').forEach((each) => (each.style.cssText = 'display: block; height: 9px'))"
    )
    assert {"image-alt", "target-size", "page-has-heading-one"} <= {
        each.partition(":")[0] for each in list_violations(page)
    }
    assert page.evaluate("document.documentElement.scrollWidth") > WIDE
    assert page.evaluate("window.broken") == ["script-src-elem inline"]
    context.close()


def test_page_check_finds_faults_in_dark_mode(tabs):
    page = tabs["en-GB", False].context.new_page()
    broken = (
        '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>x</title>'
        "<style>@media (prefers-color-scheme: dark) { p { background: #666; color: #777; } }</style>"
        "<body><main><h1>x</h1><p>faint</p></main></body></html>"
    )
    page.route("**/app/broken", lambda route: route.fulfill(body=broken, content_type="text/html"))
    complaints = list_complaints(page, open_on_phone(page, "/app/broken"))
    page.close()
    assert [each.partition(": color-contrast")[0] for each in complaints] == ["at 1280, dark"]


def test_page_check_finds_long_pages_and_words_too_wide_in_another_font(tabs):
    page = tabs["en-GB", False].context.new_page()
    word = "abcdefghijklmnopqrstuvwxyz0123456789"
    broken = (
        '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>x</title>'
        "<style>body { margin: 0; font: 16px monospace; } h1 { font-size: 17px; } div { height: 6000px; }</style>"
        f"<body><main><h1>{word}</h1><div></div></main></body></html>"
    )
    page.route("**/app/broken", lambda route: route.fulfill(body=broken, content_type="text/html"))
    complaints = list_complaints(page, open_on_phone(page, "/app/broken"))
    page.close()
    assert any("pixels long" in each for each in complaints)
    assert any("at 320 in wide font" in each for each in complaints)
