"""Rules for many counterparties at once: those whose payments people always categorized in the same way."""

import hashlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import islice, takewhile
from typing import NamedTuple
from uuid import UUID

from django.db.models.functions import Left, Lower

from companies.models import Company, IdIn
from companies.names import build_name
from ledger.models import TRANSFER_SYSTEM_KEY, Categorization, CategorizationRule, Operator, Transaction
from ledger.models.transactions import MAX_INDEXED_NAME_LENGTH
from ledger.money.calc.money import compute_included_tax, find_shortest_tax_percentage, is_single_rate
from ledger.recognition.actions.postings import PL_TYPES, list_amounts_by_pl_type
from ledger.rules.calc.distinguishing_words import find_distinguishing_words
from ledger.rules.calc.payment_kind_matcher import find_payment_kind, is_several_kinds_payee
from ledger.rules.calc.payment_kinds import STEADY_KINDS, PaymentKind
from ledger.rules.calc.rule_matcher import MatchInput, RuleMatcher, fold_text
from ledger.rules.calc.vague_words import count_telling_letters
from ledger.rules.queries.compiled_rules import build_compiled_rules, to_rule_conditions
from ledger.rules.queries.history_statements import (
    ACCOUNT_NOTE,
    FREQUENT_NAMES_SQL,
    HISTORY_NOTE,
    NAMELESS_SQL,
    fetch_history_rows,
)
from ledger.rules.queries.rule_matches import OPEN_TRANSACTIONS_SELECTION, iterate_rule_matches
from ledger.rules.queries.suggestions import (
    MAX_VALUE_LENGTH,
    PERIOD_SPECIFIC_RULES,
    NothingToLearn,
    build_rule_from_categorizations,
    extract_steady_text,
)
from ledger.transactions.queries.selections import select_transactions

MAX_COUNTERPARTIES = 500  # listed
MAX_NAMES, MAX_PAYMENTS = 1000, 100  # compared: of the company, and of each name the latest
MAX_TEXTS = 2000  # compared of the payments that have no name, the latest
MIN_RECOMMENDED_PAYMENTS = 2
MIN_TEXT_PAYMENTS, MIN_TEXT_LETTERS = 2, 3  # of a text without a name
Outcome = tuple[UUID, str, UUID | None, str]  # category, line, counterparty, date rule


@dataclass(frozen=True, slots=True)
class CounterpartyRule:
    """An unsaved rule for the payments of a counterparty in one direction, and what supports it."""

    rule: CategorizationRule
    payment_count: int  # categorized so, at most MAX_PAYMENTS
    month_count: int  # in which they were
    is_recommended: bool  # seen repeatedly, or of a kind that recurs
    payment_ids: frozenset[UUID]
    open_count: int = 0  # of uncategorized transactions that it would categorize now

    @property
    def key(self) -> str:
        """Identify the rule by all that it says, so that a form creates only what it showed."""
        rule = self.rule
        conditions = (
            rule.from_to_operator,
            fold_text(rule.from_to_value or ""),
            rule.description_value,
            rule.direction,
        )
        result = (rule.category_id, rule.pl_type, rule.given_counterparty_id, rule.date_rule)
        values = (*conditions, *result, rule.pass_through_tax_percent)
        return hashlib.sha256("\0".join(map(str, values)).encode()).hexdigest()[:32]


class PastPart(NamedTuple):
    """A categorization of a past payment."""

    pl_types: tuple[str, ...]
    category_id: UUID
    system_key: str | None
    counterparty_id: UUID | None
    date_rule: str
    value: Decimal
    tax: Decimal | None
    counter_id: UUID | None  # of the other leg of a transfer
    source_note: str | None


