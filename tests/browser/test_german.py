"""The pages in German: nothing on them is left in English but what people named, and every page fits the screen."""

import json
import re
from html.parser import HTMLParser
from zoneinfo import available_timezones

import pytest

from companies.locales import get_month_names
from config import catalogs
from tests.browser.fonts import list_too_wide
from tests.browser.page_length import MAX_PAGE_HEIGHT, measure_length

pytestmark = [pytest.mark.browser, pytest.mark.server]
WORD = re.compile(r"[^\W\d_]{2,}")
SPOKEN_ATTRIBUTES = ("title", "alt", "placeholder", "aria-label")
# The same in both languages; what the file says that is being imported; what stands in an address or names an event.
NAMES = {"Tidebook", "MRR", "ARPA", "in", "KB", "Windows", "Shift_JIS", "Shift", "JIS", "ISO", "GB18030", "UTF"}
FILE_WORDS = {"Date", "Amount", "Text", "Coffee", "Tea", "nothing", "Globex", "R"}
CODE = re.compile(r"\b[A-Z]{3}\b|\S+(?:://|\w\.\w)\S+|\bCAMT\.053")
ENGLISH = "/notifications"  # is kept for all who are told, in one language
DATA = """
import json
from django.apps import apps
said = []
for model in apps.get_models():
    fields = [
        field.attname for field in model._meta.concrete_fields
        if field.get_internal_type() in ("CharField", "TextField", "EmailField", "URLField") and not field.choices
    ]
    if fields and model._meta.db_table not in ("companies_auditentry", "django_session"):
        for row in model._base_manager.values_list(*fields):
            said.extend(str(value) for value in row if value)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def contexts(browser, served, cookies):
    """By language, and by whether somebody is signed in."""
    made = {
        (locale, signed_in): browser.new_context(
            base_url=served.url, locale=locale, extra_http_headers={"Accept-Language": locale},
            storage_state=cookies if signed_in else None,
        )
        for locale in ("en-GB", "de-DE") for signed_in in (True, False)
    }  # fmt: skip
    yield made
    for context in made.values():
        context.close()


@pytest.fixture(scope="module")
def pages(served, contexts):
    """The path of every page, and whether it is one for people who signed in."""
    english = {signed_in: contexts["en-GB", signed_in] for signed_in in (True, False)}
    return [*served.list_pages(english), (served.consent(), True)]


class VisibleText(HTMLParser):
    """What people read of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.silent = 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.silent += tag in ("code", "script", "style", "kbd")
        self.texts += [" ".join(value.split()) for name, value in attributes if value and name in SPOKEN_ATTRIBUTES]

    def handle_endtag(self, tag):
        self.silent -= tag in ("code", "script", "style", "kbd")

    def handle_data(self, data):
        if not self.silent:
            self.texts.append(" ".join(data.split()))


def test_german_pages_contain_no_english_text(served, contexts, pages):
    named = json.loads(served.machine.run("shell", "-v", "0", "-c", DATA).stdout)
    same = [message.id for message in catalogs.read_catalog("de") if message.id and message.id == message.string]
    months = {*get_month_names("en", full=False).values()} & {*get_month_names("de", full=False).values()}
    zones = sorted(available_timezones())
    known = {word for text in named + same + zones for word in WORD.findall(text)} | NAMES | FILE_WORDS | months
    left = []
    for path, signed_in in pages:
        english, german = (
            VisibleText(contexts[locale, signed_in].request.get(path).text()).texts for locale in ("en-GB", "de-DE")
        )
        assert english != german, path
        results = {text for text in {*english} & {*german} if not {*WORD.findall(CODE.sub("", text))} <= known}
        left += [f"{path}: {text}" for text in sorted(results) if not path.endswith(ENGLISH)]
    assert not left, "\n".join(left)


@pytest.mark.parametrize("signed_in", [True, False])
def test_german_pages_fit_the_screen(contexts, pages, signed_in):
    page, too_large = contexts["de-DE", signed_in].new_page(), []
    for path, needs in pages:
        if needs == signed_in:
            if (length := measure_length(page, path)) > MAX_PAGE_HEIGHT:
                too_large.append(f"{path}: {length} pixels long")
            too_large += list_too_wide(page, 320, 768)
    assert too_large == []


# Pairs of texts in a chart that touch or overlap.
OVERLAP_SCRIPT = """
() => [...document.querySelectorAll(".chart .plot")].flatMap((plot) => {
  const texts = [...plot.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const shown = texts.filter(([, box]) => box.width);
  return shown.flatMap(([name, a], index) => shown.slice(index + 1)
    .filter(([, b]) => a.left < b.right + 1 && b.left < a.right + 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2)
    .map(([other]) => `${name} and ${other}`));
})
"""


@pytest.mark.parametrize("width", [320, 390, 768, 1024, 1280, 1440, 1920])
def test_german_chart_labels_do_not_overlap(contexts, served, width):
    page = contexts["de-DE", True].new_page()
    page.set_viewport_size({"width": width, "height": 900})
    for path in ("", "/recurring-revenue"):
        page.goto(f"/app/companies/{served.company_id}{path}")
        assert page.evaluate(OVERLAP_SCRIPT) == [], path
    page.close()
