"""Rebuilds every derived table from the facts, or proves them."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from companies.changing import changing
from companies.models import Company, Stamp
from companies.running import progress


class Command(BaseCommand):
    help = "Rebuild the derived tables of every company; with --check only compare, and fail on a difference."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing; exit non-zero on a difference")
        parser.add_argument("--company", metavar="ID", help="this one only")

    def handle(self, *args: Any, **options: Any) -> None:
        companies = Company.objects.order_by("id")
        if options["company"]:
            companies = companies.filter(id=options["company"])
        wrong: list[str] = []
        doing = "Checking company" if options["check"] else "Rebuilding company"
        with progress.bar(self.stderr) as tell:
            for company in progress.counted(companies, total=companies.count(), tell=tell, doing=doing):
                wrong += self.check_one(company) if options["check"] else self.rebuild_one(company)
        for difference in wrong:
            self.stderr.write(difference)
        if wrong:
            raise CommandError(f"{len(wrong)} differences between derived tables and facts.")
        self.stdout.write("Derived tables are exact." if options["check"] else "Derived tables are rebuilt.")

    def check_one(self, company: Company) -> list[str]:
        with transaction.atomic():
            return [f"{company.id} {each}" for _, differences in derived() for each in differences(company.id)]

    def rebuild_one(self, company: Company) -> list[str]:
        with changing(company, stamp=Stamp(time=timezone.now())):  # what others post meanwhile would be lost, or twice
            for rebuild, _ in derived():
                rebuild(company.id)
        return []


def derived() -> list[tuple[Any, Any]]:
    """(rebuild, differences) of each module that the settings name under DERIVED."""
    return [(import_string(f"{module}.rebuild"), import_string(f"{module}.differences")) for module in settings.DERIVED]
