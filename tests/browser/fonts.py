"""Measure how wide a page is in its own font and in a wide one, whatever the machine has installed.

The wide one is added by script, which the pages' content security policy allows.
"""

from base64 import b64encode
from pathlib import Path
from typing import Any

WIDE_FONT = "wide"
WEIGHTS = {400: "DejaVuSans.woff2", 700: "DejaVuSans-Bold.woff2"}
OWN_FONT = ""
FONTS = (OWN_FONT, WIDE_FONT)
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
# Two frames later the page's script has seen the window; it does nothing about fonts.
MEASURE_WIDTHS = """
async (fonts) => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const widths = [];
    for (const font of fonts) {
        window.testFont?.replaceSync(
            font && `*, ::before, ::after { font-family: "${font}" !important; }`
        );
        widths.push(document.documentElement.scrollWidth);
    }
    window.testFont?.replaceSync("");
    return widths;
}
"""


def list_too_wide(page: Any, *widths: int) -> list[str]:
    """In which font the page is wider than its window, and in which window."""
    page.evaluate(ADD_FONTS, FACES)
    overflows = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        overflows += [
            f"{page.url}: {across} pixels at {width} in {font or 'its own'} font"
            for font, across in zip(FONTS, page.evaluate(MEASURE_WIDTHS, list(FONTS)), strict=True)
            if across > width
        ]
    return overflows


def measure_width_at(page: Any, width: int) -> int:
    """How many pixels the page needs across in a window of this width, once its script has seen the window."""
    page.set_viewport_size({"width": width, "height": 900})
    return int(page.evaluate(MEASURE_WIDTHS, [OWN_FONT])[0])
