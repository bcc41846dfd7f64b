"""Run the whole service until Ctrl-C: database, migrations, exchange rates, a demo company, web server, webhooks."""

import contextlib
import io
import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from companies.models import Company
from companies.running import months
from config.beside import delivering
from config.databases.connecting import Embedded
from config.databases.preparing import alone, prepare
from config.serving import CannotListen, bind, serve
from config.startup import close_data, database, look_at_replica


class Command(BaseCommand):
    help = "Run the service until Ctrl-C: database, migrations, exchange rates, demo company, web server, webhooks."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=settings.PORT, help="default: PORT, or 8000")
        parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
        parser.add_argument(
            "--workers",
            type=int,
            default=settings.WORKERS,
            help="default: WORKERS, or 3",
        )
        parser.add_argument("--no-demo", action="store_false", dest="demo", help="create no demo company")

    def handle(self, *, host: str, port: int, workers: int, demo: bool, **_: Any) -> None:
        if workers < 1:
            raise CommandError("--workers must be 1 or more.")
        try:
            with bind(host=host, port=port) as listener, database(), _watched():
                close_data()
                made = prepared(demo=demo)
                look_at_replica()
                address = settings.BASE_URL
                with delivering():
                    serve(listener=listener, workers=workers, ready=lambda: self._greet(address=address, made=made))
        except CannotListen as error:
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            return

    def _greet(self, *, address: str, made: dict[str, str] | None) -> None:
        """Say where to look and how to sign in; flushed, or each worker would say it again."""
        lines = [
            f"Ready on {address}",
            f"  Web application  {settings.APP_URL}",
            f"  API reference    {address}/docs",
        ]
        if made:
            lines += [
                f"  Sign in as       {made['email']}  password {made['password']}",
                f"  API key          {made['apiKey']}",
                "Both are shown this once. Try:",
                f'  curl -H "Authorization: Bearer {made["apiKey"]}" {address}/companies',
            ]
        self.stdout.write("\n".join([*lines, "Ctrl-C stops it."]))
        self.stdout.flush()


def prepared(*, demo: bool) -> dict[str, str] | None:
    """Bring the database up to date; what ``demo --json`` printed if it made the demo company now."""
    with alone():
        prepare()
        months.make_ahead(now=timezone.now())
        if not demo or Company.objects.exists():
            return None
        answer = io.StringIO()
        call_command("demo", json=True, stdout=answer)
        made: dict[str, str] = json.loads(answer.getvalue())
        return made


@contextlib.contextmanager
def _watched() -> Iterator[None]:
    if settings.EMBEDDED:
        with Embedded(data_dir=settings.DATA_DIR).watch():
            yield
    else:
        yield
