"""Audit context: who changes something and when. Every operation takes one, so that none reads the clock."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from django.db import models

from companies.versions import ExpectedVersions

MAX_ACTOR_LENGTH = 64


@dataclass(frozen=True, slots=True)
class AuditContext:
    """Author, time and request of a change."""

    time: datetime
    actor: str | None = None  # user id, apiKey:<id>, or None for the service
    user_id: UUID | None = None  # user to notify; None for keys and the service
    credential: str = ""
    request_id: str = ""
    expected_versions: ExpectedVersions = None  # versions of the row that the caller has seen
    claims: list[Callable[[], None]] = field(default_factory=list, compare=False)  # run once, in the first change
    touched_company_ids: set[UUID] = field(
        default_factory=set, compare=False
    )  # companies with an audit entry of this change


class Audited(models.Model):
    """Audit columns of a resource; times in UTC."""

    created_time = models.DateTimeField()
    created_user_id = models.CharField(max_length=MAX_ACTOR_LENGTH, null=True)  # noqa: DJ001 - null is "the service" on the wire
    last_updated_time = models.DateTimeField()
    last_updated_user_id = models.CharField(max_length=MAX_ACTOR_LENGTH, null=True)  # noqa: DJ001

    class Meta:
        abstract = True

    def mark_created(self, context: AuditContext) -> Self:
        """Set the audit columns of a new row."""
        self.created_time = self.last_updated_time = context.time
        self.created_user_id = self.last_updated_user_id = context.actor
        return self

    def mark_updated(self, context: AuditContext) -> None:
        """Update the audit columns when data stored beside the row changed."""
        self.last_updated_time, self.last_updated_user_id = context.time, context.actor
        self.save(update_fields=["last_updated_time", "last_updated_user_id"])

    def apply_changes(self, context: AuditContext, **values: Any) -> bool:
        """Store the values that differ, in one statement; return whether any did."""
        changed_columns = self.set_changes(context, **values)
        if changed_columns:
            self.save(update_fields=[*changed_columns, "last_updated_time", "last_updated_user_id"])
        return bool(changed_columns)

    def set_changes(self, context: AuditContext, **values: Any) -> list[str]:
        """Set the values that differ, with the audit columns if any does; return their columns."""
        changed_values = {name: value for name, value in values.items() if getattr(self, name) != value}
        if not changed_values:
            return []
        for name, value in changed_values.items():
            setattr(self, name, value)
        self.last_updated_time, self.last_updated_user_id = context.time, context.actor
        return list(changed_values)
