"""Start of a command: reads settings, provides the database, reports errors in one line."""

import atexit
import contextlib
import gc
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

from config.databases.connection import DatabaseUnavailable, EmbeddedDatabase, check_database_reachable
from config.databases.file_permissions import make_private

# Commands without database access. ``up`` starts it itself, and ``wait_ready`` must not start it.
COMMANDS_WITHOUT_DATABASE = {
    "collectstatic", "compilemessages", "diffsettings", "findstatic", "makemessages", "spectacular", "startapp",
    "up", "wait_ready",
}  # fmt: skip

# Commands that need tables, which are created first on a new embedded database. They skip Django's checks of the code,
# which take a quarter of their processor time: `check --deploy` runs them before an upgrade.
COMMANDS_WITH_TABLES = {
    "create_api_key", "create_company", "createsuperuser", "deliver_webhooks", "demo", "prune", "rebuild_derived",
    "refresh_metrics", "register_app",
}  # fmt: skip


def main(argv: list[str]) -> None:
    """Run the command in ``argv``; an invalid setting or missing database is one line on stderr and exit code 1."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    signal.signal(signal.SIGTERM, _terminate)
    exit_without_collection()
    arguments = argv[1:] or ["help"]
    if not _asks_for_help(arguments):
        _read_settings(arguments)
    try:
        with use_database_for(arguments):
            if not _asks_for_help(arguments):
                _load_apps()
                if arguments[0] in COMMANDS_WITH_TABLES:
                    _prepare_tables()
                    argv = [*argv, "--skip-checks"]
            execute_from_command_line(argv)
    except DatabaseUnavailable as error:
        sys.exit(f"Error: {error}")
    except (OperationalError, psycopg.OperationalError) as error:  # COPY raises the driver's own
        if "--traceback" in arguments:
            raise
        reason = (str(error).strip() or "no reason given").splitlines()[0]
        hint = f" See {EmbeddedDatabase(data_dir=settings.DATA_DIR).path}/server.log." if settings.EMBEDDED else ""
        sys.exit(f"Error: the database failed: {reason}.{hint}")
    except KeyboardInterrupt:
        sys.exit(130)


def exit_without_collection() -> None:
    """Leave the objects of this process to the operating system when it ends.

    Python would look through a million of them first, which takes a command, a worker or a stopping server most of a
    second.
    """
    atexit.register(gc.freeze)


@contextlib.contextmanager
def use_database_for(arguments: list[str]) -> Iterator[None]:
    """Provide the database within the context if the command needs one. Raises DatabaseUnavailable."""
    command = arguments[0]
    is_unneeded = _asks_for_help(arguments) or command in COMMANDS_WITHOUT_DATABASE
    if is_unneeded or (command == "check" and "--database" not in arguments):
        yield
        return
    with use_database():
        yield


@contextlib.contextmanager
def use_database() -> Iterator[None]:
    """Provide the database of the settings: start the embedded one, or check that the one of DATABASE_URL
    responds.

    Raises DatabaseUnavailable.
    """
    os.umask(0o077)  # files that commands write are private
    if settings.EMBEDDED:
        with EmbeddedDatabase(data_dir=settings.DATA_DIR).run_while_used():
            yield
    else:
        check_database_reachable(settings.DATABASES["default"])
        yield


def make_data_private() -> None:
    """Make everything under DATA_DIR, and every file written from now on, private. Raises DatabaseUnavailable."""
    os.umask(0o077)
    if settings.EMBEDDED:
        EmbeddedDatabase(data_dir=settings.DATA_DIR).make_private()
    else:
        make_private(settings.DATA_DIR, database_user=None)


def _load_apps() -> None:
    """Load the apps without looking for garbage: the million objects that this makes all stay.

    Python would look through them again and again, which takes a third of the time of loading.
    """
    gc.disable()
    django.setup()
    gc.freeze()
    gc.enable()


def _prepare_tables() -> None:
    """Create the tables of a new embedded database; other databases are set up by ``up`` or ``migrate``."""
    if settings.EMBEDDED:
        from config.databases.setup import prepare_new_database

        prepare_new_database()


def _read_settings(arguments: list[str]) -> None:
    """Read the settings now, so that their errors are told apart from errors of the command."""
    if arguments[0] == "up" and (port := _get_option(arguments, "--port")):
        os.environ["PORT"] = port  # BASE_URL depends on it
    try:
        _ = settings.EMBEDDED
    except (ImproperlyConfigured, ValueError, OSError) as error:
        sys.exit(f"Error: {' '.join(str(error).split())}")


def _asks_for_help(arguments: list[str]) -> bool:
    return arguments[0] in {"help", "version", "--version"} or "--help" in arguments or "-h" in arguments


def _get_option(arguments: list[str], name: str) -> str | None:
    """The value of ``--name value`` or ``--name=value``."""
    for argument, next_argument in zip(arguments, [*arguments[1:], ""], strict=True):
        if argument == name:
            return next_argument
        if argument.startswith(f"{name}="):
            return argument.partition("=")[2]
    return None


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """Exit on SIGTERM as on Ctrl-C, so that the last user of the database stops it."""
    sys.exit(128 + number)
