"""The pages of docs/ that customers read, at /docs/guides/NAME."""

from functools import cache
from itertools import pairwise

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token

from companies.api.methods import read_only

GUIDES = {
    "importing": "Importing",
    "numbers": "How each number is calculated",
    "exports": "Exports",
    "keeping": "Keeping the books",
    "signing-in": "Signing in",
    "api-keys": "API keys",
    "oauth": "OAuth for app developers",
    "webhooks": "Webhooks",
    "assistants": "Assistants",
}

LONG = 5000  # characters of a page that is too long for a telephone: there its parts unfold from their titles
EXAMPLE = '<pre tabindex="0" role="group" aria-label="Example">'  # scrolls where it is wide, by keyboard too


@read_only
def guide(request: HttpRequest, name: str) -> HttpResponse:
    if name not in GUIDES:
        raise Http404
    here = {"guides": GUIDES, "name": name, "title": GUIDES[name], "body": drawn(name)}
    return render(request, "guide.html", here)


@cache
def drawn(name: str) -> str:
    """A page's HTML: its headings can be linked to, and its links lead to where the service shows what they mean."""
    text = (settings.ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slugify(inside.content))
        elif token.type == "table_open":
            token.attrSet("tabindex", "0")
        elif token.type == "fence":
            token.info = ""
    for token in tokens:
        token.children = led(token.children) if token.children else token.children
    if len(text) > LONG:
        tokens = folded(tokens)
    html = str(reader.renderer.render(tokens, reader.options, {}))
    return html.replace("<pre>", EXAMPLE)  # ours alone: what a page quotes is escaped


def folded(tokens: list[Token]) -> list[Token]:
    """Each part below the page's title in a fold of its own."""
    kept: list[Token] = []
    end: list[Token] = []
    for token, inside in pairwise([*tokens, Token("end", "", 0)]):
        if token.type == "heading_open" and token.tag == "h2":
            title = escape(inside.content.replace("`", ""))
            kept += [*end, html_of(f'<details class="part"><summary>{title}</summary>\n')]
            end = [html_of("</details>\n")]
        kept.append(token)
    return kept + end


def html_of(text: str) -> Token:
    return Token("html_block", "", 0, content=text)


def led(tokens: list[Token]) -> list[Token]:
    """Links to other guides lead to them; those to the repository's other files are text, for readers have none."""
    kept: list[Token] = []
    outside = False
    for token in tokens:
        if token.type == "link_open":
            target = where(str(token.attrGet("href")))
            outside = target is None
            token.attrSet("href", target or "")
        if not (outside and token.type in ("link_open", "link_close")):
            kept.append(token)
        if token.type == "link_close":
            outside = False
    return kept


def where(target: str) -> str | None:
    """The address that a link of a page leads to; None where the service shows no such thing."""
    if target.startswith(("#", "https://", "/")):
        return target
    file, _, place = target.partition("#")
    name = file.removesuffix(".md")
    return f"/docs/guides/{name}{'#' if place else ''}{place}" if name in GUIDES else None
