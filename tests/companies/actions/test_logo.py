"""A company's own logo: a real PNG, made anew, shown at its address."""

import base64
import io
import struct
import zlib

import pytest
from django.core.files.storage import storages
from PIL import Image, PngImagePlugin

from companies.models import AuditEntry
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db


def build_png(width=4, height=4, mode="RGBA", **options):
    out = io.BytesIO()
    Image.new(mode, (width, height), 1).save(out, format="PNG", **options)
    return out.getvalue()


def build_noise_png():
    out = io.BytesIO()
    Image.effect_noise((64, 64), 100).save(out, format="PNG")
    return out.getvalue()


def build_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def build_lying_png(width, height, *, rows=b"", interlace=0):
    """A PNG whose header claims a size that its data does not have."""
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, interlace)
    return (
        b"\x89PNG\r\n\x1a\n"
        + build_chunk(b"IHDR", head)
        + build_chunk(b"IDAT", zlib.compress(rows))
        + build_chunk(b"IEND", b"")
    )


def build_image(kind):
    out = io.BytesIO()
    Image.new("RGB", (4, 4)).save(out, format=kind)
    return out.getvalue()


def encode_image(raw):
    return {"imageBase64": base64.b64encode(raw).decode()}


def list_logo_files():
    try:
        return storages["assets"].listdir("logos")[1]
    except FileNotFoundError:
        return []


def test_logo_accepts_any_kind_of_png_and_is_served_at_its_path(api, client):
    for mode in ["RGBA", "RGB", "L", "LA", "P", "1", "I;16"]:
        with undo_changes():
            answer = api.put("logo", encode_image(build_png(mode=mode)))
            assert answer.status_code == 200, answer.content
            path = answer.json()["customLogoPath"]
            assert answer.json() == api.get("").json(), mode
            assert answer["ETag"] == api.get("")["ETag"], mode
            assert not path.startswith(("/", "http")), mode
            served = client.get(f"/assets/{path}")
            assert served.status_code == 200, mode
            assert served["Content-Type"] == "image/png", mode
            assert served["X-Content-Type-Options"] == "nosniff", mode
            image = Image.open(io.BytesIO(b"".join(served.streaming_content)))
            assert (image.format, image.size) == ("PNG", (4, 4)), mode


def test_logo_stores_only_pixels(api, client):
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", "secret words")
    raw = build_png(pnginfo=info) + b"<script>secret words</script>"
    path = api.put("logo", encode_image(raw)).json()["customLogoPath"]
    assert b"secret words" not in b"".join(client.get(f"/assets/{path}").streaming_content)


def test_logo_is_limited_to_4096_pixels_per_side(api):
    assert api.put("logo", encode_image(build_png(4096, 4096, mode="1"))).status_code == 200
    for size in ((4097, 1), (1, 4097)):
        assert api.put("logo", encode_image(build_png(*size))).json()["errors"][0]["code"] == "image_too_large"


def test_logo_rejects_invalid_base64(api):
    for text, code in [
        ("", "must_not_be_empty"),
        ("x" * 699_053, "too_long"),
        ("*", "invalid_base64"),
        ("YQ", "invalid_base64"),
        ("YQ==\n", "invalid_base64"),
        ("data:image/png;base64,iVBORw0KGgo=", "invalid_base64"),
        ("ü", "invalid_base64"),
        (None, "must_not_be_null"),
        (7, "invalid_value"),
        ([], "invalid_value"),
    ]:
        answer = api.put("logo", {"imageBase64": text})
        assert answer.status_code == 400, text
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [("#/imageBase64", code)], text
        assert not list_logo_files(), text


def test_logo_reads_base64_up_to_maximum_length(api):
    assert api.put("logo", {"imageBase64": "A" * 699_052}).json()["errors"][0]["code"] == "not_a_png"


def test_logo_rejects_files_that_are_not_valid_png(api):
    for raw, code in [
        (b"not an image", "not_a_png"),
        (b"\x89PNG\r\n\x1a\n", "not_a_png"),
        (build_png()[:40], "not_a_png"),
        (build_noise_png()[:2000], "not_a_png"),
        (build_image("JPEG"), "not_a_png"),
        (build_image("GIF"), "not_a_png"),
        (build_image("WEBP"), "not_a_png"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not_a_png"),
        (build_lying_png(4, 4), "not_a_png"),
        (build_lying_png(0, 4), "not_a_png"),
        (build_lying_png(2**31, 2**31), "image_too_large"),
        (build_lying_png(30_000, 30_000), "image_too_large"),
        (build_lying_png(4096, 4096, rows=b"\0" * 1000), "not_a_png"),
        (b"\x89PNG\r\n\x1a\n" + build_chunk(b"IHDR", b"\0" * 13) + build_chunk(b"IEND", b""), "not_a_png"),
        (build_png().replace(b"IDAT", b"IDAX"), "not_a_png"),
        # The pixels are those of the header; the rest is never unpacked. It comes last, as it may store a file.
        (build_lying_png(4, 4, rows=b"\0" * 50_000_000), None),
    ]:
        with undo_changes():
            answer = api.put("logo", encode_image(raw))
            if code is None:
                assert answer.status_code in (200, 400), raw
                continue
            assert answer.status_code == 400, answer.content
            assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [("#/imageBase64", code)], raw
            assert api.get("").json()["customLogoPath"] is None, raw
            assert not list_logo_files(), raw


def test_logo_with_decompression_bomb_causes_no_server_error(api):
    bomb = zlib.compress(b"a" * 64 * 1024 * 1024)
    raw = build_png()
    raw = raw[:33] + build_chunk(b"zTXt", b"k\0\0" + bomb) + raw[33:]
    answer = api.put("logo", encode_image(raw))
    assert answer.status_code in (200, 400)
    assert answer.status_code == 200 or answer.json()["errors"][0]["code"] in ("not_a_png", "image_too_large")


def test_logo_names_missing_field(api):
    assert api.put("logo", {}).json()["errors"][0] | {"detail": ""} == {
        "pointer": "#/imageBase64", "code": "required", "detail": "",
    }  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_logo_replaces_previous_one_and_can_be_deleted(api, client):
    first = api.put("logo", encode_image(build_png())).json()["customLogoPath"]
    second = api.put("logo", encode_image(build_png())).json()["customLogoPath"]
    assert first != second
    assert client.get(f"/assets/{first}").status_code == 404
    assert len(list_logo_files()) == 1
    gone = api.delete("logo")
    assert gone.status_code == 200
    assert gone.json()["customLogoPath"] is None
    assert client.get(f"/assets/{second}").status_code == 404
    assert api.delete("logo").status_code == 200
    actions = list(AuditEntry.objects.filter(entity_type="company").values_list("action", flat=True).order_by("id"))
    assert actions[1:] == ["company.logoReplaced", "company.logoReplaced", "company.logoRemoved"]


def test_assets_serve_only_logos(client):
    for path in ["../db", "..%2f..%2fetc/passwd", "/etc/passwd", "logos", "logos/", "nothing.png", "%00", "a" * 5000]:
        assert client.get(f"/assets/{path}").status_code == 404
