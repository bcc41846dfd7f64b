"""Spreads the running schema over the machines of a Citus cluster; see docs/scaling.md."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.databases import distributing
from config.databases.placement import Step, Unplaceable


class Command(BaseCommand):
    help = "Distribute the tables by company over a Citus cluster; again after a migration, for what it brought."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--plan", action="store_true", help="print the SQL and do nothing")
        parser.add_argument(
            "--shards", type=int, help="how many parts companies are dealt to, the first time; default: Citus's 32"
        )

    def handle(self, *, plan: bool, shards: int | None, **_: Any) -> None:
        if shards is not None and not 1 <= shards <= 64_000:  # the most that citus.shard_count takes
            raise CommandError("--shards must be 1 to 64000.")
        try:
            if plan:
                self.show(distributing.steps(shards=shards))
            else:
                done = distributing.distribute(shards=shards, told=self.tell)
                self.stdout.write(f"{done} statements; every table is in its place.")
        except (Unplaceable, distributing.NoCluster) as error:
            raise CommandError(str(error)) from None

    def show(self, steps: list[Step]) -> None:
        """As a script that psql runs in one transaction."""
        if not steps:
            self.stdout.write("-- Every table is in its place.")
            return
        self.stdout.write("\n".join(("BEGIN;", *map(sql, steps), "COMMIT;")))

    def tell(self, step: Step) -> None:
        self.stdout.write(sql(step))


def sql(step: Step) -> str:
    return f"{step.statement};  -- {step.reason}"
