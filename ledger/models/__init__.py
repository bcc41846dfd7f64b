"""What happened: accounts, movements, what they were for, and the tables derived from them."""

from ledger.models.accounts import COUNTS_AS_CASH, Account, AccountGroup, AccountType, ImportType
from ledger.models.categories import Category, Counterparty, CounterpartyType, PlType
from ledger.models.categorizations import Categorization, LinkKind, Posting
from ledger.models.derived import DayMovement, MonthMovement, MonthResult
from ledger.models.files import File, FileTransaction, ParseStatus
from ledger.models.products import Product, ProductExternalId, ProductGroup
from ledger.models.rates import Rate, RateLoad
from ledger.models.recurring import RecurringBook, RecurringMonth, RecurringSeries
from ledger.models.subscriptions import BillingPeriod, Subscription, SubscriptionEvent
from ledger.models.transactions import ImportBatch, Source, Transaction, counts_in_results

__all__ = [
    "COUNTS_AS_CASH",
    "Account",
    "AccountGroup",
    "AccountType",
    "BillingPeriod",
    "Categorization",
    "Category",
    "Counterparty",
    "CounterpartyType",
    "DayMovement",
    "File",
    "FileTransaction",
    "ImportBatch",
    "ImportType",
    "LinkKind",
    "MonthMovement",
    "MonthResult",
    "ParseStatus",
    "PlType",
    "Posting",
    "Product",
    "ProductExternalId",
    "ProductGroup",
    "Rate",
    "RateLoad",
    "RecurringBook",
    "RecurringMonth",
    "RecurringSeries",
    "Source",
    "Subscription",
    "SubscriptionEvent",
    "Transaction",
    "counts_in_results",
]
