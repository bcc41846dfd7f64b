"""Filters of transactions, for list queries and for the `filter` of a selection."""

import functools
import operator
from collections.abc import Mapping
from datetime import date
from typing import Any
from uuid import UUID

import django_filters
from django.db.models import F, Q
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ErrorDetail, ValidationError

from companies.api.filters import DateFormField, SerializerFormField, TimeFormField, list_repeatable_filters
from companies.models import IdIn
from ledger.calc.months import get_first_day_of_month, get_last_day_of_month
from ledger.models import RULE_NOTE_PREFIX, AccountType, Categorization, PlType, Posting, Source, Transaction
from ledger.recognition.partial_month import RecognizedUpToDay, RecognizedWithinDays
from ledger.transactions.fields import TRANSACTION_TEXTS
from ledger.transactions.filter_fields import (
    AmountField,
    AssignerField,
    CurrencyFormField,
    FirstDayField,
    FlagField,
    IdField,
    IdsField,
    LastDayField,
    TextField,
    WordField,
)
from ledger.transactions.queries.cash_parts import CashPart, filter_by_cash_part


class Filter(django_filters.Filter):
    """A filter on a column, or one that a method (rows, value) applies."""

    def __init__(
        self, field: type[SerializerFormField], column: str | None = None, lookup: str = "exact", **kwargs: Any
    ):
        self.field_class = field
        super().__init__(column, lookup_expr=lookup, **kwargs)

    def filter(self, qs: Any, value: Any) -> Any:
        if value is None or value == []:
            return qs
        return qs.filter(**{f"{self.field_name}__{self.lookup_expr}": value})


