"""The length of a page on a phone."""

from typing import Any

MAX_PAGE_HEIGHT = 5400  # pixels of a page with all folds closed
PHONE = {"width": 360, "height": 900}


def measure_length(page: Any, path: str) -> int:
    """Open a page on a phone; return its height in pixels."""
    page.set_viewport_size(PHONE)
    page.goto(path)
    return get_page_height(page)


def get_page_height(page: Any) -> int:
    """Return the height of the open page in pixels, in its typeface, which may come late on a busy machine."""
    return int(page.evaluate("document.fonts.ready.then(() => document.documentElement.scrollHeight)"))
