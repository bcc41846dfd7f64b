"""Ends trials whose time is over, brings recurring revenue, the metrics and the website's logo of every company up to
date, and warns where cash will not last."""

import logging
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
from ledger.money.rates import rate_table

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "End trials, recompute every company's metrics and recurring revenue, warn of low cash. Run daily."

    def add_arguments(self, parser: Any) -> None:
        rounds.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        stamp = Stamp(time=timezone.now())
        done: list[UUID] = []
        failed: list[str] = []

        def bring_up_to_date(company: Company) -> bool:
            end_trial(company=company, stamp=stamp, becomes=settings.TRIAL_ENDS_AS)
            refresh(company, stamp)
            done.append(company.id)
            return True

        act = rounds.go_on_after_failures(bring_up_to_date, failed, work="refresh_metrics")
        wanted = {"name": options["round"], "company_id": options["company"]}
        with progress.bar(self.stderr) as tell:
            for company in rounds.each_company(
                act, work="refresh_metrics", **wanted, now=stamp.time, tell=tell, doing="Company"
            ):
                refresh_logo(company, stamp, failed)
        for failure in failed:
            self.stderr.write(failure)
        self.stdout.write(f"Metrics of {len(done)} companies are up to date.")
        if failed:
            companies = {line.partition(" ")[0] for line in failed}
            raise CommandError(f"{len(companies)} companies failed; they are named above, and the log says why.")


def refresh_logo(company: Company, stamp: Stamp, failed: list[str]) -> None:
    """Fetch the logo of the company's website, in no transaction: a site may take its time, and send anything."""
    try:
        site_logos.refresh(company=company, now=stamp.time)
    except Exception as error:
        log.exception("refresh_metrics failed for the logo of company %s", company.id)
        failed.append(rounds.describe_failure(company, error))


@transaction.atomic
def refresh(company: Company, stamp: Stamp) -> None:
    """Bring one company up to date. Raises MissingRate."""
    recurring.refresh(company)
    metrics.store_metrics(company=company, stamp=stamp)
    low_cash.warn(company=company, stamp=stamp, rates=rate_table())
