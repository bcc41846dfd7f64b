"""HTTP client for URLs given by users (SSRF-safe): metadata of apps, webhooks, logos.

https only, public addresses only. The name is resolved once and that address is connected to, so that a
second DNS answer cannot redirect the request. No redirects are followed; time and size are limited.
"""

import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, IncompleteRead
from io import BytesIO
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

TIMEOUT_SECONDS = 5.0
MAX_ANSWER_BYTES = 64 * 1024
MAX_HEADER_BYTES = 16 * 1024
URL_PATTERN = re.compile(r"[!-~]{1,2048}")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # an IPv4 address in the last 32 bits (RFC 6052)
PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")  # allocated addresses; the rest is local or contains an IPv4 address
# Not public although ipaddress says so: protocols (RFC 6890), 6to4 relays (RFC 7526), documentation (RFC 9637).
EXCLUDED_NETWORKS = [ipaddress.ip_network(each) for each in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")]
INTERNAL_SUFFIXES = (
    ".localhost",
    ".local",
    ".internal",
    ".home.arpa",
)  # RFC 6761, 6762, 8375, and what ICANN keeps for it
WEB_PORTS, FIRST_FREE_PORT = (80, 443), 1024
RESOLVER_POOL = ThreadPoolExecutor(
    max_workers=64, thread_name_prefix="names"
)  # a DNS lookup cannot be cancelled otherwise


class OutboundError(Exception):
    """The URL must not be called, or the request failed. The message is for logs."""


class ResolverBusy(OutboundError):
    """No request was made because all resolver threads are busy; says nothing about the URL."""


@dataclass(frozen=True, slots=True)
class OutboundResponse:
    """Status, headers and body of a response."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def fetch_url(
    url: str, *, method: str = "GET", accept: str = "*/*", headers: Mapping[str, str] | None = None, body: bytes = b"",
    seconds: float = TIMEOUT_SECONDS, most_bytes: int = MAX_ANSWER_BYTES, allow_partial: bool = False,
) -> OutboundResponse:  # fmt: skip
    """Send a request and return the response; redirects are returned, not followed.

    With `allow_partial` the rest beyond `most_bytes` is left unread. Raises OutboundError.
    """
    parts, deadline = parse_outbound_url(url), time.monotonic() + seconds
    port = parts.port or (443 if parts.scheme == "https" else 80)
    sent_headers = {
        "Host": parts.netloc,
        "Accept": accept,
        "User-Agent": "Tidebook",
        "Connection": "close",
        **(headers or {}),
    }
    if body or method != "GET":
        sent_headers["Content-Length"] = str(len(body))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent_headers.items())]
    if any(not line.isascii() or not line.isprintable() for line in lines):
        raise OutboundError("the address or a header has characters that cannot be sent")
    raw = "\r\n".join([*lines, "", ""]).encode() + body
    try:
        with open_connection(
            parts, resolve_addresses(str(parts.hostname), port, deadline=deadline), port, deadline=deadline
        ) as connection:
            connection.settimeout(get_remaining_seconds(deadline))
            connection.sendall(raw)
            raw = receive_bytes(connection, deadline=deadline, most_bytes=most_bytes, allow_partial=allow_partial)
            return parse_http_response(raw, method=method, most_bytes=most_bytes, allow_partial=allow_partial)
    except (OSError, HTTPException, ValueError) as error:
        raise OutboundError(f"{parts.hostname} {describe_connection_error(error)}") from None


def describe_connection_error(error: Exception) -> str:
    """Describe a connection error as a predicate of the host name."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"has a certificate that is not valid: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"does not speak TLS as expected: {(error.reason or 'no TLS').replace('_', ' ').lower()}"
    if isinstance(error, TimeoutError):
        return "takes too long"
    if isinstance(error, OSError):
        return "closed the connection"
    return "does not answer as HTTP does"


def parse_outbound_url(url: str) -> SplitResult:
    """Parse and check a URL. Raises OutboundError."""
    if not URL_PATTERN.fullmatch(url):
        raise OutboundError("not an address")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise OutboundError("not an address") from None
    # Other services of a host, such as SSH, are on low ports; a fragment is never sent.
    if parts.fragment or (port is not None and port < FIRST_FREE_PORT and port not in WEB_PORTS):
        raise OutboundError("not an address")
    schemes = {"https", "http"} if settings.OUTBOUND_ALLOW_PRIVATE else {"https"}
    if parts.scheme not in schemes or not parts.hostname or "@" in parts.netloc:
        raise OutboundError("not an https address of a host")
    return parts


def find_url_error_code(url: str) -> str | None:
    """Return the error code for a URL that will never be called; None if only DNS can tell."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return "invalid_address"
    if "@" in parts.netloc:
        return "credentials_in_address"
    if parts.scheme == "http" and not settings.OUTBOUND_ALLOW_PRIVATE:
        return "not_https"
    try:
        parse_outbound_url(url)
    except OutboundError:
        return "invalid_address"
    return None if settings.OUTBOUND_ALLOW_PRIVATE or is_possibly_public(host) else "address_not_public"


def is_possibly_public(host: str) -> bool:
    """Return False for non-public addresses in any notation (127.1, 0x7f000001) and for internal host names."""
    try:
        return is_public_address(host if ":" in host else socket.inet_ntoa(socket.inet_aton(host)))
    except ValueError:  # an IPv6 address, or invalid
        return False
    except OSError:  # a name, not resolved here
        return "." in host.strip(".") and not host.rstrip(".").endswith(INTERNAL_SUFFIXES)


def get_remaining_seconds(deadline: float) -> float:
    """Return the seconds until the deadline. Raises OutboundError if it has passed."""
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise OutboundError("it takes too long")
    return remaining


def resolve_addresses(host: str, port: int, *, deadline: float) -> list[str]:
    """Resolve a host name once; all of its addresses must be public. Raises OutboundError."""
    lookup = RESOLVER_POOL.submit(socket.getaddrinfo, host, port, proto=socket.IPPROTO_TCP)
    try:
        addresses = list(dict.fromkeys(str(each[4][0]) for each in lookup.result(get_remaining_seconds(deadline))))
    except TooLate:
        if lookup.cancel():  # no thread has started it
            raise ResolverBusy("too many names are being looked up") from None
        raise OutboundError(f"{host} has no address") from None
    except (OSError, UnicodeError):
        raise OutboundError(f"{host} has no address") from None
    if not settings.OUTBOUND_ALLOW_PRIVATE and not all(is_public_address(each) for each in addresses):
        raise OutboundError(f"{host} is not on a public address")
    return addresses


def is_public_address(text: str) -> bool:
    """Return whether an IP address is public; IPv4 addresses inside IPv6 ones are checked too."""
    address: Any = ipaddress.ip_address(text.partition("%")[0])
    if address.version == 6:
        if address.ipv4_mapped or address in NAT64:
            address = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        elif address not in PUBLIC_IPV6 or address.teredo or address.sixtofour:
            return False
    return bool(
        address.is_global and not address.is_multicast and not any(address in each for each in EXCLUDED_NETWORKS)
    )


def open_connection(parts: SplitResult, addresses: list[str], port: int, *, deadline: float) -> socket.socket:
    """Connect to the first address that accepts and verify the certificate. Raises OSError, OutboundError."""
    for address in addresses:
        try:
            connection = socket.create_connection((address, port), timeout=get_remaining_seconds(deadline))
        except OSError:
            continue
        if parts.scheme != "https":
            return connection
        try:
            connection.settimeout(get_remaining_seconds(deadline))
            return ssl.create_default_context().wrap_socket(connection, server_hostname=parts.hostname)
        except BaseException:
            connection.close()
            raise
    raise OutboundError(f"{parts.hostname} takes no connection")


def receive_bytes(connection: socket.socket, *, deadline: float, most_bytes: int, allow_partial: bool) -> bytes:
    """Read until the other side closes. Raises OutboundError if it is too much or takes too long."""
    chunks: list[bytes] = []
    size = 0
    while True:
        connection.settimeout(get_remaining_seconds(deadline))
        chunk = connection.recv(8192)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        size += len(chunk)
        if size > most_bytes + MAX_HEADER_BYTES:
            if allow_partial:
                return b"".join(chunks)
            raise OutboundError("it answers more than is read")


class RawResponse:
    """Received bytes as a file, for http.client."""

    def __init__(self, raw: bytes):
        self.raw = raw

    def makefile(self, *_: Any, **__: Any) -> BytesIO:
        return BytesIO(self.raw)


def parse_http_response(raw: bytes, *, method: str, most_bytes: int, allow_partial: bool) -> OutboundResponse:
    """Parse a raw HTTP response. Raises OutboundError if the body is too large."""
    response = HTTPResponse(RawResponse(raw), method=method)  # type: ignore[arg-type]
    response.begin()
    try:
        body = response.read(most_bytes + 1)
    except IncompleteRead as error:
        if not allow_partial:
            raise
        body = error.partial
    if len(body) > most_bytes and not allow_partial:
        raise OutboundError("it answers more than is read")
    return OutboundResponse(status=response.status, headers=dict(response.getheaders()), body=body[:most_bytes])
