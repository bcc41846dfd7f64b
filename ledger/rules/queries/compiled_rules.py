"""A company's rules, prepared to match many transactions."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from companies.models import Company, parse_id
from ledger.categorization.actions.bulk_categorization import CategorizationChoice
from ledger.models import RULE_NOTE_PREFIX, TEXT_CONDITIONS, CategorizationRule
from ledger.recognition.service_periods import RecognitionRule
from ledger.rules.calc.rule_matcher import RuleConditions, RuleMatcher, TextCondition


class RuleVerdict(NamedTuple):
    """What a rule assigns; the id is None for an unsaved rule."""

    rule_id: UUID | None
    choice: CategorizationChoice


@dataclass(frozen=True, slots=True)
class CompiledRules:
    """Prepared rules. ``needs_counterparties``: a rule has a counterparty condition."""

    matcher: RuleMatcher[RuleVerdict]
    needs_counterparties: bool  # whether a rule asks for a counterparty

    def __bool__(self) -> bool:
        return bool(self.matcher.rules)


def load_compiled_rules(company: Company) -> CompiledRules:
    """Return the enabled rules in order; one query."""
    rules = CategorizationRule.objects.for_company(company.id).enabled().with_account_ids(company.id).in_display_order()
    return build_compiled_rules(rules)


def build_compiled_rules(rules: Iterable[CategorizationRule], *, is_stored: bool = True) -> CompiledRules:
    """Prepare rules for matching; `is_stored` is False for unsaved ones."""
    rows = list(rules)
    verdicts = (RuleVerdict(row.id if is_stored else None, to_rule_choice(row)) for row in rows)
    matcher = RuleMatcher((verdict, to_rule_conditions(row)) for verdict, row in zip(verdicts, rows, strict=True))
    return CompiledRules(matcher, needs_counterparties=any(row.counterparty_id for row in rows))


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
