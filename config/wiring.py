"""What apps ask of and tell those above them, whom they cannot call: settings that are names of functions."""

# Functions that add figures to the companies on the home page: (accesses, now) → {company id: [(label, text)]}.
HOME_FIGURES: list[str] = ["analytics.overview.figures.on_home"]

# Functions that say what else waits in the inbox of a company: (visit) → [(what to look at, address)], and what there
# is to be confirmed in one press: (visit) → [ledger.rules.pages.inbox.Offer].
INBOX_NOTICES: list[str] = ["planning.pages.overdue.in_the_inbox"]
INBOX_OFFERS: list[str] = ["planning.pages.arrived.in_the_inbox"]
# What takes back what was just done there: (visit) → ledger.rules.pages.inbox.Undo, None where it was none of theirs.
INBOX_UNDOS: list[str] = ["planning.pages.arrived.undo"]

# What apps above do when something happens to a company (companies.follow_ups).
FOLLOW_UPS: dict[str, list[str]] = {
    "company_founded": ["ledger.purposes.categories.add_defaults"],
    "company_rules_changed": ["ledger.recognition.redating.company_rules_changed"],
    "member_joined": ["notifications.telling.member_joined"],
    "member_left": ["oauth.consents.member_left"],
    "person_deactivated": ["oauth.consents.person_deactivated", "companies.security.ending.person_deactivated"],
    "factor_changed": ["companies.security.telling.factor_changed"],  # (user, what, stamp): added or removed
    "apps_signed_out": ["oauth.consents.apps_signed_out"],  # (user, stamp): with a new password, where they want it
    "api_key_created": ["notifications.telling.api_key_created", "companies.security.telling.api_key_created"],
    "api_key_creator_left": ["notifications.telling.api_key_creator_left"],
    "app_connected": ["notifications.telling.app_connected"],
    "app_revoked": ["notifications.telling.app_revoked"],
    "subscription_events_changed": ["analytics.queries.recurring.events_changed"],
    "counterparty_type_changed": ["planning.usage.counterparty_type_changed"],
    # (company, gone, kept, stamp), two counterparties, before the first one goes
    "counterparty_merged": [
        "ledger.rules.ruling.counterparty_merged",
        "ledger.subscriptions.subscribing.counterparty_merged",
        "planning.usage.counterparty_merged",
    ],
    "transactions_booked": ["planning.matching.transactions_booked"],  # (change, rows), a query set of new ones
    # (change, account_ids), after amounts, dates or accounts of transactions changed, or rows came or went
    "balances_changed": ["ledger.statements.reconciling.balances_changed"],
    "import_undoing": ["ledger.statements.undoing.give_back_pending"],  # (change, batch), before its rows go
    "import_undone": ["ledger.statements.undoing.forget_statements"],  # (change, batch), after they went
    # (account, stamp), before it goes
    "account_closed": ["ledger.rules.ruling.account_closed", "planning.settling.account_closed"],
    "category_deleted": ["ledger.rules.ruling.category_deleted"],  # (company, category_id, stamp), before it goes
    # (company, category, stamp), after it lost some
    "category_lines_changed": ["planning.usage.category_lines_changed", "ledger.rules.ruling.category_lines_changed"],
    # (company, category_id, replacement_id, stamp), while the old one is there still
    "category_replaced": ["ledger.rules.ruling.category_replaced", "planning.usage.category_replaced"],
    "transaction_booked": ["ledger.rules.assigning.booked"],  # (company, transaction, stamp)
    # (company, transaction, changed, stamp): one was changed by hand
    "transaction_edited": ["ledger.rules.assigning.edited", "planning.overriding.transaction_edited"],
    # (company, transaction_ids, stamp), that are pending again
    "transactions_pending": ["planning.settling.transactions_deleted"],
    # (company, transaction_ids, stamp), before they go
    "transactions_deleted": ["planning.settling.transactions_deleted"],
}

# What the ledger asks the apps above it, which it cannot call; None while nobody knows.
# (company_id) -> expression: how many planned transactions name a category
PLANNED_USES_OF_CATEGORY: str | None = "planning.usage.uses_of_category"
# (company_id, id) -> [(how many, noun)]: what names a row that is about to go
USES_TOLD: dict[str, list[str]] = {
    "category": ["ledger.purposes.uses.of_category", "planning.usage.told_of_category"],
    "counterparty": ["ledger.purposes.uses.of_counterparty", "planning.usage.told_of_counterparty"],
}
# (company_id, transaction_ids) -> {transaction id: date}: the invoice dates of what they settled
PLANNED_INVOICE_DATES: str | None = "planning.settling.invoice_dates"
# (company_id, transaction_ids) -> {transaction id: what it settles, with planned_id, date and name}
SETTLED_OCCURRENCES: str | None = "planning.settling.settled_by"

# What the log can call by name: type → (model, the permission that it takes to see it).
LOG_NAMED: dict[str, tuple[str, str]] = {
    "account": ("ledger.Account", "accounts:read"),
    "accountGroup": ("ledger.AccountGroup", "accounts:read"),
    "apiKey": ("companies.ApiKey", "apiKeys:manage"),
    "categorizationRule": ("ledger.CategorizationRule", "transactions:read"),
    "category": ("ledger.Category", "categories:read"),
    "counterparty": ("ledger.Counterparty", "counterparties:read"),
    "file": ("ledger.File", "files:read"),
    "member": ("companies.Membership", "members:manage"),
    "plannedTransaction": ("planning.PlannedTransaction", "planning:read"),
    "product": ("ledger.Product", "products:read"),
    "productGroup": ("ledger.ProductGroup", "products:read"),
    "transaction": ("ledger.Transaction", "transactions:read"),
    "webhookEndpoint": ("webhooks.WebhookEndpoint", "company:manage"),
}

# What the log keeps as a code → the table of words that pages have for it.
LOG_WORDS = {
    "pl_type": "ledger.transactions.pages.words.LINES",
    "pl_types": "ledger.transactions.pages.words.LINES",
    "rule": "ledger.transactions.pages.words.RULES",
    "source": "ledger.transactions.pages.words.SOURCES",
}

# Modules that keep derived tables: each can rebuild a company's rows, and tell where they differ from the facts.
DERIVED = ["companies.running.listing", "ledger.recognition.movements", "ledger.recognition.posting",
           "ledger.rules.derived", "analytics.queries.recurring"]  # fmt: skip

# Functions that delete what has expired, and return how many rows: (now) → int.
PRUNED = [
    "companies.api.idempotency.prune",
    "companies.api.throttling.prune",
    "oauth.pruning.prune",
    "ledger.importing.uploads.prune",
    "webhooks.delivering.prune",
    "companies.security.log.prune",
    "ledger.transactions.undoing.prune",
]
