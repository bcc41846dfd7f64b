"""Simulated customers who join, change plans, leave and return."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from demo.scenario.company_names import build_company_name
from ledger.calc.months import add_months, count_months_between

CUSTOMER_GROWTH = 2.3  # growth of the number of customers over the scenario, as a multiple of its start
MAX_CUSTOMER_AGE_DAYS = 540  # how long before the scenario the first customers joined
MONTHS_PAID_PER_YEAR = 10  # months paid for a year
YEARLY_CHURN_FACTOR = 9  # yearly contracts can end only once a year, so their churn is higher then
NEW_PER_RETURNING_CUSTOMER = 8  # one of so many new customers of a month returns
MONTHS_A_YEAR = 12
SIMULATED_MONTHS_AHEAD = 2  # for contracts agreed by today that start later


@dataclass(frozen=True, slots=True)
class Plan:
    """A product: monthly price, share of new customers, monthly churn probability, and how it is paid."""

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
CURRENCY_SHARES = (0.62, 0.26, 0.12)


@dataclass(frozen=True, slots=True)
class SubscriptionTerm:
    """A customer has a plan from `start` until `end` (exclusive; None: open).

    `agreed` is the day on which the start was committed, `ended` the day on which the end was.
    """

    start: date
    agreed: date
    plan: Plan
    yearly: bool
    end: date | None = None
    ended: date | None = None

    @property
    def price(self) -> int:
        """The amount of one payment: for a month or for a year."""
        return self.plan.price * (MONTHS_PAID_PER_YEAR if self.yearly else 1)

    @property
    def monthly(self) -> Decimal:
        return Decimal(self.price) / (MONTHS_A_YEAR if self.yearly else 1)


@dataclass(slots=True)
class SimulatedCustomer:
    number: int
    currency: str
    domestic: bool  # pays value-added tax
    terms: list[SubscriptionTerm] = field(default_factory=list)

    @property
    def name(self) -> str:
        return build_company_name(self.number)

    @property
    def external_id(self) -> str:
        return f"cus_{self.number:05}"

    @property
    def current_term(self) -> SubscriptionTerm:
        return self.terms[-1]

    @property
    def has_left(self) -> bool:
        return self.current_term.end is not None


@dataclass(frozen=True, slots=True)
class ScenarioEvent:
    """From `effective` on, the customer's subscription has another amount; 0 ends it."""

    customer: SimulatedCustomer
    effective: date
    committed: date
    plan: Plan
    amount: int
    yearly: bool


