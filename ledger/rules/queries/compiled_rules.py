"""A company's rules, prepared to match many transactions."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NamedTuple
from uuid import UUID

from companies.models import Company, parse_id
from ledger.calc.allocation import Share
from ledger.calc.recognition import DateRule, compute_period_of_months
from ledger.categorization.choices import CategorizationChoice, ChoiceSplit
from ledger.models import RULE_NOTE_PREFIX, TEXT_CONDITIONS, CategorizationRule
from ledger.recognition.service_periods import RecognitionRule
from ledger.rules.calc.rule_matcher import MatchInput, RuleConditions, RuleMatcher, TextCondition
from ledger.rules.queries.counterparty_names import CounterpartyNames, build_counterparty


class RuleAssignment(NamedTuple):
    """What a rule assigns; the id is None for an unsaved rule."""

    rule_id: UUID | None
    choice: CategorizationChoice
    service_period: dict[str, Any] | None = None  # months and start, from the day of each transaction
    is_counterparty_from_transaction: bool = False  # from each transaction


@dataclass(frozen=True, slots=True)
class CompiledRules:
    """Prepared rules. ``needs_counterparties``: a rule has a counterparty condition."""

    matcher: RuleMatcher[RuleAssignment]
    needs_counterparties: bool  # whether a rule asks for a counterparty
    counterparty_names: CounterpartyNames

    def __bool__(self) -> bool:
        return bool(self.matcher.rules)

    def find_first(self, match_input: MatchInput, day: date) -> RuleAssignment | None:
        """Return the first rule that matches, with the choice for this transaction."""
        assignment = self.matcher.find_first(match_input)
        if assignment is None or not (assignment.service_period or assignment.is_counterparty_from_transaction):
            return assignment
        return RuleAssignment(assignment.rule_id, self.complete_choice(assignment, match_input, day))

    def complete_choice(self, assignment: RuleAssignment, match_input: MatchInput, day: date) -> CategorizationChoice:
        """Return the choice with the period and counterparty that follow from a transaction."""
        choice = assignment.choice
        if assignment.service_period:
            choice = replace(choice, rule=build_service_period_rule(choice.rule, assignment.service_period, day))
        if assignment.is_counterparty_from_transaction and (counterparty := build_counterparty(match_input)):
            known_id = self.counterparty_names.find_id(counterparty)
            choice = replace(choice, counterparty_id=known_id, new_counterparty=None if known_id else counterparty)
        return choice


def build_service_period_rule(rule: RecognitionRule, service_period: dict[str, Any], day: date) -> RecognitionRule:
    """Return the date rule of a transaction on `day` with a service period of some months."""
    try:
        start, end = compute_period_of_months(day, **service_period)
    except (ValueError, OverflowError):
        return replace(rule, type=DateRule.SERVICE_PERIOD.value)  # without an end it cannot be assigned
    return replace(rule, type=DateRule.SERVICE_PERIOD.value, start=start, end=end)


def load_compiled_rules(company: Company) -> CompiledRules:
    """Return the enabled rules in order; one query."""
    rules = CategorizationRule.objects.for_company(company.id).enabled().with_details(company.id).in_display_order()
    return build_compiled_rules(company, rules)


def build_compiled_rules(
    company: Company, rules: Iterable[CategorizationRule], *, is_stored: bool = True
) -> CompiledRules:
    """Prepare rules for matching; `is_stored` is False for unsaved ones."""
    rows = list(rules)
    matcher = RuleMatcher((build_rule_assignment(row, is_stored=is_stored), to_rule_conditions(row)) for row in rows)
    return CompiledRules(
        matcher,
        needs_counterparties=any(row.counterparty_id for row in rows),
        counterparty_names=CounterpartyNames(company),
    )


def build_rule_assignment(rule: CategorizationRule, *, is_stored: bool = True) -> RuleAssignment:
    """Return what an enabled rule assigns, and what it takes from each transaction."""
    return RuleAssignment(
        rule.id if is_stored else None, to_rule_choice(rule), rule.service_period, rule.counterparty_from is not None
    )


def to_rule_choice(rule: CategorizationRule) -> CategorizationChoice:
    """Return what an enabled rule assigns."""
    assert rule.category_id is not None  # noqa: S101 - rule_enabled_has_category
    return CategorizationChoice(
        category_id=rule.category_id,
        pl_type=rule.pl_type,
        counterparty_id=rule.given_counterparty_id,
        rule=RecognitionRule(rule.date_rule, rule.rule_start_date, rule.rule_end_date, rule.rule_invoice_date),
        tax_percent=rule.pass_through_tax_percent,
        source_note=rule.source_note,
        splits=tuple(
            ChoiceSplit(split["category_id"], split["pl_type"], Share(split["percent"], split["amount_value"]))
            for split in rule.splits
        ),
    )


def to_rule_conditions(rule: CategorizationRule) -> RuleConditions:
    """Return the conditions of a rule."""
    texts: dict[str, Any] = {name: to_text_condition(rule.get_text_condition(name)) for name in TEXT_CONDITIONS}
    accounts = getattr(rule, "account_ids", None)
    return RuleConditions(
        **texts,
        account_ids=frozenset(accounts) if accounts else None,
        direction=rule.direction,
        min_amount=rule.min_amount,
        max_amount=rule.max_amount,
        currency=rule.currency,
        counterparty_id=rule.counterparty_id,
        counterparty_name=rule.counterparty.name if rule.counterparty else "",
    )


def to_text_condition(values: dict[str, str] | None) -> TextCondition | None:
    """Return a text condition, or None."""
    return TextCondition(values["operator"], values["value"]) if values else None


def parse_rule_note(note: str | None) -> UUID | None:
    """Return the id of the rule that a ``sourceNote`` names, or None."""
    return parse_id(note.removeprefix(RULE_NOTE_PREFIX)) if note and note.startswith(RULE_NOTE_PREFIX) else None
