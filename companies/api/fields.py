"""Fields that take exactly what the contract names: no coercion, one stable code per kind of mistake."""

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

from companies import emails
from companies.api.limits import LONGEST_BODY, LONGEST_TIME
from companies.errors import UNKNOWN_ID
from companies.models import Currency, id_from
from companies.names import BLANK, SEEN, one_line

DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])", re.ASCII)
MOST_LEVELS = 64  # the renderer can write 254
LARGEST_WHOLE = 2**63 - 1  # the renderer writes no larger integer, and a stored 1e20 comes back as one
ORDER_LEAST, ORDER_MOST = -8388608, 8388607  # service.md, part 8


class TextField(serializers.CharField):
    """A string and nothing else; NUL characters are refused."""

    default_error_messages = {"invalid": gettext_lazy("Must be a string.")}

    def __init__(self, **kwargs: Any):
        kwargs.setdefault("trim_whitespace", False)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class NameField(TextField):
    """What people call something: trimmed, not blank, on one line."""

    def __init__(self, **kwargs: Any):
        super().__init__(trim_whitespace=True, **kwargs)
        self.validators = [each for each in self.validators if not isinstance(each, ProhibitNullCharactersValidator)]
        self.validators.append(one_line)  # which refuses those too

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if isinstance(data, str) and not SEEN.search(data):
            raise serializers.ValidationError(_("This field may not be blank."), code=BLANK)
        return super().run_validation(data)


class EmailField(serializers.EmailField):
    """An e-mail address that has a canonical form; it stays as it was typed."""

    default_error_messages = {"invalid_email": gettext_lazy(emails.InvalidEmail.sentence())}

    def __init__(self, **kwargs: Any):
        kwargs.setdefault("trim_whitespace", False)
        kwargs.setdefault("max_length", emails.LONGEST)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if not data.isascii() and not emails.is_valid(data):
            self.fail("invalid_email")
        return super().to_internal_value(data)

    def run_validators(self, value: Any) -> None:
        super().run_validators(value)
        if not emails.is_valid(value):  # of what is otherwise written as an address
            self.fail("invalid_email")


@extend_schema_field({"type": "string", "maxLength": LONGEST_BODY})
class AnyTextField(TextField):
    """Any text that fits into a body: what should be an id, and is an unknown one where it is none."""


class FlagField(serializers.BooleanField):
    default_error_messages = {"invalid": gettext_lazy("Must be true or false.")}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class WholeField(serializers.IntegerField):
    """A JSON integer; true, 1.0 and "1" are none."""

    default_error_messages = {"invalid": gettext_lazy("Must be an integer.")}

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return data


class CountField(WholeField):
    """How many there are of something."""

    def __init__(self, **kwargs: Any):
        super().__init__(min_value=0, max_value=LARGEST_WHOLE, **kwargs)