class PastPayment(NamedTuple):
    """A categorized transaction."""

    parts: Sequence[PastPart]
    id: UUID
    date: date
    from_to: str
    description: str
    amount: Decimal
    currency: str
    account_id: UUID
    is_auto_assigned: bool
    categorized: Decimal

    @property
    def outcome(self) -> Outcome | None:
        """What it was categorized as, without the tax; None for what no rule repeats: a transfer, a split, a service
        period.
        """
        part = self.parts[0] if len(self.parts) == 1 and self.amount == self.categorized else None
        if part is None or part.counter_id or part.system_key == TRANSFER_SYSTEM_KEY or len(part.pl_types) != 1:
            return None
        if part.date_rule in PERIOD_SPECIFIC_RULES:
            return None
        return part.category_id, part.pl_types[0], part.counterparty_id, part.date_rule

    @property
    def steady_text(self) -> str:
        """What the rule of a payment without a name looks for; "" with a name, or if the text does not say for what or
        to whom it was.
        """
        if fold_text(self.from_to):
            return ""
        text = extract_steady_text(self.description)
        return fold_text(text) if count_telling_letters(text) >= MIN_TEXT_LETTERS else ""

    @property
    def group_name(self) -> str:
        """The folded name, or the steady text without one."""
        return fold_text(self.from_to) or self.steady_text

    @property
    def kind(self) -> PaymentKind | None:
        return find_payment_kind(from_to=self.from_to, description=self.description, is_incoming=self.amount > 0)

    @property
    def match_input(self) -> MatchInput:
        """What rules look at; counterparties that something automatic gave are no reason."""
        parts = () if self.is_auto_assigned else self.parts
        counterparty_ids = frozenset(part.counterparty_id for part in parts if part.counterparty_id)
        return MatchInput(self.from_to, self.description, self.amount, self.currency, self.account_id, counterparty_ids)


class RuleBasis(NamedTuple):
    """Payments of one name, direction and outcome, the latest first, and what a rule for them needs besides."""

    payments: Sequence[PastPayment]
    word: str  # of their texts that tells them from others; "" if the name is enough
    tax_percent: Decimal | None


def list_counterparty_rules(company: Company) -> list[CounterpartyRule]:
    """Return a rule for each counterparty and direction whose payments all have one category, line, tax and
    counterparty, the most frequent first. A constant number of statements.

    Payments that history or an account categorized do not count. Left out are transfers, split transactions, service
    periods, names that a disabled rule matches, and payments that an enabled rule matches. A name with several
    categories, a tax office or a bank gets a rule for each category that a word of the text tells apart. Payments
    without a name, such as those by card, get one for how their texts begin, if at least two have it and no text of
    another category begins so.
    """
    rules = list_existing_rules(company)
    suggested = suggest_rules(company, list_past_payments(company), rules)
    if not suggested:
        return []
    open_counts = count_open_matches(
        company, [*(rule for rule in rules if rule.enabled), *(suggestion.rule for suggestion in suggested)]
    )
    return [replace(suggestion, open_count=open_counts[suggestion.rule.id]) for suggestion in suggested]


def list_rules_for_transactions(company: Company, transaction_ids: Collection[UUID]) -> list[CounterpartyRule]:
    """Return the rules that are suggested because of these categorized transactions, without their open counts.

    Of payments without a name one is enough.
    """
    rows = Transaction.objects.for_company(company.id).filter(IdIn("id", list(transaction_ids)))
    names = set(rows.values_list(Lower(Left("from_to", MAX_INDEXED_NAME_LENGTH)), flat=True))
    # The rule of a text matches payments with any name.
    payments = list_past_payments(company, names=None if "" in names else sorted(names))
    suggested = suggest_rules(company, payments, list_existing_rules(company), min_text_payments=1)
    return [suggestion for suggestion in suggested if not suggestion.payment_ids.isdisjoint(transaction_ids)]


def list_existing_rules(company: Company) -> list[CategorizationRule]:
    """Return all rules of the company in order."""
    return list(CategorizationRule.objects.for_company(company.id).with_details(company.id).in_display_order())


