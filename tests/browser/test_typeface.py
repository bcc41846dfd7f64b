"""The typeface of the pages: a first visit does not wait for it, later ones begin with it and are laid out once."""

import re
from pathlib import Path

import pytest
from django.conf import settings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FAMILY = "getComputedStyle(document.body).fontFamily"
TYPEFACE_COOKIE_SET = "() => document.cookie.includes('svc-typeface=1')"
PAINT_TIMES = """() => [
  performance.getEntriesByName("first-contentful-paint")[0].startTime,
  performance.getEntriesByType("resource").find((each) => each.name.includes("inter.css")).startTime,
]"""


def test_first_visit_paints_before_typeface_is_requested(page, live_server, complaints):
    page.goto(f"{live_server.url}/app/sign-in")
    page.wait_for_function(TYPEFACE_COOKIE_SET)
    drawn, asked = page.evaluate(PAINT_TIMES)
    assert drawn <= asked
    assert page.evaluate(FAMILY).startswith("Inter")


def test_later_visits_load_typeface_before_first_paint(page, live_server, complaints):
    page.goto(f"{live_server.url}/app/sign-in")
    page.wait_for_function(TYPEFACE_COOKIE_SET)
    assert "disabled" not in page.reload().text().split("</head>")[0]
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    drawn, asked = page.evaluate(PAINT_TIMES)
    assert asked < drawn
    assert page.evaluate("[...document.fonts].filter((face) => face.status === 'loaded').length") == 1


def test_extended_latin_typeface_loads_if_its_letters_are_shown(page, live_server, complaints):
    page.goto(f"{live_server.url}/app/sign-in")
    page.wait_for_function(TYPEFACE_COOKIE_SET)
    with page.expect_event("requestfinished", lambda request: "inter-latin-extended" in request.url):
        page.locator("h1").evaluate("(heading) => { heading.textContent = 'Łódź'; }")


def test_system_font_remains_if_typeface_fails_to_load(page, live_server):
    page.route("**/inter*.css", lambda route: route.abort())
    with page.expect_event("requestfailed", lambda request: "inter" in request.url):
        page.goto(f"{live_server.url}/app/sign-in")
    assert page.evaluate(FAMILY).startswith("system-ui")
    assert not page.evaluate(TYPEFACE_COOKIE_SET)
    assert "disabled" in page.reload().text().split("</head>")[0]


def test_typeface_loads_immediately_without_javascript(browser, live_server):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        with page.expect_event("requestfinished", lambda request: "inter" in request.url):
            page.goto(f"{live_server.url}/app/sign-in")


def test_tabular_numbers_change_only_width_of_digits(page, live_server, complaints):
    page.goto(f"{live_server.url}/app/sign-in")
    page.wait_for_function(TYPEFACE_COOKIE_SET)
    wide = """(heading, [text, figures]) => {
      const span = document.createElement("span");
      span.style.fontVariantNumeric = figures;
      span.textContent = text;
      heading.append(span);
      return span.getBoundingClientRect().width;
    }"""
    heading = page.locator("h1")
    assert heading.evaluate(wide, ["11", "tabular-nums"]) == heading.evaluate(wide, ["00", "tabular-nums"])
    assert heading.evaluate(wide, ["11", "normal"]) < heading.evaluate(wide, ["00", "normal"])
    for text in ("Usage-based", "Cost of revenue", "(none)"):
        assert heading.evaluate(wide, [text, "tabular-nums"]) == heading.evaluate(wide, [text, "normal"])


def test_stylesheet_uses_few_font_weights_and_sizes():
    """A browser makes them anew for each pair, and the first paint of a page waits for that."""
    sheet = (Path(settings.ROOT) / "static" / "site.css").read_text()
    fonts = re.findall(r"font: (\d+) ([\d.]+r?em)", sheet)
    assert {*re.findall(r"font-weight: (\d+)", sheet), *(weight for weight, _ in fonts)} == {"400", "500", "600"}
    assert len({*re.findall(r"font-size: ([\d.]+(?:rem|px))", sheet), *(size for _, size in fonts)}) == 8
