"""The append-only log of changes.

In the database it is partitioned by the month of ``time``: companies.running.months makes the months.
"""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any, Self
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from companies.models.events import EVENT_TYPES, LONGEST_EVENT_TYPE
from companies.models.stamps import Stamp
from companies.models.tenancy import CompanyOwned, CompanyOwnedQuerySet, made_at

LONGEST_ENTITY_ID = 64
A_DAY = timedelta(days=1)
A_MONTH = timedelta(days=31)


class AuditEntryQuerySet(CompanyOwnedQuerySet["AuditEntry"]):
    def record(
        self,
        stamp: Stamp,
        *,
        company_id: UUID,
        action: str,
        entity_type: str,
        entity_id: UUID | str | None,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> "AuditEntry":
        """Writes one change's row, in the change's own transaction. Raises LookupError where ``action`` is no type of
        event: nobody could ask to be told of it."""
        if action not in EVENT_TYPES:
            raise LookupError(f"companies.models.events does not know {action}")
        stamp.changed.add(company_id)
        return self.create(
            company_id=company_id,
            time=stamp.time,
            actor=stamp.actor,
            credential=stamp.credential,
            request_id=stamp.request_id,
            action=action,
            entity_type=entity_type,
            entity_id="" if entity_id is None else str(entity_id),
            before=before,
            after=after,
        )

    def after(self, number: int, *, company_id: UUID) -> Self:
        """A company's entries with a higher number, in their order, as far as they are committed now.

        Which months they lie in is asked first, so that no earlier one is opened. What is committed in between waits
        for the next time: its number is higher than all that are seen here, but its month may be another.
        """
        months = LogMonth.objects.of(company_id).filter(last_number__gt=number)
        found = months.aggregate(first=models.Min("month"), last=models.Max("last_number"))
        if found["last"] is None:
            return self.none()
        since = datetime.combine(found["first"], time(), UTC)
        return (
            self.of(company_id).filter(number__gt=number, number__lte=found["last"], time__gte=since).order_by("number")
        )

    def page_after(self, number: int, *, company_id: UUID, most: int) -> "list[AuditEntry]":
        """The first so many of them.

        Numbers follow each other, so those of a page lie in few months. All that come later are opened only where some
        of these numbers are not asked for, or were taken out.
        """
        last = number + most
        months = LogMonth.objects.of(company_id).filter(last_number__gt=number).order_by("month")
        found = list(months.values_list("month", "first_number", "last_number"))
        if not found:
            return []
        newest = max(end for _, _, end in found)
        near = [month for month, begins, _ in found if begins <= last]
        if near:
            since, until = (datetime.combine(month, time(), UTC) for month in (near[0], near[-1]))
            rows = self.of(company_id).filter(number__gt=number, number__lte=min(last, newest))
            page = list(rows.filter(time__gte=since, time__lt=until + A_MONTH).order_by("number"))
            if len(page) == most or newest <= last:
                return page
        return list(self.after(number, company_id=company_id)[:most])

    def found(self, entry_id: UUID) -> "AuditEntry | None":
        """The entry of this id, looked for first where the id was made."""
        about = made_at(entry_id)
        near = self.filter(time__gt=about - A_DAY, time__lt=about + A_DAY)
        return near.filter(id=entry_id).first() or self.filter(id=entry_id).first()


class AuditEntry(CompanyOwned):
    time = models.DateTimeField()
    actor = models.CharField(max_length=64, null=True)  # noqa: DJ001 - null is the service itself
    credential = models.CharField(max_length=120, blank=True)
    request_id = models.CharField(max_length=64, blank=True)
    action = models.CharField(max_length=LONGEST_EVENT_TYPE)
    entity_type = models.CharField(max_length=40)
    entity_id = models.CharField(max_length=LONGEST_ENTITY_ID, blank=True)
    before = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    after = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    number = models.BigIntegerField(db_default=0, editable=False)  # a trigger counts, in the order of commits

    objects = AuditEntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["company", "number"], name="audit_entry_by_number"),
            models.Index(fields=["company", "time", "id"], name="audit_entry_by_time"),
            models.Index(fields=["company", "entity_type", "entity_id"], name="audit_entry_by_entity"),
            # Who asks for help names a request, from which staff find the company.
            models.Index(fields=["request_id"], name="audit_entry_by_request"),
        ]

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M} {self.action}"


class LogMonthQuerySet(CompanyOwnedQuerySet[Any]):
    def newest_number(self) -> int:
        """Of the last entry in these; 0 where there is none."""
        return self.aggregate(last=models.Max("last_number"))["last"] or 0


class LogMonth(models.Model):
    """The first and the last number that a company's log has in a month of UTC.

    A trigger of the log keeps it and counts on from it, which is what makes numbers unique. It stays when the month is
    taken out of the log: a number is never given twice.
    """

    pk = models.CompositePrimaryKey("company_id", "month")
    company = models.ForeignKey(
        "companies.Company", models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    month = models.DateField()  # its first day
    first_number = models.BigIntegerField()
    last_number = models.BigIntegerField()

    objects = LogMonthQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} {self.last_number}"


def latest_first(now: datetime) -> Callable[[datetime | None], models.Q]:
    """For pages of the log, latest first: what lies within a month before where the page begins, or later, comes first.

    To ask for that opens two months of the log and those to come, not all.
    """

    def near(begins: datetime | None) -> models.Q:
        if begins is not None and (begins.tzinfo is None or begins.year <= 1):  # of a cursor that somebody made up
            return models.Q()
        return models.Q(time__gte=(begins or now) - A_MONTH)

    return near


SECRETS = {"digest", "token_digest", "salt", "old_salt", "company"}


def snapshot(row: models.Model) -> dict[str, Any]:
    """A row's own columns as the log keeps them; never a secret."""
    return {
        field.attname: field.value_from_object(row) for field in row._meta.concrete_fields if field.name not in SECRETS
    }
