"""Command that distributes the schema over a Citus cluster; see docs/scaling.md."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.databases import distribution
from config.databases.placement import PlacementError, Step


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
                self.print_script(distribution.list_distribution_steps(shards=shards))
            else:
                statement_count = distribution.distribute_tables(shards=shards, report_step=self.print_step)
                self.stdout.write(f"{statement_count} statements; every table is in its place.")
        except (PlacementError, distribution.ClusterMissing) as error:
            raise CommandError(str(error)) from None

    def print_script(self, steps: list[Step]) -> None:
        """Print the steps as a script that psql runs in one transaction."""
        if not steps:
            self.stdout.write("-- Every table is in its place.")
            return
        self.stdout.write("\n".join(("BEGIN;", *map(format_placement_step, steps), "COMMIT;")))

    def print_step(self, step: Step) -> None:
        self.stdout.write(format_placement_step(step))


def format_placement_step(step: Step) -> str:
    """Format a step as SQL with its reason as a comment."""
    return f"{step.statement};  -- {step.reason}"
