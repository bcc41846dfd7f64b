"""What a page says."""

import re
from html import unescape
from typing import Any


def get_page_text(answer: Any) -> str:
    """Return the text of a page, without its markup."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))
