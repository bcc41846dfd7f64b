"""Strict serializer fields: no coercion, one stable error code per kind of mistake."""

import re
import uuid
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import orjson
from django.core.validators import ProhibitNullCharactersValidator
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from companies import email_addresses
from companies.api.limits import MAX_BODY_LENGTH, MAX_TIME_LENGTH
from companies.errors import UNKNOWN_ID_TEXT, NotFoundError
from companies.models import Currency, parse_id
from companies.names import BLANK_NAME_CODE, VISIBLE_PATTERN, validate_one_line

DATE_PATTERN = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
MONTH_PATTERN = re.compile(r"\d{4}-(0[1-9]|1[0-2])", re.ASCII)
WEB_URL_PATTERN = re.compile(r"https?://[^\s/?#]+\S*", re.IGNORECASE)  # a browser might execute other schemes
MAX_JSON_DEPTH = 64  # the renderer can write 254
MAX_INTEGER = 2**63 - 1  # orjson renders no larger integer
MIN_ORDER, MAX_ORDER = -8388608, 8388607  # service.md, part 8


class TextField(serializers.CharField):
    """A string and nothing else; NUL characters are rejected."""

    default_error_messages = {"invalid": gettext_lazy("Must be a string.")}

    def __init__(self, **kwargs: Any):
        kwargs.setdefault("trim_whitespace", False)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class WebAddressField(TextField):
    """An http or https URL."""

    default_error_messages = {"not_a_web_address": gettext_lazy("Must be a URL that starts with https:// or http://.")}

    def to_internal_value(self, data: Any) -> str:
        text: str = super().to_internal_value(data)
        if text and not WEB_URL_PATTERN.fullmatch(text):
            self.fail("not_a_web_address")
        return text


class NameField(TextField):
    """A name: trimmed, not blank, on one line."""

    def __init__(self, **kwargs: Any):
        super().__init__(trim_whitespace=True, **kwargs)
        self.validators = [each for each in self.validators if not isinstance(each, ProhibitNullCharactersValidator)]
        self.validators.append(validate_one_line)  # it rejects NUL characters too

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if isinstance(data, str) and not VISIBLE_PATTERN.search(data):
            raise serializers.ValidationError(_("This field is required."), code=BLANK_NAME_CODE)
        return super().run_validation(data)


class EmailField(serializers.EmailField):
    """An e-mail address with a canonical form; stored as typed."""

    default_error_messages = {"invalid_email": gettext_lazy(email_addresses.InvalidEmail.get_default_detail())}

    def __init__(self, **kwargs: Any):
        kwargs.setdefault("trim_whitespace", False)
        kwargs.setdefault("max_length", email_addresses.MAX_EMAIL_LENGTH)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if not data.isascii() and not email_addresses.is_valid_email(data):
            self.fail("invalid_email")
        return super().to_internal_value(data)

    def run_validators(self, value: Any) -> None:
        super().run_validators(value)
        if not email_addresses.is_valid_email(value):  # valid by Django's rules, but without a canonical form
            self.fail("invalid_email")


@extend_schema_field({"type": "string", "maxLength": MAX_BODY_LENGTH})
class AnyTextField(TextField):
    """Any text that fits into a body: for ids, where malformed text is an unknown id."""


class BooleanField(serializers.BooleanField):
    default_error_messages = {"invalid": gettext_lazy("Must be true or false.")}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class IntegerField(serializers.IntegerField):
    """A JSON integer; true, 1.0 and "1" are rejected."""

    default_error_messages = {"invalid": gettext_lazy("Must be an integer.")}

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return data


class CountField(IntegerField):
    """A number of things, 0 or more."""

    def __init__(self, **kwargs: Any):
        super().__init__(min_value=0, max_value=MAX_INTEGER, **kwargs)


