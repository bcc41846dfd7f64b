"""Read the text of a page."""

import re
from html import unescape
from typing import Any


def get_page_text(response: Any) -> str:
    """Return the text of a page, without its markup."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", response.content.decode())))
