"""Command that runs the whole service: database, migrations, exchange rates, demo company, web server,
webhooks.
"""

import contextlib
import io
import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from companies.models import Company
from config.databases.connection import EmbeddedDatabase
from config.databases.setup import acquire_setup_lock, prepare_database
from config.startup import make_data_private, use_database
from config.web_server import ListenError, bind_address, serve_application
from config.webhook_worker import run_webhook_worker


class Command(BaseCommand):
    help = "Run the service until Ctrl-C: database, migrations, exchange rates, demo company, web server, webhooks."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=settings.PORT, help="port (default: PORT or 8000)")
        parser.add_argument("--host", default="127.0.0.1", help="host (default: 127.0.0.1)")
        parser.add_argument(
            "--workers",
            type=int,
            default=settings.WORKERS,
            help="number of processes (default: WORKERS or 3)",
        )
        parser.add_argument("--no-demo", action="store_false", dest="demo", help="do not create a demo company")

    def handle(self, *, host: str, port: int, workers: int, demo: bool, **_: Any) -> None:
        if workers < 1:
            raise CommandError("--workers must be at least 1.")
        try:
            with bind_address(host=host, port=port) as listener, use_database(), _watch_database():
                make_data_private()
                demo_credentials = prepare_database_and_demo(demo=demo)
                address = settings.BASE_URL
                with run_webhook_worker():
                    serve_application(
                        listener=listener,
                        workers=workers,
                        ready=lambda: self._print_addresses(address=address, demo_credentials=demo_credentials),
                    )
        except ListenError as error:
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            return

    def _print_addresses(self, *, address: str, demo_credentials: dict[str, str] | None) -> None:
        """Print the addresses and how to sign in; flushed, otherwise each worker would print it again."""
        lines = [
            f"Ready on {address}",
            f"  Web application  {settings.APP_URL}",
            f"  API reference    {address}/docs",
        ]
        if demo_credentials:
            lines += [
                f"  Sign in as       {demo_credentials['email']}  password {demo_credentials['password']}",
                f"  API key          {demo_credentials['apiKey']}",
                "The password and key are shown only once. Try:",
                f'  curl -H "Authorization: Bearer {demo_credentials["apiKey"]}" {address}/companies',
            ]
        self.stdout.write("\n".join([*lines, "Press Ctrl-C to stop."]))
        self.stdout.flush()


def prepare_database_and_demo(*, demo: bool) -> dict[str, str] | None:
    """Bring the database up to date and create the demo company if there is none; return its credentials if
    created.
    """
    with acquire_setup_lock():
        prepare_database()
        if not demo or Company.objects.exists():
            return None
        output = io.StringIO()
        call_command("demo", json=True, stdout=output)
        demo_credentials: dict[str, str] = json.loads(output.getvalue())
        return demo_credentials


@contextlib.contextmanager
def _watch_database() -> Iterator[None]:
    if settings.EMBEDDED:
        with EmbeddedDatabase(data_dir=settings.DATA_DIR).keep_running():
            yield
    else:
        yield