class TransactionFilter(django_filters.FilterSet):
    startDate = Filter(DateFormField, "date", "gte", help_text="First day, included.")  # noqa: N815 - as on the wire
    endDate = Filter(DateFormField, "date", "lte", help_text="Last day, included.")  # noqa: N815
    accountId = Filter(IdsField, "account_id", "in", help_text="Account ID; repeatable.")  # noqa: N815
    categoryId = Filter(IdsField, method="by_category", help_text="Category ID; repeatable.")  # noqa: N815
    plType = Filter(WordField, method="by_pl_type", words=PlType.values)  # noqa: N815
    recognizedFrom = Filter(  # noqa: N815
        FirstDayField,
        method="by_recognition",
        help_text="First month or day of recognition in profit and loss; combines with plType and categoryId.",
    )
    recognizedTo = Filter(  # noqa: N815
        LastDayField, method="by_recognition", help_text="Last month or day of recognition."
    )
    recognizedBy = Filter(  # noqa: N815
        DateFormField,
        method="by_recognition",
        help_text="Recognized up to this day; in its month, only amounts of transactions dated up to the day count.",
    )
    counterpartyId = Filter(IdField, method="by_counterparty")  # noqa: N815
    hasCounterparty = Filter(  # noqa: N815
        FlagField, method="by_has_counterparty", help_text="Whether a categorization names a counterparty."
    )
    fromTo = Filter(TextField, "from_to", help_text="Exactly this name in fromTo.")  # noqa: N815
    currency = Filter(CurrencyFormField, "amount_currency")
    minAmount = Filter(AmountField, "amount_value", "gte", help_text="Lowest amount; -50 is below -10.")  # noqa: N815
    maxAmount = Filter(AmountField, "amount_value", "lte", help_text="Highest amount.")  # noqa: N815
    direction = Filter(WordField, method="by_direction", words=["in", "out"])
    flow = Filter(
        WordField,
        method="by_flow",
        words=["in", "out"],
        help_text="Counts in cash flow: booked, no transfer, no opening balance, not on a transit account.",
    )
    cash = Filter(
        FlagField,
        "account__include_in_cash_balance",
        help_text="On an account that counts as cash.",
    )
    cashPart = Filter(  # noqa: N815
        WordField,
        method="by_cash_part",
        words=CashPart.values,
        help_text="Counts in this part of `cashBridge` from startDate to endDate; `total=true` then adds up only "
        "that part.",
    )
    open = Filter(FlagField, method="by_open", help_text="Whether an amount is uncategorized.")
    pending = Filter(FlagField, "pending")
    transfer = Filter(FlagField, method="by_transfer", help_text="Leg of a transfer.")
    source = Filter(WordField, "source", words=Source.values)
    assignedUserId = Filter(TextField, "assigned_user_id")  # noqa: N815
    categorizationsAutoAssigned = Filter(  # noqa: N815
        FlagField,
        "categorizations_auto_assigned",
        help_text="Whether a rule, the history, the account or a plan assigned the categories.",
    )
    assignedBy = Filter(  # noqa: N815
        AssignerField,
        method="by_assigner",
        help_text="Who assigned the categories: `person`, `rule`, `rule:<id>`, `history`, `account` or `plan`.",
    )
    importId = Filter(IdField, "import_batch_id")  # noqa: N815
    updatedSince = Filter(TimeFormField, "last_updated_time", "gte")  # noqa: N815
    q = Filter(TextField, method="by_text", help_text="Text in fromTo, description or notes; case-insensitive.")

    class Meta:
        model = Transaction
        fields: list[str] = []

    def __init__(self, *args: Any, company_id: UUID, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.company_id = company_id

    def with_categorization(self, *more_conditions: IdIn, **conditions: Any) -> IdIn:
        """Return the condition that a transaction has a categorization that meets the conditions."""
        categorizations = Categorization.objects.for_company(self.company_id).filter(*more_conditions, **conditions)
        return IdIn("id", categorizations.values("transaction_id"))

    def by_category(self, rows: Any, name: str, value: Any) -> Any:
        return rows if self.posting_conditions else rows.filter(self.with_categorization(category_id__in=value))

    def by_pl_type(self, rows: Any, name: str, value: Any) -> Any:
        return rows if self.posting_conditions else rows.filter(self.with_categorization(**{f"{value}__isnull": False}))

    def by_recognition(self, rows: Any, name: str, value: Any) -> Any:
        return rows  # applied together with other filters in filter_queryset

    def filter_queryset(self, queryset: Any) -> Any:
        rows = super().filter_queryset(queryset)
        if not self.posting_conditions:
            return rows
        return rows.filter(self.with_categorization(IdIn("id", self.postings.values("categorization_id"))))

    @property
    def posting_conditions(self) -> dict[str, Any]:
        """The conditions on postings; empty unless a month of recognition is filtered.

        One posting must meet all: categorizations that meet half of the conditions each are in no cell of the
        profit and loss.
        """
        cleaned_data, first, last = self.form.cleaned_data, self.first_day, self.last_day
        if not (first or last):
            return {}
        conditions = {
            "month__gte": first and get_first_day_of_month(first),
            "month__lte": last and get_first_day_of_month(last),
            "pl_type": cleaned_data.get("plType"),
            "category_id__in": cleaned_data.get("categoryId"),
        }
        return {name: value for name, value in conditions.items() if value}

    @property
    def first_day(self) -> date | None:
        """The first day of recognition that counts."""
        day: date | None = self.form.cleaned_data.get("recognizedFrom")
        return day

    @property
    def last_day(self) -> date | None:
        """The last day of recognition that counts."""
        return min(filter(None, [self.form.cleaned_data.get("recognizedTo"), self.cutoff_day]), default=None)

    @property
    def has_partial_months(self) -> bool:
        """Whether the days start or end within a month."""
        last = self.form.cleaned_data.get("recognizedTo")
        return (self.first_day is not None and self.first_day.day > 1) or bool(
            last and last != get_last_day_of_month(last)
        )

    @property
    def cutoff_day(self) -> date | None:
        """The day up to which its month counts; None if the whole month does."""
        day: date | None = self.form.cleaned_data.get("recognizedBy")
        return day

    @property
    def postings(self) -> Any:
        """The matching postings, each with its `counted` amount."""
        rows: Any = Posting.objects.for_company(self.company_id).filter(**self.posting_conditions)
        if conditions := self.counterparty_conditions:
            categorizations = Categorization.objects.for_company(self.company_id).filter(**conditions)
            rows = rows.filter(IdIn("categorization_id", categorizations.values("id")))
        if self.has_partial_months:
            if self.cutoff_day is not None:
                rows = rows.annotate(up_to_day=RecognizedUpToDay(self.cutoff_day, company_id=self.company_id)).exclude(
                    up_to_day=0
                )
            days = (self.first_day or date.min, self.last_day or date.max)
            return rows.annotate(counted=RecognizedWithinDays(*days, company_id=self.company_id)).filter(
                counted__isnull=False
            )
        if self.cutoff_day is None:
            return rows.annotate(counted=F("base_amount"))
        return rows.annotate(counted=RecognizedUpToDay(self.cutoff_day, company_id=self.company_id)).exclude(counted=0)

    @property
    def counterparty_conditions(self) -> dict[str, Any]:
        """The conditions on the counterparty of a categorization."""
        cleaned_data = self.form.cleaned_data
        named = cleaned_data.get("hasCounterparty")
        conditions = {
            "counterparty_id": cleaned_data.get("counterpartyId"),
            "counterparty__isnull": None if named is None else not named,
        }
        return {name: value for name, value in conditions.items() if value is not None}

    def by_counterparty(self, rows: Any, name: str, value: Any) -> Any:
        return rows if self.posting_conditions else rows.filter(self.with_categorization(counterparty_id=value))

    def by_has_counterparty(self, rows: Any, name: str, value: Any) -> Any:
        if self.posting_conditions:
            return rows
        named = self.with_categorization(counterparty__isnull=False)
        return rows.filter(named) if value else rows.exclude(named)

    def by_direction(self, rows: Any, name: str, value: Any) -> Any:
        return rows.filter(amount_value__gt=0) if value == "in" else rows.filter(amount_value__lt=0)

    def by_flow(self, rows: Any, name: str, value: Any) -> Any:
        rows = self.by_direction(rows, name, value).booked().without_initial_balances()
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
            # Initial balances are categorized by the service.
            return rows.without_initial_balances().filter(
                self.with_categorization(), categorizations_auto_assigned=False
            )
        note_condition = {"source_note__startswith": RULE_NOTE_PREFIX} if value == "rule" else {"source_note": value}
        return rows.filter(self.with_categorization(**note_condition), categorizations_auto_assigned=True)

    def by_text(self, rows: Any, name: str, value: Any) -> Any:
        columns = ("from_to", "description", *(text.column for text in TRANSACTION_TEXTS))
        return rows.filter(functools.reduce(operator.or_, (Q(**{f"{name}__icontains": value}) for name in columns)))


SORT_ORDERS = {
    "-date": ("-date", "-id"),
    "date": ("date", "id"),
    "-amount": ("-amount_value", "-id"),
    "amount": ("amount_value", "id"),
}
REPEATABLE_FILTERS = list_repeatable_filters(TransactionFilter)
FILTER_NAMES = frozenset(TransactionFilter.base_filters)
BLANKABLE_FILTERS = {"q"}


def filter_transactions(rows: Any, query: "MultiValueDict[str, str]", *, company_id: UUID) -> Any:
    """Return the rows that match a filter query.

    Raises:
        ValidationError: a filter is unknown, repeated or malformed.
    """
    return build_filterset(rows, query, company_id=company_id).qs if query else rows


def build_filterset(rows: Any, query: "MultiValueDict[str, str]", *, company_id: UUID) -> TransactionFilter:
    """Return the validated filter set of a query.

    Raises:
        ValidationError: a filter is unknown, repeated or malformed.
    """
    errors = {
        name: [ErrorDetail(gettext("Unknown filter."), code="unknown_parameter")] for name in set(query) - FILTER_NAMES
    }
    for name, values in query.lists():
        is_repeated = len(values) > 1 and name not in REPEATABLE_FILTERS
        if is_repeated or not values or ("" in values and name not in BLANKABLE_FILTERS):
            errors.setdefault(
                name, [ErrorDetail(gettext("Must have exactly one non-empty value."), code="invalid_filter")]
            )
    filterset = TransactionFilter(data=query, queryset=rows, company_id=company_id)
    if not filterset.is_valid():
        for name, messages in filterset.errors.items():
            errors.setdefault(name, [ErrorDetail(str(message), code="invalid_filter") for message in messages])
    if errors:
        raise ValidationError(errors)
    return filterset


def parse_flag_parameter(name: str, params: "MultiValueDict[str, str]") -> bool:
    """Parse a `true` or `false` parameter; false if it is left out. Raises ValidationError."""
    values = set(params.getlist(name))
    if values - {"true", "false"} or len(values) > 1:
        raise ValidationError({name: [ErrorDetail(gettext("Must be true or false."), code="invalid_filter")]})
    return values == {"true"}


def parse_sort(sort: str) -> tuple[str, str]:
    """Return the order columns of a `sort` value. Raises ValidationError."""
    if sort not in SORT_ORDERS:
        message = gettext("Must be one of {words}.").format(words=", ".join(SORT_ORDERS))
        raise ValidationError({"sort": [ErrorDetail(message, code="invalid_filter")]})
    return SORT_ORDERS[sort]


def to_filter_query(filters: Mapping[str, Any]) -> "MultiValueDict[str, str]":
    """Convert the `filter` object of a selection into a query. Raises ValidationError for other types."""
    query: MultiValueDict[str, str] = MultiValueDict()
    errors = {}
    for name, value in filters.items():
        values = value if isinstance(value, list) else [value]
        if all(isinstance(each, bool) for each in values):
            values = ["true" if each else "false" for each in values]
        if all(isinstance(each, str) for each in values):
            query.setlist(name, values)
        else:
            errors[name] = [ErrorDetail(gettext("Must be a string or a boolean."), code="invalid_filter")]
    if errors:
        raise ValidationError(errors)
    return query


FILTER_PARAMETERS = [
    OpenApiParameter(
        name,
        type=filter_.field.schema,
        description=filter_.extra.get("help_text") or "",
    )
    for name, filter_ in TransactionFilter.base_filters.items()
]
SORT_PARAMETER = OpenApiParameter("sort", enum=list(SORT_ORDERS), description="Sort order; `-date` if left out.")
