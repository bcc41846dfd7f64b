"""Uploaded company logo: validated, re-encoded and stored under a random name."""

import base64
import binascii
import io
import warnings

from django.core.files.storage import storages
from django.core.files.uploadedfile import UploadedFile
from PIL import Image

from companies.change import change_company
from companies.errors import InvalidInputError
from companies.models import AuditContext, Company, generate_id
from companies.storage.actions import delete_from_storage_after_commit, save_to_storage
from companies.storage.images import DECODE_LOCK, is_valid_png

MAX_LOGO_PIXELS = 4096  # a side
MAX_LOGO_BYTES = 512 * 1024  # 699,052 characters of base64: service.md, part 8


class InvalidBase64(InvalidInputError):
    """imageBase64 is not valid Base64."""

    code = "invalid_base64"


class NotAPng(InvalidInputError):
    """The image is not a valid PNG."""

    code = "not_a_png"


class ImageTooLarge(InvalidInputError):
    """The image is too large. Upload a PNG of at most 4096 × 4096 pixels and 512 KiB."""

    code = "image_too_large"


def decode_logo(text: str) -> bytes:
    """Decode a base64 PNG and return it re-encoded.

    Raises:
        InvalidBase64, NotAPng, ImageTooLarge
    """
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidBase64(pointer="#/imageBase64") from None
    return clean_png(raw, pointer="#/imageBase64")


def read_uploaded_logo(file: UploadedFile) -> bytes:
    """Return an uploaded PNG re-encoded. Raises NotAPng, ImageTooLarge."""
    if (file.size or 0) > MAX_LOGO_BYTES:
        raise ImageTooLarge
    return clean_png(file.read())


def clean_png(
    raw: bytes, *, pointer: str | None = None, formats: tuple[str, ...] = ("PNG",), most_pixels: int = MAX_LOGO_PIXELS
) -> bytes:
    """Re-encode a picture's pixels as PNG, without metadata and trailing data.

    Raises:
        NotAPng, ImageTooLarge
    """
    buffer = io.BytesIO()
    try:
        with DECODE_LOCK, warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image: Image.Image = Image.open(io.BytesIO(raw), formats=formats)
            if max(image.size) > most_pixels:
                raise ImageTooLarge(pointer=pointer)
            if image.format == "PNG" and not is_valid_png(
                raw
            ):  # checked without decoding pixels, which take a hundred times the memory
                raise NotAPng(pointer=pointer)
            image.load()
            has_alpha = "A" in image.getbands() or "transparency" in image.info
            mode = "RGBA" if has_alpha else "RGB"
            image = image if image.mode == mode else image.convert(mode)
            image.info = {}
            image.save(buffer, format="PNG", optimize=True)
            image.close()
    except (ImageTooLarge, NotAPng):
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ImageTooLarge(pointer=pointer) from None
    except Exception:  # noqa: BLE001 - decoders raise many kinds for broken files
        raise NotAPng(pointer=pointer) from None
    return buffer.getvalue()


def replace_logo(*, company: Company, context: AuditContext, png: bytes | None) -> Company:
    """Store a new logo, or remove it with None; the old file is deleted after the commit. Raises PreconditionFailed."""
    storage = storages["assets"]
    with change_company(company, context=context) as change:
        stored_company = change.lock_company_row()
        old_path = stored_company.custom_logo_path
        new_path = (
            None if png is None else save_to_storage(storage=storage, name=f"logos/{generate_id()}.png", content=png)
        )
        action = "company.logoReplaced" if new_path else "company.logoRemoved"
        if new_path or old_path:
            change.update(stored_company, action, custom_logo_path=new_path, last_overall_updated_time=context.time)
        if old_path:
            delete_from_storage_after_commit(storage=storage, name=old_path)
    return stored_company
