"""The commands as a person runs them: real processes, real signals, a database of their own."""

import http.client
import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator

import pytest

from config import startup
from config.monitoring.logging import SecretFilter
from tests.machine import (
    Machine,
    create_machine,
    create_prepared_machine,
    find_free_port,
    get_status,
    list_workers,
    stop_process,
    wait_until,
)

pytestmark = pytest.mark.server


@pytest.fixture
def machine() -> Iterator[Machine]:
    """Its first start is yet to come."""
    with create_machine() as new_machine:
        yield new_machine


@pytest.fixture
def started() -> Iterator[Machine]:
    """It was started before."""
    with create_prepared_machine() as prepared_machine:
        yield prepared_machine


def is_restarted(machine: Machine, gone: int) -> bool:
    """Whether the database runs again, in another process."""
    return machine.embedded.is_running() and machine.postmaster != gone


def has_workers(process: subprocess.Popen) -> bool:
    try:
        return bool(list_workers(process.pid))
    except FileNotFoundError:  # the process is gone itself
        return False


def test_up_serves_at_given_port_until_ctrl_c_and_stops_its_database(started):
    port = find_free_port()
    with started.starting(1, "--port", str(port)) as process:
        ready = process.stdout.readline()
        assert get_status(port, "/healthz") == 200
        printed = ready + stop_process(process)
    assert ready == f"Ready on http://127.0.0.1:{port}\n"
    assert printed.count("Ready on") == 1
    assert not started.embedded.is_running()
    assert [path.name for path in started.home.iterdir()] == ["var"]  # no control socket of gunicorn


def test_ctrl_c_in_terminal_stops_every_process_promptly(started):
    """Connections that are just being closed keep the workers busy; one that hung was waited for half a minute."""
    port = find_free_port()
    with started.up(port, "--workers", "6") as process:
        connections = [http.client.HTTPConnection("127.0.0.1", port) for _ in range(16)]
        for each in connections:
            each.request("GET", "/healthz")
            each.getresponse().read()
        for each in connections:
            each.close()
        os.killpg(process.pid, signal.SIGINT)
        assert wait_until(lambda: not has_workers(process), seconds=25), "a worker that hangs is waited for longer"
        assert process.wait(120) == 0  # the database writes to a disk that others may keep busy
    assert not started.embedded.is_running()


def read_greeting(process: subprocess.Popen) -> list[str]:
    """What ``up`` prints once it answers."""
    lines = []
    while not lines or not lines[-1].startswith("Press Ctrl-C"):
        lines.append(process.stdout.readline())
        assert lines[-1], "it ended before it answered"
    return lines


def test_two_first_ups_share_one_database_and_create_one_demo_company(machine):
    """The last one stops the database; only who created the company prints its key."""
    ports = find_free_port(), find_free_port()
    with machine.starting(ports[0], demo=True) as first, machine.starting(ports[1], demo=True) as second:
        texts = "".join(read_greeting(first) + read_greeting(second))
        assert machine.run("wait_ready", "--timeout", "300", PORT=ports[0]).returncode == 0
        (key,) = re.findall(r"API key +(\S+)", texts)
        for port in ports:
            query = urllib.request.Request(
                f"http://127.0.0.1:{port}/companies", headers={"Authorization": f"Bearer {key}"}
            )
            with urllib.request.urlopen(query, timeout=180) as answer:
                assert len(json.load(answer)) == 1
        stop_process(first)
        assert get_status(ports[1], "/readyz") == 200
        stop_process(second, signal.SIGTERM)
    assert not machine.embedded.is_running()


def test_up_restarts_killed_database_and_workers_reconnect(started):
    port = find_free_port()
    with started.up(port) as process:
        gone = started.postmaster
        os.kill(gone, signal.SIGKILL)
        assert wait_until(lambda: is_restarted(started, gone), seconds=180)
        assert wait_until(lambda: get_status(port, "/readyz") == 200, seconds=180)
        assert {get_status(port, "/readyz") for _ in range(20)} == {200}
        stop_process(process)


def test_killed_up_frees_port_and_next_command_stops_its_database(started):
    port = find_free_port()
    with started.up(port) as process:
        process.kill()
        process.wait()
        assert wait_until(lambda: get_status(port, "/healthz") == 0, seconds=180)
    assert started.run("migrate", "--check").returncode == 0
    # The deliverer of webhooks sees within a second of its start that nobody holds it any more, and leaves.
    assert wait_until(lambda: not started.embedded.is_running(), seconds=60)


def test_up_reports_port_in_use_with_one_line(machine):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = machine.run("up", PORT=taken.getsockname()[1])
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "Address already in use" in result.stderr


@pytest.mark.parametrize("words", [["check"], ["wait_ready", "--timeout", "0.1"]])
def test_command_without_database_need_starts_none(machine, words):
    machine.run(*words, PORT=find_free_port())
    assert not machine.embedded.path.exists()


@pytest.mark.parametrize("words", [["help"], ["--version"], ["migrate", "--help"], ["check", "--deploy"], ["up"]])
def test_database_is_provided_only_for_commands_that_need_it(monkeypatch, words):
    monkeypatch.setattr(startup, "use_database", lambda: pytest.fail("it would be started"))
    with startup.use_database_for(words):
        pass


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"PORT": "many"}, "PORT"),
        ({"DATABASE_URL": "mysql://u:hunter2@h/b", "DEBUG": "1"}, "DATABASE_URL"),
        ({"DATABASE_URL": "postgresql://u:hunter2@127.0.0.1:1/b", "DEBUG": "1"}, "DATABASE_URL"),
        ({"DATA_DIR": "/proc/nowhere"}, "DATA_DIR"),
        ({"DATA_DIR": "/tmp/" + "up-long" * 20}, "DATA_DIR"),
    ],
)
def test_command_reports_invalid_setting_with_one_line(machine, variables, named):
    for command in ("up", "migrate") if "DATABASE_URL" in variables else ("up",):
        result = machine.run(command, **({"PORT": find_free_port()} | variables))
        assert result.returncode == 1
        assert result.stderr.count("\n") == 1, result.stderr
        assert named in result.stderr
        assert "hunter2" not in result.stderr
    if "up-long" in variables.get("DATA_DIR", ""):
        shutil.rmtree(variables["DATA_DIR"])


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("Error handling request GET /x?token=hunter2", "Error handling request GET /x?…"),
        (
            "Invalid request from ip=::1: Invalid HTTP Header: 'Authorization hunter2'",
            "Invalid request from ip=::1: Inv",
        ),
    ],
)
def test_web_server_log_contains_no_secrets(message, kept):
    record = logging.makeLogRecord({"msg": "%s", "args": (message,)})
    SecretFilter().filter(record)
    assert record.getMessage().startswith(kept)
    assert "hunter2" not in record.getMessage()
