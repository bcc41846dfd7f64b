"""Translations of the security log and of device names, which are stored in English."""

import re
from functools import cache

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

LOG_TEXTS = (  # the first match counts: texts with names before more general ones
    _("new device"),
    _("by support"),
    _("{old} changed to {new}"),
    _("{name}, ending in {last}"),
    _("1 other session"),
    _("{count} other sessions"),
    _("An authenticator app was added"),
    _("The authenticator app was removed"),
    _("The passkey “{name}” was added"),
    _("The passkey “{name}” was removed"),
    _("Two-factor authentication was removed by the operator"),
    _("New recovery codes were created"),
    _("Unknown device"),
    _("Unknown browser"),
    _("Python script"),
    "{device} ({address})",
    _("{browser} on {system}"),
)
NESTED_PARTS = ("browser", "device")  # parts that are translated themselves


def translate_log_entry(text: str) -> str:
    """Translate a stored English text into the page's language; unknown texts are returned unchanged.

    >>> translate_log_entry("Firefox on Windows"), translate_log_entry("Somebody's words")
    ('Firefox on Windows', "Somebody's words")
    """
    for log_text in LOG_TEXTS:
        if match := build_text_pattern(log_text).fullmatch(text):
            parts = {
                name: translate_log_entry(part) if name in NESTED_PARTS else part
                for name, part in match.groupdict().items()
            }
            return gettext(log_text).format(**parts)
    return text


@cache
def build_text_pattern(text: str) -> re.Pattern[str]:
    """Build the pattern that matches a text with its placeholders filled in."""
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(text)), re.DOTALL)
