"""What people read of a page, and what of it is left in English on a page in German: nothing but what people named."""

import json
import re
from html.parser import HTMLParser
from zoneinfo import available_timezones

from companies.locales import get_month_names
from config import catalogs
from tests.machine import Machine

WORD = re.compile(r"[^\W\d_]{2,}")
SPOKEN_ATTRIBUTES = ("title", "alt", "placeholder", "aria-label")
# The same in both languages; what the file says that is being imported; what stands in an address or names an event.
NAMES = {"Tidebook", "MRR", "ARPA", "in", "KB", "Windows", "Shift_JIS", "Shift", "JIS", "ISO", "GB18030", "UTF"}
FILE_WORDS = {"Date", "Amount", "Text", "Coffee", "Tea", "nothing", "Globex", "R"}
CODE = re.compile(r"\b[A-Z]{3}\b|\S+(?:://|\w\.\w)\S+|\bCAMT\.053")
DATA_SCRIPT = """
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


class VisibleText(HTMLParser):
    """What people read of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.silent = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.silent += tag in ("code", "script", "style", "kbd")
        self.texts += [" ".join(value.split()) for name, value in attributes if value and name in SPOKEN_ATTRIBUTES]

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in ("code", "script", "style", "kbd")

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.texts.append(" ".join(data.split()))


def list_known_words(machine: Machine) -> set[str]:
    """Return words that are the same in both languages, and all that people named on this machine."""
    named = json.loads(machine.run("shell", "-v", "0", "-c", DATA_SCRIPT).stdout)
    same = [message.id for message in catalogs.read_catalog("de") if message.id and message.id == message.string]
    months = {*get_month_names("en", full=False).values()} & {*get_month_names("de", full=False).values()}
    texts = named + same + sorted(available_timezones())
    return {word for text in texts for word in WORD.findall(text)} | NAMES | FILE_WORDS | months


def list_english_texts(english: str, german: str, known_words: set[str]) -> list[str]:
    """Return the texts of a page that are the same in its two languages though their words are not known."""
    english_texts, german_texts = VisibleText(english).texts, VisibleText(german).texts
    if english_texts == german_texts:
        return ["is not translated"]
    same = {*english_texts} & {*german_texts}
    return sorted(f"left in English: {text}" for text in same if not {*WORD.findall(CODE.sub("", text))} <= known_words)
