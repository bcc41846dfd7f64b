from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"

    def ready(self) -> None:
        from companies.hooks import AUDITED_MODELS, UNCOPIED_MODELS, AuditedModel, prune_expired
        from companies.permissions import Permission
        from webhooks import delivery
        from webhooks.models import WebhookDelivery, WebhookEndpoint

        prune_expired.register(delivery.prune_webhook_deliveries)
        AUDITED_MODELS["webhookEndpoint"] = AuditedModel(WebhookEndpoint, Permission.COMPANY_MANAGE)
        UNCOPIED_MODELS.update(dict.fromkeys((WebhookEndpoint, WebhookDelivery), "access"))
