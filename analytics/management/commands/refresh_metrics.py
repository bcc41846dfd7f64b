"""Ends trials whose time is over, brings recurring revenue, the metrics and the website's logo of every company up to
date, and warns where cash will not last."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from analytics.queries import low_cash, metrics, recurring
from companies.logos import sites as site_logos
from companies.membership.founding import end_trial
from companies.models import Company, Stamp
from companies.running import progress, rounds
from ledger.calc.fx import MissingRate
from ledger.money.rates import rate_table


class Command(BaseCommand):
    help = "End trials, recompute every company's metrics and recurring revenue, warn of low cash. Run daily."

    def add_arguments(self, parser: Any) -> None:
        rounds.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        stamp = Stamp(time=timezone.now())
        done: list[UUID] = []
        failed: list[str] = []

        def brought_up_to_date(company: Company) -> bool:
            end_trial(company=company, stamp=stamp, becomes=settings.TRIAL_ENDS_AS)
            try:
                refresh(company, stamp)
            except MissingRate as missing:
                failed.append(f"{company.id} {missing}")
                return False
            done.append(company.id)
            return True

        wanted = {"name": options["round"], "company_id": options["company"]}
        with progress.bar(self.stderr) as tell:
            for company in rounds.each_company(
                brought_up_to_date, work="refresh_metrics", **wanted, now=stamp.time, tell=tell, doing="Company"
            ):
                site_logos.refresh(company=company, now=stamp.time)  # in no transaction: a site may take its time
        for failure in failed:
            self.stderr.write(failure)
        self.stdout.write(f"Metrics of {len(done)} companies are up to date.")
        if failed:
            raise CommandError(f"{len(failed)} companies have a currency without any rate.")


@transaction.atomic
def refresh(company: Company, stamp: Stamp) -> None:
    """One company's. Raises MissingRate."""
    recurring.refresh(company)
    metrics.store_metrics(company=company, stamp=stamp)
    low_cash.warn(company=company, stamp=stamp, rates=rate_table())
