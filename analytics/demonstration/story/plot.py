"""The whole story of the company, told before anything is stored: customers, movements, opening balances, budgets."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from analytics.demonstration.story import loans
from analytics.demonstration.story.customers import GROWTH, Customer, grown, recurring
from analytics.demonstration.story.movement import Movement
from analytics.demonstration.story.payments import payments
from analytics.demonstration.story.spending import budgets, costs
from analytics.demonstration.story.treasury import Treasury
from ledger.calc.fx import RateTable, convert
from ledger.calc.months import add_months, first_of_month

CURRENCIES = {
    "main": "EUR",
    "dollars": "USD",
    "pounds": "GBP",
    "till": "EUR",
    "savings": "EUR",
    "card": "EUR",
    "loan": "EUR",
    "provider": "EUR",
    "former": "EUR",
}
# What lies on the accounts before the story, in months of its first budget.
OPENING = {
    "main": Decimal("3.2"),
    "dollars": Decimal("0.25"),
    "pounds": Decimal("0.15"),
    "savings": Decimal("4"),
    "former": Decimal("0.12"),
    "till": Decimal("0.06"),
}
LEAST_CASH = Decimal(4)  # months of the first budget, that are always there
ROUND_MONTHS = Decimal(15)  # what investors brought, in months of the budget
ROUND_BEFORE = 27  # months before today
CORE_A_MONTH = 27  # movements of a month that are no payments by customers
PAYMENTS_A_MONTH = 1 + 0.42 * GROWTH  # on average, for each customer at the start
FEWEST_CUSTOMERS = 24
FILLING = 0.075  # of the movements: small ones whose number makes the sum come out
OPEN_PAYMENTS, OPEN_EXPENSES, PENDING = 9, 5, 3
USAGE, EXPENSE, CHARGE = 0.5, 0.32, 0.18  # kinds of small movements
CENT = Decimal("0.01")
EXPENSES = (  # who, text, category, most
    ("Railway", "Train tickets", "sales", 160),
    ("City Taxi", "Taxi", "sales", 45),
    ("Corner Bistro", "Lunch with a customer", "sales", 120),
    ("Paper & Ink", "Office supplies", "officeAndAdmin", 80),
    ("Greenleaf Catering", "Team breakfast", "officeAndAdmin", 190),
    ("Bookworm", "Technical books", "productDevelopment", 70),
)


@dataclass(frozen=True, slots=True)
class Story:
    months: list[date]
    customers: list[Customer]
    opening: dict[str, Decimal]
    budgets: list[Decimal]
    recurring: list[Decimal]
    movements: list[Movement]
    loan: Decimal


def told(*, months: int, count: int, today: date, chance: Random, rates: RateTable) -> Story:
    """A story of exactly ``count`` movements over the months up to today; opening balances are not among them.

    Fewer than the company's own bills and wages need: the newest ones. Raises MissingRate.
    """
    calendar = [add_months(first_of_month(today), 1 - months + number) for number in range(months)]
    wanted = count * (1 - FILLING) - CORE_A_MONTH * months
    customers = grown(
        calendar, start_count=max(FEWEST_CUSTOMERS, int(wanted / months / PAYMENTS_A_MONTH)), chance=chance
    )
    worth = recurring(customers, calendar)
    budget = budgets(worth)
    opening = {account: (budget[0] * share).quantize(CENT) for account, share in OPENING.items()}
    paid = [each for customer in customers for each in payments(customer, first=calendar[0], today=today)]
    bills = [each for month, sum_ in zip(calendar, budget, strict=True) for each in costs(month, sum_, chance=chance)]
    loan = loans.borrowed(budget[0])
    bills += loans.interest_paid(calendar, loan)
    bills = [each for each in bills if each.day <= today] + rounds(calendar, budget)
    leave_open(paid, today=today)
    small = max(0, round(count * (1 - 0.25 * FILLING)) - len(paid) - len(bills) - 10 * months)
    filling = [trifle(day_of(calendar, today, chance), chance) for _ in range(small)]
    booked = paid + bills + filling + tax_payments(paid, today=today)
    opening["savings"] += shortfall(booked, opening=opening, least=budget[0] * LEAST_CASH, rates=rates)
    if not loans.find_payout_month(calendar):
        opening["loan"] = -loan
    moved = transfers(booked, calendar=calendar, budget=budget, opening=opening, loan=loan, today=today, rates=rates)
    movements = fitted(booked + moved, count=count, calendar=calendar, today=today, chance=chance)
    if moved and not any(each.pair for each in movements):
        opening["main"] += opening.pop("savings")  # too short a story for transfers: nothing would fetch it
    return Story(calendar, customers, opening, budget, worth, movements, loan)


def shortfall(booked: Sequence[Movement], *, opening: dict[str, Decimal], least: Decimal, rates: RateTable) -> Decimal:
    """What the founders must bring besides, so that cash never falls below the least. Raises MissingRate."""
    cash = lowest = sum(opening.values(), start=Decimal(0))
    for movement in sorted(booked, key=lambda each: each.day):
        source = CURRENCIES[movement.account]
        cash += convert(movement.amount, source=source, target="EUR", day=movement.day, rates=rates)
        lowest = min(lowest, cash)
    return max(least - lowest, Decimal(0)).quantize(CENT)


def rounds(calendar: Sequence[date], budget: Sequence[Decimal]) -> list[Movement]:
    """One round of financing, where the story is long enough."""
    if len(calendar) <= ROUND_BEFORE:
        return []
    place = len(calendar) - ROUND_BEFORE
    amount = budget[place] * ROUND_MONTHS
    return [
        Movement(
            "main", calendar[place].replace(day=21), amount - amount % 10_000, "Foundry Ventures", "Series A",
            "financing", vendor="Foundry Ventures",
        )
    ]  # fmt: skip


def leave_open(paid: list[Movement], *, today: date) -> None:
    """The newest payments: the last are pending, some before them still wait to be categorized."""
    newest = sorted((each for each in paid if each.day > today - timedelta(days=12)), key=lambda each: each.day)
    for each in newest[-PENDING:]:
        each.pending = True
    for each in newest[-PENDING - OPEN_PAYMENTS : -PENDING]:
        each.category, each.tax = None, None


def day_of(calendar: Sequence[date], today: date, chance: Random) -> date:
    """A day of the story; later days are likelier, as a company that grows would have it."""
    days = (today - calendar[0]).days + 1
    return calendar[0] + timedelta(days=min(days - 1, int(days * chance.random() ** 0.7)))


def trifle(day: date, chance: Random) -> Movement:
    """Something small: usage paid by card, an expense of the team, or a charge of the bank."""
    draw = chance.random()
    if draw < USAGE:
        amount = Decimal(chance.choice((500, 1000, 1500, 2500, 5000))) / 100 * chance.randrange(1, 4)
        return Movement("provider", day, amount, "Card payment", "Additional usage", "revenueUsage")
    if draw < USAGE + EXPENSE:
        who, text, category, most = chance.choice(EXPENSES)
        amount = Decimal(chance.randrange(500, most * 100)) / 100
        account = "till" if amount < 12 else "card"
        return Movement(account, day, -amount, who, text, category)
    return charge(day, chance)


def charge(day: date, chance: Random) -> Movement:
    amount = Decimal(chance.randrange(20, 900)) / 100
    return Movement("main", day, -amount, "Northbank", "Bank charges", "officeAndAdmin", vendor="Northbank")


def tax_payments(paid: list[Movement], *, today: date) -> list[Movement]:
    """The tax in customers' payments goes to the tax office on the tenth of the month after."""
    taken: dict[date, Decimal] = defaultdict(Decimal)
    for each in paid:
        if each.tax and each.tax.amount:
            taken[add_months(first_of_month(each.day), 1).replace(day=10)] += each.tax.amount
    return [
        Movement("main", day, -amount, "Tax office", "Value-added tax", "taxPayments", vendor="Tax office")
        for day, amount in sorted(taken.items())
        if day <= today
    ]


