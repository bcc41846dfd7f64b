"""A typed client of the Tidebook API: lists, retries, webhooks, sign-in."""

from tidebook.asking import Refused, every, good
from tidebook.connecting import Retrying, connect
from tidebook.oauth import App, SignIn, SignInRefused, Tokens
from tidebook.webhooks import Forged, verify

__all__ = [
    "App", "Forged", "Refused", "Retrying", "SignIn", "SignInRefused", "Tokens", "connect", "every", "good", "verify",
]  # fmt: skip
