"""What people call things: trimmed, not empty, on one line. Every door that takes a name asks here."""

import re

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

BLANK = "blank_name"  # the code of a name that is empty; answered as ``blank``, which other texts may be
# Control characters, line breaks, and marks that turn the direction of what follows them.
BREAKS = r"\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
UNSEEN = r"\s\u00ad\u180e\u200b-\u200d\u2060-\u2064\ufeff"  # blanks, also those of no width
SEEN = re.compile(rf"[^{UNSEEN}]")
PATTERN = rf"^(?=.*[^{UNSEEN}])[^{BREAKS}]+$"  # of a name that is trimmed; matched in linear time
TRIMMED = rf"^(?!\s)(?=.*[^{UNSEEN}])[^{BREAKS}]+(?<!\s)\Z"  # the same for one that is not to be trimmed any more

one_line = RegexValidator(PATTERN, _("Must be on one line, without control characters."), code="invalid_characters")


def name_in(text: str, *, longest: int) -> str:
    """The name that was given on a command line, trimmed. Raises ValidationError."""
    name = text.strip()
    if not 1 <= len(name) <= longest:
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
