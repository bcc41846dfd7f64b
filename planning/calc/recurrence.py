"""Recurring dates: which days a rule names, and what its overrides make of them.

Occurrence i is a function of the rule and i alone, never of its predecessor. So a window is reached by arithmetic, and
the cost of expanding a rule depends on the window, not on the rule's age.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from operator import attrgetter
from typing import Literal, TypedDict

from ledger.calc.months import MONTHS_A_YEAR, days_in_month, first_of_month

Frequency = Literal["day", "week", "month", "year"]
State = Literal["overdue", "due", "settled", "skipped"]

OVERDUE = dt.timedelta(days=60)  # how long something that nobody has paid stays expected

_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "year": MONTHS_A_YEAR}
_LONGEST_MONTH = 31


@dataclass(frozen=True, slots=True)
class Rule:
    """When something recurs: every ``interval`` days, weeks, months or years from ``start``; once without a frequency.

    In months and years a day that the month lacks becomes its last (31 January, 28 February, 31 March; 29 February,
    28 February). With ``last_day_of_month`` each occurrence is the last day of its month, the first one too.
    ``end_date`` is included; ``count`` counts occurrences, skipped ones too. Raises ValueError for what cannot be.
    """

    start: dt.date
    frequency: Frequency | None = None
    interval: int = 1
    last_day_of_month: bool = False
    end_date: dt.date | None = None
    count: int | None = None

    def __post_init__(self) -> None:
        """Refuse an unknown frequency, a step or count below 1, and a last day of days or weeks."""
        if self.frequency is not None and self.frequency not in _DAYS and self.frequency not in _MONTHS:
            raise ValueError(f"{self.frequency!r} is not day, week, month or year.")
        if self.interval < 1 or (self.count is not None and self.count < 1):
            raise ValueError("An interval and a count start at 1.")
        if self.last_day_of_month and self.frequency not in _MONTHS:
            raise ValueError("Only months and years have a last day of the month.")


class Patch(TypedDict, total=False):
    """What an override changes about one occurrence. A key that is absent changes nothing."""

    skipped: bool
    date: dt.date | None
    amount_value: Decimal | None
    account_id: str | None
    category_id: str | None
    name: str | None
    transaction_id: str | None


Overrides = Mapping[dt.date, Patch]
_UNCHANGED: Patch = {}


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence: the day the rule names, the day it falls on, and the patch; ``None`` means as in the rule."""

    original_date: dt.date
    date: dt.date
    patch: Patch = field(default_factory=Patch, hash=False)

    @property
    def overridden(self) -> bool:
        """Whether anything about it differs from the rule."""
        return bool(self.patch)

    @property
    def skipped(self) -> bool:
        """Whether it does not take place."""
        return bool(self.patch.get("skipped"))

    @property
    def amount_value(self) -> Decimal | None:
        """Its own amount."""
        return self.patch.get("amount_value")

    @property
    def account_id(self) -> str | None:
        """Its own account."""
        return self.patch.get("account_id")

    @property
    def category_id(self) -> str | None:
        """Its own category."""
        return self.patch.get("category_id")

    @property
    def name(self) -> str | None:
        """Its own name."""
        return self.patch.get("name")

    @property
    def transaction_id(self) -> str | None:
        """The transaction that settled it."""
        return self.patch.get("transaction_id")


def occurrences(rule: Rule, *, window_start: dt.date, window_end: dt.date) -> list[dt.date]:
    """The days the rule names within the window, both ends included, in order; overrides not applied.

    >>> rule = Rule(start=dt.date(2024, 1, 31), frequency="month")
    >>> days = occurrences(rule, window_start=dt.date(2024, 2, 1), window_end=dt.date(2024, 4, 30))
    >>> [day.isoformat() for day in days]
    ['2024-02-29', '2024-03-31', '2024-04-30']
    """
    if rule.end_date is not None and rule.end_date < window_end:
        window_end = rule.end_date
    if rule.frequency is None:
        return [rule.start] if window_start <= rule.start <= window_end else []
    if window_end < rule.start or window_end < window_start:
        return []
    days = _DAYS.get(rule.frequency)
    if days is not None:
        return _by_days(rule, days * rule.interval, window_start, window_end)
    return _by_months(rule, _MONTHS[rule.frequency] * rule.interval, window_start, window_end)


