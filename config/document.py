"""What the OpenAPI document says of the whole: its groups, and the names of the words that fields share."""

ABOUT = {
    "LICENSE": {"name": "MIT", "identifier": "MIT"},
    "TAGS": [
        {"name": name, "description": text}
        for name, text in {
            "Companies": "The companies a caller reaches, their settings and their logo.",
            "Members": "Who belongs to a company, and what they may do in it.",
            "API keys": "Secrets for scripts and servers, each with permissions of its own.",
            "Connected apps": "Apps that members let in, and the end of such a connection.",
            "Audit log": "Who changed what, and when.",
            "Notifications": "What the service told its people.",
            "Accounts": "Bank accounts, cash, cards and loans: where the money is.",
            "Account groups": "Accounts that are shown together.",
            "Transactions": "What moved on the accounts.",
            "Imports": "Many transactions at once, and undoing that.",
            "Categorizations": "What transactions were for: parts of them, by category, P&L line and period.",
            "Transfers": "Two transactions that are one movement between own accounts.",
            "Categories": "What money is spent on and earned with.",
            "Counterparties": "Customers, vendors and all others that money comes from and goes to.",
            "Files": "Documents beside transactions.",
            "Products": "What is sold, and in which groups it is shown.",
            "Subscriptions": "What customers subscribed to, and the events that changed its worth.",
            "Planned transactions": "Single and recurring payments that are expected.",
            "Plan items": "Lines of the financial plan.",
            "Data": "Balances, cash flow, results and recurring revenue, computed from all that.",
        }.items()
    ],
}
SERVER = {
    "description": "The one that serves this document: in production, for testing or a local one, as it was set up.",
    "x-internal": False,
}
# The name of each set of words in the document, and so of its type in generated clients → where the words are.
ENUMS = {
    "AccountType": "ledger.models.AccountType",
    "BankConnectionStatus": "ledger.serializers.accounts.CONNECTION_STATUSES",
    "BucketInterval": "analytics.serializers.INTERVALS",
    "CalendarUnit": "ledger.models.BillingPeriod",
    "CallerRole": "companies.serializers.CALLER_ROLES",
    "CounterpartyType": "ledger.models.CounterpartyType",
    "Currency": "companies.models.Currency",
    "DateRuleType": "ledger.calc.recognition.DateRule",
    "DuplicatesMode": "ledger.serializers.imports.DUPLICATES",
    "ErrorsMode": "ledger.serializers.imports.ON_ERROR",
    "ImportType": "ledger.models.ImportType",
    "MrrType": "analytics.monthly_rows.TYPES",
    "NotificationType": "notifications.models.NotificationType",
    "ParseStatus": "ledger.models.ParseStatus",
    "Permission": "companies.permissions.Permission",
    "PlType": "ledger.models.PlType",
    "PlanAmountType": "planning.calc.plan.AMOUNT_TYPES",
    "PlannedSource": "planning.models.Source",
    "RecurrenceEndType": "planning.serializers.ENDS",
    "Scope": "oauth.scopes.ALL",
    "Role": "companies.permissions.Role",
    "SelectionMode": "ledger.serializers.selections.MODES",
    "SubscriptionStatus": "ledger.serializers.subscriptions.STATUSES",
    "SystemStatus": "companies.models.SystemStatus",
    "TransactionSource": "ledger.models.Source",
    "ValuationCategory": "companies.models.ValuationCategory",
    "ValuationLens": "companies.models.ValuationLens",
}
