"""Where the data lives: the server that DATABASE_URL names, or an embedded PostgreSQL under DATA_DIR.

Several processes share one embedded server. Each of its users holds a shared lock on ``postgres.users``; whoever
leaves and can turn it into an exclusive one was the last, and stops the server. Starting and leaving take turns by an
exclusive lock on ``postgres.lock``. The kernel gives up the locks of a killed process: no list of users can go stale.
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

from config.databases.cluster import SUPERUSER, Cluster, account_for
from config.databases.cluster import DatabaseUnavailable as DatabaseUnavailable
from config.environment import make_private
from config.privacy import close, close_door

log = logging.getLogger(__name__)

DATABASE = "app"
CONNECT_SECONDS = 4  # for each address of a host; localhost has two
REACH_SECONDS = 9
LOCK_TIMEOUT_SECONDS = 5  # that a write waits for its company
ANSWER_SECONDS = 60
LAUNCHES = 5
OLDEST_VERSION = 15


def databases(*, url: str | None, data_dir: Path, setting: str = "DATABASE_URL") -> dict[str, Any]:
    """Django's settings for one database: the one at ``url``, or the embedded one under ``data_dir`` if it is None.

    Raises ValueError, in one line that names ``setting`` and shows no password, if ``url`` is not an address.
    """
    if url is None:
        cluster = Embedded(data_dir=data_dir).path
        address = {"NAME": DATABASE, "USER": SUPERUSER, "PASSWORD": "", "HOST": str(cluster), "PORT": ""}
        options: dict[str, Any] = {}
    else:
        address, options = _parsed(url=url, setting=setting)
    return {
        "ENGINE": "config.postgresql",
        **address,
        # One connection per thread, for good; the check lets workers reconnect after a restart of the server, and asks
        # it only where it said something (config/postgresql). psycopg's pool, measured, was no faster (a request of one
        # query: 153 against 146 µs) and adds four threads a process.
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options | {"connect_timeout": min(int(options.get("connect_timeout", 5)), CONNECT_SECONDS)},
    }


def limit_statements(databases: dict[str, Any], *, seconds: int) -> None:
    """Limit, for connections of this process, how long a statement runs and how long it waits for a lock. Commands and
    migrations, which run in other processes, are not limited."""
    limits = f"-c statement_timeout={seconds}s -c lock_timeout={LOCK_TIMEOUT_SECONDS}s"
    for database in databases.values():
        own = str(database["OPTIONS"].get("options", ""))
        if limits not in own:
            database["OPTIONS"]["options"] = f"{own} {limits}".strip()


def _parsed(*, url: str, setting: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The address and the options of a URL, read by libpq, whose messages may quote a password and are dropped."""
    expected = "expected postgresql://user:password@host:5432/name, with special characters percent-encoded"
    if not url.startswith(("postgresql://", "postgres://")):
        raise ValueError(f"{setting} is not the address of a PostgreSQL database: {expected}.")
    try:
        parts: dict[str, Any] = dict(conninfo.conninfo_to_dict(url))
    except psycopg.ProgrammingError:
        raise ValueError(f"{setting} cannot be read: {expected}.") from None
    port = str(parts.pop("port", ""))
    if port and not (re.fullmatch(r"[0-9]{1,5}", port) and 0 < int(port) < 65536):
        raise ValueError(f"{setting} has a wrong port: {expected}.")
    if not parts.get("dbname"):
        raise ValueError(f"{setting} names no database: {expected}.")
    if not re.fullmatch(r"[0-9]{1,9}", str(parts.get("connect_timeout", 0))):
        raise ValueError(f"{setting} has a wrong connect_timeout: a whole number of seconds is needed.")
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host"}
    return {django: str(parts.pop(libpq, "")) for django, libpq in names.items()} | {"PORT": port}, parts


def reach(database: dict[str, Any], *, setting: str = "DATABASE_URL") -> None:
    """Return once the database answers. Raises DatabaseUnavailable within ten seconds, in one line with no password."""
    outcome: list[str | int] = []
    # A thread, because no timeout of libpq covers a name server that does not answer.
    thread = threading.Thread(target=lambda: outcome.append(_attempt(database)), daemon=True)
    thread.start()
    thread.join(REACH_SECONDS)
    found = outcome[0] if outcome else "no answer"
    if isinstance(found, str):
        where = f"{database['HOST'] or 'localhost'}:{database['PORT'] or 5432}/{database['NAME']}"
        raise DatabaseUnavailable(f"{setting}: the database at {where} cannot be reached ({found}).")
    if found < OLDEST_VERSION:
        raise DatabaseUnavailable(f"{setting}: PostgreSQL {OLDEST_VERSION} or newer is needed; this is {found}.")


def environment_of(database: dict[str, Any]) -> dict[str, str]:
    """Django's settings for one database as the variables that PostgreSQL's programs read: no password on their command
    line, where others could see it."""
    variables = {each.keyword.decode(): each.envvar.decode() for each in Conninfo.get_defaults() if each.envvar}
    parts = _address(database) | database["OPTIONS"]
    return {variables[name]: str(value) for name, value in parts.items() if name in variables}


def _address(database: dict[str, Any]) -> dict[str, Any]:
    """What libpq must know to connect."""
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    return {libpq: database[django] for django, libpq in names.items() if database[django]}


