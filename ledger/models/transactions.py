"""Transactions and the imports that created them."""

from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, Left, Lower
from django.utils.translation import gettext_lazy as _

from companies.errors import ConflictError, InvalidInputError
from companies.locales import get_current_locale
from companies.models import (
    Audited,
    CompanyForeignKey,
    CompanyOwned,
    CompanyOwnedQuerySet,
    Currency,
    build_amount_condition,
)
from ledger.models.accounts import Account
from ledger.models.external_ids import ExternalIdTaken


class Source(models.TextChoices):
    MANUAL = "manual"
    IMPORT = "import"
    CSV = "csv"
    BANK = "bank"
    API = "api"
    INITIAL_BALANCE = "initialBalance"
    TRANSFER = "transfer"


def is_counted_in_results(*, pending: bool, source: str) -> bool:
    """Return whether a transaction's categorizations count in the profit and loss: booked, and no initial balance."""
    return not pending and source != Source.INITIAL_BALANCE


class SplitExceedsAmount(InvalidInputError):
    """The categorizations exceed the amount of the transaction. Reduce them."""

    code = "split_exceeds_amount"


class TransactionIsInitialBalance(ConflictError):
    """An opening balance cannot be categorized or linked as a transfer. Change it on its account."""

    code = "transaction_is_initial_balance"


class TransactionLinked(ConflictError):
    """This transaction belongs to a transfer. Unlink the transfer first."""

    code = "transaction_linked"


MAX_INDEXED_NAME_LENGTH = 100  # characters of a name that the indexes store


class FirstWord(Func):
    """The first word of the first 100 characters of a text, as an index stores it."""

    template = "split_part(left(%(expressions)s, 100), ' ', 1)"
    output_field = models.TextField()


# Columns that an import sets and users may edit.
IMPORTED_FIELDS = ("account_id", "date", "amount_value", "amount_currency", "from_to", "description")


class ImportBatchQuerySet(CompanyOwnedQuerySet["ImportBatch"]):
    pass


class ImportBatch(CompanyOwned):
    """One import: its counts, its file, and whether it was undone."""

    source = models.CharField(max_length=20, choices=Source)
    count = models.IntegerField()
    skipped_before_data_start = models.IntegerField()
    duplicates = models.IntegerField()
    created_time = models.DateTimeField()
    created_user_id = models.CharField(max_length=64, null=True)  # noqa: DJ001 - null on the wire
    filename = models.CharField(max_length=255, null=True)  # noqa: DJ001
    format = models.CharField(max_length=20, null=True)  # noqa: DJ001 - of a file
    account_ids = ArrayField(models.UUIDField(), default=list)  # accounts of the imported transactions
    undone_time = models.DateTimeField(null=True)
    undone_user_id = models.CharField(max_length=64, null=True)  # noqa: DJ001

    objects = ImportBatchQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["company", "created_time", "id"], name="import_batch_by_time")]

    def __str__(self) -> str:
        return f"{self.count} from {self.source}"

    @property
    def last_updated_time(self) -> datetime:
        """An import changes once, when it is undone."""
        return self.undone_time or self.created_time

    @property
    def last_updated_user_id(self) -> str | None:
        return self.undone_user_id if self.undone_time else self.created_user_id


class TransactionQuerySet(CompanyOwnedQuerySet["Transaction"]):
    def booked(self) -> Self:
        """Return transactions that count in balances and cash flows; pending ones do not."""
        return self.filter(pending=False)

    def open(self) -> Self:
        """Return transactions whose categorizations do not add up to their amount."""
        return self.exclude(amount_value=F("categorized_value"))

    def auto_categorizable(self) -> Self:
        """Return transactions that rules and history may categorize: booked, not excluded, nothing categorized yet."""
        return (
            self.booked()
            .open()
            .without_initial_balances()
            .filter(exclude_from_auto_categorization=False, categorized_value=0, transferred_value=0)
        )

    def edited_since_import(self) -> Self:
        """Return transactions changed since their import, categorizations included."""
        return self.filter(last_updated_time__gt=Coalesce("told_time", "created_time"))

    def initial_balances(self) -> Self:
        """Return initial balances."""
        return self.filter(source=Source.INITIAL_BALANCE)

    def without_initial_balances(self) -> Self:
        """Return all but initial balances, which are always fully categorized."""
        return self.exclude(source=Source.INITIAL_BALANCE)


