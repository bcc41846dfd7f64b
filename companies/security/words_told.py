"""The English words of a person's own log, and of what calls a device, in the language of who reads them."""

import re
from functools import cache

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

TEXTS = (  # the first that fits counts: those with names of people's own before those that fit many
    _("new device"),
    _("by staff"),
    _("{old} became {new}"),
    _("{name}, ending in {last}"),
    _("1 other session"),
    _("{count} other sessions"),
    _("An authenticator app was added"),
    _("The authenticator app was removed"),
    _("The passkey “{name}” was added"),
    _("The passkey “{name}” was removed"),
    _("All second factors were removed by whoever runs this server"),
    _("New recovery codes were made"),
    _("Unknown device"),
    _("Unknown browser"),
    _("a Python script"),
    "{device} ({address})",
    _("{browser} on {system}"),
)
THEMSELVES = ("browser", "device")  # the parts that are such words, and nobody's own


def retold(text: str) -> str:
    """What is kept in English, as the page speaks; anything else stays.

    >>> retold("Firefox on Windows"), retold("Somebody's words")
    ('Firefox on Windows', "Somebody's words")
    """
    for each in TEXTS:
        if found := pattern(each).fullmatch(text):
            parts = {name: retold(part) if name in THEMSELVES else part for name, part in found.groupdict().items()}
            return gettext(each).format(**parts)
    return text


@cache
def pattern(text: str) -> re.Pattern[str]:
    """What a text looks like once its braces are filled."""
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(text)), re.DOTALL)
