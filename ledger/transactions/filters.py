"""The filters of transactions, for the list's query and for the ``filter`` of a selection alike."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import django_filters
from django import forms
from django.db.models import F, Q
from django.utils.datastructures import MultiValueDict
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from companies.api import fields
from companies.api.filters import DayFormField, FieldOfShape, IdFormField, TimeFormField, repeatable
from companies.models import Among, Currency
from ledger.calc.months import first_of_month, last_of_month
from ledger.models import RULE_NOTE, AccountType, Categorization, PlType, Posting, Source, Transaction
from ledger.money.amounts import bound_in
from ledger.money.fields import AMOUNT
from ledger.recognition.by_day import UpToDay, WithinDays
from ledger.transactions.cash_parts import CashPart, filter_by_cash_part

MOST_TEXT = 500
ASSIGNERS = ("person", "rule", "history", "account")  # and rule:<id>
MOST_VALUES = 150  # of one filter; a line of the protocol has not room for more ids, with a cursor behind them


class FirstDayField(FieldOfShape):
    """A day, or a month for its first day."""

    reads = fields.MonthField(error_messages={"invalid_month": _("Must be a month, YYYY-MM, or a day of it.")})
    schema = {"type": "string", "maxLength": 10, "pattern": r"^\d{4}-\d{2}(-\d{2})?$"}

    def to_python(self, value: Any) -> date | None:
        if value is not None and fields.DATE.fullmatch(value):
            found: date | None = DayFormField().to_python(value)
            return found
        month: date | None = super().to_python(value)
        return month and self.day_of(month)

    def day_of(self, month: date) -> date:
        return month


class LastDayField(FirstDayField):
    """A day, or a month for its last day."""

    def day_of(self, month: date) -> date:
        return last_of_month(month)


class Bound(serializers.Field):
    """An amount to compare others with, of whatever currency."""

    def to_internal_value(self, data: Any) -> Decimal:
        try:
            return bound_in(data)
        except ValueError:
            raise ValidationError(gettext("Must be an amount such as -1234.56.")) from None


class AmountField(FieldOfShape):
    reads = Bound()
    schema = AMOUNT


class IdField(IdFormField):
    schema = {"type": "string", "format": "uuid"}


class IdsField(FieldOfShape):
    widget = forms.MultipleHiddenInput
    reads = fields.ListField(child=IdField.reads, max_length=MOST_VALUES)
    schema = {"type": "array", "items": IdField.schema, "maxItems": MOST_VALUES}


class TextField(FieldOfShape):
    reads = fields.TextField(max_length=MOST_TEXT, allow_blank=True)
    schema = {"type": "string", "maxLength": MOST_TEXT}


class AssignerField(FieldOfShape):
    """Who, or what, gave the parts; a rule that there is not gave none."""

    schema = {"type": "string", "maxLength": MOST_TEXT, "pattern": f"^({'|'.join(ASSIGNERS)}|{RULE_NOTE}.+)$"}
    reads = fields.TextField(max_length=MOST_TEXT)

    def to_python(self, value: Any) -> str | None:
        text: str | None = super().to_python(value)
        if text is not None and text not in ASSIGNERS and not (text.startswith(RULE_NOTE) and text != RULE_NOTE):
            said = gettext("Must be one of {words}.").format(words=", ".join([*ASSIGNERS, f"{RULE_NOTE}<id>"]))
            raise forms.ValidationError(said, code="invalid_choice")
        return text


class WordField(FieldOfShape):
    def __init__(self, *, words: list[str], **kwargs: Any):
        self.schema = {"type": "string", "enum": words}
        said = format_lazy(_("Must be one of {words}."), words=", ".join(words))
        self.reads = fields.ChoiceField(choices=words, error_messages={"invalid_choice": said})
        super().__init__(**kwargs)


class CurrencyFormField(FieldOfShape):
    reads = fields.CurrencyField()
    schema = {"type": "string", "enum": Currency.values}


class FlagField(FieldOfShape):
    reads = fields.ChoiceField(
        choices=["true", "false"], error_messages={"invalid_choice": _("Must be true or false.")}
    )
    schema = {"type": "boolean"}

    def to_python(self, value: Any) -> bool | None:
        return None if value is None else super().to_python(value) == "true"


class Filter(django_filters.Filter):
    """A filter on a column, or one that a function of (rows, value) applies."""

    def __init__(self, field: type[FieldOfShape], column: str | None = None, lookup: str = "exact", **kwargs: Any):
        self.field_class = field
        super().__init__(column, lookup_expr=lookup, **kwargs)

    def filter(self, qs: Any, value: Any) -> Any:
        if value is None or value == []:
            return qs
        return qs.filter(**{f"{self.field_name}__{self.lookup_expr}": value})


class TransactionFilter(django_filters.FilterSet):
    startDate = Filter(DayFormField, "date", "gte", help_text="first day, included")  # noqa: N815 - as on the wire
    endDate = Filter(DayFormField, "date", "lte", help_text="last day, included")  # noqa: N815
    accountId = Filter(IdsField, "account_id", "in", help_text="repeatable")  # noqa: N815
    categoryId = Filter(IdsField, method="by_category", help_text="repeatable; a part has one of them")  # noqa: N815
    plType = Filter(WordField, method="by_pl_type", words=PlType.values)  # noqa: N815
    recognizedFrom = Filter(  # noqa: N815
        FirstDayField,
        method="by_recognition",
        help_text="a share of it counts in the profit and loss of this month or day or later, in the plType and "
        "categoryId that are asked for; recognition is by day",
    )
    recognizedTo = Filter(  # noqa: N815
        LastDayField, method="by_recognition", help_text="of this month or day, or earlier"
    )
    recognizedBy = Filter(  # noqa: N815
        DayFormField,
        method="by_recognition",
        help_text="of this day's month or earlier; of its own month only what counts up to the day, of transactions "
        "dated up to it",
    )
    counterpartyId = Filter(IdField, method="by_counterparty")  # noqa: N815
    currency = Filter(CurrencyFormField, "amount_currency")
    minAmount = Filter(AmountField, "amount_value", "gte", help_text="with its sign: -50 is below -10")  # noqa: N815
    maxAmount = Filter(AmountField, "amount_value", "lte", help_text="with its sign")  # noqa: N815
    direction = Filter(WordField, method="by_direction", words=["in", "out"])
    flow = Filter(
        WordField,
        method="by_flow",
        words=["in", "out"],
        help_text="counts in the cash flow: booked, no transfer, no initial balance, on no transit account",
    )
    cash = Filter(
        FlagField,
        "account__include_in_cash_balance",
        help_text="on an account that counts as cash",
    )
    cashPart = Filter(  # noqa: N815
        WordField,
        method="by_cash_part",
        words=CashPart.values,
        help_text="counts in this part of `cashBridge` for startDate to endDate; `total=true` then adds up what of "
        "each transaction counts there",
    )
    open = Filter(FlagField, method="by_open", help_text="its categorizations do not add up to its amount")
    pending = Filter(FlagField, "pending")
    transfer = Filter(FlagField, method="by_transfer", help_text="has a linked leg")
    source = Filter(WordField, "source", words=Source.values)
    assignedUserId = Filter(TextField, "assigned_user_id")  # noqa: N815
    categorizationsAutoAssigned = Filter(  # noqa: N815
        FlagField, "categorizations_auto_assigned", help_text="by a rule, by history or by its account"
    )
    assignedBy = Filter(  # noqa: N815
        AssignerField,
        method="by_assigner",
        help_text="person (initial balances are nobody's), rule, rule:<id>, history or account",
    )
    importId = Filter(IdField, "import_batch_id")  # noqa: N815
    updatedSince = Filter(TimeFormField, "last_updated_time", "gte")  # noqa: N815
    q = Filter(TextField, method="by_text", help_text="in fromTo, description and notes; case does not matter")

    class Meta:
        model = Transaction
        fields: list[str] = []

    def __init__(self, *args: Any, company_id: UUID, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.company_id = company_id

    def with_part(self, *also: Among, **conditions: Any) -> Among:
        """Transactions with a part of a kind."""
        parts = Categorization.objects.of(self.company_id).filter(*also, **conditions)
        return Among("id", parts.values("transaction_id"))

    def by_category(self, rows: Any, name: str, value: Any) -> Any:
        return rows if self.posted else rows.filter(self.with_part(category_id__in=value))

    def by_pl_type(self, rows: Any, name: str, value: Any) -> Any:
        return rows if self.posted else rows.filter(self.with_part(**{f"{value}__isnull": False}))

    def by_recognition(self, rows: Any, name: str, value: Any) -> Any:
        return rows  # together with the others: see filter_queryset

    def filter_queryset(self, queryset: Any) -> Any:
        rows = super().filter_queryset(queryset)
        if not self.posted:
            return rows
        return rows.filter(self.with_part(Among("id", self.postings.values("categorization_id"))))

    @property
    def posted(self) -> dict[str, Any]:
        """What is asked of postings; nothing where no month of recognition is asked for.

        One posting meets it all: a transaction whose parts meet a half each is not in the cell of the profit and loss.
        """
        asked, first, last = self.form.cleaned_data, self.first_day, self.last_day
        if not (first or last):
            return {}
        found = {
            "month__gte": first and first_of_month(first),
            "month__lte": last and first_of_month(last),
            "pl_type": asked.get("plType"),
            "category_id__in": asked.get("categoryId"),
        }
        return {name: value for name, value in found.items() if value}

    @property
    def first_day(self) -> date | None:
        """The first day on which a share counts."""
        found: date | None = self.form.cleaned_data.get("recognizedFrom")
        return found

    @property
    def last_day(self) -> date | None:
        """The last day on which a share counts."""
        return min(filter(None, [self.form.cleaned_data.get("recognizedTo"), self.by]), default=None)

    @property
    def cuts_months(self) -> bool:
        """Whether the days begin or end within a month."""
        last = self.form.cleaned_data.get("recognizedTo")
        return (self.first_day is not None and self.first_day.day > 1) or bool(last and last != last_of_month(last))

    @property
    def by(self) -> date | None:
        """The day up to which its month counts; None where all of it does."""
        found: date | None = self.form.cleaned_data.get("recognizedBy")
        return found

    @property
    def postings(self) -> Any:
        """The shares that are asked for, each with what of it is ``counted``."""
        rows: Any = Posting.objects.of(self.company_id).filter(**self.posted)
        if self.cuts_months:
            if self.by is not None:
                rows = rows.annotate(up_to_day=UpToDay(self.by, company_id=self.company_id)).exclude(up_to_day=0)
            days = (self.first_day or date.min, self.last_day or date.max)
            return rows.annotate(counted=WithinDays(*days, company_id=self.company_id)).filter(counted__isnull=False)
        if self.by is None:
            return rows.annotate(counted=F("base_amount"))
        return rows.annotate(counted=UpToDay(self.by, company_id=self.company_id)).exclude(counted=0)

    def by_counterparty(self, rows: Any, name: str, value: Any) -> Any:
        return rows.filter(self.with_part(counterparty_id=value))

    def by_direction(self, rows: Any, name: str, value: Any) -> Any:
        return rows.filter(amount_value__gt=0) if value == "in" else rows.filter(amount_value__lt=0)

    def by_flow(self, rows: Any, name: str, value: Any) -> Any:
        rows = self.by_direction(rows, name, value).booked().without_initial()
        return rows.exclude(amount_value=F("transferred_value")).exclude(account__type=AccountType.TRANSIT)

    def by_cash_part(self, rows: Any, name: str, value: Any) -> Any:
        days = self.form.cleaned_data
        start, end = days.get("startDate"), days.get("endDate")
        return filter_by_cash_part(rows, value, company_id=self.company_id, start=start, end=end)

    def by_open(self, rows: Any, name: str, value: Any) -> Any:
        return rows.open() if value else rows.filter(amount_value=F("categorized_value"))

    def by_transfer(self, rows: Any, name: str, value: Any) -> Any:
        return rows.exclude(transferred_value=0) if value else rows.filter(transferred_value=0)

    def by_assigner(self, rows: Any, name: str, value: Any) -> Any:
        if value == "person":
            # What an account opens with has its category by itself, whoever or whatever set it.
            return rows.without_initial().filter(self.with_part(), categorizations_auto_assigned=False)
        noted = {"source_note__startswith": RULE_NOTE} if value == "rule" else {"source_note": value}
        return rows.filter(self.with_part(**noted), categorizations_auto_assigned=True)

    def by_text(self, rows: Any, name: str, value: Any) -> Any:
        return rows.filter(Q(from_to__icontains=value) | Q(description__icontains=value) | Q(notes__icontains=value))


ORDERS = {
    "-date": ("-date", "-id"),
    "date": ("date", "id"),
    "-amount": ("-amount_value", "-id"),
    "amount": ("amount_value", "id"),
}
REPEATABLE = repeatable(TransactionFilter)
NAMES = frozenset(TransactionFilter.base_filters)
EMPTY_ALLOWED = {"q"}


def narrowed(rows: Any, given: "MultiValueDict[str, str]", *, company_id: UUID) -> Any:
    """Those of the company's rows that the filters ask for.

    Raises ValidationError for unknown, repeated and malformed ones.
    """
    return filtered(rows, given, company_id=company_id).qs if given else rows


def filtered(rows: Any, given: "MultiValueDict[str, str]", *, company_id: UUID) -> TransactionFilter:
    """The filters as they were understood. Raises ValidationError for unknown, repeated and malformed ones."""
    errors = {name: [ErrorDetail(gettext("Unknown filter."), code="unknown_parameter")] for name in set(given) - NAMES}
    for name, values in given.lists():
        repeated = len(values) > 1 and name not in REPEATABLE
        if repeated or not values or ("" in values and name not in EMPTY_ALLOWED):
            errors.setdefault(
                name, [ErrorDetail(gettext("Must be given once and not be empty."), code="invalid_filter")]
            )
    filterset = TransactionFilter(data=given, queryset=rows, company_id=company_id)
    if not filterset.is_valid():
        for name, messages in filterset.errors.items():
            errors.setdefault(name, [ErrorDetail(str(message), code="invalid_filter") for message in messages])
    if errors:
        raise ValidationError(errors)
    return filterset


def flag_of(name: str, params: "MultiValueDict[str, str]") -> bool:
    """A query's ``true`` or ``false``; false where it is left out. Raises ValidationError."""
    given = set(params.getlist(name))
    if given - {"true", "false"} or len(given) > 1:
        raise ValidationError({name: [ErrorDetail(gettext("Must be true or false."), code="invalid_filter")]})
    return given == {"true"}


def order_of(sort: str) -> tuple[str, str]:
    """The columns that a ``sort`` orders by. Raises ValidationError."""
    if sort not in ORDERS:
        said = gettext("Must be one of {words}.").format(words=", ".join(ORDERS))
        raise ValidationError({"sort": [ErrorDetail(said, code="invalid_filter")]})
    return ORDERS[sort]


def from_object(given: Mapping[str, Any]) -> "MultiValueDict[str, str]":
    """The ``filter`` object of a selection, in the shape of a query. Raises ValidationError for other types."""
    found: MultiValueDict[str, str] = MultiValueDict()
    errors = {}
    for name, value in given.items():
        values = value if isinstance(value, list) else [value]
        if all(isinstance(each, bool) for each in values):
            values = ["true" if each else "false" for each in values]
        if all(isinstance(each, str) for each in values):
            found.setlist(name, values)
        else:
            errors[name] = [ErrorDetail(gettext("Must be a text, true or false."), code="invalid_filter")]
    if errors:
        raise ValidationError(errors)
    return found


PARAMETERS = [
    OpenApiParameter(
        name,
        type=each.field.schema,
        description=each.extra.get("help_text") or "",
    )
    for name, each in TransactionFilter.base_filters.items()
]
