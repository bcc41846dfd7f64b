"""What becomes of rules whose category, account or counterparty is changed, merged or deleted."""

from typing import Any
from uuid import UUID

from django.db.models import Q

from companies.change import CompanyChange, change_company
from companies.models import AuditContext, Company
from ledger.categorization.queries.references import get_category_pl_types
from ledger.models import Account, CategorizationRule, Category, Counterparty, DisabledReason, RuleAccount, RuleSplit


def disable_rules(change: CompanyChange, rules: Any, *, reason: DisabledReason, **values: Any) -> None:
    """Disable rules and store the reason; ``values`` are further columns to set."""
    for rule in rules:
        rule.company = change.company
        change.update(rule, "categorizationRule.disabled", enabled=False, disabled_reason=reason.value, **values)


def disable_rules_of_category(*, company: Company, category_id: UUID, context: AuditContext) -> None:
    """Disable the rules that assign a category that is about to be deleted."""
    with change_company(company, context=context) as change:
        rules = CategorizationRule.objects.for_company(company.id)
        splits = RuleSplit.objects.for_company(company.id).filter(category=category_id)
        sharing_rules = rules.filter(id__in=splits.values("rule_id")).exclude(category=category_id)
        disable_rules(change, list(sharing_rules), reason=DisabledReason.CATEGORY_DELETED)
        disable_rules(
            change, rules.filter(category=category_id), reason=DisabledReason.CATEGORY_DELETED, category_id=None
        )
        splits.update(category=None)


def disable_rules_of_lost_lines(*, company: Company, category: Category, context: AuditContext) -> None:
    """Disable the rules whose P&L line the category lost."""
    with change_company(company, context=context) as change:
        rules = CategorizationRule.objects.for_company(company.id).enabled()
        lost_splits = RuleSplit.objects.for_company(company.id).filter(category=category)
        lost_splits = lost_splits.exclude(pl_type__in=category.pl_types)
        lost_rules = Q(category=category) & ~Q(pl_type__in=category.pl_types)
        disable_rules(
            change,
            rules.filter(lost_rules | Q(id__in=lost_splits.values("rule_id"))),
            reason=DisabledReason.PL_TYPE_LOST,
        )


def move_rules_to_category(*, company: Company, category_id: UUID, replacement_id: UUID, context: AuditContext) -> None:
    """Make rules assign the replacement: on their line, or on its only one; else they are disabled."""
    with change_company(company, context=context) as change:
        lines = get_category_pl_types(company, replacement_id)
        move_splits_to_category(change, category_id, replacement_id, lines)
        for rule in CategorizationRule.objects.for_company(company.id).filter(category=category_id):
            rule.company = company
            if rule.pl_type in lines or len(lines) == 1:
                line = rule.pl_type if rule.pl_type in lines else lines[0]
                change.update(rule, "categorizationRule.updated", category_id=replacement_id, pl_type=line)
            else:
                disable_rules(change, [rule], reason=DisabledReason.PL_TYPE_LOST, category_id=replacement_id)


def move_splits_to_category(change: CompanyChange, category_id: UUID, replacement_id: UUID, lines: list[str]) -> None:
    """Make splits of rules assign the replacement, as rules do themselves."""
    splits = RuleSplit.objects.for_company(change.company.id).filter(category=category_id)
    rule_ids = set(splits.values_list("rule_id", flat=True))
    lost = splits.exclude(pl_type__in=lines) if len(lines) > 1 else splits.none()
    lost_rule_ids = set(lost.values_list("rule_id", flat=True))
    if len(lines) == 1:
        splits.update(category=replacement_id, pl_type=lines[0])
    else:
        splits.update(category=replacement_id)
    for rule in CategorizationRule.objects.for_company(change.company.id).filter(id__in=rule_ids):
        rule.company = change.company
        if rule.id in lost_rule_ids:
            disable_rules(change, [rule], reason=DisabledReason.PL_TYPE_LOST)
        else:
            rule.mark_updated(change.context)
            change.record(rule, "categorizationRule.updated", after={"split_category_id": str(replacement_id)})


def disable_rules_of_account(*, account: Account, context: AuditContext) -> None:
    """Disable the rules that are limited to an account about to be deleted; they would match everywhere without it."""
    with change_company(account.company, context=context) as change:
        limits = RuleAccount.objects.for_company(account.company_id).filter(account=account)
        rules = CategorizationRule.objects.for_company(account.company_id).filter(id__in=limits.values("rule_id"))
        disable_rules(change, list(rules), reason=DisabledReason.ACCOUNT_DELETED)
        limits.delete()


def move_rules_to_counterparty(
    *, company: Company, source: Counterparty, target: Counterparty, context: AuditContext
) -> None:
    """Make rules about a merged counterparty, and rules that assign it, name the one that is left."""
    for column in ("counterparty", "given_counterparty"):
        CategorizationRule.objects.for_company(company.id).filter(**{column: source}).update(
            **{column: target}, last_updated_time=context.time, last_updated_user_id=context.actor
        )
