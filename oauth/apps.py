from django.apps import AppConfig


class OauthConfig(AppConfig):
    name = "oauth"
    verbose_name = "Apps"

    def ready(self) -> None:
        from companies import hooks
        from oauth import consents, pruning

        hooks.member_left.register(consents.member_left)
        hooks.user_deactivated.register(consents.person_deactivated)
        hooks.connected_apps_revoked.register(consents.apps_signed_out)
        hooks.prune_expired.register(pruning.prune)
