"""What becomes of rules whose category, account or counterparty is changed, merged or deleted."""

from typing import Any
from uuid import UUID

from companies.change import CompanyChange, change_company
from companies.models import AuditContext, Company
from ledger.categorization.queries.references import get_category_pl_types
from ledger.models import Account, CategorizationRule, Category, Counterparty, DisabledReason, RuleAccount


def disable_rules(change: CompanyChange, rules: Any, *, reason: DisabledReason, **values: Any) -> None:
    """Disable rules and store the reason; ``values`` are further columns to set."""
    for rule in rules:
        rule.company = change.company
        change.update(rule, "categorizationRule.disabled", enabled=False, disabled_reason=reason.value, **values)


def disable_rules_of_category(*, company: Company, category_id: UUID, context: AuditContext) -> None:
    """Disable the rules of a category that is about to be deleted."""
    with change_company(company, context=context) as change:
        rules = CategorizationRule.objects.for_company(company.id).filter(category=category_id)
        disable_rules(change, rules, reason=DisabledReason.CATEGORY_DELETED, category_id=None)


def disable_rules_of_lost_lines(*, company: Company, category: Category, context: AuditContext) -> None:
    """Disable the rules whose P&L line the category lost."""
    with change_company(company, context=context) as change:
        rules = CategorizationRule.objects.for_company(company.id).enabled().filter(category=category)
        disable_rules(change, rules.exclude(pl_type__in=category.pl_types), reason=DisabledReason.PL_TYPE_LOST)


def move_rules_to_category(*, company: Company, category_id: UUID, replacement_id: UUID, context: AuditContext) -> None:
    """Make rules assign the replacement: on their line, or on its only one; else they are disabled."""
    with change_company(company, context=context) as change:
        lines = get_category_pl_types(company, replacement_id)
        for rule in CategorizationRule.objects.for_company(company.id).filter(category=category_id):
            rule.company = company
            if rule.pl_type in lines or len(lines) == 1:
                line = rule.pl_type if rule.pl_type in lines else lines[0]
                change.update(rule, "categorizationRule.updated", category_id=replacement_id, pl_type=line)
            else:
                disable_rules(change, [rule], reason=DisabledReason.PL_TYPE_LOST, category_id=replacement_id)


def disable_rules_of_account(*, account: Account, context: AuditContext) -> None:
    """Disable the rules that are limited to an account about to be deleted; they would match everywhere without it."""
    with change_company(account.company, context=context) as change:
        limits = RuleAccount.objects.for_company(account.company_id).filter(account=account)
        rules = CategorizationRule.objects.for_company(account.company_id).filter(id__in=limits.values("rule_id"))
        disable_rules(change, list(rules), reason=DisabledReason.ACCOUNT_DELETED)
        limits.delete()


def move_rules_to_counterparty(
    *, company: Company, gone: Counterparty, kept: Counterparty, context: AuditContext
) -> None:
    """Make rules about a merged counterparty, and rules that assign it, name the one that is left."""
    for column in ("counterparty", "given_counterparty"):
        CategorizationRule.objects.for_company(company.id).filter(**{column: gone}).update(
            **{column: kept}, last_updated_time=context.time, last_updated_user_id=context.actor
        )
