"""Which encoding a table is in, where its letters are as plausible in several: rows under each, to choose from."""

from collections.abc import Mapping, Sequence
from typing import Any

from ledger.calc.delimited_text import Line
from ledger.calc.encodings import SAMPLE_BYTES, find_equally_plausible_encodings
from ledger.imports.calc.column_mapping import normalize_csv_settings
from ledger.imports.calc.detection import find_configured_table
from ledger.imports.calc.headings import find_heading_fields, find_heading_languages
from ledger.imports.calc.table_rows import RowReader
from ledger.imports.table_items import build_stored_row, detect_account_mapping, read_uploaded_table
from ledger.models import Account

WESTERN, EASTERN = {"windows-1252", "iso-8859-15"}, {"windows-1250", "iso-8859-2"}
EASTERN_LANGUAGES = {"pl", "cs", "sk", "hu", "ro", "hr", "sl"}
OTHER_LANGUAGES = {"bg", "el", "ru", "uk", "zh", "ja", "tr", "et", "lv", "lt"}
Choice = tuple[str, list[dict[str, Any]]]


def find_encoding_choices(content: bytes, *, settings: Any, account: Account | None, count: int) -> list[Choice]:
    """Return (encoding, rows as they would be stored) for each that may be meant; none where it is clear.

    The rows are the first ``count`` of those that differ. Headings tell the encoding by their language.
    """
    normalized_settings = normalize_csv_settings(settings)
    if "encoding" in normalized_settings:
        return []
    names = find_equally_plausible_encodings(content)
    if not names:
        return []
    sample = content[: content.rfind(b"\n", 0, SAMPLE_BYTES) + 1] or content
    lines = {name: read_uploaded_table(sample, {**normalized_settings, "encoding": name}) for name in names}
    headings = {name: find_configured_table(each, normalized_settings).names for name, each in lines.items()}
    names = choose_encodings_by_headings(headings)
    stored_rows = [list_stored_rows(account, lines[name], normalized_settings) for name in names]
    positions = [
        position for position, rows in enumerate(zip(*stored_rows, strict=False)) if len(set(map(str, rows))) > 1
    ][:count]
    return (
        [(name, [rows[position] for position in positions]) for name, rows in zip(names, stored_rows, strict=True)]
        if positions
        else []
    )


def choose_encodings_by_headings(headings: Mapping[str, Sequence[str]]) -> list[str]:
    """The encodings under which the most headings are known, and that their languages use."""
    counts = {name: sum(bool(find_heading_fields(each)) for each in names) for name, names in headings.items()}
    best = [name for name, count in counts.items() if count == max(counts.values())]
    named = map(find_heading_languages, headings[best[0]])
    language_sets = [
        languages - OTHER_LANGUAGES for languages in named if "en" not in languages and languages - OTHER_LANGUAGES
    ]
    is_eastern = any(languages <= EASTERN_LANGUAGES for languages in language_sets)
    is_western = any(not languages & EASTERN_LANGUAGES for languages in language_sets)
    if is_eastern == is_western:
        return best
    used = EASTERN if is_eastern else WESTERN
    return [name for name in best if name in used] or best


def list_stored_rows(account: Account | None, lines: Sequence[Line], given: dict[str, Any]) -> list[dict[str, Any]]:
    detection = detect_account_mapping(account, lines, given)
    reader = RowReader(detection.table, detection.mapping, account.default_currency if account else "")
    rows = detection.table.rows
    return [build_stored_row(reader, line, row) for line, row in zip(rows, reader.read_rows(), strict=True)]
