"""The one way out to addresses that callers name: where it leads, and what it takes."""

import ipaddress
import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from companies import http_client
from tests import tls

PRIVATE_ADDRESSES = [
    "127.0.0.1", "10.0.0.1", "172.16.5.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
    "239.255.255.250", "255.255.255.255", "192.0.2.1", "198.18.0.1", "240.0.0.1", "::1", "::", "fe80::1",
    "fe80::1%eth0", "fc00::1", "fd12:3456::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
    "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "::7f00:1", "2002:7f00:1::",
    "2001:0:7f00:1::",
]  # fmt: skip


def test_http_client_rejects_addresses_that_are_not_public():
    for address in PRIVATE_ADDRESSES:
        assert not http_client.is_public_address(address)


# All that IANA keeps for special purposes and does not call globally reachable, or that leads into IPv4: registries of
# 2025 (RFC 6890 and those after it), with multicast, what is left of older uses (192.88.99.0/24, fec0::/10, ::/96), and
# what is not handed out at all.
SPECIAL_PURPOSE_RANGES = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/29",
    "192.0.0.8/32", "192.0.0.170/31", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32",
    "::/128", "::1/128", "::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/32",
    "2001:2::/48", "2001:10::/28", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
    "fec0::/10", "ff00::/8", "4000::/3", "8000::/1", "::ffff:192.88.99.0/120", "64:ff9b::c058:6300/120",
]  # fmt: skip


