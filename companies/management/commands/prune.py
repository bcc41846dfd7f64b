"""Forgets what is of no use any more."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.utils import timezone
from django.utils.module_loading import import_string


class Command(BaseCommand):
    help = "Delete expired codes, tokens, sessions, kept answers and uploads. Run it daily."

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        deleted = sum(import_string(path)(now=now) for path in settings.PRUNED)
        call_command("clearsessions")
        self.stdout.write(f"{deleted} expired records were deleted.")
