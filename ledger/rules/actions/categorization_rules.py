"""Making, changing, ordering and deleting rules."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Max
from django.utils.translation import gettext as _

from companies.change import change_company
from companies.errors import ConflictError, ValidationFailed, build_unknown_id_entry, build_unknown_id_error
from companies.models import AuditContext, Company, snapshot_row
from companies.time_zones import get_today
from companies.versions import check_version
from ledger.categorization.queries.references import resolve_counterparty_id
from ledger.models import TEXT_CONDITIONS, Account, CategorizationRule, Counterparty, RuleAccount
from ledger.recognition.service_periods import resolve_service_period
from ledger.rules.actions.rule_splits import (
    Split,
    build_splits_snapshot,
    has_too_many_percent_decimals,
    set_rule_splits,
    validate_action_category,
    validate_splits,
)

MAX_RULES = 500  # each import tries all of them on every row


class RuleDetails(NamedTuple):
    """What a rule has besides its columns: the accounts it is limited to, and its splits in order."""

    account_ids: list[UUID]
    splits: list[Split]


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
        columns, details = validate_rule(rule, values, context=context)
        last_order = rules.aggregate(last=Max("order"))["last"]
        order = values.get("order")
        columns["order"] = (0 if last_order is None else last_order + 1) if order is None else order
        for name, value in columns.items():
            setattr(rule, name, value)
        change.insert(rule)
        set_rule_accounts(rule, details.account_ids)
        set_rule_splits(rule, details.splits)
        change.record(rule, "categorizationRule.created", after=build_rule_snapshot(rule, details))
    return get_rule_with_details(company, rule.id)


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
        rule = get_rule_with_details(company, rule_id)
        body = values(rule)
        columns, details = validate_rule(rule, body, context=context)
        columns["order"] = body.get("order", rule.order)
        previous_details = get_rule_details(rule)
        before = build_rule_snapshot(rule, previous_details)
        has_changed = rule.apply_changes(context, **columns)
        if details != previous_details:
            store_changed_details(rule, details, previous_details)
            if not has_changed:
                rule.mark_updated(context)
        if has_changed or details != previous_details:
            change.record(rule, "categorizationRule.updated", before=before, after=build_rule_snapshot(rule, details))
    return get_rule_with_details(company, rule.id)


def store_changed_details(rule: CategorizationRule, details: RuleDetails, previous_details: RuleDetails) -> None:
    """Store the accounts and splits that differ."""
    if details.account_ids != previous_details.account_ids:
        RuleAccount.objects.for_company(rule.company_id).filter(rule=rule).delete()
        set_rule_accounts(rule, details.account_ids)
    if details.splits != previous_details.splits:
        set_rule_splits(rule, details.splits)


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
    columns, details = validate_rule(rule, {"name": "", **values, "enabled": True}, context=context, pointer=pointer)
    for name, value in columns.items():
        setattr(rule, name, value)
    rule.account_ids = details.account_ids  # type: ignore[attr-defined] # as with_details does
    rule.split_rows = build_rule_split_rows(details.splits)  # type: ignore[attr-defined]
    return rule


def build_rule_split_rows(splits: Sequence[Split]) -> list[dict[str, str | None]]:
    """Return splits as ``with_details`` annotates those that are stored."""
    return [
        {
            "category_id": str(split["category_id"]),
            "pl_type": split["pl_type"],
            "percent": None if split["percent"] is None else str(split["percent"]),
            "amount": None if split["amount_value"] is None else str(split["amount_value"]),
        }
        for split in splits
    ]


def get_rule_with_details(company: Company, rule_id: UUID | str) -> CategorizationRule:
    """Return the rule with its accounts, splits and counterparties."""
    rule = CategorizationRule.objects.for_company(company.id).with_details(company.id).get(id=rule_id)
    rule.company = company
    return rule


def set_rule_accounts(rule: CategorizationRule, account_ids: Sequence[UUID]) -> None:
    """Store the accounts that the rule is limited to."""
    RuleAccount.objects.bulk_create(
        RuleAccount(company=rule.company, rule=rule, account_id=account_id) for account_id in account_ids
    )


def get_rule_details(rule: CategorizationRule) -> RuleDetails:
    """Return the accounts and splits that are stored."""
    return RuleDetails(sorted(getattr(rule, "account_ids", None) or []), rule.splits)


def build_rule_snapshot(rule: CategorizationRule, details: RuleDetails) -> dict[str, Any]:
    """Return columns, accounts and splits for the audit log."""
    return {
        **snapshot_row(rule),
        "account_ids": [str(each) for each in details.account_ids],
        "splits": build_splits_snapshot(details.splits),
    }


# ---------------------------------------------------------------------------------------------- validation


def validate_rule(
    rule: CategorizationRule, values: dict[str, Any], *, context: AuditContext, pointer: str = "#"
) -> tuple[dict[str, Any], RuleDetails]:
    """Return (columns, details) of a complete body, validated like a categorization.

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
    splits = validate_splits(
        rule,
        values["action"].get("splits") or [],
        currency=conditions["currency"],
        enabled=enabled,
        pointer=f"{pointer}/action/splits",
    )
    return columns, RuleDetails(account_ids, splits)


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
        date_rule,
        day=get_today(company, context.time),
        known_invoice_date=None,
        recognize_revenue_on_invoice=False,
        has_revenue=False,
    )
    service_period = action.get("service_period") or {}
    percent = action.get("pass_through_tax_percent")
    if percent is not None and has_too_many_percent_decimals(percent):
        detail = _("At most 4 decimals are allowed.")
        raise ValidationFailed([(f"{pointer}/action/passThroughTaxPercent", "too_many_decimals", detail)])
    return {
        **validate_action_category(rule, action, enabled=enabled, pointer=f"{pointer}/action"),
        "given_counterparty_id": resolve_counterparty_id(
            company, action.get("counterparty"), pointer=f"{pointer}/action/counterparty"
        ),
        "date_rule": date_rule.type,
        "rule_start_date": date_rule.start,
        "rule_end_date": date_rule.end,
        "rule_invoice_date": date_rule.invoice_date,
        "pass_through_tax_percent": percent,
        "counterparty_from": action.get("counterparty_from"),
        "service_period_months": service_period.get("months"),
        "service_period_start": service_period.get("start"),
    }
