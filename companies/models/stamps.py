"""Who changed something and when; every act takes one, so that no act reads the clock."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from django.db import models

from companies.versions import Expected

LONGEST_ACTOR = 64


@dataclass(frozen=True, slots=True)
class Stamp:
    """One change's author and time."""

    time: datetime
    actor: str | None = None  # a user's id, apiKey:<id>, or None for the service itself
    user_id: UUID | None = None  # the person to tell; None for keys and for the service
    credential: str = ""
    request_id: str = ""
    expected: Expected = None  # the versions of the row that its author has seen
    claims: list[Callable[[], None]] = field(default_factory=list, compare=False)  # asked once, in its first change
    changed: set[UUID] = field(default_factory=set, compare=False)  # companies in whose audit log it left a row


class Audited(models.Model):
    """The audit fields of a resource; times in UTC."""

    created_time = models.DateTimeField()
    created_user_id = models.CharField(max_length=LONGEST_ACTOR, null=True)  # noqa: DJ001 - null is "the service" on the wire
    last_updated_time = models.DateTimeField()
    last_updated_user_id = models.CharField(max_length=LONGEST_ACTOR, null=True)  # noqa: DJ001

    class Meta:
        abstract = True

    def stamp_new(self, stamp: Stamp) -> Self:
        """Marks the row as created by this change."""
        self.created_time = self.last_updated_time = stamp.time
        self.created_user_id = self.last_updated_user_id = stamp.actor
        return self

    def touch(self, stamp: Stamp) -> None:
        """Marks the row as changed where what changed is kept beside it."""
        self.last_updated_time, self.last_updated_user_id = stamp.time, stamp.actor
        self.save(update_fields=["last_updated_time", "last_updated_user_id"])

    def change(self, stamp: Stamp, **values: Any) -> bool:
        """Stores the values that differ, in one statement that names its columns; True where one did."""
        changed = {name: value for name, value in values.items() if getattr(self, name) != value}
        if not changed:
            return False
        for name, value in changed.items():
            setattr(self, name, value)
        self.last_updated_time, self.last_updated_user_id = stamp.time, stamp.actor
        self.save(update_fields=[*changed, "last_updated_time", "last_updated_user_id"])
        return True
