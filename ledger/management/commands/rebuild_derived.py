"""Rebuild the derived tables from the facts, or check that they match."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from companies import hooks
from companies.change import change_company
from companies.maintenance import company_batches, progress_bar
from companies.models import AuditContext, Company


class Command(BaseCommand):
    help = "Rebuild the derived tables of all companies. With --check, only compare them and fail on differences."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--check", action="store_true", help="only compare; exit with an error on differences")
        company_batches.add_company_batch_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        differences: list[str] = []
        failures: list[str] = []

        def is_consistent(company: Company) -> bool:
            result = self.check_company(company)
            differences.extend(result)
            return not result

        if options["check"]:
            handle_company, work, progress_label = is_consistent, "rebuild_derived --check", "Checking company"
        else:
            handle_company, work, progress_label = self.rebuild_company, "rebuild_derived", "Rebuilding company"
        guarded = company_batches.wrap_company_task(handle_company, failures, work=work)
        selection = {"name": options["round"], "company_id": options["company"]}
        with progress_bar.draw_progress_bar() as show_progress:
            now = timezone.now()
            for _ in company_batches.run_for_each_company(
                guarded, work=work, **selection, now=now, report_progress=show_progress, task_label=progress_label
            ):
                pass
        for line in (*differences, *failures):
            self.stderr.write(line)
        if failures:
            raise CommandError(f"{len(failures)} companies failed. See the list above and the log.")
        if differences:
            raise CommandError(f"{len(differences)} differences between derived and source data.")
        self.stdout.write("All derived tables are correct." if options["check"] else "Derived tables rebuilt.")

    def check_company(self, company: Company) -> list[str]:
        with transaction.atomic():
            differences = hooks.find_derived_differences.run(company.id)
            return [f"{company.id} {line}" for lines in differences for line in lines]

    def rebuild_company(self, company: Company) -> bool:
        with change_company(
            company, context=AuditContext(time=timezone.now())
        ):  # concurrent postings would be lost or counted twice
            hooks.rebuild_derived_tables.run(company.id)
        return True
