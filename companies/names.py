"""What people call things: trimmed, not empty, on one line. Every door that takes a name asks here."""

import re

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

BLANK = "blank_name"  # the code of a name that is empty; answered as ``blank``, which other texts may be
# Control characters, line breaks, and marks that turn the direction of what follows them.
BREAKS = r"\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
# Blanks, also those of no width; what no font draws; letters that are blanks: Hangul's fillers, Braille's empty cell.
UNSEEN = (
    r"\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
)
BEYOND = (
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # as only Python writes it
)
SEEN = re.compile(rf"[^{UNSEEN}{BEYOND}]")
PATTERN = rf"^(?=.*[^{UNSEEN}])[^{BREAKS}]+$"  # of a name that is trimmed; matched in linear time
TRIMMED = (
    rf"^(?!\s)(?=.*[^{UNSEEN}{BEYOND}])[^{BREAKS}]+(?<!\s)\Z"  # the same for one that is not to be trimmed any more
)

one_line = RegexValidator(PATTERN, _("Must be on one line, without control characters."), code="invalid_characters")


def name_in(text: str, *, longest: int) -> str:
    """The name that was given on a command line, trimmed. Raises ValidationError."""
    name = text.strip()
    if not SEEN.search(name) or len(name) > longest:
        raise ValidationError(f"A name must have 1 to {longest} characters.")
    one_line(name)
    return name


def name_from(text: str) -> str:
    """A name made of any text, such as an id of another system.

    >>> name_from("cus_\\n1 "), name_from(" ")
    ('cus_ 1', 'Unnamed')
    """
    shown = "".join(character if character.isprintable() else " " for character in text)
    return shown.strip() or "Unnamed"
