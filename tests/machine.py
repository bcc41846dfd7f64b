"""Run the service on a machine of its own: a home directory, a data directory and a server process."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from config.databases.connection import EmbeddedDatabase
from tests.template_database import compute_schema_digest

ROOT = Path(__file__).resolve().parents[1]
MEMORY_FOLDER = Path("/dev/shm")
MIN_MEMORY_BYTES = 4 * 1024**3  # of several machines at once, each of a tenth of a GiB, and what a test writes there
PREPARED_FOLDER = Path("/tmp")  # for what stays after the tests
COMPANIES = {"Acme": "alice@acme.example", "Globex": "carol@globex.example"}  # name -> owner
PASSWORD = "correct horse battery"


def find_machines_folder() -> Path:
    """Where data directories are made: in memory where there is room, for a disk takes seconds to copy one and to sync
    what PostgreSQL writes. Processes are killed in tests, the operating system is not."""
    has_room = MEMORY_FOLDER.is_dir() and shutil.disk_usage(MEMORY_FOLDER).free >= MIN_MEMORY_BYTES
    return MEMORY_FOLDER if has_room else PREPARED_FOLDER


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@dataclass
class Machine:
    """A home, a data directory, and nothing else in the environment but the settings that a test asks for."""

    home: Path
    settings: dict[str, object] = field(default_factory=dict)
    companies: dict[str, tuple[str, str]] = field(default_factory=dict)  # name -> id and API key

    @property
    def embedded(self) -> EmbeddedDatabase:
        return EmbeddedDatabase(data_dir=self.home / "var")

    @property
    def postmaster(self) -> int:
        return int((self.embedded.path / "postmaster.pid").read_text().split("\n", 1)[0])

    def environment(self, **variables: object) -> dict[str, str]:
        own = {"PATH": os.environ["PATH"], "HOME": str(self.home), "DATA_DIR": str(self.home / "var")}
        return own | {name: str(value) for name, value in (self.settings | variables).items()}

    def run(self, *words: str, **variables: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *words], cwd=ROOT, env=self.environment(**variables),
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip

    @contextlib.contextmanager
    def up(self, port: int, *words: str) -> Iterator[subprocess.Popen]:
        """``up`` on ``port``, ready; killed at the end if it still runs."""
        with self.starting(port, *words) as process:
            # Not by the command: each takes the processor for seconds to load the apps.
            wait_until(lambda: get_status(port, "/readyz") not in (0, 503) or process.poll() is not None, seconds=300)
            assert process.poll() is None, process.stdout and process.stdout.read()
            yield process

    @contextlib.contextmanager
    def starting(
        self, port: int, *words: str, output: int | IO = subprocess.PIPE, demo: bool = False
    ) -> Iterator[subprocess.Popen]:
        """``up`` on ``port``; who breaks it on purpose gives a file for what it prints: a full pipe would stop it."""
        words = words if demo else ("--no-demo", *words)
        with subprocess.Popen(
            [sys.executable, "manage.py", "up", *words], cwd=ROOT, env=self.environment(PORT=port),
            stdout=output, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                yield process
            finally:
                process.kill()


@contextlib.contextmanager
def create_machine() -> Iterator[Machine]:
    home = Path(tempfile.mkdtemp(dir=find_machines_folder(), prefix="up-"))
    home.chmod(0o755)
    machine = Machine(home=home)
    try:
        yield machine
    finally:
        machine.embedded.stop()
        shutil.rmtree(home)


@contextlib.contextmanager
def create_prepared_machine() -> Iterator[Machine]:
    """A new machine whose data directory has seen its first start, for tests that are not about that: all migrations
    are applied, the rates are loaded and COMPANIES are there, which takes 30 seconds, and copying it half of one."""
    with create_machine() as machine:
        copy_prepared_data(machine)
        yield machine


def copy_prepared_data(machine: Machine) -> None:
    prepared = _get_prepared_directory()
    copy_directory(prepared / "var", machine.home / "var")
    companies = json.loads((prepared / "companies.json").read_text())
    machine.companies = {name: (company, key) for name, (company, key) in companies.items()}


def copy_directory(source: Path, target: Path) -> None:
    """A directory with its owners and modes, into one that may be there: PostgreSQL runs as somebody else."""
    subprocess.run(["cp", "--archive", f"{source}/.", str(target)], check=True)


def _get_prepared_directory() -> Path:
    """What ``create_prepared_machine`` copies; made once for each state of the code it depends on, by whichever process
    comes first: one that comes at the same time makes its own and finds the place taken."""
    remaining = PREPARED_FOLDER / f"machine-{os.getuid()}-{compute_schema_digest()}"
    if not remaining.exists():
        with create_machine() as first:
            with first.embedded.run_while_used():
                companies = {name: _create_company(first, name, owner) for name, owner in COMPANIES.items()}
            made = Path(tempfile.mkdtemp(dir=PREPARED_FOLDER, prefix=f"{remaining.name}."))
            made.chmod(0o755)
            copy_directory(first.home / "var", made / "var")
            (made / "companies.json").write_text(json.dumps(companies))
            try:
                made.rename(remaining)
            except OSError:
                shutil.rmtree(made)
    return remaining


def _create_company(machine: Machine, name: str, owner: str) -> tuple[str, str]:
    """The first command on a new database creates its tables."""
    words = ("--name", name, "--currency", "EUR", "--owner", owner, "--password", PASSWORD)
    made = machine.run("create_company", *words)
    assert made.returncode == 0, made.stderr
    company = made.stdout.strip()
    return company, machine.run("create_api_key", "--company", company).stdout.strip()


def get_status(port: int, path: str, seconds: float = 30) -> int:
    """The answer's status; 0 where nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=seconds) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def list_workers(pid: int) -> list[int]:
    """The processes of ``up`` that answer requests, and not the programs that it starts."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if is_worker(int(child))]


def is_worker(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state not in "ZX" and b"manage.py\0up\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def wait_until(condition, *, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def stop_process(process: subprocess.Popen, number: int = signal.SIGINT) -> str:
    """Stop with Ctrl-C, which must leave exit code 0; what was printed."""
    process.send_signal(number)
    printed = process.stdout.read()
    assert process.wait(120) == 0, printed
    return printed
