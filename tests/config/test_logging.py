"""What a running server writes down, read as an operator's tools would read it; and what it never writes down."""

import base64
import hashlib
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests

from config.monitoring.logging import hide_secrets
from tests.machine import PASSWORD, Machine, create_prepared_machine, find_free_port, get_status, wait_until

pytestmark = pytest.mark.server

REDIRECT = "http://127.0.0.1:7/callback"  # nobody listens there


@dataclass
class LoggedSession:
    """Somebody who does all that a person, an app and a script do, and remembers what was secret in it."""

    machine: Machine
    port: int
    company: str = ""
    key: str = ""
    session: requests.Session = field(default_factory=requests.Session)
    secret: dict[str, str] = field(default_factory=dict)

    @property
    def site(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __post_init__(self) -> None:
        self.company, self.key = self.machine.companies["Acme"]
        self.secret |= {"password": PASSWORD, "key": self.key[40:]}

    def call(self, method: str, path: str, **more: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.key}"} | more.pop("headers", {})
        return requests.request(method, self.site + path, headers=headers, timeout=180, **more)

    def sign_in(self, password: str) -> requests.Response:
        page = self.session.get(f"{self.site}/app/sign-in", timeout=180)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[1]
        self.secret[f"form token {len(self.secret)}"] = token
        body = {"username": "alice@acme.example", "password": password, "csrfmiddlewaretoken": token, "next": ""}
        answer = self.session.post(f"{self.site}/app/sign-in", body, allow_redirects=False, timeout=180)
        self.secret |= {f"cookie {name}": value for name, value in self.session.cookies.items()}
        return answer

    def let_app_in(self) -> None:
        """Authorize, exchange, refresh, use, revoke: each step must work, or nothing secret would have been shown."""
        app = json.loads(
            self.machine.run(
                "register_app", "--name", "App", "--redirect-uri", REDIRECT, "--scopes", "svc:read offline_access",
                "--confidential",
            ).stdout
        )  # fmt: skip
        verifier = secrets.token_urlsafe(48)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code", "client_id": app["client_id"], "redirect_uri": REDIRECT, "scope": "svc:read "
            "offline_access", "state": "state-" + secrets.token_hex(8), "code_challenge": challenge,
            "code_challenge_method": "S256",
        }  # fmt: skip
        page = self.session.get(f"{self.site}/auth/oauth2/authorize?{urlencode(query)}", timeout=180)
        assert page.status_code == 200, page.text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[1]
        form = {"company": self.company, "decision": "allow", "csrfmiddlewaretoken": token}
        answer = self.session.post(page.url, form, allow_redirects=False, timeout=180)
        code = parse_qs(urlsplit(answer.headers["Location"]).query)["code"][0]
        client = {"client_id": app["client_id"], "client_secret": app["client_secret"]}
        self.secret |= {"verifier": verifier, "challenge": challenge, "state": query["state"], "code": code}
        self.secret |= {"client secret": app["client_secret"], "consent's form token": token}
        exchange = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT}
        tokens = self.token(exchange | client | {"code_verifier": verifier})
        newer = self.token({"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]} | client)
        bearer = {"Authorization": f"Bearer {newer['access_token']}"}
        assert requests.get(f"{self.site}/companies", headers=bearer, timeout=180).status_code == 200
        revoked = {"token": newer["refresh_token"]} | client
        assert requests.post(f"{self.site}/auth/oauth2/revoke", revoked, timeout=180).status_code == 200
        self.token(exchange | client, status=400)

    def token(self, body: dict[str, str], *, status: int = 200) -> Any:
        answer = requests.post(f"{self.site}/auth/oauth2/token", body, timeout=180)
        assert answer.status_code == status, answer.text
        answers = answer.json()
        for kind in ("access_token", "refresh_token"):
            if kind in answers:
                self.secret[f"{kind} {len(self.secret)}"] = answers[kind]
        return answers

    def misplace(self) -> None:
        """What people do with secrets by mistake: in the path, in the query, in a header that is none."""
        self.call("GET", f"/companies/{self.key}")
        self.call("GET", "/companies", params={"api_key": self.key, "access_token": "misplaced-in-the-query"})
        self.call("GET", "/app/password-reset/MQ/set-by-mail-1234567")
        self.call("GET", "/app/password-reset/MQ/set-by-mail-1234567/")
        raw = b"GET /companies?code=broken-request HTTP/1.1\r\nHost: x\r\nAuthorization broken-request\r\n\r\n"
        with socket.create_connection(("127.0.0.1", self.port)) as wire:
            wire.sendall(raw)
            wire.recv(65536)
        self.secret |= {"query": "misplaced-in-the-query", "reset": "set-by-mail-1234567", "broken": "broken-request"}

    def lose_the_database(self) -> list[int]:
        """The statuses of what is asked while it is gone; returns when it is back."""
        process = self.machine.postmaster
        os.kill(process, signal.SIGKILL)
        wait_until(lambda: get_status(self.port, "/readyz") == 503, seconds=5)
        results = [self.call("GET", "/companies").status_code]
        cookies = {"svc-session": self.session.cookies["svc-session"]}
        url = f"{self.site}/app/?token=asked-while-it-is-gone"
        results.append(requests.get(url, cookies=cookies, allow_redirects=False, timeout=180).status_code)
        self.secret["query of a failure"] = "asked-while-it-is-gone"
        assert wait_until(lambda: get_status(self.port, "/readyz") == 200, seconds=180)
        return results


@dataclass
class ServerLog:
    """Everything that a server wrote between its start and its end, and who drove it."""

    drive: LoggedSession
    printed: str
    failures: list[int]

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Its log. What ``up`` says to a person at its start is not of it."""
        greeting = self.printed.index("Press Ctrl-C to stop.\n") + len("Press Ctrl-C to stop.\n")
        return [json.loads(line) for line in self.printed[greeting:].splitlines()]

    def of(self, **fields: Any) -> list[dict[str, Any]]:
        return [line for line in self.lines if fields.items() <= line.items()]


def run_logged_session(**settings: str) -> ServerLog:
    with create_prepared_machine() as machine:
        machine.settings |= {"EMAIL_URL": "smtp://127.0.0.1:1"} | settings
        drive = LoggedSession(machine=machine, port=find_free_port())
        with machine.up(drive.port, "--workers", "1") as process:
            answers = [drive.sign_in("hunter2 hunter2"), drive.sign_in(PASSWORD)]
            drive.secret["wrong password"] = "hunter2 hunter2"
            assert [answer.status_code for answer in answers] == [400, 303], answers
            drive.let_app_in()
            drive.misplace()
            path = f"/companies/{drive.company}/accounts"
            assert drive.call("GET", path, headers={"X-Request-Id": "mine-1"}).status_code == 200
            drive.session.get(f"{drive.site}/app/", timeout=180)
            failures = drive.lose_the_database()
            process.send_signal(signal.SIGINT)
            printed = process.stdout.read()
            assert process.wait(180) == 0, printed
        printed_by_database = (machine.embedded.path / "server.log").read_text()
    return (
        ServerLog(drive, printed, failures) if settings else ServerLog(drive, printed + printed_by_database, failures)
    )


@pytest.fixture(scope="module")
def as_json() -> ServerLog:
    return run_logged_session(LOG_FORMAT="json")


@pytest.fixture(scope="module")
def as_text() -> ServerLog:
    return run_logged_session()


def test_json_log_lines_start_with_time_level_logger_and_message(as_json):
    assert len(as_json.lines) > 20
    for line in as_json.lines:
        assert list(line)[:4] == ["time", "level", "logger", "message"]
        assert datetime.fromisoformat(line["time"]).utcoffset().total_seconds() == 0
        assert line["level"] in {"INFO", "WARNING", "ERROR"}


def test_access_log_has_one_line_per_request_with_caller_and_duration(as_json):
    (line,) = as_json.of(requestId="mine-1")
    drive = as_json.drive
    assert line.pop("durationMs") > 0
    assert line | {"time": ""} == {
        "time": "", "level": "INFO", "logger": "access", "message": "answered", "requestId": "mine-1",
        "companyId": drive.company, "credentialId": f"apiKey:{drive.key[4:40]}", "method": "GET",
        "path": f"/companies/{drive.company}/accounts", "status": 200,
    }  # fmt: skip


def test_access_log_names_session_or_consent_of_caller(as_json):
    (page, *_) = as_json.of(logger="access", path="/app/", status=200)
    assert re.fullmatch(r"session:[0-9a-f-]{36}", page["credentialId"])
    called = [line for line in as_json.of(path="/companies", status=200) if line["credentialId"].startswith("oauth:")]
    assert [line["companyId"] for line in called] == [as_json.drive.company]


def test_failed_request_is_logged_with_exception_and_request_id(as_json):
    assert as_json.failures == [503, 503]
    for path, logger in (("/companies", "api"), ("/app/", "api")):
        (failed, *_) = as_json.of(logger=logger, path=path, level="ERROR")
        assert "OperationalError" in failed["exception"]
        assert as_json.of(logger="access", requestId=failed["requestId"], path=path)


def test_gunicorn_log_lines_are_json(as_json):
    assert as_json.of(logger="gunicorn.error")


@pytest.mark.parametrize("kind", ["as_json", "as_text"])
def test_logs_contain_no_secrets(kind, request):
    answer = request.getfixturevalue(kind)
    assert answer.failures == [503, 503]
    assert "Traceback" in answer.printed  # failures are written down, and still:
    assert len(answer.drive.secret) > 15
    results = {name for name, value in answer.drive.secret.items() if value in answer.printed}
    assert results == set()
    assert "?" not in "".join(re.findall(r"/auth/\S*", answer.printed))
    assert "alice@acme.example" not in answer.printed


def test_text_log_has_no_line_for_successful_request(as_text):
    assert "/accounts" not in as_text.printed


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/companies/svc_0b52-abc/accounts", "/companies/…/accounts"),
        ("/app/password-reset/MQ/c0ffee", "/app/password-reset/…"),
        ("/app/sign-up/ImEi:1abc:c0-ffee", "/app/sign-up/…"),
        ("/app/invitations/01a1/01a2/c0ffee", "/app/invitations/…"),
        ("/x/eyJhbGciOi.eyJpc3Mi.c2ln/y", "/x/…/y"),
        ("/companies/01a1f9c5-2325-763d-9500-6c20e25045b4", "/companies/01a1f9c5-2325-763d-9500-6c20e25045b4"),
        ("/app/profile/email/abc:def", "/app/profile/email/…"),
        ("/app/shared/01a1/c0ffee", "/app/shared/…"),
        ("/app/invitations/abc\ndef", "/app/invitations/…"),
        ("/companies/svcrt_abc/x", "/companies/…/x"),
        ("/companies/whsec_abc\nrest", "/companies/…"),
    ],
)
def test_secrets_in_paths_are_redacted(path, kept):
    assert hide_secrets(path) == kept


def test_unknown_log_format_stops_gunicorn_with_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "gunicorn", "-c", "config/gunicorn.py", "config.wsgi"],
        env=Machine(home=tmp_path).environment(LOG_FORMAT="xml"), capture_output=True, text=True, timeout=180,
        check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert done.stderr == "Error: LOG_FORMAT must be one of text, json\n"
