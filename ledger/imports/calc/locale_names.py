"""Names of months and currencies in the languages of headings, from the CLDR's data in babel.

They are in ``locale_names.json``, because babel would keep a megabyte for each of its locales. A test derives the file
from babel: ``WRITE_LOCALE_NAMES=1 pytest tests/ledger/imports/calc/test_locale_names.py`` writes it.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

NAMES_FILE = Path(__file__).with_name("locale_names.json")


@cache
def load_locale_names() -> dict[str, dict[str, Any]]:
    """Return `currencySigns` (sign → code), `currencyNames` (name → codes) and `months` (name → number)."""
    names: dict[str, dict[str, Any]] = json.loads(NAMES_FILE.read_text("utf-8"))
    return names