def test_http_client_rejects_special_purpose_networks():
    for network in SPECIAL_PURPOSE_RANGES:
        addresses = ipaddress.ip_network(network)
        reached = {0, 1, addresses.num_addresses // 2, addresses.num_addresses - 2, addresses.num_addresses - 1}
        for place in (each % addresses.num_addresses for each in reached):
            assert not http_client.is_public_address(str(addresses[place])), addresses[place]


def test_http_client_accepts_addresses_next_to_special_purpose_networks():
    for address in [
        "192.88.98.255",
        "192.88.100.0",
        "2001:4860:4860::8888",
        "2a00:1450::1",
        "3ffe:ffff::1",
        "3fff:1000::1",
    ]:
        assert http_client.is_public_address(address)


def test_http_client_accepts_public_addresses():
    for address in ["1.1.1.1", "93.184.215.14", "2606:4700:4700::1111", "64:ff9b::101:101", "::ffff:1.1.1.1"]:
        assert http_client.is_public_address(address)


@pytest.fixture
def name_server(monkeypatch):
    """DNS answers by host, and the addresses that were connected to."""
    text, went = {}, []

    def getaddrinfo(host, port, *args, **kwargs):
        answers = text[host]
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]

    def create_connection(address, timeout=None):
        went.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(http_client.socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(http_client.socket, "create_connection", create_connection)
    return text, went


@pytest.mark.parametrize("found", [["10.0.0.1"], ["1.1.1.1", "10.0.0.1"], ["::ffff:127.0.0.1"], []])
def test_http_client_rejects_host_with_any_private_address(found, name_server):
    text, went = name_server
    text["app.example"] = [found]
    with pytest.raises(http_client.OutboundError):
        http_client.fetch_url("https://app.example/app.json")
    assert went == []


def test_http_client_resolves_host_once_to_prevent_rebinding(name_server):
    text, went = name_server
    text["app.example"] = [["1.1.1.1", "8.8.8.8"], ["127.0.0.1"]]
    with pytest.raises(http_client.OutboundError):
        http_client.fetch_url("https://app.example/app.json")
    assert went == [("1.1.1.1", 443), ("8.8.8.8", 443)]


@pytest.mark.parametrize(
    "url",
    ["http://app.example/", "ftp://app.example/", "file:///etc/passwd", "https://me@app.example/", "https:///x",
     "https://app.example:99999/", "https://app.example/\r\nHost: other", "https://app.example/ü", "app.example", ""],
)  # fmt: skip
def test_http_client_rejects_urls_that_are_not_https_without_lookup(url, name_server):
    name_server[0]["app.example"] = [["1.1.1.1"]]
    with pytest.raises(http_client.OutboundError):
        http_client.fetch_url(url)
    assert name_server[1] == []


@contextmanager
def serve_once(answer):
    """A server of one connection; ``answer`` gets it once the request has come."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def run():
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                with suppress(OSError):  # the caller gave up
                    answer(connection)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/app.json"


@pytest.fixture
def allow_private_addresses(settings):
    settings.OUTBOUND_ALLOW_PRIVATE = True


def test_http_client_returns_plain_response(allow_private_addresses):
    with serve_once(lambda c: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: b\r\n\r\n{}")) as url:
        answer = http_client.fetch_url(url)
    assert (answer.status, answer.body, answer.headers["X-A"]) == (200, b"{}", "b")


def test_http_client_returns_chunked_response(allow_private_addresses):
    with serve_once(
        lambda c: c.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
    ) as url:
        assert http_client.fetch_url(url).body == b"{}"


def test_http_client_does_not_follow_redirects(allow_private_addresses):
    raw = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    with serve_once(lambda c: c.sendall(raw)) as url:
        assert http_client.fetch_url(url).status == 302


@pytest.mark.parametrize("size", [64 * 1024 + 1, 10_000_000])
def test_http_client_rejects_more_than_64_kib(size, allow_private_addresses):
    with (
        serve_once(lambda c: c.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * size)) as url,
        pytest.raises(http_client.OutboundError),
    ):
        http_client.fetch_url(url)


def test_http_client_reads_up_to_64_kib(allow_private_addresses):
    with serve_once(lambda c: c.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 64 * 1024)) as url:
        assert len(http_client.fetch_url(url).body) == 64 * 1024


def send_slowly(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(100):
        connection.sendall(b"x")
        time.sleep(0.05)


@pytest.mark.parametrize("answer", [send_slowly, lambda c: None, lambda c: c.sendall(b"HTTP/1.1 200 OK\r\nX: ")])
def test_http_client_limits_total_time(answer, allow_private_addresses):
    given_up = threading.Event()
    began = time.monotonic()
    with serve_once(lambda c: (answer(c), given_up.wait(60))) as url:
        with pytest.raises(http_client.OutboundError):
            http_client.fetch_url(url, seconds=0.5)
        took = time.monotonic() - began
        given_up.set()
    assert took < 30


@pytest.mark.parametrize(
    "raw", [b"", b"nonsense", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", b"\xff\xfe\r\n\r\n"]
)
def test_http_client_rejects_invalid_responses(raw, allow_private_addresses):
    with serve_once(lambda c: c.sendall(raw)) as url:
        try:
            answer = http_client.fetch_url(url)
        except http_client.OutboundError:
            return
    assert answer.body == b""


def test_http_client_gives_up_slow_name_resolution(monkeypatch):
    given_up = threading.Event()
    monkeypatch.setattr(http_client.socket, "getaddrinfo", lambda *_, **__: given_up.wait(60))
    began = time.monotonic()
    with pytest.raises(http_client.OutboundError):
        http_client.fetch_url("https://app.example/", seconds=0.3)
    assert time.monotonic() - began < 30
    given_up.set()


def test_http_client_explains_untrusted_certificate(allow_private_addresses, tmp_path):
    with (
        tls.serve_https(lambda path: (200, {}, b""), folder=tmp_path) as (host, _),
        pytest.raises(http_client.OutboundError, match="localhost has a certificate that is not valid: self-signed"),
    ):
        http_client.fetch_url(f"https://{host}/")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "does not speak TLS as expected"),
        (lambda connection: None, "does not speak TLS as expected|closed the connection"),
    ],
)
def test_http_client_explains_server_without_tls(allow_private_addresses, answer, words):
    with serve_once(answer) as url, pytest.raises(http_client.OutboundError, match=words):
        http_client.fetch_url(url.replace("http://", "https://"))
