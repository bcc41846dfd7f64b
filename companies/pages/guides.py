"""Documentation pages for customers, at /docs/guides/NAME."""

from functools import cache
from itertools import pairwise

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.html import escape
from django.utils.text import slugify
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.token import Token

from companies.api.http_methods import read_only

FINANCE_GUIDES: dict[str, str | Promise] = {
    "month-end": gettext_lazy("Month-end step by step"),
    "importing": "Importing",
    "receivables": "Receivables and payables",
    "closing": "Closing a month",
    "numbers": "How each number is calculated",
    "exports": "Exports",
    "bookkeeping": "Bookkeeping",
    "scenarios": "Scenarios",
    "signing-in": "Signing in",
}
DEVELOPER_GUIDES: dict[str, str | Promise] = {
    "api-keys": "API keys",
    "conventions": "Conventions",
    "oauth": "OAuth for app developers",
    "webhooks": "Webhooks",
    "assistants": "Assistants",
    "sandboxes": "Sandboxes",
}
GUIDES = FINANCE_GUIDES | DEVELOPER_GUIDES

ENGLISH = "en"
FOLD_THRESHOLD_CHARACTERS = 5000  # longer pages are collapsed by section, for small screens
EXAMPLE_TAG = '<pre tabindex="0" role="group" aria-label="Example">'  # scrollable with the keyboard


@read_only
def show_guide(request: HttpRequest, name: str) -> HttpResponse:
    """Show a guide."""
    if name not in GUIDES:
        raise Http404
    language = get_language() if get_language() in list_guide_languages(name) else ENGLISH
    page_context = {
        "guides": [
            (heading, [(name, title, is_in_english_only(name)) for name, title in guides.items()])
            for heading, guides in ((_("For finance teams"), FINANCE_GUIDES), (_("For developers"), DEVELOPER_GUIDES))
        ],
        "name": name,
        "title": GUIDES[name],
        "guide_language": language,
        "body": render_guide(name, language),
    }
    return render(request, "guide.html", page_context)


@cache
def list_guide_languages(name: str) -> set[str]:
    """Return the languages of a guide: English, and those of `docs/<language>/`."""
    return {ENGLISH, *(path.parent.name for path in (settings.ROOT / "docs").glob(f"*/{name}.md"))}


def is_in_english_only(name: str) -> bool:
    """Return whether a guide is not translated into the language of the reader."""
    return get_language() != ENGLISH and get_language() not in list_guide_languages(name)


@cache
def render_guide(name: str, language: str) -> str:
    """Render a guide's Markdown as HTML with anchors and resolved links; cached."""
    folder = settings.ROOT / "docs" / ("" if language == ENGLISH else language)
    text = (folder / f"{name}.md").read_text(encoding="utf-8")
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    for token, next_token in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slugify(next_token.content))
        elif token.type == "table_open":
            token.attrSet("tabindex", "0")
        elif token.type == "fence":
            token.info = ""
    for token in tokens:
        token.children = replace_guide_links(token.children) if token.children else token.children
    if len(text) > FOLD_THRESHOLD_CHARACTERS:
        tokens = wrap_sections_in_details(tokens)
    html = str(markdown.renderer.render(tokens, markdown.options, {}))
    return html.replace("<pre>", EXAMPLE_TAG)  # only our own tags: quoted HTML is escaped


def wrap_sections_in_details(tokens: list[Token]) -> list[Token]:
    """Wrap each section in a <details> element."""
    folded_tokens: list[Token] = []
    closing_tokens: list[Token] = []
    for token, inside in pairwise([*tokens, Token("end", "", 0)]):
        if token.type == "heading_open" and token.tag == "h2":
            title = escape(inside.content.replace("`", ""))
            folded_tokens += [
                *closing_tokens,
                build_html_token(f'<details class="page-section"><summary>{title}</summary>\n'),
            ]
            closing_tokens = [build_html_token("</details>\n")]
        folded_tokens.append(token)
    return folded_tokens + closing_tokens


def build_html_token(text: str) -> Token:
    """Build a token of raw HTML."""
    return Token("html_block", "", 0, content=text)


def replace_guide_links(tokens: list[Token]) -> list[Token]:
    """Resolve links to other guides and screenshots; links to other files of the repository become text."""
    visible_tokens: list[Token] = []
    is_outside_link = False
    for token in tokens:
        if token.type == "link_open":
            target = resolve_guide_link(str(token.attrGet("href")))
            is_outside_link = target is None
            token.attrSet("href", target or "")
        if token.type == "image":
            token.attrSet("src", f"{settings.STATIC_URL}{token.attrGet('src')}")
        if not (is_outside_link and token.type in ("link_open", "link_close")):
            visible_tokens.append(token)
        if token.type == "link_close":
            is_outside_link = False
    return visible_tokens


def resolve_guide_link(target: str) -> str | None:
    """Return the URL that a link of a guide leads to; None if the service does not serve the target."""
    if target.startswith(("#", "https://", "/")):
        return target
    file_name, _, anchor = target.partition("#")
    name = file_name.removeprefix("../").removesuffix(".md")  # of a translation
    return f"/docs/guides/{name}{'#' if anchor else ''}{anchor}" if name in GUIDES else None