def suggest_rules(
    company: Company,
    payments: Sequence[PastPayment],
    rules: Sequence[CategorizationRule],
    *,
    min_text_payments: int = MIN_TEXT_PAYMENTS,
) -> list[CounterpartyRule]:
    """Return the rules that past payments suggest beside the existing ones, the most frequent first."""
    sorted_payments = sort_by_text(payments)
    bases: list[RuleBasis] = []
    for group in skip_covered_payments(group_payments(payments), rules):
        if group[0].steady_text and (len(group) < min_text_payments or not is_text_unambiguous(group, sorted_payments)):
            continue
        bases += list_rule_bases(group)
    bases.sort(key=lambda basis: (-len(basis.payments), basis.payments[0].group_name, basis.word))
    return build_counterparty_rules(company, bases[:MAX_COUNTERPARTIES])


def list_past_payments(company: Company, *, names: list[str] | None = None) -> list[PastPayment]:
    """Return the categorized transactions of the most frequent names, and those without one, the latest first; three
    statements.

    Args:
        names: in lowercase; only transactions of these names are returned, and those without one.
    """
    limits = {"names": MAX_NAMES, "payments": MAX_PAYMENTS}
    rows = fetch_history_rows(FREQUENT_NAMES_SQL, company=company, only=names, **limits)
    rows += fetch_history_rows(NAMELESS_SQL, company=company, texts=MAX_TEXTS)
    columns = (
        *("transaction_id", "category_id", "category__system_key", "counterparty_id", "rule", "value"),
        *("pass_through_tax", "counter_id", "source_note", *PL_TYPES),
    )
    categorizations = Categorization.objects.for_company(company.id).filter(
        IdIn("transaction_id", [row[0] for row in rows])
    )
    parts: defaultdict[UUID, list[PastPart]] = defaultdict(list)
    for row_id, *values in categorizations.values_list(*columns):
        details, amounts = values[: -len(PL_TYPES)], values[-len(PL_TYPES) :]
        pl_types = tuple(pl_type for pl_type, _ in list_amounts_by_pl_type(amounts))
        parts[row_id].append(PastPart(pl_types, *details))
    payments = (
        PastPayment(parts[row[0]], *row)
        for row in rows
        if not any(part.source_note in (HISTORY_NOTE, ACCOUNT_NOTE) for part in parts[row[0]])
    )
    return sorted(payments, key=lambda payment: payment.date, reverse=True)


def group_payments(payments: Iterable[PastPayment]) -> list[list[PastPayment]]:
    """Return the payments of each name, or text without one, compared as rules do, and direction."""
    groups: defaultdict[tuple[str, bool, bool], list[PastPayment]] = defaultdict(list)
    for payment in payments:
        groups[payment.group_name, bool(payment.steady_text), payment.amount > 0].append(payment)
    return [group for (name, *_), group in groups.items() if name]


def skip_covered_payments(
    groups: Iterable[list[PastPayment]], rules: Iterable[CategorizationRule]
) -> Iterator[list[PastPayment]]:
    """Yield the payments of each group that no enabled rule matches, without groups that a disabled one matches."""
    rule_list = list(rules)
    enabled, disabled = (
        RuleMatcher((rule, to_rule_conditions(rule)) for rule in rule_list if rule.enabled is is_enabled)
        for is_enabled in (True, False)
    )
    for payments in groups:
        if any(disabled.find_first(payment.match_input) for payment in payments):
            continue
        uncovered = [payment for payment in payments if not enabled.find_first(payment.match_input)]
        if uncovered:
            yield uncovered


def sort_by_text(payments: Iterable[PastPayment]) -> list[tuple[bool, str, PastPayment]]:
    """Return (whether money came in, folded text, payment) in the order of the first two."""
    texts = ((payment.amount > 0, fold_text(payment.description), payment) for payment in payments)
    return sorted(texts, key=lambda each: each[:2])


def is_text_unambiguous(group: Sequence[PastPayment], sorted_payments: Sequence[tuple[bool, str, PastPayment]]) -> bool:
    """Whether all payments whose texts begin like those of the group, with or without a name, have one category."""
    key = group[0].amount > 0, group[0].steady_text
    start = bisect_left(sorted_payments, key, key=lambda each: each[:2])
    similar = takewhile(
        lambda each: each[0] == key[0] and each[1].startswith(key[1]), islice(sorted_payments, start, None)
    )
    return len({payment.outcome for _, _, payment in similar}) == 1


