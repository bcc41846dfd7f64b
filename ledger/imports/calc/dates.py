"""Parse dates as banks write them, in numbers or with the month's name in European languages."""

import re
from collections.abc import Iterable
from datetime import date
from enum import StrEnum
from functools import cache, lru_cache

from ledger.calc.months import clamp_day_to_month
from ledger.calc.text_normalization import strip_accents
from ledger.imports.calc.amounts import MAX_LENGTH, UnreadableValueError
from ledger.imports.calc.locale_names import load_locale_names

CENTURY_TURNS = 70  # 69 is 2069, 70 is 1970, as POSIX reads two digits
SHORT_SPAN_DAYS = 60  # a reading of short years that spans more is none where another spans a tenth of it
DIGITS_OF_DATES = (8, 14)  # of a date without separators, with a time or without one
MAX_SPAN_DAYS = 2 * 366  # of a file with short years: a reading that spans less is possible beside a shorter one


class DateOrder(StrEnum):
    """The order of day and month. A date with its year first or a month's name is read in any order."""

    ISO = "iso"
    DAY_FIRST = "dayFirst"
    MONTH_FIRST = "monthFirst"


_SAME = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " "})
_TIME = r"(?:,?(?:[T ]| - | at )\s*[0-9]{1,2}[:.h][0-9]{2}.*)?"
_WEEKDAY = r"(?:[^\W\d_]{2,12}\.?,? )?"
_YEAR_FIRST = re.compile(rf"([0-9]{{4}})(?:([-/.])([0-9]{{1,2}})\2([0-9]{{1,2}})\.?|([0-9]{{2}})([0-9]{{2}})){_TIME}")
_COMPACT_TIME = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})[0-9]{6}")
_SPACED_YEAR_FIRST = re.compile(rf"([0-9]{{4}})\. ([0-9]{{1,2}})\. ([0-9]{{1,2}})\.{_TIME}")
_EAST_ASIAN = re.compile(rf"([0-9]{{4}}) ?[年년] ?([0-9]{{1,2}}) ?[月월] ?([0-9]{{1,2}}) ?[日일]?{_TIME}")
_YEAR_LAST = re.compile(rf"{_WEEKDAY}([0-9]{{1,2}}) ?([-/. ]) ?([0-9]{{1,2}}) ?\2 ?([0-9]{{4}}|[0-9]{{2}})\.?{_TIME}")
_NAME = r"([^\W\d_]{3,12})"
_DAY_AND_NAME = re.compile(
    rf"{_WEEKDAY}([0-9]{{1,2}})(?:st|nd|rd|th)?[-. /]{{0,2}}(?:de )?{_NAME}"
    rf"[-., /]{{1,2}}(?:de |del )?([0-9]{{4}}|[0-9]{{2}}){_TIME}"
)
_NAME_AND_DAY = re.compile(
    rf"{_WEEKDAY}{_NAME}[-. /]{{1,2}}([0-9]{{1,2}})(?:st|nd|rd|th)?[-., /]{{1,2}}([0-9]{{4}}|[0-9]{{2}}){_TIME}"
)
_YEAR_AND_NAME = re.compile(rf"([0-9]{{4}})[-. /]{{1,2}}{_NAME}[-. /]{{1,2}}([0-9]{{1,2}})\.?{_TIME}")

_OTHER_MONTHS = {"sept": 9, "marz": 3, "mrz": 3, "maerz": 3, "janner": 1, "jaenner": 1}
_NAMED = ((_DAY_AND_NAME, 3, 2, 1), (_NAME_AND_DAY, 3, 1, 2), (_YEAR_AND_NAME, 1, 2, 3))


@cache
def load_month_names() -> dict[str, int]:
    """Return month numbers by name and abbreviation in the languages of the headings, lower case, without accents.

    Names that mean different months in two languages are left out.
    """
    return load_locale_names()["months"] | _OTHER_MONTHS


def fold_month_name(name: str) -> str:
    return strip_accents(name.casefold()).rstrip(".")


