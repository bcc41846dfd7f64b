from django.apps import AppConfig


class PlanningConfig(AppConfig):
    name = "planning"

    def ready(self) -> None:
        from django.utils.translation import gettext_lazy

        from companies.audit.field_labels import FIELD_LABELS
        from companies.hooks import AUDIT_FIELDS, AUDIT_LABELS, AUDIT_LINKS, AUDITED_MODELS, AuditedModel
        from companies.permissions import Permission
        from ledger import hooks
        from planning import category_usage, currencies
        from planning.invoice_files.pages import find_invoices_to_plan, render_invoice_of_file
        from planning.invoice_files.queries import build_planned_file_lookup
        from planning.invoices.pages.search import list_search_groups
        from planning.models import PlanItem, PlannedTransaction, Scenario
        from planning.planned_transactions import settlements
        from planning.planned_transactions.actions import deleted_settlements, settlement_checks
        from planning.planned_transactions.fields import PLANNED_TEXTS
        from planning.planned_transactions.pages import inbox_matches, overdue_notice, planned_history
        from planning.planned_transactions.pages.planned_transactions import SETTLED_BY_LABELS, WEEKEND_SHIFT_LABELS
        from planning.planned_transactions.queries import occurrences, transaction_matches
        from planning.scenarios.pages.audit_fields import list_scenario_fields

        hooks.transactions_booked.register(transaction_matches.settle_booked_transactions)
        hooks.transaction_updated.register(settlement_checks.check_settling_transaction)
        hooks.transactions_pending.register(deleted_settlements.unsettle_transactions)
        hooks.transactions_deleted.register(deleted_settlements.unsettle_transactions)
        hooks.list_settlements_to_restore.register(deleted_settlements.find_settlements_to_restore)
        hooks.transactions_restored.register(deleted_settlements.restore_settlements)
        hooks.account_deleted.register(settlements.clear_closed_account)
        hooks.category_lines_changed.register(category_usage.check_planned_category_lines)
        hooks.category_replaced.register(category_usage.replace_category_in_plans)
        hooks.counterparty_type_changed.register(category_usage.touch_plans_of_counterparty)
        hooks.counterparty_merged.register(category_usage.merge_counterparty_in_plans)
        hooks.count_planned_uses.register(category_usage.build_category_use_count)
        hooks.list_category_uses.register(category_usage.describe_planned_category_uses)
        hooks.list_counterparty_uses.register(category_usage.describe_planned_counterparty_uses)
        hooks.list_invoice_dates.register(settlements.find_settled_invoice_dates)
        hooks.list_settled_counterparties.register(settlements.find_settled_plan_counterparties)
        hooks.render_file_panels.register(render_invoice_of_file)
        hooks.find_invoices_to_plan.register(find_invoices_to_plan)
        hooks.build_planned_file_lookup.register(build_planned_file_lookup)
        hooks.count_import_payments.register(settlements.count_import_payments)
        hooks.list_settled_occurrences.register(settlements.find_settled_occurrences)
        hooks.build_planned_currency_queries.register(currencies.build_planned_currency_queries)
        hooks.count_overdue_occurrences.register(occurrences.count_overdue_occurrences)
        hooks.list_inbox_notices.register(overdue_notice.list_overdue_notices)
        hooks.list_inbox_offers.register(inbox_matches.list_inbox_offers)
        hooks.list_search_groups.register(list_search_groups)
        hooks.find_inbox_undo.register(inbox_matches.get_settlement_undo)
        for kind in ("plannedTransaction", "invoice"):
            AUDITED_MODELS[kind] = AuditedModel(PlannedTransaction, Permission.PLANNING_READ)
        AUDITED_MODELS["planItem"] = AuditedModel(PlanItem, Permission.PLANNING_READ)
        AUDITED_MODELS["scenario"] = AuditedModel(Scenario, Permission.PLANNING_READ)
        AUDIT_LABELS["settled_by"] = {code: label for code, (label, _) in SETTLED_BY_LABELS.items()}
        AUDIT_LABELS["weekend_shift"] = WEEKEND_SHIFT_LABELS
        AUDIT_FIELDS["scenario"] = list_scenario_fields
        AUDIT_LINKS["invoices.imported"] = planned_history.build_invoice_import_link
        FIELD_LABELS.update({text.column: gettext_lazy(text.label) for text in PLANNED_TEXTS})
