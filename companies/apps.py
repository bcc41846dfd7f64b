from django.apps import AppConfig
from django.db.backends.signals import connection_created


class CompaniesConfig(AppConfig):
    name = "companies"
    verbose_name = "Companies"

    def ready(self) -> None:
        from companies import hooks
        from companies.api import idempotency, throttling
        from companies.models import ApiKey, Membership
        from companies.permissions import Permission
        from companies.running import listing
        from companies.running.timestamps import read_in_c
        from companies.security import log

        connection_created.connect(read_in_c)
        hooks.prune_expired.register(idempotency.prune)
        hooks.prune_expired.register(throttling.prune)
        hooks.prune_expired.register(log.prune)
        hooks.rebuild_derived_tables.register(listing.rebuild)
        hooks.find_derived_differences.register(listing.differences)
        hooks.AUDITED_MODELS["apiKey"] = hooks.AuditedModel(ApiKey, Permission.API_KEYS_MANAGE)
        hooks.AUDITED_MODELS["member"] = hooks.AuditedModel(Membership, Permission.MEMBERS_MANAGE)
