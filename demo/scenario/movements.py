"""A movement of the scenario, before it becomes a transaction."""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from demo.scenario.customers import SimulatedCustomer

Period = tuple[date, date]


@dataclass(frozen=True, slots=True)
class InvoiceTax:
    """The tax of an invoice, and its service period if it is not the day of payment."""

    amount: Decimal
    period: Period | None


@dataclass(slots=True)
class Movement:
    account: str
    day: date
    amount: Decimal
    counterparty_name: str
    text: str
    category: str | None  # a system key or a name; None: uncategorized
    customer: SimulatedCustomer | None = None
    vendor: str | None = None
    tax: InvoiceTax | None = None
    parts: dict[tuple[str, str], Decimal] = field(default_factory=dict)  # (category, line) -> amount, where it is split
    pair: str | None = None  # shared by the two legs of a transfer
    pending: bool = False
    external_id: str | None = None

    @property
    def is_categorized_later(self) -> bool:
        """Whether it is categorized after the import: by period, with tax, in parts, or as a transfer leg."""
        return bool(self.tax or self.parts or self.pair)
