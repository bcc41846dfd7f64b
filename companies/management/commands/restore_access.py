"""Command that removes a user's MFA devices after they lost them."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from companies.auth import session_revocation
from companies.models import AuditContext, User


class Command(BaseCommand):
    help = "Remove a user's two-factor authentication. Verify the identity of the person who asks."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("email", metavar="EMAIL")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.find_by_email(options["email"])
        if user is None:
            raise CommandError("No user with this email address.")
        if not session_revocation.remove_lost_mfa(user=user, context=AuditContext(time=timezone.now())):
            raise CommandError("This user does not use two-factor authentication.")
        self.stdout.write(f"{user.email} can now sign in without two-factor authentication.")
