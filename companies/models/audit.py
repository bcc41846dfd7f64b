"""The append-only audit log.

The table is partitioned by the month of ``time``; companies.audit.partitions creates the partitions.
"""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any, Self
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from companies.models.audit_context import AuditContext
from companies.models.events import EVENT_TYPES, MAX_EVENT_TYPE_LENGTH
from companies.models.tenancy import CompanyOwned, CompanyOwnedQuerySet, get_id_time

MAX_ENTITY_ID_LENGTH = 64
ONE_DAY = timedelta(days=1)
ONE_MONTH = timedelta(days=31)


class AuditEntryQuerySet(CompanyOwnedQuerySet["AuditEntry"]):
    def record(
        self,
        context: AuditContext,
        *,
        company_id: UUID,
        action: str,
        entity_type: str,
        entity_id: UUID | str | None,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> "AuditEntry":
        """Write an entry within the transaction of the change. Raises LookupError if `action` is not a declared
        event type.
        """
        if action not in EVENT_TYPES:
            raise LookupError(f"companies.models.events does not know {action}")
        context.touched_company_ids.add(company_id)
        return self.create(
            company_id=company_id,
            time=context.time,
            actor=context.actor,
            credential=context.credential,
            request_id=context.request_id,
            action=action,
            entity_type=entity_type,
            entity_id="" if entity_id is None else str(entity_id),
            before=before,
            after=after,
        )

    def after_number(self, number: int, *, company_id: UUID) -> Self:
        """Return a company's committed entries with a higher number, in order.

        The months to read are looked up first, so that no older partition is opened. Entries committed in
        between are left for the next call, since they may lie in another month.
        """
        months = LogMonth.objects.for_company(company_id).filter(last_number__gt=number)
        range_of_months = months.aggregate(first=models.Min("month"), last=models.Max("last_number"))
        if range_of_months["last"] is None:
            return self.none()
        start_time = datetime.combine(range_of_months["first"], time(), UTC)
        return (
            self.for_company(company_id)
            .filter(number__gt=number, number__lte=range_of_months["last"], time__gte=start_time)
            .order_by("number")
        )

    def list_page_after(self, number: int, *, company_id: UUID, limit: int) -> "list[AuditEntry]":
        """Return at most `limit` entries with a higher number, in order.

        Numbers are consecutive, so a page lies in few months. All later months are opened only if numbers are
        filtered out or missing.
        """
        last = number + limit
        months = LogMonth.objects.for_company(company_id).filter(last_number__gt=number).order_by("month")
        month_ranges = list(months.values_list("month", "first_number", "last_number"))
        if not month_ranges:
            return []
        newest = max(end for _, _, end in month_ranges)
        near_months = [month for month, begins, _ in month_ranges if begins <= last]
        if near_months:
            start_time, end_month_time = (
                datetime.combine(month, time(), UTC) for month in (near_months[0], near_months[-1])
            )
            rows = self.for_company(company_id).filter(number__gt=number, number__lte=min(last, newest))
            page = list(rows.filter(time__gte=start_time, time__lt=end_month_time + ONE_MONTH).order_by("number"))
            if len(page) == limit or newest <= last:
                return page
        return list(self.after_number(number, company_id=company_id)[:limit])

    def find_by_id(self, entry_id: UUID) -> "AuditEntry | None":
        """Return the entry with this id, looking first near the time encoded in the id."""
        id_time = get_id_time(entry_id)
        near_entries = self.filter(time__gt=id_time - ONE_DAY, time__lt=id_time + ONE_DAY)
        return near_entries.filter(id=entry_id).first() or self.filter(id=entry_id).first()


class AuditEntry(CompanyOwned):
    time = models.DateTimeField()
    actor = models.CharField(max_length=64, null=True)  # noqa: DJ001 - null is the service itself
    credential = models.CharField(max_length=120, blank=True)
    request_id = models.CharField(max_length=64, blank=True)
    action = models.CharField(max_length=MAX_EVENT_TYPE_LENGTH)
    entity_type = models.CharField(max_length=40)
    entity_id = models.CharField(max_length=MAX_ENTITY_ID_LENGTH, blank=True)
    before = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    after = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    number = models.BigIntegerField(db_default=0, editable=False)  # set by a trigger, in commit order

    objects = AuditEntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["company", "number"], name="audit_entry_by_number"),
            models.Index(fields=["company", "time", "id"], name="audit_entry_by_time"),
            models.Index(fields=["company", "entity_type", "entity_id"], name="audit_entry_by_entity"),
            # Support requests name a request id, from which staff find the company.
            models.Index(fields=["request_id"], name="audit_entry_by_request"),
        ]

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M} {self.action}"


class LogMonthQuerySet(CompanyOwnedQuerySet[Any]):
    def get_newest_number(self) -> int:
        """Return the number of the last entry in these months; 0 if there is none."""
        return self.aggregate(last=models.Max("last_number"))["last"] or 0


class LogMonth(models.Model):
    """First and last entry number of a company's log in a UTC month.

    Maintained by a trigger, which continues counting from it and so keeps numbers unique. The row stays when
    the month is detached from the log: a number is never reused.
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


def build_recent_condition(now: datetime) -> Callable[[datetime | None], models.Q]:
    """Build the condition for paging the log newest first: entries up to a month before the page's start, or
    later.

    It opens two partitions and future ones instead of all.
    """

    def build_time_condition(begins: datetime | None) -> models.Q:
        if begins is not None and (begins.tzinfo is None or begins.year <= 1):  # a forged cursor
            return models.Q()
        return models.Q(time__gte=(begins or now) - ONE_MONTH)

    return build_time_condition


SECRET_FIELDS = {"digest", "token_digest", "salt", "old_salt", "company"}


def snapshot_row(row: models.Model) -> dict[str, Any]:
    """Return a row's own columns for the audit log, without secrets."""
    return {
        field.attname: field.value_from_object(row)
        for field in row._meta.concrete_fields
        if field.name not in SECRET_FIELDS
    }
