"""Create a demo company."""

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from companies.maintenance import progress_bar
from companies.names import parse_name
from demo.actions import DemoAccess, create_demo_company


class Command(BaseCommand):
    help = "Create a demo software company with members, accounts and transactions."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--name", default="Northwind Analytics")
        parser.add_argument("--months", type=int, default=36)
        parser.add_argument("--transactions", type=int, default=20_000)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--json", action="store_true", help="print companyId, email, password and apiKey as JSON")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["months"] <= 240 or not 0 <= options["transactions"] <= 2_000_000:
            raise CommandError("--months must be from 1 to 240, --transactions from 0 to 2,000,000.")
        try:
            name = parse_name(options["name"], max_length=200)
        except ValidationError as error:
            raise CommandError(f"--name: {error.message}") from None
        with progress_bar.draw_progress_bar(self.stderr, is_quiet=options["json"]) as tell:
            demo_access = create_demo_company(
                name=name,
                months=options["months"],
                transactions=options["transactions"],
                seed=options["seed"],
                now=timezone.now(),
                tell=tell,
            )
        self.stdout.write(json.dumps(demo_access.to_dict()) if options["json"] else format_demo_access(demo_access))


def format_demo_access(demo_access: DemoAccess) -> str:
    return "\n".join(f"{name:10} {value}" for name, value in demo_access.to_dict().items())
