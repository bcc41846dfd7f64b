"""Endpoints of notifications."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet
from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.serializers import SUCCESS
from companies.models import parse_id
from companies.permissions import Permission
from notifications import actions, serializers
from notifications.models import Notification, NotificationQuerySet

ALL_RECIPIENTS = "all"


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
                description="Id of another user, or `all`. Needs `notifications:manage`.",
            ),
            OpenApiParameter("unread", bool, description="`true`: unread only; `false`: read only."),
            *PAGING_PARAMETERS,
        ],
        responses=serializers.NotificationSerializer(many=True),
        operation_id="listNotifications",
    )
    def list(self, request: Request, company_id: str) -> Response:
        """List your notifications, newest first. API keys have no notifications."""
        self.allow_parameters("recipientUserId", "unread", "limit", "cursor")
        rows = self.filter_by_recipient(request.query_params.get("recipientUserId"))
        match request.query_params.get("unread"):
            case None:
                pass
            case "true":
                rows = rows.unread()
            case "false":
                rows = rows.read()
            case _:
                raise build_filter_error("unread", "Must be true or false.")
        return self.respond_with_page(rows, serializers.NotificationSerializer, order=("-id",))

    @extend_schema(request=None, responses=serializers.NotificationSerializer)
    def read(self, request: Request, company_id: str, notification_id: str) -> Response:
        """Mark a notification as read. `readTime` keeps the first time it was read."""
        row = actions.mark_notification_as_read(
            company=self.company,
            context=self.audit_context,
            rows=self.list_accessible(),
            notification_id=notification_id,
        )
        return self.respond_with_one(row, serializers.NotificationSerializer)

    @extend_schema(
        request=None,
        responses=serializers.ReadNotificationCount,
        operation_id="readAllNotifications",
    )
    def read_all(self, request: Request, company_id: str) -> Response:
        """Mark all your notifications as read."""
        count = actions.mark_all_notifications_as_read(company=self.company, context=self.audit_context)
        return Response({**SUCCESS, "readCount": count})

    @extend_schema(
        request=serializers.BatchDeleteRequest,
        responses=serializers.DeletedNotificationCount,
        operation_id="batchDeleteNotifications",
    )
    def batch_delete(self, request: Request, company_id: str) -> Response:
        """Delete your notifications, or anyone's with `notifications:manage`. Other ids are ignored."""
        ids = self.parse_body(serializers.BatchDeleteRequest)["notification_ids"]
        count = actions.delete_notifications(
            company=self.company, context=self.audit_context, rows=self.list_accessible(), ids=ids
        )
        return Response({**SUCCESS, "deletedCount": count})

    def list_accessible(self) -> NotificationQuerySet:
        """Return all notifications for those who manage them, the caller's own for others."""
        rows = Notification.objects.for_company(self.company.id)
        return rows if self.can_manage else rows.for_recipient(self.caller.user_id)

    def filter_by_recipient(self, recipient: str | None) -> NotificationQuerySet:
        """Return the rows of a recipient; another user's need `notifications:manage`."""
        rows = Notification.objects.for_company(self.company.id)
        if recipient is None or (self.caller.user_id is not None and recipient == str(self.caller.user_id)):
            return rows.for_recipient(self.caller.user_id)
        self.require_permission(Permission.NOTIFICATIONS_MANAGE)
        if recipient == ALL_RECIPIENTS:
            return rows
        user_id = parse_id(recipient)
        if user_id is None:
            raise build_filter_error("recipientUserId", "Must be a user id or all.")
        return rows.for_recipient(user_id)

    @property
    def can_manage(self) -> bool:
        return Permission.NOTIFICATIONS_MANAGE in self.access.permissions


def build_filter_error(name: str, text: str) -> ValidationError:
    return ValidationError({name: [ErrorDetail(text, code="invalid_filter")]})
