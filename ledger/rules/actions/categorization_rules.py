"""Making, changing, ordering and deleting rules."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Max
from django.utils.translation import gettext as _

from companies.change import change_company
from companies.errors import ConflictError, ValidationFailed, build_unknown_id_entry, build_unknown_id_error
from companies.models import AuditContext, Company, snapshot_row
from companies.time_zones import get_today
from companies.versions import check_version
from ledger.categorization.queries.references import get_category_pl_types, resolve_counterparty_id, resolve_pl_type
from ledger.models import TEXT_CONDITIONS, Account, CategorizationRule, Counterparty, RuleAccount
from ledger.recognition.service_periods import resolve_service_period

MAX_RULES = 500  # each import tries all of them on every row
MIN_PERCENT_EXPONENT = -4  # exponent


class TooManyRules(ConflictError):
    """A company can have at most 500 rules. Delete one first."""

    code = "too_many_rules"


def create_categorization_rule(
    *, company: Company, context: AuditContext, values: dict[str, Any]
) -> CategorizationRule:
    """Create a rule, by default as the last one; ``values`` as its serializer returns them.

    Raises TooManyRules, ValidationFailed, PlTypeNeeded, PlTypeNotAllowed, PeriodTooLong, PeriodOutOfRange.
    """
    with change_company(company, context=context) as change:
        rules = CategorizationRule.objects.for_company(company.id)
        if rules.count() >= MAX_RULES:
            raise TooManyRules
        rule = CategorizationRule(company=company)
        columns, account_ids = validate_rule(rule, values, context=context)
        last_order = rules.aggregate(last=Max("order"))["last"]
        order = values.get("order")
        columns["order"] = (0 if last_order is None else last_order + 1) if order is None else order
        for name, value in columns.items():
            setattr(rule, name, value)
        change.insert(rule)
        set_rule_accounts(rule, account_ids)
        change.record(rule, "categorizationRule.created", after=build_rule_snapshot(rule, account_ids))
    return get_rule_with_accounts(company, rule.id)


def update_categorization_rule(
    *,
    company: Company,
    context: AuditContext,
    rule_id: UUID | str,
    values: Callable[[CategorizationRule], dict[str, Any]],
) -> CategorizationRule:
    """Update a rule.

    Args:
        values: returns the complete new body for the stored rule.

    Raises NotFoundError, PreconditionFailed and what ``create_categorization_rule`` raises.
    """
    with change_company(company, context=context) as change:
        change.lock(CategorizationRule, rule_id)
        rule = get_rule_with_accounts(company, rule_id)
        body = values(rule)
        columns, account_ids = validate_rule(rule, body, context=context)
        columns["order"] = body.get("order", rule.order)
        previous_account_ids = list_rule_account_ids(rule)
        before = build_rule_snapshot(rule, previous_account_ids)
        has_changed = rule.apply_changes(context, **columns)
        if account_ids != previous_account_ids:
            RuleAccount.objects.for_company(company.id).filter(rule=rule).delete()
            set_rule_accounts(rule, account_ids)
            if not has_changed:
                rule.mark_updated(context)
        if has_changed or account_ids != previous_account_ids:
            change.record(
                rule, "categorizationRule.updated", before=before, after=build_rule_snapshot(rule, account_ids)
            )
    return get_rule_with_accounts(company, rule.id)


def delete_categorization_rule(*, company: Company, context: AuditContext, rule_id: UUID | str) -> None:
    """Delete a rule; what it assigned stays. Raises NotFoundError, PreconditionFailed."""
    with change_company(company, context=context) as change:
        change.delete(change.lock(CategorizationRule, rule_id), "categorizationRule.deleted")


def reorder_categorization_rules(*, company: Company, context: AuditContext, rule_ids: Sequence[UUID]) -> None:
    """Set the order of all rules; ``ids`` must name each of them once.

    Raises ValidationFailed: unknown_id, repeated_id, and required if one is missing.
    """
    with change_company(company, context=context) as change:
        check_version(None, context.expected_versions)  # an order has no version that somebody could have seen
        rules = CategorizationRule.objects.for_company(company.id).in_bulk()
        errors = [
            build_unknown_id_entry(f"#/ids/{place}") for place, rule_id in enumerate(rule_ids) if rule_id not in rules
        ]
        errors += [
            (f"#/ids/{place}", "repeated_id", _("Listed twice."))
            for place, rule_id in enumerate(rule_ids)
            if rule_id in rules and rule_id in rule_ids[:place]
        ]
        if not errors and len(rule_ids) < len(rules):
            errors = [("#/ids", "required", _("Must list every rule of the company."))]
        if errors:
            raise ValidationFailed(errors)
        has_moved = [bool(rules[rule_id].apply_changes(context, order=place)) for place, rule_id in enumerate(rule_ids)]
        if any(has_moved):
            after = {"rule_ids": [str(rule_id) for rule_id in rule_ids]}
            change.record_bulk("categorizationRules.arranged", "categorizationRule", after=after)


def build_unsaved_rule(
    *, company: Company, context: AuditContext, values: dict[str, Any], pointer: str = "#"
) -> CategorizationRule:
    """Return an unsaved rule. Raises what ``create_categorization_rule`` raises, but not TooManyRules."""
    rule = CategorizationRule(company=company)
    columns, account_ids = validate_rule(
        rule, {"name": "", **values, "enabled": True}, context=context, pointer=pointer
    )
    for name, value in columns.items():
        setattr(rule, name, value)
    rule.account_ids = account_ids  # type: ignore[attr-defined] # as with_accounts does
    return rule


def get_rule_with_accounts(company: Company, rule_id: UUID | str) -> CategorizationRule:
    """Return the rule with its accounts and counterparties."""
    rule = CategorizationRule.objects.for_company(company.id).with_account_ids(company.id).get(id=rule_id)
    rule.company = company
    return rule


def set_rule_accounts(rule: CategorizationRule, account_ids: Sequence[UUID]) -> None:
    """Store the accounts that the rule is limited to."""
    RuleAccount.objects.bulk_create(
        RuleAccount(company=rule.company, rule=rule, account_id=account_id) for account_id in account_ids
    )


def list_rule_account_ids(rule: CategorizationRule) -> list[UUID]:
    """Return the ids of the accounts that the rule is limited to."""
    return sorted(getattr(rule, "account_ids", None) or [])


def build_rule_snapshot(rule: CategorizationRule, account_ids: Sequence[UUID]) -> dict[str, Any]:
    """Return columns and accounts for the audit log."""
    return {**snapshot_row(rule), "account_ids": [str(each) for each in account_ids]}


# ---------------------------------------------------------------------------------------------- validation


def validate_rule(
    rule: CategorizationRule, values: dict[str, Any], *, context: AuditContext, pointer: str = "#"
) -> tuple[dict[str, Any], list[UUID]]:
    """Return (columns, account ids) of a complete body, validated like a categorization.

    Args:
        pointer: of the body in the request.

    Raises ValidationFailed, PlTypeNeeded, PlTypeNotAllowed, PeriodTooLong, PeriodOutOfRange.
    """
    enabled = values.get("enabled", True)
    conditions, account_ids = validate_rule_conditions(rule.company, values["conditions"], pointer=pointer)
    action = validate_rule_action(rule, values["action"], context=context, enabled=enabled, pointer=pointer)
    if enabled and not account_ids and all(value is None for value in conditions.values()):
        raise ValidationFailed([(f"{pointer}/conditions", "must_not_be_empty", _("Add at least one condition."))])
    columns = {"name": values["name"], "enabled": enabled, **conditions, **action}
    if enabled:
        columns["disabled_reason"] = None
    return columns, account_ids


def validate_rule_conditions(
    company: Company, conditions: dict[str, Any], *, pointer: str
) -> tuple[dict[str, Any], list[UUID]]:
    """Return (columns, account ids) of the conditions. Raises ValidationFailed."""
    columns: dict[str, Any] = {}
    for name in TEXT_CONDITIONS:
        condition = conditions.get(name) or {}
        columns |= {f"{name}_operator": condition.get("operator"), f"{name}_value": condition.get("value")}
    columns |= {name: conditions.get(name) for name in ("direction", "min_amount", "max_amount", "currency")}
    columns["counterparty_id"] = conditions.get("counterparty_id")
    min_amount, max_amount = columns["min_amount"], columns["max_amount"]
    if min_amount is not None and max_amount is not None and max_amount < min_amount:
        raise ValidationFailed(
            [(f"{pointer}/conditions/maxAmount", "out_of_range", _("Must not be less than minAmount."))]
        )
    counterparty_id = columns["counterparty_id"]
    if counterparty_id and not Counterparty.objects.for_company(company.id).filter(id=counterparty_id).exists():
        raise build_unknown_id_error(f"{pointer}/conditions/counterpartyId")
    return columns, validate_account_ids(company, conditions.get("account_ids") or [], pointer=pointer)


def validate_account_ids(company: Company, account_ids: Sequence[UUID], *, pointer: str) -> list[UUID]:
    """Return the account ids without repetitions. Raises ValidationFailed."""
    known_ids = (
        set(Account.objects.for_company(company.id).filter(id__in=account_ids).values_list("id", flat=True))
        if account_ids
        else set()
    )
    errors = [
        build_unknown_id_entry(f"{pointer}/conditions/accountIds/{place}")
        for place, account_id in enumerate(account_ids)
        if account_id not in known_ids
    ]
    if errors:
        raise ValidationFailed(errors)
    return sorted(known_ids)


def validate_rule_action(
    rule: CategorizationRule, action: dict[str, Any], *, context: AuditContext, enabled: bool, pointer: str
) -> dict[str, Any]:
    """Return the columns of the action. Raises ValidationFailed, PlTypeNeeded, PlTypeNotAllowed, PeriodTooLong."""
    company, date_rule = rule.company, action["rule"]
    resolve_service_period(
        date_rule, day=get_today(company, context.time), known_invoice_date=None, moves_revenue=False, has_revenue=False
    )
    percent = action.get("pass_through_tax_percent")
    if percent is not None and percent.normalize().as_tuple().exponent < MIN_PERCENT_EXPONENT:
        detail = _("At most 4 decimals are allowed.")
        raise ValidationFailed([(f"{pointer}/action/passThroughTaxPercent", "too_many_decimals", detail)])
    return {
        **validate_rule_category(rule, action, enabled=enabled, pointer=pointer),
        "given_counterparty_id": resolve_counterparty_id(
            company, action.get("counterparty"), pointer=f"{pointer}/action/counterparty"
        ),
        "date_rule": date_rule.type,
        "rule_start_date": date_rule.start,
        "rule_end_date": date_rule.end,
        "rule_invoice_date": date_rule.invoice_date,
        "pass_through_tax_percent": percent,
    }


def validate_rule_category(
    rule: CategorizationRule, action: dict[str, Any], *, enabled: bool, pointer: str
) -> dict[str, Any]:
    """Return category and P&L line; only a disabled rule may have no category."""
    category_id = action["category_id"]
    if category_id is None:
        if enabled or rule.disabled_reason is None:
            raise ValidationFailed(
                [(f"{pointer}/action/categoryId", "required", _("An enabled rule needs a category."))]
            )
        return {"category_id": None}
    pl_types = get_category_pl_types(rule.company, category_id, pointer=f"{pointer}/action/categoryId")
    return {
        "category_id": category_id,
        "pl_type": resolve_pl_type(pl_types, action.get("pl_type"), pointer=f"{pointer}/action/plType"),
    }
