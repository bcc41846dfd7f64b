"""Command that creates a company."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from companies import email_addresses
from companies.actions.companies import create_company
from companies.auth import session_revocation
from companies.models import AuditContext, Currency, SystemStatus, User
from companies.names import parse_name


class Command(BaseCommand):
    help = "Create a company with an owner and print its ID."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--name", required=True)
        parser.add_argument("--currency", required=True, choices=Currency.values, metavar="CODE")
        parser.add_argument("--owner", required=True, metavar="EMAIL", help="owner; created if the user does not exist")
        parser.add_argument("--password", help="password of the owner (default: keep that of an existing user)")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            name = parse_name(options["name"], max_length=200)
        except ValidationError as error:
            raise CommandError(f"--name: {error.message}") from None
        owner = self.get_or_create_owner(options["owner"], options["password"])
        company, _ = create_company(
            name=name,
            base_currency=options["currency"],
            owner=owner,
            context=AuditContext(time=timezone.now()),
            status=SystemStatus.FREE,
        )
        self.stdout.write(str(company.id))

    def get_or_create_owner(self, email: str, password: str | None) -> User:
        try:
            validate_email(email)
            email_addresses.validate_email_address(email)
        except ValidationError:
            raise CommandError("--owner must be an email address.") from None
        user = User.objects.find_by_email(email)
        if user is None:
            return User.objects.create_user(email, password)
        if password:
            user.set_password(password)
            user.save(update_fields=["password"])
            session_revocation.handle_password_change(user=user, now=timezone.now())
        return user