def list_rule_bases(payments: Sequence[PastPayment]) -> Iterator[RuleBasis]:
    """Yield what rules for the payments of one name and direction, the latest first, can be built from."""
    by_outcome: defaultdict[Outcome | None, list[PastPayment]] = defaultdict(list)
    for payment in payments:
        by_outcome[payment.outcome].append(payment)
    is_shared_name = is_several_kinds_payee(payments[0].from_to, payments[0].kind) and not payments[0].steady_text
    if len(by_outcome) == 1 and not is_shared_name:
        words: dict[Outcome | None, str] = dict.fromkeys(by_outcome, "")
    else:
        words = find_distinguishing_words(
            {outcome: [each.description for each in same] for outcome, same in by_outcome.items()}
        )
    for outcome, word in words.items():
        same = by_outcome[outcome]
        if outcome and not all(payment.is_auto_assigned for payment in same):
            has_common_rate, percent = find_common_tax_percent(same)
            if has_common_rate:
                yield RuleBasis(same, word, percent)


def find_common_tax_percent(payments: Sequence[PastPayment]) -> tuple[bool, Decimal | None]:
    """Return (whether one rate yields the tax of every payment, the rate in percent or None without tax).

    A small amount fits several rates, so that each payment's own rate is tried. Rates with many decimals are those of
    bills with several rates.
    """
    amounts = {(payment.parts[0].value, payment.parts[0].tax, payment.currency) for payment in payments}
    rates = {find_shortest_tax_percentage(*amount) for amount in amounts}
    for percent in sorted(rates, key=lambda rate: rate or Decimal(0), reverse=True):
        if percent is not None and not is_single_rate(percent):
            continue
        if all(
            compute_included_tax(value, percent or Decimal(0), currency) == (tax or 0)
            for value, tax, currency in amounts
        ):
            return True, percent
    return False, None


def build_counterparty_rules(company: Company, bases: Sequence[RuleBasis]) -> list[CounterpartyRule]:
    """Return the rules that the latest payment of each basis suggests; two statements."""
    ids = [basis.payments[0].id for basis in bases]
    transactions = Transaction.objects.for_company(company.id).filter(IdIn("id", ids)).in_bulk()
    categorizations = Categorization.objects.for_company(company.id).filter(IdIn("transaction_id", ids))
    parts = {part.transaction_id: part for part in categorizations.select_related("category", "counterparty")}
    suggested = []
    for basis in bases:
        latest = basis.payments[0]
        if not (latest.id in transactions and latest.id in parts):
            continue  # deleted or uncategorized meanwhile
        try:
            rule = build_rule_from_categorizations(company, transactions[latest.id], [parts[latest.id]])
        except NothingToLearn:
            continue  # changed meanwhile
        rule.pass_through_tax_percent = basis.tax_percent
        if latest.steady_text:
            rule.name = build_name(rule.description_value or rule.name)
        if basis.word:
            rule.name = build_name(f"{rule.name[: MAX_VALUE_LENGTH - len(basis.word) - 2]}: {basis.word}")
            rule.description_operator, rule.description_value = Operator.WHOLE_WORD, basis.word
        months = {(payment.date.year, payment.date.month) for payment in basis.payments}
        is_recommended = len(basis.payments) >= MIN_RECOMMENDED_PAYMENTS or latest.kind in STEADY_KINDS
        payment_ids = frozenset(payment.id for payment in basis.payments)
        suggested.append(CounterpartyRule(rule, len(basis.payments), len(months), is_recommended, payment_ids))
    return suggested


def count_open_matches(company: Company, rules: Iterable[CategorizationRule]) -> Counter[UUID | None]:
    """Return how many uncategorized transactions each rule would categorize, if they were tried in this order."""
    compiled_rules = build_compiled_rules(company, rules)
    rows = select_transactions(company, OPEN_TRANSACTIONS_SELECTION)
    return Counter(
        match.rule_id
        for chunk in iterate_rule_matches(company, rows, compiled_rules)
        for match in chunk
        if match.would_change
    )
