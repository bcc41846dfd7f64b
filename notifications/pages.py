"""What somebody was told, as a page, and the bell that counts what is unread."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from companies.pages.visits import Visit, company_page, person, signed_in
from companies.permissions import Permission
from notifications import mailing, reading
from notifications.mailing import TOLD
from notifications.models import Notification, NotificationQuerySet
from notifications.words import shown


@company_page(reads=Permission.NOTIFICATIONS_READ, writes=Permission.NOTIFICATIONS_WRITE)
def told(visit: Visit) -> HttpResponse:
    """The person's own notifications, latest first; the form marks all of them as read."""
    if visit.request.method == "POST":
        with visit.sending():
            reading.read_all(company=visit.company, stamp=visit.stamp)
        return visit.to("notifications")
    rows, cursor = visit.page_of(own(visit), order=("-id",))
    return visit.show(
        "notifications/told.html",
        tab="notifications",
        rows=[(row, *shown(row)) for row in rows],
        cursor=cursor,
        writes=visit.may(Permission.NOTIFICATIONS_WRITE),
    )


@company_page(writes=Permission.NOTIFICATIONS_WRITE)
def read(visit: Visit, notification_id: UUID) -> HttpResponse:
    """Marks one as read and leads to what it is about."""
    with visit.sending():
        row = reading.read(company=visit.company, stamp=visit.stamp, rows=own(visit), notification_id=notification_id)
        link = str(row.payload.get("link") or "")
        if link.startswith(f"{settings.APP_URL}/"):
            return redirect(link)
    return visit.to("notifications")


@company_page(writes=Permission.NOTIFICATIONS_WRITE)
def delete(visit: Visit, notification_id: UUID) -> HttpResponse:
    with visit.sending():
        reading.delete(company=visit.company, stamp=visit.stamp, rows=own(visit), ids=[notification_id])
    return visit.to("notifications")


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def mailed(request: HttpRequest) -> HttpResponse:
    """Which kinds come by mail too; none but those that the person ticks."""
    user = person(request)
    if request.method == "POST":
        mailing.choose(user=user, kinds=request.POST.getlist("mailed"))
        messages.success(request, _("Your choice was saved."))
        return redirect("profile")
    kinds = [{"kind": kind.value, "told": told, "on": kind.value in user.mailed} for kind, told in TOLD.items()]
    return render(request, "notifications/mailed.html", {"kinds": kinds})


def own(visit: Visit) -> NotificationQuerySet:
    return Notification.objects.of(visit.company.id).to(person(visit.request).pk)


# Every page asks: to put this together would take the framework several times as long as to answer it.
_UNREAD = """
    SELECT count(*) FROM notifications_notification
     WHERE company_id = %(company)s AND recipient_id = %(person)s AND read_time IS NULL
"""


def bell(request: HttpRequest) -> dict[str, object]:
    """For every template: how many notifications of the page's company are unread, counted where a page shows it."""

    def unread() -> int:
        access = getattr(request, "access", None)
        if access is None or Permission.NOTIFICATIONS_READ not in access.permissions:
            return 0
        with connection.cursor() as cursor:
            cursor.execute(_UNREAD, {"company": access.company.id, "person": person(request).pk})
            return int(cursor.fetchone()[0])

    return {"unread": SimpleLazyObject(unread)}
