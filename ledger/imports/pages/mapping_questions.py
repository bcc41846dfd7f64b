"""Open questions of how a file is read, for the page: each option with rows as they would be stored."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ledger.imports.calc.columns import format_column_letters
from ledger.imports.calc.detection_result import Detection, MappingQuestion
from ledger.imports.encoding_choices import Choice
from ledger.imports.forms import (
    DATE_ORDER_CHOICES,
    DECIMAL_MARK_CHOICES,
    DIRECTION_CHOICES,
    DIRECTION_VALUE_CHOICES,
    ENCODING_CHOICES,
    FIELD_LABELS,
    MINUS,
    STATUS_CHOICES,
)
from ledger.imports.table_items import MAX_COMPARED_ROWS, build_example_rows

EXAMPLE_ROWS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """An open question for the page: each option with rows as they would be stored."""

    field: str
    text: str
    options: list[dict[str, Any]]


QUESTION_TEXTS = {
    "sign": gettext_lazy("Are amounts without a minus sign money in or money out?"),
    "date_order": gettext_lazy("Which comes first in the dates: day or month?"),
    "decimal_mark": gettext_lazy("Are the last three digits decimals or thousands?"),
    "gross_or_net": gettext_lazy("Which amounts reach your account: before or after fees?"),
    "amount_column": gettext_lazy("Which column has amounts in the account currency?"),
    "debit_column": gettext_lazy("Which column has the money out?"),
    "fee": gettext_lazy("Are fees deducted from these amounts or already included?"),
    "currency_column": gettext_lazy("Which column has the currency?"),
    "currency": gettext_lazy("What currency are these amounts in?"),
    "direction_column": gettext_lazy("Which column shows the direction (money in or out)?"),
    "minus_means": gettext_lazy("What does the minus sign mean?"),
    "unproven_sign": gettext_lazy("One amount has no clear sign. Is it money in or money out?"),
    "direction_values": gettext_lazy("Which rows are money out?"),
    "status_values": gettext_lazy("How do you want to import rows with these statuses?"),
    "account_values": gettext_lazy("The file contains several accounts. Which one do you want to import?"),
    "column_repeated": gettext_lazy("Several columns have this heading. Which one do you want to use?"),
    "column_gone": gettext_lazy("A column from your last import is missing. Which column replaces it?"),
}


def build_asked_question(detection: Detection, question: MappingQuestion, currency: str) -> AskedQuestion:
    """Return a question as text, with five rows for each option."""
    examples = build_example_rows(detection.table, question, currency, EXAMPLE_ROWS_SHOWN)
    known_values = {"direction_values": detection.mapping.directions, "status_values": detection.mapping.statuses}.get(
        question.question, {}
    )
    options = [
        {
            "value": json.dumps(option.value, ensure_ascii=False),
            "label": describe_option(detection, question, option.value, known_values),
            "rows": to_shown_rows(rows),
        }
        for option, rows in zip(question.options, examples, strict=True)
    ]
    # Rows do not show the account: columns of one heading stay apart even if they store the same.
    is_complete = question.question != "column_repeated" and len(detection.table.rows) <= MAX_COMPARED_ROWS
    options = merge_equal_options(options, is_complete=is_complete)
    text = str(QUESTION_TEXTS[question.question])
    if question.question in ("column_gone", "column_repeated"):
        text = f"{FIELD_LABELS[question.field.partition('.')[2]]}: {text}"
    return AskedQuestion(question.field, text, options)


def to_shown_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return example rows with dates in place of texts, which the page shows in the user's format."""
    return [{**row, "date": date.fromisoformat(row["date"]) if row["stored"] else None} for row in rows]


def merge_equal_options(options: list[dict[str, Any]], *, is_complete: bool) -> list[dict[str, Any]]:
    """Return the options without those that store the same rows as one before them.

    ``is_complete``: whether the rows of the options were compared in the whole table.
    """
    if not is_complete:
        return options
    rows_before: list[Any] = []
    merged = []
    for option in options:
        if option["rows"] not in rows_before:
            rows_before.append(option["rows"])
            merged.append(option)
    return merged


def build_asked_encoding(choices: Sequence[Choice]) -> AskedQuestion:
    """The question of the encoding, with the rows that differ."""
    names = dict(ENCODING_CHOICES)
    options = [
        {"value": json.dumps(name), "label": str(names[name]), "rows": to_shown_rows(rows)} for name, rows in choices
    ]
    return AskedQuestion("encoding", _("Which version shows all characters correctly?"), options)


def describe_option(
    detection: Detection, question: MappingQuestion, value: Any, known_values: Mapping[str, str]
) -> str:
    """Describe what an option means."""
    texts_by_answer = {
        ("sign", False): _("Amounts without a minus sign are money in"),
        ("sign", True): _("Amounts without a minus sign are money out"),
        ("fee", None): _("Included: use amounts as they are"),
    }
    if not isinstance(value, list | dict) and (question.question, value) in texts_by_answer:
        return texts_by_answer[question.question, value]
    if question.field == "currency":
        return str(value)
    if question.field in ("dateOrder", "decimalMark", "unprovenSign"):
        return str({**dict(DATE_ORDER_CHOICES), **dict(DECIMAL_MARK_CHOICES), **dict(DIRECTION_CHOICES)}[value])
    if question.question == "minus_means":
        return str(dict(MINUS[question.field.partition(".")[2]])[value])
    if question.question == "account_values":
        return ", ".join(value)
    if question.field.startswith("columns."):
        return _("Deducted: amount less fee") if question.question == "fee" else describe_column(detection, value)
    return describe_values(
        dict(STATUS_CHOICES if question.question == "status_values" else DIRECTION_VALUE_CHOICES), value, known_values
    )


def describe_column(detection: Detection, value: Any) -> str:
    """Describe a column, or several, by heading and letters."""
    if value is None:
        return _("None of them")
    if isinstance(value, list):
        return ", ".join(describe_column(detection, each) for each in value)
    names = detection.table.names
    position = value if isinstance(value, int) else names.index(value)
    column = _("Column {letters}").format(letters=format_column_letters(position))
    return f"{names[position]} ({column})".strip()


def describe_values(
    kinds: Mapping[str, Any], value: Mapping[str, Sequence[str]], known_values: Mapping[str, str]
) -> str:
    """Describe what each value would mean that is not known yet."""
    parts = []
    for kind, label in kinds.items():
        if new_texts := [text or _("(empty)") for text in value.get(kind, []) if text not in known_values]:
            parts.append(f"{', '.join(new_texts)}: {label}")
    return "; ".join(parts)