@lru_cache(maxsize=1 << 14)
def parse_bank_date(text: str, order: DateOrder) -> date:
    """Return the date of the text; a time after it is ignored.

    A day that the month does not have, such as 31 November, is its last day.

    Raises:
        UnreadableValueError: the text is no date of this order.

    >>> str(parse_bank_date("31.01.26", DateOrder.DAY_FIRST))
    '2026-01-31'
    >>> str(parse_bank_date("1/31/2026", DateOrder.MONTH_FIRST))
    '2026-01-31'
    >>> str(parse_bank_date("15 févr. 2024", DateOrder.ISO)), str(parse_bank_date("2024.03.24.", DateOrder.ISO))
    ('2024-02-15', '2024-03-24')
    """
    parts = split_date_parts(text.translate(_SAME).strip(), order) if len(text) <= MAX_LENGTH else None
    if parts is None:
        raise UnreadableValueError("“{text}” does not match the selected date format.", text=text[:40])
    try:
        return clamp_day_to_month(*parts)
    except ValueError:
        raise UnreadableValueError("“{text}” is not a valid date.", text=text[:40]) from None


def parse_calendar_date(text: str, order: DateOrder) -> date:
    """Return the date of the text, as ``parse_bank_date`` does; a day that the month does not have is an error.

    Raises:
        UnreadableValueError: the text is no date of this order, or the day does not exist.

    >>> str(parse_calendar_date("28.02.2026", DateOrder.DAY_FIRST))
    '2026-02-28'
    """
    day = parse_bank_date(text, order)
    parts = split_date_parts(text.translate(_SAME).strip(), order)
    if parts and parts[2] != day.day:
        raise UnreadableValueError("“{text}” is not a valid date.", text=text[:40])
    return day


def split_date_parts(text: str, order: DateOrder) -> tuple[int, int, int] | None:
    """Return (year, month, day) as written, or None."""
    if match := _YEAR_FIRST.fullmatch(text):
        year, _, month, day, month_alone, day_alone = match.groups()
        return int(year), int(month or month_alone), int(day or day_alone)
    if match := _YEAR_LAST.fullmatch(text):
        if order is DateOrder.ISO:
            return _parse_short_year_first(match)
        first, second = int(match[1]), int(match[3])
        day_number, month_number = (first, second) if order is DateOrder.DAY_FIRST else (second, first)
        return expand_year(match[4]), month_number, day_number
    for pattern in (_COMPACT_TIME, _SPACED_YEAR_FIRST, _EAST_ASIAN):
        if match := pattern.fullmatch(text):
            return int(match[1]), int(match[2]), int(match[3])
    for pattern, year_at, name_at, day_at in _NAMED:
        if match := pattern.fullmatch(text):
            return _build_named_date(match[year_at], match[name_at], match[day_at])
    return None


def _parse_short_year_first(match: re.Match[str]) -> tuple[int, int, int] | None:
    """(year, month, day) of numbers that begin with two digits of the year, such as 24-03-25."""
    if len(match[1]) != 2 or len(match[4]) != 2:
        return None
    return expand_year(match[1]), int(match[3]), int(match[4])


def _build_named_date(year: str, name: str, day: str) -> tuple[int, int, int] | None:
    month = load_month_names().get(fold_month_name(name))
    return (expand_year(year), month, int(day)) if month else None


def expand_year(text: str) -> int:
    """Return the year, completed if only its last two digits are written."""
    year = int(text)
    if len(text) > 2:
        return year
    return year + (2000 if year < CENTURY_TURNS else 1900)


def find_bank_date(text: str, order: DateOrder) -> date | None:
    """Return the date, or None if the text is none of this order."""
    try:
        return parse_bank_date(text, order)
    except UnreadableValueError:
        return None


def is_date_text(text: str) -> bool:
    """Whether the text is a date in any order."""
    return is_date_like(text) and any(find_bank_date(text, order) for order in DateOrder)


def is_date_like(text: str) -> bool:
    """Whether the text is written as a date, even one that does not exist."""
    if len(text) > MAX_LENGTH or (text.isdigit() and len(text) not in DIGITS_OF_DATES):
        return False
    return split_date_parts(text.translate(_SAME).strip(), DateOrder.DAY_FIRST) is not None


