"""The data of the demo company make sense on every day of the year."""

from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal

import pytest

from demo.story import MAX_MONTHS, build_story, read_rows, resolve_day
from ledger.calc.months import add_months, get_first_day_of_month
from ledger.money.calc.fx import RateTable

DAYS = [date(2027, 12, 30) + timedelta(days=number) for number in range(0, 430, 9)] + [date(2028, 2, 29)]
CASH_ACCOUNTS = {row["key"] for row in read_rows("accounts") if row["type"] in ("bank", "cash")}


@pytest.fixture(scope="module")
def rates():
    return RateTable([("USD", date(2020, 1, 1), Decimal("1.1")), ("GBP", date(2020, 1, 1), Decimal("0.85"))])


def build(today, rates, months=MAX_MONTHS, count=None):
    return build_story(today=today, months=months, count=count, rates=rates)


def sum_balances(story):
    """The balances by account at the end of each day with movements."""
    balances, by_day = defaultdict(Decimal, story.opening), {story.first: dict(story.opening)}
    for movement in story.movements:
        balances[movement.account] += movement.amount if not movement.pending else 0
        by_day[movement.day] = dict(balances)
    return by_day


@pytest.mark.parametrize("today", DAYS, ids=str)
def test_story_of_each_day_ends_on_it_with_open_and_pending_payments(today, rates):
    story = build(today, rates)
    assert today - timedelta(days=3) <= story.movements[-1].day <= today
    assert story.first == add_months(get_first_day_of_month(today), 1 - MAX_MONTHS)
    assert sum(each.pending for each in story.movements) == 3
    assert 0 < sum(not each.category and not each.transfer for each in story.movements) <= 9
    low = {name: amount for balances in sum_balances(story).values() for name, amount in balances.items() if amount < 0}
    assert not CASH_ACCOUNTS & set(low)
    future = [row for row in read_rows("subscription_events") if resolve_day(row, today) > today]
    assert any(resolve_day(row, today) - timedelta(days=int(row["notice"])) <= today for row in future)


@pytest.mark.parametrize(("months", "count"), [(24, None), (6, None), (1, None), (36, 500), (12, 5000)])
def test_shorter_or_divided_story_has_the_same_balances(months, count, rates):
    today = date(2028, 5, 17)
    whole, part = sum_balances(build(today, rates)), sum_balances(build(today, rates, months, count))
    last = max(whole)
    assert part[last] == whole[last]
    story = build(today, rates, months, count)
    assert count is None or len(story.movements) + sum(amount != 0 for amount in story.opening.values()) == count


def test_day_after_the_end_of_a_month_is_its_last():
    assert resolve_day({"month": "0", "day": "31"}, date(2028, 2, 3)) == date(2028, 2, 29)
    assert resolve_day({"month": "-2", "day": "31"}, date(2028, 1, 3)) == date(2027, 11, 30)
