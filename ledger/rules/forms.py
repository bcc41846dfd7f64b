"""The form of a rule: typed values as a request body, and a stored rule as form values."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from companies.errors import ValidationFailed
from companies.pages.amount_formats import format_amount_for_input
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.calc.recognition import DateRule, PeriodStart
from ledger.categorization.pages.split_rows import parse_percentage, parse_tax_percentage
from ledger.models import CategorizationRule, CounterpartyFrom, DisabledReason, Operator, Transaction
from ledger.money.amounts import normalize_typed_amount
from ledger.rules.calc.category_proposals import CategoryProposal
from ledger.rules.queries.category_suggestions import suggest_categories
from ledger.rules.queries.suggestions import NothingToLearn, build_text_condition
from ledger.rules.serializers import MAX_SPLITS
from ledger.transactions.pages.counterparty_lookup import get_counterparty_by_name
from ledger.transactions.pages.labels import LedgerNames, format_line_choice, parse_category_choice

TEXT_CONDITION_FIELDS = {"fromTo": "from_to", "description": "description", "text": "text"}
FACT_FIELDS = ("direction", "minAmount", "maxAmount", "currency")
AMOUNT_FIELDS = {"minAmount", "maxAmount"}
OTHER_FIELDS = (
    *("name", "counterparty", "category", "given", "dateRule", "ruleStart", "ruleEnd"),
    *("serviceMonths", "serviceStart", "tax"),
)
SPARE_SPLIT_ROWS = 2  # empty rows of the form
FORM_FIELDS = (
    *OTHER_FIELDS,
    *FACT_FIELDS,
    *(f"{name}{part}" for name in TEXT_CONDITION_FIELDS for part in ("Operator", "Value")),
)
RULE_FORM_FIELDS = {  # where the form shows what is wrong with a field of the body
    **{f"conditions/{name}": f"{name}Value" for name in TEXT_CONDITION_FIELDS},
    **{f"conditions/{name}/operator": f"{name}Operator" for name in TEXT_CONDITION_FIELDS},
    **{f"conditions/{name}": name for name in FACT_FIELDS},
    "conditions/accountIds": "accounts",
    "conditions/counterpartyId": "counterparty",
    "action/categoryId": "category",
    "action/plType": "category",
    "action/counterparty": "given",
    "action/usingDateRule": "dateRule",
    "action/usingDateRule/startDate": "ruleStart",
    "action/usingDateRule/endDate": "ruleEnd",
    "action/passThroughTaxPercent": "tax",
    "action/counterpartyFrom": "counterpartyFrom",
    "action/servicePeriod": "serviceMonths",
    "action/servicePeriod/start": "serviceStart",
    **{
        f"action/splits/{position}{part}": name.format(position + 1)
        for position in range(MAX_SPLITS)
        for part, name in (("", "splitShare-{}"), ("/categoryId", "splitCategory-{}"), ("/plType", "splitCategory-{}"))
    },
}
PERIOD_START_LABELS: dict[PeriodStart, Any] = {
    PeriodStart.PAYMENT: gettext_lazy("From payment"),
    PeriodStart.NEXT_MONTH: gettext_lazy("From the month after payment"),
}
DISABLED_REASON_LABELS: dict[DisabledReason, Any] = {
    DisabledReason.CATEGORY_DELETED: gettext_lazy("Its category was deleted."),
    DisabledReason.ACCOUNT_DELETED: gettext_lazy("One of its accounts was deleted."),
    DisabledReason.PL_TYPE_LOST: gettext_lazy("Its category no longer posts to this P&L line."),
}
OPERATOR_LABELS: dict[Operator, Any] = {
    Operator.CONTAINS: gettext_lazy("contains"),
    Operator.EQUALS: gettext_lazy("is"),
    Operator.STARTS_WITH: gettext_lazy("starts with"),
    Operator.WHOLE_WORD: gettext_lazy("contains the word"),
}


def build_rule_body(page: CompanyPage, values: Mapping[str, Any], rule: CategorizationRule | None) -> dict[str, Any]:
    """Return the typed values as POST categorization_rules takes them; fields the user may not see keep their
    values.

    Raises ValidationFailed for unknown names.
    """
    if rule:
        values = {**values, **get_hidden_values(page, rule)}
    elif not page.has_permission(Permission.COUNTERPARTIES_WRITE):
        values = {**values, "counterpartyFrom": False}
    conditions: dict[str, Any] = {
        name: {"operator": values[f"{name}Operator"] or Operator.CONTAINS.value, "value": values[f"{name}Value"]}
        for name in TEXT_CONDITION_FIELDS
        if values[f"{name}Value"]
    }
    conditions |= {name: values[name] for name in FACT_FIELDS if values[name]}
    for name in AMOUNT_FIELDS & conditions.keys():
        conditions[name] = normalize_typed_amount(
            conditions[name], currency=values["currency"], pointer=f"#/conditions/{name}"
        )
    conditions["accountIds"] = values["accounts"] or None
    if name := values["counterparty"]:
        conditions["counterpartyId"] = resolve_rule_counterparty(
            page, name, rule, pointer="#/conditions/counterpartyId"
        )
    category_id, pl_type = parse_category_choice(values["category"])
    days = {"startDate": values["ruleStart"], "endDate": values["ruleEnd"]}
    action: dict[str, Any] = {
        "categoryId": category_id or None,
        "plType": pl_type,
        "usingDateRule": {
            "type": values["dateRule"] or DateRule.TRANSACTION_DATE.value,
            **{name: day for name, day in days.items() if day},
        },
        "passThroughTaxPercent": parse_tax_percentage(values["tax"], pointer="#/action/passThroughTaxPercent"),
        "counterpartyFrom": CounterpartyFrom.FROM_TO.value if values["counterpartyFrom"] else None,
        "servicePeriod": build_service_period_body(values),
        "splits": build_splits_body(values),
    }
    if name := values["given"]:
        action["counterparty"] = {"id": resolve_rule_counterparty(page, name, rule, pointer="#/action/counterparty")}
    return {"name": values["name"], "enabled": values["enabled"], "conditions": conditions, "action": action}


def get_hidden_values(page: CompanyPage, rule: CategorizationRule) -> dict[str, Any]:
    """Return the fields of a stored rule that the user may not see."""
    stored_values, hidden_values = build_rule_form_values(rule), {}
    if not page.has_permission(Permission.COUNTERPARTIES_READ):
        hidden_values = {"counterparty": stored_values["counterparty"], "given": stored_values["given"]}
    if not page.has_permission(Permission.COUNTERPARTIES_WRITE):
        hidden_values["counterpartyFrom"] = stored_values["counterpartyFrom"]
    return (
        hidden_values
        if page.has_permission(Permission.ACCOUNTS_READ)
        else hidden_values | {"accounts": stored_values["accounts"]}
    )


def resolve_rule_counterparty(page: CompanyPage, name: str, rule: CategorizationRule | None, *, pointer: str) -> str:
    """Return the id of a named counterparty; the rule's own counterparties are known by id. Raises ValidationFailed."""
    if rule and name in (str(rule.counterparty_id), str(rule.given_counterparty_id)):
        return name
    return str(get_counterparty_by_name(page, name, pointer=pointer).id)


