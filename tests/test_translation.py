"""Every text of the pages goes through gettext, and every translation is whole."""

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages import Catalog
from django.conf import settings
from django.template.base import Lexer, Token, TokenType

from companies.locales import LANGUAGES
from config import catalogs

TEMPLATES = Path(settings.ROOT) / "templates"
PROGRAM_TEMPLATES = [
    "admin",
    "docs.html",
    "error_codes.html",
    "error_table.html",
    "guide.html",
    "openapi.md",
]  # staff's and developers': English
PAGES = sorted(
    path for path in TEMPLATES.rglob("*.html") if path.relative_to(TEMPLATES).parts[0] not in PROGRAM_TEMPLATES
)
SPOKEN_ATTRIBUTES = {"title", "alt", "placeholder", "aria-label", "aria-roledescription", "aria-valuetext", "label"}
CLASSES = re.compile(r"{% block \w+_class %}[^{]*{% endblock(?: \w+)? %}")  # words of the style
EMPTY = re.compile(r"[\w-]+=\"\"")  # attributes of which all is translated
CODE = re.compile(r"\S+(?:://|\w\.\w)\S+")  # addresses, and the names of events
NAMES = {"Tidebook", "https", "MRR", "ARPA", "PDF", "CSV", "ms"}  # the same in every language
PLACEHOLDER = re.compile(r"\{\w*[^{}]*\}|%\(\w+\)s|%[sd]")


@pytest.fixture(params=LANGUAGES)
def catalog(request: pytest.FixtureRequest) -> Catalog:
    return catalogs.read_catalog(request.param)


def test_catalog_contains_all_source_texts(catalog):
    """`manage.py translations` brings it up to date."""
    assert {(message.context, message.id) for message in catalog if message.id} == set(catalogs.collect_texts())


def list_translated_f_strings(source: str) -> list[int]:
    """The lines of f-strings that translate a text in them."""
    return [
        call.lineno
        for string in ast.walk(ast.parse(source))
        if isinstance(string, ast.JoinedStr)
        for call in ast.walk(string)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in catalogs.KEYWORDS
    ]


def test_no_text_is_translated_inside_an_f_string():
    """The collection of texts does not look into f-strings: the text would stay English."""
    found = [
        f"{path}:{line}"
        for package in catalogs.SOURCE_PACKAGES
        for path in (settings.ROOT / package).rglob("*.py")
        for line in list_translated_f_strings(path.read_text(encoding="utf-8"))
    ]
    assert found == []
    assert list_translated_f_strings("a = 1\nb = f\"{a} {_('Text')}\"") == [2]


def test_every_text_is_translated(catalog):
    assert catalogs.find_untranslated(catalog) == []
    assert [message.id for message in catalog if message.id and message.fuzzy] == []


def test_translations_keep_placeholders_tags_and_whitespace(catalog):
    for message in catalog:
        if not message.id:
            continue
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        for text, texts in zip((ids[0], *ids[1:] * len(strings)), strings, strict=False):
            if not isinstance(message.id, tuple):  # one of a plural may leave its number out
                assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(texts)), text
            else:
                assert set(PLACEHOLDER.findall(texts)) <= {
                    result for each in ids for result in PLACEHOLDER.findall(each)
                }
            assert (text[:1].isspace(), text[-1:].isspace()) == (texts[:1].isspace(), texts[-1:].isspace()), text
            assert sorted(re.findall(r"</?\w+", text)) == sorted(re.findall(r"</?\w+", texts)), text


def test_compiled_catalog_is_up_to_date(catalog):
    """The compiled file is kept too: there is no compiler to be installed where the service runs."""
    path = catalogs.get_catalog_path(str(catalog.locale))
    assert path.with_suffix(".mo").read_bytes() == catalogs.compile_catalog(catalog)
    assert path.read_bytes() == catalogs.serialize_catalog(catalog)


class SpokenText(HTMLParser):
    """Collects what people read of a page's source."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.silent = 0  # inside code, which is the same in every language

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.silent += tag in ("code", "script", "style", "kbd")
        self.found += [
            value for name, value in attributes if value and (name in SPOKEN_ATTRIBUTES or name.startswith("data-text"))
        ]

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attributes if value and name in SPOKEN_ATTRIBUTES]

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in ("code", "script", "style", "kbd")

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.found.append(data)


def list_untranslated(source: str) -> list[str]:
    """The words of a template that stand outside of gettext, also as arguments of its tags."""
    html, arguments = "", []
    inside = False
    for token in Lexer(CLASSES.sub("", source)).tokenize():
        if token.token_type == TokenType.BLOCK and token.contents.split()[0] in ("blocktranslate", "endblocktranslate"):
            inside = token.contents.startswith("blocktranslate")
            continue
        if inside:
            continue
        if token.token_type == TokenType.TEXT:
            html += token.contents
        elif token.token_type in (TokenType.BLOCK, TokenType.VAR):
            arguments += list_spoken_arguments(token)
    parser = SpokenText()
    parser.feed(EMPTY.sub("", html))
    words = [text.strip() for text in parser.found]
    return [text for text in words if has_words(text)] + arguments


def list_spoken_arguments(token: Token) -> list[str]:
    if token.contents.startswith(("translate ", "trans ")):
        return []
    texts = re.sub(r"_\((\"[^\"]*\"|'[^']*')\)", "", token.contents)
    results = [text for pair in re.findall(r"\"([^\"]*)\"|'([^']*)'", texts) for text in pair]
    return [text for text in results if re.match(r"\s*[A-Z][a-z]", text) or re.search(r"[a-z] [a-z]", text)]


def has_words(text: str) -> bool:
    return any(word not in NAMES for word in re.findall(r"[^\W\d_]{2,}", CODE.sub("", text)))


def test_templates_have_no_untranslated_text():
    assert len(PAGES) > 100
    untranslated = {
        str(path.relative_to(TEMPLATES)): list_untranslated(path.read_text(encoding="utf-8")) for path in PAGES
    }
    assert {path: texts for path, texts in untranslated.items() if texts} == {}


def test_untranslated_text_is_found():
    source = '<p title="Close" class="x">{% translate "Open" %} all {{ name|default:"None yet" }}<code>go</code></p>'
    assert list_untranslated(source) == ["Close", "all", "None yet"]
