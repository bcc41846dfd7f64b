"""Dates whose years have two digits: read where one order is possible within two years, else asked."""

import pytest

from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import get_status_and_code, upload_statement

pytestmark = pytest.mark.django_db


def upload(api, bank, *dates):
    lines = [f"{text},Text {position},-{position + 1}.00" for position, text in enumerate(dates)]
    return upload_statement(api, "\n".join(["Date,Text,Amount", *lines]).encode(), name="rows.csv", accountId=bank)


@pytest.mark.parametrize(
    "dates", [["25-11-24"], ["25-11-24", "25-11-24", "25-11-25"], ["25-11-25", "25-11-24"], ["25/11/24", "25/11/25"]]
)
def test_dates_of_which_both_readings_are_likely_are_asked(api, acme, bank, dates):
    answer = upload(api, bank, *dates)
    assert get_status_and_code(answer) == (400, "mapping_ambiguous")
    (choice,) = answer.json()["choices"]
    assert choice["field"] == "dateOrder"
    assert {option["value"] for option in choice["options"]} == {"iso", "dayFirst"}
    assert list_stored(acme) == []


@pytest.mark.parametrize(
    ("dates", "first"),
    [
        (["25-11-24", "25-11-27"], "2025-11-24"),  # the other reading spans three years
        (["01-11-24", "30-11-24"], "2024-11-01"),
        (["25-01-31", "25-02-01"], "2025-01-31"),
    ],
)
def test_dates_of_one_likely_reading_are_stored(api, acme, bank, dates, first):
    answer = upload(api, bank, *dates)
    assert answer.status_code == 200, answer.content
    assert list_stored(acme)[0][0] == first
