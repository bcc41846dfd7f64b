from django.apps import AppConfig


class OauthConfig(AppConfig):
    name = "oauth"
    verbose_name = "Apps"

    def ready(self) -> None:
        from companies import hooks
        from oauth import cleanup, consents
        from oauth.models import ConsentGrant

        hooks.member_left.register(consents.revoke_consents_of_member)
        hooks.user_deactivated.register(consents.revoke_consents_of_deactivated_user)
        hooks.connected_apps_revoked.register(consents.revoke_consents_of_user)
        hooks.prune_expired.register(cleanup.prune_oauth_tokens)
        hooks.UNCOPIED_MODELS[ConsentGrant] = "access"
