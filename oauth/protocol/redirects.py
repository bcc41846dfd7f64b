"""Redirect URIs: which can be registered, which match a registered one, and how one is shown."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from oauth.protocol.parameters import encode_parameters

LOOPBACK_PATTERN = re.compile(r"http://(127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?([/?].*)?", re.ASCII)
AUTHORITY_PATTERN = re.compile(r"([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:[1-9]\d{0,4})?", re.ASCII)
PRINTABLE_PATTERN = re.compile(r"[!-~]{1,2000}")
SCHEME_PATTERN = re.compile(r"[a-z][a-z0-9+.-]*")
# Schemes that execute code, embed content, or are internal to browsers.
FORBIDDEN_SCHEMES = {
    "about", "blob", "chrome", "cid", "content", "data", "file", "filesystem", "ftp", "intent", "javascript", "mailto",
    "sms", "tel", "urn", "vbscript", "view-source", "ws", "wss",
}  # fmt: skip


def find_redirect_fault(uri: str) -> str | None:
    """Return why a URI cannot be registered, or None."""
    if not PRINTABLE_PATTERN.fullmatch(uri) or any(character in uri for character in '\\"<>^`{|}*'):
        return f"{uri}: only printable ASCII characters, and no wildcards."
    try:
        parts = urlsplit(uri)
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        return f"{uri}: not a valid address."
    if "#" in uri:
        return f"{uri}: no fragment is allowed."
    if "@" in parts.netloc:
        return f"{uri}: no user name is allowed."
    return find_scheme_fault(uri, scheme=uri.partition(":")[0], authority=parts.netloc)


def find_scheme_fault(uri: str, *, scheme: str, authority: str) -> str | None:
    if scheme in ("http", "https") and not AUTHORITY_PATTERN.fullmatch(authority):
        return f"{uri}: the host is missing or malformed, or the port is not from 1 to 65535."
    if scheme == "https":
        return None
    if scheme == "http":
        return None if LOOPBACK_PATTERN.fullmatch(uri) else f"{uri}: http is for 127.0.0.1 and [::1] only."
    if not SCHEME_PATTERN.fullmatch(scheme) or scheme in FORBIDDEN_SCHEMES or ":" not in uri:
        return f"{uri}: use https, or a private-use scheme such as com.example.app:/callback."
    return None


def is_redirect_allowed(uri: str, registered: Sequence[str]) -> bool:
    """Return whether a URI is registered exactly, or on the loopback interface with any port (RFC 8252, 7.3)."""
    if uri in registered:
        return True
    requested = LOOPBACK_PATTERN.fullmatch(uri)
    if not requested or not 0 < int(requested[2] or 80) <= 65535:
        return False
    return any(
        (registered_match := LOOPBACK_PATTERN.fullmatch(redirect_uri))
        and (registered_match[1], registered_match[3]) == (requested[1], requested[3])
        for redirect_uri in registered
    )


def describe_destination(uri: str) -> str:
    """Return what users see of where they go next."""
    parts = urlsplit(uri)
    return parts.netloc if parts.scheme in ("http", "https") else f"an app on this device ({parts.scheme})"


def add_parameters(uri: str, parameters: dict[str, str]) -> str:
    """Add parameters to the query of a URI, which stays as it is otherwise."""
    return f"{uri}{'&' if '?' in uri else '?'}{encode_parameters(parameters)}"
