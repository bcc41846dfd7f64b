"""One way to change something. A door (endpoint, page, admin, command) reads, calls an act, answers; the act runs here.

    with changing(company, stamp=stamp) as change:
        account = change.locked(Account, account_id)
        change.update(account, "account.updated", **values)

It is the change's transaction and its turn: changes of one company come one after the other, so that none needs to sort
its locks. What goes wrong in it is one of our refusals at every door, also where the database has the last word.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import QuerySet

from companies import constraints
from companies.errors import Conflict, Missing, Refusal, of_code
from companies.models import AuditEntry, Company, CompanyOwned, Stamp, id_from, snapshot
from companies.versions import unless_stale

CHANGE_TIMEOUT_SECONDS = 100  # of one statement of a change, such as the COPY of a large import

M = TypeVar("M", bound=CompanyOwned)
WHEN = {"last_updated_time", "last_updated_user_id", "last_overall_updated_time"}  # an entry of the log says it itself


class SameMoment(Conflict):
    """Another change came at the same moment. Try again."""

    code = "concurrent_change"


class Contradiction(Conflict):
    """The change contradicts other data of the company."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an act changes: whose, by whom, and the words for doing it."""

    company: Company
    stamp: Stamp

    def locked(self, rows: type[M] | QuerySet[M], row_id: UUID | str, *, versioned: bool = True) -> M:
        """The company's row of this id, nobody else's until the end. Raises Missing, and Stale where it is not what the
        caller has seen."""
        row = self.locked_or_none(rows, row_id)
        if row is None:
            raise Missing
        if versioned:
            unless_stale(row, self.stamp.expected)
        return row

    def locked_or_none(self, rows: type[M] | QuerySet[M], row_id: UUID | str) -> M | None:
        wanted = row_id if isinstance(row_id, UUID) else id_from(row_id)
        found = (rows if isinstance(rows, QuerySet) else rows._base_manager.all()).select_for_update(of=("self",))
        row = found.filter(company_id=self.company.id, id=wanted).first() if wanted else None
        if row is not None:
            row.company = self.company
        return row

    def locked_company(self) -> Company:
        """The company's own row. Raises Stale."""
        company = Company.objects.select_for_update().get(id=self.company.id)
        unless_stale(company, self.stamp.expected)
        return company

    def create(self, row: M, action: str) -> M:
        """Stores a new row and logs it."""
        self.store(row)
        self.record(row, action, after=snapshot(row))
        return row

    def store(self, row: M) -> M:
        """Stores a new row whose entry in the log says more than its columns."""
        row.stamp_new(self.stamp)  # type: ignore[attr-defined] # what is created one by one is Audited
        row.save(force_insert=True)
        return row

    def update(self, row: Any, action: str, **values: Any) -> bool:
        """Stores the values that differ and logs them; True where one did."""
        before = snapshot(row)
        changed: bool = row.change(self.stamp, **values)
        if changed:
            self.record(row, action, before=before, after=snapshot(row))
        return changed

    def step(self, rows: QuerySet[M], row_id: UUID, *, action: str, down: bool) -> M:
        """Moves a row one place up or down among rows that come in their ``order``, and returns it; who is first or
        last stays. The log tells it of the one that was moved: the others make room. Raises Missing."""
        listed = list(rows)
        place = next((place for place, row in enumerate(listed) if row.id == row_id), None)
        if place is None:
            raise Missing
        moved = listed.pop(place)
        listed.insert(max(0, place + (1 if down else -1)), moved)
        for order, row in enumerate(listed):
            if row is moved:
                self.update(row, action, order=order)
            else:
                row.change(self.stamp, order=order)  # type: ignore[attr-defined] # rows with an order are Audited
        return moved

    def delete(self, row: CompanyOwned, action: str, *, before: dict[str, Any] | None = None) -> AuditEntry:
        """Deletes the row and logs it. Raises what its model names in ``in_use`` where others refer to it."""
        before = snapshot(row) if before is None else before
        try:
            row.delete()
        except IntegrityError:
            raise type(row).in_use from None
        return self.record(row, action, before=before)

    def record(
        self, row: Any, action: str, *, before: dict[str, Any] | None = None, after: dict[str, Any] | None = None
    ) -> AuditEntry:
        """Logs what became of one row; ``action`` begins with its type, as in ``account.updated``.

        Of one that was and is, only what differs is kept.
        """
        if before is not None and after is not None:
            names = [name for name in {**before, **after} if before.get(name) != after.get(name) and name not in WHEN]
            before, after = ({name: state.get(name) for name in names} for state in (before, after))
        return self.record_many(action, action.partition(".")[0], entity_id=row.id, before=before, after=after)

    def record_many(
        self,
        action: str,
        entity_type: str,
        *,
        entity_id: UUID | None = None,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> AuditEntry:
        """Logs an act on many rows at once, with its counts."""
        return AuditEntry.objects.record(
            self.stamp,
            company_id=self.company.id,
            action=action,
            entity_type=entity_type,
            entity_id=entity_id,
            before=before,
            after=after,
        )


@contextmanager
def changing(company: Company, *, stamp: Stamp) -> Iterator[Change]:
    """One change of a company's data, all of it or nothing.

    What its author claims besides, as that a form comes for the first time, is asked in it. An act may stand in
    another's change: it is part of that one then. What the company's results follow from is read anew into ``company``.
    Raises SameMoment, and what the database refused by its name.
    """
    try:
        with transaction.atomic():
            take_turn(company)
            while stamp.claims:
                stamp.claims.pop()()
            yield Change(company=company, stamp=stamp)
            if company.id in stamp.changed:
                Company.objects.touch(company.id, stamp.time)  # last, so that its lock is held for the shortest time
    except (DatabaseError, psycopg.DatabaseError) as error:
        refusal = refusal_of(error)
        if refusal is None:
            raise  # as it is: whoever answers looks for the driver's own error, which is its cause
        raise refusal from error


def take_turn(company: Company) -> None:
    """Wait until no other change of the company is under way; the lock is held to the end of the transaction.

    Where statements have a time limit (in the web server), those of a change get a longer one.
    """
    options = str(connection.settings_dict["OPTIONS"].get("options", ""))
    limit = f"SET LOCAL statement_timeout = '{CHANGE_TIMEOUT_SECONDS}s'; " if "statement_timeout" in options else ""
    turn = (
        "SELECT pg_advisory_xact_lock(hashtextextended(%(turn)s, 0)); "
        "SELECT base_currency, pl_recognize_revenue_on_invoice FROM companies_company WHERE id = %(company)s "
        "FOR KEY SHARE"
    )
    with connection.cursor() as cursor:  # two statements, for the second one must see what the first waited for
        cursor.execute(limit + turn, {"turn": f"ledger:{company.id}", "company": company.id})
        while cursor.description is None or cursor.description[0].name != "base_currency":
            cursor.nextset()
        company.base_currency, company.pl_recognize_revenue_on_invoice = cursor.fetchone()


def refusal_of(error: Exception) -> Refusal | None:
    """What a word of the database means to the caller: a lost race, or a constraint by the code that stands beside it.

    None for what is no fault of the caller. COPY raises the driver's own errors.
    """
    told = constraints.of_driver(error)
    if told is None:
        return None
    if constraints.lost_a_race(told):
        return SameMoment()
    name = constraints.violated(told)
    return None if name is None else refused(name)


def refused(name: str) -> Refusal:
    """The refusal of a constraint: beside it stand the code of one of ours, and what to say."""
    constraint = constraints.named(name)
    if constraint is None or not constraint.violation_error_code:
        return Contradiction()
    return of_code(constraint.violation_error_code)(str(constraint.violation_error_message))