def transfers(
    booked: list[Movement],
    *,
    calendar: Sequence[date],
    budget: Sequence[Decimal],
    opening: dict[str, Decimal],
    loan: Decimal,
    today: date,
    rates: RateTable,
) -> list[Movement]:
    """Between the company's own accounts. Raises MissingRate."""
    treasury = Treasury(
        opening=opening,
        rates=rates,
        currencies=CURRENCIES,
        loan=loan,
        payout_month=loans.find_payout_month(calendar),
    )
    by_month: dict[date, list[Movement]] = defaultdict(list)
    for each in booked:
        by_month[first_of_month(each.day)].append(each)
    found: list[Movement] = []
    for month, sum_ in zip(calendar, budget, strict=True):
        if month > calendar[0]:
            found += treasury.moved(month, budget=sum_)
        treasury.book(by_month[month])
    return [each for each in found if each.day <= today]


def fitted(
    movements: list[Movement], *, count: int, calendar: Sequence[date], today: date, chance: Random
) -> list[Movement]:
    """Exactly ``count`` of them in the order of their days: bank charges fill up, or only the newest stay."""
    missing = count - len(movements)
    filled = movements + [charge(day_of(calendar, today, chance), chance) for _ in range(missing)]
    filled.sort(key=lambda each: each.day)
    if missing < 0:
        plain = [each for each in filled if not each.pair]
        filled = plain[len(plain) - count :] if count < len(plain) else filled_up(plain, filled, count)
    return filled


def filled_up(plain: list[Movement], movements: list[Movement], count: int) -> list[Movement]:
    """All that is no transfer, and as many whole transfers as there is room for."""
    pairs = list(dict.fromkeys(each.pair for each in movements if each.pair))
    kept = {None, *pairs[: (count - len(plain)) // 2]}
    return [each for each in movements if each.pair in kept]
