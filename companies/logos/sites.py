"""A company's logo as its own website shows it, for as long as it has none of its own: fetched now and then, made anew
as a PNG, and kept for 30 days.

The address is a caller's text: everything goes by the one way out, and whatever comes back is taken for hostile.
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

from companies import outbound
from companies.logos import own as logos
from companies.models import Company, new_id
from companies.stores.storing import drop, store_whole

KEPT = timedelta(days=30)
TRIED_AGAIN = timedelta(days=7)  # where there was no picture
MOST_PIXELS = 1024  # a side
MOST_LINKS = 3
FORMATS = ("PNG", "ICO", "JPEG")  # SVG is a program, and no other is common
LINK = re.compile(r"<link\s[^<>]{1,1000}>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"\b(rel|href|type)\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)


def refresh(*, company: Company, now: datetime) -> bool:
    """Fetches the logo of the company's domain where that is due; True where there is a new one."""
    if not settings.LOGOS_FROM_DOMAINS or not is_due(company, now):
        return False
    wanted = company.domain if company.custom_logo_path is None else None
    png = None if wanted is None else picture_of(wanted)
    storage = storages["assets"]
    path = None if png is None else store_whole(storage=storage, name=f"logos/{new_id()}.png", content=png)
    seen = {"domain": company.domain, "site_logo_path": company.site_logo_path}
    values = {"site_logo_path": path, "site_logo_domain": wanted, "site_logo_time": now}
    kept = Company.objects.filter(id=company.id, **seen).update(**values)
    superseded = company.site_logo_path if kept else path  # somebody was faster, or the domain is another by now
    if superseded:
        drop(storage=storage, name=superseded)
    return path is not None


def is_due(company: Company, now: datetime) -> bool:
    """Where the domain is another, or it was long ago; a picture that is not wanted any more goes at once."""
    if company.custom_logo_path is not None or company.domain is None:
        return company.site_logo_path is not None
    if company.site_logo_time is None or company.site_logo_domain != company.domain:
        return True
    return now - company.site_logo_time >= (TRIED_AGAIN if company.site_logo_path is None else KEPT)


def picture_of(domain: str) -> bytes | None:
    """The first picture that can be read of those that the site names, and of /favicon.ico; None for no picture."""
    site = f"https://{domain}/"
    for address in (*linked(site), urljoin(site, "/favicon.ico")):
        try:
            answer = outbound.fetch(address, accept="image/png,image/x-icon,image/jpeg")
            if answer.status == 200:
                return clean(answer.body)
        except (outbound.Refused, logos.NotAPng, logos.ImageTooLarge):
            continue
    return None


def linked(site: str) -> Iterator[str]:
    """The addresses of <link rel="icon"> on a site's first page, but for drawings; nothing where there is no page."""
    try:
        answer = outbound.fetch(site, accept="text/html", beginning=True)
    except outbound.Refused:
        return
    if answer.status != 200:
        return
    found = 0
    for tag in LINK.findall(answer.body.decode("utf-8", errors="replace")):
        words = {name.lower(): html.unescape(a or b or c) for name, a, b, c in ATTRIBUTE.findall(tag)}
        if "icon" in words.get("rel", "").lower().split() and "svg" not in words.get("type", "") and found < MOST_LINKS:
            found += 1
            with suppress(ValueError):  # what is no address
                yield urljoin(site, words.get("href", "").strip())


def clean(raw: bytes) -> bytes:
    """A PNG of its pixels. Raises NotAPng, ImageTooLarge."""
    if raw.startswith(b"\0\0\1\0") and any(side > MOST_PIXELS for side in sides_within(raw)):
        raise logos.ImageTooLarge
    return logos.clean_png(raw, formats=FORMATS, most_pixels=MOST_PIXELS)


def sides_within(icon: bytes) -> Iterator[int]:
    """Width and height of every picture in an icon, as the picture itself says: the icon's list may say less."""
    try:
        (count,) = struct.unpack_from("<H", icon, 4)
        for number in range(count):
            (start,) = struct.unpack_from("<I", icon, 6 + 16 * number + 12)
            if icon[start : start + 4] == b"\x89PNG":
                yield from struct.unpack_from(">II", icon, start + 16)
            else:
                width, both = struct.unpack_from("<ii", icon, start + 4)
                yield from (abs(width), abs(both) // 2)  # its mask counts as height
    except struct.error:
        raise logos.NotAPng from None
