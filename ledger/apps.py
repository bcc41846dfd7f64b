from django.apps import AppConfig


class LedgerConfig(AppConfig):
    name = "ledger"

    def ready(self) -> None:
        register_company_hooks()
        register_ledger_hooks()
        register_audit_models()


def register_company_hooks() -> None:
    """Functions that the app below, companies, runs."""
    from companies import hooks
    from ledger.importing import uploads
    from ledger.purposes import categories
    from ledger.recognition import movements, posting, redating
    from ledger.rules import derived
    from ledger.transactions import undoing

    hooks.company_created.register(categories.add_defaults)
    hooks.company_settings_changed.register(redating.company_rules_changed)
    hooks.prune_expired.register(uploads.prune)
    hooks.prune_expired.register(undoing.prune)
    hooks.rebuild_derived_tables.register(movements.rebuild)
    hooks.rebuild_derived_tables.register(posting.rebuild)
    hooks.rebuild_derived_tables.register(derived.rebuild)
    hooks.find_derived_differences.register(movements.differences)
    hooks.find_derived_differences.register(posting.differences)
    hooks.find_derived_differences.register(derived.differences)


def register_ledger_hooks() -> None:
    """Functions of upper packages that lower packages of this app run."""
    from ledger import hooks
    from ledger.rules import assigning
    from ledger.statements import reconciling, undoing
    from ledger.subscriptions import subscribing

    hooks.transaction_created.register(assigning.booked)
    hooks.transaction_updated.register(assigning.edited)
    hooks.balances_changed.register(reconciling.balances_changed)
    hooks.import_undo_started.register(undoing.give_back_pending)
    hooks.import_undone.register(undoing.forget_statements)
    hooks.counterparty_merged.register(subscribing.counterparty_merged)


def register_audit_models() -> None:
    from companies.hooks import AUDIT_LABELS, AUDITED_MODELS, AuditedModel
    from companies.permissions import Permission
    from ledger import models
    from ledger.transactions.pages.words import LINES, RULES, SOURCES

    AUDITED_MODELS.update(
        {
            "account": AuditedModel(models.Account, Permission.ACCOUNTS_READ),
            "accountGroup": AuditedModel(models.AccountGroup, Permission.ACCOUNTS_READ),
            "categorizationRule": AuditedModel(models.CategorizationRule, Permission.TRANSACTIONS_READ),
            "category": AuditedModel(models.Category, Permission.CATEGORIES_READ),
            "counterparty": AuditedModel(models.Counterparty, Permission.COUNTERPARTIES_READ),
            "file": AuditedModel(models.File, Permission.FILES_READ),
            "product": AuditedModel(models.Product, Permission.PRODUCTS_READ),
            "productGroup": AuditedModel(models.ProductGroup, Permission.PRODUCTS_READ),
            "transaction": AuditedModel(models.Transaction, Permission.TRANSACTIONS_READ),
        }
    )
    AUDIT_LABELS.update(pl_type=LINES, pl_types=LINES, rule=RULES, source=SOURCES)
