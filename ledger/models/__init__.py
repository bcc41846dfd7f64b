"""Models of the ledger: accounts, transactions, categorizations, rules, files, and derived tables."""

from ledger.models.accounts import (
    CASH_ACCOUNT_TYPES,
    Account,
    AccountGroup,
    AccountGroupNotEmpty,
    AccountNotEmpty,
    AccountType,
    ImportType,
)
from ledger.models.audit_links import TransactionTouched
from ledger.models.categories import (
    DEFAULT_CATEGORIES,
    EXPENSE_LINES,
    FINANCING_SYSTEM_KEYS,
    MAX_PAYMENT_TERMS,
    Category,
    CategoryInUse,
    Counterparty,
    CounterpartyInUse,
    CounterpartyType,
    PlType,
    translate_category_name,
)
from ledger.models.categorizations import Categorization, LinkKind, Posting
from ledger.models.closings import MAX_REASON_LENGTH, ChangeEntry, Closing, FigureChange, Reopening
from ledger.models.derived_tables import DayMovement, Habit, MonthMovement, MonthResult
from ledger.models.dismissed_matches import RefusedMatch
from ledger.models.external_ids import ExternalIdTaken
from ledger.models.files import File, FileTransaction, ParseStatus
from ledger.models.products import Product, ProductExternalId, ProductGroup, ProductGroupNotEmpty, ProductInUse
from ledger.models.rates import Rate, RateLoad
from ledger.models.recurring_revenue import RecurringBook, RecurringMonth
from ledger.models.reports import MAX_COMMENTARY_LENGTH, ReportCommentary, ReportLink
from ledger.models.rules import (
    RULE_NOTE_PREFIX,
    TEXT_CONDITIONS,
    BulkOperation,
    CategorizationRule,
    CategorizationRun,
    Direction,
    DisabledReason,
    Operator,
    RuleAccount,
    TransactionBefore,
)
from ledger.models.saved_views import SavedView
from ledger.models.statements import KnownBefore, PendingBefore, Statement
from ledger.models.subscriptions import BillingPeriod, Subscription, SubscriptionEvent, SubscriptionInUse
from ledger.models.transactions import (
    IMPORTED_FIELDS,
    ImportBatch,
    Source,
    SplitExceedsAmount,
    Transaction,
    TransactionIsInitialBalance,
    TransactionLinked,
    counts_in_results,
)

__all__ = [
    "CASH_ACCOUNT_TYPES",
    "DEFAULT_CATEGORIES",
    "EXPENSE_LINES",
    "FINANCING_SYSTEM_KEYS",
    "IMPORTED_FIELDS",
    "MAX_COMMENTARY_LENGTH",
    "MAX_PAYMENT_TERMS",
    "MAX_REASON_LENGTH",
    "RULE_NOTE_PREFIX",
    "TEXT_CONDITIONS",
    "Account",
    "AccountGroup",
    "AccountGroupNotEmpty",
    "AccountNotEmpty",
    "AccountType",
    "BillingPeriod",
    "BulkOperation",
    "Categorization",
    "CategorizationRule",
    "CategorizationRun",
    "Category",
    "CategoryInUse",
    "ChangeEntry",
    "Closing",
    "Counterparty",
    "CounterpartyInUse",
    "CounterpartyType",
    "DayMovement",
    "Direction",
    "DisabledReason",
    "ExternalIdTaken",
    "FigureChange",
    "File",
    "FileTransaction",
    "Habit",
    "ImportBatch",
    "ImportType",
    "KnownBefore",
    "LinkKind",
    "MonthMovement",
    "MonthResult",
    "Operator",
    "ParseStatus",
    "PendingBefore",
    "PlType",
    "Posting",
    "Product",
    "ProductExternalId",
    "ProductGroup",
    "ProductGroupNotEmpty",
    "ProductInUse",
    "Rate",
    "RateLoad",
    "RecurringBook",
    "RecurringMonth",
    "RefusedMatch",
    "Reopening",
    "ReportCommentary",
    "ReportLink",
    "RuleAccount",
    "SavedView",
    "Source",
    "SplitExceedsAmount",
    "Statement",
    "Subscription",
    "SubscriptionEvent",
    "SubscriptionInUse",
    "Transaction",
    "TransactionBefore",
    "TransactionIsInitialBalance",
    "TransactionLinked",
    "TransactionTouched",
    "counts_in_results",
    "translate_category_name",
]
