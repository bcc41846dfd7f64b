"""Run a server to measure, with a database of its own, and time requests to it."""

import contextlib
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.machine import ROOT, Machine, create_prepared_machine, find_free_port


@dataclass
class BenchServer:
    """A running server, a company in it, and direct access to its database."""

    machine: Machine
    port: int
    company: str
    key: str
    database: psycopg.Connection

    @property
    def path(self) -> str:
        return f"/companies/{self.company}"

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The parsed answer; AssertionError for a refusal."""
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        connection.request(method, path, raw, headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        assert answer.status < 300, (answer.status, data[:2000])
        return json.loads(data)

    def worker_memory(self) -> int:
        """The largest resident set among the server's processes since its start, in bytes."""
        peaks = []
        for status in Path("/proc").glob("[0-9]*/status"):
            with contextlib.suppress(OSError, ValueError, StopIteration):
                lines = status.read_text().splitlines()
                parent = int(next(line for line in lines if line.startswith("PPid:")).split()[1])
                if parent == self.up_pid:
                    peaks.append(int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) * 1024)
        return max(peaks)

    def read_processor_seconds(self) -> float:
        """The processor time of the database and the server so far; on a busy machine it says more than the clock."""
        parents, ticks = {self.machine.postmaster, self.up_pid}, 0
        for status in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                pid, fields = int(status.parent.name), status.read_text().rpartition(")")[2].split()
                if pid in parents:
                    ticks += sum(map(int, fields[11:15]))  # its own, and that of children which ended
                elif int(fields[1]) in parents:
                    ticks += sum(map(int, fields[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    up_pid: int = 0


@contextlib.contextmanager
def serve_bench(*, workers: int = 1, currency: str = "EUR", **settings: object) -> Iterator[BenchServer]:
    """``up`` with one worker on an empty database, one company and an owner-level key."""
    port = find_free_port()
    with create_prepared_machine() as machine:
        # One key asks over many connections: no limit between callers is to be measured where it is not meant.
        limits = {"RATE_LIMIT": 10_000_000, "REQUESTS_PER_CREDENTIAL": 200, "THREADS": 16}
        machine.settings |= limits | {"MAX_REQUESTS": 0} | settings
        with machine.up(port, "--workers", str(workers)) as process:
            company = machine.run(
                "create_company", "--name", "Bench", "--currency", currency, "--owner", "bench@example.com"
            ).stdout.strip()
            key = machine.run("create_api_key", "--company", company).stdout.strip()
            where = {"host": str(machine.embedded.path), "user": "postgres", "dbname": "app", "autocommit": True}
            with psycopg.connect(**where) as database:
                yield BenchServer(machine, port, company, key, database, up_pid=process.pid)
            process.send_signal(signal.SIGINT)
            process.wait(60)


@contextlib.contextmanager
def serve_page_app(bench: BenchServer) -> Iterator[int]:
    """Serve ``tests.bench.page_app`` with our gunicorn and settings and one worker, and give its port."""
    port = find_free_port()
    issuer = f"http://127.0.0.1:{bench.port}"  # of the access tokens that the other server issued
    environment = bench.machine.environment(PORT=port, RATE_LIMIT=10_000_000, BASE_URL=issuer)
    words = ["-m", "gunicorn", "-c", "config/gunicorn.py", "-w", "1", "tests.bench.page_app"]
    with subprocess.Popen([sys.executable, *words], cwd=ROOT, env=environment) as process:
        try:
            for _ in range(200):
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                time.sleep(0.1)
            yield port
        finally:
            process.terminate()


def measure_seconds(act: Callable[[], Any]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def measure_alternating(*acts: Callable[[], Any], rounds: int = 5) -> list[float]:
    """The median time of each act, in seconds; the acts take turns so that the machine's drift hits all alike."""
    taken: list[list[float]] = [[] for _ in acts]
    for _ in range(rounds):
        for times, act in zip(taken, acts, strict=True):
            times.append(measure_seconds(act))
    return [statistics.median(times) for times in taken]
