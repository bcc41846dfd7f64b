"""Starts a company from the command line."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from companies import emails
from companies.membership.founding import found_company
from companies.models import Currency, Stamp, SystemStatus, User
from companies.names import name_in
from companies.security import ending


class Command(BaseCommand):
    help = "Create a company with its owner, and print its id."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--name", required=True)
        parser.add_argument("--currency", required=True, choices=Currency.values, metavar="CODE")
        parser.add_argument("--owner", required=True, metavar="EMAIL", help="made where there is no such user yet")
        parser.add_argument("--password", help="for the owner; a known owner's is left alone unless it is given")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            name = name_in(options["name"], longest=200)
        except ValidationError as error:
            raise CommandError(f"--name: {error.message}") from None
        owner = self.owner(options["owner"], options["password"])
        company, _ = found_company(
            name=name,
            base_currency=options["currency"],
            owner=owner,
            stamp=Stamp(time=timezone.now()),
            status=SystemStatus.FREE,
        )
        self.stdout.write(str(company.id))

    def owner(self, email: str, password: str | None) -> User:
        try:
            validate_email(email)
            emails.validate(email)
        except ValidationError:
            raise CommandError("--owner must be an e-mail address.") from None
        user = User.objects.with_email(email)
        if user is None:
            return User.objects.create_user(email, password)
        if password:
            user.set_password(password)
            user.save(update_fields=["password"])
            ending.password_changed(user=user, now=timezone.now())
        return user
