"""Run one of PostgreSQL's own programs on the service's database, which is started for it where need be."""

import os
import shutil
import subprocess
import sys
from argparse import REMAINDER, ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.databases.cluster import DatabaseUnavailable, binaries
from config.databases.connecting import environment_of


class Command(BaseCommand):
    help = "Run pg_dump, pg_restore, psql, vacuumdb or another of PostgreSQL's programs on the service's database."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("program", help="such as pg_dump")
        parser.add_argument("words", nargs=REMAINDER, help="what it is to do; who and where the server is it is told")

    def handle(self, *, program: str, words: list[str], **_: Any) -> None:
        environment = os.environ | environment_of(settings.DATABASES["default"])
        done = subprocess.run([found(program), *words], env=environment, check=False)  # noqa: S603 - its own user's wish
        sys.exit(done.returncode)


def found(program: str) -> str:
    """The program that comes with the service, or the machine's own. Raises CommandError."""
    try:
        ours = shutil.which(program, path=str(binaries()))
    except DatabaseUnavailable:
        ours = None
    place = ours or shutil.which(program)
    if place is None:
        raise CommandError(f"There is no program {program} here.")
    return place
