from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "notifications"

    def ready(self) -> None:
        from companies import hooks
        from notifications import notify
        from notifications.models import Notification

        hooks.member_joined.register(notify.notify_member_joined)
        hooks.api_key_created.register(notify.notify_api_key_created)
        hooks.api_key_creator_left.register(notify.notify_api_key_creator_left)
        hooks.app_connected.register(notify.notify_app_connected)
        hooks.app_revoked.register(notify.notify_app_revoked)
        hooks.sandbox_expiring.register(notify.notify_sandbox_expiring)
        hooks.UNCOPIED_MODELS[Notification] = "about the original"
