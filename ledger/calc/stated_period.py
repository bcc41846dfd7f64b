"""The service period that the text of a payment states, such as "01.10.2026-30.09.2027" or "Okt 2026 - Sep 2027"."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise
from typing import NamedTuple

from ledger.calc.months import MONTHS_PER_YEAR, add_months, count_days_in_month, count_months_between

MAX_TEXT_LENGTH = 1000
MAX_MONTHS = 36  # longer ones are terms of contracts
MONTH_NAMES = (
    ("januar", "january", "jan", "jänner", "jaenner"),
    ("februar", "february", "feb"),
    ("märz", "maerz", "march", "mär", "mrz", "mar"),
    ("april", "apr"),
    ("mai", "may"),
    ("juni", "june", "jun"),
    ("juli", "july", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("oktober", "october", "okt", "oct"),
    ("november", "nov"),
    ("dezember", "december", "dez", "dec"),
)
MONTH_BY_NAME = {name: month for month, names in enumerate(MONTH_NAMES, 1) for name in names}
_NAME = "|".join(sorted(MONTH_BY_NAME, key=len, reverse=True))
_YEAR = "20[0-9]{2}"
# A day or a month; what the first one of a period may leave out is optional.
POINT_PATTERN = re.compile(
    rf"(?<![\w./])(?:"
    rf"(?P<iso_year>{_YEAR})-(?P<iso_month>[0-9]{{2}})(?:-(?P<iso_day>[0-9]{{2}}))?"
    rf"|(?P<day>[0-9]{{1,2}})\.(?P<month>[0-9]{{1,2}})\.(?P<year>{_YEAR}|[0-9]{{2}})?"
    rf"|(?P<month_only>[0-9]{{1,2}})[./](?P<month_year>{_YEAR})"
    rf"|(?:(?P<named_day>[0-9]{{1,2}})\.? )?(?P<name>{_NAME})\.?(?: (?P<named_year>{_YEAR}))?"
    rf")(?!\w|[./][0-9])"
)
SEPARATOR_PATTERN = re.compile(r" ?(?:[-–—]|bis(?: zum)?|to|until|through) ?")


class StatedPeriod(NamedTuple):
    """A service period, both days included."""

    start: date
    end: date

    @property
    def month_count(self) -> int:
        """Its length in months, of which the last may be a part."""
        months = count_months_between(self.start, self.end)
        return months if add_months(self.start, months) > self.end else months + 1


class PeriodPoint(NamedTuple):
    """One end of a period as it is written: a day, or a month without one; the year may be left out."""

    year: int | None
    month: int
    day: int | None
    is_iso: bool


def find_stated_period(text: str) -> StatedPeriod | None:
    """Return the period of more than one and at most 36 months that a text states; None without exactly one.

    >>> str(find_stated_period("Jahresbeitrag 01.10.2026-30.09.2027").end)
    '2027-09-30'
    >>> find_stated_period("Miete Oktober 2026")
    """
    plain_text = " ".join(text[:MAX_TEXT_LENGTH].casefold().split())
    try:
        periods = set(iterate_periods(plain_text))
    except ValueError:  # a day that does not exist
        return None
    period = periods.pop() if len(periods) == 1 else None
    if period is None or period.start > period.end:
        return None
    day_after = period.end + timedelta(days=1)
    is_longer = day_after > add_months(period.start, 1)
    return period if is_longer and day_after <= add_months(period.start, MAX_MONTHS) else None


def iterate_periods(text: str) -> Iterator[StatedPeriod]:
    """Yield the periods of a text in lower case. Raises ValueError for days that do not exist."""
    for first, second in pairwise(POINT_PATTERN.finditer(text)):
        separator = text[first.end() : second.start()]
        if not SEPARATOR_PATTERN.fullmatch(separator):
            continue
        start, end = parse_point(first), parse_point(second)
        has_doubtful_hyphen = separator == "-" and (start.is_iso or end.is_iso)  # "RE-2026-10-2027"
        if end.year is None or (start.day is None) != (end.day is None) or has_doubtful_hyphen:
            continue
        yield StatedPeriod(
            date(start.year or end.year, start.month, start.day or 1),
            date(end.year, end.month, end.day or count_days_in_month(end.year, check_month(end.month))),
        )


def parse_point(match: re.Match[str]) -> PeriodPoint:
    """Return the parts of a match of POINT_PATTERN."""
    groups = match.groupdict()
    year = groups["iso_year"] or groups["year"] or groups["month_year"] or groups["named_year"]
    month = groups["iso_month"] or groups["month"] or groups["month_only"]
    day = groups["iso_day"] or groups["day"] or groups["named_day"]
    return PeriodPoint(
        int(year if len(year) == 4 else f"20{year}") if year else None,
        int(month) if month else MONTH_BY_NAME[groups["name"]],
        int(day) if day else None,
        groups["iso_year"] is not None,
    )


def check_month(month: int) -> int:
    """Return the number of a month. Raises ValueError if there is no such month."""
    if not 1 <= month <= MONTHS_PER_YEAR:
        raise ValueError("no such month")
    return month
