"""A typed client of the Tidebook API: lists, retries, webhooks, sign-in."""

from tidebook.http import RetryTransport, connect
from tidebook.oauth import App, SignIn, SignInError, Tokens
from tidebook.responses import ApiError, iterate, unwrap
from tidebook.webhooks import InvalidSignature, verify

__all__ = [
    "ApiError",
    "App",
    "InvalidSignature",
    "RetryTransport",
    "SignIn",
    "SignInError",
    "Tokens",
    "connect",
    "iterate",
    "unwrap",
    "verify",
]
