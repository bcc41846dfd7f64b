"""How a file is to be read as far as somebody said so: kept for the account, answered, or sent with the form."""

import json
from collections.abc import Sequence
from typing import Any

from companies.errors import DomainError
from ledger.calc.delimited_text import Lines
from ledger.imports.calc.column_mapping import mark_settings_as_kept, normalize_csv_settings, to_csv_settings
from ledger.imports.forms import ColumnsForm, list_other_accounts
from ledger.imports.kept_settings import drop_kept_encoding
from ledger.imports.own_export_settings import find_own_export_settings
from ledger.imports.table_items import TableItems, read_uploaded_table
from ledger.models import Account

ANSWER = "answer:"  # before the path of the settings that an answer belongs to


def find_encoding_and_separator(form_data: Any, account: Account | None, content: bytes) -> dict[str, Any]:
    """Return the encoding and the separator that were sent, answered, or kept for the account, in this order.

    A kept encoding that is not the file's does not count.
    """
    answers = normalize_csv_settings(
        apply_answers({}, [(name, form_data[name]) for name in form_data if name.startswith(ANSWER)])
    )
    csv_settings: dict[str, Any] = {}
    if "date" not in form_data and account is not None:
        csv_settings = normalize_csv_settings((account.import_settings or {}).get("csv"))
        csv_settings = drop_kept_encoding(csv_settings, content)
    return {
        name: form_data.get(name) or answers.get(name) or csv_settings.get(name) for name in ("encoding", "separator")
    }


def read_lines(form_data: Any, account: Account | None, content: bytes) -> Lines:
    """Return the lines of a file, by these settings if it can be read by them. Raises DomainError if it is no table."""
    given = find_encoding_and_separator(form_data, account, content)
    try:
        return read_uploaded_table(content, given)
    except DomainError:
        return read_uploaded_table(content)


def find_saved_settings(account: Account | None, lines: Lines) -> dict[str, Any]:
    """How our own export is read, or what was kept for the account."""
    own = find_own_export_settings(account, lines)
    if own is not None:
        return own
    remaining = ((account.import_settings or {}) if account else {}).get("csv")
    return mark_settings_as_kept(remaining)


def apply_answers(settings: dict[str, Any], answers: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The settings with the answers to questions, each at its path."""
    results = {**settings}
    for name, text in answers:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        path = name.removeprefix(ANSWER)
        results["answered"] = [*results.get("answered", ()), path]
        outer, _, inner = path.partition(".")
        if inner:
            before = results.get(outer)
            results[outer] = {**(before if isinstance(before, dict) else {}), inner: value}
        else:
            results[outer] = value
    return results


def build_csv_settings(form: ColumnsForm, rows: TableItems) -> dict[str, Any]:
    """Return what is kept of the choices for the account's next file."""
    table, data = rows.table, form.cleaned_data
    csv_settings = to_csv_settings(rows.mapping, table.names, has_headings=bool(table.heading_line))
    csv_settings["skipAbove"] = data["skip_above"] or 0
    if rows.mapping.accounts is not None:
        csv_settings["otherAccountValues"] = list_other_accounts(table, rows.mapping)
    if data["skip_below"]:
        csv_settings["skipBelow"] = data["skip_below"]
    if data["amount_currency"]:
        csv_settings["currency"] = data["amount_currency"]
    return csv_settings | {name: data[name] for name in ("encoding", "separator") if data[name]}
