"""A wide and a narrow font, whatever the machine has installed: how wide is a page in them?

They come as a style of the test's own, which the pages' policy would refuse: use a context with ``bypass_csp``.
"""

from base64 import b64encode
from pathlib import Path
from typing import Any

FONTS = {  # by weight; one that has no bold of its own is made bold by the browser, which widens nothing
    "wide": {400: "DejaVuSans.woff2", 700: "DejaVuSans-Bold.woff2"},
    "narrow": {400: "RobotoCondensed.woff2"},
}
FOLDER = Path(__file__).resolve().parents[1] / "data" / "fonts"


def measure_width_in_font(page: Any, font: str) -> int:
    """How many pixels the page needs across once all its text stands in the font."""
    faces = "".join(
        f'@font-face {{ font-family: "{font}"; font-weight: {weight}; '
        f'src: url("data:font/woff2;base64,{b64encode((FOLDER / file).read_bytes()).decode()}"); }}'
        for weight, file in FONTS[font].items()
    )
    page.add_style_tag(content=f'{faces} *, ::before, ::after {{ font-family: "{font}" !important; }}')
    for weight in FONTS[font]:
        loaded = page.evaluate(f"async () => (await document.fonts.load('{weight} 16px {font}')).length")
        assert loaded, "the font is not in use"
    return int(page.evaluate("document.documentElement.scrollWidth"))


def list_too_wide(page: Any, *widths: int) -> list[str]:
    """In which of the fonts the page is wider than its window, and in which window."""
    overflows = []
    for font in FONTS:
        measure_width_in_font(page, font)
        for width in widths:
            if (across := measure_width_at(page, width)) > width:
                overflows.append(f"{page.url}: {across} pixels at {width} in the {font} font")
    return overflows


def measure_width_at(page: Any, width: int) -> int:
    """How many pixels the page needs across in a window of this width, once its script has seen the window."""
    page.set_viewport_size({"width": width, "height": 900})
    return int(
        page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame("
            "() => done(document.documentElement.scrollWidth))))"
        )
    )
