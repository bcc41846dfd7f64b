"""The commentary of a monthly report as HTML."""

import re

from django import template
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt

register = template.Library()
# Paragraphs, lists and emphasis; no other rule of Markdown is enabled, so that links, images and HTML remain text.
MARKDOWN = MarkdownIt("zero", {"html": False, "breaks": True}).enable(["list", "emphasis", "newline", "escape"])
YEAR_AT_START = re.compile(r"^( {0,3}\d{3,9})([.)])", re.MULTILINE)  # "2026. A good year" is no item of a list


@register.filter
def format_commentary(text: str) -> SafeString:
    """Return a commentary as HTML, with everything escaped that is not a paragraph, a list or emphasis."""
    return SafeString(MARKDOWN.render(YEAR_AT_START.sub(r"\1\\\2", text)))
