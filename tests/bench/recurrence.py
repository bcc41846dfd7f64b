"""How much faster our recurrences are than dateutil's: 10,000 rules over five years, the same days.

Run it with ``python -m tests.bench recurrence``: the median of five rounds in which the two take turns.
"""

import time
from datetime import date, datetime
from random import Random
from statistics import median

from dateutil import rrule

from planning.calc.recurrence import RecurrenceRule, list_occurrence_days
from tests.bench.figures import print_figure

RULES, ROUNDS = 10_000, 5
GOAL = 20
WINDOW_START, WINDOW_END = date(2026, 1, 1), date(2030, 12, 31)
FREQUENCIES = {"day": rrule.DAILY, "week": rrule.WEEKLY, "month": rrule.MONTHLY, "year": rrule.YEARLY}


def generate_rules():
    """Every kind of rule: mostly monthly, as in cash planning, with month ends, intervals and ends."""
    chance = Random(20260101)
    for _ in range(RULES):
        frequency = chance.choices(["day", "week", "month", "year"], [1, 3, 12, 2])[0]
        start = date.fromordinal(chance.randint(date(2020, 1, 1).toordinal(), date(2027, 12, 31).toordinal()))
        yield RecurrenceRule(
            start=start,
            frequency=frequency,
            interval=chance.choice([1, 1, 1, 2, 3]),
            last_day_of_month=frequency in {"month", "year"} and chance.random() < 0.1,
            end_date=date(2028, 6, 30) if chance.random() < 0.2 else None,
            count=chance.randint(1, 200) if chance.random() < 0.1 else None,
        )


def to_rrule(rule):
    """The same recurrence in dateutil's terms; clamping is the last one of the days up to the wanted one."""
    words = {"dtstart": datetime.combine(rule.start, datetime.min.time()), "interval": rule.interval}
    if rule.count is not None:
        words["count"] = rule.count
    if rule.end_date is not None:
        words["until"] = datetime.combine(rule.end_date, datetime.min.time())
    if rule.last_day_of_month:
        words["bymonthday"] = -1
    elif rule.frequency in {"month", "year"} and rule.start.day > 28:
        words |= {"bymonthday": range(28, rule.start.day + 1), "bysetpos": -1}
    if rule.frequency == "year":
        words["bymonth"] = rule.start.month
    return rrule.rrule(FREQUENCIES[rule.frequency], **words)


def expand_rules(rules):
    """Every rule's days in the window."""
    return [list_occurrence_days(rule, window_start=WINDOW_START, window_end=WINDOW_END) for rule in rules]


def expand_rrules(rules):
    """The same from dateutil, as it gives them."""
    start, end = (datetime.combine(day, datetime.min.time()) for day in (WINDOW_START, WINDOW_END))
    return [rule.between(start, end, inc=True) for rule in rules]


def measure_time(function, rules):
    """Seconds and result of one run."""
    began = time.perf_counter()
    result = function(rules)
    return time.perf_counter() - began, result


def main():
    """Time both in turn, check that they agree, and print the ratio."""
    rules = list(generate_rules())
    rrules = [to_rrule(rule) for rule in rules]
    our_times, their_times = [], []
    for _ in range(ROUNDS):
        seconds, days = measure_time(expand_rules, rules)
        our_times.append(seconds)
        seconds, moments = measure_time(expand_rrules, rrules)
        their_times.append(seconds)
    if days != [[moment.date() for moment in row] for row in moments]:
        raise SystemExit("The two do not produce the same days.")
    mine, other = median(our_times), median(their_times)
    print_figure(
        f"{RULES:,} recurrence rules over five years",
        other / mine,
        "× as fast as dateutil",
        goal=GOAL,
        behind=f"{sum(map(len, days)):,} occurrences, {mine * 1000:.0f} against {other * 1000:.0f} ms",
    )


if __name__ == "__main__":
    main()
