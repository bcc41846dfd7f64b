"""The parts that a payment is split into, and those of an earlier payment for another amount."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

from ledger.calc.proportional_shares import WIDE_CONTEXT, scale_proportionally
from ledger.money.calc.money import compute_included_tax, find_shortest_tax_percentage, round_half_up


@dataclass(frozen=True, slots=True)
class SplitPart:
    """A part of a payment: amounts by P&L line, the pass-through tax beside them, and the counterparty.

    Where no category fits, there is none, and the amount has the line "".
    """

    category_id: UUID | None
    lines: dict[str, Decimal]
    tax: Decimal | None = None
    counterparty_id: UUID | None = None
    has_service_period: bool = False

    @property
    def value(self) -> Decimal:
        return sum(self.lines.values(), self.tax or Decimal(0))


def scale_split_parts(parts: Sequence[SplitPart], *, to: Decimal, currency: str) -> list[SplitPart]:
    """Return the parts in proportion to another amount; the largest has what rounding leaves. Tax rates stay.

    >>> thirds = [SplitPart(None, {"ga": Decimal(-10)}) for _ in range(3)]
    >>> [str(part.value) for part in scale_split_parts(thirds, to=Decimal("-20"), currency="EUR")]
    ['-6.66', '-6.67', '-6.67']
    """
    total = sum((part.value for part in parts), Decimal(0))
    if total == to:
        return list(parts)
    values = [
        round_half_up(WIDE_CONTEXT.divide(WIDE_CONTEXT.multiply(part.value, to), total), currency) for part in parts
    ]
    largest = max(range(len(values)), key=lambda place: abs(values[place]))
    values[largest] += to - sum(values)
    return [scale_part(part, to=value, currency=currency) for part, value in zip(parts, values, strict=True)]


def scale_part(part: SplitPart, *, to: Decimal, currency: str) -> SplitPart:
    """Return a part in proportion to another value with the same tax rate."""
    if not part.value:
        return part
    percent = find_shortest_tax_percentage(part.value, part.tax, currency)
    tax = part.tax
    if percent is not None:
        tax = compute_included_tax(to, percent, currency)
    elif tax:
        tax = round_half_up(WIDE_CONTEXT.divide(WIDE_CONTEXT.multiply(tax, to), part.value), currency)
    net, scaled_net = part.value - (part.tax or 0), to - (tax or 0)
    if not net:
        return replace(part, tax=tax)
    amounts = scale_proportionally(list(part.lines.values()), of=net, to=scaled_net, currency=currency)
    lines = {line: amount for line, amount in zip(part.lines, amounts, strict=True) if amount is not None}
    return replace(part, lines=lines, tax=tax)
