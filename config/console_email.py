"""E-mail backend without a mail server: prints to stderr, so that the output of commands is unchanged."""

import sys
from typing import Any

from django.core.mail.backends import console


class EmailBackend(console.EmailBackend):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, stream=sys.stderr, **kwargs)
