"""The typeface of the pages."""

import re
from pathlib import Path

import pytest
from django.conf import settings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TYPEFACE_LOADED = "() => [...document.fonts].some((face) => face.status === 'loaded')"


def test_extended_latin_typeface_loads_if_its_letters_are_shown(page, live_server, complaints):
    page.goto(f"{live_server.url}/app/sign-in")
    page.wait_for_function(TYPEFACE_LOADED)
    with page.expect_event("requestfinished", lambda request: "inter-latin-extended" in request.url):
        page.locator("h1").evaluate("(heading) => { heading.textContent = 'Łódź'; }")


def test_text_is_shown_while_typeface_is_missing(page, live_server):
    page.route("**/*.woff2", lambda route: route.abort())
    with page.expect_event("requestfailed", lambda request: "inter-latin" in request.url):
        page.goto(f"{live_server.url}/app/sign-in")
    assert page.get_by_role("heading", level=1).is_visible()


def test_tabular_numbers_change_only_width_of_digits(page, live_server, complaints):
    page.goto(f"{live_server.url}/app/sign-in")
    page.wait_for_function(TYPEFACE_LOADED)
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
