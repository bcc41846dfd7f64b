"""Reading notifications and deleting them."""

from collections.abc import Sequence
from uuid import UUID

from companies.models import AuditEntry, Company, Stamp
from notifications.models import Notification, NotificationQuerySet


def read(*, notification: Notification, stamp: Stamp) -> Notification:
    """Marks one as read; the first time stays."""
    if notification.read_time is None:
        notification.change(stamp, read_time=stamp.time)
        AuditEntry.objects.record(
            stamp,
            company_id=notification.company_id,
            action="notification.read",
            entity_type="notification",
            entity_id=notification.id,
        )
    return notification


def read_all(*, company: Company, stamp: Stamp) -> int:
    """Marks all that the caller has not read; how many there were."""
    count = (
        Notification.objects.of(company.id)
        .to(stamp.user_id)
        .unread()
        .update(read_time=stamp.time, last_updated_time=stamp.time, last_updated_user_id=stamp.actor)
    )
    record(company, stamp, "notification.allRead", {"read_count": count})
    return count


def delete(*, company: Company, stamp: Stamp, rows: NotificationQuerySet, ids: Sequence[UUID]) -> int:
    """Deletes those of the ids that are among the rows the caller may delete; how many there were."""
    count, _ = rows.filter(company_id=company.id, id__in=ids).delete()
    record(company, stamp, "notification.deleted", {"deleted_count": count})
    return count


def record(company: Company, stamp: Stamp, action: str, counts: dict[str, int]) -> None:
    """One row for the whole act, where it changed anything."""
    if any(counts.values()):
        AuditEntry.objects.record(
            stamp, company_id=company.id, action=action, entity_type="notification", entity_id=None, after=counts
        )
