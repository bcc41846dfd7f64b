"""The logo of a company's website: shown while it has none of its own, and whatever the site is, it harms nobody."""

import io
import struct
from datetime import timedelta

import pytest
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from PIL import Image

from companies.actions import logo
from companies.actions import site_logo as site_logos
from companies.models import Company
from tests.companies.actions.test_logo import build_lying_png, build_png, encode_image
from tests.rollback import undo_changes
from tests.tls import serve_https

pytestmark = pytest.mark.django_db

SCRIPT = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def build_image(kind="PNG", size=(32, 32)):
    out = io.BytesIO()
    Image.new("RGB", size, (200, 30, 30)).save(out, format=kind)
    return out.getvalue()


def build_icon(raw, size=32):
    """An icon whose list says 32 pixels, whatever the picture says."""
    head = struct.pack("<HHH", 0, 1, 1) + struct.pack("<BBBBHHII", size, size, 0, 0, 1, 32, len(raw), 22)
    return head + raw


class WebSite:
    """What lies at each path; anything else is 404."""

    def __init__(self):
        self.pages, self.requested_paths = {}, []

    def answer(self, path):
        self.requested_paths.append(path)
        result = self.pages.get(path, (404, {}, b""))
        return result if isinstance(result, tuple) else (200, {"Content-Type": "text/html"}, result)


@pytest.fixture(autouse=True)
def check_responses_match_document():
    """No check here: these tests use domains with ports, which the API itself does not accept."""


@pytest.fixture
def site(tmp_path, monkeypatch, settings, acme):
    """Acme's website, on this machine."""
    made = WebSite()
    settings.LOGOS_FROM_DOMAINS = settings.OUTBOUND_ALLOW_PRIVATE = True
    with serve_https(made.answer, folder=tmp_path) as (host, pem):
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        Company.objects.filter(id=acme.id).update(domain=host)
        yield made


def refresh_logo(acme, now):
    """Whether there is a new logo now; the company is read anew."""
    acme.refresh_from_db()
    result = site_logos.refresh_site_logo(company=acme, now=now)
    acme.refresh_from_db()
    return result


def list_logo_files():
    try:
        return storages["assets"].listdir("logos")[1]
    except FileNotFoundError:
        return []


SITES = {  # page, path of the icon, icon
    "ico": (b"", "/favicon.ico", build_icon(build_image())),
    "ico of Pillow": (b"", "/favicon.ico", build_image("ICO")),
    "link": (b'<link rel="icon" href="/a/icon.png">', "/a/icon.png", build_image()),
    "shortcut": (b"<LINK HREF='icon.png?x=1&amp;y=2' REL='shortcut icon'>", "/icon.png?x=1&y=2", build_image()),
    "no drawing": (
        b'<link rel=icon type="image/svg+xml" href=/x.svg><link rel=icon href=/b.jpg>',
        "/b.jpg",
        build_image("JPEG"),
    ),
    "the next one": (b'<link rel="icon" href="/gone.png"><link rel="icon" href="/c.png">', "/c.png", build_image()),
    "a long page": (b'<link rel="icon" href="/d.png">' + b"x" * 300_000, "/d.png", build_image()),
}


def test_site_icon_is_served_as_png_logo(site, acme, client, owner, now):
    for name, (page, path, raw) in SITES.items():
        site.pages = {"/": page, path: raw}
        with undo_changes():
            assert refresh_logo(acme, now), name
            served = client.get(f"/assets/{acme.logo_path}")
            image = Image.open(io.BytesIO(b"".join(served.streaming_content)))
            assert (served["Content-Type"], image.format, image.size) == ("image/png", "PNG", (32, 32)), name
            assert f"/assets/{acme.site_logo_path}" in owner.get("/app/").content.decode(), name
            assert acme.custom_logo_path is None


HOSTILE = {
    "a redirect": (302, {"Location": "/other.png"}, b""),
    "huge": b"\x89PNG\r\n\x1a\n" + b"x" * 200_000,
    "a drawing with a script": (200, {"Content-Type": "image/png"}, SCRIPT),
    "a bomb": build_lying_png(50_000, 50_000),
    "more pixels than an icon has": build_png(2000, 10),
    "a bomb in an icon": build_icon(build_lying_png(30_000, 30_000)),
    "a bitmap in an icon that lies": build_icon(
        struct.pack("<IiiHHIIiiII", 40, 30_000, 60_000, 1, 1, 0, 0, 0, 0, 0, 0)
    ),
    "an icon of nothing": b"\0\0\1\0\xff\xff",
    "words": b"<html>no icon</html>",
    "nothing": b"",
    "an error": (500, {}, build_image()),
}


