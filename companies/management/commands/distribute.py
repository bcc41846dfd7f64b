"""Command that distributes the schema over a Citus cluster; see docs/scaling.md."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.databases import distribution
from config.databases.placement import PlacementError, PlacementStep


class Command(BaseCommand):
    help = "Distribute tables by company over a Citus cluster. Run it again after each migration."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--plan", action="store_true", help="print the SQL without running it")
        parser.add_argument("--shards", type=int, help="number of shards on the first run (default: 32)")

    def handle(self, *, plan: bool, shards: int | None, **_: Any) -> None:
        if shards is not None and not 1 <= shards <= 64_000:  # the most that citus.shard_count takes
            raise CommandError("--shards must be between 1 and 64000.")
        try:
            if plan:
                self.print_script(distribution.list_distribution_steps(shards=shards))
            else:
                statement_count = distribution.distribute_tables(shards=shards, report_step=self.print_step)
                self.stdout.write(f"{statement_count} statements executed. All tables are distributed.")
        except (PlacementError, distribution.ClusterMissing) as error:
            raise CommandError(str(error)) from None

    def print_script(self, steps: list[PlacementStep]) -> None:
        """Print the steps as a script that psql runs in one transaction."""
        if not steps:
            self.stdout.write("-- All tables are already distributed.")
            return
        self.stdout.write("\n".join(("BEGIN;", *map(format_placement_step, steps), "COMMIT;")))

    def print_step(self, step: PlacementStep) -> None:
        self.stdout.write(format_placement_step(step))


def format_placement_step(step: PlacementStep) -> str:
    """Format a step as SQL with its reason as a comment."""
    return f"{step.statement};  -- {step.reason}"
