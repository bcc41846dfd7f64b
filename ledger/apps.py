from typing import TYPE_CHECKING, Any

from django.apps import AppConfig

if TYPE_CHECKING:
    from django.db.models import Model


class LedgerConfig(AppConfig):
    name = "ledger"

    def ready(self) -> None:
        register_company_hooks()
        register_ledger_hooks()
        register_audit_models()


def register_company_hooks() -> None:
    """Functions that the app below, companies, runs."""
    from companies import hooks
    from ledger import models
    from ledger.bulk import planner_statistics
    from ledger.categorization.actions import categories
    from ledger.closings import actions as closings
    from ledger.files import actions as files
    from ledger.imports.actions import uploads
    from ledger.recognition.actions import account_movements, period_updates, postings, rate_updates
    from ledger.rules.actions import categorization_history
    from ledger.rules.calc.countries import list_zone_taxes
    from ledger.transactions.actions import bulk_undo

    hooks.company_created.register(categories.create_default_categories)
    hooks.list_zone_taxes.register(list_zone_taxes)
    hooks.company_copied.register(closings.copy_closings)
    hooks.company_copied.register(files.check_copy_fits_storage_quota)
    hooks.company_copied.register(planner_statistics.analyze_copied_tables)
    hooks.company_rows_deleting.register(files.delete_company_contents_after_commit)
    hooks.company_rows_deleting.register(closings.delete_closings)  # before the rows that they protect
    uncopied_models: dict[str, tuple[type[Model], ...]] = {
        "access": (models.ReportLink,),
        "audit log": (models.AuditEntryTransaction, models.ChangeEntry, models.FigureChange),
        "copied by ledger.closings, with other digests": (models.Closing, models.Reopening),
    }
    for reason, names in uncopied_models.items():
        hooks.UNCOPIED_MODELS.update(dict.fromkeys(names, reason))
    hooks.company_settings_changed.register(period_updates.recompute_company_results)
    hooks.change_completed.register(closings.check_figure_changes)
    hooks.find_derived_differences.register(closings.find_chain_differences)
    hooks.prune_expired.register(uploads.prune_uploads)
    hooks.prune_expired.register(bulk_undo.prune_undo_runs)
    hooks.rebuild_derived_tables.register(account_movements.rebuild_account_movements)
    hooks.rebuild_derived_tables.register(rate_updates.rebuild_postings_at_current_rates)
    hooks.rebuild_derived_tables.register(categorization_history.rebuild_categorization_history)
    hooks.find_derived_differences.register(account_movements.find_account_movement_differences)
    hooks.find_derived_differences.register(postings.find_posting_differences)
    hooks.find_derived_differences.register(categorization_history.find_categorization_history_differences)


def register_ledger_hooks() -> None:
    """Functions of upper packages that lower packages of this app run."""
    from ledger import hooks
    from ledger.bank_statements.actions import pending_transactions, reconciliation, statement_undo, table_balances
    from ledger.rules.actions import edited_transactions
    from ledger.subscriptions.actions import subscriptions

    hooks.transaction_created.register(edited_transactions.categorize_created_transaction)
    hooks.transaction_updated.register(edited_transactions.categorize_edited_transaction)
    hooks.balances_changed.register(reconciliation.reconcile_changed_accounts)
    hooks.pending_transactions_matched.register(pending_transactions.book_pending_transactions)
    hooks.find_other_page_row_ids.register(table_balances.find_table_page_row_ids)
    hooks.table_balances_proven.register(table_balances.store_table_balances)
    hooks.import_undo_started.register(statement_undo.restore_pending_transactions)
    hooks.import_undone.register(statement_undo.delete_import_statements)
    hooks.counterparty_merged.register(subscriptions.move_subscriptions_to_counterparty)


def register_audit_models() -> None:
    from django.utils.translation import gettext_lazy

    from companies.api.camel_case import to_camel_case
    from companies.audit.field_labels import FIELD_LABELS
    from companies.hooks import AUDIT_FIELDS, AUDIT_LABELS, AUDIT_LINKS, AUDITED_MODELS, AuditedModel
    from companies.permissions import Permission
    from ledger import models
    from ledger.accounts.fields import ACCOUNT_TEXTS
    from ledger.categorization.fields import COUNTERPARTY_TEXTS
    from ledger.files.invoice_details import PARSE_STATUS_LABELS
    from ledger.imports.forms import DATE_ORDER_CHOICES, DECIMAL_MARK_CHOICES, ColumnsForm
    from ledger.rules.forms import PERIOD_START_LABELS
    from ledger.subscriptions.fields import SUBSCRIPTION_TEXTS
    from ledger.transactions.fields import TRANSACTION_TEXTS
    from ledger.transactions.pages import audit_fields
    from ledger.transactions.pages.labels import DATE_RULE_LABELS, LINE_LABELS, SOURCE_LABELS

    AUDITED_MODELS.update(
        {
            "account": AuditedModel(models.Account, Permission.ACCOUNTS_READ),
            "accountGroup": AuditedModel(models.AccountGroup, Permission.ACCOUNTS_READ),
            "categorizationRule": AuditedModel(models.CategorizationRule, Permission.TRANSACTIONS_READ),
            "closing": AuditedModel(models.Closing, Permission.FINANCIALS_READ),
            "category": AuditedModel(models.Category, Permission.CATEGORIES_READ),
            "counterparty": AuditedModel(models.Counterparty, Permission.COUNTERPARTIES_READ),
            "file": AuditedModel(models.File, Permission.FILES_READ),
            "initialBalance": AuditedModel(models.Transaction, Permission.ACCOUNTS_READ),
            "product": AuditedModel(models.Product, Permission.PRODUCTS_READ),
            "productGroup": AuditedModel(models.ProductGroup, Permission.PRODUCTS_READ),
            "reportCommentary": AuditedModel(models.ReportCommentary, Permission.FINANCIALS_READ),
            "reportLink": AuditedModel(models.ReportLink, Permission.CLOSINGS_MANAGE),
            "transaction": AuditedModel(models.Transaction, Permission.TRANSACTIONS_READ),
        }
    )
    AUDIT_LABELS.update(pl_type=LINE_LABELS, pl_types=LINE_LABELS, source=SOURCE_LABELS)
    AUDIT_LABELS.update(rule=DATE_RULE_LABELS, date_rule=DATE_RULE_LABELS, parse_status=PARSE_STATUS_LABELS)
    AUDIT_LABELS.update(counterparty_from={models.CounterpartyFrom.FROM_TO: FIELD_LABELS["from_to"]})
    AUDIT_LABELS.update(service_period_start=PERIOD_START_LABELS)
    AUDIT_LABELS.update(dateOrder=dict(DATE_ORDER_CHOICES), decimalMark=dict(DECIMAL_MARK_CHOICES))
    import_fields: dict[str, Any] = ColumnsForm.base_fields
    for name, form_field in import_fields.items():
        FIELD_LABELS.setdefault(to_camel_case(name), form_field.label)
    texts = (*TRANSACTION_TEXTS, *ACCOUNT_TEXTS, *COUNTERPARTY_TEXTS, *SUBSCRIPTION_TEXTS)
    FIELD_LABELS.update({text.column: gettext_lazy(text.label) for text in texts})
    AUDIT_FIELDS.update(
        transaction=audit_fields.list_transaction_fields,
        categorizationRun=audit_fields.list_run_fields,
        counterparty=audit_fields.list_counterparty_fields,
    )
    AUDIT_LINKS["import.finished"] = audit_fields.build_import_link
