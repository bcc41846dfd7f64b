"""The movements of a small software company: customers pay, people and suppliers are paid, money is moved about."""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from ledger.calc.months import add_months, first_of_month, last_of_month
from ledger.import_body import Item
from ledger.models import Account

ACCOUNTS = (  # key, type, name, currency, group
    ("main", "bank", "Main account", "EUR", "Operating"),
    ("dollars", "bank", "Dollar account", "USD", "Operating"),
    ("pounds", "bank", "Pound account", "GBP", "Operating"),
    ("card", "creditCard", "Company card", "EUR", "Liabilities"),
    ("savings", "bank", "Reserve", "EUR", "Reserves"),
    ("till", "cash", "Petty cash", "EUR", "Operating"),
)
CUSTOMERS = ("Initech", "Hooli", "Vandelay", "Umbrella", "Stark", "Wayne", "Acme", "Globex", "Soylent", "Tyrell")
PLANS = (Decimal(29), Decimal(49), Decimal(99), Decimal(199), Decimal(499))
MONTHLY = (  # account, counterparty, text, amount, day
    ("main", "Payroll", "Salaries", Decimal(-42000), 28),
    ("main", "Harbour Offices", "Rent", Decimal(-3800), 1),
    ("main", "Tax office", "Payroll tax", Decimal(-11800), 10),
    ("dollars", "Cloud Hosting Inc", "Hosting", Decimal(-6200), 3),
    ("pounds", "Brightside Media", "Advertising", Decimal(-4100), 15),
    ("card", "Tools & licences", "Software subscriptions", Decimal(-890), 8),
)


def story(accounts: Mapping[str, Account], *, months: int, count: int, today: date, chance: Random) -> list[Item]:
    """About ``count`` movements over the months up to today, in order of their days."""
    first = add_months(first_of_month(today), 1 - months)
    items: list[Item] = []
    for number in range(months):
        month = add_months(first, number)
        growth = Decimal(str(round(1 + 0.03 * number, 4)))
        items += fixed(accounts, month=month, growth=growth, chance=chance)
    fill = max(0, count - len(items))
    days = (today - first).days + 1
    for _ in range(fill):
        items.append(payment(accounts, day=first + timedelta(days=grown(days, chance)), chance=chance))
    return sorted((item for item in items if item.date <= today), key=lambda item: item.date)[:count]


def grown(days: int, chance: Random) -> int:
    """A day number; later days are likelier, as a company that grows would have it."""
    return min(days - 1, int(days * chance.random() ** 0.7))


def fixed(accounts: Mapping[str, Account], *, month: date, growth: Decimal, chance: Random) -> list[Item]:
    """What comes every month, growing with the company."""
    last = last_of_month(month).day
    return [
        item(
            accounts[account],
            day=month.replace(day=min(day, last)),
            amount=amount * growth * Decimal(str(round(chance.uniform(0.97, 1.03), 4))),
            who=who,
            text=text,
        )
        for account, who, text, amount, day in MONTHLY
    ]


def payment(accounts: Mapping[str, Account], *, day: date, chance: Random) -> Item:
    """A customer's payment, or now and then a small expense."""
    if chance.random() < 0.12:
        amount = Decimal(str(round(-chance.uniform(4, 180), 2)))
        return item(
            accounts[chance.choice(("card", "till"))], day=day, amount=amount, who="Card payment", text="Expense"
        )
    account = accounts[chance.choices(("main", "dollars", "pounds"), weights=(6, 3, 1))[0]]
    who = f"{chance.choice(CUSTOMERS)} {chance.randint(1, 400)}"
    return item(account, day=day, amount=chance.choice(PLANS), who=who, text="Subscription")


def item(account: Account, *, day: date, amount: Decimal, who: str, text: str) -> Item:
    return Item(
        account_id=str(account.id),
        date=day,
        amount_value=f"{amount:.2f}",
        amount_currency=account.default_currency,
        from_to=who,
        description=text,
    )
