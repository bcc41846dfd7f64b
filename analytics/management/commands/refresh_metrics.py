"""Brings recurring revenue and the metrics of every company up to date."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from analytics import metrics, recurring
from companies.models import Company, Stamp
from ledger.calc.fx import MissingRate


class Command(BaseCommand):
    help = "Recompute the stored metrics of every company, and its recurring revenue where rates or events changed it."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--company", metavar="ID", help="this one only")

    def handle(self, *args: Any, **options: Any) -> None:
        stamp = Stamp(time=timezone.now())
        companies = Company.objects.order_by("id")
        if options["company"]:
            companies = companies.filter(id=options["company"])
        count = 0
        failed = 0
        for company in companies:
            try:
                with transaction.atomic():
                    recurring.refresh(company)
                    metrics.store_metrics(company=company, stamp=stamp)
            except MissingRate as missing:
                self.stderr.write(f"{company.id} {missing}")
                failed += 1
            else:
                count += 1
        self.stdout.write(f"Metrics of {count} companies are up to date.")
        if failed:
            raise CommandError(f"{failed} companies have a currency without any rate.")
