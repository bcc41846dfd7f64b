"""Transfers between own accounts: card settlements, loan instalments, payouts, currency exchange and reserves."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal

from demo.scenario import loans
from demo.scenario.movements import Movement
from ledger.money.calc.fx import RateTable, convert_currency

ZERO = Decimal(0)
CENT = Decimal("0.01")
THOUSAND = Decimal(1000)
EXCHANGE_RATE_FACTOR = Decimal("0.997")  # the bank's rate relative to the day's rate
KEPT_BUDGET_MONTHS = {"dollars": Decimal("0.16"), "pounds": Decimal("0.08")}  # in months of the budget
EXCHANGE_MONTHS = {"dollars": (1, 2, 4, 5, 7, 8, 10, 11), "pounds": (3, 6, 9, 12)}
MAX_MAIN_BUDGET_MONTHS, MIN_MAIN_BUDGET_MONTHS, TARGET_MAIN_BUDGET_MONTHS = (
    Decimal("5.5"),
    Decimal("1.6"),
    Decimal("3.5"),
)  # months of the budget


class Treasury:
    """Tracks balances and transfers money between the accounts early in each month."""

    def __init__(
        self,
        *,
        opening: Mapping[str, Decimal],
        rates: RateTable,
        currencies: Mapping[str, str],
        loan: Decimal,
        payout_month: date | None,
    ):
        self.balances = defaultdict(lambda: ZERO, opening)
        self.rates, self.currencies, self.loan, self.payout_month = rates, currencies, loan, payout_month
        self.count = 0

    def apply_movements(self, movements: list[Movement]) -> None:
        for movement in movements:
            if not movement.pending:
                self.balances[movement.account] += movement.amount

    def book_transfers(self, month: date, *, budget: Decimal) -> list[Movement]:
        """Return and book the transfers of a month, given the balances before it."""
        legs = [leg for pair in self.iter_transfer_pairs(month, budget) for leg in pair]
        self.apply_movements(legs)
        return legs

    def iter_transfer_pairs(self, month: date, budget: Decimal) -> Iterator[tuple[Movement, Movement]]:
        balances = self.balances
        if balances["former"]:
            yield self.build_transfer(
                "former", "main", balances["former"], month.replace(day=9), "Closing of the account"
            )
        if balances["provider"] > 0:
            yield self.build_transfer("provider", "main", balances["provider"], month.replace(day=3), "Cardpath payout")
        if balances["card"] < 0:
            yield self.build_transfer("main", "card", -balances["card"], month.replace(day=5), "Settlement of the card")
        if month == self.payout_month:
            yield self.build_transfer(
                "loan", "main", self.loan, month.replace(day=loans.INSTALMENT_DAY), "Payout of the loan"
            )
        elif balances["loan"] < 0:
            instalment = self.loan / loans.INSTALMENT_COUNT
            yield self.build_transfer(
                "main", "loan", instalment, month.replace(day=loans.INSTALMENT_DAY), "Instalment of the loan"
            )
        for account, kept_months in KEPT_BUDGET_MONTHS.items():
            excess = balances[account] - budget * kept_months
            excess -= excess % 100
            if month.month in EXCHANGE_MONTHS[account] and excess > 0:
                yield self.build_transfer(
                    account, "main", excess, month.replace(day=6), f"Exchange {self.currencies[account]}"
                )
        yield from self.iter_reserve_transfers(month, budget)

    def iter_reserve_transfers(self, month: date, budget: Decimal) -> Iterator[tuple[Movement, Movement]]:
        """Yield the transfers from main to savings above a limit, and back below one."""
        main, savings = self.balances["main"], self.balances["savings"]
        if main > budget * MAX_MAIN_BUDGET_MONTHS and month.month in (2, 5, 8, 11):
            excess = main - budget * TARGET_MAIN_BUDGET_MONTHS
            if excess > THOUSAND:
                yield self.build_transfer(
                    "main", "savings", excess - excess % THOUSAND, month.replace(day=16), "To the reserve"
                )
        elif main < budget * MIN_MAIN_BUDGET_MONTHS:
            amount_needed = min(savings, budget * TARGET_MAIN_BUDGET_MONTHS - main)
            if amount_needed > THOUSAND:
                yield self.build_transfer(
                    "savings",
                    "main",
                    amount_needed - amount_needed % THOUSAND,
                    month.replace(day=2),
                    "From the reserve",
                )

    def build_transfer(
        self, source: str, target: str, amount: Decimal, day: date, text: str
    ) -> tuple[Movement, Movement]:
        """Build both legs; across currencies at the day's rate less the bank's spread."""
        self.count += 1
        received_amount = amount
        if self.currencies[source] != self.currencies[target]:
            converted_amount = convert_currency(
                amount, source=self.currencies[source], target=self.currencies[target], day=day, rates=self.rates
            )
            received_amount = (converted_amount * EXCHANGE_RATE_FACTOR).quantize(CENT)
        pair = f"transfer-{self.count}"
        return (
            Movement(source, day, -amount, "Own account", text, None, pair=pair),
            Movement(target, day, received_amount, "Own account", text, None, pair=pair),
        )
