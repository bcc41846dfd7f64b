"""Long work on the command line shows a bar to people at a terminal, and only its answer elsewhere."""

import contextlib
import io
import json
import os
import pty
import re
import termios

import pytest
from django.core.management import call_command

from companies.maintenance import progress_bar

DEMO = {"months": 1, "transactions": 60}


class PseudoTerminal:
    """A pseudo-terminal: what is written to ``end`` is what its reader sees."""

    def __init__(self):
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 80))
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


def is_cleared(text):
    """Whether the last bar was overwritten by blanks, and the cursor is at the start of the line."""
    return text.endswith("\r") and not text.removesuffix("\r").rpartition("\r")[2].strip()


def list_percentages(text):
    return [int(share) for share in re.findall(r"(\d+)%", text)]


@pytest.mark.django_db
def test_demo_command_shows_progress_bar_on_terminal(terminal):
    output = io.StringIO()
    with contextlib.redirect_stderr(terminal.end):
        call_command("demo", stdout=output, **DEMO)
    seen = terminal.seen()
    assert list_percentages(seen) == sorted(list_percentages(seen))
    assert len(set(list_percentages(seen))) >= 5
    assert "Importing transactions" in seen
    assert is_cleared(seen)
    assert "\n" not in seen
    assert "█" not in output.getvalue()
    assert "apiKey" in output.getvalue()


@pytest.mark.django_db
def test_json_output_has_no_progress_bar(terminal):
    output = io.StringIO()
    with contextlib.redirect_stderr(terminal.end):
        call_command("demo", json=True, stdout=output, **DEMO)
    assert terminal.seen() == ""
    assert set(json.loads(output.getvalue())) == {"companyId", "email", "password", "apiKey"}


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["demo", "rebuild_derived", "refresh_metrics", "update_rates"])
def test_commands_show_no_progress_bar_without_terminal(command, acme, capsys):
    call_command(command, stdout=io.StringIO(), **(DEMO if command == "demo" else {}))
    assert capsys.readouterr().err == ""


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
    with contextlib.redirect_stderr(terminal.end):
        call_command(command, stdout=io.StringIO())
    assert doing in terminal.seen()


def fail_after_quarter():
    with progress_bar.draw_progress_bar() as report_progress:
        report_progress("Working", 0.25)
        raise ZeroDivisionError


def test_progress_bar_is_cleared_if_the_command_fails(terminal):
    with contextlib.redirect_stderr(terminal.end), pytest.raises(ZeroDivisionError):
        fail_after_quarter()
    seen = terminal.seen()
    assert " 25% |███████ " in seen
    assert "| Working" in seen
    assert is_cleared(seen)