def test_site_without_a_usable_icon_keeps_the_letter_mark(site, acme, owner, now):
    for name, icon in HOSTILE.items():
        site.pages = {"/": b'<link rel="icon" href="/icon.png">', "/icon.png": icon, "/other.png": build_image()}
        with undo_changes():
            assert not refresh_logo(acme, now), name
            assert (acme.logo_path, list_logo_files()) == (None, []), name
            assert "/other.png" not in site.requested_paths
            assert owner.get("/app/").status_code == 200


UNSAFE_LINKS = (
    "http://127.0.0.1/x.png", "file:///etc/passwd", "data:image/png;base64,AAAA", "https://me@localhost/x", "//[", "",
)  # fmt: skip


def test_site_icon_link_to_unsafe_url_falls_back_to_favicon(site, acme, now):
    for href in UNSAFE_LINKS:
        site.pages = {"/": f'<link rel="icon" href="{href}">'.encode(), "/favicon.ico": build_image()}
        with undo_changes():
            assert refresh_logo(acme, now), href


def test_site_icon_is_not_fetched_from_private_address(site, settings, acme, now):
    settings.OUTBOUND_ALLOW_PRIVATE = False
    site.pages = {"/favicon.ico": build_image()}
    assert not refresh_logo(acme, now)
    assert site.requested_paths == []


def test_site_icon_is_neither_fetched_nor_shown_if_disabled(site, settings, acme, now):
    site.pages = {"/favicon.ico": build_image()}
    assert refresh_logo(acme, now)
    settings.LOGOS_FROM_DOMAINS = False
    assert acme.logo_path is None
    request_count = len(site.requested_paths)
    assert not refresh_logo(acme, now + timedelta(days=60))
    assert len(site.requested_paths) == request_count


def test_site_logo_is_refreshed_after_thirty_days(site, acme, now):
    site.pages = {"/favicon.ico": build_image()}
    assert refresh_logo(acme, now)
    first = acme.logo_path
    assert not refresh_logo(acme, now + timedelta(days=29))
    assert acme.logo_path == first
    assert refresh_logo(acme, now + timedelta(days=30))
    assert acme.logo_path != first
    assert list_logo_files() == [acme.logo_path.removeprefix("logos/")]
    site.pages = {}
    assert not refresh_logo(acme, now + timedelta(days=60))
    assert (acme.logo_path, list_logo_files()) == (None, [])
    site.pages = {"/favicon.ico": build_image()}
    assert not refresh_logo(acme, now + timedelta(days=61)), "a site without a picture is left alone for a week"
    assert refresh_logo(acme, now + timedelta(days=67))


def test_custom_logo_replaces_site_logo_and_new_domain_removes_site_logo(site, api, acme, now):
    site.pages = {"/favicon.ico": build_image()}
    assert refresh_logo(acme, now)
    own = api.put("logo", encode_image(build_png())).json()["customLogoPath"]
    assert not refresh_logo(acme, now)
    assert (acme.logo_path, acme.site_logo_path) == (own, None)
    assert api.delete("logo").json()["customLogoPath"] is None
    assert refresh_logo(acme, now + timedelta(days=30))
    assert api.put("", {"domain": "other.example"}).status_code == 200
    acme.refresh_from_db()
    assert acme.logo_path is None


def test_refresh_metrics_command_fetches_site_logo(site, acme, capsys):
    site.pages = {"/favicon.ico": build_image()}
    call_command("refresh_metrics")
    acme.refresh_from_db()
    assert acme.logo_path


@pytest.mark.parametrize("raw", [b"\0\0\1\0", b"\0\0\1\0\1", b"\0\0\1\0\1\0", b""], ids=["four", "five", "six", "none"])
def test_truncated_site_icon_is_rejected(raw):
    with pytest.raises(logo.NotAPng):
        site_logos.clean_site_picture(raw)


def test_failed_site_logo_is_reported_and_other_companies_are_processed(acme, globex, monkeypatch):
    def fail(*, company, now):
        if company.id == acme.id:
            raise ZeroDivisionError

    monkeypatch.setattr(site_logos, "refresh_site_logo", fail)
    errors = io.StringIO()
    with pytest.raises(CommandError, match="1 companies failed"):
        call_command("refresh_metrics", stdout=io.StringIO(), stderr=errors)
    assert str(acme.id) in errors.getvalue()
    assert Company.objects.filter(computed_metrics_time=None).count() == 0
