"""Logo of the company's website, used while it has no own logo; fetched periodically, re-encoded, kept for
30 days.

The domain is user input: requests use the safe HTTP client and responses are treated as hostile.
"""

import html
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from urllib.parse import urljoin

from django.conf import settings
from django.core.files.storage import storages

from companies import http_client
from companies.actions import logo as logos
from companies.models import Company, generate_id
from companies.storage.actions import delete_from_storage, save_to_storage

SITE_LOGO_TTL = timedelta(days=30)
RETRY_INTERVAL = timedelta(days=7)  # after a failed attempt
MAX_SITE_LOGO_PIXELS = 1024  # a side
MAX_ICON_LINKS = 3
IMAGE_FORMATS = ("PNG", "ICO", "JPEG")  # no SVG, which can contain scripts
LINK_TAG = re.compile(r"<link\s[^<>]{1,1000}>", re.IGNORECASE)
LINK_ATTRIBUTE = re.compile(r"\b(rel|href|type)\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)


def refresh_site_logo(*, company: Company, now: datetime) -> bool:
    """Fetch the logo of the company's domain if due; return whether there is a new one. A sandbox calls no site."""
    if not settings.LOGOS_FROM_DOMAINS or company.is_sandbox or not is_site_logo_due(company, now):
        return False
    wanted_domain = company.domain if company.custom_logo_path is None else None
    png = None if wanted_domain is None else fetch_site_picture(wanted_domain)
    storage = storages["assets"]
    path = None if png is None else save_to_storage(storage=storage, name=f"logos/{generate_id()}.png", content=png)
    seen_values = {"domain": company.domain, "site_logo_path": company.site_logo_path}
    values = {"site_logo_path": path, "site_logo_domain": wanted_domain, "site_logo_time": now}
    updated_count = Company.objects.filter(id=company.id, **seen_values).update(**values)
    unused_path = company.site_logo_path if updated_count else path  # another process was faster, or the domain changed
    if unused_path:
        delete_from_storage(storage=storage, name=unused_path)
    return path is not None


def is_site_logo_due(company: Company, now: datetime) -> bool:
    """Return whether to fetch the logo: the domain changed or the interval has passed. Unwanted logos are
    removed at once.
    """
    if company.custom_logo_path is not None or company.domain is None:
        return company.site_logo_path is not None
    if company.site_logo_time is None or company.site_logo_domain != company.domain:
        return True
    return now - company.site_logo_time >= (RETRY_INTERVAL if company.site_logo_path is None else SITE_LOGO_TTL)


def fetch_site_picture(domain: str) -> bytes | None:
    """Return the first readable icon of the site, trying its links and then /favicon.ico; None if there is none."""
    site = f"https://{domain}/"
    for address in (*list_icon_urls(site), urljoin(site, "/favicon.ico")):
        try:
            response = http_client.fetch_url(address, accept="image/png,image/x-icon,image/jpeg")
            if response.status == 200:
                return clean_site_picture(response.body)
        except (http_client.OutboundError, logos.NotAPng, logos.ImageTooLarge):
            continue
    return None


def list_icon_urls(site: str) -> Iterator[str]:
    """Yield the URLs of <link rel="icon"> on the site's home page, without SVG; nothing if there is no page."""
    try:
        response = http_client.fetch_url(site, accept="text/html", allow_partial=True)
    except http_client.OutboundError:
        return
    if response.status != 200:
        return
    icon_count = 0
    for tag in LINK_TAG.findall(response.body.decode("utf-8", errors="replace")):
        attributes = {name.lower(): html.unescape(a or b or c) for name, a, b, c in LINK_ATTRIBUTE.findall(tag)}
        if (
            "icon" in attributes.get("rel", "").lower().split()
            and "svg" not in attributes.get("type", "")
            and icon_count < MAX_ICON_LINKS
        ):
            icon_count += 1
            with suppress(ValueError):  # not a valid URL
                yield urljoin(site, attributes.get("href", "").strip())


def clean_site_picture(raw: bytes) -> bytes:
    """Re-encode an icon as PNG. Raises NotAPng, ImageTooLarge."""
    if raw.startswith(b"\0\0\1\0") and any(side > MAX_SITE_LOGO_PIXELS for side in list_icon_sides(raw)):
        raise logos.ImageTooLarge
    return logos.clean_png(raw, formats=IMAGE_FORMATS, most_pixels=MAX_SITE_LOGO_PIXELS)


def list_icon_sides(icon: bytes) -> Iterator[int]:
    """Yield width and height of every picture in an ICO file, from the pictures themselves: the file's index
    may be wrong.
    """
    try:
        (count,) = struct.unpack_from("<H", icon, 4)
        for number in range(count):
            (offset,) = struct.unpack_from("<I", icon, 6 + 16 * number + 12)
            if icon[offset : offset + 4] == b"\x89PNG":
                yield from struct.unpack_from(">II", icon, offset + 16)
            else:
                width, double_height = struct.unpack_from("<ii", icon, offset + 4)
                yield from (abs(width), abs(double_height) // 2)  # the mask counts towards the height
    except struct.error:
        raise logos.NotAPng from None
