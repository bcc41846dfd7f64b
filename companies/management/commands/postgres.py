"""Command that runs a PostgreSQL program on the service's database, starting the database if needed."""

import os
import shutil
import subprocess
import sys
from argparse import REMAINDER, ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.databases.connection import build_libpq_environment
from config.databases.embedded_server import DatabaseUnavailable, find_binaries


class Command(BaseCommand):
    help = "Run pg_dump, psql or another PostgreSQL program with the connection settings of this service."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("program", help="for example pg_dump")
        parser.add_argument("words", nargs=REMAINDER, help="arguments of the program, without connection options")

    def handle(self, *, program: str, words: list[str], **_: Any) -> None:
        environment = os.environ | build_libpq_environment(settings.DATABASES["default"])
        process = subprocess.run([find_program(program), *words], env=environment, check=False)  # noqa: S603 - its own user's wish
        sys.exit(process.returncode)


def find_program(program: str) -> str:
    """Return the path of the bundled program, otherwise the system's. Raises CommandError."""
    try:
        bundled_path = shutil.which(program, path=str(find_binaries()))
    except DatabaseUnavailable:
        bundled_path = None
    path = bundled_path or shutil.which(program)
    if path is None:
        raise CommandError(f"Program {program} not found.")
    return path
