"""Forgets what is of no use any more."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from companies.running import rounds

SESSIONS = "clearsessions"


class Command(BaseCommand):
    help = "Delete expired codes, tokens, sessions, kept answers and uploads. Run it daily; several may run at once."

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        counts = {part: forget(part, now, wait=False) for part in (*settings.PRUNED, SESSIONS)}
        for part in [part for part, count in counts.items() if count is None]:  # others were at it, if they still live
            counts[part] = forget(part, now, wait=True)
        self.stdout.write(f"{sum(filter(None, counts.values()))} expired records were deleted.")


@transaction.atomic
def forget(part: str, now: datetime, *, wait: bool) -> int | None:
    """How many records of this kind were deleted; None where another process is at them and is not waited for."""
    if not rounds.take(f"prune:{part}", wait=wait):
        return None
    if part == SESSIONS:
        call_command(SESSIONS)
        return 0
    return int(import_string(part)(now=now))
