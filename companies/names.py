"""Validation of names: trimmed, not empty, on one line. Used wherever a name is entered."""

import re

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

BLANK_NAME_CODE = "blank_name"  # code of an empty name; in the API it is ``blank``
# Control characters, line breaks and direction marks.
LINE_BREAKS = r"\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
# Spaces of any width, invisible characters, and letters that look blank: Hangul fillers, the empty Braille cell.
INVISIBLE = (
    r"\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
)
INVISIBLE_ASTRAL = (
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # as only Python writes it
)
VISIBLE_PATTERN = re.compile(rf"[^{INVISIBLE}{INVISIBLE_ASTRAL}]")
NAME_PATTERN = rf"^(?=.*[^{INVISIBLE}])[^{LINE_BREAKS}]+$"  # for a trimmed name; linear time
# For a name that must be trimmed already.
TRIMMED_NAME_PATTERN = rf"^(?!\s)(?=.*[^{INVISIBLE}{INVISIBLE_ASTRAL}])[^{LINE_BREAKS}]+(?<!\s)\Z"

validate_one_line = RegexValidator(
    NAME_PATTERN, _("Must be a single line without control characters."), code="invalid_characters"
)


def parse_name(text: str, *, max_length: int) -> str:
    """Validate and trim a name. Raises ValidationError."""
    name = text.strip()
    if not VISIBLE_PATTERN.search(name) or len(name) > max_length:
        raise ValidationError(f"A name must have 1 to {max_length} characters.")
    validate_one_line(name)
    return name


def build_name(text: str) -> str:
    """Build a valid name from any text, such as an external id.

    >>> build_name(" cus_1 "), build_name(" ")
    ('cus_1', 'Unnamed')
    """
    printable = "".join(character if character.isprintable() else " " for character in text)
    return printable.strip() or "Unnamed"
