"""Database connection: the server of DATABASE_URL, or an embedded PostgreSQL under DATA_DIR.

Several processes share one embedded server. Each user of it holds a shared lock on ``postgres.users``;
the last one to leave can make it exclusive and stops the server. Starting and stopping are serialized by
``postgres.lock``. The kernel releases the locks of a killed process.
"""

import contextlib
import fcntl
import logging
import os
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import conninfo, sql
from psycopg.pq import Conninfo

from config.databases.embedded_server import SUPERUSER, EmbeddedServer, find_server_user
from config.databases.embedded_server import DatabaseUnavailable as DatabaseUnavailable
from config.databases.file_permissions import make_directory_private, make_private
from config.environment import create_private_directory

log = logging.getLogger(__name__)

DATABASE_NAME = "app"
CONNECT_SECONDS = 4  # per address of a host; localhost has two
REACH_TIMEOUT_SECONDS = 9
LOCK_TIMEOUT_SECONDS = 5  # a write waits for its company's lock
ANSWER_TIMEOUT_SECONDS = 60
MAX_LAUNCHES = 5
MIN_POSTGRES_VERSION = 15


def build_database_settings(*, url: str | None, data_dir: Path, setting: str = "DATABASE_URL") -> dict[str, Any]:
    """Build Django's settings of one database: at ``url``, or the embedded one under ``data_dir`` if that is
    None.

    Raises ValueError, in one line that names ``setting`` and shows no password, for an invalid URL.
    """
    if url is None:
        cluster = EmbeddedDatabase(data_dir=data_dir).path
        address = {"NAME": DATABASE_NAME, "USER": SUPERUSER, "PASSWORD": "", "HOST": str(cluster), "PORT": ""}
        options: dict[str, Any] = {}
    else:
        address, options = _parse_url(url=url, setting=setting)
    return {
        "ENGINE": "config.postgresql",
        **address,
        # One persistent connection per thread; the check lets workers reconnect after a server restart and queries
        # only if the server sent something (config/postgresql). psycopg's pool was no faster (a request with one
        # query: 153 against 146 µs) and adds four threads per process.
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options | {"connect_timeout": min(int(options.get("connect_timeout", 5)), CONNECT_SECONDS)},
    }


def limit_statements(databases: dict[str, Any], *, seconds: int) -> None:
    """Limit how long statements run and wait for locks in this process. Commands and migrations are not limited."""
    limits = f"-c statement_timeout={seconds}s -c lock_timeout={LOCK_TIMEOUT_SECONDS}s"
    for database in databases.values():
        own_options = str(database["OPTIONS"].get("options", ""))
        if limits not in own_options:
            database["OPTIONS"]["options"] = f"{own_options} {limits}".strip()


