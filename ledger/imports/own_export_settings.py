"""How a table is read that is our own export: by its headings, in place of what was kept for other files."""

from typing import Any

from django.conf import settings
from django.utils.translation import override

from companies.pages.csv_escaping import restore_escaped_text
from ledger.calc.delimited_text import Lines
from ledger.imports.calc.own_exports import build_export_settings
from ledger.models import Account
from ledger.transactions.pages.labels import COLUMN_HEADINGS


def find_own_export_settings(account: Account | None, lines: Lines) -> dict[str, Any] | None:
    """Return the settings of our own export, with the rows of the account if it is one of several; None for others."""
    export_settings = build_export_settings(lines, list_export_headings())
    if export_settings is None:
        return None
    names = list_export_column_values(lines, export_settings["columns"].get("account"))
    ours = [name for name in names if account and restore_escaped_text(name) == account.name]
    return export_settings | ({"accountValues": ours} if ours else {})


def list_export_column_values(lines: Lines, position: int | None) -> list[str]:
    """Return what stands in a column of our own export, each once."""
    rows = (line.cells for line in lines[1:])
    return list(dict.fromkeys(cells[position] for cells in rows if position is not None and position < len(cells)))


def list_export_headings() -> list[dict[str, str]]:
    """Return what the columns of our exports are called, in each language."""
    results = []
    for language, _ in settings.LANGUAGES:
        with override(language):
            results.append({name: str(heading) for name, heading in COLUMN_HEADINGS.items()})
    return results
