"""The notifications page, its forms, and the count of unread notifications."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from companies.pages.context import CompanyPage, company_page, get_signed_in_user, require_sign_in
from companies.permissions import Permission
from notifications import actions, emails
from notifications.emails import EMAIL_SUBJECTS
from notifications.messages import render_stored_message
from notifications.models import Notification, NotificationQuerySet, NotificationType


@company_page(reads=Permission.NOTIFICATIONS_READ, writes=Permission.NOTIFICATIONS_WRITE)
def show_notifications(page: CompanyPage) -> HttpResponse:
    """List the user's notifications, latest first; on POST mark all as read."""
    if page.request.method == "POST":
        with page.handle_errors():
            actions.mark_all_notifications_as_read(company=page.company, context=page.audit_context)
        return page.redirect("notifications")
    rows, cursor = page.paginate(list_own_notifications(page), order=("-id",))
    return page.render(
        "notifications/notifications.html",
        tab="notifications",
        rows=[(row, *render_stored_message(row)) for row in rows],
        cursor=cursor,
        writes=page.has_permission(Permission.NOTIFICATIONS_WRITE),
    )


@company_page(writes=Permission.NOTIFICATIONS_WRITE)
def read_notification_page(page: CompanyPage, notification_id: UUID) -> HttpResponse:
    """Mark a notification as read and redirect to its subject."""
    with page.handle_errors():
        row = actions.mark_notification_as_read(
            company=page.company,
            context=page.audit_context,
            rows=list_own_notifications(page),
            notification_id=notification_id,
        )
        link = str(row.payload.get("link") or "")
        if link.startswith(f"{settings.APP_URL}/"):
            return redirect(link)
    return page.redirect("notifications")


@company_page(writes=Permission.NOTIFICATIONS_WRITE)
def delete_notification_page(page: CompanyPage, notification_id: UUID) -> HttpResponse:
    with page.handle_errors():
        actions.delete_notifications(
            company=page.company, context=page.audit_context, rows=list_own_notifications(page), ids=[notification_id]
        )
    return page.redirect("notifications")


@require_http_methods(["GET", "HEAD", "POST"])
@require_sign_in
def edit_email_notifications_page(request: HttpRequest) -> HttpResponse:
    """Choose which notification types also come by email."""
    user = get_signed_in_user(request)
    if request.method == "POST":
        emails.update_email_preferences(user=user, kinds=request.POST.getlist("mailed"))
        messages.success(request, _("Settings saved."))
        return redirect("profile")
    kinds = [
        {"kind": kind.value, "label": subject, "on": kind.value in user.mailed}
        for kind, subject in EMAIL_SUBJECTS.items()
    ]
    return render(request, "notifications/email_settings.html", {"kinds": kinds})


def list_own_notifications(page: CompanyPage) -> NotificationQuerySet:
    return Notification.objects.for_company(page.company.id).for_recipient(get_signed_in_user(page.request).pk)


# Raw SQL, since every page runs it. ORM: 4.3 x.
# What one did oneself needs no attention: these are listed, but not counted.
_CONFIRMATIONS = [NotificationType.IMPORT_FINISHED, NotificationType.IMPORT_UNDONE]
_UNREAD = """
    SELECT count(*) FROM notifications_notification
     WHERE company_id = %(company)s AND recipient_id = %(person)s AND read_time IS NULL
       AND NOT (type = ANY (%(confirmations)s) AND created_user_id IS NOT DISTINCT FROM %(person)s::text)
"""


def add_unread_count(request: HttpRequest) -> dict[str, object]:
    """Context processor: the count of unread notifications that need attention, computed when a template uses it."""

    def count_unread() -> int:
        access = getattr(request, "access", None)
        if access is None or Permission.NOTIFICATIONS_READ not in access.permissions:
            return 0
        with connection.cursor() as cursor:
            cursor.execute(
                _UNREAD,
                {
                    "company": access.company.id,
                    "person": get_signed_in_user(request).pk,
                    "confirmations": _CONFIRMATIONS,
                },
            )
            return int(cursor.fetchone()[0])

    return {"unread": SimpleLazyObject(count_unread)}
