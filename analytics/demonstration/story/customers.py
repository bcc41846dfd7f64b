"""Customers who come, change their plan, leave and return: the subscriptions that all else follows from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from analytics.demonstration.story.names import company_name
from ledger.calc.months import add_months, months_between

GROWTH = 2.3  # by how much of what it was at the start the number of customers grows over the whole story
OLDEST_DAYS = 540  # how long before the story the first customers had come
YEARLY_PRICE = 10  # months paid for a year
YEARLY_HAZARD = 9  # somebody who may leave once a year is likelier to leave then
RETURNING = 8  # of so many who are won in a month, one was a customer before
MONTHS_A_YEAR = 12
MONTHS_AHEAD = 2  # beyond today there is what was agreed by today


@dataclass(frozen=True, slots=True)
class Plan:
    """A product: monthly price, share of new customers, monthly risk to leave, and how it is paid."""

    key: str
    name: str
    price: int
    share: float
    leaving: float
    yearly: float  # the share of its customers that pay for a year
    invoiced: bool = False  # those who pay monthly get an invoice with tax


PLANS = (
    Plan("starter", "Starter", 29, 0.40, 0.026, 0.05),
    Plan("team", "Team", 89, 0.33, 0.017, 0.14),
    Plan("business", "Business", 249, 0.18, 0.011, 0.25, invoiced=True),
    Plan("scale", "Scale", 690, 0.07, 0.007, 0.55, invoiced=True),
    Plan("enterprise", "Enterprise", 1900, 0.02, 0.004, 1.0),
)
CURRENCIES = ("EUR", "USD", "GBP")
SHARES = (0.62, 0.26, 0.12)


@dataclass(frozen=True, slots=True)
class Stretch:
    """From ``start`` until ``end`` (not included; None: until further notice) a customer has a plan.

    ``agreed`` is the day on which its start was committed, ``ended`` the day on which its end was.
    """

    start: date
    agreed: date
    plan: Plan
    yearly: bool
    end: date | None = None
    ended: date | None = None

    @property
    def price(self) -> int:
        """What is paid at once: for a month or for a year."""
        return self.plan.price * (YEARLY_PRICE if self.yearly else 1)

    @property
    def monthly(self) -> Decimal:
        return Decimal(self.price) / (MONTHS_A_YEAR if self.yearly else 1)


@dataclass(slots=True)
class Customer:
    number: int
    currency: str
    domestic: bool  # pays value-added tax
    stretches: list[Stretch] = field(default_factory=list)

    @property
    def name(self) -> str:
        return company_name(self.number)

    @property
    def external_id(self) -> str:
        return f"cus_{self.number:05}"

    @property
    def now(self) -> Stretch:
        return self.stretches[-1]

    @property
    def gone(self) -> bool:
        return self.now.end is not None


@dataclass(frozen=True, slots=True)
class Event:
    """From ``effective`` on, the customer's subscription is worth another amount; 0 ends it."""

    customer: Customer
    effective: date
    committed: date
    plan: Plan
    amount: int
    yearly: bool


