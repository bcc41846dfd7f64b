"""A company's own logo: checked, re-encoded, and stored under a name that says nothing."""

import base64
import binascii
import io
import warnings

from django.core.files.storage import storages
from django.core.files.uploadedfile import UploadedFile
from PIL import Image

from companies.changing import changing
from companies.errors import Invalid
from companies.models import Company, Stamp, new_id
from companies.stores.pictures import UNPACKING, is_png
from companies.stores.storing import drop_after_commit, store_whole

MOST_PIXELS = 4096  # a side
MOST_BYTES = 512 * 1024  # what 699,052 characters of base64 hold: service.md, part 8


class InvalidBase64(Invalid):
    """imageBase64 is not base64."""

    code = "invalid_base64"


class NotAPng(Invalid):
    """The image is not a PNG that can be decoded."""

    code = "not_a_png"


class ImageTooLarge(Invalid):
    """The image has more than 4096 pixels on a side, or more than 512 KiB."""

    code = "image_too_large"


def decode_png(text: str) -> bytes:
    """A clean PNG made anew from the pixels of a base64-encoded one.

    Raises InvalidBase64, NotAPng, ImageTooLarge.
    """
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidBase64(pointer="#/imageBase64") from None
    return clean_png(raw, pointer="#/imageBase64")


def uploaded_png(file: UploadedFile) -> bytes:
    """A clean PNG of a file that a form sent. Raises NotAPng, ImageTooLarge."""
    if (file.size or 0) > MOST_BYTES:
        raise ImageTooLarge
    return clean_png(file.read())


def clean_png(
    raw: bytes, *, pointer: str | None = None, formats: tuple[str, ...] = ("PNG",), most_pixels: int = MOST_PIXELS
) -> bytes:
    """The pixels of a picture, encoded anew as a PNG: metadata and whatever follows the image are left behind.

    Raises NotAPng, ImageTooLarge.
    """
    out = io.BytesIO()
    try:
        with UNPACKING, warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image: Image.Image = Image.open(io.BytesIO(raw), formats=formats)
            if max(image.size) > most_pixels:
                raise ImageTooLarge(pointer=pointer)
            if image.format == "PNG" and not is_png(
                raw
            ):  # asked without its pixels, which take a hundred times the file
                raise NotAPng(pointer=pointer)
            image.load()
            has_alpha = "A" in image.getbands() or "transparency" in image.info
            mode = "RGBA" if has_alpha else "RGB"
            image = image if image.mode == mode else image.convert(mode)
            image.info = {}
            image.save(out, format="PNG", optimize=True)
            image.close()
    except (ImageTooLarge, NotAPng):
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ImageTooLarge(pointer=pointer) from None
    except Exception:  # noqa: BLE001 - decoders raise many kinds for broken files
        raise NotAPng(pointer=pointer) from None
    return out.getvalue()


def replace_logo(*, company: Company, stamp: Stamp, png: bytes | None) -> Company:
    """Stores a new logo, or takes the company's own away with None; the old file goes when the change is kept.

    Raises Stale.
    """
    storage = storages["assets"]
    with changing(company, stamp=stamp) as change:
        stored = change.locked_company()
        old = stored.custom_logo_path
        new = None if png is None else store_whole(storage=storage, name=f"logos/{new_id()}.png", content=png)
        action = "company.logoReplaced" if new else "company.logoRemoved"
        if new or old:
            change.update(stored, action, custom_logo_path=new, last_overall_updated_time=stamp.time)
        if old:
            drop_after_commit(storage=storage, name=old)
    return stored