def _attempt(database: dict[str, Any]) -> str | int:
    """The server's major version, or why it cannot be asked."""
    try:
        with psycopg.connect(**_address(database), **database["OPTIONS"]) as connection:
            return connection.info.server_version // 10000
    except psycopg.Error as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no answer"]
        reason = next((line for line in lines if "failed: " in line), lines[0]).rpartition("failed: ")[2]
        password = database["PASSWORD"]
        return reason.replace(password, "…") if len(password) > 3 else reason


@dataclass(frozen=True, kw_only=True)
class Embedded:
    """The embedded PostgreSQL under ``data_dir``."""

    data_dir: Path

    @property
    def path(self) -> Path:
        """The server's data directory, and that of its socket."""
        return self.data_dir.resolve() / "postgres"

    def close(self) -> None:
        """Nobody but us and the server's user gets at what is under ``data_dir``, however it was left."""
        close(self.data_dir, to=account_for(cluster=self.path))

    def running(self) -> bool:
        """Whether the server's process lives; it may not answer yet."""
        return Cluster(path=self.path, account=None).alive()

    def start(self) -> None:
        """Return once the server runs, answers and has its database; it goes on when this process ends.

        Raises DatabaseUnavailable.
        """
        with self._turn():
            self._ensure()

    def stop(self) -> None:
        """Stop the server, whoever uses it."""
        with self._turn():
            self._cluster().stop()

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Use the server: started on the way in if need be, stopped on the way out by the last of its users.

        Raises DatabaseUnavailable.
        """
        holder = os.getpid()
        with contextlib.closing(self._lock("postgres.users")) as users:
            with self._turn():
                fcntl.flock(users, fcntl.LOCK_SH)
                self._ensure()
            try:
                yield
            finally:
                # A forked worker leaves through here too, with the lock of its parent.
                if os.getpid() == holder:
                    self._leave(users)

    @contextlib.contextmanager
    def watch(self, *, every: float = 2.0) -> Iterator[None]:
        """Start the server again, within ``every`` seconds, whenever it was killed."""
        done = threading.Event()
        thread = threading.Thread(target=self._revive, args=(done, every), name="postgres-watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()

    def _revive(self, done: threading.Event, every: float) -> None:
        while not done.wait(every):
            if self.running():
                continue
            try:
                self.start()
                log.warning("The embedded database was gone and has been started again.")
            except (DatabaseUnavailable, OSError) as error:
                log.error("The embedded database is gone: %s", error)

    def _leave(self, users: "_Lock") -> None:
        with self._turn():
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            self._cluster().stop()

    def _ensure(self) -> None:
        """Bring the server up, whatever state it was left in; the caller has its turn. Raises DatabaseUnavailable."""
        try:
            self._bring_up(self._cluster())
        except OSError as error:
            where = error.filename or self.path
            raise DatabaseUnavailable(
                f"The embedded database does not start: {where} cannot be written ({error.strerror})."
            ) from None

    def _bring_up(self, cluster: Cluster) -> None:
        if not cluster.alive():
            cluster.check()
            if not cluster.exists():
                cluster.make()
        cluster.admit()
        deadline = time.monotonic() + ANSWER_SECONDS
        failures = 0
        while not self._answers():
            if not cluster.alive() and (failure := cluster.launch()):
                failures += 1
                if failures == LAUNCHES:
                    raise DatabaseUnavailable(
                        f"The embedded database does not start: {failure.rstrip('.')}. See {self.path}/server.log."
                    )
                time.sleep(0.2)
            if time.monotonic() > deadline:
                raise DatabaseUnavailable(f"The embedded database does not answer; see {self.path}/server.log.")

    def _answers(self) -> bool:
        """Whether a real connection works; makes the database on the first one."""
        try:
            with psycopg.connect(
                host=str(self.path), user=SUPERUSER, dbname="postgres", autocommit=True, connect_timeout=5
            ) as connection:
                if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
        except (psycopg.OperationalError, psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
            # The last two: a start that was killed had asked for the database too, and the server made it after all.
            time.sleep(0.02)
            return False
        return True

    def _cluster(self) -> Cluster:
        return Cluster(path=self.path, account=account_for(cluster=self.path))

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """One process at a time decides over the server."""
        with contextlib.closing(self._lock("postgres.lock")) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _lock(self, name: str) -> "_Lock":
        """Open a lock file, which belongs to whom the data belongs to, so that root leaves nothing in the way."""
        account = account_for(cluster=self.path)
        try:
            make_private(self.data_dir)
            close_door(self.data_dir, to=account)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            number = os.open(self.data_dir / name, flags, 0o600)
        except OSError as error:
            raise DatabaseUnavailable(
                f"{self.data_dir} cannot be written ({error.strerror}): set DATA_DIR to a directory of your own."
            ) from None
        if account and os.fstat(number).st_nlink == 1:
            os.fchown(number, account.uid, account.gid)
        return _Lock(number)


class _Lock:
    """An open file that only serves to be locked; closing it gives up the lock."""

    def __init__(self, number: int) -> None:
        self._number = number

    def fileno(self) -> int:
        return self._number

    def close(self) -> None:
        os.close(self._number)
