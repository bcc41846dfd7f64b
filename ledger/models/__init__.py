"""What happened: accounts, movements, what they were for, and the tables derived from them."""

from ledger.models.accounts import (
    COUNTS_AS_CASH,
    Account,
    AccountGroup,
    AccountGroupNotEmpty,
    AccountNotEmpty,
    AccountType,
    ImportType,
)
from ledger.models.categories import (
    EXPENSES,
    FINANCING_KEYS,
    STARTING_CATEGORIES,
    Category,
    CategoryInUse,
    Counterparty,
    CounterpartyInUse,
    CounterpartyType,
    PlType,
    category_called,
)
from ledger.models.categorizations import Categorization, LinkKind, Posting
from ledger.models.derived import DayMovement, Habit, MonthMovement, MonthResult
from ledger.models.external_ids import ExternalIdTaken
from ledger.models.files import File, FileTransaction, ParseStatus
from ledger.models.products import Product, ProductExternalId, ProductGroup, ProductGroupNotEmpty, ProductInUse
from ledger.models.rates import Rate, RateLoad
from ledger.models.recurring import RecurringBook, RecurringMonth
from ledger.models.refused import RefusedMatch
from ledger.models.rules import (
    RULE_NOTE,
    TEXTS,
    CategorizationRule,
    CategorizationRun,
    Direction,
    DisabledReason,
    Operator,
    RuleAccount,
    RunAct,
    TransactionBefore,
)
from ledger.models.saved import SavedView
from ledger.models.statements import KnownBefore, PendingBefore, Statement
from ledger.models.subscriptions import BillingPeriod, Subscription, SubscriptionEvent, SubscriptionInUse
from ledger.models.touched import TransactionTouched
from ledger.models.transactions import (
    TOLD,
    ImportBatch,
    InitialBalanceFixed,
    Source,
    SplitExceedsAmount,
    Transaction,
    TransactionLinked,
    counts_in_results,
)

__all__ = [
    "COUNTS_AS_CASH",
    "EXPENSES",
    "FINANCING_KEYS",
    "RULE_NOTE",
    "STARTING_CATEGORIES",
    "TEXTS",
    "TOLD",
    "Account",
    "AccountGroup",
    "AccountGroupNotEmpty",
    "AccountNotEmpty",
    "AccountType",
    "BillingPeriod",
    "Categorization",
    "CategorizationRule",
    "CategorizationRun",
    "Category",
    "CategoryInUse",
    "Counterparty",
    "CounterpartyInUse",
    "CounterpartyType",
    "DayMovement",
    "Direction",
    "DisabledReason",
    "ExternalIdTaken",
    "File",
    "FileTransaction",
    "Habit",
    "ImportBatch",
    "ImportType",
    "InitialBalanceFixed",
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
    "RuleAccount",
    "RunAct",
    "SavedView",
    "Source",
    "SplitExceedsAmount",
    "Statement",
    "Subscription",
    "SubscriptionEvent",
    "SubscriptionInUse",
    "Transaction",
    "TransactionBefore",
    "TransactionLinked",
    "TransactionTouched",
    "category_called",
    "counts_in_results",
]