class ListField(serializers.ListField):
    """Its length is looked at before its items are: a subclass may make fewer of them."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and self.max_length is not None and len(data) > self.max_length:
            raise serializers.ValidationError(
                _("Must have at most {most} items.").format(most=f"{self.max_length:,}"), code="too_long"
            )
        return super().to_internal_value(data)


class OrderField(WholeField):
    """The range that the contract gives to ``order`` and ``expectedAnnualReturn``."""

    def __init__(self, **kwargs: Any):
        kwargs.setdefault("min_value", ORDER_LEAST)
        kwargs.setdefault("max_value", ORDER_MOST)
        super().__init__(**kwargs)


@extend_schema_field({"type": "number"})
class NumberField(serializers.Field):
    """A JSON number, as an exact Decimal of what was written; answered as a number."""

    default_error_messages = {"invalid": gettext_lazy("Must be a number.")}

    def __init__(self, *, least: Decimal | None = None, most: Decimal | None = None, **kwargs: Any):
        self.least, self.most = least, most
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> Decimal:
        if isinstance(data, bool) or not isinstance(data, int | float | Decimal):
            self.fail("invalid")
        value = Decimal(str(data))
        if (self.least is not None and value < self.least) or (self.most is not None and value > self.most):
            said = _("Must be between {least} and {most}.").format(least=self.least, most=self.most)
            raise serializers.ValidationError(said, code="out_of_range")
        return value

    def to_representation(self, value: Any) -> float | int | orjson.Fragment:
        return number(value)


def number(value: Decimal) -> float | int | orjson.Fragment:
    """A JSON number with the digits of the decimal: 12 and not 12.0, 0.1 and not 0.1000…, 999999999999999.99."""
    if abs(value) <= LARGEST_WHOLE and value == value.to_integral_value():
        return int(value)
    shown = float(value)
    return shown if Decimal(repr(shown)) == value else orjson.Fragment(format(value, "f"))


class IdField(serializers.UUIDField):
    """An id in a body: whatever is no UUID is an unknown id like any other."""

    default_error_messages = {"unknown_id": gettext_lazy(UNKNOWN_ID)}

    def to_internal_value(self, data: Any) -> uuid.UUID:
        found = id_from(data) if isinstance(data, str) else None
        return found or self.fail("unknown_id")

    def to_representation(self, value: Any) -> str:
        return str(value)


class DayField(serializers.DateField):
    """YYYY-MM-DD, never shifted by a time zone."""

    default_error_messages = {
        "invalid": gettext_lazy("Must be a date, YYYY-MM-DD."),
        "invalid_date": gettext_lazy("There is no such day."),
    }

    def to_internal_value(self, data: Any) -> date:
        if not isinstance(data, str) or not DATE.fullmatch(data):
            self.fail("invalid")
        try:
            return date.fromisoformat(data)
        except ValueError:
            self.fail("invalid_date")


@extend_schema_field(
    {"type": "string", "maxLength": 7, "pattern": r"^(?!0000)\d{4}-(0[1-9]|1[0-2])$", "examples": ["2026-01"]}
)
class MonthField(serializers.Field):
    """YYYY-MM, as the first day of the month."""

    default_error_messages = {"invalid_month": gettext_lazy("Must be a month, YYYY-MM.")}

    def to_internal_value(self, data: Any) -> date:
        if not isinstance(data, str) or not MONTH.fullmatch(data) or data.startswith("0000"):
            self.fail("invalid_month")
        return date.fromisoformat(f"{data}-01")

    def to_representation(self, value: date) -> str:
        return value.isoformat()[:7]  # strftime writes the year 1 as 1


class TimeField(serializers.DateTimeField):
    """An ISO 8601 time with its offset; answered in UTC with Z."""

    default_error_messages = {"invalid": "Must be an ISO 8601 time with an offset, such as 2026-01-31T12:00:00Z."}

    def to_internal_value(self, data: Any) -> datetime:
        try:
            value = parse_datetime(data) if isinstance(data, str) and len(data) <= LONGEST_TIME else None
            if value is None or timezone.is_naive(value):
                self.fail("invalid")
            return value.astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail("invalid")

    def to_representation(self, value: Any) -> str:
        return utc(value)


def utc(value: datetime) -> str:
    """A UTC time with Z, as every answer prints it."""
    return value.isoformat().replace("+00:00", "Z")


class ChoiceField(serializers.ChoiceField):
    """One of the named values, as a string; an error names them all."""

    default_error_messages = {"invalid_choice": gettext_lazy("Must be one of {words}.")}

    def to_internal_value(self, data: Any) -> Any:
        if data == "" and self.allow_blank:
            return ""
        if not isinstance(data, str) or data not in self.choice_strings_to_values:
            self.fail("invalid_choice", input=data, words=self.list_words())
        return self.choice_strings_to_values[data]

    def list_words(self) -> str:
        return ", ".join(self.choice_strings_to_values)


UNKNOWN_CURRENCY = gettext_lazy("Must be one of {words}, in upper case.")


def explain_currency() -> str:
    """Say which currencies there are, and that lower case is not taken."""
    return UNKNOWN_CURRENCY.format(words=", ".join(Currency.values))


class CurrencyField(ChoiceField):
    """A currency as ISO 4217 writes it, in upper case."""

    default_error_messages = {"invalid_choice": UNKNOWN_CURRENCY}

    def __init__(self, **kwargs: Any):
        kwargs.setdefault("choices", Currency.choices)
        super().__init__(**kwargs)


@extend_schema_field({"type": "object", "additionalProperties": {}})
class JsonField(serializers.JSONField):
    """Any JSON object that can be stored and answered again."""

    default_error_messages = {
        "invalid": "Must be an object.",
        "too_deep": f"Must not be nested more than {MOST_LEVELS} levels deep.",
        "invalid_characters": "Must not have NUL characters.",
        "out_of_range": f"Must not have numbers beyond ±{LARGEST_WHOLE}.",
    }

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            self.fail("invalid")
        level: list[Any] = [data]
        for _level in range(MOST_LEVELS):
            if any(isinstance(value, str) and "\0" in value for value in level):
                self.fail("invalid_characters")
            if any(
                isinstance(value, int | float | Decimal) and not -LARGEST_WHOLE <= value <= LARGEST_WHOLE
                for value in level
            ):
                self.fail("out_of_range")
            level = [inner for value in level for inner in inside(value)]
        if level:
            self.fail("too_deep")
        return orjson.loads(orjson.dumps(data, default=float))  # what is stored is JSON, which has no decimals


def inside(value: Any) -> Iterable[Any]:
    """The values directly in a JSON value, names included."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else ()


def sentence(found: Any) -> str:
    """The first thing that is wrong with a field."""
    while isinstance(found, (list, dict)):
        found = next(iter(found.values() if isinstance(found, dict) else found))
    return str(found)
