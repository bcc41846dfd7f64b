"""HTML forms validated by the API's serializers, so that rules are declared once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from companies.api.fields import get_first_detail
from companies.closed_periods import PeriodClosed
from companies.errors import DomainError, ValidationFailed
from companies.pages.amount_formats import AmountParseError, parse_typed_amount, parse_typed_percent
from companies.pages.form_messages import to_form_message


@dataclass
class BoundForm:
    """A form: ``values`` to show, ``errors`` by field, ``data`` for the action if it is valid."""

    values: Mapping[str, Any]
    errors: dict[str, str] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)  # pointer prefix → form field, if they differ

    @property
    def is_valid(self) -> bool:
        return not self.errors

    def add_error(self, error: DomainError) -> None:
        """Add a domain error to its fields, or to the whole form if it has none."""
        field_errors = (
            error.errors if isinstance(error, ValidationFailed) else [(error.pointer or "#/", "", error.detail)]
        )
        if error.pointers:
            field_errors = [(pointer, "", error.detail) for pointer in error.pointers]
        for pointer, code, detail in field_errors:
            name = self.find_field(pointer.removeprefix("#/"))
            is_general = isinstance(error, PeriodClosed) and name not in self.values  # it may name very many rows
            self.errors.setdefault("" if is_general else name, to_form_message(detail, code))

    def find_field(self, pointer: str) -> str:
        """Return the field of a JSON pointer, by the longest matching prefix; otherwise the pointer itself."""
        prefixes = (each for each in self.fields if f"{pointer}/".startswith(f"{each}/"))
        return self.fields.get(max(prefixes, key=len, default=""), pointer)

    @property
    def general(self) -> str:
        """Errors that belong to no field."""
        texts = (text for name, text in self.errors.items() if name not in self.values)
        return " ".join(dict.fromkeys(texts))


def bind_form(
    serializer_class: Any,
    post_data: Mapping[str, Any],
    *,
    texts: Iterable[str],
    flags: Iterable[str] = (),
    amounts: Iterable[str] = (),
    percents: Iterable[str] = (),
    integers: Iterable[str] = (),
    currency: str = "",
    partial: bool = False,
) -> BoundForm:
    """Validate the named fields of a posted form with a serializer.

    An empty text is null if the field allows it; an unchecked box is false. `amounts` are text fields with
    amounts in any notation, in `currency` if known; `percents` are text fields with a percentage; `integers` are
    text fields with a number, 0 if empty.
    """
    serializer = serializer_class()
    values: dict[str, Any] = {name: post_data.get(name, "").strip() for name in texts}
    values |= {name: name in post_data for name in flags}
    parsed_amounts, amount_errors = parse_form_amounts(values, amounts, currency=currency)
    parsed_percents, percent_errors = parse_form_percents(values, percents)
    body: dict[str, Any] = {
        n: None if value == "" and serializer.fields[n].allow_null else value
        for n, value in (values | parsed_amounts | parsed_percents).items()
    }
    body |= {name: parse_integer(body[name]) for name in integers if body[name] is not None}
    form = bind_body(serializer_class, body, values=values, partial=partial)
    form.errors |= amount_errors | percent_errors
    return form


def parse_form_amounts(
    values: Mapping[str, str], names: Iterable[str], *, currency: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Parse amounts. Returns (amounts in the API's format, error messages), both by field; empty fields are
    left out.
    """
    parsed_amounts, amount_errors = {}, {}
    for name in names:
        if text := values.get(name, ""):
            try:
                parsed_amounts[name] = parse_typed_amount(text, currency)
            except AmountParseError as error:
                amount_errors[name] = str(error)
    return parsed_amounts, amount_errors


def parse_form_percents(values: Mapping[str, str], names: Iterable[str]) -> tuple[dict[str, Decimal], dict[str, str]]:
    """Parse percentages. Returns (percentages, error messages), both by field; empty fields are left out."""
    parsed_percents, percent_errors = {}, {}
    for name in names:
        if text := values.get(name, ""):
            try:
                parsed_percents[name] = parse_typed_percent(text)
            except AmountParseError as error:
                percent_errors[name] = str(error)
    return parsed_percents, percent_errors


def parse_integer(text: str) -> Any:
    """Parse an integer; 0 for an empty text. Other text is returned unchanged, for the serializer to reject."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 9 else text or 0


def bind_body(
    serializer_class: Any,
    body: Mapping[str, Any],
    *,
    values: Mapping[str, Any],
    fields: Mapping[str, str] | None = None,
    partial: bool = False,
) -> BoundForm:
    """Validate a body built from the form, with errors at the form's fields."""
    serializer, form = serializer_class(data=body, partial=partial), BoundForm(values=values, fields=fields or {})
    if serializer.is_valid():
        form.data = serializer.validated_data
    else:
        form.errors = {form.find_field(place): text for place, text in flatten_errors(serializer.errors)}
    return form


def flatten_errors(errors: Mapping[Any, Any], path: str = "") -> list[tuple[str, str]]:
    """Return (path, message of the form) of a serializer's errors, at any depth."""
    flat_errors = []
    for name, inner in errors.items():
        field_path = f"{path}/{name}".lstrip("/")
        if isinstance(inner, dict):
            flat_errors += flatten_errors(inner, field_path)
        else:
            detail = get_first_detail(inner)
            flat_errors.append((field_path, to_form_message(str(detail), getattr(detail, "code", ""))))
    return flat_errors
