"""Brings recurring revenue and the metrics of every company up to date."""

from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction
from django.utils import timezone

from analytics import metrics, recurring
from companies.models import Company, Stamp


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
        for company in companies:
            with transaction.atomic():
                recurring.refresh(company)
                metrics.store_metrics(company=company, stamp=stamp)
            count += 1
        self.stdout.write(f"Metrics of {count} companies are up to date.")
