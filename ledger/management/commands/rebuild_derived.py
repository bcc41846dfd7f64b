"""Rebuilds every derived table from the facts, or proves them."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from companies import hooks
from companies.changing import changing
from companies.models import Company, Stamp
from companies.running import progress, rounds


class Command(BaseCommand):
    help = "Rebuild the derived tables of every company; with --check only compare, and fail on a difference."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing; exit non-zero on a difference")
        rounds.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        wrong: list[str] = []
        failed: list[str] = []

        def checked(company: Company) -> bool:
            found = self.check_one(company)
            wrong.extend(found)
            return not found

        if options["check"]:
            act, work, doing = checked, "rebuild_derived --check", "Checking company"
        else:
            act, work, doing = self.rebuild_one, "rebuild_derived", "Rebuilding company"
        guarded = rounds.go_on_after_failures(act, failed, work=work)
        wanted = {"name": options["round"], "company_id": options["company"]}
        with progress.bar(self.stderr) as tell:
            now = timezone.now()
            for _ in rounds.each_company(guarded, work=work, **wanted, now=now, tell=tell, doing=doing):
                pass
        for line in (*wrong, *failed):
            self.stderr.write(line)
        if failed:
            raise CommandError(f"{len(failed)} companies failed; they are named above, and the log says why.")
        if wrong:
            raise CommandError(f"{len(wrong)} differences between derived tables and facts.")
        self.stdout.write("Derived tables are exact." if options["check"] else "Derived tables are rebuilt.")

    def check_one(self, company: Company) -> list[str]:
        with transaction.atomic():
            differences = hooks.find_derived_differences.run(company.id)
            return [f"{company.id} {line}" for lines in differences for line in lines]

    def rebuild_one(self, company: Company) -> bool:
        with changing(company, stamp=Stamp(time=timezone.now())):  # what others post meanwhile would be lost, or twice
            hooks.rebuild_derived_tables.run(company.id)
        return True
