"""What pages that import tables share: the upload form, and the file that waits for its review."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.core.files.uploadedfile import SimpleUploadedFile

from companies.errors import DomainError, InvalidInputError, TooLargeError
from companies.pages.context import CompanyPage, get_error_message
from companies.uploaded_files import find_uploaded_file
from ledger.files.actions import clean_filename
from ledger.imports.actions import uploads
from ledger.imports.pages.uploaded_files import get_upload_owner

PASTED_NAME = "pasted.txt"
MAX_NAME_LENGTH = 100  # of the file, as it stands in an address


class NoTableFile(InvalidInputError):
    """Select a file."""

    code = "no_table_file"


def store_posted_table(page: CompanyPage, *, check: Callable[[bytes], Any], pasted_text: str = "") -> tuple[UUID, str]:
    """Store the posted file, and return its upload and its name.

    Args:
        check: reads the content, and raises DomainError if it is no such table.
        pasted_text: the table without a file.

    Raises:
        NoTableFile, DomainError.
    """
    file = find_uploaded_file(page.request.FILES)
    if file is None and pasted_text:
        file = SimpleUploadedFile(PASTED_NAME, pasted_text.encode())
    if file is None:
        raise NoTableFile
    check(file.read())
    file.seek(0)
    upload_id = uploads.store_upload(**get_upload_owner(page), file=file)
    return upload_id, clean_filename(file.name or "file")[-MAX_NAME_LENGTH:]


def describe_upload_error(error: DomainError) -> tuple[str, int]:
    """Return the message of an upload form and its status."""
    return get_error_message(error), 413 if isinstance(error, TooLargeError) else 400
