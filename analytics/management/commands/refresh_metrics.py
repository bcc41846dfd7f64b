"""End trials and sandboxes, refresh recurring revenue, metrics and website logos of every company, warn of low cash."""

import logging
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from analytics.queries import company_metrics, low_cash, recurring_revenue
from companies.actions import sandboxes
from companies.actions import site_logo as site_logos
from companies.actions.companies import end_trial
from companies.maintenance import company_batches, progress_bar
from companies.models import AuditContext, Company
from ledger.money.rates import get_rate_table

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "End trials and sandboxes, update metrics and recurring revenue, and warn of low cash. Run daily."

    def add_arguments(self, parser: Any) -> None:
        company_batches.add_company_batch_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        context = AuditContext(time=timezone.now())
        done: list[UUID] = []
        deleted: list[UUID] = []
        failed: list[str] = []

        def refresh_company(company: Company) -> bool:
            if sandboxes.delete_expired_sandbox(company=company, context=context):
                deleted.append(company.id)
                return False  # there is no company left to record the round for
            sandboxes.warn_of_sandbox_expiry(company=company, context=context)
            end_trial(company=company, context=context, next_status=settings.TRIAL_ENDS_AS)
            refresh_company_metrics(company, context)
            done.append(company.id)
            return True

        refresh_one_company = company_batches.wrap_company_task(refresh_company, failed, work="refresh_metrics")
        filters = {"name": options["round"], "company_id": options["company"]}
        with progress_bar.draw_progress_bar() as report_progress:
            for company in company_batches.run_for_each_company(
                refresh_one_company,
                work="refresh_metrics",
                **filters,
                now=context.time,
                report_progress=report_progress,
                task_label="Company",
            ):
                refresh_website_logo(company, context, failed)
        for failure in failed:
            self.stderr.write(failure)
        self.stdout.write(f"Metrics of {len(done)} companies updated.")
        if deleted:
            self.stdout.write(f"{len(deleted)} expired sandboxes deleted.")
        if failed:
            companies = {line.partition(" ")[0] for line in failed}
            raise CommandError(f"{len(companies)} companies failed. They are listed above; see the log for details.")


def refresh_website_logo(company: Company, context: AuditContext, failed: list[str]) -> None:
    """Fetch the logo of the company's website, outside of a transaction, since a site may be slow."""
    try:
        site_logos.refresh_site_logo(company=company, now=context.time)
    except Exception as error:
        log.exception("refresh_metrics could not update the logo of company %s", company.id)
        failed.append(company_batches.describe_company_failure(company, error))


@transaction.atomic
def refresh_company_metrics(company: Company, context: AuditContext) -> None:
    """Refresh one company's recurring revenue and metrics, and warn of low cash.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    recurring_revenue.refresh_recurring_revenue(company)
    company_metrics.store_company_metrics(company=company, context=context)
    low_cash.warn_of_low_cash(company=company, context=context, rates=get_rate_table())
