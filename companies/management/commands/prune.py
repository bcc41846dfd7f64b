"""Command that deletes expired records."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from companies import hooks
from companies.maintenance import company_batches

Prune = Callable[..., int]
log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Delete expired codes, tokens, sessions, idempotent responses and uploads. Run it daily."

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        failed_parts: list[str] = []
        parts = {get_part_name(function): function for function in hooks.prune_expired.functions}
        parts["clearsessions"] = clear_sessions
        counts = {part: try_to_prune(part, prune, now, failed_parts, wait=False) for part, prune in parts.items()}
        for part in [part for part, count in counts.items() if count is None]:  # another process had them
            counts[part] = try_to_prune(part, parts[part], now, failed_parts, wait=True)
        self.stdout.write(f"{sum(filter(None, counts.values()))} expired records deleted.")
        if failed_parts:
            raise CommandError(f"Pruning failed (see the log) for: {', '.join(failed_parts)}")


def get_part_name(function: Prune) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def clear_sessions(*, now: datetime) -> int:
    call_command("clearsessions")
    return 0


def try_to_prune(part: str, prune: Prune, now: datetime, failed: list[str], *, wait: bool) -> int | None:
    """Return what ``prune_part`` does; 0 for a part that fails, which is logged and named: the others are pruned."""
    try:
        return prune_part(part, prune, now, wait=wait)
    except Exception:
        log.exception("prune failed for %s", part)
        failed.append(part)
        return 0


@transaction.atomic
def prune_part(part: str, prune: Prune, now: datetime, *, wait: bool) -> int | None:
    """Return how many rows were deleted; None where another process prunes this part and is not waited for."""
    if not company_batches.acquire_advisory_lock(f"prune:{part}", wait_for_others=wait):
        return None
    return prune(now=now)
