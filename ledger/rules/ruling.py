"""Making, changing, ordering and deleting rules."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Max
from django.utils.translation import gettext as _

from companies.changing import changing
from companies.errors import Conflict, FieldErrors, unknown_at, unknown_id
from companies.models import Company, Stamp, snapshot
from companies.time_zones import get_today
from companies.versions import unless_stale
from ledger.models import (
    TEXTS,
    Account,
    CategorizationRule,
    Counterparty,
    RuleAccount,
)
from ledger.purposes.categorizing import checked_counterparty, line_of, pl_types_of
from ledger.recognition.dating import period

MOST_RULES = 500  # each import tries all of them on every row
FINEST_PERCENT = -4  # exponent


class TooManyRules(Conflict):
    """A company has at most 500 rules."""

    code = "too_many_rules"


def add(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> CategorizationRule:
    """A new rule, the last in order unless it says otherwise; ``values`` as its shape reads them.

    Raises TooManyRules, FieldErrors, PlTypeNeeded, PlTypeNotAllowed, PeriodTooLong, PeriodOutOfRange.
    """
    with changing(company, stamp=stamp) as change:
        rules = CategorizationRule.objects.of(company.id)
        if rules.count() >= MOST_RULES:
            raise TooManyRules
        rule = CategorizationRule(company=company)
        columns, accounts = checked(rule, values, stamp=stamp)
        last = rules.aggregate(last=Max("order"))["last"]
        order = values.get("order")
        columns["order"] = (0 if last is None else last + 1) if order is None else order
        for name, value in columns.items():
            setattr(rule, name, value)
        change.store(rule)
        limit(rule, accounts)
        change.record(rule, "categorizationRule.created", after=state(rule, accounts))
    return read(company, rule.id)


def change(
    *,
    company: Company,
    stamp: Stamp,
    rule_id: UUID | str,
    values: Callable[[CategorizationRule], dict[str, Any]],
) -> CategorizationRule:
    """Stores what differs; ``values`` reads the complete body that the stored rule becomes.

    Raises Missing, Stale and what ``add`` raises.
    """
    with changing(company, stamp=stamp) as change:
        change.locked(CategorizationRule, rule_id)
        rule = read(company, rule_id)
        asked = values(rule)
        columns, accounts = checked(rule, asked, stamp=stamp)
        columns["order"] = asked.get("order", rule.order)
        was = accounts_of(rule)
        before = state(rule, was)
        changed = rule.change(stamp, **columns)
        if accounts != was:
            RuleAccount.objects.of(company.id).filter(rule=rule).delete()
            limit(rule, accounts)
            if not changed:
                rule.touch(stamp)
        if changed or accounts != was:
            change.record(rule, "categorizationRule.updated", before=before, after=state(rule, accounts))
    return read(company, rule.id)


def delete(*, company: Company, stamp: Stamp, rule_id: UUID | str) -> None:
    """Deletes a rule; what it assigned stays. Raises Missing, Stale."""
    with changing(company, stamp=stamp) as change:
        change.delete(change.locked(CategorizationRule, rule_id), "categorizationRule.deleted")


def arrange(*, company: Company, stamp: Stamp, ids: Sequence[UUID]) -> None:
    """Puts the rules into the order of these ids, which name all of them, each once.

    Raises FieldErrors: unknown_id, repeated_id, and required where one is missing.
    """
    with changing(company, stamp=stamp) as change:
        unless_stale(None, stamp.expected)  # an order has no version that somebody could have seen
        rules = CategorizationRule.objects.of(company.id).in_bulk()
        faults = [unknown_at(f"#/ids/{place}") for place, each in enumerate(ids) if each not in rules]
        faults += [
            (f"#/ids/{place}", "repeated_id", _("Is named before."))
            for place, each in enumerate(ids)
            if each in rules and each in ids[:place]
        ]
        if not faults and len(ids) < len(rules):
            faults = [("#/ids", "required", _("Must name every rule of the company."))]
        if faults:
            raise FieldErrors(faults)
        moved = [bool(rules[each].change(stamp, order=place)) for place, each in enumerate(ids)]
        if any(moved):
            after = {"rule_ids": [str(each) for each in ids]}
            change.record_many("categorizationRules.arranged", "categorizationRule", after=after)


def tried(*, company: Company, stamp: Stamp, values: dict[str, Any], at: str = "#") -> CategorizationRule:
    """A rule that is not stored. Raises what ``add`` raises, but TooManyRules."""
    rule = CategorizationRule(company=company)
    columns, accounts = checked(rule, {"name": "", **values, "enabled": True}, stamp=stamp, at=at)
    for name, value in columns.items():
        setattr(rule, name, value)
    rule.account_ids = accounts  # type: ignore[attr-defined] # as with_accounts does
    return rule


def read(company: Company, rule_id: UUID | str) -> CategorizationRule:
    """The rule with its accounts and counterparties."""
    rule = CategorizationRule.objects.of(company.id).with_accounts(company.id).get(id=rule_id)
    rule.company = company
    return rule


def limit(rule: CategorizationRule, accounts: Sequence[UUID]) -> None:
    """Says on which accounts the rule holds."""
    RuleAccount.objects.bulk_create(
        RuleAccount(company=rule.company, rule=rule, account_id=account_id) for account_id in accounts
    )


def accounts_of(rule: CategorizationRule) -> list[UUID]:
    return sorted(getattr(rule, "account_ids", None) or [])


def state(rule: CategorizationRule, accounts: Sequence[UUID]) -> dict[str, Any]:
    """Its columns and accounts as the log keeps them."""
    return {**snapshot(rule), "account_ids": [str(each) for each in accounts]}


# ---------------------------------------------------------------------------------------------- from body to columns


def checked(
    rule: CategorizationRule, values: dict[str, Any], *, stamp: Stamp, at: str = "#"
) -> tuple[dict[str, Any], list[UUID]]:
    """(columns, accounts) of a complete body that stands at a pointer, checked as categorize checks it.

    Raises FieldErrors, PlTypeNeeded, PlTypeNotAllowed, PeriodTooLong, PeriodOutOfRange.
    """
    enabled = values.get("enabled", True)
    conditions, accounts = checked_conditions(rule.company, values["conditions"], at=at)
    action = checked_action(rule, values["action"], stamp=stamp, enabled=enabled, at=at)
    if enabled and not accounts and all(value is None for value in conditions.values()):
        raise FieldErrors([(f"{at}/conditions", "must_not_be_empty", _("At least one condition is needed."))])
    columns = {"name": values["name"], "enabled": enabled, **conditions, **action}
    if enabled:
        columns["disabled_reason"] = None
    return columns, accounts


def checked_conditions(company: Company, given: dict[str, Any], *, at: str) -> tuple[dict[str, Any], list[UUID]]:
    """(columns, accounts) of the conditions. Raises FieldErrors."""
    columns: dict[str, Any] = {}
    for name in TEXTS:
        condition = given.get(name) or {}
        columns |= {f"{name}_operator": condition.get("operator"), f"{name}_value": condition.get("value")}
    columns |= {name: given.get(name) for name in ("direction", "min_amount", "max_amount", "currency")}
    columns["counterparty_id"] = given.get("counterparty_id")
    least, most = columns["min_amount"], columns["max_amount"]
    if least is not None and most is not None and most < least:
        raise FieldErrors([(f"{at}/conditions/maxAmount", "out_of_range", _("Must not be below minAmount."))])
    wanted = columns["counterparty_id"]
    if wanted and not Counterparty.objects.of(company.id).filter(id=wanted).exists():
        raise unknown_id(f"{at}/conditions/counterpartyId")
    return columns, known_accounts(company, given.get("account_ids") or [], at=at)


def known_accounts(company: Company, asked: Sequence[UUID], *, at: str) -> list[UUID]:
    """The accounts, each once. Raises FieldErrors."""
    known = set(Account.objects.of(company.id).filter(id__in=asked).values_list("id", flat=True)) if asked else set()
    faults = [
        unknown_at(f"{at}/conditions/accountIds/{place}") for place, each in enumerate(asked) if each not in known
    ]
    if faults:
        raise FieldErrors(faults)
    return sorted(known)


def checked_action(
    rule: CategorizationRule, given: dict[str, Any], *, stamp: Stamp, enabled: bool, at: str
) -> dict[str, Any]:
    """The columns of what a rule says. Raises FieldErrors, PlTypeNeeded, PlTypeNotAllowed, PeriodTooLong."""
    company, dates = rule.company, given["rule"]
    period(dates, day=get_today(company, stamp.time), known_invoice_date=None, moves_revenue=False, has_revenue=False)
    percent = given.get("pass_through_tax_percent")
    if percent is not None and percent.normalize().as_tuple().exponent < FINEST_PERCENT:
        detail = _("Must have at most 4 decimals.")
        raise FieldErrors([(f"{at}/action/passThroughTaxPercent", "too_many_decimals", detail)])
    return {
        **checked_category(rule, given, enabled=enabled, at=at),
        "given_counterparty_id": checked_counterparty(
            company, given.get("counterparty"), pointer=f"{at}/action/counterparty"
        ),
        "date_rule": dates.type,
        "rule_start_date": dates.start,
        "rule_end_date": dates.end,
        "rule_invoice_date": dates.invoice_date,
        "pass_through_tax_percent": percent,
    }


def checked_category(rule: CategorizationRule, given: dict[str, Any], *, enabled: bool, at: str) -> dict[str, Any]:
    """Category and line; a rule that waits for another category may be without."""
    category_id = given["category_id"]
    if category_id is None:
        if enabled or rule.disabled_reason is None:
            raise FieldErrors([(f"{at}/action/categoryId", "required", _("An enabled rule needs a category."))])
        return {"category_id": None}
    lines = pl_types_of(rule.company, category_id, pointer=f"{at}/action/categoryId")
    return {"category_id": category_id, "pl_type": line_of(lines, given.get("pl_type"), pointer=f"{at}/action/plType")}
