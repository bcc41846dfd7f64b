"""The running server and what comes over the wire: broken requests, bodies without an end, a hundred thousand rows."""

import contextlib
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.machine import create_prepared_machine, find_free_port, list_workers

pytestmark = pytest.mark.server


class RawConnection:
    """Sends bytes to a running server and reads the answer."""

    def __init__(self, port: int, key: str, company: str, server: int):
        self.port, self.key, self.company, self.server = port, key, company, server

    def send(
        self, raw: bytes, *, timeout: float = 60, ends: bool = False, until_closed: bool = False
    ) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body); 0 where the server just hung up. ``ends``: nothing more will be sent.

        As clients do, this hangs up after the answer, unless ``until_closed``: the server waits five seconds for the
        rest of a large body that it rejected."""
        received = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as wire:
            with contextlib.suppress(OSError):  # an answer may come before the body is sent
                wire.sendall(raw)
                if ends:
                    wire.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                while (until_closed or not is_complete(received)) and (part := wire.recv(65536)):
                    received += part
        if not received:
            return 0, {}, b""
        head, _, body = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        return int(first.split()[1]), dict(line.lower().split(": ", 1) for line in lines), body

    def call(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        ends: bool = False,
        until_closed: bool = False,
        **headers: str,
    ) -> tuple[int, dict[str, str], bytes]:
        given = {"Host": "127.0.0.1", "Authorization": f"Bearer {self.key}", "Connection": "close"}
        given |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{name}: {value}" for name, value in given.items() if value != "-"]
        path = path if path.startswith("/") else f"/companies/{self.company}/{path}".rstrip("/")
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines]).encode("latin-1")
        return self.send(head + b"\r\n\r\n" + body, ends=ends, until_closed=until_closed)


def is_complete(answer: bytes) -> bool:
    """Whether these are all bytes of an answer that says how many there are."""
    head, end, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"^content-length: (\d+)\r?$", head, re.I | re.M)
    return bool(end and length and len(body) >= int(length[1]))


@pytest.fixture(scope="module")
def wire() -> Iterator[RawConnection]:
    port = find_free_port()
    with create_prepared_machine() as machine, machine.up(port, "--workers", "1") as process:
        company, key = machine.companies["Acme"]
        yield RawConnection(port, key, company, process.pid)


def get_problem(answer: tuple[int, dict[str, str], bytes]) -> tuple[int, str]:
    assert answer[1]["content-type"] == "application/problem+json", answer
    body = json.loads(answer[2])
    assert body["requestId"] == answer[1]["x-request-id"]
    return answer[0], body["code"]


def test_web_server_answers_ordinary_request(wire):
    status, headers, body = wire.call("GET", "/companies")
    assert (status, json.loads(body)[0]["name"]) == (200, "Acme")
    assert "ratelimit-remaining" in headers


def test_chunked_body_returns_411(wire):
    chunked = b"7\r\n" + b'{"a":1}' + b"\r\n0\r\n\r\n"
    given = {"Content_Length": "-", "Transfer_Encoding": "chunked"}
    assert get_problem(wire.call("PUT", "", chunked, **given)) == (411, "length_required")
    assert get_problem(wire.call("POST", "transactions/import", chunked, **given)) == (411, "length_required")


MULTIPART = "multipart/form-data; boundary=end"
PART = b'--end\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nday,amount\r\n2026-01-01,1000'


@pytest.mark.parametrize(
    ("path", "content_type", "body"),
    [
        ("accounts", "application/json", b'{"type": "bank", "name": "Bank"}'),
        ("files", MULTIPART, PART),
        ("files", MULTIPART, PART + b"\r\n" + b"2026-01-01,1000\r\n" * 8192),
        ("/app/sign-in", "application/x-www-form-urlencoded", b"username=alice@acme.example&password=x"),
        ("/app/sign-in", MULTIPART, PART),
        ("/auth/oauth2/token", "application/x-www-form-urlencoded", b"grant_type=authorization_code&code=1000"),
    ],
)
def test_body_shorter_than_content_length_is_rejected(wire, path, content_type, body):
    given = {"Content_Type": content_type, "Content_Length": str(len(body) + 2)}
    status, _, text = wire.call("POST", path, body, ends=True, **given)
    assert status == 400
    assert re.search(rb"The request body is incomplete|The request could not be read", text)
    assert json.loads(wire.call("GET", "accounts")[2]) == json.loads(wire.call("GET", "files")[2]) == []


def test_too_large_body_is_rejected_by_content_length_alone(wire):
    assert get_problem(wire.call("POST", "account_groups", b"{", Content_Length=str(1024**2 + 1))) == (
        413,
        "body_too_large",
    )
    import_ = wire.call("POST", "transactions/import", b"{", Content_Length=str(64 * 1024**2 + 1))
    assert get_problem(import_) == (413, "body_too_large")


def test_truncated_body_returns_400_or_closes_connection(wire):
    raw = (
        f"POST /companies/{wire.company}/account_groups HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/json\r\nAuthorization: Bearer {wire.key}\r\n"
        "Content-Length: 50\r\nConnection: close\r\n\r\n"
    ).encode()
    with socket.create_connection(("127.0.0.1", wire.port), timeout=180) as connection:
        connection.sendall(raw + b'{"name":')
        connection.shutdown(socket.SHUT_WR)
        first = connection.recv(65536)
    assert not first or first.startswith(b"HTTP/1.1 400")
    assert json.loads(wire.call("GET", "account_groups")[2]) == []


@pytest.mark.parametrize(
    "path",
    [
        "/%zz",
        "/%00",
        "/companies/%ff%fe",
        "/companies/..%2f..",
        "//companies",
        "/companies?limit=%zz",
        "/companies?%00=%ff",
        "/companies/%F0%9F",
        "/companies\\x",
        "/;a=b",
    ],
)
def test_malformed_url_returns_400_or_404(wire, path):
    status, code = get_problem(wire.call("GET", path))
    assert (status, code) in {(404, "not_found"), (400, "validation_failed")}, path


@pytest.mark.parametrize("length", ["abc", "-1", "1e3", " ", "9" * 30, "1, 2"])
def test_invalid_content_length_is_never_a_5xx(wire, length):
    status = wire.call("POST", "account_groups", b'{"name": "x"}', Content_Length=length)[0]
    assert status in (0, 400, 413)


@pytest.mark.parametrize(
    "raw",
    [
        b"GET /companies HTTP/9.9\r\nHost: x\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n",
        b"GET /companies HTTP/1.1\r\nHost: 127.0.0.1\r\nA b: c\r\n\r\n",
        b"GET /companies HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 9000 + b"\r\n\r\n",
        b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /companies HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"GET /companies HTTP/1.1\r\nConnection: close\r\n\r\n",
        b"GET /companies HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
        b"GET /companies HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \xff\xfe\r\nConnection: close\r\n\r\n",
        b"POST /companies HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n"
        b"Connection: close\r\n\r\nhello",
    ],
    ids=range(11),
)
def test_malformed_requests_return_4xx_or_close_connection(wire, raw):
    status, _, body = wire.send(raw, timeout=180)
    assert status in (0, 400, 401, 404, 411, 414, 431, 505), body
    assert b"Traceback" not in body
    assert wire.call("GET", "/healthz")[0] == 200


@pytest.mark.parametrize(
    ("path", "header", "status", "code"),
    [("/" + "a" * 9000, "x", 414, "address_too_long"), ("/companies", "a" * 9000, 431, "headers_too_large")],
)
def test_too_large_request_line_or_header_returns_problem_json(wire, path, header, status, code):
    answered, headers, body = wire.call("GET", path, X_Long=header)
    problem = json.loads(body)
    assert (answered, headers["content-type"]) == (status, "application/problem+json")
    assert (problem["status"], problem["code"]) == (status, code)
    assert set(problem) == {"type", "title", "status", "detail", "instance", "code", "requestId"}


def measure_peak_rss(pid: int) -> int:
    """The greatest resident size so far of a process and its children, in bytes."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    own = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return max([int(own[1]) * 1024, *(measure_peak_rss(int(child)) for child in children)])


