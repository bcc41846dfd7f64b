"""Settings that were kept for an account, as far as they fit the encoding and the separator of a file."""

from typing import Any

from ledger.calc.delimited_text import Lines, is_decodable
from ledger.imports.calc.column_mapping import mark_settings_as_kept, normalize_csv_settings
from ledger.imports.file_errors import UnreadableCell, UnreadableTable
from ledger.imports.table_items import read_uploaded_table
from ledger.models import Account


def read_kept_table(content: bytes, account: Account | None) -> tuple[Lines, dict[str, Any]]:
    """Return the lines of a file, and the kept settings without an encoding or a separator that does not read it.

    Raises what ``read_uploaded_table`` raises.
    """
    csv_settings = (account.import_settings or {}).get("csv") if account else None
    settings = drop_kept_encoding(normalize_csv_settings(mark_settings_as_kept(csv_settings)), content)
    try:
        return read_uploaded_table(content, settings), settings
    except (UnreadableCell, UnreadableTable):
        table_settings = {name: value for name, value in settings.items() if name not in ("encoding", "separator")}
        return read_uploaded_table(content, table_settings), table_settings


def drop_kept_encoding(settings: dict[str, Any], content: bytes) -> dict[str, Any]:
    """Return kept settings without their encoding where a file is UTF-8 and that is another, or the other way round."""
    if is_decodable(content, "utf-8-sig") or settings.get("encoding") == "utf-8":
        return {name: value for name, value in settings.items() if name != "encoding"}
    return settings
