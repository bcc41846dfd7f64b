"""Maintenance jobs over all companies, shared by several processes and machines.

Processes that name the same round process each company once. The work for a company and its record are
one transaction with a lock on the company: a killed process leaves nothing half done, and another one
takes the company over.
"""

import logging
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from companies.errors import DomainError
from companies.maintenance.progress_bar import ProgressCallback
from companies.models import Company, MaintenanceCheckpoint
from companies.models.maintenance_checkpoints import MAX_ROUND_NAME_LENGTH

log = logging.getLogger(__name__)

ID_BATCH_SIZE = 1_000  # ids that are read at once

CompanyTask = Callable[[Company], bool]
"""Does the work for one company; False where something went wrong with it, and it is still to be done."""


def add_company_batch_arguments(parser: ArgumentParser) -> None:
    """Add the options of every command that iterates over companies."""
    parser.add_argument("--company", metavar="ID", help="only this company")
    parser.add_argument(
        "--round", metavar="NAME", type=parse_round_name,
        help="name of a round, such as the date; commands with the same round share its companies",
    )  # fmt: skip


def parse_round_name(text: str) -> str:
    """Parse the --round option. Raises ValueError."""
    if not 0 < len(text) <= MAX_ROUND_NAME_LENGTH:
        raise ValueError
    return text


def run_for_each_company(
    task: CompanyTask,
    *,
    work: str,
    name: str | None,
    company_id: str | None,
    now: datetime,
    report_progress: ProgressCallback,
    task_label: str,
) -> Iterator[Company]:
    """Run a task for each company that is still to be done in the round; without a round for every one. Yields
    each company.

    Companies locked by other processes come last and are waited for, since those processes may fail.
    """
    pending_companies = (
        filter_companies(company_id)
        if name is None
        else filter_companies(company_id).exclude(build_done_condition(work, name))
    )
    total, ids_of_others = pending_companies.count(), list[UUID]()
    for number, company_id_to_run in enumerate(iter_company_ids(pending_companies)):
        report_progress(f"{task_label} {number + 1} of {total}", number / max(total, number + 1))
        with transaction.atomic():
            is_free = name is None or acquire_advisory_lock(f"{work}:{company_id_to_run}")
            company = run_company_task(task, company_id_to_run, work=work, name=name, now=now) if is_free else None
        if company is not None:
            yield company
        elif not is_free:
            ids_of_others.append(company_id_to_run)
    for company_id_to_run in ids_of_others:
        report_progress("Waiting for others", 1 - len(ids_of_others) / max(total, 1))
        with transaction.atomic():
            acquire_advisory_lock(f"{work}:{company_id_to_run}", wait_for_others=True)
            company = run_company_task(task, company_id_to_run, work=work, name=name, now=now)
        if company is not None:
            yield company


def wrap_company_task(task: CompanyTask, failures: list[str], *, work: str) -> CompanyTask:
    """Wrap a task so that its failure is rolled back, logged and added to `failures`, and the next companies
    are processed.
    """

    def run_task_safely(company: Company) -> bool:
        try:
            with transaction.atomic():
                return task(company)
        except Exception as error:
            log.exception("%s failed for company %s", work, company.id)
            failures.append(describe_company_failure(company, error))
            return False

    return run_task_safely


def describe_company_failure(company: Company, error: Exception) -> str:
    """Describe a failure by company and kind; details are in the log."""
    return f"{company.id} {error if isinstance(error, LookupError | DomainError) else type(error).__name__}"


def filter_companies(company_id: str | None) -> QuerySet[Company]:
    """Return the company with this id, or all companies."""
    return Company.objects.all() if company_id is None else Company.objects.filter(id=company_id)


def build_done_condition(work: str, name: str) -> Exists:
    """Build the condition for companies already done in the round."""
    return Exists(MaintenanceCheckpoint.objects.filter(company=OuterRef("pk"), work=work, name=name))


def iter_company_ids(rows: QuerySet[Company]) -> Iterator[UUID]:
    """Yield the ids of the companies in batches: there may be a million."""
    ids = rows.order_by("id").values_list("id", flat=True)
    page = list(ids[:ID_BATCH_SIZE])
    while page:
        yield from page
        page = list(ids.filter(id__gt=page[-1])[:ID_BATCH_SIZE])


def acquire_advisory_lock(lock_name: str, *, wait_for_others: bool = False) -> bool:
    """Acquire an advisory lock until the end of the transaction; return whether it was acquired."""
    with connection.cursor() as cursor:
        if wait_for_others:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [lock_name])
            return True
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [lock_name])
        return bool(cursor.fetchone()[0])


def run_company_task(
    task: CompanyTask, company_id: UUID, *, work: str, name: str | None, now: datetime
) -> Company | None:
    """Run the task for one company and record it; return the company, or None if another process has done it."""
    rows = Company.objects.filter(id=company_id)
    company = (rows if name is None else rows.exclude(build_done_condition(work, name))).first()
    if company is None:
        return None
    if task(company) and name is not None:
        MaintenanceCheckpoint.objects.bulk_create(
            [MaintenanceCheckpoint(company=company, work=work, name=name, time=now)],
            update_conflicts=True,
            unique_fields=["company", "work"],
            update_fields=["name", "time"],
        )
    return company