class Transaction(CompanyOwned, Audited):
    account = CompanyForeignKey(Account)
    date = models.DateField()
    from_to = models.TextField(default="", blank=True)
    description = models.TextField(default="", blank=True)
    amount_value = models.DecimalField(max_digits=19, decimal_places=4)  # negative is money out
    amount_currency = models.CharField(max_length=3, choices=Currency)
    categorizations_auto_assigned = models.BooleanField(default=False)
    exclude_from_auto_categorization = models.BooleanField(default=False)
    notes = models.TextField(null=True)  # noqa: DJ001 - null on the wire
    source = models.CharField(max_length=20, choices=Source)
    assigned_user_id = models.CharField(max_length=64, null=True)  # noqa: DJ001
    pending = models.BooleanField(default=False)
    external_id = models.TextField(null=True)  # noqa: DJ001
    bank_reference = models.TextField(null=True)  # noqa: DJ001 - banks reuse it for several transactions
    import_batch = CompanyForeignKey(ImportBatch, null=True)
    provider_data = models.JSONField(null=True)  # values of bank, payment, CRM and accounting providers, by API name
    categorized_value = models.DecimalField(
        max_digits=19, decimal_places=4, default=0
    )  # derived: sum of the categorizations
    transferred_value = models.DecimalField(max_digits=19, decimal_places=4, default=0)  # derived: its linked legs
    # The imported values if users edited them since, so that a later import recognizes the entry.
    as_told = models.JSONField(null=True)
    told_time = models.DateTimeField(null=True)  # the last import that changed it before any edit

    objects = TransactionQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["company", "date", "id"], name="transaction_by_date"),
            models.Index(fields=["company", "account", "date"], name="transaction_by_account"),
            models.Index(fields=["company", "amount_value", "id"], name="transaction_by_amount"),
            models.Index(fields=["company", "last_updated_time"], name="transaction_by_update"),
            models.Index(
                fields=["company", "import_batch"],
                condition=Q(import_batch__isnull=False),
                name="transaction_by_import",
            ),
            models.Index(
                fields=["company", "date", "id"],
                condition=~Q(amount_value=F("categorized_value")),
                name="transaction_open",
            ),
            models.Index(
                "company",
                KeyTextTransform("date", "as_told"),
                condition=Q(as_told__isnull=False),
                name="transaction_told_otherwise",
            ),
            # For suggestions from transactions with the same name or the same first word.
            models.Index(
                "company",
                Lower(Left("from_to", MAX_INDEXED_NAME_LENGTH)),
                F("date").desc(),
                F("id").desc(),
                condition=~Q(categorized_value=0),
                name="transaction_known_by_name",
            ),
            models.Index(
                "company",
                Lower(FirstWord("description")),
                F("date").desc(),
                condition=~Q(categorized_value=0),
                name="transaction_known_by_word",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["company", "account", "external_id"],
                condition=Q(external_id__isnull=False),
                name="transaction_external_id_once_per_account",
                violation_error_code=ExternalIdTaken.code,
                violation_error_message=_("The account already has a transaction with this external ID."),
            ),
            models.UniqueConstraint(
                fields=["company", "account"],
                condition=Q(source=Source.INITIAL_BALANCE),
                name="transaction_one_initial_balance_per_account",
            ),
            models.CheckConstraint(condition=Q(source__in=Source.values), name="transaction_source_known"),
            models.CheckConstraint(condition=Q(amount_currency__in=Currency.values), name="transaction_currency_known"),
            models.CheckConstraint(
                condition=build_amount_condition("amount_value"), name="transaction_amount_a_number"
            ),
            models.CheckConstraint(
                # The categorizations have the amount's sign and do not exceed it; the same holds for linked legs.
                condition=(
                    Q(amount_value__gte=0, categorized_value__gte=0, categorized_value__lte=F("amount_value"))
                    | Q(amount_value__lt=0, categorized_value__lte=0, categorized_value__gte=F("amount_value"))
                ),
                name="transaction_parts_within_amount",
                violation_error_code=SplitExceedsAmount.code,
                violation_error_message=_("The categorizations exceed the amount of the transaction. Reduce them."),
            ),
            models.CheckConstraint(
                condition=~Q(source=Source.INITIAL_BALANCE)
                | Q(categorized_value=F("amount_value"), transferred_value=0),
                name="transaction_initial_balance_complete",
                violation_error_code=TransactionIsInitialBalance.code,
                violation_error_message=_("An opening balance cannot be split or linked as a transfer."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.date} {self.amount_value} {self.amount_currency}"

    @property
    def imported_values(self) -> dict[str, str] | None:
        """The values as imported: stored if edited since, else the current ones; None if not imported."""
        if self.import_batch_id is None:
            return None
        stored: dict[str, str] | None = self.as_told
        return stored or {name: str(getattr(self, name)) for name in IMPORTED_FIELDS}

    @property
    def display_name(self) -> str:
        """A short title for messages."""
        return self.from_to or self.description or get_current_locale().format_day(self.date)

    @property
    def is_initial(self) -> bool:
        return self.source == Source.INITIAL_BALANCE

    @property
    def is_open(self) -> bool:
        return self.amount_value != self.categorized_value