def grown(months: Sequence[date], *, start_count: int, chance: Random) -> list[Customer]:
    """Everybody who ever subscribed: ``start_count`` at the first of the months, a multiple of it at the last.

    ``months`` are first days of consecutive months, today's the last; what follows is simulated a little further.
    """
    customers = [
        newcomer(number, months[0] - timedelta(days=chance.randrange(1, OLDEST_DAYS)), chance)
        for number in range(start_count)
    ]
    active, gone = list(customers), []
    ahead = [add_months(months[-1], 1 + offset) for offset in range(MONTHS_AHEAD)]
    for index, month in enumerate((*months, *ahead)):
        for customer in active:
            live(customer, month, chance)
        gone += [customer for customer in active if customer.gone]
        active = [customer for customer in active if not customer.gone]
        target = start_count * (1 + GROWTH * (index / len(months)) ** 1.15)
        missing = max(0, round((target - len(active)) * chance.uniform(0.8, 1.25)))
        back = returning(gone, month, most=-(-missing // RETURNING), chance=chance)
        gone = [customer for customer in gone if customer.gone]
        joining = [newcomer(len(customers) + n, some_day(month, chance), chance) for n in range(missing - len(back))]
        customers += joining
        active += back + joining
    return customers


def some_day(month: date, chance: Random) -> date:
    return month.replace(day=chance.randrange(1, 29))


def newcomer(number: int, day: date, chance: Random) -> Customer:
    """A new customer; yearly contracts start with a month and are signed some weeks before."""
    plan = chance.choices(PLANS, weights=[plan.share for plan in PLANS])[0]
    customer = Customer(number, currency=chance.choices(CURRENCIES, weights=SHARES)[0], domestic=chance.random() < 0.55)
    customer.stretches.append(begun(day, plan, chance))
    return customer


def begun(day: date, plan: Plan, chance: Random) -> Stretch:
    day = day.replace(day=min(day.day, 28))
    if chance.random() < plan.yearly:
        start = day.replace(day=1)
        return Stretch(start, start - timedelta(days=chance.randrange(3, 45)), plan, yearly=True)
    return Stretch(day, day, plan, yearly=False)


def live(customer: Customer, month: date, chance: Random) -> None:
    """What a customer does in a month: mostly nothing."""
    now = customer.now
    passed = months_between(now.start, month)
    if passed < 1 or (now.yearly and passed % MONTHS_A_YEAR):
        return
    leaving = now.plan.leaving * (YEARLY_HAZARD if now.yearly else 1)
    day, draw = month.replace(day=now.start.day), chance.random()
    if draw < leaving:
        notice = chance.randrange(25, 80) if now.yearly else chance.randrange(0, 24)
        customer.stretches[-1] = replace(now, end=day, ended=day - timedelta(days=notice))
    elif draw < leaving + 0.010:
        change(customer, day, step=1, notice=0)
    elif draw < leaving + 0.016:
        change(customer, day, step=-1, notice=chance.randrange(0, 20))


def change(customer: Customer, day: date, *, step: int, notice: int) -> None:
    """To the next larger or smaller plan, where there is one."""
    now = customer.now
    place = PLANS.index(now.plan) + step
    if not 0 <= place < len(PLANS):
        return
    agreed = day - timedelta(days=notice)
    customer.stretches[-1] = replace(now, end=day, ended=agreed)
    customer.stretches.append(Stretch(day, agreed, PLANS[place], yearly=now.yearly))


def returning(gone: list[Customer], month: date, *, most: int, chance: Random) -> list[Customer]:
    """Some of those who left come back, after a few months at the earliest."""
    away = [customer for customer in gone if customer.now.end and months_between(customer.now.end, month) > 2]
    back = chance.sample(away, min(most, -(-len(away) // 6)))
    for customer in back:
        customer.stretches.append(begun(some_day(month, chance), customer.now.plan, chance))
    return back


def events(customers: Sequence[Customer], *, today: date) -> Iterator[Event]:
    """What was agreed by today, in the order of agreement for each customer; some of it takes effect later."""
    for customer in customers:
        for index, each in enumerate(customer.stretches):
            if each.agreed <= today:
                yield Event(customer, each.start, each.agreed, each.plan, each.price, each.yearly)
            follows = customer.stretches[index + 1 : index + 2]
            stays = follows and follows[0].start == each.end
            if each.end and each.ended and each.ended <= today and not stays:
                yield Event(customer, each.end, each.ended, each.plan, 0, each.yearly)


def recurring(customers: Sequence[Customer], months: Sequence[date]) -> list[Decimal]:
    """What the customers are worth a month at each of the months' ends, whatever their currency."""
    changes: dict[int, Decimal] = {}
    for customer in customers:
        for each in customer.stretches:
            start = max(months_between(months[0], each.start), 0)
            changes[start] = changes.get(start, Decimal(0)) + each.monthly
            if each.end:
                end = max(months_between(months[0], each.end), 0)
                changes[end] = changes.get(end, Decimal(0)) - each.monthly
    worth, found = Decimal(0), []
    for index in range(len(months)):
        worth += changes.get(index, Decimal(0))
        found.append(worth)
    return found
