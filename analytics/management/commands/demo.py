"""Fills a company to look around in."""

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from analytics.demonstration.company import Demonstration, furnish
from companies.names import name_in
from companies.running import progress


class Command(BaseCommand):
    help = "Create a believable software company with people, accounts and movements."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--name", default="Northwind Analytics")
        parser.add_argument("--months", type=int, default=36)
        parser.add_argument("--transactions", type=int, default=20_000)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--json", action="store_true", help="print companyId, email, password and apiKey as JSON")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["months"] <= 240 or not 0 <= options["transactions"] <= 2_000_000:
            raise CommandError("--months must be 1 to 240, --transactions 0 to 2,000,000.")
        try:
            name = name_in(options["name"], longest=200)
        except ValidationError as error:
            raise CommandError(f"--name: {error.message}") from None
        with progress.bar(self.stderr, quiet=options["json"]) as tell:
            made = furnish(
                name=name,
                months=options["months"],
                transactions=options["transactions"],
                seed=options["seed"],
                now=timezone.now(),
                tell=tell,
            )
        self.stdout.write(json.dumps(made.as_json()) if options["json"] else told(made))


def told(made: Demonstration) -> str:
    return "\n".join(f"{name:10} {value}" for name, value in made.as_json().items())
