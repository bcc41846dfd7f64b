"""Register an app from the command line."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from oauth.registration import register_app


class Command(BaseCommand):
    help = "Register an app and print its client_id (and client_secret if confidential) as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", required=True)
        parser.add_argument(
            "--redirect-uri", required=True, action="append", dest="redirect_uris", help="can be repeated"
        )
        parser.add_argument("--scopes", default="", help='for example "svc:read openid" (default: all)')
        parser.add_argument("--confidential", action="store_true", help="for a server app with a secret")

    def handle(self, *, name: str, redirect_uris: list[str], scopes: str, confidential: bool, **_: Any) -> None:
        try:
            registered_app = register_app(
                name=name, redirect_uris=redirect_uris, allowed=scopes.split(), confidential=confidential
            )
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        credentials = {"client_id": registered_app.application.client_id}
        if registered_app.secret:
            credentials["client_secret"] = registered_app.secret
        self.stdout.write(json.dumps(credentials))
