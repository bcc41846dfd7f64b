"""Command that creates an API key."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from companies.auth import api_keys
from companies.models import AuditContext, Company
from companies.names import parse_name
from companies.permissions import Permission, Permissions, Role


class Command(BaseCommand):
    help = "Create an API key for a company and print it to standard output."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--company", required=True, metavar="ID")
        parser.add_argument(
            "--permissions", default="role:owner", help="a:read,b:write or role:NAME (default: role:owner)"
        )
        parser.add_argument("--name", default="command line")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            company = Company.objects.get(id=options["company"])
        except (Company.DoesNotExist, ValidationError):
            raise CommandError("No company with this ID.") from None
        try:
            name = parse_name(options["name"], max_length=200)
        except ValidationError as error:
            raise CommandError(f"--name: {error.message}") from None
        minted_key = api_keys.create_api_key(
            company=company,
            context=AuditContext(time=timezone.now()),
            name=name,
            permissions=parse_permission_option(options["permissions"]),
            creator=None,
        )
        self.stdout.write(minted_key.text)


def parse_permission_option(text: str) -> Permissions:
    """Parse the --permissions option. Raises CommandError for an unknown permission or role."""
    try:
        if text.startswith("role:"):
            return Role(text.removeprefix("role:")).permissions
        return frozenset(Permission(name.strip()) for name in text.split(","))
    except ValueError as error:
        raise CommandError(f"--permissions: {error}") from None
