"""Forgets what is of no use any more, and keeps the months of the audit log."""

import logging
from argparse import ArgumentParser
from datetime import UTC, date, datetime
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from companies.running import months, rounds

SESSIONS = "clearsessions"
log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Delete expired codes, tokens, sessions, kept answers and uploads. Run it daily; several may run at once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--log-before", metavar="YYYY-MM", type=a_month,
            help="make tables of their own of the audit log's months before this one; none is deleted",
        )  # fmt: skip

    def handle(self, *args: Any, log_before: date | None = None, **options: Any) -> None:
        now = timezone.now()
        if log_before is not None and log_before > months.month_of(now):
            raise CommandError("--log-before: the month under way and those to come stay in the log.")
        failed: list[str] = []
        counts = {part: try_to_forget(part, now, failed, wait=False) for part in (*settings.PRUNED, SESSIONS)}
        for part in [part for part, count in counts.items() if count is None]:  # others were at it, if they still live
            counts[part] = try_to_forget(part, now, failed, wait=True)
        self.stdout.write(f"{sum(filter(None, counts.values()))} expired records were deleted.")
        months.make_ahead(now=now)
        try:
            taken = months.take_out(before=log_before) if log_before else []
        except months.NotTakenOut as error:
            raise CommandError(str(error)) from None
        for name in taken:
            self.stdout.write(f"{name} was taken out of the audit log.")
        if failed:
            raise CommandError(f"Not pruned, the log says why: {', '.join(failed)}")


def a_month(text: str) -> date:
    return datetime.strptime(text, "%Y-%m").replace(tzinfo=UTC).date()


def try_to_forget(part: str, now: datetime, failed: list[str], *, wait: bool) -> int | None:
    """Return what ``forget`` does; 0 for a kind that fails, which is logged and named: the others are pruned."""
    try:
        return forget(part, now, wait=wait)
    except Exception:
        log.exception("prune failed for %s", part)
        failed.append(part)
        return 0


@transaction.atomic
def forget(part: str, now: datetime, *, wait: bool) -> int | None:
    """How many records of this kind were deleted; None where another process is at them and is not waited for."""
    if not rounds.take(f"prune:{part}", wait=wait):
        return None
    if part == SESSIONS:
        call_command(SESSIONS)
        return 0
    return int(import_string(part)(now=now))
