"""Endpoints of notifications."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.document.schema import PAGING
from companies.api.serializers import SUCCESS
from companies.api.viewsets import CompanyViewSet
from companies.models import id_from
from companies.permissions import Permission
from notifications import reading
from notifications import serializers as shapes
from notifications.models import Notification, NotificationQuerySet

EVERYONE = "all"


class NotificationViewSet(CompanyViewSet):
    schema_tags = ["Notifications"]
    permission_for = {
        "list": Permission.NOTIFICATIONS_READ,
        "read": Permission.NOTIFICATIONS_WRITE,
        "read_all": Permission.NOTIFICATIONS_WRITE,
        "batch_delete": Permission.NOTIFICATIONS_WRITE,
    }

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "recipientUserId",
                {"type": "string", "maxLength": 36},
                description="another user's id, or `all`; needs `notifications:manage`",
            ),
            OpenApiParameter("unread", bool, description="`true`: only those not read yet; `false`: only read ones"),
            *PAGING,
        ],
        responses=shapes.NotificationShape(many=True),
        operation_id="listNotifications",
    )
    def list(self, request: Request, company_id: str) -> Response:
        """What the caller was told, latest first. A key has no notifications of its own."""
        self.only_parameters("recipientUserId", "unread", "limit", "cursor")
        rows = self.addressed_to(request.query_params.get("recipientUserId"))
        match request.query_params.get("unread"):
            case None:
                pass
            case "true":
                rows = rows.unread()
            case "false":
                rows = rows.read()
            case _:
                raise bad_filter("unread", "Must be true or false.")
        return self.page(rows, shapes.NotificationShape, order=("-id",))

    @extend_schema(request=None, responses=shapes.NotificationShape)
    def read(self, request: Request, company_id: str, notification_id: str) -> Response:
        """Marks one notification as read; the time of the first reading stays."""
        row = reading.read(
            company=self.company, stamp=self.stamp, rows=self.reachable(), notification_id=notification_id
        )
        return self.one(row, shapes.NotificationShape)

    @extend_schema(
        request=None,
        responses=shapes.ReadAll,
        operation_id="readAllNotifications",
    )
    def read_all(self, request: Request, company_id: str) -> Response:
        """Marks all of the caller's own notifications as read."""
        count = reading.read_all(company=self.company, stamp=self.stamp)
        return Response({**SUCCESS, "readCount": count})

    @extend_schema(
        request=shapes.BatchDelete,
        responses=shapes.Deleted,
        operation_id="batchDeleteNotifications",
    )
    def batch_delete(self, request: Request, company_id: str) -> Response:
        """Deletes the notifications that the caller may delete: the own ones, and everyone's with
        `notifications:manage`. All other ids are ignored, unknown and foreign ones alike."""
        ids = self.parsed(shapes.BatchDelete)["notification_ids"]
        count = reading.delete(company=self.company, stamp=self.stamp, rows=self.reachable(), ids=ids)
        return Response({**SUCCESS, "deletedCount": count})

    def reachable(self) -> NotificationQuerySet:
        """Everyone's for those who manage them, the own ones for all others."""
        rows = Notification.objects.of(self.company.id)
        return rows if self.manages else rows.to(self.caller.user_id)

    def addressed_to(self, recipient: str | None) -> NotificationQuerySet:
        """The list's rows; somebody else's need notifications:manage."""
        rows = Notification.objects.of(self.company.id)
        if recipient is None or (self.caller.user_id is not None and recipient == str(self.caller.user_id)):
            return rows.to(self.caller.user_id)
        self.require(Permission.NOTIFICATIONS_MANAGE)
        if recipient == EVERYONE:
            return rows
        user_id = id_from(recipient)
        if user_id is None:
            raise bad_filter("recipientUserId", "Must be a user's id or all.")
        return rows.to(user_id)

    @property
    def manages(self) -> bool:
        return Permission.NOTIFICATIONS_MANAGE in self.access.permissions


def bad_filter(name: str, text: str) -> ValidationError:
    return ValidationError({name: [ErrorDetail(text, code="invalid_filter")]})
