"""What an operator deploys with: each file tried as far as this machine has its program, and told where it has not."""

import contextlib
import http.client
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.machine import ROOT, Machine, create_prepared_machine, find_free_port, get_status, wait_until

DEPLOY = ROOT / "deploy"
SETTINGS = set(re.findall(r'environment\.\w+\(\s*"([A-Z_]+)"', (ROOT / "config" / "settings.py").read_text()))

needs_nginx = pytest.mark.skipif(not shutil.which("nginx"), reason="nginx is not installed: its example is not tried")
needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd to read the unit")


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """With its database running and made, for servers that do not keep it themselves."""
    with create_prepared_machine() as result, result.embedded.run_while_used():
        yield result


# ---------------------------------------------------------------------------------------------- gunicorn


class SteadyCallers:
    """Some who call again and again over connections that they keep, until they are told to stop."""

    def __init__(self, port: int, count: int = 4):
        self.port, self.faults, self.answered, self.done = port, [], 0, threading.Event()
        self.threads = [threading.Thread(target=self.call) for _ in range(count)]

    def call(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=180)
        while not self.done.is_set():
            try:
                connection.request("GET", "/healthz")
                answer = connection.getresponse()
                answer.read()
                self.answered += answer.status == 200
            except (OSError, http.client.HTTPException) as fault:
                self.faults.append(repr(fault))
                connection.close()
        connection.close()

    def __enter__(self) -> "SteadyCallers":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.done.set()
        for thread in self.threads:
            thread.join(60)


def list_children(pid: int) -> set[str]:
    return set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


AS_FILE_3 = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
os.execv(sys.executable, [sys.executable, "-m", "gunicorn", "-c", "config/gunicorn.py", "config.wsgi"])
"""


@contextlib.contextmanager
def start_with_socket(listener: socket.socket, environment: dict[str, str]) -> Iterator[subprocess.Popen]:
    """gunicorn as systemd starts it, the open port as its file 3; told to stop at the end, which must go well."""
    process = subprocess.Popen(
        [sys.executable, "-c", AS_FILE_3, str(listener.fileno())],
        cwd=ROOT, env=environment, pass_fds=[listener.fileno()], stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
        process.terminate()
        assert process.wait(180) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.server
def test_worker_settings_apply_and_worker_replacement_loses_no_request(machine):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        environment = machine.environment(PORT=port, WORKERS=2, THREADS=3, MAX_REQUESTS=100)
        with start_with_socket(listener, environment) as server:
            assert wait_until(lambda: get_status(port, "/readyz") == 200, seconds=180)
            assert wait_until(
                lambda: len(list_children(server.pid)) == 2, seconds=180
            )  # one may answer before the other is
            first = list_children(server.pid)
            with SteadyCallers(port) as callers:
                assert wait_until(lambda: not first & list_children(server.pid), seconds=180), (
                    "after a hundred requests"
                )
                second = list_children(server.pid)
                server.send_signal(signal.SIGHUP)
                assert wait_until(lambda: not second & list_children(server.pid), seconds=180), "after a SIGHUP"
            assert callers.answered > 200
            assert callers.faults == []
            threads = [len(list(Path(f"/proc/{pid}/task").iterdir())) for pid in list_children(server.pid)]
            assert max(threads) <= 1 + 3


def run_health_check(port: int) -> int:
    """The exit code of the container's own."""
    text = (DEPLOY / "Dockerfile").read_text()
    code = re.search(r'CMD \["python", "-c", "\\\n(.*?)"\]', text, re.DOTALL)[1].replace("\\\n", "")
    words = [sys.executable, "-c", code.replace("8000", str(port))]
    return subprocess.run(words, timeout=180, check=False, stderr=subprocess.DEVNULL).returncode


@pytest.mark.server
def test_socket_activated_restart_refuses_no_client_and_health_check_works(machine):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        environment = machine.environment(PORT=port, WORKERS=1)
        with start_with_socket(listener, environment):
            assert wait_until(lambda: get_status(port, "/readyz") == 200, seconds=180)
            assert run_health_check(port) == 0
        assert run_health_check(port) != 0
        answers: list[int] = []
        waiting = threading.Thread(target=lambda: answers.append(get_status_in_time(port)))
        waiting.start()  # while nobody is there to answer
        with start_with_socket(listener, environment):
            waiting.join(60)
        assert answers == [200]


