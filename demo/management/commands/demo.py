"""Create a demo company."""

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from companies.maintenance import progress_bar
from companies.names import parse_name
from demo.actions import create_demo_company
from demo.story import MAX_MONTHS

MAX_TRANSACTIONS = 2_000_000


class Command(BaseCommand):
    help = "Create a demo software company with members, accounts and transactions."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--name", default="Northwind Analytics")
        parser.add_argument("--months", type=int, default=MAX_MONTHS, help="the last months of the story only")
        parser.add_argument(
            "--transactions",
            type=int,
            help="this many, opening balances included, instead of the story's own number",
        )
        parser.add_argument("--seed", type=int, help="accepted for older scripts; the story is always the same")
        parser.add_argument(
            "--json",
            action="store_true",
            help="print companyId, email, password (null if the user existed) and apiKey as JSON",
        )

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["months"] <= MAX_MONTHS or not 0 <= (options["transactions"] or 0) <= MAX_TRANSACTIONS:
            raise CommandError("--months must be from 1 to 36, --transactions from 0 to 2,000,000.")
        try:
            name = parse_name(options["name"], max_length=200)
        except ValidationError as error:
            raise CommandError(f"--name: {error.message}") from None
        with progress_bar.draw_progress_bar(is_quiet=options["json"]) as report_progress:
            demo_access = create_demo_company(
                name=name,
                now=timezone.now(),
                months=options["months"],
                count=options["transactions"],
                report_progress=report_progress,
            )
        credentials = demo_access.to_dict()
        if options["json"]:
            self.stdout.write(json.dumps(credentials))
            return
        texts = credentials | {"password": credentials["password"] or "unchanged, as the user existed before"}
        self.stdout.write("\n".join(f"{name:10} {value}" for name, value in texts.items()))
