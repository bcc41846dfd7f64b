"""Splits of rules: shares of the amount that go to other categories."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from companies.errors import ValidationFailed
from ledger.bulk.request_bodies import describe_too_many_decimals
from ledger.categorization.queries.references import PlTypeNeeded, get_category_pl_types, resolve_pl_type
from ledger.models import MAX_PERCENT, CategorizationRule, RuleSplit
from ledger.money.calc.money import has_too_many_decimals

MAX_PERCENT_DECIMALS = 4
CURRENCY_OF_MOST_DECIMALS = "EUR"
Split = dict[str, Any]  # category_id, pl_type, percent, amount_value
ErrorEntry = tuple[str, str, str]


def set_rule_splits(rule: CategorizationRule, splits: Sequence[Split]) -> None:
    """Store the splits of a rule, in order, in place of earlier ones."""
    RuleSplit.objects.for_company(rule.company_id).filter(rule=rule).delete()
    RuleSplit.objects.bulk_create(
        RuleSplit(
            company=rule.company,
            rule=rule,
            position=position,
            category_id=split["category_id"],
            pl_type=split["pl_type"],
            percent=split["percent"],
            amount=split["amount_value"],
        )
        for position, split in enumerate(splits)
    )


def build_splits_snapshot(splits: Iterable[Split]) -> list[dict[str, str]]:
    """Return splits for the audit log."""
    return [
        {name: format(value.normalize(), "f") if isinstance(value, Decimal) else str(value) for name, value in pairs}
        for pairs in ([(name, value) for name, value in split.items() if value is not None] for split in splits)
    ]


def validate_splits(
    rule: CategorizationRule, splits: Sequence[Split], *, currency: str | None, enabled: bool, pointer: str
) -> list[Split]:
    """Return the splits of an action with their P&L lines.

    Args:
        currency: of the rule's conditions; None if it matches several.

    Raises: ValidationFailed, PlTypeNeeded, PlTypeNotAllowed.
    """
    errors = [
        *find_percent_errors(splits, pointer),
        *find_fixed_amount_errors(splits, currency or CURRENCY_OF_MOST_DECIMALS, pointer),
    ]
    if errors:
        raise ValidationFailed(errors)
    return [
        {
            **validate_action_category(rule, split, enabled=enabled, pointer=f"{pointer}/{position}"),
            "percent": split.get("percent"),
            "amount_value": split.get("amount_value"),
        }
        for position, split in enumerate(splits)
    ]


def find_percent_errors(splits: Sequence[Split], pointer: str) -> Iterable[ErrorEntry]:
    """Yield the errors of percentages: none, too exact, or more than 100 together."""
    total = Decimal(0)
    for position, split in enumerate(splits):
        percent = split.get("percent")
        if percent is None:
            continue
        total += percent
        field_pointer = f"{pointer}/{position}/percent"
        if not percent:
            yield field_pointer, "out_of_range", _("Must be more than 0.")
        elif has_too_many_percent_decimals(percent):
            yield field_pointer, "too_many_decimals", _("At most 4 decimals are allowed.")
        elif total > MAX_PERCENT:
            yield field_pointer, "out_of_range", _("The percentages must not add up to more than 100.")


def has_too_many_percent_decimals(percent: Decimal) -> bool:
    return -int(percent.normalize().as_tuple().exponent) > MAX_PERCENT_DECIMALS


def find_fixed_amount_errors(splits: Sequence[Split], currency: str, pointer: str) -> Iterable[ErrorEntry]:
    """Yield the errors of fixed amounts: none, too exact, or beside percentages of the whole amount."""
    leaves_nothing = sum((split.get("percent") or Decimal(0) for split in splits), Decimal(0)) >= MAX_PERCENT
    for position, split in enumerate(splits):
        amount = split.get("amount_value")
        if amount is None:
            continue
        field_pointer = f"{pointer}/{position}/amountValue"
        if not amount:
            yield field_pointer, "out_of_range", _("Must be more than 0.")
        elif has_too_many_decimals(amount, currency):
            detail = describe_too_many_decimals(f"{amount.normalize():f}", currency)
            yield field_pointer, "too_many_decimals", detail
        elif leaves_nothing:
            yield field_pointer, "out_of_range", _("The percentages leave nothing for this amount.")


def validate_action_category(
    rule: CategorizationRule, action: dict[str, Any], *, enabled: bool, pointer: str
) -> dict[str, Any]:
    """Return category and P&L line of an action or a split; only a disabled rule may have no category."""
    category_id = action["category_id"]
    if category_id is not None:
        pl_types = get_category_pl_types(rule.company, category_id, pointer=f"{pointer}/categoryId")
        return {
            "category_id": category_id,
            "pl_type": resolve_pl_type(pl_types, action.get("pl_type"), pointer=f"{pointer}/plType"),
        }
    if enabled or rule.disabled_reason is None:
        raise ValidationFailed([(f"{pointer}/categoryId", "required", _("An enabled rule needs a category."))])
    pl_type = action.get("pl_type") or rule.pl_type
    if not pl_type:
        raise PlTypeNeeded(pointer=f"{pointer}/plType")
    return {"category_id": None, "pl_type": pl_type}
