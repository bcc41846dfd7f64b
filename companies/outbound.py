"""The one way out to an address that a caller named: apps' documents, and whatever else a caller's text leads to.

https only, to public addresses only; the name is resolved once and what it resolved to is connected to, so that a
second answer of the name server leads nowhere else; no redirect is followed; all of it within some seconds and bytes.
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

SECONDS = 5.0
MOST_BYTES = 64 * 1024
MOST_HEADER_BYTES = 16 * 1024
SENT = re.compile(r"[!-~]{1,2048}")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # an IPv4 address in the last 32 bits (RFC 6052)
SERVED = ipaddress.IPv6Network("2000::/3")  # all that is handed out; the rest is local, or carries an IPv4 address
# What the standard library takes for public: protocols (RFC 6890), 6to4 relays (RFC 7526), documentation (RFC 9637).
NEVER = [ipaddress.ip_network(each) for each in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")]
INSIDE = (".localhost", ".local", ".internal", ".home.arpa")  # RFC 6761, 6762, 8375, and what ICANN keeps for it
NAMES = ThreadPoolExecutor(max_workers=64, thread_name_prefix="names")  # asking for a name cannot be given up otherwise


class Refused(Exception):
    """The address is not one to call, or nothing good came back; the message says why, and is for logs."""


class NoCapacity(Refused):
    """Nothing was asked of anybody: all threads that look up names are busy. It says nothing about the address."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


def fetch(
    url: str, *, method: str = "GET", accept: str = "*/*", headers: Mapping[str, str] | None = None, body: bytes = b"",
    seconds: float = SECONDS, most_bytes: int = MOST_BYTES, beginning: bool = False,
) -> Answer:  # fmt: skip
    """What the address answers; a redirect is an answer like any other. Where its ``beginning`` is enough, what is more
    than ``most_bytes`` is left unread. Raises Refused."""
    parts, end = checked(url), time.monotonic() + seconds
    port = parts.port or (443 if parts.scheme == "https" else 80)
    sent = {"Host": parts.netloc, "Accept": accept, "User-Agent": "Tidebook", "Connection": "close", **(headers or {})}
    if body or method != "GET":
        sent["Content-Length"] = str(len(body))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
    if any(not line.isascii() or not line.isprintable() for line in lines):
        raise Refused("the address or a header has characters that cannot be sent")
    raw = "\r\n".join([*lines, "", ""]).encode() + body
    try:
        with connected(parts, addresses_of(str(parts.hostname), port, end=end), port, end=end) as connection:
            connection.settimeout(left(end))
            connection.sendall(raw)
            raw = received(connection, end=end, most_bytes=most_bytes, beginning=beginning)
            return read(raw, method=method, most_bytes=most_bytes, beginning=beginning)
    except (OSError, HTTPException, ValueError) as error:
        raise Refused(f"{parts.hostname} {explain(error)}") from None


def explain(error: Exception) -> str:
    """Say in words what went wrong with a connection, as a predicate of the host's name."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"has a certificate that is not valid: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"does not speak TLS as expected: {(error.reason or 'no TLS').replace('_', ' ').lower()}"
    if isinstance(error, TimeoutError):
        return "takes too long"
    if isinstance(error, OSError):
        return "closed the connection"
    return "does not answer as HTTP does"


def checked(url: str) -> SplitResult:
    if not SENT.fullmatch(url):
        raise Refused("not an address")
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        raise Refused("not an address") from None
    schemes = {"https", "http"} if settings.OUTBOUND_ALLOW_PRIVATE else {"https"}
    if parts.scheme not in schemes or not parts.hostname or "@" in parts.netloc:
        raise Refused("not an https address of a host")
    return parts


def objection(url: str) -> str | None:
    """Why an address will never be called, as a code; None where only its name server can tell, when it is called."""
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
        checked(url)
    except Refused:
        return "invalid_address"
    return None if settings.OUTBOUND_ALLOW_PRIVATE or may_be_public(host) else "address_not_public"


def may_be_public(host: str) -> bool:
    """False for addresses that are not, however they are written (127.1, 0x7f000001), and names of a network's own."""
    try:
        return is_public(host if ":" in host else socket.inet_ntoa(socket.inet_aton(host)))
    except ValueError:  # of IPv6, or of what comes after it
        return False
    except OSError:  # a name: nobody is asked for it
        return "." in host.strip(".") and not host.rstrip(".").endswith(INSIDE)


