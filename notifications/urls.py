"""One line per endpoint."""

from django.urls import path

from notifications import pages
from notifications.views import NotificationViewSet

urlpatterns = [
    path("companies/<str:company_id>/notifications", NotificationViewSet.as_view({"get": "list"})),
    path("companies/<str:company_id>/notifications/read_all", NotificationViewSet.as_view({"post": "read_all"})),
    path(
        "companies/<str:company_id>/notifications/batch_delete", NotificationViewSet.as_view({"post": "batch_delete"})
    ),
    path(
        "companies/<str:company_id>/notifications/<str:notification_id>/read",
        NotificationViewSet.as_view({"put": "read"}),
    ),
    path("app/profile/notifications", pages.edit_email_notifications_page, name="mailed"),
    path("app/companies/<str:company_id>/notifications", pages.show_notifications, name="notifications"),
    path("app/companies/<str:company_id>/notifications/<uuid:notification_id>/read", pages.read_notification_page, name="notification-read"),
    path("app/companies/<str:company_id>/notifications/<uuid:notification_id>/delete", pages.delete_notification_page, name="notification-delete"),
]
