"""Unit of work: one transaction, company lock, audit log and error mapping for every change.

    with change_company(company, context) as change:
        account = change.lock(Account, account_id)
        change.update(account, "account.updated", **values)

Views, pages, admin and commands call an action; the action runs in this context. Changes of one company
run one after the other, so actions need no lock ordering. Database errors become domain errors.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID, uuid4

import psycopg
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import QuerySet

from companies import closed_periods, db_errors, hooks
from companies.errors import ConflictError, DomainError, NotFoundError, get_error_class
from companies.models import AuditContext, AuditEntry, Company, CompanyOwned, IdIn, parse_id, snapshot_row
from companies.versions import check_version

CHANGE_TIMEOUT_SECONDS = 100  # of one statement, such as the COPY of a large import

ROWS_PER_STATEMENT = 500

M = TypeVar("M", bound=CompanyOwned)
RowStates = tuple[CompanyOwned, dict[str, Any] | None, dict[str, Any] | None]  # a row, before and after the change
TIME_FIELDS = {
    "last_updated_time",
    "last_updated_user_id",
    "last_overall_updated_time",
}  # the audit entry has them itself


class ConcurrentChangeRace(ConflictError):
    """Another change was made at the same time. Try again."""

    code = "concurrent_change"


class ConstraintConflict(ConflictError):
    """The change conflicts with other data of the company."""


@dataclass(frozen=True, slots=True)
class CompanyChange:
    """A running change: the company, its audit context, and the operations on rows."""

    company: Company
    context: AuditContext

    def lock(self, rows: type[M] | QuerySet[M], row_id: UUID | str, *, check_versions: bool = True) -> M:
        """Return the company's row with this id, locked until the end. Raises NotFoundError, and PreconditionFailed for
        another version.
        """
        row = self.lock_or_none(rows, row_id)
        if row is None:
            raise NotFoundError
        if check_versions:
            check_version(row, self.context.expected_versions)
        return row

    def lock_or_none(self, rows: type[M] | QuerySet[M], row_id: UUID | str) -> M | None:
        """Return the company's row with this id, locked until the end; None if there is none."""
        row_uuid = row_id if isinstance(row_id, UUID) else parse_id(row_id)
        queryset = (rows if isinstance(rows, QuerySet) else rows._base_manager.all()).select_for_update(of=("self",))
        row = queryset.filter(company_id=self.company.id, id=row_uuid).first() if row_uuid else None
        if row is not None:
            row.company = self.company
        return row

    def lock_company_row(self) -> Company:
        """Return the company's own row, locked. Raises PreconditionFailed."""
        company = Company.objects.select_for_update().get(id=self.company.id)
        check_version(company, self.context.expected_versions)
        return company

    def create(self, row: M, action: str) -> M:
        """Insert a new row with its audit entry."""
        self.insert(row)
        self.record(row, action, after=snapshot_row(row))
        return row

    def insert(self, row: M) -> M:
        """Insert a new row without an audit entry, for actions that write a more detailed one."""
        row.mark_created(self.context)  # type: ignore[attr-defined] # what is created one by one is Audited
        row.save(force_insert=True)
        return row

    def update(self, row: Any, action: str, **values: Any) -> bool:
        """Store the values that differ, with an audit entry; return whether any did."""
        before = snapshot_row(row)
        is_changed: bool = row.apply_changes(self.context, **values)
        if is_changed:
            self.record(row, action, before=before, after=snapshot_row(row))
        return is_changed

    def create_many(self, rows: Sequence[M], action: str) -> None:
        """Insert many new rows of one model, with an audit entry each."""
        if not rows:
            return
        for row in rows:
            row.mark_created(self.context)  # type: ignore[attr-defined] # as in `insert`
        type(rows[0])._base_manager.bulk_create(rows, batch_size=ROWS_PER_STATEMENT)
        self.record_many([(row, None, snapshot_row(row)) for row in rows], action)

    def update_many(self, changes: Sequence[tuple[M, dict[str, Any]]], action: str) -> None:
        """Store the values that differ of many rows of one model, with an audit entry each, where any does."""
        changed_rows, states, columns = list[M](), list[RowStates](), set[str]()
        for row, values in changes:
            before = snapshot_row(row)
            changed_columns = row.set_changes(self.context, **values)  # type: ignore[attr-defined] # as in `insert`
            if changed_columns:
                columns.update(changed_columns)
                changed_rows.append(row)
                states.append((row, *keep_differences(before, snapshot_row(row))))
        if changed_rows:
            rows = type(changed_rows[0])._base_manager.filter(company_id=self.company.id)
            rows.bulk_update(changed_rows, columns, batch_size=ROWS_PER_STATEMENT)
            rows.filter(IdIn("id", [row.id for row in changed_rows])).update(
                last_updated_time=self.context.time, last_updated_user_id=self.context.actor
            )  # the same for all: as columns of the statement above they would triple its time
            self.record_many(states, action)

    def delete_many(self, rows: Sequence[M], action: str) -> None:
        """Delete many rows of one model, with an audit entry each. Raises the model's ``in_use`` error."""
        if not rows:
            return
        states: list[RowStates] = [(row, snapshot_row(row), None) for row in rows]
        model = type(rows[0])
        try:
            model._base_manager.filter(IdIn("id", [row.id for row in rows]), company_id=self.company.id).delete()
        except IntegrityError:
            raise model.in_use from None
        self.record_many(states, action)

    def move_row(self, rows: QuerySet[M], row_id: UUID, *, action: str, move_down: bool) -> M:
        """Move a row one position up or down in its ``order`` and return it; the first and last row stay.

        Only the moved row gets an audit entry. Raises NotFoundError.
        """
        ordered_rows = list(rows)
        position = next((position for position, row in enumerate(ordered_rows) if row.id == row_id), None)
        if position is None:
            raise NotFoundError
        moved_row = ordered_rows.pop(position)
        ordered_rows.insert(max(0, position + (1 if move_down else -1)), moved_row)
        for order, row in enumerate(ordered_rows):
            if row is moved_row:
                self.update(row, action, order=order)
            else:
                row.apply_changes(self.context, order=order)  # type: ignore[attr-defined] # rows with an order are Audited
        return moved_row

    def delete(self, row: CompanyOwned, action: str, *, before: dict[str, Any] | None = None) -> AuditEntry:
        """Delete the row, with an audit entry. Raises the model's ``in_use`` error if other rows reference it."""
        before = snapshot_row(row) if before is None else before
        try:
            row.delete()
        except IntegrityError:
            raise type(row).in_use from None
        return self.record(row, action, before=before)

    def record(
        self, row: Any, action: str, *, before: dict[str, Any] | None = None, after: dict[str, Any] | None = None
    ) -> AuditEntry:
        """Write the audit entry of one row; ``action`` begins with its type, as in ``account.updated``.

        For an update only the values that differ are kept.
        """
        if before is not None and after is not None:
            before, after = keep_differences(before, after)
        return self.record_bulk(action, action.partition(".")[0], entity_id=row.id, before=before, after=after)

    def record_many(self, states: Sequence[RowStates], action: str) -> None:
        """Write the audit entries of many rows; of an update, `states` has only the values that differ."""
        entries = [
            AuditEntry.objects.build_entry(
                self.context,
                company_id=self.company.id,
                action=action,
                entity_type=action.partition(".")[0],
                entity_id=row.id,
                before=before,
                after=after,
            )
            for row, before, after in states
        ]
        AuditEntry.objects.bulk_create(entries, batch_size=ROWS_PER_STATEMENT)
        if running := _running_change.get():
            running.entries += entries

    def record_bulk(
        self,
        action: str,
        entity_type: str,
        *,
        entity_id: UUID | None = None,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> AuditEntry:
        """Write one audit entry for a change of many rows, with its counts."""
        entry = AuditEntry.objects.build_entry(
            self.context,
            company_id=self.company.id,
            action=action,
            entity_type=entity_type,
            entity_id=entity_id,
            before=before,
            after=after,
        )
        entry.save(force_insert=True)
        if running := _running_change.get():
            running.entries.append(entry)
        return entry


def keep_differences(before: dict[str, Any], after: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values that differ between two states of a row."""
    names = [name for name in {**before, **after} if before.get(name) != after.get(name) and name not in TIME_FIELDS]
    return {name: before.get(name) for name in names}, {name: after.get(name) for name in names}


@dataclass(slots=True)
class RunningChange:
    """The outermost change that is running: its token, the fields it names for closed periods, and the audit entries it
    has written so far.
    """

    token: str
    closed_pointers: Collection[str] = ()
    entries: list[AuditEntry] = field(default_factory=list)


_running_change: ContextVar[RunningChange | None] = ContextVar("running_change", default=None)


@contextmanager
def change_company(
    company: Company, *, context: AuditContext, closed_pointers: Collection[str] = ()
) -> Iterator[CompanyChange]:
    """Run one change of a company's data in a transaction.

    Form checks in ``claims`` run in it too. Changes can be nested; the inner one is part of the outer one.
    Refreshes the company's settings that results depend on.

    Args:
        closed_pointers: the fields that PeriodClosed names where only the database sees that a closed figure changes.

    Raises:
        ConcurrentChangeRace, and the error declared beside a violated constraint
    """
    outer = _running_change.get()
    running = outer or RunningChange(token=uuid4().hex, closed_pointers=closed_pointers)
    reset = _running_change.set(running)
    try:
        with transaction.atomic():
            lock_company(company)
            while context.claims:
                context.claims.pop()()
            yield CompanyChange(company=company, context=context)
            if outer is None and company.reported_through is not None:
                hooks.change_completed.run(company=company, entries=running.entries)
            if company.id in context.touched_company_ids:
                Company.objects.touch(company.id, context.time)  # last, so that the row is locked for the shortest time
    except (DatabaseError, psycopg.DatabaseError) as error:
        domain_error = translate_database_error(error, company, closed_pointers or running.closed_pointers)
        if domain_error is None:
            raise  # unchanged: error handlers look at the driver's error, its cause
        raise domain_error from error
    finally:
        _running_change.reset(reset)


def lock_company(company: Company) -> None:
    """Lock the company for changes until the end of the transaction; waits for other changes.

    The database gets the change's token: triggers store it with the figures of reported months that change.

    Where statements have a time limit (in the web server), those of a change get a longer one.
    """
    options = str(connection.settings_dict["OPTIONS"].get("options", ""))
    limit = f"SET LOCAL statement_timeout = '{CHANGE_TIMEOUT_SECONDS}s'; " if "statement_timeout" in options else ""
    running = _running_change.get()
    token = f"SET LOCAL tidebook.change = '{running.token}'; " if running else ""
    statement = (
        "SELECT pg_advisory_xact_lock(hashtextextended(%(turn)s, 0)); "
        "SELECT base_currency, pl_recognize_revenue_on_invoice, closed_through, reported_through "
        "FROM companies_company WHERE id = %(company)s FOR KEY SHARE"
    )
    with connection.cursor() as cursor:  # two statements: the second must see what the first waited for
        cursor.execute(limit + token + statement, {"turn": f"ledger:{company.id}", "company": company.id})
        while cursor.description is None or cursor.description[0].name != "base_currency":
            cursor.nextset()
        (
            company.base_currency,
            company.pl_recognize_revenue_on_invoice,
            company.closed_through,
            company.reported_through,
        ) = cursor.fetchone()


def translate_database_error(
    error: Exception, company: Company, closed_pointers: Collection[str] = ()
) -> DomainError | None:
    """Return the domain error for a database error: a lost race, or the error of a violated constraint; None
    for any other.

    COPY raises the driver's own errors.
    """
    driver_error = db_errors.find_driver_error(error)
    if driver_error is None:
        return None
    if db_errors.is_race_error(driver_error):
        return ConcurrentChangeRace()
    name = db_errors.get_constraint_name(driver_error)
    if name is not None and db_errors.is_constraint_named(name, closed_periods.TRIGGER_NAME):
        return closed_periods.PeriodClosed.for_company(company, *closed_pointers)
    return None if name is None else build_constraint_error(name)


def build_constraint_error(name: str) -> DomainError:
    """Build the domain error of a constraint from the code and message declared with it."""
    constraint = db_errors.find_constraint(name)
    if constraint is None or not constraint.violation_error_code:
        return ConstraintConflict()
    return get_error_class(constraint.violation_error_code)(str(constraint.violation_error_message))