def left(end: float) -> float:
    """Seconds that remain. Raises Refused where there are none."""
    remaining = end - time.monotonic()
    if remaining <= 0:
        raise Refused("it takes too long")
    return remaining


def addresses_of(host: str, port: int, *, end: float) -> list[str]:
    """Where the name lies: asked for once. One address that is not public refuses them all. Raises Refused."""
    asked = NAMES.submit(socket.getaddrinfo, host, port, proto=socket.IPPROTO_TCP)
    try:
        found = list(dict.fromkeys(str(each[4][0]) for each in asked.result(left(end))))
    except TooLate:
        if asked.cancel():  # no thread has begun with it
            raise NoCapacity("too many names are being looked up") from None
        raise Refused(f"{host} has no address") from None
    except (OSError, UnicodeError):
        raise Refused(f"{host} has no address") from None
    if not settings.OUTBOUND_ALLOW_PRIVATE and not all(is_public(each) for each in found):
        raise Refused(f"{host} is not on a public address")
    return found


def is_public(text: str) -> bool:
    """Whether an address is one of the public network, an IPv4 address inside an IPv6 one included."""
    address: Any = ipaddress.ip_address(text.partition("%")[0])
    if address.version == 6:
        if address.ipv4_mapped or address in NAT64:
            address = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        elif address not in SERVED or address.teredo or address.sixtofour:
            return False
    return bool(address.is_global and not address.is_multicast and not any(address in each for each in NEVER))


def connected(parts: SplitResult, addresses: list[str], port: int, *, end: float) -> socket.socket:
    """A connection to the first of the addresses that takes one; its certificate is the name's. Raises OSError."""
    for address in addresses:
        try:
            connection = socket.create_connection((address, port), timeout=left(end))
        except OSError:
            continue
        if parts.scheme != "https":
            return connection
        try:
            connection.settimeout(left(end))
            return ssl.create_default_context().wrap_socket(connection, server_hostname=parts.hostname)
        except BaseException:
            connection.close()
            raise
    raise Refused(f"{parts.hostname} takes no connection")


def received(connection: socket.socket, *, end: float, most_bytes: int, beginning: bool) -> bytes:
    """All that came, until the other side closed. Raises Refused where it is too much or takes too long."""
    chunks: list[bytes] = []
    size = 0
    while True:
        connection.settimeout(left(end))
        chunk = connection.recv(8192)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        size += len(chunk)
        if size > most_bytes + MOST_HEADER_BYTES:
            if beginning:
                return b"".join(chunks)
            raise Refused("it answers more than is read")


class Came:
    """Bytes that came, as the reader of answers wants them."""

    def __init__(self, raw: bytes):
        self.raw = raw

    def makefile(self, *_: Any, **__: Any) -> BytesIO:
        return BytesIO(self.raw)


def read(raw: bytes, *, method: str, most_bytes: int, beginning: bool) -> Answer:
    response = HTTPResponse(Came(raw), method=method)  # type: ignore[arg-type]
    response.begin()
    try:
        body = response.read(most_bytes + 1)
    except IncompleteRead as cut:
        if not beginning:
            raise
        body = cut.partial
    if len(body) > most_bytes and not beginning:
        raise Refused("it answers more than is read")
    return Answer(status=response.status, headers=dict(response.getheaders()), body=body[:most_bytes])
