"""Long work on the command line shows a bar to people at a terminal, and only its answer elsewhere."""

import contextlib
import doctest
import io
import json
import os
import pty
import re

import pytest
from django.core.management import call_command
from django.core.management.base import OutputWrapper

from companies.running import progress

DEMO = {"months": 1, "transactions": 60}


class Terminal:
    """A pseudo-terminal: what is written to ``end`` is what its reader sees."""

    def __init__(self):
        self.master, slave = pty.openpty()
        self.end = os.fdopen(slave, "w")

    def seen(self):
        self.end.close()
        found = b""
        with contextlib.suppress(OSError):  # Linux tells the end of a terminal so
            while part := os.read(self.master, 65536):
                found += part
        os.close(self.master)
        return found.decode()


@pytest.fixture
def terminal():
    return Terminal()


def shares(text):
    return [int(share) for share in re.findall(r"(\d+)%", text)]


@pytest.mark.django_db
def test_at_a_terminal_the_demonstration_tells_how_far_it_is(terminal):
    told = io.StringIO()
    call_command("demo", stdout=told, stderr=terminal.end, **DEMO)
    seen = terminal.seen()
    assert shares(seen) == sorted(shares(seen))
    assert len(set(shares(seen))) >= 5
    assert "Importing transactions" in seen
    assert seen.endswith(progress.CLEAR_LINE)  # nothing of it stays
    assert "\n" not in seen
    assert "█" not in told.getvalue()
    assert "apiKey" in told.getvalue()


@pytest.mark.django_db
def test_who_asks_for_json_gets_nothing_else(terminal):
    told = io.StringIO()
    call_command("demo", json=True, stdout=told, stderr=terminal.end, **DEMO)
    assert terminal.seen() == ""
    assert set(json.loads(told.getvalue())) == {"companyId", "email", "password", "apiKey"}


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["demo", "rebuild_derived", "refresh_metrics", "update_rates"])
def test_where_nobody_looks_nothing_is_drawn(command, acme):
    said = io.StringIO()
    call_command(command, stdout=io.StringIO(), stderr=said, **(DEMO if command == "demo" else {}))
    assert said.getvalue() == ""


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("command", "doing"),
    [
        ("rebuild_derived", "Rebuilding company 2 of 2"),
        ("refresh_metrics", "Company 2 of 2"),
        ("update_rates", "Loading rates"),
    ],
)
def test_other_long_work_does_too(command, doing, terminal, acme, globex):
    call_command(command, stdout=io.StringIO(), stderr=terminal.end)
    assert doing in terminal.seen()


def fail_at_a_quarter(stream):
    with progress.bar(stream) as tell:
        tell("Working", 0.25)
        raise ZeroDivisionError


def test_the_bar_goes_when_the_work_fails(terminal):
    with pytest.raises(ZeroDivisionError):
        fail_at_a_quarter(OutputWrapper(terminal.end))
    seen = terminal.seen()
    assert " 25%  Working" in seen
    assert seen.endswith(progress.CLEAR_LINE)


def test_a_bar_is_as_full_as_the_share():
    assert doctest.testmod(progress).failed == 0
    assert [progress.drawn(share).count("█") for share in (-1.0, 0.0, 0.25, 1.0, 2.0)] == [0, 0, 7, 28, 28]
