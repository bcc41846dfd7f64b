"""Measure how wide a page is in its own font and in a wide one, whatever the machine has installed.

The wide one is added by script, which the pages' content security policy allows.
"""

from base64 import b64encode
from pathlib import Path
from typing import Any

WIDE_FONT = "wide"
WEIGHTS = {400: "DejaVuSans.woff2", 700: "DejaVuSans-Bold.woff2"}
HEIGHT = 200  # of the window: what is drawn below costs time and changes no width
FOLDER = Path(__file__).resolve().parents[1] / "data" / "fonts"
FACES = [[str(weight), b64encode((FOLDER / file).read_bytes()).decode()] for weight, file in WEIGHTS.items()]
USE_WIDE_FONT = """
async ([name, faces]) => {
    for (const [weight, content] of faces) {
        const bytes = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
        document.fonts.add(await new FontFace(name, bytes, { weight }).load());
    }
    window.testFont = new CSSStyleSheet();
    window.testFont.replaceSync(`*, ::before, ::after { font-family: "${name}" !important; }`);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, window.testFont];
}
"""
# The task after the first frame of this width: the page's script has seen the window by then, for its observers run at
# the end of a frame. It does nothing about fonts.
MEASURE_WIDTH = """
async (width) => {
    do await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    while (innerWidth !== width);
    return document.documentElement.scrollWidth;
}
"""


def list_too_wide(page: Any, *widths: int) -> list[str]:
    """In which windows the page is too wide: in its own font in the narrowest, and in all of them in a font that is
    wider in every letter."""
    narrowest = min(widths)
    across_by_case = {f"{narrowest} in its own font": (narrowest, measure_width_at(page, narrowest))}
    page.evaluate(USE_WIDE_FONT, [WIDE_FONT, FACES])
    for width in sorted(widths):
        across_by_case[f"{width} in wide font"] = (width, measure_width_at(page, width))
    page.evaluate("window.testFont.replaceSync('')")
    return [
        f"{page.url}: {across} pixels at {case}" for case, (width, across) in across_by_case.items() if across > width
    ]


def measure_width_at(page: Any, width: int) -> int:
    """How many pixels the page needs across in a window of this width, once its script has seen the window."""
    page.set_viewport_size({"width": width, "height": HEIGHT})
    return int(page.evaluate(MEASURE_WIDTH, width))
