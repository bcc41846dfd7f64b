"""Measure how wide a page is in its own font and in a wide one, whatever the machine has installed.

The wide one is added by script, which the pages' content security policy allows.
"""

from base64 import b64encode
from itertools import cycle
from pathlib import Path
from typing import Any

WIDE_FONT = "wide"
WEIGHTS = {400: "DejaVuSans.woff2", 700: "DejaVuSans-Bold.woff2"}
OWN_FONT = ""
FOLDER = Path(__file__).resolve().parents[1] / "data" / "fonts"
FACES = [[WIDE_FONT, str(weight), b64encode((FOLDER / file).read_bytes()).decode()] for weight, file in WEIGHTS.items()]
ADD_FONTS = """
async (faces) => {
    for (const [name, weight, content] of faces) {
        const bytes = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
        document.fonts.add(await new FontFace(name, bytes, { weight }).load());
    }
    window.testFont = new CSSStyleSheet();
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, window.testFont];
}
"""
# The task after the first frame of this width: the page's script has seen the window by then, for its observers run at
# the end of a frame. It does nothing about fonts.
MEASURE_WIDTHS = """
async ([width, fonts]) => {
    do await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    while (innerWidth !== width);
    return fonts.map((font) => {
        window.testFont?.replaceSync(
            font && `*, ::before, ::after { font-family: "${font}" !important; }`
        );
        return document.documentElement.scrollWidth;
    });
}
"""
FONT_ORDERS = ((OWN_FONT, WIDE_FONT), (WIDE_FONT, OWN_FONT))  # in turns: each change of font styles the whole page


def list_too_wide(page: Any, *widths: int) -> list[str]:
    """In which font the page is wider than its window, and in which window."""
    page.evaluate(ADD_FONTS, FACES)
    overflows = []
    for width, fonts in zip(widths, cycle(FONT_ORDERS), strict=False):
        overflows += [
            f"{page.url}: {across} pixels at {width} in {font or 'its own'} font"
            for font, across in zip(fonts, measure_widths(page, width, fonts), strict=True)
            if across > width
        ]
    page.evaluate("window.testFont.replaceSync('')")
    return overflows


def measure_widths(page: Any, width: int, fonts: tuple[str, ...] = (OWN_FONT,)) -> list[int]:
    """How many pixels the page needs across in a window of this width, in each font, once its script has seen the
    window."""
    page.set_viewport_size({"width": width, "height": 900})
    return list(page.evaluate(MEASURE_WIDTHS, [width, fonts]))


def measure_width_at(page: Any, width: int) -> int:
    """The same in the page's own font."""
    return measure_widths(page, width)[0]
