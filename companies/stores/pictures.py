"""Whether a picture is whole: its pixels are really there, for a header alone is easily forged.

Few are unpacked for that: a PNG's bytes are counted while they pass, a JPEG is read at an eighth of its size.
"""

import io
import struct
import threading
import warnings
import zlib
from collections.abc import Iterator

from PIL import Image

UNPACKING = threading.Lock()  # one picture at a time: what several at once would take of a worker is taken once
MOST_PIXELS = 50_000_000  # a page at 600 dots an inch has 35 million
MOST_BYTES = 4 * MOST_PIXELS  # of its pixels
MOST_HELD = 128 * 1024 * 1024  # bytes: a progressive JPEG is unpacked whole, whatever size is asked for
MOST_SCANS = 100  # of a JPEG; programs make about ten, and each goes over the whole picture
AT_ONCE = 64 * 1024
SIGNATURE = b"\x89PNG\r\n\x1a\n"
BANDS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by the colour type of a PNG
WHOLE = ((0, 0, 1, 1),)
INTERLACED = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


class Damaged(ValueError):
    """The picture is not whole, or larger than any that is kept."""


def is_png(content: bytes) -> bool:
    """Whether all chunks have the checksums they name, and the pixels are as many as the header says."""
    try:
        parts = chunks(content)
        kind, head = next(parts)
        if kind != b"IHDR" or len(head) != 13:
            return False
        expected = bytes_of(*struct.unpack(">IIBBBBB", head))
        return unpacked(parts, most=expected) == expected
    except (Damaged, struct.error, zlib.error):
        return False


def chunks(content: bytes) -> Iterator[tuple[bytes, memoryview]]:
    """(kind, data) of each up to the end. Raises Damaged, struct.error."""
    whole, at, kind = memoryview(content), len(SIGNATURE), b""
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", whole, at)
        data, (checksum,) = whole[at + 8 : at + 8 + length], struct.unpack_from(">I", whole, at + 8 + length)
        if zlib.crc32(data, zlib.crc32(kind)) != checksum:
            raise Damaged
        yield kind, data
        at += 12 + length


def bytes_of(width: int, height: int, depth: int, colour: int, _packing: int, _filters: int, interlaced: int) -> int:
    """How many bytes the rows are, each behind that of its filter. Raises Damaged for more than is looked at.

    >>> bytes_of(9, 7, 8, 6, 0, 0, 0), bytes_of(3, 2, 8, 2, 0, 0, 1)
    (259, 22)
    """
    bits = BANDS.get(colour, 0) * depth
    if not width or not height or not bits or width * height > MOST_PIXELS or width * height * bits > MOST_BYTES * 8:
        raise Damaged
    passes = INTERLACED if interlaced else WHOLE
    sizes = ((-(-(width - x) // across), -(-(height - y) // down)) for x, y, across, down in passes)
    return sum((1 + -(-wide * bits // 8)) * high for wide, high in sizes if wide > 0 and high > 0)


def unpacked(parts: Iterator[tuple[bytes, memoryview]], *, most: int) -> int:
    """How many bytes the pixels are, counted up to ``most``. Raises Damaged, struct.error, zlib.error."""
    packer, count = zlib.decompressobj(), 0
    for kind, data in parts:
        if kind != b"IDAT":
            continue
        for start in range(0, len(data), AT_ONCE):
            left: bytes | memoryview = data[start : start + AT_ONCE]
            while count < most and (made := packer.decompress(left, min(AT_ONCE, most - count))):
                count, left = count + len(made), packer.unconsumed_tail
    return count


def is_jpeg(content: bytes) -> bool:
    """Whether it can be read to its end."""
    if content.count(b"\xff\xda") > MOST_SCANS:
        return False
    try:
        with UNPACKING, warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=["JPEG"]) as image:
                pixels = image.width * image.height
                progressive = "progressive" in image.info
                if pixels > MOST_PIXELS or (progressive and pixels * len(image.getbands()) * 2 > MOST_HELD):
                    return False
                image.draft(image.mode, (max(image.width // 8, 1), max(image.height // 8, 1)))
                image.load()
    except Exception:  # noqa: BLE001 - decoders raise many kinds for broken files
        return False
    return True
