"""What the balance of an account before a file proves about the oldest row of the file."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class OpeningProof:
    """How the oldest row changes the balance of the account."""

    step: Decimal  # by which the account changes; money out is negative
    amount: Decimal  # as the file writes it
    is_owed: bool  # whether the balances of the file are what is owed

    @property
    def direction(self) -> str:
        return "in" if self.step > 0 else "out"


def prove_opening(opening: Decimal, balance: Decimal, amount: Decimal, *, may_be_owed: bool) -> OpeningProof | None:
    """Return how a row with the balance after it goes on from the balance before; None where it does not, or does in
    two ways.

    >>> prove_opening(Decimal("-1956.50"), Decimal("2135.00"), Decimal("178.50"), may_be_owed=True)
    OpeningProof(step=Decimal('-178.50'), amount=Decimal('178.50'), is_owed=True)
    >>> prove_opening(Decimal(0), Decimal("178.50"), Decimal("178.50"), may_be_owed=True)
    >>> prove_opening(Decimal("-1900.00"), Decimal("-2135.00"), Decimal("-178.50"), may_be_owed=True)
    """
    steps = [(balance - opening, False)] + ([(-balance - opening, True)] if may_be_owed else [])
    proofs = [OpeningProof(step, amount, is_owed) for step, is_owed in steps if abs(step) == abs(amount)]
    return proofs[0] if len(proofs) == 1 else None