def get_status_in_time(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=180)
    connection.request("GET", "/readyz")
    status = connection.getresponse().status
    connection.close()
    return status


# ---------------------------------------------------------------------------------------------- nginx


def create_certificate(directory: Path) -> ssl.SSLContext:
    """A certificate for api.example.com that is its own authority, and who trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "api.example.com")])
    now = datetime.now(tz=UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("api.example.com")]), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    (directory / "fullchain.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (directory / "privkey.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return ssl.create_default_context(cafile=str(directory / "fullchain.pem"))


def is_listening(port: int) -> bool:
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def nginx(tmp_path) -> Iterator[Any]:
    """Starts nginx with our example, at other ports and with other files; (tls port, trust, directory)."""
    plain, tls, behind = find_free_port(), find_free_port(), find_free_port()
    trust = create_certificate(tmp_path)
    example = (DEPLOY / "nginx.conf").read_text()
    for old, new in {
        "/etc/letsencrypt/live/api.example.com": str(tmp_path), "/var/log/nginx": str(tmp_path),
        "listen 80;": f"listen 127.0.0.1:{plain};", "listen 443 ssl": f"listen 127.0.0.1:{tls} ssl",
        "listen [::]:80;": "", "listen [::]:443 ssl http2;": "", "127.0.0.1:8000": f"127.0.0.1:{behind}",
    }.items():  # fmt: skip
        assert old in example, old
        example = example.replace(old, new)
    places = " ".join(
        f"{kind}_temp_path {tmp_path}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = tmp_path / "whole.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    whole.write_text(
        f"{user} daemon off; pid {tmp_path}/pid; error_log {tmp_path}/start.log;\n"
        f"events {{}}\nhttp {{ {places}\n{example}\n}}\n"
    )
    checked = subprocess.run(
        ["nginx", "-t", "-c", str(whole)], capture_output=True, text=True, timeout=180, check=False
    )
    assert checked.returncode == 0, checked.stderr
    assert "warn" not in checked.stderr
    with subprocess.Popen(["nginx", "-c", str(whole)], stderr=subprocess.DEVNULL) as process:
        try:
            assert wait_until(lambda: is_listening(tls), seconds=180)
            yield tls, behind, trust
        finally:
            process.terminate()


@needs_nginx
@pytest.mark.server
def test_nginx_terminates_tls_forwards_client_address_and_logs_no_query(nginx, machine, tmp_path):
    tls, behind, trust = nginx

    def call(path: str, **headers: str) -> tuple[int, Any]:
        plain = socket.create_connection(("127.0.0.1", tls), timeout=180)
        connection = http.client.HTTPConnection("api.example.com", timeout=180)
        connection.sock = trust.wrap_socket(plain, server_hostname="api.example.com")
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status, answer.headers

    with socket.create_server(("127.0.0.1", behind)) as listener:
        settings = {"BASE_URL": "https://api.example.com", "TRUSTED_PROXIES": 1, "WORKERS": 1}
        with start_with_socket(listener, machine.environment(PORT=behind, **settings)):
            result, headers = call("/companies?code=hunter2")
            assert result == 401
            assert "max-age" in headers["Strict-Transport-Security"], "System knows that it was https"
            result, headers = call("/app/sign-in?next=hunter2", Referer="https://x.example/?code=hunter2")
            assert result == 200
            assert "; Secure" in headers["Set-Cookie"]
            call("/app/password-reset/MQ/hunter2")
            call("/app/invitations/MQ/MQ/hunter2")
            call("/app/shared/MQ/hunter2")
            call("/app/profile/email/hunter2")
            assert call("/metrics")[0] == 404
    log = tmp_path / "financial-planning.log"
    assert wait_until(lambda: "GET /metrics 404" in log.read_text(), seconds=180), "the last line is written"
    written = log.read_text()
    assert "GET /companies 401" in written
    assert "hunter2" not in written + (tmp_path / "financial-planning.error.log").read_text()


def test_nginx_limits_match_upload_limit_and_timeout_of_the_service():
    example = (DEPLOY / "nginx.conf").read_text()
    most = int(re.search(r'"MAX_UPLOAD_MB", default=(\d+)', (ROOT / "config" / "settings.py").read_text())[1])
    assert int(re.search(r"client_max_body_size (\d+)m;", example)[1]) == most + 1
    waits = int(re.search(r"proxy_read_timeout (\d+)s;", example)[1])
    assert waits >= int(re.search(r"^timeout = (\d+)", (ROOT / "config" / "gunicorn.py").read_text(), re.MULTILINE)[1])


# ---------------------------------------------------------------------------------------------- systemd


UNITS = ("financial-planning.service", "financial-planning-webhooks.service")


@needs_systemd
def test_systemd_units_pass_verification(tmp_path):
    for name in (*UNITS, "financial-planning.socket"):
        text = (DEPLOY / name).read_text().replace("/srv/financial-planning/.venv", str(Path(sys.prefix)))
        (tmp_path / name).write_text(text)
    words = ["systemd-analyze", "verify", *(str(tmp_path / name) for name in UNITS)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=180, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@needs_systemd
@pytest.mark.parametrize("unit", UNITS)
def test_systemd_units_pass_security_analysis(unit):
    words = ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager"]
    done = subprocess.run([*words, str(DEPLOY / unit)], capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout[-200:]


GRACEFUL_SECONDS = int(
    re.search(r"^graceful_timeout = (\d+)", (ROOT / "config" / "gunicorn.py").read_text(), re.MULTILINE)[1]
)


def test_stop_timeouts_exceed_graceful_shutdown_time():
    unit = (DEPLOY / "financial-planning.service").read_text()
    assert int(re.search(r"TimeoutStopSec=(\d+)", unit)[1]) > GRACEFUL_SECONDS
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert int(compose["services"]["app"]["stop_grace_period"].removesuffix("s")) > GRACEFUL_SECONDS


# ---------------------------------------------------------------------------------------------- containers


def test_dockerfile_uses_unprivileged_user_and_health_check():
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    last = max(number for number, line in enumerate(lines) if line.startswith("FROM "))
    words = [line.split(maxsplit=1) for line in lines[last:] if re.match(r"[A-Z]+ ", line)]
    assert [rest for word, rest in words if word == "USER"] == ["10001"]
    assert [word for word, _ in words].count("HEALTHCHECK") == 1
    assert not [rest for word, rest in words if word == "ADD"]


def is_in_image(path: str) -> bool:
    """Whether ``COPY . .`` takes a file: what Docker makes of its ignore file, the last pattern that fits decides."""
    taken = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if line and not line.startswith("#"):
            wild = re.escape(line.removeprefix("!")).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*")
            if re.fullmatch(f"{wild}(/.*)?", path):
                taken = line.startswith("!")
    return taken


SECRET_FILES = [".env", "deploy/.env", "deploy/.env.production", "a/b/.env", "var/secret-key"]


@pytest.mark.parametrize("path", SECRET_FILES)
def test_secret_files_are_excluded_from_image_and_git(path):
    assert not is_in_image(path)
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("this is no checkout: there is no git to ask")
    done = subprocess.run(["git", "check-ignore", "-q", path], cwd=ROOT, timeout=180, check=False)
    assert done.returncode == 0


def test_image_includes_needed_files_and_excludes_generated_ones():
    for path in ("manage.py", "config/settings.py", "templates/docs.html", "docs/oauth.md", "deploy/example.env"):
        assert is_in_image(path), path
    for path in (".git/config", ".venv/bin/python", "tests/conftest.py", "ledger/__pycache__/x.pyc", ".mypy_cache/x"):
        assert not is_in_image(path), path


def test_compose_uses_existing_settings_and_keeps_ports_local():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    example = re.findall(r"^([A-Z_]+)=", (DEPLOY / "example.env").read_text(), re.MULTILINE)
    for name in ("prepare", "app", "webhooks"):
        service = compose["services"][name]
        assert set(service["environment"]) | set(example) - {"POSTGRES_PASSWORD"} <= SETTINGS
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in compose["services"]["app"]["ports"])
    assert "ports" not in compose["services"]["database"]
    assert re.fullmatch(r"postgres:\d+", compose["services"]["database"]["image"])
