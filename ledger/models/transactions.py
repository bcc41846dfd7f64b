"""Movements of money on accounts, and the imports that brought them."""

from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, Left, Lower
from django.utils.translation import gettext_lazy as _

from companies.errors import Conflict, Invalid
from companies.locales import current
from companies.models import Audited, CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet, Currency, a_number
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


def counts_in_results(*, pending: bool, source: str) -> bool:
    """Whether a transaction's parts count in the profit and loss: what is booked does, but no initial balance."""
    return not pending and source != Source.INITIAL_BALANCE


class SplitExceedsAmount(Invalid):
    """The categorizations add up to more than the transaction."""

    code = "split_exceeds_amount"


class InitialBalanceFixed(Conflict):
    """An initial balance stands by itself: no leg of a transfer, no other category, changed through its account."""

    code = "transaction_is_initial_balance"


class TransactionLinked(Conflict):
    """A leg of a transfer stays as it is until it is unlinked."""

    code = "transaction_linked"


class FirstWord(Func):
    """The first word of the beginning of a text, as an index takes it."""

    template = "split_part(left(%(expressions)s, 100), ' ', 1)"
    output_field = models.TextField()


# What an import tells of a transaction, and people may correct.
TOLD = ("account_id", "date", "amount_value", "amount_currency", "from_to", "description")


class ImportBatchQuerySet(CompanyOwnedQuerySet["ImportBatch"]):
    pass


class ImportBatch(CompanyOwned):
    """One import that was kept: what came with it, and whether it was undone."""

    source = models.CharField(max_length=20, choices=Source)
    count = models.IntegerField()
    skipped_before_data_start = models.IntegerField()
    duplicates = models.IntegerField()
    created_time = models.DateTimeField()
    created_user_id = models.CharField(max_length=64, null=True)  # noqa: DJ001 - null on the wire
    filename = models.CharField(max_length=255, null=True)  # noqa: DJ001
    format = models.CharField(max_length=20, null=True)  # noqa: DJ001 - of a file
    account_ids = ArrayField(models.UUIDField(), default=list)  # what it brought movements of
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
        """What counts in balances and flows; pending ones do not."""
        return self.filter(pending=False)

    def open(self) -> Self:
        """Transactions whose categorizations do not add up to their amount."""
        return self.exclude(amount_value=F("categorized_value"))

    def unassigned(self) -> Self:
        """What rules and history may speak about: booked, of a kind that they are wanted for, and untouched so far."""
        return (
            self.booked()
            .open()
            .without_initial()
            .filter(exclude_from_auto_categorization=False, categorized_value=0, transferred_value=0)
        )

    def touched(self) -> Self:
        """What somebody has changed since it came, be it only what it was for."""
        return self.filter(last_updated_time__gt=Coalesce("told_time", "created_time"))

    def initial(self) -> Self:
        return self.filter(source=Source.INITIAL_BALANCE)

    def without_initial(self) -> Self:
        """All but initial balances, which are complete by themselves."""
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
    bank_reference = models.TextField(null=True)  # noqa: DJ001 - banks give one to several movements
    import_batch = CompanyForeignKey(ImportBatch, null=True)
    provider_data = models.JSONField(null=True)  # what bank, payment, CRM and accounting providers say, by field name
    categorized_value = models.DecimalField(max_digits=19, decimal_places=4, default=0)  # derived: sum of the parts
    transferred_value = models.DecimalField(max_digits=19, decimal_places=4, default=0)  # derived: its linked legs
    # What its import told, where it differs from what is here now: so that the same entry is known when it comes again.
    as_told = models.JSONField(null=True)
    told_time = models.DateTimeField(null=True)  # when an import last changed it, while nobody else had touched it

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
            # What others of the same name, or that begin with the same word, were for.
            models.Index(
                "company",
                Lower(Left("from_to", 100)),
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
                violation_error_message=_("The account has a transaction with this externalId."),
            ),
            models.UniqueConstraint(
                fields=["company", "account"],
                condition=Q(source=Source.INITIAL_BALANCE),
                name="transaction_one_initial_balance_per_account",
            ),
            models.CheckConstraint(condition=Q(source__in=Source.values), name="transaction_source_known"),
            models.CheckConstraint(condition=Q(amount_currency__in=Currency.values), name="transaction_currency_known"),
            models.CheckConstraint(condition=a_number("amount_value"), name="transaction_amount_a_number"),
            models.CheckConstraint(
                # The parts have the amount's sign and do not exceed it; the same for the linked legs among them.
                condition=(
                    Q(amount_value__gte=0, categorized_value__gte=0, categorized_value__lte=F("amount_value"))
                    | Q(amount_value__lt=0, categorized_value__lte=0, categorized_value__gte=F("amount_value"))
                ),
                name="transaction_parts_within_amount",
                violation_error_code=SplitExceedsAmount.code,
                violation_error_message=_("The categorizations add up to more than the transaction."),
            ),
            models.CheckConstraint(
                condition=~Q(source=Source.INITIAL_BALANCE)
                | Q(categorized_value=F("amount_value"), transferred_value=0),
                name="transaction_initial_balance_complete",
                violation_error_code=InitialBalanceFixed.code,
                violation_error_message=_(
                    "An initial balance stands by itself: it is whole, and no leg of a transfer."
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.date} {self.amount_value} {self.amount_currency}"

    @property
    def told(self) -> dict[str, str] | None:
        """What its import told, as it is kept; None where it came of none."""
        if self.import_batch_id is None:
            return None
        stored: dict[str, str] | None = self.as_told
        return stored or {name: str(getattr(self, name)) for name in TOLD}

    @property
    def called(self) -> str:
        """What to call it in a sentence."""
        return self.from_to or self.description or current().day_of(self.date)

    @property
    def is_initial(self) -> bool:
        return self.source == Source.INITIAL_BALANCE

    @property
    def is_open(self) -> bool:
        return self.amount_value != self.categorized_value
