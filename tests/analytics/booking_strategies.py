"""Hypothesis strategies for companies with accounts, transactions in several currencies and transfers.

Their totals are computed a second time here, day by day in the simplest way.
"""

from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import round_half_up
from tests.ledger.conftest import Books

TYPES = ["bank", "bank", "cash", "creditCard", "loan", "transit", "other"]
CURRENCIES = ["EUR", "USD", "GBP"]
ZERO = Decimal(0)


@dataclass(frozen=True)
class Booking:
    account: int
    day: date
    amount: Decimal
    currency: str
    kind: str = "flow"  # or pending, initial, leg
    financed: Decimal = ZERO  # the part of a flow categorized as financing
    other_leg: int | None = None  # index of the other leg of a transfer in the bookings


@dataclass
class DrawnBookings:
    """A drawn company; ``ids`` are its account ids after ``create``."""

    base: str
    types: list[str]
    bookings: list[Booking]
    ids: list[str] = field(default_factory=list)

    def create(self, api: Any) -> "DrawnBookings":
        """Create accounts and transactions over HTTP."""
        books = Books(api)
        self.ids = [
            books.create_account(name=f"{kind} {n}", type=kind, defaultCurrency=self.base)
            for n, kind in enumerate(self.types)
        ]
        rows = [self.build_row(each, n) for n, each in enumerate(self.bookings) if each.kind != "initial"]
        assert api.post("transactions/import", {"transactions": rows, "duplicates": "keep"}).status_code == 200
        ids = {row["externalId"]: row["id"] for row in api.get("transactions", {"limit": 1000}).json()}
        for n, booking in enumerate(self.bookings):
            if booking.financed:
                part = {
                    "categoryId": books.get_category_id("financing"),
                    "plSplit": {"neutral": float(booking.financed)},
                }
                assert books.set_categorizations(ids[f"b{n}"], part).status_code == 200
        legs = [n for n, each in enumerate(self.bookings) if each.kind == "leg"]
        for out, into in zip(legs[::2], legs[1::2], strict=True):
            assert books.link_transfer(ids[f"b{out}"], ids[f"b{into}"]).status_code == 200
        for each in self.bookings:
            if each.kind == "initial":
                body = {"date": str(each.day), "amountValue": f"{each.amount:.2f}"}
                response = api.put(f"accounts/{self.ids[each.account]}/initial_balance", body)
                assert response.status_code == 200, response.content
        return self

    def build_row(self, booking: Booking, number: int) -> dict[str, Any]:
        return {
            "accountId": self.ids[booking.account], "date": str(booking.day), "fromTo": "x", "description": "y",
            "amountValue": f"{booking.amount:.2f}", "amountCurrency": booking.currency,
            "pending": booking.kind == "pending", "externalId": f"b{number}",
        }  # fmt: skip

    def is_cash(self, account: int) -> bool:
        return self.types[account] in {"bank", "cash"}

    def sum_cash(self, day: date, rates: RateTable) -> Decimal:
        """Return the balance of all cash accounts at the end of a day, each rounded."""
        return sum((self.get_balance(n, day, rates) for n in range(len(self.types)) if self.is_cash(n)), start=ZERO)

    def get_balance(self, account: int, day: date, rates: RateTable) -> Decimal:
        held = [each for each in self.list_booked() if each.account == account and each.day <= day]
        return round_half_up(sum((self.convert(each, day, rates) for each in held), start=ZERO), self.base)

    def list_booked(self) -> list[Booking]:
        return [each for each in self.bookings if each.kind != "pending"]

    def find_cash_part(self, booking: Booking, first: date, last: date) -> str | None:
        """Return the part of the change of cash that a booking on a cash account counts in, all but its `financed`."""
        if booking.kind == "pending" or not self.is_cash(booking.account) or not first <= booking.day <= last:
            return None
        if booking.kind == "initial":
            return "openingBalances"
        if booking.other_leg is None:
            return "operatingInflow" if booking.amount > 0 else "operatingOutflow"
        other = self.bookings[booking.other_leg]
        if self.is_cash(other.account):
            return "exchangeResult" if first <= other.day <= last else "otherTransfers"
        return {"creditCard": "cards", "loan": "financing"}.get(self.types[other.account], "otherTransfers")

    def convert(self, booking: Booking, day: date, rates: RateTable) -> Decimal:
        return convert_currency(booking.amount, source=booking.currency, target=self.base, day=day, rates=rates)

    def sum_in_base(self, bookings: list[Booking], rates: RateTable) -> Decimal:
        """Return the sum in base currency, each booking at the rate of its day, not rounded."""
        return sum((self.convert(each, each.day, rates) for each in bookings), start=ZERO)


def split_booking(booking: Booking, halves: int) -> Booking:
    """Return the booking with so many halves of it categorized as financing."""
    if booking.kind != "flow" or not halves:
        return booking
    share = booking.amount if halves == 2 else round_half_up(booking.amount / 2, "EUR")
    return replace(booking, financed=share)


@st.composite
def draw_bookings(draw: Any, *, first: date, days: int, currencies: list[str] | None = None) -> DrawnBookings:
    """Draw a company with bookings within `days` days from `first`."""
    known = currencies or CURRENCIES
    dates = st.integers(0, days - 1).map(lambda n: first + timedelta(days=n))
    types = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=4))
    accounts = st.integers(0, len(types) - 1)
    cents = st.integers(-90_000, 90_000).filter(bool).map(lambda n: Decimal(n) / 100)
    booked = st.builds(
        Booking, accounts, dates, cents, st.sampled_from(known), st.sampled_from(["flow", "flow", "flow", "pending"])
    )
    bookings = [split_booking(each, draw(st.sampled_from([0, 0, 1, 2]))) for each in draw(st.lists(booked, max_size=8))]
    if len(types) > 1:
        for _ in range(draw(st.integers(0, 3))):
            source, target = draw(st.lists(accounts, min_size=2, max_size=2, unique=True))
            day, amount, currency = draw(dates), abs(draw(cents)), draw(st.sampled_from(known))
            arrival = min(day + timedelta(days=draw(st.integers(0, 9))), first + timedelta(days=days - 1))
            place = len(bookings)
            bookings += [
                Booking(source, day, -amount, currency, "leg", other_leg=place + 1),
                Booking(target, arrival, amount, currency, "leg", other_leg=place),
            ]
    base = draw(st.sampled_from(known))
    bookings += [
        Booking(each, draw(dates), draw(cents), base, "initial") for each in draw(st.sets(accounts, max_size=2))
    ]
    return DrawnBookings(base=base, types=types, bookings=bookings)