def _parse_url(*, url: str, setting: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The address and the options of a URL, read by libpq, whose messages may quote a password and are dropped."""
    expected_format = "expected postgresql://user:password@host:5432/name, with special characters percent-encoded"
    if not url.startswith(("postgresql://", "postgres://")):
        raise ValueError(f"{setting} is not the address of a PostgreSQL database: {expected_format}.")
    try:
        parts: dict[str, Any] = dict(conninfo.conninfo_to_dict(url))
    except psycopg.ProgrammingError:
        raise ValueError(f"{setting} cannot be read: {expected_format}.") from None
    port = str(parts.pop("port", ""))
    if port and not (re.fullmatch(r"[0-9]{1,5}", port) and 0 < int(port) < 65536):
        raise ValueError(f"{setting} has an invalid port: {expected_format}.")
    if not parts.get("dbname"):
        raise ValueError(f"{setting} names no database: {expected_format}.")
    if not re.fullmatch(r"[0-9]{1,9}", str(parts.get("connect_timeout", 0))):
        raise ValueError(f"{setting} has an invalid connect_timeout: must be a whole number of seconds.")
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host"}
    return {django: str(parts.pop(libpq, "")) for django, libpq in names.items()} | {"PORT": port}, parts


def check_database_reachable(database: dict[str, Any], *, setting: str = "DATABASE_URL") -> None:
    """Return once the database responds. Raises DatabaseUnavailable within ten seconds, in one line without a
    password.
    """
    outcome: list[str | int] = []
    # In a thread, because no libpq timeout covers an unresponsive DNS server.
    thread = threading.Thread(target=lambda: outcome.append(_find_server_version(database)), daemon=True)
    thread.start()
    thread.join(REACH_TIMEOUT_SECONDS)
    result = outcome[0] if outcome else "no answer"
    if isinstance(result, str):
        location = f"{database['HOST'] or 'localhost'}:{database['PORT'] or 5432}/{database['NAME']}"
        raise DatabaseUnavailable(f"{setting}: the database at {location} cannot be reached ({result}).")
    if result < MIN_POSTGRES_VERSION:
        raise DatabaseUnavailable(f"{setting}: PostgreSQL {MIN_POSTGRES_VERSION} or newer is required; found {result}.")


def build_libpq_environment(database: dict[str, Any]) -> dict[str, str]:
    """Build the environment variables of PostgreSQL's programs; a password on the command line would be visible
    to others.
    """
    variables = {each.keyword.decode(): each.envvar.decode() for each in Conninfo.get_defaults() if each.envvar}
    parts = _build_address(database) | database["OPTIONS"]
    return {variables[name]: str(value) for name, value in parts.items() if name in variables}


def _build_address(database: dict[str, Any]) -> dict[str, Any]:
    """What libpq must know to connect."""
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    return {libpq: database[django] for django, libpq in names.items() if database[django]}


def _find_server_version(database: dict[str, Any]) -> str | int:
    """The server's major version, or why it cannot be asked."""
    try:
        with psycopg.connect(**_build_address(database), **database["OPTIONS"]) as connection:
            return connection.info.server_version // 10000
    except psycopg.Error as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no answer"]
        reason = next((line for line in lines if "failed: " in line), lines[0]).rpartition("failed: ")[2]
        password = database["PASSWORD"]
        return reason.replace(password, "…") if len(password) > 3 else reason


@dataclass(frozen=True, kw_only=True)
class EmbeddedDatabase:
    """The embedded PostgreSQL under ``data_dir``."""

    data_dir: Path

    @property
    def path(self) -> Path:
        """The server's data directory, and that of its socket."""
        return self.data_dir.resolve() / "postgres"

    def make_private(self) -> None:
        """Remove other users' access to everything under ``data_dir``, except the server's user."""
        make_private(self.data_dir, database_user=find_server_user(cluster=self.path))

    def is_running(self) -> bool:
        """Return whether the server's process runs; it may not accept connections yet."""
        return EmbeddedServer(path=self.path, account=None).is_running()

    def start(self) -> None:
        """Start the server with its database; it continues when this process ends. Raises DatabaseUnavailable."""
        with self._hold_startup_lock():
            self._ensure_running()

    def stop(self) -> None:
        """Stop the server, even if others use it."""
        with self._hold_startup_lock():
            self._get_server().stop()

    @contextlib.contextmanager
    def run_while_used(self) -> Iterator[None]:
        """Use the server in the context: started if needed, stopped by its last user. Raises DatabaseUnavailable."""
        holder = os.getpid()
        with contextlib.closing(self._open_lock_file("postgres.users")) as users:
            with self._hold_startup_lock():
                fcntl.flock(users, fcntl.LOCK_SH)
                self._ensure_running()
            try:
                yield
            finally:
                # A forked worker gets here too, with its parent's lock.
                if os.getpid() == holder:
                    self._stop_if_unused(users)

    @contextlib.contextmanager
    def keep_running(self, *, every: float = 2.0) -> Iterator[None]:
        """Restart the server within ``every`` seconds whenever it was killed."""
        stop_event = threading.Event()
        thread = threading.Thread(
            target=self._restart_when_stopped, args=(stop_event, every), name="postgres-watch", daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            stop_event.set()

    def _restart_when_stopped(self, stop_event: threading.Event, every: float) -> None:
        while not stop_event.wait(every):
            if self.is_running():
                continue
            try:
                self.start()
                log.warning("The embedded database stopped and was restarted.")
            except (DatabaseUnavailable, OSError) as error:
                log.error("The embedded database stopped: %s", error)

    def _stop_if_unused(self, users: "_LockFile") -> None:
        with self._hold_startup_lock():
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            self._get_server().stop()

    def _ensure_running(self) -> None:
        """Start the server from any state; the caller holds the lock. Raises DatabaseUnavailable."""
        try:
            self._start_and_migrate(self._get_server())
        except OSError as error:
            failed_path = error.filename or self.path
            raise DatabaseUnavailable(
                f"The embedded database does not start: {failed_path} cannot be written ({error.strerror})."
            ) from None

    def _start_and_migrate(self, cluster: EmbeddedServer) -> None:
        if not cluster.is_running():
            cluster.check()
            if not cluster.exists():
                cluster.create()
        cluster.write_access_rules()
        deadline = time.monotonic() + ANSWER_TIMEOUT_SECONDS
        failures = 0
        while not self._accepts_connections():
            if not cluster.is_running() and (failure := cluster.start()):
                failures += 1
                if failures == MAX_LAUNCHES:
                    raise DatabaseUnavailable(
                        f"The embedded database does not start: {failure.rstrip('.')}. See {self.path}/server.log."
                    )
                time.sleep(0.2)
            if time.monotonic() > deadline:
                raise DatabaseUnavailable(f"The embedded database does not answer; see {self.path}/server.log.")

    def _accepts_connections(self) -> bool:
        """Return whether a connection works; creates the database on the first one."""
        try:
            with psycopg.connect(
                host=str(self.path), user=SUPERUSER, dbname="postgres", autocommit=True, connect_timeout=5
            ) as connection:
                if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE_NAME]).fetchone():
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE_NAME)))
        except (psycopg.OperationalError, psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
            # The last two: a killed start had already requested the database.
            time.sleep(0.02)
            return False
        return True

    def _get_server(self) -> EmbeddedServer:
        return EmbeddedServer(path=self.path, account=find_server_user(cluster=self.path))

    @contextlib.contextmanager
    def _hold_startup_lock(self) -> Iterator[None]:
        """Hold the lock for starting and stopping the server."""
        with contextlib.closing(self._open_lock_file("postgres.lock")) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _open_lock_file(self, name: str) -> "_LockFile":
        """Open a lock file with the owner of the data, so that root leaves no file that others cannot open."""
        account = find_server_user(cluster=self.path)
        try:
            create_private_directory(self.data_dir)
            make_directory_private(self.data_dir, database_user=account)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            number = os.open(self.data_dir / name, flags, 0o600)
        except OSError as error:
            raise DatabaseUnavailable(
                f"{self.data_dir} cannot be written ({error.strerror}): set DATA_DIR to a directory of your own."
            ) from None
        if account and os.fstat(number).st_nlink == 1:
            os.fchown(number, account.uid, account.gid)
        return _LockFile(number)


class _LockFile:
    """An open file that only serves to be locked; closing it gives up the lock."""

    def __init__(self, number: int) -> None:
        self._number = number

    def fileno(self) -> int:
        return self._number

    def close(self) -> None:
        os.close(self._number)
