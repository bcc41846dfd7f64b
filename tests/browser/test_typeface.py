"""The typeface of the pages: a first visit does not wait for it, and later ones begin with it."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FAMILY = "getComputedStyle(document.body).fontFamily"
WHEN = """() => [
  performance.getEntriesByName("first-contentful-paint")[0].startTime,
  performance.getEntriesByType("resource").find((each) => each.name.includes("inter-latin")).startTime,
]"""


def test_a_first_visit_is_drawn_before_its_typeface_is_asked_for(page, live_server, complaints):
    first = page.goto(f"{live_server.url}/app/sign-in").text()
    assert "typeface" not in first
    page.wait_for_selector("html.typeface")
    drawn, asked = page.evaluate(WHEN)
    assert drawn <= asked
    assert page.evaluate(FAMILY).startswith("Inter")
    assert page.evaluate("document.cookie").count("svc-typeface=1") == 1


def test_later_pages_begin_with_it(page, live_server, complaints):
    page.goto(f"{live_server.url}/app/sign-in")
    page.wait_for_selector("html.typeface")
    again = page.reload().text()
    assert 'class="typeface"' in again


def test_where_it_cannot_be_had_the_systems_stays(page, live_server):
    page.route("**/inter-latin*", lambda route: route.abort())
    with page.expect_event("requestfailed", lambda request: "inter-latin" in request.url):
        page.goto(f"{live_server.url}/app/sign-in")
    assert page.evaluate(FAMILY).startswith("system-ui")
    assert "svc-typeface" not in page.evaluate("document.cookie")
    assert 'class="typeface"' not in page.reload().text()


def test_without_scripts_pages_have_it_from_the_beginning(browser, live_server):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        with page.expect_event("requestfinished", lambda request: "inter-latin" in request.url):
            page.goto(f"{live_server.url}/app/sign-in")
