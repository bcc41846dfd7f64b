"""Makes an API key from the command line."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from companies.callers import api_keys
from companies.models import Company, Stamp
from companies.names import name_in
from companies.permissions import Permission, Permissions, Role


class Command(BaseCommand):
    help = "Create an API key of a company and print it, and nothing else, on standard output."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--company", required=True, metavar="ID")
        parser.add_argument(
            "--permissions", default="role:owner", help="a:read,b:write or role:NAME (default role:owner)"
        )
        parser.add_argument("--name", default="command line")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            company = Company.objects.get(id=options["company"])
        except (Company.DoesNotExist, ValidationError):
            raise CommandError("There is no company with this id.") from None
        try:
            name = name_in(options["name"], longest=200)
        except ValidationError as error:
            raise CommandError(f"--name: {error.message}") from None
        minted = api_keys.mint(
            company=company,
            stamp=Stamp(time=timezone.now()),
            name=name,
            permissions=wanted(options["permissions"]),
            creator=None,
        )
        self.stdout.write(minted.text)


def wanted(text: str) -> Permissions:
    """The permissions that the option names. Raises CommandError for one that does not exist."""
    try:
        if text.startswith("role:"):
            return Role(text.removeprefix("role:")).permissions
        return frozenset(Permission(name.strip()) for name in text.split(","))
    except ValueError as error:
        raise CommandError(f"--permissions: {error}") from None
