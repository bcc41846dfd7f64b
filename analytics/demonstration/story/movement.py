"""One movement of the story, before it becomes a transaction."""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from analytics.demonstration.story.customers import Customer

Period = tuple[date, date]


@dataclass(frozen=True, slots=True)
class Tax:
    """What an invoice says beyond its amount: the tax in it, and the period it is for where that is not its day."""

    amount: Decimal
    period: Period | None


@dataclass(slots=True)
class Movement:
    account: str
    day: date
    amount: Decimal
    who: str
    text: str
    category: str | None  # a system key or a name; None stays open
    customer: Customer | None = None
    vendor: str | None = None
    tax: Tax | None = None
    parts: dict[tuple[str, str], Decimal] = field(default_factory=dict)  # (category, line) -> amount, where it is split
    pair: str | None = None  # the two legs of a transfer share it
    pending: bool = False
    external_id: str | None = None

    @property
    def later(self) -> bool:
        """Whether it is categorized after it was stored: by period, with tax, in parts, or as a leg."""
        return bool(self.tax or self.parts or self.pair)
