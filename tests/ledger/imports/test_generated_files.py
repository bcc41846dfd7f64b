"""A random file is read as it was meant, asked about, or shown with an error: never wrong without a word."""

from decimal import Decimal

import pytest

from ledger.imports.calc.detection import detect_mapping
from ledger.imports.calc.detection_result import AccountFacts
from ledger.imports.calc.movements import BadCell, Movement
from ledger.imports.calc.table_rows import RowReader
from ledger.imports.table_items import read_uploaded_table
from tests.ledger.imports.generated_files import FileGenerator

FILES_PER_TEST, TESTS = 60, 10
MIN_READ_PERCENT = 60  # of the files, without a question


def read_generated_file(generated):
    """Return "read", "asked" or "error", or what was stored where it differs from what was meant."""
    detection = detect_mapping(read_uploaded_table(generated.content), account=AccountFacts("EUR"))
    if detection.fault or detection.questions:
        return "asked"
    rows = list(RowReader(detection.table, detection.mapping, "EUR").read_rows())
    if any(isinstance(row, BadCell) for row in rows):
        return "error"
    stored = sorted((row.day, Decimal(row.amount), row.pending) for row in rows if isinstance(row, Movement))
    # A column without a heading cannot say that it has fees.
    meanings = [generated.list_stored(with_fees=True)]
    if not detection.table.named_width:
        meanings.append(generated.list_stored(with_fees=False))
    return "read" if stored in meanings else stored


@pytest.mark.parametrize("first", range(0, FILES_PER_TEST * TESTS, FILES_PER_TEST))
def test_generated_file_is_never_read_wrongly_without_a_question(first):
    seeds = range(first, first + FILES_PER_TEST)
    outcomes = {seed: read_generated_file(FileGenerator(seed).build_file()) for seed in seeds}
    assert {seed: outcome for seed, outcome in outcomes.items() if isinstance(outcome, list)} == {}
    assert sum(outcome == "read" for outcome in outcomes.values()) * 100 >= MIN_READ_PERCENT * FILES_PER_TEST
