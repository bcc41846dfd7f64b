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

from companies.maintenance import progress_bar

DEMO = {"months": 1, "transactions": 60}


class PseudoTerminal:
    """A pseudo-terminal: what is written to ``end`` is what its reader sees."""

    def __init__(self):
        self.master, slave = pty.openpty()
        self.end = os.fdopen(slave, "w")

    def seen(self):
        self.end.close()
        result = b""
        with contextlib.suppress(OSError):  # Linux tells the end of a terminal so
            while part := os.read(self.master, 65536):
                result += part
        os.close(self.master)
        return result.decode()


@pytest.fixture
def terminal():
    return PseudoTerminal()


def list_percentages(text):
    return [int(share) for share in re.findall(r"(\d+)%", text)]


@pytest.mark.django_db
def test_demo_command_shows_progress_bar_on_terminal(terminal):
    output = io.StringIO()
    call_command("demo", stdout=output, stderr=terminal.end, **DEMO)
    seen = terminal.seen()
    assert list_percentages(seen) == sorted(list_percentages(seen))
    assert len(set(list_percentages(seen))) >= 5
    assert "Importing transactions" in seen
    assert seen.endswith(progress_bar.CLEAR_LINE)  # nothing of it stays
    assert "\n" not in seen
    assert "█" not in output.getvalue()
    assert "apiKey" in output.getvalue()


@pytest.mark.django_db
def test_json_output_has_no_progress_bar(terminal):
    output = io.StringIO()
    call_command("demo", json=True, stdout=output, stderr=terminal.end, **DEMO)
    assert terminal.seen() == ""
    assert set(json.loads(output.getvalue())) == {"companyId", "email", "password", "apiKey"}


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["demo", "rebuild_derived", "refresh_metrics", "update_rates"])
def test_commands_show_no_progress_bar_without_terminal(command, acme):
    text = io.StringIO()
    call_command(command, stdout=io.StringIO(), stderr=text, **(DEMO if command == "demo" else {}))
    assert text.getvalue() == ""


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("command", "doing"),
    [
        ("rebuild_derived", "Rebuilding company 2 of 2"),
        ("refresh_metrics", "Company 2 of 2"),
        ("update_rates", "Loading rates"),
    ],
)
def test_long_commands_show_progress_bar_on_terminal(command, doing, terminal, acme, globex):
    call_command(command, stdout=io.StringIO(), stderr=terminal.end)
    assert doing in terminal.seen()


def fail_after_quarter(stream):
    with progress_bar.draw_progress_bar(stream) as tell:
        tell("Working", 0.25)
        raise ZeroDivisionError


def test_progress_bar_is_cleared_if_the_command_fails(terminal):
    with pytest.raises(ZeroDivisionError):
        fail_after_quarter(OutputWrapper(terminal.end))
    seen = terminal.seen()
    assert " 25%  Working" in seen
    assert seen.endswith(progress_bar.CLEAR_LINE)


def test_progress_bar_is_filled_in_proportion():
    assert doctest.testmod(progress_bar).failed == 0
    assert [progress_bar.format_progress_bar(share).count("█") for share in (-1.0, 0.0, 0.25, 1.0, 2.0)] == [
        0,
        0,
        7,
        28,
        28,
    ]
