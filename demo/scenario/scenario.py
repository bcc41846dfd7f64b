"""The scenario of the demo company as plain values: customers, movements, opening balances and budgets."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from demo.scenario import loans
from demo.scenario.customer_payments import iter_customer_payments
from demo.scenario.customers import CUSTOMER_GROWTH, SimulatedCustomer, compute_monthly_revenue, simulate_customers
from demo.scenario.expenses import compute_budgets, iter_monthly_expenses
from demo.scenario.movements import Movement
from demo.scenario.treasury import Treasury
from ledger.calc.months import add_months, get_first_day_of_month
from ledger.money.calc.fx import RateTable, convert_currency

ACCOUNT_CURRENCIES = {
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
# Opening balances, in months of the first budget.
OPENING_BUDGET_MONTHS = {
    "main": Decimal("3.2"),
    "dollars": Decimal("0.25"),
    "pounds": Decimal("0.15"),
    "savings": Decimal("4"),
    "former": Decimal("0.12"),
    "till": Decimal("0.06"),
}
MIN_CASH_BUDGET_MONTHS = Decimal(4)  # in months of the first budget
FINANCING_BUDGET_MONTHS = Decimal(15)  # amount of the financing round, in months of the budget
FINANCING_MONTHS_AGO = 27  # months before today
FIXED_MOVEMENTS_PER_MONTH = 27  # movements of a month other than customer payments
PAYMENTS_PER_CUSTOMER_AND_MONTH = 1 + 0.42 * CUSTOMER_GROWTH  # on average, for each customer at the start
MIN_CUSTOMERS = 24
SMALL_MOVEMENT_SHARE = 0.075  # share of small movements, whose number is adjusted to reach the requested count
OPEN_PAYMENT_COUNT, PENDING_PAYMENT_COUNT = 9, 3
USAGE_SHARE, EXPENSE_SHARE = 0.5, 0.32  # of small movements; the others are bank charges
CENT = Decimal("0.01")
SMALL_EXPENSES = (  # counterparty, text, category, maximum
    ("Railway", "Train tickets", "sales", 160),
    ("City Taxi", "Taxi", "sales", 45),
    ("Corner Bistro", "Lunch with a customer", "sales", 120),
    ("Paper & Ink", "Office supplies", "officeAndAdmin", 80),
    ("Greenleaf Catering", "Team breakfast", "officeAndAdmin", 190),
    ("Bookworm", "Technical books", "productDevelopment", 70),
)


@dataclass(frozen=True, slots=True)
class Scenario:
    months: list[date]
    customers: list[SimulatedCustomer]
    opening: dict[str, Decimal]
    budgets: list[Decimal]
    recurring: list[Decimal]
    movements: list[Movement]
    loan: Decimal


def build_scenario(*, months: int, count: int, today: date, random_source: Random, rates: RateTable) -> Scenario:
    """Build a scenario of exactly `count` movements over the months up to today, without opening balances.

    If `count` is smaller than the company's own costs need, the newest movements are kept.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    calendar = [add_months(get_first_day_of_month(today), 1 - months + number) for number in range(months)]
    payment_count = count * (1 - SMALL_MOVEMENT_SHARE) - FIXED_MOVEMENTS_PER_MONTH * months
    customers = simulate_customers(
        calendar,
        start_count=max(MIN_CUSTOMERS, int(payment_count / months / PAYMENTS_PER_CUSTOMER_AND_MONTH)),
        random_source=random_source,
    )
    monthly_revenue = compute_monthly_revenue(customers, calendar)
    monthly_budgets = compute_budgets(monthly_revenue)
    opening = {account: (monthly_budgets[0] * share).quantize(CENT) for account, share in OPENING_BUDGET_MONTHS.items()}
    customer_payments = [
        each for customer in customers for each in iter_customer_payments(customer, first=calendar[0], today=today)
    ]
    bills = [
        each
        for month, sum_ in zip(calendar, monthly_budgets, strict=True)
        for each in iter_monthly_expenses(month, sum_, random_source=random_source)
    ]
    loan = loans.compute_loan_amount(monthly_budgets[0])
    bills += loans.iter_interest_payments(calendar, loan)
    bills = [each for each in bills if each.day <= today] + build_financing(calendar, monthly_budgets)
    leave_payments_open(customer_payments, today=today)
    small_count = max(
        0, round(count * (1 - 0.25 * SMALL_MOVEMENT_SHARE)) - len(customer_payments) - len(bills) - 10 * months
    )
    small_movements = [
        build_small_movement(choose_movement_day(calendar, today, random_source), random_source)
        for _ in range(small_count)
    ]
    booked_movements = customer_payments + bills + small_movements + build_tax_payments(customer_payments, today=today)
    opening["savings"] += compute_required_reserve(
        booked_movements, opening=opening, min_cash=monthly_budgets[0] * MIN_CASH_BUDGET_MONTHS, rates=rates
    )
    if not loans.find_payout_month(calendar):
        opening["loan"] = -loan
    transfer_legs = build_transfers(
        booked_movements,
        calendar=calendar,
        budget=monthly_budgets,
        opening=opening,
        loan=loan,
        today=today,
        rates=rates,
    )
    movements = fit_movement_count(
        booked_movements + transfer_legs, count=count, calendar=calendar, today=today, random_source=random_source
    )
    if transfer_legs and not any(each.pair for each in movements):
        opening["main"] += opening.pop("savings")  # a scenario too short for transfers would never use the savings
    return Scenario(calendar, customers, opening, monthly_budgets, monthly_revenue, movements, loan)


