from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "notifications"

    def ready(self) -> None:
        from companies import hooks
        from notifications import telling

        hooks.member_joined.register(telling.member_joined)
        hooks.api_key_created.register(telling.api_key_created)
        hooks.api_key_creator_left.register(telling.api_key_creator_left)
        hooks.app_connected.register(telling.app_connected)
        hooks.app_revoked.register(telling.app_revoked)