def build_service_period_body(values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the service period of the body; None without a number of months."""
    months = values["serviceMonths"]
    if not months:
        return None
    return {
        "months": int(months) if months.isascii() and months.isdigit() else months,
        "start": values["serviceStart"] or PeriodStart.PAYMENT.value,
    }


def build_splits_body(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the splits of the body: a share such as 40 % is a percentage, another one an amount.

    Raises ValidationFailed.
    """
    splits: list[dict[str, Any]] = []
    for row in list_split_rows(values):
        if not (row["category"] or row["share"]):
            continue
        category_id, pl_type = parse_category_choice(row["category"])
        pointer = f"#/action/splits/{len(splits)}"
        if not category_id:
            raise ValidationFailed([(f"{pointer}/categoryId", "required", _("Choose a category."))])
        percent = parse_percentage(row["share"], pointer=f"{pointer}/percent")
        amount = None
        if percent is None and row["share"]:
            amount = normalize_typed_amount(row["share"], currency=values["currency"], pointer=f"{pointer}/amountValue")
        splits.append(
            {
                "categoryId": category_id,
                "plType": pl_type,
                "percent": None if percent is None else float(percent),
                "amountValue": amount,
            }
        )
    return splits


def read_split_rows(post_data: Mapping[str, str]) -> dict[str, str]:
    """Return the posted split rows, the empty ones left out, numbered from 1 as the body's splits are."""
    rows = [
        (post_data.get(f"splitCategory-{number}", "").strip(), post_data.get(f"splitShare-{number}", "").strip())
        for number in range(1, MAX_SPLITS + 1)
    ]
    return build_split_values([row for row in rows if any(row)])


def build_split_values(rows: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return form values of pairs (category, share)."""
    values: dict[str, str] = {}
    for number, (category, share) in enumerate(rows, 1):
        values |= {f"splitCategory-{number}": category, f"splitShare-{number}": share}
    return values


def list_split_rows(values: Mapping[str, Any], *, spare: int = 0) -> list[dict[str, str]]:
    """Return the split rows of form values with the names of their fields, and some empty ones."""
    filled_count = sum(name.startswith("splitCategory-") for name in values)
    return [
        {
            "category_field": f"splitCategory-{number}",
            "share_field": f"splitShare-{number}",
            "category": values.get(f"splitCategory-{number}", ""),
            "share": values.get(f"splitShare-{number}", ""),
        }
        for number in range(1, min(filled_count + spare, MAX_SPLITS) + 1)
    ]


def build_rule_form_values(rule: CategorizationRule | None) -> dict[str, Any]:
    """Return the form values of a rule; a new one is enabled."""
    empty: dict[str, Any] = {
        **dict.fromkeys(FORM_FIELDS, ""),
        "accounts": [],
        "enabled": True,
        "counterpartyFrom": False,
        "serviceStart": PeriodStart.PAYMENT.value,
    }
    if rule is None:
        return empty
    texts = {
        f"{name}{part}": getattr(rule, f"{column}_{part.lower()}") or ""
        for name, column in TEXT_CONDITION_FIELDS.items()
        for part in ("Operator", "Value")
    }
    return (
        empty
        | texts
        | {
            "name": rule.name,
            "enabled": rule.enabled,
            "accounts": [str(each) for each in getattr(rule, "account_ids", None) or []],
            "direction": rule.direction or "",
            "minAmount": format_trimmed_decimal(rule.min_amount),
            "maxAmount": format_trimmed_decimal(rule.max_amount),
            "currency": rule.currency or "",
            "counterparty": str(rule.counterparty_id or ""),  # an id is as good as a name
            "category": format_line_choice(rule.category_id, rule.pl_type) if rule.category_id else "",
            "given": str(rule.given_counterparty_id or ""),
            "dateRule": rule.date_rule,
            "ruleStart": rule.rule_start_date.isoformat() if rule.rule_start_date else "",
            "ruleEnd": rule.rule_end_date.isoformat() if rule.rule_end_date else "",
            "tax": format_trimmed_decimal(rule.pass_through_tax_percent),
            "counterpartyFrom": rule.counterparty_from is not None,
            "serviceMonths": str(rule.service_period_months or ""),
            "serviceStart": rule.service_period_start or PeriodStart.PAYMENT.value,
            **build_split_values(
                (
                    format_line_choice(split["category_id"], split["pl_type"]) if split["category_id"] else "",
                    format_split_share(split),
                )
                for split in rule.splits
            ),
        }
    )


def format_split_share(split: Mapping[str, Any]) -> str:
    """Return the share of a split as it is typed: 40 % or 12.50."""
    if split["percent"] is not None:
        return _("{percent} %").format(percent=format_amount_for_input(format_trimmed_decimal(split["percent"])))
    return format_amount_for_input(format_trimmed_decimal(split["amount_value"]))


def format_trimmed_decimal(value: Any) -> str:
    """Return a number without trailing zeros; empty for None."""
    return "" if value is None else format(value.normalize(), "f")


def build_form_values_from_transaction(page: CompanyPage, transaction: Transaction) -> dict[str, Any]:
    """Return form values that match the transaction's text, with the suggested category."""
    values = build_rule_form_values(None)
    values["name"] = (transaction.from_to.strip() or transaction.description.strip())[:200]
    values["direction"] = "in" if transaction.amount_value > 0 else "out"
    try:
        columns = build_text_condition(transaction)
    except NothingToLearn:
        columns = {}
    for name, column in TEXT_CONDITION_FIELDS.items():
        values[f"{name}Operator"] = str(columns.get(f"{column}_operator", ""))
        values[f"{name}Value"] = columns.get(f"{column}_value", "")
    proposals: list[CategoryProposal] = (
        [] if transaction.categorized_value else suggest_categories(page.company, [transaction.id])[transaction.id]
    )
    if proposals and proposals[0].is_likely:
        categorization = proposals[0].categorization
        values["category"] = format_line_choice(categorization.category_id, categorization.pl_type)
    return values


def describe_rule(rule: CategorizationRule, names: LedgerNames) -> dict[str, str]:
    """Describe conditions, category, tax and the reason why a rule is disabled."""
    labels = {"from_to": _("From / to"), "description": _("Description"), "text": _("From / to or description")}
    condition_texts = [
        _("{field} {operator} “{value}”").format(
            field=labels[name],
            operator=OPERATOR_LABELS[Operator(condition["operator"])],
            value=condition["value"],
        )
        for name in labels
        if (condition := rule.get_text_condition(name))
    ]
    if accounts := getattr(rule, "account_ids", None):
        condition_texts.append(
            _("on {accounts}").format(accounts=_(" or ").join(names.get_account_name(each) for each in accounts))
        )
    if rule.direction:
        condition_texts.append({"in": _("money in"), "out": _("money out")}[rule.direction])
    if rule.min_amount is not None:
        condition_texts.append(
            _("at least {amount}").format(amount=format_amount_for_input(format_trimmed_decimal(rule.min_amount)))
        )
    if rule.max_amount is not None:
        condition_texts.append(
            _("at most {amount}").format(amount=format_amount_for_input(format_trimmed_decimal(rule.max_amount)))
        )
    if rule.currency:
        condition_texts.append(_("in {currency}").format(currency=rule.currency))
    if rule.counterparty:
        condition_texts.append(_("with {name}").format(name=names.get_counterparty_name(rule.counterparty)))
    return {
        "conditions": ", ".join(condition_texts),
        "category": names.get_category_name(rule.category_id) if rule.category_id else "",
        "tax": _("{percent} % tax").format(
            percent=format_amount_for_input(format_trimmed_decimal(rule.pass_through_tax_percent))
        )
        if rule.pass_through_tax_percent
        else "",
        "splits": ", ".join(describe_split(split, names) for split in rule.splits),
        "period": describe_service_period(rule),
        "counterparty": _("counterparty from From / to") if rule.counterparty_from else "",
        "reason": str(DISABLED_REASON_LABELS[DisabledReason(rule.disabled_reason)]) if rule.disabled_reason else "",
    }


def describe_split(split: Mapping[str, Any], names: LedgerNames) -> str:
    """Describe a split: 40 % Hosting."""
    category = names.get_category_name(split["category_id"]) if split["category_id"] else _("no category")
    return _("{share} to {category}").format(share=format_split_share(split), category=category)


def describe_service_period(rule: CategorizationRule) -> str:
    """Describe the service period: 12 months from payment; empty if there is none."""
    months = rule.service_period_months
    if months is None:
        return ""
    if rule.service_period_start == PeriodStart.NEXT_MONTH:
        text = ngettext(
            "{count} month from the month after payment", "{count} months from the month after payment", months
        )
    else:
        text = ngettext("{count} month from payment", "{count} months from payment", months)
    return text.format(count=months)
