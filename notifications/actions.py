"""Mark notifications as read, and delete them."""

from collections.abc import Sequence
from uuid import UUID

from companies.change import change_company
from companies.models import AuditContext, Company
from notifications.models import Notification, NotificationQuerySet


def mark_notification_as_read(
    *, company: Company, context: AuditContext, rows: NotificationQuerySet, notification_id: UUID | str
) -> Notification:
    """Mark one of the caller's notifications as read; the time of the first reading is kept.

    Raises:
        NotFoundError, PreconditionFailed: it is gone or has another version.
    """
    with change_company(company, context=context) as change:
        notification = change.lock(rows, notification_id)
        if notification.read_time is None:
            notification.apply_changes(context, read_time=context.time)
            change.record(notification, "notification.read")
    return notification


def mark_all_notifications_as_read(*, company: Company, context: AuditContext) -> int:
    """Mark all unread notifications of the caller as read; return their number."""
    with change_company(company, context=context) as change:
        unread = Notification.objects.for_company(company.id).for_recipient(context.user_id).unread()
        times = {"read_time": context.time, "last_updated_time": context.time}
        count = unread.update(**times, last_updated_user_id=context.actor)
        if count:
            change.record_bulk("notification.allRead", "notification", after={"read_count": count})
    return count


def delete_notifications(
    *, company: Company, context: AuditContext, rows: NotificationQuerySet, ids: Sequence[UUID]
) -> int:
    """Delete notifications by id, among those the caller may delete; return their number."""
    with change_company(company, context=context) as change:
        count, _ = rows.filter(company_id=company.id, id__in=ids).delete()
        if count:
            change.record_bulk("notification.deleted", "notification", after={"deleted_count": count})
    return count
