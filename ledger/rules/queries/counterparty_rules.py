"""Rules for many counterparties at once: those whose payments people always categorized in the same way."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from companies.models import Company, IdIn
from ledger.models import TRANSFER_SYSTEM_KEY, Categorization, CategorizationRule, Operator, Transaction
from ledger.money.calc.money import compute_included_tax
from ledger.rules.calc.distinguishing_words import find_distinguishing_words
from ledger.rules.calc.payment_kind_matcher import find_payment_kind, is_several_kinds_payee
from ledger.rules.calc.payment_kinds import STEADY_KINDS, PaymentKind
from ledger.rules.calc.rule_matcher import MatchInput, RuleMatcher, fold_text
from ledger.rules.queries.compiled_rules import build_compiled_rules, to_rule_conditions
from ledger.rules.queries.history_statements import (
    ACCOUNT_NOTE,
    FREQUENT_NAMES_SQL,
    HISTORY_NOTE,
    fetch_history_rows,
)
from ledger.rules.queries.rule_matches import OPEN_TRANSACTIONS_SELECTION, iterate_rule_matches
from ledger.rules.queries.suggestions import (
    MAX_VALUE_LENGTH,
    PERIOD_SPECIFIC_RULES,
    NothingToLearn,
    build_rule_from_categorizations,
)
from ledger.rules.queries.usual_taxes import MAX_RATE_DECIMALS
from ledger.transactions.queries.selections import select_transactions

MAX_COUNTERPARTIES = 500  # listed
MAX_NAMES, MAX_PAYMENTS = 1000, 100  # compared: of the company, and of each name the latest
MIN_RECOMMENDED_PAYMENTS = 2


@dataclass(frozen=True, slots=True)
class CounterpartyRule:
    """An unsaved rule for the payments of a counterparty in one direction, and what supports it."""

    rule: CategorizationRule
    payment_count: int  # categorized so, at most MAX_PAYMENTS
    month_count: int  # in which they were
    is_recommended: bool  # seen repeatedly, or of a kind that recurs
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


class PastPayment(NamedTuple):
    """A categorized transaction with a name, and the rule that would have categorized it so."""

    transaction: Transaction
    categorizations: Sequence[Categorization]
    rule: CategorizationRule | None  # None if no rule for later ones follows from it

    @property
    def outcome(self) -> tuple[Any, ...] | None:
        """What it was categorized as, without the tax."""
        rule = self.rule
        return (rule.category_id, rule.pl_type, rule.given_counterparty_id, rule.date_rule) if rule else None

    @property
    def is_by_person(self) -> bool:
        return not self.transaction.categorizations_auto_assigned

    @property
    def kind(self) -> PaymentKind | None:
        row = self.transaction
        return find_payment_kind(from_to=row.from_to, description=row.description, is_incoming=row.amount_value > 0)


def list_counterparty_rules(company: Company) -> list[CounterpartyRule]:
    """Return a rule for each counterparty and direction whose payments all have one category, line, tax and
    counterparty, the most frequent first. A constant number of statements.

    Payments that history or an account categorized do not count. Left out are transfers, split transactions, service
    periods, names that a disabled rule matches, and payments that an enabled rule matches. A name with several
    categories, a tax office or a bank gets a rule for each category that a word of the text tells apart.
    """
    rules = list(CategorizationRule.objects.for_company(company.id).with_details(company.id).in_display_order())
    groups = group_payments(list_past_payments(company))
    suggested = [
        suggestion
        for payments in skip_covered_payments(groups, rules)
        for suggestion in build_counterparty_rules(payments)
    ]
    suggested.sort(key=lambda suggestion: (-suggestion.payment_count, fold_text(suggestion.rule.name)))
    del suggested[MAX_COUNTERPARTIES:]
    if not suggested:
        return []
    open_counts = count_open_matches(
        company, [*(rule for rule in rules if rule.enabled), *(suggestion.rule for suggestion in suggested)]
    )
    return [replace(suggestion, open_count=open_counts[suggestion.rule.id]) for suggestion in suggested]


def list_past_payments(company: Company) -> list[PastPayment]:
    """Return the categorized transactions of the most frequent names, the latest first."""
    limits = {"names": MAX_NAMES, "payments": MAX_PAYMENTS}
    ids = [row_id for (row_id,) in fetch_history_rows(FREQUENT_NAMES_SQL, company=company, **limits)]
    categorizations: defaultdict[UUID, list[Categorization]] = defaultdict(list)
    for categorization in (
        Categorization.objects.for_company(company.id)
        .filter(IdIn("transaction_id", ids))
        .select_related("category", "counterparty")
    ):
        categorizations[categorization.transaction_id].append(categorization)
    rows = Transaction.objects.for_company(company.id).filter(IdIn("id", ids)).order_by("-date", "-id")
    return [
        PastPayment(row, parts, build_repeatable_rule(company, row, parts))
        for row in rows.defer("provider_data", "as_told", "notes")
        for parts in (categorizations[row.id],)
        if not any(part.source_note in (HISTORY_NOTE, ACCOUNT_NOTE) for part in parts)
    ]


def build_repeatable_rule(
    company: Company, transaction: Transaction, categorizations: Sequence[Categorization]
) -> CategorizationRule | None:
    """Return the rule that later payments can be categorized by; None for transfers, splits and service periods."""
    try:
        rule = build_rule_from_categorizations(company, transaction, categorizations)
    except NothingToLearn:
        return None
    (categorization,) = categorizations
    is_transfer = categorization.category.system_key == TRANSFER_SYSTEM_KEY
    return None if is_transfer or categorization.rule in PERIOD_SPECIFIC_RULES else rule


def group_payments(payments: Iterable[PastPayment]) -> list[list[PastPayment]]:
    """Return the payments of each name, compared as rules do, and direction."""
    groups: defaultdict[tuple[str, bool], list[PastPayment]] = defaultdict(list)
    for payment in payments:
        groups[fold_text(payment.transaction.from_to), payment.transaction.amount_value > 0].append(payment)
    return [group for (name, _), group in groups.items() if name]


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
        inputs = [to_match_input(payment) for payment in payments]
        if any(map(disabled.find_first, inputs)):
            continue
        uncovered = [
            payment
            for payment, match_input in zip(payments, inputs, strict=True)
            if not enabled.find_first(match_input)
        ]
        if uncovered:
            yield uncovered


def to_match_input(payment: PastPayment) -> MatchInput:
    """Return what rules look at in a payment."""
    row = payment.transaction
    parts = payment.categorizations if payment.is_by_person else ()
    counterparty_ids = frozenset(part.counterparty_id for part in parts if part.counterparty_id)
    return MatchInput(
        row.from_to, row.description, row.amount_value, row.amount_currency, row.account_id, counterparty_ids
    )


def build_counterparty_rules(payments: Sequence[PastPayment]) -> Iterator[CounterpartyRule]:
    """Yield the rules for the payments of one name and direction, the latest first."""
    by_outcome: defaultdict[tuple[Any, ...] | None, list[PastPayment]] = defaultdict(list)
    for payment in payments:
        by_outcome[payment.outcome].append(payment)
    if len(by_outcome) == 1 and not any(
        is_several_kinds_payee(payment.transaction.from_to, payment.kind) for payment in payments
    ):
        words: dict[tuple[Any, ...] | None, str] = dict.fromkeys(by_outcome, "")
    else:
        words = find_distinguishing_words(
            {outcome: [each.transaction.description for each in same] for outcome, same in by_outcome.items()}
        )
    for outcome, word in words.items():
        if outcome and any(payment.is_by_person for payment in by_outcome[outcome]):
            yield from build_rule_for_outcome(by_outcome[outcome], word)


def build_rule_for_outcome(payments: Sequence[PastPayment], word: str) -> Iterator[CounterpartyRule]:
    """Yield the rule for payments with one outcome, unless their tax rates differ."""
    rule = payments[0].rule
    has_common_rate, percent = find_common_tax_percent(payments)
    if rule is None or not has_common_rate:
        return
    rule.pass_through_tax_percent = percent
    if word:
        rule.name = f"{rule.name[: MAX_VALUE_LENGTH - len(word) - 2]}: {word}"
        rule.description_operator, rule.description_value = Operator.WHOLE_WORD, word
    months = {(payment.transaction.date.year, payment.transaction.date.month) for payment in payments}
    is_recommended = len(payments) >= MIN_RECOMMENDED_PAYMENTS or payments[0].kind in STEADY_KINDS
    yield CounterpartyRule(rule, len(payments), len(months), is_recommended)


def find_common_tax_percent(payments: Sequence[PastPayment]) -> tuple[bool, Decimal | None]:
    """Return (whether one rate yields the tax of every payment, the rate in percent or None without tax).

    A small amount fits several rates, so that each payment's own rate is tried. Rates with many decimals are those of
    bills with several rates.
    """
    parts = [(payment.transaction.amount_currency, payment.categorizations[0]) for payment in payments]
    rates = {payment.rule.pass_through_tax_percent for payment in payments if payment.rule}
    for percent in sorted(rates, key=lambda rate: rate or Decimal(0), reverse=True):
        if percent is not None and -int(percent.as_tuple().exponent) > MAX_RATE_DECIMALS:
            continue
        if all(
            compute_included_tax(part.value, percent or Decimal(0), currency) == (part.pass_through_tax or 0)
            for currency, part in parts
        ):
            return True, percent
    return False, None


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
