"""What happens between a command line and its command: settings are read, the database is there, errors are lines."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

import django
import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError

from config.databases.connecting import DatabaseUnavailable, Embedded, reach
from config.privacy import close

# These read no rows. ``up`` keeps the database itself, and ``wait_ready`` must not be the one that starts it.
WITHOUT_DATABASE = {
    "collectstatic", "compilemessages", "diffsettings", "findstatic", "makemessages", "spectacular", "startapp",
    "up", "wait_ready",
}  # fmt: skip

# These work on tables; on a new embedded database they make them first.
WITH_TABLES = {
    "create_api_key", "create_company", "createsuperuser", "deliver_webhooks", "demo", "prune", "rebuild_derived",
    "refresh_metrics", "register_app",
}  # fmt: skip


def main(argv: list[str]) -> None:
    """Run the command in ``argv``; a wrong setting or a missing database is one line on stderr and exit code 1."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    signal.signal(signal.SIGTERM, _terminate)
    words = argv[1:] or ["help"]
    if not _asks_for_help(words):
        _read_settings(words)
    try:
        with database_for(words):
            if words[0] in WITH_TABLES and not _asks_for_help(words):
                _prepare()
            execute_from_command_line(argv)
    except DatabaseUnavailable as error:
        sys.exit(f"Error: {error}")
    except (OperationalError, psycopg.OperationalError) as error:  # COPY raises the driver's own
        if "--traceback" in words:
            raise
        reason = (str(error).strip() or "no reason given").splitlines()[0]
        more = f" See {Embedded(data_dir=settings.DATA_DIR).path}/server.log." if settings.EMBEDDED else ""
        sys.exit(f"Error: the database failed: {reason}.{more}")
    except KeyboardInterrupt:
        sys.exit(130)


@contextlib.contextmanager
def database_for(words: list[str]) -> Iterator[None]:
    """Keep the database that the command line ``words`` needs, if it needs one, for as long as it runs.

    Raises DatabaseUnavailable.
    """
    command = words[0]
    needless = _asks_for_help(words) or command in WITHOUT_DATABASE
    if needless or (command == "check" and "--database" not in words):
        yield
        return
    with database():
        yield


@contextlib.contextmanager
def database() -> Iterator[None]:
    """Keep the database of the settings: the embedded one is started, one of DATABASE_URL is asked to answer.

    Raises DatabaseUnavailable.
    """
    os.umask(0o077)  # what commands write beside it, files or backups, is nobody else's either
    if settings.EMBEDDED:
        with Embedded(data_dir=settings.DATA_DIR).hold():
            yield
    else:
        reach(settings.DATABASES["default"])
        yield


def close_data() -> None:
    """What is under DATA_DIR, and what we write from now on, is nobody's but ours. Raises DatabaseUnavailable."""
    os.umask(0o077)
    if settings.EMBEDDED:
        Embedded(data_dir=settings.DATA_DIR).close()
    else:
        close(settings.DATA_DIR, to=None)


def look_at_replica() -> None:
    """Say on stderr, within ten seconds, where the replica does not answer; the service runs without it too."""
    if "replica" in settings.DATABASES:
        try:
            reach(settings.DATABASES["replica"], setting="DATABASE_REPLICA_URL")
        except DatabaseUnavailable as error:
            sys.stderr.write(f"Warning: {error} Until it answers, all queries go to the primary.\n")


def _prepare() -> None:
    """Makes the tables of a new embedded database. Other databases are prepared by ``up`` or ``migrate`` alone."""
    if settings.EMBEDDED:
        django.setup()
        from config.databases.preparing import prepare_if_new

        prepare_if_new()


def _read_settings(words: list[str]) -> None:
    """Read the settings now, where an error in them can still be told from an error of the command."""
    if words[0] == "up" and (port := _option(words, "--port")):
        os.environ["PORT"] = port  # the default of BASE_URL follows it
    try:
        _ = settings.EMBEDDED
    except (ImproperlyConfigured, ValueError, OSError) as error:
        sys.exit(f"Error: {' '.join(str(error).split())}")


def _asks_for_help(words: list[str]) -> bool:
    return words[0] in {"help", "version", "--version"} or "--help" in words or "-h" in words


def _option(words: list[str], name: str) -> str | None:
    """The value of ``--name value`` or ``--name=value``."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == name:
            return following
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return None


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """SIGTERM leaves through the same doors as Ctrl-C, so that the last user of the database stops it."""
    sys.exit(128 + number)
