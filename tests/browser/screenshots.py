"""Take screenshots of the pages of a demo company of full size.

``make screenshots`` draws every page except forms, wide and narrow, into var/screenshots. ``make screenshots DOCS=1``
draws only those that the documentation shows, into docs/screenshots.
"""

import io
import os
import re
import sys
from datetime import date
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# ruff: noqa: E402 - the URL configuration can be read once Django is set up

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.browser.conftest import CHROMIUM_FLAGS, find_chromium
from tests.browser.demo_site import (
    PARAMETER,
    ROUTES,
    SIGNED_OUT,
    DemoSite,
    create_demo_company,
    is_page,
    serve_demo_site,
)
from tests.machine import ROOT, create_prepared_machine

ALL_PAGES_FOLDER = ROOT / "var" / "screenshots"
DOCS_FOLDER = ROOT / "docs" / "screenshots"
WIDTHS = {1280: 900, 360: 740}  # width: height of the window, in pixels
MAX_WINDOWS = 3.0  # longer pages are cut off
DOCS_MAX_WINDOWS = 1.4
WEBP_QUALITY = 50
MAX_TOTAL_BYTES = 4 * 1024 * 1024
FORMS = re.compile(r"/(edit|new|roll|fill|link|settle|delete|merge|split|permissions)$|/imports/new/")
SIZE = ("--months", "36", "--transactions", "20000")
DARK = ("app/companies/<str:company_id>",)  # drawn in the dark color scheme too
API_REFERENCE = "docs"
IMPORT_CHECK = "app/companies/<str:company_id>/imports/new/<uuid:upload_id>"
DOCS_SCREENSHOTS = (
    "company-1280",
    "company-360",
    "company-accounts-1280",
    "company-change-of-cash-1280",
    "company-dark-1280",
    "company-import-check-1280",
    "company-inbox-1280",
    "company-plan-1280",
    "company-planned-1280",
    "company-profit-and-loss-1280",
    "company-recurring-revenue-1280",
    "company-transactions-1280",
)
STATEMENT = """Date,Counterparty,Description,Amount,Balance
{year}-01-02,Pine & Partners,Bookkeeping January,-1190.00,48810.00
{year}-01-05,Initech,Invoice 1042,5950.00,54760.00
{year}-01-07,Office Rent Ltd,Rent January,-3200.00,51560.00
{year}-01-09,Globex,Invoice 1043,2380.00,53940.00
{year}-01-12,Hosting GmbH,Servers,-640.50,53299.50
"""


def main(folder: Path = ALL_PAGES_FOLDER, names: tuple[str, ...] = ()) -> None:
    """Draw all pages into a folder, or those with the given names only."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.webp"):
        old.unlink()
    with (
        sync_playwright() as playwright,
        create_prepared_machine() as machine,
        serve_demo_site(machine, create_demo_company(machine, SIZE)) as served,
    ):
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(CHROMIUM_FLAGS))
        cookies = served.signed_in(browser)
        for route in [*(route for route in ROUTES if not FORMS.search(route)), API_REFERENCE, IMPORT_CHECK]:
            state = None if route.startswith(SIGNED_OUT) else cookies
            for scheme in ("light", "dark") if route in DARK else ("light",):
                take_screenshots(browser, served, route, state, scheme, folder, names)
        browser.close()
    sizes = {path.name: path.stat().st_size for path in sorted(folder.glob("*.webp"))}
    sys.stdout.write(f"{len(sizes)} screenshots, {sum(sizes.values()) / 1024:.0f} KB in {folder}\n")
    if sum(sizes.values()) > MAX_TOTAL_BYTES:
        sys.exit(f"The screenshots must stay below {MAX_TOTAL_BYTES // 1024} KB in total.")


def take_screenshots(
    browser: Browser, served: DemoSite, route: str, state: object, scheme: str, folder: Path, names: tuple[str, ...]
) -> None:
    """Draw a page in all widths; nothing if the route shows no page or none of its screenshots is wanted."""
    name = name_screenshot(route) + ("-dark" if scheme == "dark" else "")
    widths = [width for width in WIDTHS if not names or f"{name}-{width}" in names]
    if not widths:
        return
    context = browser.new_context(base_url=served.url, storage_state=state, color_scheme=scheme)  # type: ignore[arg-type]
    path = upload_statement(context, served) if route == IMPORT_CHECK else served.address(route)
    if is_page(context, path):
        for width in widths:
            picture = render_picture(context, path, width, DOCS_MAX_WINDOWS if names else MAX_WINDOWS)
            picture.save(folder / f"{name}-{width}.webp", "WEBP", quality=WEBP_QUALITY, method=6)
    context.close()


def upload_statement(context: BrowserContext, served: DemoSite) -> str:
    """Upload a CSV statement and return the path of the page that reviews it."""
    page = context.new_page()
    page.goto(served.address("app/companies/<str:company_id>/imports/new"))
    content = STATEMENT.format(year=date.today().year).encode()
    page.get_by_label("Files").set_input_files({"name": "bank.csv", "mimeType": "text/csv", "buffer": content})
    page.get_by_label("Account", exact=True).select_option(index=1)
    page.get_by_role("button", name="Upload and review").click()
    page.wait_for_url("**/imports/new/*")
    path = page.url.removeprefix(served.url)
    page.close()
    return path


def render_picture(context: BrowserContext, path: str, width: int, max_windows: float) -> Image.Image:
    """Draw a page at a width, at most max_windows times as high as the window."""
    height = WIDTHS[width]
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": height})
    page.goto(path)
    page.wait_for_load_state("networkidle")
    whole = min(page.evaluate("document.documentElement.scrollHeight"), int(max_windows * height))
    png = page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": width, "height": max(whole, height)})
    page.close()
    return Image.open(io.BytesIO(png)).convert("RGB")


def name_screenshot(route: str) -> str:
    """Return the file name of a route, without width; the page of one row ends in "-one".

    >>> name_screenshot("app/companies/<str:company_id>/settings/api-keys"), name_screenshot("app/")
    ('company-settings-api-keys', 'home')
    >>> name_screenshot("app/companies/<str:company_id>/accounts/<uuid:account_id>")
    'company-accounts-one'
    """
    if route == IMPORT_CHECK:
        return "company-import-check"
    route = re.sub(r"<(?!str:company_id)[^<]+>$", "one", route)
    words = PARAMETER.sub("", route).removeprefix("app/").replace("companies/", "company/", 1)
    words = re.sub(r"/+", "-", words).strip("-")
    return {"": "home", "company-new": "new-company"}.get(words, words)


if __name__ == "__main__":
    if "--docs" in sys.argv:
        main(DOCS_FOLDER, DOCS_SCREENSHOTS)
    else:
        main()
