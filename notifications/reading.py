"""Reading notifications and deleting them."""

from collections.abc import Sequence
from uuid import UUID

from companies.changing import changing
from companies.models import Company, Stamp
from notifications.models import Notification, NotificationQuerySet


def read(*, company: Company, stamp: Stamp, rows: NotificationQuerySet, notification_id: UUID | str) -> Notification:
    """Marks one of the rows that the caller may read as read; the first time stays. Raises Missing, Stale."""
    with changing(company, stamp=stamp) as change:
        notification = change.locked(rows, notification_id)
        if notification.read_time is None:
            notification.change(stamp, read_time=stamp.time)
            change.record(notification, "notification.read")
    return notification


def read_all(*, company: Company, stamp: Stamp) -> int:
    """Marks all that the caller has not read; how many there were."""
    with changing(company, stamp=stamp) as change:
        unread = Notification.objects.of(company.id).to(stamp.user_id).unread()
        times = {"read_time": stamp.time, "last_updated_time": stamp.time}
        count = unread.update(**times, last_updated_user_id=stamp.actor)
        if count:
            change.record_many("notification.allRead", "notification", after={"read_count": count})
    return count


def delete(*, company: Company, stamp: Stamp, rows: NotificationQuerySet, ids: Sequence[UUID]) -> int:
    """Deletes those of the ids that are among the rows the caller may delete; how many there were."""
    with changing(company, stamp=stamp) as change:
        count, _ = rows.filter(company_id=company.id, id__in=ids).delete()
        if count:
            change.record_many("notification.deleted", "notification", after={"deleted_count": count})
    return count
