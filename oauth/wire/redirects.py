"""Redirect URIs: what can be registered, what matches a registered one, how one is shown."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from oauth.wire.parameters import written

LOOPBACK = re.compile(r"http://(127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?([/?].*)?", re.ASCII)
AUTHORITY = re.compile(r"([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:[1-9]\d{0,4})?", re.ASCII)
PRINTABLE = re.compile(r"[!-~]{1,2000}")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
# Schemes that run code, show content of their own, or belong to the browser.
FORBIDDEN = {
    "about", "blob", "chrome", "cid", "content", "data", "file", "filesystem", "ftp", "intent", "javascript", "mailto",
    "sms", "tel", "urn", "vbscript", "view-source", "ws", "wss",
}  # fmt: skip


def fault(uri: str) -> str | None:
    """Why a URI cannot be registered, or None where it can."""
    if not PRINTABLE.fullmatch(uri) or any(sign in uri for sign in '\\"<>^`{|}*'):
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
    return scheme_fault(uri, scheme=uri.partition(":")[0], authority=parts.netloc)


def scheme_fault(uri: str, *, scheme: str, authority: str) -> str | None:
    if scheme in ("http", "https") and not AUTHORITY.fullmatch(authority):
        return f"{uri}: the host is missing or malformed, or the port is not from 1 to 65535."
    if scheme == "https":
        return None
    if scheme == "http":
        return None if LOOPBACK.fullmatch(uri) else f"{uri}: http is for 127.0.0.1 and [::1] only."
    if not SCHEME.fullmatch(scheme) or scheme in FORBIDDEN or ":" not in uri:
        return f"{uri}: use https, or a private-use scheme such as com.example.app:/callback."
    return None


def allowed(uri: str, registered: Sequence[str]) -> bool:
    """Exactly one that is registered; on the loopback interface with any port (RFC 8252, section 7.3)."""
    if uri in registered:
        return True
    asked = LOOPBACK.fullmatch(uri)
    if not asked or not 0 < int(asked[2] or 80) <= 65535:
        return False
    return any((one := LOOPBACK.fullmatch(each)) and (one[1], one[3]) == (asked[1], asked[3]) for each in registered)


def shown(uri: str) -> str:
    """What people are told about where they go next."""
    parts = urlsplit(uri)
    return parts.netloc if parts.scheme in ("http", "https") else f"an app on this device ({parts.scheme})"


def with_parameters(uri: str, parameters: dict[str, str]) -> str:
    """The URI with parameters added to its query; what it had stays as it was."""
    return f"{uri}{'&' if '?' in uri else '?'}{written(parameters)}"
