"""What every page keeps to, in light and dark, wide and narrow: no page can be added without it."""

import pytest
from django.urls import get_resolver
from playwright.sync_api import expect

from companies.pages.guides import GUIDES
from tests.browser.axe import list_violations, set_color_scheme
from tests.browser.demo_site import ROUTES, SIGNED_OUT
from tests.browser.fonts import list_too_wide, measure_width_at
from tests.browser.page_length import MAX_PAGE_HEIGHT, PHONE, get_page_height
from tests.browser.tables import list_table_faults
from tests.url_routes import list_url_routes

pytestmark = [pytest.mark.browser, pytest.mark.server]
WIDE, NARROW = 1280, 360
WIDTHS = (1920, 1440, WIDE, 768, NARROW, 320)
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
    """By whether somebody is signed in: a page to go on in, for a new one costs as much as what is looked at there."""
    made = {True: open_context(browser, served, cookies), False: open_context(browser, served, None)}
    yield {signed_in: context.new_page() for signed_in, context in made.items()}
    for context in made.values():
        context.close()


def open_context(browser, served, cookies):
    """A browser that reports what the policy of a page forbids."""
    context = browser.new_context(
        base_url=served.url,
        reduced_motion="reduce",  # a colour on its way to another is none that axe should judge
        storage_state=cookies,
    )
    context.add_init_script(REPORT_SCRIPT)
    return context


@pytest.fixture
def look(tabs, served):
    """Opens a page and says what is wrong with it; None where there is no page."""

    def look_at(path, *, signed_in=True):
        tab = tabs[signed_in]
        if not served.is_page(tab.context, path):
            return None
        complaints = list_complaints(tab, path)
        return complaints + list_table_faults(tab, path) if signed_in and path.startswith("/app") else complaints

    return look_at


def list_complaints(page, path):
    """What axe, the browser's console, its policy, its length and its width say against a page.

    In the dark other colours stand in the same places: only they are looked at, once, wide.
    """
    texts = []

    def hear(message):
        if message.type == "error":
            texts.append(message.text)

    def fail(error):
        texts.append(str(error))

    page.on("console", hear)
    page.on("pageerror", fail)
    page.set_viewport_size(PHONE)
    response = page.goto(path)
    if (length := get_page_height(page)) > MAX_PAGE_HEIGHT:
        texts.append(f"at {NARROW}: {length} pixels long")
    # A browser then sends "Origin: null" with the page's forms, which the CSRF check refuses.
    if response.headers.get("referrer-policy") == "no-referrer" and page.locator("form[method=post]").count():
        texts.append("forms of this page cannot be sent")
    for width, scheme in ((WIDE, "dark"), (WIDE, "light"), (NARROW, "light")):
        set_color_scheme(page, scheme)
        page.set_viewport_size({"width": width, "height": 900})
        rules = ["color-contrast"] if scheme == "dark" else []
        texts += [f"at {width}, {scheme}: {each}" for each in list_violations(page, *rules)]
    page.set_viewport_size({"width": WIDE, "height": 900})
    texts += page.evaluate(HIDDEN_BOXES_SCRIPT)
    texts += list_too_wide(page, *WIDTHS)
    texts += page.evaluate("window.broken")
    page.remove_listener("console", hear)
    page.remove_listener("pageerror", fail)
    return texts


@pytest.mark.parametrize("route", ROUTES)
def test_every_page_passes_accessibility_csp_and_width_checks(route, look, served):
    text = look(served.address(route), signed_in=not route.startswith(SIGNED_OUT))
    assert not text


@pytest.mark.parametrize("path", ["/docs/errors", *(f"/docs/guides/{name}" for name in GUIDES)])
def test_documentation_pages_pass_accessibility_csp_and_width_checks(path, look):
    assert look(path) == []


def test_consent_page_passes_accessibility_csp_and_width_checks(browser, served):
    # Consent asks for the password again where the sign-in is old, as it is late in a slow run.
    context = open_context(browser, served, served.signed_in(browser))
    path = served.consent()
    assert served.is_page(context, path)
    assert list_complaints(context.new_page(), path) == []
    context.close()


def test_wide_table_scrolls_inside_its_card_with_a_hint(browser, served, cookies):
    context = browser.new_context(
        base_url=served.url, viewport={"width": 768, "height": 900}, storage_state=cookies, bypass_csp=True
    )  # fmt: skip
    page = context.new_page()
    page.goto(f"/app/companies/{served.company_id}/transactions")
    page.add_style_tag(content=".movements td.what { min-width: 60rem; }")
    expect(page.get_by_text("Scroll right for more columns.")).to_be_visible()
    card = page.get_by_role("region", name="Transactions")
    card.evaluate("(card) => card.scrollTo(300, 0)")
    assert page.locator("tbody td.tick").first.bounding_box()["x"] == card.bounding_box()["x"] + 1
    assert measure_width_at(page, 768) <= 768
    context.close()


def test_page_checks_reach_the_main_pages(tabs, served):
    """The walk is no walk past closed doors."""
    shown = {path for path, _ in served.list_pages({signed_in: tab.context for signed_in, tab in tabs.items()})}
    assert {served.address(route) for route in ("app/", "app/sign-in", "app/companies/<str:company_id>")} <= shown
    assert len(shown) >= 9
    assert set(ROUTES) <= {route for route, _ in list_url_routes(get_resolver())}


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
    page = tabs[False].context.new_page()
    broken = (
        '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>x</title>'
        "<style>@media (prefers-color-scheme: dark) { p { background: #666; color: #777; } }</style>"
        "<body><main><h1>x</h1><p>faint</p></main></body></html>"
    )
    page.route("**/app/broken", lambda route: route.fulfill(body=broken, content_type="text/html"))
    complaints = list_complaints(page, "/app/broken")
    page.close()
    assert [each.partition(": color-contrast")[0] for each in complaints] == ["at 1280, dark"]


def test_page_check_finds_long_pages_and_words_too_wide_in_another_font(tabs):
    page = tabs[False].context.new_page()
    word = "abcdefghijklmnopqrstuvwxyz0123456789"
    broken = (
        '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>x</title>'
        "<style>body { margin: 0; font: 16px monospace; } h1 { font-size: 17px; } div { height: 6000px; }</style>"
        f"<body><main><h1>{word}</h1><div></div></main></body></html>"
    )
    page.route("**/app/broken", lambda route: route.fulfill(body=broken, content_type="text/html"))
    complaints = list_complaints(page, "/app/broken")
    page.close()
    assert any("pixels long" in each for each in complaints)
    assert any("at 320 in wide font" in each for each in complaints)
    assert not any("in narrow font" in each for each in complaints)
