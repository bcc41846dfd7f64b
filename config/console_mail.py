"""Mails where no server is set: printed, beside what a command answers and not in it."""

import sys
from typing import Any

from django.core.mail.backends import console


class EmailBackend(console.EmailBackend):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, stream=sys.stderr, **kwargs)