def test_import_of_hundred_thousand_rows_uses_little_memory(wire):
    account = json.loads(wire.call("POST", "accounts", b'{"type": "bank", "name": "Main"}')[2])["id"]
    rows: list[dict[str, Any]] = [
        {
            "accountId": account, "date": f"2024-{1 + n % 12:02}-{1 + n % 28:02}", "fromTo": f"Customer {n % 977}",
            "description": f"Invoice {n}", "amountValue": f"{n % 1000}.25", "amountCurrency": "EUR",
            "externalId": f"e{n}",
        }
        for n in range(100_000)
    ]  # fmt: skip
    wire.call("POST", "transactions/import", json.dumps({"transactions": rows[:10]}).encode())
    body = json.dumps({"transactions": rows}).encode()
    before = measure_peak_rss(wire.server)
    status, _, answer = wire.call("POST", "transactions/import", body)
    assert status == 200, answer
    answers = json.loads(answer)
    assert (answers["count"], answers["duplicates"], answers["errors"]) == (99_990, 10, [])
    grown = measure_peak_rss(wire.server) - before
    assert grown < 5 * len(body), f"grew by {grown / len(body):.1f} × the body"
    one_more = json.dumps({"transactions": [*rows, rows[0]]}).encode()
    assert get_problem(wire.call("POST", "transactions/import", one_more)) == (400, "validation_failed")


def test_client_that_sends_too_large_body_completely_gets_413(wire):
    size = 65 * 1024**2
    head = (
        f"POST /companies/{wire.company}/transactions/import HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/json\r\nAuthorization: Bearer {wire.key}\r\nContent-Length: {size}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", wire.port), timeout=180) as connection:
        connection.sendall(head.encode() + b" " * size)
        assert connection.recv(65536).startswith(b"HTTP/1.1 413")


FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data; boundary=end"
KIB, MIB = 1024, 1024 * 1024
ONE_FIELD = b'--end\r\nContent-Disposition: form-data; name="a"\r\n\r\n'
ONE_FILE = b'--end\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
TOO_LARGE_REQUESTS = [  # address, media type, what is sent, the limit
    ("/auth/oauth2/authorize", FORM, b"client_id=" + b"%41" * 6_000_000, 64 * KIB),
    ("/auth/oauth2/token", FORM, b"grant_type=" + b"%41" * 6_000_000, 64 * KIB),
    ("/app/sign-in", FORM, b"username=" + b"%41" * 6_000_000, 64 * KIB),
    ("/app/sign-in", FORM, b"a&" * 9_000_000, 64 * KIB),
    ("/app/password-reset", FORM, b"email=" + b"%41" * 6_000_000, 64 * KIB),
    ("/app/sign-out", MULTIPART, ONE_FIELD + b"x" * 18_000_000, 64 * KIB),
    ("/admin/login/", FORM, b"username=" + b"%41" * 6_000_000, 64 * KIB),
    ("/nowhere", FORM, b"a=" + b"%41" * 6_000_000, 64 * KIB),
    ("accounts", "application/json", b"[" * 18_000_000, MIB),
    ("account_groups", "application/json", b"[" + b"{}," * 6_000_000, MIB),
    ("files", MULTIPART, ONE_FILE + b"x" * 65 * MIB, 64 * MIB),
    ("transactions/import", "application/json", b" " * 65 * MIB, 64 * MIB),
]


def test_rejected_body_uses_at_most_twice_its_limit_of_memory(wire, record_property):
    """Of a worker's memory, its greatest size over what it had before; the whole body is really sent. Other things that
    a worker does in its own time, as letting a connection go, take some of it too: a MiB is theirs. What a body costs
    it costs each time, what a worker does beside it does not: the least of three tries is the body's."""
    (worker,) = list_workers(wire.server)
    key = {"Authorization": "-"}
    for path, kind, body, most in TOO_LARGE_REQUESTS:
        more = {"Content_Type": kind} | (key if path.startswith(("/a", "/n")) else {})
        wire.call("POST", path, b"", **more)  # what the first request of a kind loads
        tries = []
        while not tries or (tries[-1] > 2 * most + MIB and len(tries) < 3):
            Path(f"/proc/{worker}/clear_refs").write_text("5")  # its greatest size is counted anew
            before = read_peak_rss(worker)
            status, _, answer = wire.call("POST", path, body, until_closed=True, **more)
            tries.append(read_peak_rss(worker) - before)
            assert status == 413, (path, answer[:200])
        grown = min(tries)
        record_property(
            "report", f"{path} {kind.partition(';')[0]}: {len(body):,} bytes sent, {grown // KIB:,} KiB taken"
        )
        assert grown <= 2 * most + MIB, (path, tries)


def read_peak_rss(pid: int) -> int:
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1]) * KIB


@pytest.mark.parametrize("header", ["SCRIPT_NAME", "PATH_INFO"])
def test_headers_do_not_change_redirect_urls(wire, header):
    """gunicorn takes these two from who calls from this machine, where a proxy passes on whatever it is sent."""
    plain = b"GET /app/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    usual, moved = wire.send(plain + b"\r\n"), wire.send(plain + header.encode() + b": /app\r\n\r\n")
    assert (moved[0], moved[1]["location"]) == (usual[0], usual[1]["location"])
    assert moved[1]["location"].startswith("/app/sign-in")


@pytest.mark.parametrize("encoding", ["hex", "rot13", "idna", "utf-7", "unicode_escape", "utf-16", "nonsense", ""])
@pytest.mark.parametrize("kind", ["application/json", "x", "multipart/form-data; boundary=end"])
def test_unusual_charset_causes_no_server_error(wire, encoding, kind):
    """Python knows some that are none, and some that make halves of characters."""
    named = {"Content_Type": f"{kind}; charset={encoding}"}
    assert wire.call("GET", "/companies?limit=%ff", **named)[0] == 400
    assert wire.call("GET", "/app/?x=%ff", **named)[0] == 302
    form = b'--end\r\nContent-Disposition: form-data; name="email"\r\n\r\n+2AA-\\ud800\r\n--end--\r\n'
    assert wire.call("POST", "/app/sign-in", form, **named)[0] == 403  # without our token
    assert wire.call("POST", "files", form, **named)[0] in (400, 415)


def test_stalled_requests_give_their_threads_back(wire):
    beginnings = [
        b"GET /companies HTTP/1.1\r\nHost: x\r\nX-A: ",
        b"POST /companies/x/transactions/import HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n{",
    ]
    stalled = [socket.create_connection(("127.0.0.1", wire.port), timeout=30) for _ in beginnings]
    try:
        for connection, beginning in zip(stalled, beginnings, strict=True):
            connection.sendall(beginning)
        for connection in stalled:
            while connection.recv(65536):
                pass  # until the server closes it
        assert wire.call("GET", "accounts")[0] == 200
    finally:
        for connection in stalled:
            connection.close()
