"""Open questions of how a file is read, as the page shows them: each option with rows as they would be stored."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ledger.importing.calc.questions import Detection, Question
from ledger.importing.encoding_choices import Choice
from ledger.importing.items import example_rows, letters
from ledger.importing.pages.columns_form import DIRECTIONS, ENCODINGS, LABELS, MARKS, MINUS, ORDERS, STATUSES

SHOWN_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """An open question as the page shows it: each option with rows as they would be stored."""

    field: str
    text: str
    options: list[dict[str, Any]]


QUESTIONS = {
    "sign": gettext_lazy("Which of these is money in, and which is money out?"),
    "date_order": gettext_lazy("Which comes first in the dates, the day or the month?"),
    "decimal_mark": gettext_lazy("Are the last three digits decimals or thousands?"),
    "gross_or_net": gettext_lazy("Which amounts reach the account: before or after fees?"),
    "amount_column": gettext_lazy("Which column has the amounts in the currency of the account?"),
    "fee": gettext_lazy("Are the fees taken off these amounts, or already inside them?"),
    "currency_column": gettext_lazy("Which column has the currency of the amounts?"),
    "currency": gettext_lazy("Which currency are these amounts in?"),
    "direction_column": gettext_lazy("Which column says whether money came in or went out?"),
    "minus_means": gettext_lazy("What does the minus of some amounts mean?"),
    "unproven_sign": gettext_lazy("The balance does not show the sign of one row. Is it money in or money out?"),
    "direction_values": gettext_lazy("Which rows are money out?"),
    "status_values": gettext_lazy("How should rows with these statuses be imported?"),
    "account_values": gettext_lazy("The file has several accounts. Which of them is this account?"),
    "column_gone": gettext_lazy("A column from the last import is not in this file. Which one replaces it?"),
}


def build_asked(detection: Detection, question: Question, currency: str) -> Asked:
    """A question in words, with five rows under each option."""
    examples = example_rows(detection.table, question, currency, SHOWN_EXAMPLES)
    before = {"direction_values": detection.mapping.directions, "status_values": detection.mapping.statuses}.get(
        question.question, {}
    )
    options = [
        {
            "value": json.dumps(option.value, ensure_ascii=False),
            "label": option_in_words(detection, question, option.value, before),
            "rows": rows,
        }
        for option, rows in zip(question.options, examples, strict=True)
    ]
    text = str(QUESTIONS[question.question])
    if question.question == "column_gone":
        text = f"{LABELS[question.field.partition('.')[2]]}: {text}"
    return Asked(question.field, text, options)


def build_asked_encoding(choices: Sequence[Choice]) -> Asked:
    """The question of the encoding, with the rows that differ."""
    names = dict(ENCODINGS)
    options = [{"value": json.dumps(name), "label": str(names[name]), "rows": rows} for name, rows in choices]
    return Asked("encoding", _("In which of these are the letters right?"), options)


def option_in_words(detection: Detection, question: Question, value: Any, known: Mapping[str, str]) -> str:
    """What an option means, in the words of the page."""
    plain = {
        ("sign", False): _("As written: amounts without a minus are money in"),
        ("sign", True): _("Turned: amounts without a minus are money out"),
        ("fee", None): _("Already inside: the amounts stay as they are"),
    }
    if not isinstance(value, list | dict) and (question.question, value) in plain:
        return plain[question.question, value]
    if question.field == "currency":
        return str(value)
    if question.field in ("dateOrder", "decimalMark", "unprovenSign"):
        return str({**dict(ORDERS), **dict(MARKS), **dict(DIRECTIONS)}[value])
    if question.question == "minus_means":
        return str(dict(MINUS[question.field.partition(".")[2]])[value])
    if question.question == "account_values":
        return ", ".join(value)
    if question.field.startswith("columns."):
        return _("Taken off: amount less fee") if question.question == "fee" else column_in_words(detection, value)
    return values_in_words(dict(STATUSES if question.question == "status_values" else DIRECTIONS), value, known)


def column_in_words(detection: Detection, value: Any) -> str:
    """A column by its heading and its letters."""
    if value is None:
        return _("None of them")
    names = detection.table.names
    place = value if isinstance(value, int) else names.index(value)
    return f"{names[place]} ({_('Column {letters}').format(letters=letters(place))})".strip()


def values_in_words(kinds: Mapping[str, Any], value: Mapping[str, Sequence[str]], known: Mapping[str, str]) -> str:
    """What each value would mean that is not known yet."""
    parts = []
    for kind, label in kinds.items():
        if new := [text or _("(empty)") for text in value.get(kind, []) if text not in known]:
            parts.append(f"{', '.join(new)}: {label}")
    return "; ".join(parts)
