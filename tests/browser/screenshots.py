"""Takes a picture of every page for docs/screenshots: ``make screenshots`` or ``python -m tests.browser.screenshots``.

Each page that ``tests.browser.demo_site`` finds but forms, wide and narrow, of a demonstration company of full size.
"""

import io
import os
import re
import sys
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# ruff: noqa: E402 - the URL configuration can be read once Django is set up

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.browser.conftest import CHROMIUM_FLAGS, find_chromium
from tests.browser.demo_site import PARAMETER, ROUTES, SIGNED_OUT, DemoSite, is_page, serve_demo_site
from tests.machine import ROOT

FOLDER = ROOT / "docs" / "screenshots"
WIDTHS = {1280: 900, 360: 740}  # width: height of the window; a page is shown whole up to so many windows
WINDOWS = 3
QUALITY = 50  # of WebP
MAX_TOTAL_BYTES = 4 * 1024 * 1024  # bytes in all
FORMS = re.compile(r"/(edit|new|roll|fill|link|settle|delete|merge|split|permissions)$|/imports/new/")
SIZE = ("--months", "36", "--transactions", "20000")
DARK = ("app/companies/<str:company_id>",)  # shown in dark besides


def main(folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.webp"):
        old.unlink()
    with sync_playwright() as playwright, serve_demo_site(SIZE) as served:
        browser = playwright.chromium.start(executable_path=find_chromium(), args=list(CHROMIUM_FLAGS))
        cookies = served.signed_in(browser)
        for route in (each for each in ROUTES if not FORMS.search(each)):
            state = None if route.startswith(SIGNED_OUT) else cookies
            for scheme in ("light", "dark") if route in DARK else ("light",):
                take_screenshots(browser, served, route, state, scheme, folder)
        browser.close()
    sizes = {path.name: path.stat().st_size for path in sorted(folder.glob("*.webp"))}
    sys.stdout.write(f"{len(sizes)} pictures, {sum(sizes.values()) / 1024:.0f} KB in {folder}\n")
    if sum(sizes.values()) > MAX_TOTAL_BYTES:
        sys.exit(f"They are to stay below {MAX_TOTAL_BYTES // 1024} KB in all.")


def take_screenshots(browser: Browser, served: DemoSite, route: str, state: object, scheme: str, folder: Path) -> None:
    """One page in all widths; nothing where there is no page."""
    context = browser.new_context(base_url=served.url, storage_state=state, color_scheme=scheme)  # type: ignore[arg-type]
    path = served.address(route)
    if is_page(context, path):
        for width, height in WIDTHS.items():
            shot = render_picture(context, path, width, height)
            name = f"{named(route)}{'-dark' if scheme == 'dark' else ''}-{width}.webp"
            shot.save(folder / name, "WEBP", quality=QUALITY, method=6)
    context.close()


def render_picture(context: BrowserContext, path: str, width: int, height: int) -> Image.Image:
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": height})
    page.goto(path)
    page.wait_for_load_state("networkidle")
    whole = min(page.evaluate("document.documentElement.scrollHeight"), WINDOWS * height)
    png = page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": width, "height": max(whole, height)})
    page.close()
    return Image.open(io.BytesIO(png)).convert("RGB")


def named(route: str) -> str:
    """A route as the name of a file; the page of a single row beside that of all is called one.

    >>> named("app/companies/<str:company_id>/settings/api-keys"), named("app/")
    ('company-settings-api-keys', 'home')
    >>> named("app/companies/<str:company_id>/accounts/<uuid:account_id>")
    'company-accounts-one'
    """
    route = re.sub(r"<(?!str:company_id)[^<]+>$", "one", route)
    words = PARAMETER.sub("", route).removeprefix("app/").replace("companies/", "company/", 1)
    words = re.sub(r"/+", "-", words).strip("-")
    return {"": "home", "company-new": "new-company"}.get(words, words)


if __name__ == "__main__":
    main()
