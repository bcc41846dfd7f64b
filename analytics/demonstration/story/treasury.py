"""Money that only changes its place: cards settled, loans repaid, payouts, foreign accounts emptied, reserves kept."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal

from analytics.demonstration.story import loans
from analytics.demonstration.story.movement import Movement
from ledger.calc.fx import RateTable, convert

ZERO = Decimal(0)
CENT = Decimal("0.01")
THOUSAND = Decimal(1000)
SPREAD = Decimal("0.997")  # what a bank leaves of the day's rate
KEPT_MONTHS = {"dollars": Decimal("0.16"), "pounds": Decimal("0.08")}  # of a budget; what lies above is changed
CHANGED_IN = {"dollars": (1, 2, 4, 5, 7, 8, 10, 11), "pounds": (3, 6, 9, 12)}
MOST_ON_MAIN, LEAST_ON_MAIN, USUAL_ON_MAIN = Decimal("5.5"), Decimal("1.6"), Decimal("3.5")  # months of the budget


class Treasury:
    """Follows the balances and moves money between the accounts early in each month."""

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

    def book(self, movements: list[Movement]) -> None:
        for movement in movements:
            if not movement.pending:
                self.balances[movement.account] += movement.amount

    def moved(self, month: date, *, budget: Decimal) -> list[Movement]:
        """The transfers of a month, given the balances before it; they are booked."""
        found = [leg for pair in self.pairs(month, budget) for leg in pair]
        self.book(found)
        return found

    def pairs(self, month: date, budget: Decimal) -> Iterator[tuple[Movement, Movement]]:
        balances = self.balances
        if balances["former"]:
            yield self.transfer("former", "main", balances["former"], month.replace(day=9), "Closing of the account")
        if balances["provider"] > 0:
            yield self.transfer("provider", "main", balances["provider"], month.replace(day=3), "Cardpath payout")
        if balances["card"] < 0:
            yield self.transfer("main", "card", -balances["card"], month.replace(day=5), "Settlement of the card")
        if month == self.payout_month:
            yield self.transfer("loan", "main", self.loan, month.replace(day=loans.DAY), "Payout of the loan")
        elif balances["loan"] < 0:
            instalment = self.loan / loans.INSTALMENTS
            yield self.transfer("main", "loan", instalment, month.replace(day=loans.DAY), "Instalment of the loan")
        for account, kept in KEPT_MONTHS.items():
            over = balances[account] - budget * kept
            over -= over % 100
            if month.month in CHANGED_IN[account] and over > 0:
                yield self.transfer(account, "main", over, month.replace(day=6), f"Exchange {self.currencies[account]}")
        yield from self.reserve(month, budget)

    def reserve(self, month: date, budget: Decimal) -> Iterator[tuple[Movement, Movement]]:
        """What main does not need goes to savings, and comes back when it does."""
        main, savings = self.balances["main"], self.balances["savings"]
        if main > budget * MOST_ON_MAIN and month.month in (2, 5, 8, 11):
            over = main - budget * USUAL_ON_MAIN
            if over > THOUSAND:
                yield self.transfer("main", "savings", over - over % THOUSAND, month.replace(day=16), "To the reserve")
        elif main < budget * LEAST_ON_MAIN:
            wanted = min(savings, budget * USUAL_ON_MAIN - main)
            if wanted > THOUSAND:
                yield self.transfer(
                    "savings", "main", wanted - wanted % THOUSAND, month.replace(day=2), "From the reserve"
                )

    def transfer(self, source: str, target: str, amount: Decimal, day: date, text: str) -> tuple[Movement, Movement]:
        """Both legs; across currencies at the day's rate less what the bank keeps."""
        self.count += 1
        arriving = amount
        if self.currencies[source] != self.currencies[target]:
            worth = convert(
                amount, source=self.currencies[source], target=self.currencies[target], day=day, rates=self.rates
            )
            arriving = (worth * SPREAD).quantize(CENT)
        pair = f"transfer-{self.count}"
        return (
            Movement(source, day, -amount, "Own account", text, None, pair=pair),
            Movement(target, day, arriving, "Own account", text, None, pair=pair),
        )
