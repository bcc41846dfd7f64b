"""The demo company's story: the data files as values, with dates relative to today.

Months count from the current month (0), days from today where a column is in days. See `demo/data/README.md`.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import ROUND_DOWN, Decimal
from pathlib import Path

from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month
from ledger.money.calc.fx import RateTable, convert_currency

DATA_FOLDER = Path(__file__).parent / "data"
MAX_MONTHS = 36  # of the data
CENT = Decimal("0.01")
EXCHANGE_RATE_FACTOR = Decimal("0.997")  # the bank's rate relative to the day's rate
OPEN_PAYMENT_COUNT, PENDING_PAYMENT_COUNT, NEW_PAYMENT_PERIOD = 9, 3, timedelta(days=12)
MIN_DIVISIBLE_AMOUNT = 100  # so that no part is 0.00


@dataclass(slots=True)
class Movement:
    """A transaction to import. Movements of a split, a tax, a service period or a transfer are categorized later."""

    account: str
    day: date
    amount: Decimal
    party: str
    text: str
    category: str = ""  # system key; of a split, each part's system key, P&L line and amount
    tax: Decimal = Decimal(0)
    service_months: int = 0
    transfer: int = 0  # the same for both legs
    invoice: int = 0  # the number of the invoice that it pays
    pending: bool = False
    external_id: str | None = None

    @property
    def is_split(self) -> bool:
        return ";" in self.category

    @property
    def is_categorized_later(self) -> bool:
        return bool(self.tax or self.service_months or self.transfer or self.is_split)

    @property
    def is_divisible(self) -> bool:
        return not self.is_categorized_later and not self.invoice and abs(self.amount) >= MIN_DIVISIBLE_AMOUNT


@dataclass(frozen=True, slots=True)
class Story:
    """The opening balances by account on the day before `first`, and the movements since, by day."""

    first: date
    opening: dict[str, Decimal]
    movements: list[Movement]


def read_rows(name: str) -> list[dict[str, str]]:
    with (DATA_FOLDER / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_template(name: str) -> str:
    return (DATA_FOLDER / f"{name}.template").read_text(encoding="utf-8")


def resolve_day(row: dict[str, str], today: date) -> date:
    """Return the day of a row with a month and a day; a day after the end of a month is its last one."""
    month = add_months(get_first_day_of_month(today), int(row["month"]))
    return month.replace(day=min(int(row["day"]), get_last_day_of_month(month).day))


def build_story(*, today: date, months: int, count: int | None, rates: RateTable) -> Story:
    """Build the story of the last months up to today; what was before is in the opening balances.

    With `count`, there are so many movements and opening balances together: the newest, or movements divided into
    several.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    rows = read_rows("accounts")
    currencies = {row["key"]: row["default_currency"] for row in rows}
    first_balances = {row["key"]: Decimal(row["opening"] or 0) for row in rows}
    transfer_legs = iter_transfer_legs(today, currencies, rates)
    movements = [*iter_payments(today), *transfer_legs, *iter_invoice_payments(today)]
    movements = sorted((each for each in movements if each.day <= today), key=lambda each: each.day)
    leave_payments_open(movements, today=today)
    first = add_months(get_first_day_of_month(today), 1 - months)
    start = sum(each.day < first for each in movements)
    if count is None:
        return Story(first, sum_opening_balances(first_balances, movements[:start]), movements[start:])
    movement_count = count
    while True:
        start = max(start, len(movements) - movement_count)
        opening = sum_opening_balances(first_balances, movements[:start])
        allowed_count = max(count - sum(balance != 0 for balance in opening.values()), 0)
        if movement_count <= allowed_count:
            return Story(first, opening, divide_movements(movements[start:], allowed_count))
        movement_count = allowed_count


def sum_opening_balances(first_balances: dict[str, Decimal], movements: list[Movement]) -> dict[str, Decimal]:
    """Return the balances by account after the movements."""
    balances = dict(first_balances)
    for movement in movements:
        if not movement.pending:
            balances[movement.account] += movement.amount
    return balances


def iter_payments(today: date) -> Iterator[Movement]:
    """Yield all payments, also those after today."""
    for row in read_rows("transactions"):
        day = resolve_day(row, today)
        tax, service_months = Decimal(row["tax"] or 0), int(row["serviceMonths"] or 0)
        text = row["text"].format(month=f"{day:%B %Y}")
        amount = Decimal(row["amount"])
        yield Movement(row["account"], day, amount, row["party"], text, row["category"], tax, service_months)


def iter_transfer_legs(today: date, currencies: dict[str, str], rates: RateTable) -> Iterator[Movement]:
    """Yield both legs of each transfer; between currencies at the day's rate less the bank's spread."""
    for number, row in enumerate(read_rows("transfers"), 1):
        source, target, day, amount = row["source"], row["target"], resolve_day(row, today), Decimal(row["amount"])
        yield Movement(source, day, -amount, "Own account", row["text"], transfer=number)
        if currencies[source] != currencies[target]:
            pair = {"source": currencies[source], "target": currencies[target]}
            amount = convert_currency(amount, **pair, day=day, rates=rates) * EXCHANGE_RATE_FACTOR
        yield Movement(target, day, amount.quantize(CENT), "Own account", row["text"], transfer=number)


def iter_invoice_payments(today: date) -> Iterator[Movement]:
    for number, row in enumerate(read_rows("invoices"), 1):
        if row["paid"]:
            day, amount = today + timedelta(days=int(row["paid"])), Decimal(row["paidAmount"])
            yield Movement("main", day, amount, row["party"], "Invoice", row["category"], invoice=number)


def leave_payments_open(movements: list[Movement], *, today: date) -> None:
    """Leave the newest customer payments pending, and some before them uncategorized."""
    new_movements = (each for each in movements if each.day > today - NEW_PAYMENT_PERIOD and not each.invoice)
    payments = [each for each in new_movements if each.category == "revenueRecurring"]
    for payment in payments[-PENDING_PAYMENT_COUNT:]:
        payment.pending = True
    for payment in payments[-PENDING_PAYMENT_COUNT - OPEN_PAYMENT_COUNT : -PENDING_PAYMENT_COUNT]:
        payment.category, payment.tax, payment.service_months = "", Decimal(0), 0


def divide_movements(movements: list[Movement], count: int) -> list[Movement]:
    """Divide movements into equal ones until there are `count`; amounts by day stay the same."""
    divisible_movements = [each for each in movements if each.is_divisible]
    if not divisible_movements:
        return movements
    times, remainder = divmod(count - len(movements), len(divisible_movements))
    added = []
    for number, movement in enumerate(divisible_movements):
        new_count = times + (number < remainder)
        share = (movement.amount / (new_count + 1)).quantize(CENT, ROUND_DOWN)
        movement.amount -= share * new_count
        added += [replace(movement, amount=share) for _ in range(new_count)]
    return sorted(movements + added, key=lambda each: each.day)
