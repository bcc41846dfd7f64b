"""What Prometheus reads: the figures of all workers, for who has the token, by operation and never by company."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests

from companies import counters
from tests.machine import ROOT, Machine, create_prepared_machine, find_free_port, list_workers, wait_until

TOKEN = "a-token-for-whoever-reads-the-figures"
SHARED_MEMORY = Path("/dev/shm")


class MeasuredServer:
    """A running server with figures, and the company whose key it is called with."""

    def __init__(self, machine: Machine, port: int, server: int):
        self.machine, self.site, self.server = machine, f"http://127.0.0.1:{port}", server
        self.company, key = machine.companies["Acme"]
        self.key = {"Authorization": f"Bearer {key}"}

    def call(self, method: str, path: str, **more: Any) -> requests.Response:
        return requests.request(method, self.site + path, headers=self.key, timeout=180, **more)

    def text(self) -> str:
        answer = requests.get(f"{self.site}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=180)
        assert answer.status_code == 200
        return answer.text

    def figure(self, name: str, **labels: str) -> float:
        """The sum of the samples that have these labels."""
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        lines = [line for line in self.text().splitlines() if re.match(rf"{name}[ {{]", line)]
        return sum(float(line.split()[-1]) for line in lines if all(each in line for each in wanted))

    def workers(self) -> list[int]:
        return list_workers(self.server)

    def directories(self) -> list[Path]:
        return list(SHARED_MEMORY.glob(f"metrics-{self.server}-*"))


@pytest.fixture(scope="module")
def watched():
    with create_prepared_machine() as machine:
        machine.settings |= {"METRICS_TOKEN": TOKEN, "EMAIL_URL": "smtp://127.0.0.1:1", "RATE_LIMIT": 200}
        port = find_free_port()
        with machine.up(port, "--workers", "2") as process:
            yield MeasuredServer(machine, port, process.pid)
            process.send_signal(signal.SIGINT)
            process.stdout.read()
            assert process.wait(180) == 0
    assert not list(SHARED_MEMORY.glob(f"metrics-{process.pid}-*")), "the server left its figures behind"


@pytest.mark.server
def test_metrics_require_token(watched):
    for headers in ({}, {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": "Basic eDp5"}, watched.key):
        answer = requests.get(f"{watched.site}/metrics", headers=headers, timeout=180)
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="metrics"')
        assert "http_requests" not in answer.text


@pytest.mark.server
def test_metrics_count_requests_of_all_workers_by_method_route_and_status(watched):
    route = "/companies/<str:company_id>/accounts"
    before = watched.figure("http_requests_total", method="GET", route=route, status="200")
    for _ in range(40):
        assert watched.call("GET", f"/companies/{watched.company}/accounts").status_code == 200
    assert watched.figure("http_requests_total", method="GET", route=route, status="200") == before + 40
    assert watched.figure("http_request_duration_seconds_count", method="GET", route=route) >= before + 40
    assert watched.figure("http_requests_in_progress") == 1  # the one that asks


@pytest.mark.server
def test_metrics_have_no_series_from_caller_input(watched):
    for path in ("/nowhere-1", "/nowhere-2", f"/companies/{watched.company}/nowhere-3?q=nowhere-4"):
        watched.call("GET", path)
        watched.call("BREW", path)
    text = watched.text()
    assert "nowhere" not in text
    assert "BREW" not in text
    assert watched.company not in text
    assert watched.figure("http_requests_total", method="other", status="404") > 0


@pytest.mark.server
def test_metrics_count_imported_rows_by_outcome_without_dry_runs(watched):
    base = f"/companies/{watched.company}"
    account = watched.call("POST", f"{base}/accounts", json={"type": "bank", "name": "Main"}).json()["id"]
    row = {"accountId": account, "date": "2026-01-02", "amountValue": "1.00", "externalId": "e1"}
    rows = [row, row | {"externalId": "e2"}, row | {"externalId": "e3", "amountValue": "many"}]
    body = {"transactions": rows, "onError": "skip"}
    assert watched.call("POST", f"{base}/transactions/import", json=body | {"dryRun": True}).status_code == 200
    assert watched.figure("imported_rows_total") == 0
    for _ in range(2):
        assert watched.call("POST", f"{base}/transactions/import", json=body).status_code == 200
    outcomes = {each: watched.figure("imported_rows_total", outcome=each) for each in ("new", "duplicate", "skipped")}
    assert outcomes == {"new": 2, "duplicate": 2, "skipped": 2}


@pytest.mark.server
def test_metrics_count_failed_mails(watched):
    with requests.Session() as session:
        page = session.get(f"{watched.site}/app/password-reset", timeout=180)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[1]
        body = {"email": "alice@acme.example", "csrfmiddlewaretoken": token}
        assert session.post(f"{watched.site}/app/password-reset", body, timeout=180).status_code == 200
    assert wait_until(lambda: watched.figure("mails_total", outcome="failed") == 1, seconds=180)
    assert watched.figure("mails_waiting") == 0


@pytest.mark.server
def test_metrics_survive_worker_replacement_without_file_growth(watched):
    watched.call("GET", "/companies")
    before = watched.figure("http_requests_total", route="/companies")
    most = 0
    for _ in range(3):
        old = watched.workers()
        os.kill(watched.server, signal.SIGHUP)
        assert wait_until(
            lambda old=old: len(watched.workers()) == 2 and not {*old} & {*watched.workers()}, seconds=180
        )
        watched.call("GET", "/companies")
        (directory,) = watched.directories()
        most = max(most, len(list(directory.iterdir())))
    assert watched.figure("http_requests_total", route="/companies") == before + 3
    assert most <= 3 * 4 + 3, "old and new workers at once, and the main process"
    assert watched.figure("http_requests_in_progress") == 1


@pytest.mark.server
def test_metrics_drop_in_progress_requests_of_killed_worker(watched):
    old = watched.workers()
    for pid in old:
        os.kill(int(pid), signal.SIGKILL)
    assert wait_until(lambda: len({*watched.workers()} - {*old}) == 2, seconds=180)
    # The new ones may count before the old ones' figures are cleared; the one that is asked is at work itself.
    assert wait_until(lambda: watched.figure("http_requests_in_progress") == 1, seconds=180)


@pytest.mark.server
def test_metrics_count_throttled_requests_and_database_errors(watched):
    while watched.call("GET", "/companies").status_code == 200:
        pass
    assert watched.figure("http_requests_total", route="/companies", status="429") >= 1
    os.kill(watched.machine.postmaster, signal.SIGKILL)
    assert wait_until(lambda: watched.call("GET", "/readyz").status_code == 503, seconds=180)
    assert watched.figure("database_errors_total", kind="OperationalError") >= 1
    assert wait_until(lambda: watched.call("GET", "/readyz").status_code == 200, seconds=180)


@pytest.mark.django_db
def test_metrics_are_disabled_without_token_setting(client, settings):
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404
    assert not any("metrics" in name for name in settings.MIDDLEWARE)
    assert isinstance(counters.IMPORTED_ROWS, counters.NullMetric)


def test_prometheus_library_is_not_loaded_without_metrics_token(tmp_path):
    code = "import config.wsgi, sys; print('prometheus_client' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=Machine(home=tmp_path).environment(), capture_output=True,
        text=True, timeout=180, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("False\n", "")
