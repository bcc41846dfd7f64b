"""The file of a form that takes one file."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from companies.errors import ValidationFailed


def find_uploaded_file(files: "MultiValueDict[str, Any]", name: str = "file") -> UploadedFile | None:
    """Return the file of a field; None if there is none.

    Raises:
        ValidationFailed: there are several.
    """
    uploaded_files = files.getlist(name)
    if len(uploaded_files) > 1:
        raise ValidationFailed([(f"#/{name}", "several_files", _("Send only one file."))])
    return uploaded_files[0] if uploaded_files else None
