"""The service period that a text states."""

from datetime import date

import pytest

from ledger.calc.stated_period import StatedPeriod, find_stated_period

YEAR = StatedPeriod(date(2026, 10, 1), date(2027, 9, 30))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Betriebshaftpflicht Jahresbeitrag 01.10.2026-30.09.2027 VS-Nr 88/123456", YEAR, id="German days"),
        pytest.param("Beitrag 1.10.26 bis 30.9.27", YEAR, id="two-digit years"),
        pytest.param("01.10.2026 bis zum 30.09.2027", YEAR, id="until the"),
        pytest.param("Okt 2026 - Sep 2027", YEAR, id="abbreviated months"),
        pytest.param("OKT. 2026–SEPT. 2027", YEAR, id="dots, dash, capitals"),
        pytest.param("1. Oktober 2026 bis 30. September 2027", YEAR, id="German names of months with days"),
        pytest.param("1 Oct 2026 to 30 Sep 2027", YEAR, id="English names of months with days"),
        pytest.param("Annual plan 2026-10-01 to 2027-09-30", YEAR, id="ISO days"),
        pytest.param("2026-10-01 - 2027-09-30", YEAR, id="ISO days with a hyphen"),
        pytest.param("2026-10 to 2027-09", YEAR, id="ISO months"),
        pytest.param("Wartung 10/2026-09/2027", YEAR, id="numbered months"),
        pytest.param("Wartung 10.2026 - 09.2027", YEAR, id="numbered months with points"),
        pytest.param("Lizenz\n01.10.2026 -\n30.09.2027", YEAR, id="line breaks"),
        pytest.param("RE vom 02.09.2026, 01.10.2026-30.09.2027", YEAR, id="another date before it"),
        pytest.param("01.10.2026-30.09.2027 (10/2026-09/2027)", YEAR, id="said twice"),
        pytest.param("01.10.-31.12.2026", StatedPeriod(date(2026, 10, 1), date(2026, 12, 31)), id="year once"),
        pytest.param("Okt-Dez 2026", StatedPeriod(date(2026, 10, 1), date(2026, 12, 31)), id="months, year once"),
        pytest.param("15.10.2026-14.10.2027", StatedPeriod(date(2026, 10, 15), date(2027, 10, 14)), id="mid month"),
        pytest.param("10/2026-09/2029", StatedPeriod(date(2026, 10, 1), date(2029, 9, 30)), id="36 months"),
        pytest.param("01.02.2028-29.02.2028", None, id="one month"),
        pytest.param("15.10.2026-14.11.2026", None, id="one month from its middle"),
        pytest.param("10/2026-10/2029", None, id="37 months"),
        pytest.param("Miete Oktober 2026", None, id="a single month"),
        pytest.param("30.09.2027-01.10.2026", None, id="reversed"),
        pytest.param("01.10.2026-31.09.2027", None, id="no such day"),
        pytest.param("10/2026-13/2026", None, id="no such month"),
        pytest.param("00/2026-09/2027", None, id="month zero"),
        pytest.param("01.10.2026-30.09.2027 und 01.01.2027-31.12.2027", None, id="two periods"),
        pytest.param("01.10.2026-30.09.2027-30.09.2028", None, id="three days"),
        pytest.param("01.10.2026 / 30.09.2027", None, id="no separator of a period"),
        pytest.param("RE-2026-10-2027-09", None, id="a number of an invoice"),
        pytest.param("Vertrag 4.10.2026.12-30.09.2027", None, id="a number of a contract"),
        pytest.param("10/2026-30.09.2027", None, id="a month and a day"),
        pytest.param("Okt - Sep", None, id="no year"),
        pytest.param("01.10.1926-30.09.1927", None, id="another century"),
        pytest.param("", None, id="no text"),
    ],
)
def test_text_states_a_period(text, expected):
    assert find_stated_period(text) == expected


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (date(2026, 10, 1), date(2027, 9, 30), 12),
        (date(2026, 10, 15), date(2027, 10, 14), 12),
        (date(2026, 10, 15), date(2027, 10, 15), 13),
        (date(2026, 10, 1), date(2026, 11, 15), 2),
        (date(2026, 10, 31), date(2026, 12, 31), 3),
    ],
)
def test_months_are_counted_from_the_first_day(start, end, expected):
    assert StatedPeriod(start, end).month_count == expected


def test_long_text_is_read_up_to_its_limit():
    assert find_stated_period("x" * 2000 + " 01.10.2026-30.09.2027") is None