def find_date_orders(texts: Iterable[str]) -> list[DateOrder]:
    """The orders in which the most of the texts are dates, and mean different days; the first is the usual one.

    Dates with points are never written with the month first. Years of two digits stand where the file spans the
    shortest time, or up to two years.

    >>> [order.value for order in find_date_orders(["03/04/2026", "03/05/2026"])]
    ['dayFirst', 'monthFirst']
    >>> [order.value for order in find_date_orders(["2026-01-31"])]
    ['iso']
    >>> [order.value for order in find_date_orders(["07/07/2024"])]
    ['dayFirst']
    >>> [order.value for order in find_date_orders(["24-03-25", "24-03-28"])], len(find_date_orders(["24-03-25"]))
    (['iso'], 2)
    >>> [order.value for order in find_date_orders(["25-11-24", "25-11-25"])]
    ['iso', 'dayFirst']
    """
    distinct_texts = list(dict.fromkeys(texts))
    days = {order: [find_bank_date(text, order) for text in distinct_texts] for order in PREFERRED_ORDERS}
    counts = {order: sum(day is not None for day in order_days) for order, order_days in days.items()}
    best = max(counts.values(), default=0)
    if counts[DateOrder.ISO] == best and not any(map(is_short_date, distinct_texts)):
        return [DateOrder.ISO]
    orders = [order for order in PREFERRED_ORDERS if counts[order] == best]
    has_points = any("." in text[:6] for text in distinct_texts)
    if has_points and DateOrder.DAY_FIRST in orders:
        orders = [order for order in orders if order is not DateOrder.MONTH_FIRST]
    spans = {order: _count_spanned_days(days[order]) for order in orders}
    short = _drop_long_spans(orders, spans)

    def is_plausible(order: DateOrder) -> bool:
        return spans.get(order, MAX_SPAN_DAYS) < MAX_SPAN_DAYS

    if has_points and is_plausible(DateOrder.DAY_FIRST) and DateOrder.DAY_FIRST not in short:
        return [DateOrder.DAY_FIRST, *short]  # points mostly stand behind days: a few years are as plausible
    orders = [*short, *(order for order in orders if not has_points and order not in short and is_plausible(order))]
    if has_points and DateOrder.DAY_FIRST in orders:
        orders = [order for order in orders if order is not DateOrder.ISO]
    return [
        order for position, order in enumerate(orders) if days[order] not in [days[each] for each in orders[:position]]
    ]


PREFERRED_ORDERS = (DateOrder.DAY_FIRST, DateOrder.MONTH_FIRST, DateOrder.ISO)


def is_short_date(text: str) -> bool:
    """Whether a date has no year of four digits, and its first two may be the year."""
    match = _YEAR_LAST.fullmatch(text.translate(_SAME).strip()) if len(text) <= MAX_LENGTH else None
    return match is not None and _parse_short_year_first(match) is not None


def _count_spanned_days(days: list[date | None]) -> int:
    known_days = [day for day in days if day]
    return (max(known_days) - min(known_days)).days if known_days else 0


def _drop_long_spans(orders: list[DateOrder], spans: dict[DateOrder, int]) -> list[DateOrder]:
    """Without those that take a day for the year, under which a file of some days spans many years."""

    def is_too_long(order: DateOrder) -> bool:
        others = [spans[each] for each in orders if (each is DateOrder.ISO) != (order is DateOrder.ISO)]
        return bool(others) and spans[order] > max(SHORT_SPAN_DAYS, 10 * min(others))

    return [order for order in orders if not is_too_long(order)]


def find_mixed_date_orders(texts: Iterable[str]) -> tuple[str, str] | None:
    """Two dates of which each is none in the order of the other, such as 13/02/2026 and 02/13/2026; else None."""
    known = list(dict.fromkeys(texts))
    texts_by_order = {
        order: {text for text in known if find_bank_date(text, order) is not None}
        for order in (DateOrder.DAY_FIRST, DateOrder.MONTH_FIRST)
    }
    day_first_texts, month_first_texts = texts_by_order[DateOrder.DAY_FIRST], texts_by_order[DateOrder.MONTH_FIRST]
    day_first = next((text for text in known if text in day_first_texts - month_first_texts), None)
    month_first = next((text for text in known if text in month_first_texts - day_first_texts), None)
    return (day_first, month_first) if day_first and month_first else None
