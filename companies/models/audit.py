"""The append-only log of changes."""

from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from companies.models.events import EVENT_TYPES, LONGEST_EVENT_TYPE
from companies.models.stamps import Stamp
from companies.models.tenancy import CompanyOwned, CompanyOwnedQuerySet

LONGEST_ENTITY_ID = 64


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

    def newest_number(self) -> int:
        """Of the last entry of these; 0 where there is none."""
        return self.order_by("-number").values_list("number", flat=True).first() or 0


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
        constraints = [models.UniqueConstraint(fields=["company", "number"], name="audit_entry_numbered_once")]
        indexes = [
            models.Index(fields=["company", "time", "id"], name="audit_entry_by_time"),
            models.Index(fields=["company", "entity_type", "entity_id"], name="audit_entry_by_entity"),
            # Who asks for help names a request, from which staff find the company.
            models.Index(fields=["request_id"], name="audit_entry_by_request"),
        ]

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M} {self.action}"


SECRETS = {"digest", "token_digest", "salt", "old_salt", "company"}


def snapshot(row: models.Model) -> dict[str, Any]:
    """A row's own columns as the log keeps them; never a secret."""
    return {
        field.attname: field.value_from_object(row) for field in row._meta.concrete_fields if field.name not in SECRETS
    }
