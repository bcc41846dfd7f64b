"""Figures of a month, and the differences between two states of them."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple, Self

ZERO = Decimal(0)
KEY_NAMES = ("figure", "accountId", "categoryId", "plType", "mrrType", "movement")


class FigureKey(NamedTuple):
    """What identifies a figure: its kind and ids; those that do not belong to the kind are None."""

    figure: str  # balance, inflow, outflow, profitAndLoss or recurringRevenue
    account_id: str | None = None
    category_id: str | None = None
    pl_type: str | None = None
    mrr_type: str | None = None
    movement: str | None = None

    def to_json(self) -> dict[str, str]:
        return {name: value for name, value in zip(KEY_NAMES, self, strict=True) if value is not None}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        return cls(*(data.get(name) for name in KEY_NAMES))  # type: ignore[arg-type]


class Figure(NamedTuple):
    """A figure of a month in the company's base currency, in exactly its decimals."""

    key: FigureKey
    value: Decimal

    def to_json(self) -> dict[str, Any]:
        """Return the figure as it is stored: the value as text, so that no digit is lost."""
        return {**self.key.to_json(), "value": str(self.value)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        return cls(FigureKey.from_json(data), Decimal(data["value"]))


class ChangedFigure(NamedTuple):
    """A figure whose value has changed since it was reported."""

    key: FigureKey
    was: Decimal
    is_now: Decimal

    @property
    def difference(self) -> Decimal:
        return self.is_now - self.was


def compare_figures(was: Sequence[Figure], now: Sequence[Figure]) -> list[ChangedFigure]:
    """Return the figures that differ, in the order of ``was``, then those that are new. A missing figure is zero.

    >>> cash = FigureKey("balance", account_id="a")
    >>> [str(each.difference) for each in compare_figures([Figure(cash, Decimal(5))], [Figure(cash, Decimal(7))])]
    ['2']
    """
    before, after = ({figure.key: figure.value for figure in figures} for figures in (was, now))
    keys = [*before, *(key for key in after if key not in before)]
    changes = (ChangedFigure(key, before.get(key, ZERO), after.get(key, ZERO)) for key in keys)
    return [change for change in changes if change.difference]
