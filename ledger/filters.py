"""The filters of transactions, for the list's query and for the ``filter`` of a selection alike."""

import uuid
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import django_filters
from django import forms
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone
from django.utils.datastructures import MultiValueDict
from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ErrorDetail, ValidationError

from companies.api.fields import DATE
from companies.api.limits import LONGEST_TIME
from companies.models import Currency, id_from
from ledger.calc.money import InvalidAmount, parse_amount
from ledger.models import Categorization, PlType, Source, Transaction
from ledger.serializers.money import AMOUNT

MOST_TEXT = 500
MOST_VALUES = 200  # of one filter; a line of the protocol has not room for more ids


class Strict(forms.Field):
    """A field that takes one spelling of its values; ``read`` raises ValueError for all others."""

    says = "Malformed."
    schema: dict[str, Any] = {}  # in the OpenAPI document

    def to_python(self, value: Any) -> Any:
        if value is None:
            return None
        try:
            return self.read(value)
        except (ValueError, OverflowError):
            raise forms.ValidationError(self.says) from None

    def read(self, text: str) -> Any:
        return text


class DayField(Strict):
    says = "Must be a date, YYYY-MM-DD."
    schema = {"type": "string", "format": "date"}

    def read(self, text: str) -> date:
        if not DATE.fullmatch(text):
            raise ValueError
        return date.fromisoformat(text)


class TimeField(Strict):
    says = "Must be an ISO 8601 time with an offset, such as 2026-01-31T12:00:00Z."
    schema = {"type": "string", "format": "date-time"}

    def read(self, text: str) -> datetime:
        value = parse_datetime(text) if len(text) <= LONGEST_TIME else None
        if value is None or timezone.is_naive(value):
            raise ValueError
        return value.astimezone(UTC)


class AmountField(Strict):
    says = "Must be an amount such as -1234.56."
    schema = AMOUNT

    def read(self, text: str) -> Decimal:
        whole, point, fraction = text.partition(".")
        try:
            parse_amount(whole, "EUR")
        except InvalidAmount:
            raise ValueError from None
        if point and not (fraction.isascii() and fraction.isdecimal() and len(fraction) <= 4):
            raise ValueError
        return Decimal(text)


def known_id(text: str) -> uuid.UUID:
    found = id_from(text)
    if found is None:
        raise ValueError
    return found


class IdField(Strict):
    says = "Must be an id."
    schema = {"type": "string", "format": "uuid"}

    def read(self, text: str) -> uuid.UUID:
        return known_id(text)


class IdsField(Strict):
    widget = forms.MultipleHiddenInput
    says = f"Must be ids, {MOST_VALUES} at most."
    schema = {"type": "array", "items": IdField.schema, "maxItems": MOST_VALUES}

    def read(self, text: Any) -> list[uuid.UUID]:
        if len(text) > MOST_VALUES:
            raise ValueError
        return [known_id(each) for each in text]


class FlagField(Strict):
    says = "Must be true or false."
    schema = {"type": "boolean"}

    def read(self, text: str) -> bool:
        if text not in {"true", "false"}:
            raise ValueError
        return text == "true"


class TextField(Strict):
    says = f"Must be a text of at most {MOST_TEXT} characters."
    schema = {"type": "string", "maxLength": MOST_TEXT}

    def read(self, text: str) -> str:
        if len(text) > MOST_TEXT or "\0" in text:
            raise ValueError
        return text


class WordField(Strict):
    def __init__(self, *, words: list[str], **kwargs: Any):
        self.schema = {"type": "string", "enum": words}
        self.words = words
        self.says = f"Must be one of {', '.join(words)}."
        super().__init__(**kwargs)

    def read(self, text: str) -> str:
        if text not in self.words:
            raise ValueError
        return text


class Filter(django_filters.Filter):
    """A filter on a column, or one that a function of (rows, value) applies."""

    def __init__(self, field: type[Strict], column: str | None = None, lookup: str = "exact", **kwargs: Any):
        self.field_class = field
        super().__init__(column, lookup_expr=lookup, **kwargs)

    def filter(self, qs: Any, value: Any) -> Any:
        if value is None or value == []:
            return qs
        return qs.filter(**{f"{self.field_name}__{self.lookup_expr}": value})


def with_part(**conditions: Any) -> Exists:
    """Transactions with a part of a kind."""
    own = {"company_id": OuterRef("company_id"), "transaction_id": OuterRef("id")}
    return Exists(Categorization.objects.filter(**own, **conditions))


