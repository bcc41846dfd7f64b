"""How the text of a commentary becomes HTML: paragraphs, lists and bold; everything else remains text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.templatetags.commentary import format_commentary

TAGS = re.compile(r"</?(?:p|ul|ol|li|strong|em)>|<br>|<ol start=\"\d{1,9}\">")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        pytest.param("One\nline\n\nTwo", "<p>One<br>\nline</p>\n<p>Two</p>\n", id="paragraphs"),
        pytest.param("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n", id="list"),
        pytest.param("1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n", id="numbered list"),
        pytest.param("2026. Good", "<p>2026. Good</p>\n", id="year"),
        pytest.param("**Up** 3 * 4", "<p><strong>Up</strong> 3 * 4</p>\n", id="bold"),
        pytest.param("# No heading", "<p># No heading</p>\n", id="heading"),
        pytest.param("a < b & c", "<p>a &lt; b &amp; c</p>\n", id="signs"),
        pytest.param("", "", id="empty"),
    ],
)
def test_commentary_shows_paragraphs_lists_and_bold(text, html):
    assert format_commentary(text) == html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[click](javascript:alert(1))",
        "![pixel](https://attacker.example/pixel.png)",
        "<https://attacker.example>",
        "**<b onclick=alert(1)>**",
        "- <svg/onload=alert(1)>",
        "```html\n<script>alert(1)</script>\n```",
        "&lt;script&gt; &#60;script&#62;",
        '[x]: javascript:alert(1) "x"\n[x]',
    ],
)
def test_hostile_commentary_remains_text(text):
    rest = TAGS.sub("", format_commentary(text))
    assert "<" not in rest


@given(st.text(alphabet="<>&\"'*_-[]()!`#\\ \n1.ab", max_size=200))
def test_any_commentary_has_only_tags_without_attributes(text):
    rest = TAGS.sub("", format_commentary(text))
    assert "<" not in rest
    assert ">" not in rest