def simulate_customers(months: Sequence[date], *, start_count: int, random_source: Random) -> list[SimulatedCustomer]:
    """Simulate all customers: `start_count` in the first month, a multiple of it in the last.

    Args:
        months: first days of consecutive months, today's last; a few later months are simulated too.
    """
    customers = [
        simulate_new_customer(
            number, months[0] - timedelta(days=random_source.randrange(1, MAX_CUSTOMER_AGE_DAYS)), random_source
        )
        for number in range(start_count)
    ]
    active, former = list(customers), []
    later_months = [add_months(months[-1], 1 + offset) for offset in range(SIMULATED_MONTHS_AHEAD)]
    for index, month in enumerate((*months, *later_months)):
        for customer in active:
            simulate_customer_month(customer, month, random_source)
        former += [customer for customer in active if customer.has_left]
        active = [customer for customer in active if not customer.has_left]
        target = start_count * (1 + CUSTOMER_GROWTH * (index / len(months)) ** 1.15)
        missing = max(0, round((target - len(active)) * random_source.uniform(0.8, 1.25)))
        returned = reactivate_customers(
            former, month, max_count=-(-missing // NEW_PER_RETURNING_CUSTOMER), random_source=random_source
        )
        former = [customer for customer in former if customer.has_left]
        joining = [
            simulate_new_customer(len(customers) + n, choose_day_of_month(month, random_source), random_source)
            for n in range(missing - len(returned))
        ]
        customers += joining
        active += returned + joining
    return customers


def choose_day_of_month(month: date, random_source: Random) -> date:
    return month.replace(day=random_source.randrange(1, 29))


def simulate_new_customer(number: int, day: date, random_source: Random) -> SimulatedCustomer:
    """Simulate a new customer; yearly contracts start with a month and are signed some weeks before."""
    plan = random_source.choices(PLANS, weights=[plan.share for plan in PLANS])[0]
    customer = SimulatedCustomer(
        number,
        currency=random_source.choices(CURRENCIES, weights=CURRENCY_SHARES)[0],
        domestic=random_source.random() < 0.55,
    )
    customer.terms.append(build_first_term(day, plan, random_source))
    return customer


def build_first_term(day: date, plan: Plan, random_source: Random) -> SubscriptionTerm:
    day = day.replace(day=min(day.day, 28))
    if random_source.random() < plan.yearly:
        start = day.replace(day=1)
        return SubscriptionTerm(start, start - timedelta(days=random_source.randrange(3, 45)), plan, yearly=True)
    return SubscriptionTerm(day, day, plan, yearly=False)


def simulate_customer_month(customer: SimulatedCustomer, month: date, random_source: Random) -> None:
    """Simulate what a customer does in a month: mostly nothing."""
    term = customer.current_term
    months_passed = count_months_between(term.start, month)
    if months_passed < 1 or (term.yearly and months_passed % MONTHS_A_YEAR):
        return
    churn_probability = term.plan.leaving * (YEARLY_CHURN_FACTOR if term.yearly else 1)
    day, draw = month.replace(day=term.start.day), random_source.random()
    if draw < churn_probability:
        notice = random_source.randrange(25, 80) if term.yearly else random_source.randrange(0, 24)
        customer.terms[-1] = replace(term, end=day, ended=day - timedelta(days=notice))
    elif draw < churn_probability + 0.010:
        switch_plan(customer, day, step=1, notice=0)
    elif draw < churn_probability + 0.016:
        switch_plan(customer, day, step=-1, notice=random_source.randrange(0, 20))


def switch_plan(customer: SimulatedCustomer, day: date, *, step: int, notice: int) -> None:
    """Move a customer to the next larger or smaller plan, if there is one."""
    term = customer.current_term
    place = PLANS.index(term.plan) + step
    if not 0 <= place < len(PLANS):
        return
    agreed = day - timedelta(days=notice)
    customer.terms[-1] = replace(term, end=day, ended=agreed)
    customer.terms.append(SubscriptionTerm(day, agreed, PLANS[place], yearly=term.yearly))


def reactivate_customers(
    former: list[SimulatedCustomer], month: date, *, max_count: int, random_source: Random
) -> list[SimulatedCustomer]:
    """Let some former customers return, after a few months at the earliest."""
    candidates = [
        customer
        for customer in former
        if customer.current_term.end and count_months_between(customer.current_term.end, month) > 2
    ]
    returned = random_source.sample(candidates, min(max_count, -(-len(candidates) // 6)))
    for customer in returned:
        customer.terms.append(
            build_first_term(choose_day_of_month(month, random_source), customer.current_term.plan, random_source)
        )
    return returned


def iter_scenario_events(customers: Sequence[SimulatedCustomer], *, today: date) -> Iterator[ScenarioEvent]:
    """Yield the events agreed by today, in order of agreement for each customer; some take effect later."""
    for customer in customers:
        for index, term in enumerate(customer.terms):
            if term.agreed <= today:
                yield ScenarioEvent(customer, term.start, term.agreed, term.plan, term.price, term.yearly)
            next_terms = customer.terms[index + 1 : index + 2]
            continues = next_terms and next_terms[0].start == term.end
            if term.end and term.ended and term.ended <= today and not continues:
                yield ScenarioEvent(customer, term.end, term.ended, term.plan, 0, term.yearly)


def compute_monthly_revenue(customers: Sequence[SimulatedCustomer], months: Sequence[date]) -> list[Decimal]:
    """Compute what customers pay a month at each month's end, whatever their currency."""
    changes: dict[int, Decimal] = {}
    for customer in customers:
        for term in customer.terms:
            start = max(count_months_between(months[0], term.start), 0)
            changes[start] = changes.get(start, Decimal(0)) + term.monthly
            if term.end:
                end = max(count_months_between(months[0], term.end), 0)
                changes[end] = changes.get(end, Decimal(0)) - term.monthly
    revenue, revenues = Decimal(0), []
    for index in range(len(months)):
        revenue += changes.get(index, Decimal(0))
        revenues.append(revenue)
    return revenues
