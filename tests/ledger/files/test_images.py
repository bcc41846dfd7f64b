"""Pictures among documents: whole ones are taken, and a worker does not feel what they would fill when unpacked."""

import ctypes
import io
import re
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

from companies.actions.logo import NotAPng, clean_png
from ledger.files import content_type

MIB = 1024 * 1024
BANDS = {"L": 0, "RGB": 2, "LA": 4, "RGBA": 6}


def build_chunk(kind, data, *, broken=False):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data) ^ broken)


def build_plain_png(width, height, *, mode="RGBA", depth=8, rows=None, broken=b""):
    """A PNG of one colour, made without its pixels in memory."""
    row = bytes(1 + (width * len(mode) * depth + 7) // 8)
    packer = zlib.compressobj(1)
    pixels = b"".join(packer.compress(row) for _ in range(height if rows is None else rows)) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, depth, BANDS[mode], 0, 0, 0)
    chunks = ((b"IHDR", head), (b"tEXt", b"Title\0x"), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(build_chunk(kind, data, broken=kind == broken) for kind, data in chunks)


def save_image(kind, size=(9, 7), mode="RGB", **options):
    out = io.BytesIO()
    Image.new(mode, size).save(out, format=kind, **options)
    return out.getvalue()


def get_accepted_extension(content):
    try:
        return content_type.detect_content_kind(content).extension
    except content_type.UnsupportedFileType:
        return None


def read_peak_memory():
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024


def measure_growth(*contents, by=get_accepted_extension):
    """By how much the process grows while all of them are looked at, each by a thread of its own."""
    ctypes.CDLL(None).mallopt(-3, MIB)  # large pieces are given back at once, as in a worker: config/gunicorn.py
    with ThreadPoolExecutor(len(contents)) as threads:
        Path("/proc/self/clear_refs").write_text("5")
        before = read_peak_memory()
        kinds = list(threads.map(by, contents))
        return kinds, read_peak_memory() - before


def test_large_png_is_checked_with_little_memory():
    largest = build_plain_png(7000, 7000)
    kinds, taken_up = measure_growth(largest, largest, largest)
    assert kinds == ["png"] * 3
    assert taken_up < 16 * MIB
    kinds, taken_up = measure_growth(build_plain_png(12_000_000, 4))
    assert kinds == ["png"]
    assert taken_up < 16 * MIB


def test_large_jpeg_is_checked_with_limited_memory():
    photograph = save_image("JPEG", (7000, 7000))
    kinds, taken_up = measure_growth(photograph, photograph, photograph)
    assert kinds == ["jpg"] * 3
    assert taken_up < 32 * MIB
    within, beyond = (save_image("JPEG", (width, 4000), progressive=True, subsampling=0) for width in (5000, 7000))
    kinds, taken_up = measure_growth(within, within, within)
    assert kinds == ["jpg"] * 3
    assert taken_up < 160 * MIB  # such a one is unpacked whole, and one at a time
    assert measure_growth(beyond)[0] == [None]


def test_concurrent_logos_are_decoded_one_at_a_time():
    largest = build_plain_png(4096, 4096, mode="LA")
    clean, taken_up = measure_growth(largest, largest, largest, by=clean_png)
    assert {Image.open(io.BytesIO(each)).size for each in clean} == {(4096, 4096)}
    assert taken_up < 160 * MIB  # its pixels twice: as they are, and as they will be


def check_rejected_as_logo(content):
    with pytest.raises(NotAPng):
        clean_png(content)


@pytest.mark.parametrize("interlaced", [b"\0", b"\1"])
def test_rejected_logo_is_not_decoded(interlaced):
    head = struct.pack(">IIBBBB", 4096, 4096, 8, BANDS["RGBA"], 0, 0) + interlaced
    cut = build_plain_png(4096, 4096, rows=4095)
    cut = cut[:8] + build_chunk(b"IHDR", head) + cut[33:]
    assert check_rejected_as_logo(cut) is None
    _, taken_up = measure_growth(cut, by=check_rejected_as_logo)
    assert taken_up < 2 * MIB


@pytest.mark.parametrize(("mode", "depth"), [("RGBA", 16), ("RGB", 16)])
def test_image_decoding_to_too_many_bytes_is_rejected(mode, depth):
    assert get_accepted_extension(build_plain_png(7000, 7000, mode=mode, depth=depth)) is None
    assert get_accepted_extension(build_plain_png(4000, 4000, mode=mode, depth=depth)) == "png"


@pytest.mark.parametrize("part", [b"IHDR", b"tEXt", b"IDAT", b"IEND"])
def test_image_with_wrong_checksum_is_rejected(part):
    assert get_accepted_extension(build_plain_png(9, 7)) == "png"
    assert get_accepted_extension(build_plain_png(9, 7, broken=part)) is None


def test_image_with_missing_rows_is_rejected():
    assert get_accepted_extension(build_plain_png(9, 700, rows=699)) is None
    whole = build_plain_png(9, 7)
    assert get_accepted_extension(whole[:-4]) is None
    assert get_accepted_extension(whole.replace(b"IDAT", b"IDAX")) is None
    assert get_accepted_extension(whole[:8] + build_chunk(b"IEND", b"")) is None
    assert get_accepted_extension(whole[:40] + b"\xff\xff\xff\xff" + whole[44:]) is None


def test_every_png_color_mode_is_accepted():
    for mode in ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"]:
        for size in [(1, 1), (9, 7), (300, 200)]:
            assert get_accepted_extension(save_image("PNG", size, mode)) == "png"


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (3, 2), (9, 7), (64, 33)])
def test_interlaced_png_needs_all_seven_passes(size):
    """Its rows are those that Pillow reads, with their filters' bytes; one byte less is damaged."""
    width, height = size
    starts = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
    passes = ((-(-(width - x) // dx), -(-(height - y) // dy)) for x, y, dx, dy in starts)
    pixels = b"".join(bytes(1 + 3 * wide) * high for wide, high in passes if wide > 0 and high > 0)
    head = build_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 1))

    def made(data):
        return b"\x89PNG\r\n\x1a\n" + head + build_chunk(b"IDAT", zlib.compress(data)) + build_chunk(b"IEND", b"")

    Image.open(io.BytesIO(made(pixels))).load()
    assert get_accepted_extension(made(pixels)) == "png"
    assert get_accepted_extension(made(pixels[:-1])) is None
