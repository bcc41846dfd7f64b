"""What is compressed on the wire, and what never is."""

import gzip
import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

STYLE_SHEET = (Path(settings.ROOT) / "static" / "site.css").read_bytes()
TYPEFACE = (Path(settings.ROOT) / "static" / "fonts" / "inter.css").read_text()


def get_with_encoding(path, accepted="gzip, deflate, br", method="get", **headers):
    return getattr(Client(), method)(path, headers={"accept-encoding": accepted} | headers)


def test_static_files_are_compressed():
    answer = get_with_encoding("/static/site.css")
    assert answer["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.content) == STYLE_SHEET
    assert answer["Content-Length"] == str(len(answer.content))
    assert len(answer.content) < len(STYLE_SHEET) / 3
    assert answer["Content-Type"].startswith("text/css")
    assert answer["Vary"] == "Accept-Encoding"
    assert get_with_encoding("/static/site.css").content == answer.content  # what was kept


def test_uncompressed_file_is_served_without_gzip():
    for accepted in ["", "identity", "br", "gzip;q=0", "gzip;q=0.0, br"]:
        answer = get_with_encoding("/static/site.css", accepted)
        assert "Content-Encoding" not in answer, accepted
        assert b"".join(answer.streaming_content) == STYLE_SHEET, accepted
        assert answer["Vary"] == "Accept-Encoding", accepted


def test_range_head_and_conditional_requests_are_not_compressed():
    part = get_with_encoding("/static/site.css", range="bytes=0-99")
    assert (part.status_code, b"".join(part.streaming_content)) == (206, STYLE_SHEET[:100])
    assert get_with_encoding("/static/site.css", method="head")["Content-Length"] == str(len(STYLE_SHEET))
    tag = get_with_encoding("/static/site.css")["ETag"]
    assert get_with_encoding("/static/site.css", **{"if-none-match": tag}).status_code == 304


@pytest.mark.django_db
def test_pages_with_secrets_or_caller_input_are_not_compressed(api, alice, acme):
    """Their length would tell of them (BREACH)."""
    client = Client(headers={"accept-encoding": "gzip"})
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    settings_page = f"/app/companies/{acme.id}/settings/api-keys"
    shown = client.post(f"{settings_page}/new", {"name": "Key", "preset": "read", "expiry": "90"})
    assert b"svc_" in shown.content
    queries = [
        "/app/sign-in?next=/app/words",
        f"{settings_page}?words=words",
        f"/app/companies/{acme.id}/transactions?q=words",
    ]
    answers = [shown, *map(client.get, queries), client.get(f"/companies/{acme.id}")]
    assert [answer.get("Content-Encoding") for answer in answers] == [None] * 5


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["", "/transactions", "/plan", "/settings/api-keys"])
def test_page_without_caller_input_in_url_is_compressed(alice, acme, path):
    client = Client(headers={"accept-encoding": "gzip"})
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    answer = client.get(f"/app/companies/{acme.id}{path}")
    assert answer["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in answer["Vary"]
    assert acme.name in gzip.decompress(answer.content).decode()
    client.defaults.clear()
    plain = client.get(f"/app/companies/{acme.id}{path}")
    assert "Content-Encoding" not in plain
    assert acme.name in plain.content.decode()


def test_openapi_document_is_compressed_and_at_most_110_kib():
    answer = get_with_encoding("/openapi.json")
    assert answer["Content-Encoding"] == "gzip"
    assert len(answer.content) <= 110 * 1024
    assert json.loads(gzip.decompress(answer.content)) == get_with_encoding("/openapi.json", "identity").json()


@pytest.mark.django_db
def test_overview_echoes_no_parameters_and_is_compressed(alice, acme):
    client = Client(headers={"accept-encoding": "gzip"})
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    path = f"/app/companies/{acme.id}"
    answer = client.get(path, {"months": "6", "echo": "shibboleth"})
    assert answer["Content-Encoding"] == "gzip"
    html = gzip.decompress(answer.content).decode()
    assert "shibboleth" not in html
    assert acme.name in html
    lengths = {len(client.get(path, {"months": "6"}).content) for _ in range(12)}
    assert len(lengths) > 1  # of no fixed length either


# ---------------------------------------------------------------------------------------------- how much a page weighs

MAX_PAGE_BYTES = 110 * 1024  # bytes on the wire, at the first visit
LINKED_FILE = re.compile(r'(?:href|src)="(/static/[^"]+)"')
FONTS = re.compile(r'url\("([^":]+)"\)')


def measure_weight(path):
    """Bytes on the wire of a static file, and of what it loads."""
    answer = get_with_encoding(path)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    loaded = FONTS.findall(TYPEFACE) if path.endswith("inter.css") else []
    return len(body) + sum(measure_weight(f"/static/fonts/{name}") for name in loaded)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["", "/transactions", "/plan", "/profit-and-loss", "/recurring-revenue", "/settings"])
def test_page_of_new_company_stays_within_size_limit_with_assets(alice, acme, path):
    client = Client(headers={"accept-encoding": "gzip"})
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    shown = client.get(f"/app/companies/{acme.id}{path}")
    html = gzip.decompress(shown.content) if shown.get("Content-Encoding") else shown.content
    files = {*LINKED_FILE.findall(html.decode())}
    assert {"/static/site.css", "/static/fonts/inter.css"} <= files
    assert len(shown.content) + sum(map(measure_weight, files)) <= MAX_PAGE_BYTES


def test_typeface_is_small_and_includes_its_license():
    fonts = Path(settings.ROOT) / "static" / "fonts"
    assert sum(path.stat().st_size for path in fonts.glob("*.woff2")) <= 60 * 1024
    assert "SIL Open Font License" in (fonts / "OFL.txt").read_text()
