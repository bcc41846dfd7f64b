"""The file of a form that takes one file."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from companies.errors import ValidationFailed


def find_uploaded_file(form: "MultiValueDict[str, Any]", name: str = "file") -> UploadedFile | None:
    """Return the file of a field; None if there is none. A part without a file name is text, not a file.

    Raises:
        ValidationFailed: there are several.
    """
    parts = form.getlist(name)
    if len(parts) > 1:
        raise ValidationFailed([(f"#/{name}", "several_files", _("Send only one file."))])
    return next((part for part in parts if isinstance(part, UploadedFile)), None)
