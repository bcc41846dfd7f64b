"""The commentary of a monthly report as HTML."""

from django import template
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt

register = template.Library()
# Paragraphs, lists and emphasis; no other rule of Markdown is enabled, so that links, images and HTML remain text.
MARKDOWN = MarkdownIt("zero", {"html": False, "breaks": True}).enable(["list", "emphasis", "newline", "escape"])


@register.filter
def format_commentary(text: str) -> SafeString:
    """Return a commentary as HTML, with everything escaped that is not a paragraph, a list or emphasis."""
    return SafeString(MARKDOWN.render(text))
