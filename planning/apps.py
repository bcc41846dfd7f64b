from django.apps import AppConfig


class PlanningConfig(AppConfig):
    name = "planning"

    def ready(self) -> None:
        from companies.hooks import AUDITED_MODELS, AuditedModel
        from companies.permissions import Permission
        from ledger import hooks
        from planning import matching, overriding, settling, usage
        from planning.models import PlannedTransaction
        from planning.pages import arrived, overdue

        hooks.transactions_booked.register(matching.transactions_booked)
        hooks.transaction_updated.register(overriding.transaction_edited)
        hooks.transactions_pending.register(settling.transactions_deleted)
        hooks.transactions_deleted.register(settling.transactions_deleted)
        hooks.account_deleted.register(settling.account_closed)
        hooks.category_lines_changed.register(usage.category_lines_changed)
        hooks.category_replaced.register(usage.category_replaced)
        hooks.counterparty_type_changed.register(usage.counterparty_type_changed)
        hooks.counterparty_merged.register(usage.counterparty_merged)
        hooks.count_planned_uses.register(usage.uses_of_category)
        hooks.list_category_uses.register(usage.told_of_category)
        hooks.list_counterparty_uses.register(usage.told_of_counterparty)
        hooks.list_invoice_dates.register(settling.invoice_dates)
        hooks.list_settled_occurrences.register(settling.settled_by)
        hooks.list_inbox_notices.register(overdue.in_the_inbox)
        hooks.list_inbox_offers.register(arrived.in_the_inbox)
        hooks.find_inbox_undo.register(arrived.undo)
        AUDITED_MODELS["plannedTransaction"] = AuditedModel(PlannedTransaction, Permission.PLANNING_READ)
