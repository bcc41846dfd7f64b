"""What became of customers who came in the same month: how many are left, and what they pay."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Literal

from analytics.calc.movements import History, month_of, number_of
from analytics.calc.mrr import Factors, value
from analytics.recurring import MRR, Chosen, factors, histories, rows_as_they_are
from analytics.results import percentage
from companies.models import Company
from ledger.calc.fx import RateTable
from ledger.calc.money import WIDE, round_half_up
from ledger.subscriptions.calc import cut

Measure = Literal["revenue", "customers"]
ZERO = Decimal(0)

Changes = defaultdict[int, defaultdict[str, Decimal]]
"""Month -> by how much the cohort's contracts change at its end, by currency; customers are counted under ``HEADS``."""
HEADS = "customers"


@dataclass(frozen=True, slots=True)
class Mark:
    """A cohort at the end of a month; ``percentage`` is of where it started, None for a cohort of nobody."""

    month: date
    value: Decimal
    percentage: Decimal | None


@dataclass(frozen=True, slots=True)
class Cohort:
    """Customers whose first active month's end was that of ``month``, from it to the last month asked for.

    ``start`` is what the month's row has as new, to the cent.
    """

    month: date
    start: Decimal
    marks: list[Mark]


def cohorts(
    *,
    company: Company,
    months: Sequence[date],
    measure: Measure,
    rates: RateTable,
) -> list[Cohort]:
    """A cohort for each of the months (first days, consecutive), in the base currency or in heads.

    Revenue is at each month's own rates and its percentage compares at the same ones, so that rates keep and lose
    nothing. Raises MissingRate.
    """
    first, last = number_of(months[0]), number_of(months[-1])
    found: defaultdict[int, Changes] = defaultdict(lambda: defaultdict(lambda: defaultdict(lambda: ZERO)))
    for history in histories(company.id, Chosen()):
        came = next((number for number, contracts in history[MRR] if contracts), None)
        if came is not None and first <= came <= last:
            follow(history[MRR], found[came])
    currencies = {name for cohort in found.values() for month in cohort.values() for name in month if name != HEADS}
    came_with = {}
    if measure == "revenue":
        told = rows_as_they_are(company=company, first=months[0], last=months[-1])
        came_with = {row.month: row.new for row in told}
    factors_of = factors(rates, base=company.base_currency, currencies={company.base_currency, *currencies})
    return [
        starting_with(
            cohort(
                number, found[number], last=last, measure=measure, base=company.base_currency, factors_of=factors_of
            ),
            came_with.get(month_of(number)),
        )
        for number in range(first, last + 1)
    ]


def starting_with(found: Cohort, start: Decimal | None) -> Cohort:
    """The same with what its month's row shows as new, which takes the cents that rounding leaves there."""
    if start is None:
        return found
    return replace(found, start=start, marks=[replace(found.marks[0], value=start), *found.marks[1:]])


def follow(history: History, changes: Changes) -> None:
    """Adds one customer's changes to the cohort's."""
    before: Mapping[str, Decimal] = {}
    for number, contracts in history:
        change = changes[number]
        for currency in {*before, *contracts}:
            change[currency] += contracts.get(currency, ZERO) - before.get(currency, ZERO)
        change[HEADS] += bool(contracts) - bool(before)
        before = contracts


def cohort(
    number: int, changes: Changes, *, last: int, measure: Measure, base: str, factors_of: Callable[[int], Factors]
) -> Cohort:
    held: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    marks, first = [], None
    for month in range(number, last + 1):
        for name, amount in changes.get(month, {}).items():
            held[name] = WIDE.add(held[name], amount)
        if first is None:
            first = dict(held)
        if measure == "customers":
            now, then = held.get(HEADS, ZERO), first.get(HEADS, ZERO)
            shown = now
        else:
            now, then = worth(held, factors_of(month)), worth(first, factors_of(month))
            shown = round_half_up(now, base)
        marks.append(Mark(month=month_of(month), value=shown, percentage=percentage(now, then) if then else None))
    return Cohort(month=month_of(number), start=marks[0].value, marks=marks)


def worth(held: Mapping[str, Decimal], factors: Factors) -> Decimal:
    return cut(value({name: amount for name, amount in held.items() if name != HEADS}, factors))
