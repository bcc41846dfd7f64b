from django.apps import AppConfig


class CompaniesConfig(AppConfig):
    name = "companies"
    verbose_name = "Companies"

    def ready(self) -> None:
        from companies import hooks
        from companies.api import idempotency
        from companies.auth import security_log, throttling
        from companies.maintenance import directory_check
        from companies.models import ApiKey, Membership
        from companies.permissions import Permission

        hooks.prune_expired.register(idempotency.prune_idempotency_records)
        hooks.prune_expired.register(throttling.prune_rate_counters)
        hooks.prune_expired.register(security_log.prune_security_log)
        hooks.rebuild_derived_tables.register(directory_check.rebuild_directory)
        hooks.find_derived_differences.register(directory_check.find_directory_differences)
        register_uncopied_models()
        hooks.AUDITED_MODELS["apiKey"] = hooks.AuditedModel(ApiKey, Permission.API_KEYS_MANAGE)
        hooks.AUDITED_MODELS["member"] = hooks.AuditedModel(Membership, Permission.MEMBERS_MANAGE)


def register_uncopied_models() -> None:
    """What a copy of a company starts without."""
    from companies import models
    from companies.hooks import UNCOPIED_MODELS

    UNCOPIED_MODELS.update(
        {
            models.ApiKey: "access",
            models.AuditEntry: "audit log",
            models.FailedRequest: "audit log",
            models.MaintenanceCheckpoint: "maintenance",
            models.Membership: "access",
        }
    )