class TransactionFilter(django_filters.FilterSet):
    startDate = Filter(DayField, "date", "gte", help_text="first day, included")  # noqa: N815 - as on the wire
    endDate = Filter(DayField, "date", "lte", help_text="last day, included")  # noqa: N815
    accountId = Filter(IdsField, "account_id", "in", help_text="repeatable")  # noqa: N815
    categoryId = Filter(IdsField, method="by_category", help_text="repeatable; a part has one of them")  # noqa: N815
    plType = Filter(WordField, method="by_pl_type", words=PlType.values)  # noqa: N815
    counterpartyId = Filter(IdField, method="by_counterparty")  # noqa: N815
    currency = Filter(WordField, "amount_currency", words=Currency.values)
    minAmount = Filter(AmountField, "amount_value", "gte", help_text="with its sign: -50 is below -10")  # noqa: N815
    maxAmount = Filter(AmountField, "amount_value", "lte", help_text="with its sign")  # noqa: N815
    direction = Filter(WordField, method="by_direction", words=["in", "out"])
    open = Filter(FlagField, method="by_open", help_text="its categorizations do not add up to its amount")
    pending = Filter(FlagField, "pending")
    transfer = Filter(FlagField, method="by_transfer", help_text="has a linked leg")
    source = Filter(WordField, "source", words=Source.values)
    assignedUserId = Filter(TextField, "assigned_user_id")  # noqa: N815
    importId = Filter(IdField, "import_batch_id")  # noqa: N815
    updatedSince = Filter(TimeField, "last_updated_time", "gte")  # noqa: N815
    q = Filter(TextField, method="by_text", help_text="in fromTo, description and notes; case does not matter")

    class Meta:
        model = Transaction
        fields: list[str] = []

    def by_category(self, rows: Any, name: str, value: Any) -> Any:
        return rows.filter(with_part(category_id__in=value))

    def by_pl_type(self, rows: Any, name: str, value: Any) -> Any:
        return rows.filter(with_part(**{f"{value}__isnull": False}))

    def by_counterparty(self, rows: Any, name: str, value: Any) -> Any:
        return rows.filter(with_part(counterparty_id=value))

    def by_direction(self, rows: Any, name: str, value: Any) -> Any:
        return rows.filter(amount_value__gt=0) if value == "in" else rows.filter(amount_value__lt=0)

    def by_open(self, rows: Any, name: str, value: Any) -> Any:
        return rows.open() if value else rows.filter(amount_value=F("categorized_value"))

    def by_transfer(self, rows: Any, name: str, value: Any) -> Any:
        return rows.exclude(transferred_value=0) if value else rows.filter(transferred_value=0)

    def by_text(self, rows: Any, name: str, value: Any) -> Any:
        return rows.filter(Q(from_to__icontains=value) | Q(description__icontains=value) | Q(notes__icontains=value))


ORDERS = {
    "-date": ("-date", "-id"),
    "date": ("date", "id"),
    "-amount": ("-amount_value", "-id"),
    "amount": ("amount_value", "id"),
}
REPEATABLE = {"accountId", "categoryId"}
NAMES = frozenset(TransactionFilter.base_filters)
EMPTY_ALLOWED = {"q"}


def narrowed(rows: Any, given: "MultiValueDict[str, str]") -> Any:
    """The rows that the filters ask for. Raises ValidationError for unknown, repeated and malformed ones."""
    if not given:
        return rows
    errors = {name: [ErrorDetail("Unknown filter.", code="unknown_parameter")] for name in set(given) - NAMES}
    for name, values in given.lists():
        repeated = len(values) > 1 and name not in REPEATABLE
        if repeated or not values or ("" in values and name not in EMPTY_ALLOWED):
            errors.setdefault(name, [ErrorDetail("Must be given once and not be empty.", code="invalid_filter")])
    filterset = TransactionFilter(data=given, queryset=rows)
    if not filterset.is_valid():
        for name, messages in filterset.errors.items():
            errors.setdefault(name, [ErrorDetail(str(message), code="invalid_filter") for message in messages])
    if errors:
        raise ValidationError(errors)
    return filterset.qs


def order_of(sort: str) -> tuple[str, str]:
    """The columns that a ``sort`` orders by. Raises ValidationError."""
    if sort not in ORDERS:
        raise ValidationError({"sort": [ErrorDetail(f"Must be one of {', '.join(ORDERS)}.", code="invalid_filter")]})
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
            errors[name] = [ErrorDetail("Must be a text, true or false.", code="invalid_filter")]
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