class ListField(serializers.ListField):
    """A list whose length is checked before its items."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and self.max_length is not None and len(data) > self.max_length:
            raise serializers.ValidationError(
                _("Must have at most {most} items.").format(most=f"{self.max_length:,}"), code="too_long"
            )
        return super().to_internal_value(data)


class OrderField(IntegerField):
    """Integer in the range of ``order`` and ``expectedAnnualReturn``."""

    def __init__(self, **kwargs: Any):
        kwargs.setdefault("min_value", MIN_ORDER)
        kwargs.setdefault("max_value", MAX_ORDER)
        super().__init__(**kwargs)


@extend_schema_field({"type": "number"})
class NumberField(serializers.Field):
    """A JSON number as an exact Decimal; returned as a number."""

    default_error_messages = {
        "invalid": gettext_lazy("Must be a number."),
        "too_many_decimals": gettext_lazy("At most {most} decimals are allowed."),
    }

    def __init__(
        self,
        *,
        minimum: Decimal | None = None,
        maximum: Decimal | None = None,
        max_decimals: int | None = None,
        **kwargs: Any,
    ):
        self.minimum, self.maximum, self.max_decimals = minimum, maximum, max_decimals
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> Decimal:
        if isinstance(data, bool) or not isinstance(data, int | float | Decimal):
            self.fail("invalid")
        value = Decimal(str(data))
        if (self.minimum is not None and value < self.minimum) or (self.maximum is not None and value > self.maximum):
            message = _("Must be between {least} and {most}.").format(least=self.minimum, most=self.maximum)
            raise serializers.ValidationError(message, code="out_of_range")
        if self.max_decimals is not None and value != round(value, self.max_decimals):
            self.fail("too_many_decimals", most=self.max_decimals)
        return value

    def to_representation(self, value: Any) -> float | int | orjson.Fragment:
        return to_json_number(value)


def to_json_number(value: Decimal) -> float | int | orjson.Fragment:
    """Return a JSON number with the digits of the decimal: 12 and not 12.0, 0.1 and not 0.1000…,
    999999999999999.99.
    """
    if abs(value) <= MAX_INTEGER and value == value.to_integral_value():
        return int(value)
    as_float = float(value)
    return as_float if Decimal(repr(as_float)) == value else orjson.Fragment(format(value, "f"))


class IdField(serializers.UUIDField):
    """An id; text that is no UUID is an unknown id."""

    default_error_messages = {"unknown_id": gettext_lazy(UNKNOWN_ID_TEXT)}

    def to_internal_value(self, data: Any) -> uuid.UUID:
        parsed_id = parse_id(data) if isinstance(data, str) else None
        return parsed_id or self.fail("unknown_id")

    def to_representation(self, value: Any) -> str:
        return str(value)


class DateField(serializers.DateField):
    """A date, YYYY-MM-DD, never shifted by a time zone."""

    default_error_messages = {
        "invalid": gettext_lazy("Must be a date (YYYY-MM-DD)."),
        "invalid_date": gettext_lazy("This date does not exist."),
    }

    def to_internal_value(self, data: Any) -> date:
        if not isinstance(data, str) or not DATE_PATTERN.fullmatch(data):
            self.fail("invalid")
        try:
            return date.fromisoformat(data)
        except ValueError:
            self.fail("invalid_date")


MONTH_SCHEMA = {
    "type": "string",
    "maxLength": 7,
    "pattern": r"^(?!0000)\d{4}-(0[1-9]|1[0-2])$",
    "examples": ["2026-01"],
}


@extend_schema_field(MONTH_SCHEMA)
class MonthField(serializers.Field):
    """A month, YYYY-MM, as its first day."""

    default_error_messages = {"invalid_month": gettext_lazy("Must be a month (YYYY-MM).")}

    def to_internal_value(self, data: Any) -> date:
        if not isinstance(data, str) or not MONTH_PATTERN.fullmatch(data) or data.startswith("0000"):
            self.fail("invalid_month")
        return date.fromisoformat(f"{data}-01")

    def to_representation(self, value: date) -> str:
        return value.isoformat()[:7]  # strftime formats the year 1 as 1


def parse_month_path(text: str) -> date:
    """Parse the month of a path. Raises NotFoundError."""
    if not MONTH_PATTERN.fullmatch(text) or text.startswith("0000"):
        raise NotFoundError
    return date.fromisoformat(f"{text}-01")


class TimeField(serializers.DateTimeField):
    """An ISO 8601 time with its offset; returned in UTC with Z."""

    default_error_messages = {"invalid": "Must be an ISO 8601 time with a UTC offset, such as 2026-01-31T12:00:00Z."}

    def to_internal_value(self, data: Any) -> datetime:
        try:
            value = parse_datetime(data) if isinstance(data, str) and len(data) <= MAX_TIME_LENGTH else None
            if value is None or timezone.is_naive(value):
                self.fail("invalid")
            return value.astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail("invalid")

    def to_representation(self, value: Any) -> str:
        return format_utc(value)


def format_utc(value: datetime) -> str:
    """Format a UTC time with Z, as in every response."""
    return value.isoformat().replace("+00:00", "Z")


class ChoiceField(serializers.ChoiceField):
    """One of the allowed values, as a string; the error lists them all."""

    default_error_messages = {"invalid_choice": gettext_lazy("Must be one of {words}.")}

    def to_internal_value(self, data: Any) -> Any:
        if data == "" and self.allow_blank:
            return ""
        if not isinstance(data, str) or data not in self.choice_strings_to_values:
            self.fail("invalid_choice", input=data, words=self.list_words())
        return self.choice_strings_to_values[data]

    def list_words(self) -> str:
        return ", ".join(self.choice_strings_to_values)


UNKNOWN_CURRENCY_TEXT = gettext_lazy("Must be one of {words}, in upper case.")


def build_unsupported_currency_message() -> str:
    """Return the message that lists the supported currencies."""
    return UNKNOWN_CURRENCY_TEXT.format(words=", ".join(Currency.values))


class CurrencyField(ChoiceField):
    """An ISO 4217 currency in upper case."""

    default_error_messages = {"invalid_choice": UNKNOWN_CURRENCY_TEXT}

    def __init__(self, **kwargs: Any):
        kwargs.setdefault("choices", Currency.choices)
        super().__init__(**kwargs)


@extend_schema_field({"type": "object", "additionalProperties": {}})
class JsonField(serializers.JSONField):
    """Any JSON object that can be stored and returned."""

    default_error_messages = {
        "invalid": "Must be an object.",
        "too_deep": f"Must have at most {MAX_JSON_DEPTH} nested levels.",
        "invalid_characters": "Must not contain NUL characters.",
        "out_of_range": f"Must not contain numbers beyond ±{MAX_INTEGER}.",
    }

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            self.fail("invalid")
        level: list[Any] = [data]
        for _level in range(MAX_JSON_DEPTH):
            if any(isinstance(value, str) and "\0" in value for value in level):
                self.fail("invalid_characters")
            if any(
                isinstance(value, int | float | Decimal) and not -MAX_INTEGER <= value <= MAX_INTEGER for value in level
            ):
                self.fail("out_of_range")
            level = [inner for value in level for inner in list_nested_values(value)]
        if level:
            self.fail("too_deep")
        return orjson.loads(orjson.dumps(data, default=float))  # stored JSON has no decimals


def list_nested_values(value: Any) -> Iterable[Any]:
    """Return the values directly inside a JSON value, keys included."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else ()


def get_first_message(detail: Any) -> str:
    """Return the first message of a field's error details."""
    return str(get_first_detail(detail))


def get_first_detail(detail: Any) -> Any:
    """Return the first of a field's error details, which has its code."""
    while isinstance(detail, (list, dict)):
        detail = next(iter(detail.values() if isinstance(detail, dict) else detail))
    return detail
