"""The append-only audit log, which is also the event feed."""

from typing import Any, Self
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from companies.models.audit_context import AuditContext
from companies.models.events import EVENT_TYPES, MAX_EVENT_TYPE_LENGTH
from companies.models.tenancy import CompanyOwned, CompanyOwnedQuerySet

MAX_ENTITY_ID_LENGTH = 64


class AuditEntryQuerySet(CompanyOwnedQuerySet["AuditEntry"]):
    def build_entry(
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
        """Return an entry to save within the transaction of the change.

        Raises:
            LookupError: `action` is not a declared event type.
        """
        if action not in EVENT_TYPES:
            raise LookupError(f"companies.models.events does not know {action}")
        context.touched_company_ids.add(company_id)
        return self.model(
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

    def after_number(self, number: int) -> Self:
        """Entries with a higher number, in order. No later commit adds one before an entry that is visible."""
        return self.filter(number__gt=number).order_by("number")

    def get_newest_number(self) -> int:
        """Return the number of a company's last committed entry; 0 if there is none."""
        return self.aggregate(newest=models.Max("number"))["newest"] or 0


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
        constraints = [models.UniqueConstraint(fields=["company", "number"], name="audit_entry_number_once")]
        indexes = [
            models.Index(fields=["company", "time", "id"], name="audit_entry_by_time"),
            models.Index(fields=["company", "entity_type", "entity_id"], name="audit_entry_by_entity"),
            # Support requests name a request id, from which staff find the company.
            models.Index(fields=["request_id"], name="audit_entry_by_request"),
        ]

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M} {self.action}"


SECRET_FIELDS = {"digest", "token_digest", "salt", "old_salt", "company"}


def snapshot_row(row: models.Model) -> dict[str, Any]:
    """Return a row's own columns for the audit log, without secrets."""
    return {
        field.attname: field.value_from_object(row)
        for field in row._meta.concrete_fields
        if field.name not in SECRET_FIELDS
    }
