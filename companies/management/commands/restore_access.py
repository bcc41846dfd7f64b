"""Command that removes a user's MFA devices after they lost them."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from companies.auth import session_revocation
from companies.models import AuditContext, User


class Command(BaseCommand):
    help = "Remove somebody's second factors, so that the password signs them in again. Make sure who asks for it."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("email", metavar="EMAIL")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.find_by_email(options["email"])
        if user is None:
            raise CommandError("There is nobody with this e-mail address.")
        if not session_revocation.remove_lost_mfa(user=user, context=AuditContext(time=timezone.now())):
            raise CommandError("There is no second factor to remove.")
        self.stdout.write(f"{user.email} signs in with the password alone now, until a factor is set up again.")
