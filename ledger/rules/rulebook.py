"""A company's rules made ready for many movements, and what each of them says a movement is for."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from companies.models import Company, id_from
from ledger.models import RULE_NOTE, TEXTS, CategorizationRule
from ledger.purposes.categorizing import Choice
from ledger.recognition.dating import Rule
from ledger.rules.calc.matching import Condition, Conditions, Matcher


class Verdict(NamedTuple):
    """What a rule says; no id for one that is not stored."""

    rule_id: UUID | None
    choice: Choice


@dataclass(frozen=True, slots=True)
class Rulebook:
    matcher: Matcher[Verdict]
    looks_at_parts: bool  # whether a rule asks for a counterparty

    def __bool__(self) -> bool:
        return bool(self.matcher.rules)


def rulebook(company: Company) -> Rulebook:
    """The enabled rules, in their order; one query."""
    rules = CategorizationRule.objects.of(company.id).enabled().with_accounts(company.id).in_order()
    return ready(rules)


def ready(rules: Iterable[CategorizationRule], *, stored: bool = True) -> Rulebook:
    rows = list(rules)
    verdicts = (Verdict(row.id if stored else None, choice_of(row)) for row in rows)
    matcher = Matcher((verdict, conditions_of(row)) for verdict, row in zip(verdicts, rows, strict=True))
    return Rulebook(matcher, looks_at_parts=any(row.counterparty_id for row in rows))


def choice_of(rule: CategorizationRule) -> Choice:
    """What an enabled rule says."""
    assert rule.category_id is not None  # noqa: S101 - rule_enabled_has_category
    return Choice(
        category_id=rule.category_id,
        pl_type=rule.pl_type,
        counterparty_id=rule.given_counterparty_id,
        rule=Rule(rule.date_rule, rule.rule_start_date, rule.rule_end_date, rule.rule_invoice_date),
        tax_percent=rule.pass_through_tax_percent,
        source_note=rule.note,
    )


def conditions_of(rule: CategorizationRule) -> Conditions:
    texts: dict[str, Any] = {name: condition_of(rule.condition_on(name)) for name in TEXTS}
    accounts = getattr(rule, "account_ids", None)
    return Conditions(
        **texts,
        account_ids=frozenset(accounts) if accounts else None,
        direction=rule.direction,
        min_amount=rule.min_amount,
        max_amount=rule.max_amount,
        currency=rule.currency,
        counterparty_id=rule.counterparty_id,
        counterparty_name=rule.counterparty.name if rule.counterparty else "",
    )


def condition_of(given: dict[str, str] | None) -> Condition | None:
    return Condition(given["operator"], given["value"]) if given else None


def rule_named(note: str | None) -> UUID | None:
    """The rule whose part has this ``sourceNote``."""
    return id_from(note.removeprefix(RULE_NOTE)) if note and note.startswith(RULE_NOTE) else None
