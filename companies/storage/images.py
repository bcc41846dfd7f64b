"""Validates that a picture is complete: a header alone is easily forged.

PNG data is counted while it is decompressed; a JPEG is decoded at an eighth of its size.
"""

import io
import struct
import threading
import warnings
import zlib
from collections.abc import Iterator

from PIL import Image

DECODE_LOCK = threading.Lock()  # decode one picture at a time, to limit memory
MAX_PIXELS = 50_000_000  # a page at 600 dpi has 35 million
MAX_PIXEL_BYTES = 4 * MAX_PIXELS  # of decoded pixels
MAX_DECODED_BYTES = 128 * 1024 * 1024  # bytes: a progressive JPEG is decoded whole at any size
MAX_JPEG_SCANS = 100  # usual JPEGs have about ten; each covers the whole picture
CHUNK_BYTES = 64 * 1024
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
JPEG_SIGNATURE = b"\xff\xd8\xff"
BANDS_BY_COLOUR_TYPE = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by PNG colour type
SINGLE_PASS = ((0, 0, 1, 1),)
ADAM7_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


class DamagedImage(ValueError):
    """The picture is incomplete or larger than the limits."""


def is_valid_png(content: bytes) -> bool:
    """Return whether all chunks have correct checksums and the pixel data has the size that the header states."""
    try:
        png_chunks = iter_png_chunks(content)
        kind, header = next(png_chunks)
        if kind != b"IHDR" or len(header) != 13:
            return False
        expected_size = compute_png_size(*struct.unpack(">IIBBBBB", header))
        return count_decompressed_bytes(png_chunks, max_bytes=expected_size) == expected_size
    except (DamagedImage, struct.error, zlib.error):
        return False


def iter_png_chunks(content: bytes) -> Iterator[tuple[bytes, memoryview]]:
    """Yield (kind, data) of each chunk up to the end. Raises DamagedImage, struct.error."""
    view, offset, kind = memoryview(content), len(PNG_SIGNATURE), b""
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", view, offset)
        data, (checksum,) = view[offset + 8 : offset + 8 + length], struct.unpack_from(">I", view, offset + 8 + length)
        if zlib.crc32(data, zlib.crc32(kind)) != checksum:
            raise DamagedImage
        yield kind, data
        offset += 12 + length


def compute_png_size(
    width: int, height: int, depth: int, colour: int, _packing: int, _filters: int, is_interlaced: int
) -> int:
    """Return the size in bytes of all rows, each with its filter byte. Raises DamagedImage beyond the limits.

    >>> compute_png_size(9, 7, 8, 6, 0, 0, 0), compute_png_size(3, 2, 8, 2, 0, 0, 1)
    (259, 22)
    """
    bits_per_pixel = BANDS_BY_COLOUR_TYPE.get(colour, 0) * depth
    if (
        not width
        or not height
        or not bits_per_pixel
        or width * height > MAX_PIXELS
        or width * height * bits_per_pixel > MAX_PIXEL_BYTES * 8
    ):
        raise DamagedImage
    passes = ADAM7_PASSES if is_interlaced else SINGLE_PASS
    sizes = ((-(-(width - x) // across), -(-(height - y) // down)) for x, y, across, down in passes)
    return sum((1 + -(-wide * bits_per_pixel // 8)) * high for wide, high in sizes if wide > 0 and high > 0)


def count_decompressed_bytes(png_chunks: Iterator[tuple[bytes, memoryview]], *, max_bytes: int) -> int:
    """Return the size of the pixel data in bytes, counted up to `max_bytes`. Raises DamagedImage, struct.error,
    zlib.error.
    """
    decompressor, count = zlib.decompressobj(), 0
    for kind, data in png_chunks:
        if kind != b"IDAT":
            continue
        for start in range(0, len(data), CHUNK_BYTES):
            pending_bytes: bytes | memoryview = data[start : start + CHUNK_BYTES]
            while count < max_bytes and (
                output := decompressor.decompress(pending_bytes, min(CHUNK_BYTES, max_bytes - count))
            ):
                count, pending_bytes = count + len(output), decompressor.unconsumed_tail
    return count


def is_valid_jpeg(content: bytes) -> bool:
    """Return whether the JPEG can be decoded completely."""
    if content.count(b"\xff\xda") > MAX_JPEG_SCANS:
        return False
    try:
        with DECODE_LOCK, warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=["JPEG"]) as image:
                pixels = image.width * image.height
                progressive = "progressive" in image.info
                if pixels > MAX_PIXELS or (progressive and pixels * len(image.getbands()) * 2 > MAX_DECODED_BYTES):
                    return False
                image.draft(image.mode, (max(image.width // 8, 1), max(image.height // 8, 1)))
                image.load()
    except Exception:  # noqa: BLE001 - decoders raise many kinds for broken files
        return False
    return True
