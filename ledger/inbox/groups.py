"""Transactions to review in groups: those with the same suggested category, or with the same counterparty."""

from collections.abc import Callable, Container, Hashable, Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from ledger.models import Transaction
from ledger.rules.calc.category_proposals import CategoryLine, CategoryProposal
from ledger.rules.calc.payment_kinds import PaymentKind
from ledger.rules.queries.suggestions import extract_steady_text

VARYING_TAX_KINDS = frozenset(
    [PaymentKind.RENT, PaymentKind.TRAVEL, PaymentKind.ENTERTAINMENT, PaymentKind.FREELANCERS]
)
MONEY_IN = "in"  # key of the group of customers' payments


class GroupedTransaction(NamedTuple):
    """A transaction to review with its first suggestion, if any."""

    row: Transaction
    proposal: CategoryProposal | None

    @property
    def amount(self) -> Decimal:
        """The uncategorized amount."""
        return self.row.amount_value - self.row.categorized_value

    @property
    def needs_tax_rate(self) -> bool:
        """Whether its category is likely, but not its tax rate, which varies for payments of its kind."""
        proposal = self.proposal
        if proposal is None or not proposal.is_likely or proposal.tax is not None:
            return False
        return proposal.payment_kind in VARYING_TAX_KINDS

    @property
    def counterparty_key(self) -> tuple[str, bool]:
        """The name, or how the text begins without one, and the direction."""
        name = self.row.from_to or extract_steady_text(self.row.description)
        return name.casefold().strip(), self.row.amount_value > 0


class TransactionGroup(NamedTuple):
    """Transactions to categorize at once."""

    transactions: list[GroupedTransaction]
    choice: CategoryLine | None  # the category that is suggested first for all of them
    is_likely: bool

    @property
    def needs_tax_rates(self) -> bool:
        return any(transaction.needs_tax_rate for transaction in self.transactions)

    @property
    def has_several_counterparties(self) -> bool:
        return len({transaction.counterparty_key for transaction in self.transactions}) > 1

    @property
    def has_different_suggestions(self) -> bool:
        return len({each.proposal.categorization.choice if each.proposal else None for each in self.transactions}) > 1

    @property
    def amounts(self) -> dict[str, Decimal]:
        """The sum of the uncategorized amounts by currency."""
        sums: dict[str, Decimal] = {}
        for transaction in self.transactions:
            sums[transaction.row.amount_currency] = (
                sums.get(transaction.row.amount_currency, Decimal(0)) + transaction.amount
            )
        return sums


def pick_suggestions(
    rows: Iterable[Transaction],
    proposals_by_id: Mapping[UUID, list[CategoryProposal]],
    category_ids: Container[UUID],
) -> list[GroupedTransaction]:
    """Return the transactions with their first suggestion of a visible category; weak ones suggest nothing.

    Those that are suggested as a transfer are left out: they need their other leg.
    """
    picked = []
    for row in rows:
        proposals = proposals_by_id.get(row.id, [])
        if any(proposal.is_transfer for proposal in proposals):
            continue
        visible = (
            proposal
            for proposal in proposals
            if not proposal.is_weak and proposal.categorization.category_id in category_ids
        )
        picked.append(GroupedTransaction(row, next(visible, None)))
    return picked


def group_by_category(transactions: Iterable[GroupedTransaction]) -> list[TransactionGroup]:
    """Return a group for each category that is likely. Of those without a likely one, money in is one group, since
    customers share a few categories, and money out is grouped by counterparty.

    First come groups whose tax rates have to be entered, then those with a likely suggestion, with one suggestion, and
    the others; the largest first.
    """

    def get_key(transaction: GroupedTransaction) -> Hashable:
        proposal = transaction.proposal
        if proposal is None or not proposal.is_likely:
            return MONEY_IN if transaction.amount > 0 else transaction.counterparty_key
        return proposal.categorization.choice, transaction.row.amount_value > 0

    return build_groups(transactions, get_key)


def group_by_counterparty(transactions: Iterable[GroupedTransaction]) -> list[TransactionGroup]:
    """Return a group for each counterparty and direction, in the same order."""
    return build_groups(transactions, lambda each: each.counterparty_key)


def build_groups(
    transactions: Iterable[GroupedTransaction], get_key: Callable[[GroupedTransaction], Hashable]
) -> list[TransactionGroup]:
    """Return the groups of equal keys, in the order of `group_by_category`."""
    members: dict[Hashable, list[GroupedTransaction]] = {}
    for transaction in transactions:
        members.setdefault(get_key(transaction), []).append(transaction)
    groups = [build_group(group) for group in members.values()]

    def get_sort_key(group: TransactionGroup) -> tuple[bool, bool, bool, int]:
        return not group.needs_tax_rates, not group.is_likely, group.choice is None, -len(group.transactions)

    return sorted(groups, key=get_sort_key)


def build_group(transactions: list[GroupedTransaction]) -> TransactionGroup:
    """Return a group; it has a suggestion if all its transactions have the same."""
    choices = {each.proposal.categorization.choice if each.proposal else None for each in transactions}
    choice = choices.pop() if len(choices) == 1 else None
    is_likely = choice is not None and all(each.proposal and each.proposal.is_likely for each in transactions)
    return TransactionGroup(transactions, choice, is_likely)
