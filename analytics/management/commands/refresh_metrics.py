"""Ends trials whose time is over, brings recurring revenue, the metrics and the website's logo of every company up to
date, and warns where cash will not last."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from analytics import low_cash, metrics, recurring
from companies import site_logos
from companies.founding import end_trial
from companies.models import Company, Stamp
from companies.running import progress
from ledger.calc.fx import MissingRate
from ledger.money.rates import rate_table


class Command(BaseCommand):
    help = "End trials, recompute every company's metrics and recurring revenue, warn of low cash. Run daily."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--company", metavar="ID", help="this one only")

    def handle(self, *args: Any, **options: Any) -> None:
        stamp = Stamp(time=timezone.now())
        companies = Company.objects.order_by("id")
        if options["company"]:
            companies = companies.filter(id=options["company"])
        count = 0
        failed: list[str] = []
        with progress.bar(self.stderr) as tell:
            for company in progress.counted(companies, total=companies.count(), tell=tell, doing="Company"):
                site_logos.refresh(company=company, now=stamp.time)  # before a transaction: a site may take its time
                end_trial(company=company, stamp=stamp, becomes=settings.TRIAL_ENDS_AS)
                try:
                    refresh(company, stamp)
                except MissingRate as missing:
                    failed.append(f"{company.id} {missing}")
                else:
                    count += 1
        for failure in failed:
            self.stderr.write(failure)
        self.stdout.write(f"Metrics of {count} companies are up to date.")
        if failed:
            raise CommandError(f"{len(failed)} companies have a currency without any rate.")


@transaction.atomic
def refresh(company: Company, stamp: Stamp) -> None:
    """One company's. Raises MissingRate."""
    recurring.refresh(company)
    metrics.store_metrics(company=company, stamp=stamp)
    low_cash.warn(company=company, stamp=stamp, rates=rate_table())
