"""Recurring payments in the history that are not planned yet."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from companies.models import Company, IdIn
from ledger.calc.months import add_months, get_last_day_of_month
from ledger.models import Categorization, Counterparty, Transaction
from ledger.money.calc.money import format_amount
from ledger.rules.calc.parties import extract_words, is_own_party, is_same_party
from ledger.rules.queries.company_identity import load_company_identity
from planning.calc.recurring_payments import (
    AMOUNT_TOLERANCE,
    PastPayment,
    RecurringPayment,
    find_recurring_payments,
)
from planning.models import PlannedTransaction, Settlement
from planning.planned_transactions.queries.occurrences import (
    expand_planned_transaction,
    list_planned_with_expected_dates,
)
from planning.planned_transactions.queries.transaction_matches import AUTO_SETTLE_DAYS, MAX_MATCH_DAYS, extend_window

HISTORY_MONTHS = 38  # three yearly payments and some weeks
MAX_HISTORY = 20_000  # latest transactions that are looked at
MAX_NAME_LENGTH = 100  # of `fromTo` that is compared, as in proposals of categories
MAX_PROPOSALS = 500
PAYMENT_COLUMNS = ("id", "date", "amount_value", "amount_currency", "account_id", "from_to", "description")


class HistoryRow(NamedTuple):
    """A booked transaction of the history."""

    id: UUID
    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID
    from_to: str
    description: str

    @property
    def name(self) -> str:
        """The other party, as proposals of categories compare it."""
        return self.from_to[:MAX_NAME_LENGTH].strip().lower()


@dataclass(frozen=True, slots=True)
class PaymentProposal:
    """A recurring payment that could be planned."""

    payment: RecurringPayment
    from_to: str | None
    counterparty: Counterparty | None
    category_id: UUID | None

    @property
    def name(self) -> str:
        return self.counterparty.name if self.counterparty else (self.from_to or "").strip()

    @property
    def account_id(self) -> UUID:
        return self.payment.latest.account_id

    @property
    def amount_value(self) -> str:
        return format_amount(self.payment.latest.amount, self.payment.latest.currency)

    @property
    def amount_currency(self) -> str:
        return self.payment.latest.currency

    @property
    def interval(self) -> str:
        return self.payment.interval.unit

    @property
    def interval_count(self) -> int:
        return self.payment.interval.unit_count

    @property
    def next_date(self) -> dt.date:
        return self.payment.next_date

    @property
    def seen(self) -> int:
        return len(self.payment.payments)

    @property
    def last_date(self) -> dt.date:
        return self.payment.latest.date

    @property
    def transaction_ids(self) -> list[UUID]:
        return [payment.id for payment in self.payment.payments]

    @property
    def last_transaction_id(self) -> UUID:
        return self.payment.latest.id

    @property
    def is_month_end(self) -> bool:
        """Whether all payments were on the last day of a month."""
        days = [payment.date for payment in self.payment.payments]
        return self.payment.interval.unit != "week" and all(day == get_last_day_of_month(day) for day in days)


def list_payment_proposals(company: Company, *, today: dt.date) -> list[PaymentProposal]:
    """Return recurring payments of the last three years that are not planned, the next one first.

    At most 500, from the latest 20,000 transactions. A constant number of statements.
    """
    rows = load_history(company, today=today)
    counterparties_by_row, categories_by_row = load_categorizations(company, list(rows))
    recurring_payments = find_recurring_payments(build_past_payments(rows.values(), counterparties_by_row), today=today)
    if not recurring_payments:
        return []
    counterparties = Counterparty.objects.for_company(company.id).in_bulk(
        [payment.latest.party for payment in recurring_payments if isinstance(payment.latest.party, UUID)]
    )
    identity = load_company_identity(company)
    proposals = []
    for payment in recurring_payments:
        latest = rows[payment.latest.id]
        if is_own_party(latest.from_to, latest.description, latest.account_id, identity):
            continue  # a transfer between own accounts
        category_id = find_latest_category(payment.payments, categories_by_row)
        counterparty = counterparties.get(payment.latest.party)
        proposals.append(PaymentProposal(payment, latest.from_to or None, counterparty, category_id))
    return drop_planned_proposals(company, proposals)[:MAX_PROPOSALS]


def find_payment_proposal(company: Company, *, transaction_id: UUID, today: dt.date) -> PaymentProposal | None:
    """Return the proposal whose latest payment is a transaction; None if there is none, or not any more."""
    proposals = list_payment_proposals(company, today=today)
    return next((each for each in proposals if each.last_transaction_id == transaction_id), None)


def load_history(company: Company, *, today: dt.date) -> dict[UUID, HistoryRow]:
    """Return the booked transactions of the last three years by id, without transfers and archived accounts."""
    rows = (
        Transaction.objects.for_company(company.id)
        .booked()
        .without_initial_balances()
        .filter(date__range=(add_months(today, -HISTORY_MONTHS), today), transferred_value=0, account__archived=False)
        .order_by("-date", "-id")
        .values_list(*PAYMENT_COLUMNS)
    )
    return {row[0]: HistoryRow(*row) for row in rows[:MAX_HISTORY]}


def load_categorizations(
    company: Company, transaction_ids: list[UUID]
) -> tuple[dict[UUID, set[UUID]], dict[UUID, set[UUID]]]:
    """Return (counterparties, categories) of transactions. One statement."""
    counterparties: defaultdict[UUID, set[UUID]] = defaultdict(set)
    categories: defaultdict[UUID, set[UUID]] = defaultdict(set)
    rows = Categorization.objects.for_company(company.id).filter(IdIn("transaction_id", transaction_ids))
    for row_id, counterparty_id, category_id in rows.values_list("transaction_id", "counterparty_id", "category_id"):
        categories[row_id].add(category_id)
        if counterparty_id:
            counterparties[row_id].add(counterparty_id)
    return dict(counterparties), dict(categories)


def build_past_payments(
    rows: Iterable[HistoryRow], counterparties_by_row: Mapping[UUID, Collection[UUID]]
) -> list[PastPayment]:
    """Return the payments that name a party: its counterparty, else its name.

    A name whose categorized payments have one counterparty stands for it in the others too.
    """
    rows = list(rows)
    by_name: defaultdict[str, set[UUID]] = defaultdict(set)
    for row in rows:
        by_name[row.name].update(counterparties_by_row.get(row.id, ()))
    payments = []
    for row in rows:
        own = counterparties_by_row.get(row.id) or (by_name[row.name] if row.name else ())
        party: object = next(iter(own)) if len(own) == 1 else row.name
        if party:
            payments.append(PastPayment(row.id, row.date, row.amount, row.currency, row.account_id, party))
    return payments


def find_latest_category(
    payments: Sequence[PastPayment], categories_by_row: Mapping[UUID, Collection[UUID]]
) -> UUID | None:
    """Return the category of the latest payment that has exactly one; None if none has."""
    for payment in reversed(payments):
        categories = categories_by_row.get(payment.id, ())
        if len(categories) == 1:
            return next(iter(categories))
    return None


# ---------------------------------------------------------------------------------------------- planned already


def drop_planned_proposals(company: Company, proposals: list[PaymentProposal]) -> list[PaymentProposal]:
    """Return the proposals that no planned transaction expects.

    It expects a payment if it has an occurrence near the next day, with a similar amount, and the same party or
    payments of it as settlements; or, each for one proposal at most, the same amount within five days. A monthly
    total covers all payments of its category.
    """
    if not proposals:
        return []
    days = [proposal.payment.next_date for proposal in proposals]
    window_start, window_end = extend_window(min(days), max(days), MAX_MATCH_DAYS)
    plans = list_planned_with_expected_dates(company, window_start=window_start, window_end=window_end)
    if not plans:
        return proposals
    settled_plans = find_settled_plans(company, proposals)
    used_ids: set[UUID] = set()
    unplanned = []
    for proposal in proposals:
        settled_ids = settled_plans.get(proposal.last_transaction_id, set())
        covering = next(
            (
                planned
                for planned in plans
                if planned.id not in used_ids and is_same_payment(planned, proposal, settled_ids)
            ),
            None,
        )
        if covering is None:
            unplanned.append(proposal)
        elif not covering.is_total:
            used_ids.add(covering.id)
    remaining = []
    for proposal in unplanned:
        equal = next((each for each in plans if each.id not in used_ids and is_equal_payment(each, proposal)), None)
        if equal is None:
            remaining.append(proposal)
        else:
            used_ids.add(equal.id)
    return remaining


def find_settled_plans(company: Company, proposals: Iterable[PaymentProposal]) -> dict[UUID, set[UUID]]:
    """Return by the latest transaction of a proposal the planned transactions that its payments settle."""
    latest_by_payment = {
        payment.id: proposal.last_transaction_id for proposal in proposals for payment in proposal.payment.payments
    }
    plans: defaultdict[UUID, set[UUID]] = defaultdict(set)
    rows = Settlement.objects.for_company(company.id).filter(IdIn("transaction_id", list(latest_by_payment)))
    for transaction_id, planned_id in rows.values_list("transaction_id", "planned_id"):
        if transaction_id is not None:
            plans[latest_by_payment[transaction_id]].add(planned_id)
    return dict(plans)


def is_same_payment(planned: PlannedTransaction, proposal: PaymentProposal, settled_ids: Collection[UUID]) -> bool:
    """Whether a planned transaction is about the payment of a proposal."""
    latest = proposal.payment.latest
    if planned.is_total:
        counterparty_id = proposal.counterparty.id if proposal.counterparty else None
        return planned.category_id == proposal.category_id and planned.counterparty_id in (None, counterparty_id)
    is_similar = abs(planned.amount_value - latest.amount) <= abs(latest.amount) * AMOUNT_TOLERANCE
    return (
        is_similar
        and is_on_account(planned, latest)
        and (planned.id in settled_ids or has_same_party(planned, proposal))
        and occurs_near(planned, proposal.payment.next_date, days=MAX_MATCH_DAYS)
    )


def is_equal_payment(planned: PlannedTransaction, proposal: PaymentProposal) -> bool:
    """Whether the payment of a proposal would settle a planned transaction automatically."""
    latest = proposal.payment.latest
    return (
        not planned.is_total
        and planned.amount_value == latest.amount
        and is_on_account(planned, latest)
        and (planned.counterparty is None or proposal.counterparty is None)
        and occurs_near(planned, proposal.payment.next_date, days=AUTO_SETTLE_DAYS)
    )


def is_on_account(planned: PlannedTransaction, payment: PastPayment) -> bool:
    """Whether a planned transaction has the account and currency of a payment, or no account."""
    return planned.amount_currency == payment.currency and planned.account_id in (None, payment.account_id)


def has_same_party(planned: PlannedTransaction, proposal: PaymentProposal) -> bool:
    """Whether both have one counterparty, or where one has none, names of one party."""
    if planned.counterparty is not None and proposal.counterparty is not None:
        return planned.counterparty.id == proposal.counterparty.id
    planned_words = extract_words(planned.counterparty.name if planned.counterparty else planned.name)
    words = extract_words(proposal.name)
    return bool(planned_words and words) and is_same_party(planned_words, words)


def occurs_near(planned: PlannedTransaction, day: dt.date, *, days: int) -> bool:
    """Whether a planned transaction has an occurrence near a day that is not skipped."""
    start, end = extend_window(day, day, days)
    occurrences: Any = expand_planned_transaction(planned, window_start=start, window_end=end)
    return any(not occurrence.skipped for occurrence in occurrences)