def is_occurrence(rule: Rule, day: dt.date) -> bool:
    """Whether the rule names the day.

    >>> is_occurrence(Rule(start=dt.date(2024, 2, 29), frequency="year"), dt.date(2025, 2, 28))
    True
    """
    return bool(occurrences(rule, window_start=day, window_end=day))


def expand(rule: Rule, overrides: Overrides, *, window_start: dt.date, window_end: dt.date) -> list[Occurrence]:
    """The occurrences that fall into the window once overrides are applied, by date.

    Skipped ones are marked, not left out. An occurrence moved into the window is there, one moved out of it is not.
    An override for a day that the rule does not name (any more) does nothing.

    >>> overrides: Overrides = {dt.date(2024, 1, 31): {"date": dt.date(2024, 2, 1)}}
    >>> rule = Rule(start=dt.date(2024, 1, 31), frequency="month")
    >>> found = expand(rule, overrides, window_start=dt.date(2024, 2, 1), window_end=dt.date(2024, 2, 29))
    >>> [(occurrence.original_date.isoformat(), occurrence.date.isoformat()) for occurrence in found]
    [('2024-01-31', '2024-02-01'), ('2024-02-29', '2024-02-29')]
    """
    named = occurrences(rule, window_start=window_start, window_end=window_end)
    if not overrides:
        return [Occurrence(day, day, _UNCHANGED) for day in named]
    found = [Occurrence(day, day, _UNCHANGED) for day in named if day not in overrides]
    for original, patch in overrides.items():
        day = patch.get("date") or original
        if window_start <= day <= window_end and is_occurrence(rule, original):
            found.append(Occurrence(original, day, patch))
    found.sort(key=attrgetter("date", "original_date"))
    return found


def get_state(
    occurrence: Occurrence, *, today: dt.date, is_settled: bool | None = None, is_total: bool = False
) -> State | None:
    """Return what became of an occurrence; None for one that lapsed.

    One that a transaction settles lapses after sixty days, one that stands for a month's total when the month ends.

    Args:
        is_settled: whether all of it is booked; whether a transaction settles it where it is left out.

    >>> get_state(Occurrence(dt.date(2024, 1, 31), dt.date(2024, 2, 1)), today=dt.date(2024, 2, 2))
    'overdue'
    """
    if occurrence.skipped:
        return "skipped"
    if occurrence.transaction_id is not None or is_settled:
        return "settled"
    if occurrence.date >= today:
        return "due"
    return "overdue" if is_overdue(occurrence.date, today=today, is_total=is_total) else None


def is_overdue(day: dt.date, *, today: dt.date, is_total: bool = False) -> bool:
    """Whether something open of a day that has passed is still expected."""
    first = first_of_month(today) if is_total else today - OVERDUE
    return first <= day < today


def _by_days(rule: Rule, step: int, window_start: dt.date, window_end: dt.date) -> list[dt.date]:
    start = rule.start.toordinal()
    first = max(-((start - window_start.toordinal()) // step), 0)
    stop = (window_end.toordinal() - start) // step + 1
    if rule.count is not None:
        stop = min(stop, rule.count)
    return [*map(dt.date.fromordinal, range(start + first * step, start + stop * step, step))]


def _by_months(rule: Rule, step: int, window_start: dt.date, window_end: dt.date) -> list[dt.date]:
    start = rule.start
    wanted = _LONGEST_MONTH if rule.last_day_of_month else start.day
    month = start.year * MONTHS_A_YEAR + start.month - 1
    first = max(-((month - window_start.year * MONTHS_A_YEAR - window_start.month + 1) // step), 0)
    last = (window_end.year * MONTHS_A_YEAR + window_end.month - 1 - month) // step
    if rule.count is not None:
        last = min(last, rule.count - 1)
    found = [_in_month(number, wanted) for number in range(month + first * step, month + last * step + 1, step)]
    # Counting in whole months may catch one day too many at either end.
    if found and found[0] < window_start:
        del found[0]
    if found and found[-1] > window_end:
        del found[-1]
    return found


@lru_cache(maxsize=1 << 16)
def _in_month(number: int, wanted: int) -> dt.date:
    """The wanted day of a month counted from the year 0, or its last. Remembered: rules share few months."""
    year, month = divmod(number, MONTHS_A_YEAR)
    month += 1
    return dt.date(year, month, wanted if wanted <= 28 else min(wanted, days_in_month(year, month)))