def compute_required_reserve(
    movements: Sequence[Movement], *, opening: dict[str, Decimal], min_cash: Decimal, rates: RateTable
) -> Decimal:
    """Compute the additional opening balance that keeps cash above a minimum.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    cash = lowest = sum(opening.values(), start=Decimal(0))
    for movement in sorted(movements, key=lambda each: each.day):
        source = ACCOUNT_CURRENCIES[movement.account]
        cash += convert_currency(movement.amount, source=source, target="EUR", day=movement.day, rates=rates)
        lowest = min(lowest, cash)
    return max(min_cash - lowest, Decimal(0)).quantize(CENT)


def build_financing(calendar: Sequence[date], budget: Sequence[Decimal]) -> list[Movement]:
    """Build one financing round, if the scenario is long enough."""
    if len(calendar) <= FINANCING_MONTHS_AGO:
        return []
    month_index = len(calendar) - FINANCING_MONTHS_AGO
    amount = budget[month_index] * FINANCING_BUDGET_MONTHS
    return [
        Movement(
            "main", calendar[month_index].replace(day=21), amount - amount % 10_000, "Foundry Ventures", "Series A",
            "financing", vendor="Foundry Ventures",
        )
    ]  # fmt: skip


def leave_payments_open(customer_payments: list[Movement], *, today: date) -> None:
    """Leave the newest payments pending, and some before them uncategorized."""
    newest_payments = sorted(
        (payment for payment in customer_payments if payment.day > today - timedelta(days=12)),
        key=lambda each: each.day,
    )
    for payment in newest_payments[-PENDING_PAYMENT_COUNT:]:
        payment.pending = True
    for payment in newest_payments[-PENDING_PAYMENT_COUNT - OPEN_PAYMENT_COUNT : -PENDING_PAYMENT_COUNT]:
        payment.category, payment.tax = None, None


def choose_movement_day(calendar: Sequence[date], today: date, random_source: Random) -> date:
    """Choose a day of the scenario; later days are likelier, since the company grows."""
    days = (today - calendar[0]).days + 1
    return calendar[0] + timedelta(days=min(days - 1, int(days * random_source.random() ** 0.7)))


def build_small_movement(day: date, random_source: Random) -> Movement:
    """Build a small movement: usage paid by card, an expense, or a bank charge."""
    draw = random_source.random()
    if draw < USAGE_SHARE:
        amount = Decimal(random_source.choice((500, 1000, 1500, 2500, 5000))) / 100 * random_source.randrange(1, 4)
        return Movement("provider", day, amount, "Card payment", "Additional usage", "revenueUsage")
    if draw < USAGE_SHARE + EXPENSE_SHARE:
        counterparty_name, text, category, max_amount = random_source.choice(SMALL_EXPENSES)
        amount = Decimal(random_source.randrange(500, max_amount * 100)) / 100
        account = "till" if amount < 12 else "card"
        return Movement(account, day, -amount, counterparty_name, text, category)
    return build_bank_charge(day, random_source)


def build_bank_charge(day: date, random_source: Random) -> Movement:
    amount = Decimal(random_source.randrange(20, 900)) / 100
    return Movement("main", day, -amount, "Northbank", "Bank charges", "officeAndAdmin", vendor="Northbank")


def build_tax_payments(customer_payments: list[Movement], *, today: date) -> list[Movement]:
    """Build the payments of collected tax on the tenth of the month after."""
    tax_by_day: dict[date, Decimal] = defaultdict(Decimal)
    for payment in customer_payments:
        if payment.tax and payment.tax.amount:
            tax_by_day[add_months(get_first_day_of_month(payment.day), 1).replace(day=10)] += payment.tax.amount
    return [
        Movement("main", day, -amount, "Tax office", "Value-added tax", "taxPayments", vendor="Tax office")
        for day, amount in sorted(tax_by_day.items())
        if day <= today
    ]


def build_transfers(
    movements: list[Movement],
    *,
    calendar: Sequence[date],
    budget: Sequence[Decimal],
    opening: dict[str, Decimal],
    loan: Decimal,
    today: date,
    rates: RateTable,
) -> list[Movement]:
    """Build the transfers between the company's own accounts.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    treasury = Treasury(
        opening=opening,
        rates=rates,
        currencies=ACCOUNT_CURRENCIES,
        loan=loan,
        payout_month=loans.find_payout_month(calendar),
    )
    by_month: dict[date, list[Movement]] = defaultdict(list)
    for movement in movements:
        by_month[get_first_day_of_month(movement.day)].append(movement)
    transfer_legs: list[Movement] = []
    for month, sum_ in zip(calendar, budget, strict=True):
        if month > calendar[0]:
            transfer_legs += treasury.book_transfers(month, budget=sum_)
        treasury.apply_movements(by_month[month])
    return [movement for movement in transfer_legs if movement.day <= today]


def fit_movement_count(
    movements: list[Movement], *, count: int, calendar: Sequence[date], today: date, random_source: Random
) -> list[Movement]:
    """Return exactly `count` movements by day: bank charges fill up, or only the newest are kept."""
    missing_count = count - len(movements)
    fitted_movements = movements + [
        build_bank_charge(choose_movement_day(calendar, today, random_source), random_source)
        for _ in range(missing_count)
    ]
    fitted_movements.sort(key=lambda each: each.day)
    if missing_count < 0:
        without_transfers = [each for each in fitted_movements if not each.pair]
        fitted_movements = (
            without_transfers[len(without_transfers) - count :]
            if count < len(without_transfers)
            else fill_with_transfers(without_transfers, fitted_movements, count)
        )
    return fitted_movements


def fill_with_transfers(without_transfers: list[Movement], movements: list[Movement], count: int) -> list[Movement]:
    """Return all movements that are no transfers, and as many whole transfers as fit."""
    pairs = list(dict.fromkeys(each.pair for each in movements if each.pair))
    kept_pairs = {None, *pairs[: (count - len(without_transfers)) // 2]}
    return [each for each in movements if each.pair in kept_pairs]
