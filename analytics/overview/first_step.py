"""What to do next in a company that has nothing to show yet."""

from dataclasses import dataclass

from django.urls import reverse

from analytics.overview.facts import Facts
from ledger.calc.fx import MissingRate


@dataclass(frozen=True, slots=True)
class Step:
    """An invitation, and (label, address) of where to go, the best first; none for those who may not."""

    title: str
    text: str
    ways: tuple[tuple[str, str], ...] = ()


def first_step(facts: Facts, *, opens: bool, books: bool) -> Step | None:
    """None once there was money on an account. ``opens`` and ``books`` are what the viewer may do."""
    company_id = facts.company.id
    try:
        if not facts.accounts:
            return Step(
                "Start with an account",
                "Open one for each place where money lies, then import what your bank exports: balances, cash flow and "
                "the forecast follow from it.",
                (("New account", reverse("account-new", args=[company_id])),) if opens else (),
            )
        if any(point.cash or point.non_cash for point in facts.points):
            return None
    except MissingRate:  # so there is something; the page says what is missing
        return None
    return Step(
        "Bring in what happened",
        "There was no money on the accounts in these months. Import what your bank exports, or book it by hand.",
        (
            ("Import a CSV file", reverse("import-new", args=[company_id])),
            ("New transaction", reverse("transaction-new", args=[company_id])),
        )
        if books
        else (),
    )
