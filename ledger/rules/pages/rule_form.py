"""The form of a rule: what was typed as the body of the API, and a stored rule as the form shows it."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.errors import FieldErrors
from companies.pages.amounts import as_typed
from companies.pages.visits import Visit
from companies.permissions import Permission
from ledger.calc.recognition import DateRule
from ledger.models import CategorizationRule, DisabledReason, Operator, Transaction
from ledger.money.amounts import typed_in
from ledger.rules.calc.proposing import Proposal
from ledger.rules.habits import proposed
from ledger.rules.learning import NothingToLearn, text_condition
from ledger.transactions.pages.counterparties import counterparty_called
from ledger.transactions.pages.words import Names, as_line, of_line

TEXTS = {"fromTo": "from_to", "description": "description", "text": "text"}
FACTS = ("direction", "minAmount", "maxAmount", "currency")
AMOUNTS = {"minAmount", "maxAmount"}
REST = ("name", "counterparty", "category", "given", "dateRule", "ruleStart", "ruleEnd", "tax")
TYPED = (*REST, *FACTS, *(f"{name}{part}" for name in TEXTS for part in ("Operator", "Value")))
FIELDS = {  # where the form shows what is wrong with a field of the body
    **{f"conditions/{name}": f"{name}Value" for name in TEXTS},
    **{f"conditions/{name}/operator": f"{name}Operator" for name in TEXTS},
    **{f"conditions/{name}": name for name in FACTS},
    "conditions/accountIds": "accounts",
    "conditions/counterpartyId": "counterparty",
    "action/categoryId": "category",
    "action/plType": "category",
    "action/counterparty": "given",
    "action/usingDateRule": "dateRule",
    "action/usingDateRule/startDate": "ruleStart",
    "action/usingDateRule/endDate": "ruleEnd",
    "action/passThroughTaxPercent": "tax",
}
REASONS: dict[DisabledReason, Any] = {
    DisabledReason.CATEGORY_DELETED: gettext_lazy("Its category was deleted."),
    DisabledReason.ACCOUNT_DELETED: gettext_lazy("An account of its was deleted."),
    DisabledReason.PL_TYPE_LOST: gettext_lazy("Its category posts to another line now."),
}
OPERATORS: dict[Operator, Any] = {
    Operator.CONTAINS: gettext_lazy("contains"),
    Operator.EQUALS: gettext_lazy("is"),
    Operator.STARTS_WITH: gettext_lazy("starts with"),
    Operator.WHOLE_WORD: gettext_lazy("has the word"),
}


def body_of(visit: Visit, values: Mapping[str, Any], rule: CategorizationRule | None) -> dict[str, Any]:
    """What was typed as POST categorization_rules takes it; what the viewer does not see of a stored rule stays.

    Raises FieldErrors for names that nobody has.
    """
    if rule:
        values = {**values, **unseen(visit, rule)}
    conditions: dict[str, Any] = {
        name: {"operator": values[f"{name}Operator"] or Operator.CONTAINS.value, "value": values[f"{name}Value"]}
        for name in TEXTS
        if values[f"{name}Value"]
    }
    conditions |= {name: values[name] for name in FACTS if values[name]}
    for name in AMOUNTS & conditions.keys():
        conditions[name] = typed_in(conditions[name], currency=values["currency"], pointer=f"#/conditions/{name}")
    conditions["accountIds"] = values["accounts"] or None
    if name := values["counterparty"]:
        conditions["counterpartyId"] = person(visit, name, rule, pointer="#/conditions/counterpartyId")
    category_id, line = of_line(values["category"])
    days = {"startDate": values["ruleStart"], "endDate": values["ruleEnd"]}
    action: dict[str, Any] = {
        "categoryId": category_id or None,
        "plType": line,
        "usingDateRule": {
            "type": values["dateRule"] or DateRule.TRANSACTION_DATE.value,
            **{name: day for name, day in days.items() if day},
        },
        "passThroughTaxPercent": percent(values["tax"]),
    }
    if name := values["given"]:
        action["counterparty"] = {"id": person(visit, name, rule, pointer="#/action/counterparty")}
    return {"name": values["name"], "enabled": values["enabled"], "conditions": conditions, "action": action}


def unseen(visit: Visit, rule: CategorizationRule) -> dict[str, Any]:
    """The fields of a stored rule that the viewer's form does not have."""
    stored, found = values_of(rule), {}
    if not visit.may(Permission.COUNTERPARTIES_READ):
        found = {"counterparty": stored["counterparty"], "given": stored["given"]}
    return found if visit.may(Permission.ACCOUNTS_READ) else found | {"accounts": stored["accounts"]}


def person(visit: Visit, name: str, rule: CategorizationRule | None, *, pointer: str) -> str:
    """The id of who was named; one that the rule has is known by it. Raises FieldErrors."""
    if rule and name in (str(rule.counterparty_id), str(rule.given_counterparty_id)):
        return name
    return str(counterparty_called(visit, name, pointer=pointer).id)


def percent(text: str) -> float | None:
    """Raises FieldErrors."""
    try:
        return float(text.replace(",", ".")) if text else None
    except ValueError:
        raise FieldErrors([("#/action/passThroughTaxPercent", "invalid_value", _("Must be a number."))]) from None


def values_of(rule: CategorizationRule | None) -> dict[str, Any]:
    """A rule as the form shows it; a new one is enabled."""
    empty: dict[str, Any] = {**dict.fromkeys(TYPED, ""), "accounts": [], "enabled": True}
    if rule is None:
        return empty
    texts = {
        f"{name}{part}": getattr(rule, f"{column}_{part.lower()}") or ""
        for name, column in TEXTS.items()
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
            "minAmount": plain(rule.min_amount),
            "maxAmount": plain(rule.max_amount),
            "currency": rule.currency or "",
            "counterparty": str(rule.counterparty_id or ""),  # an id is as good as a name
            "category": as_line(rule.category_id, rule.pl_type) if rule.category_id else "",
            "given": str(rule.given_counterparty_id or ""),
            "dateRule": rule.date_rule,
            "ruleStart": rule.rule_start_date.isoformat() if rule.rule_start_date else "",
            "ruleEnd": rule.rule_end_date.isoformat() if rule.rule_end_date else "",
            "tax": plain(rule.pass_through_tax_percent),
        }
    )


def plain(value: Any) -> str:
    return "" if value is None else format(value.normalize(), "f")


def like_transaction(visit: Visit, row: Transaction) -> dict[str, Any]:
    """The form filled in for what has the transaction's text, with what history would say of it."""
    values = values_of(None)
    values["name"] = (row.from_to.strip() or row.description.strip())[:200]
    values["direction"] = "in" if row.amount_value > 0 else "out"
    try:
        columns = text_condition(row)
    except NothingToLearn:
        columns = {}
    for name, column in TEXTS.items():
        values[f"{name}Operator"] = str(columns.get(f"{column}_operator", ""))
        values[f"{name}Value"] = columns.get(f"{column}_value", "")
    found: list[Proposal] = [] if row.categorized_value else proposed(visit.company, [row.id])[row.id]
    if found and found[0].likely:
        use = found[0].use
        values["category"] = as_line(use.category_id, use.pl_type)
    return values


def words_of(rule: CategorizationRule, names: Names) -> dict[str, str]:
    """What a rule asks and says, in words."""
    labels = {"from_to": _("From / to"), "description": _("Text"), "text": _("From / to or text")}
    asked = [
        _("{field} {operator} “{value}”").format(
            field=labels[name],
            operator=OPERATORS[Operator(condition["operator"])],
            value=condition["value"],
        )
        for name in labels
        if (condition := rule.condition_on(name))
    ]
    if accounts := getattr(rule, "account_ids", None):
        asked.append(_("on {accounts}").format(accounts=_(" or ").join(names.account(each) for each in accounts)))
    if rule.direction:
        asked.append({"in": _("money in"), "out": _("money out")}[rule.direction])
    if rule.min_amount is not None:
        asked.append(_("at least {amount}").format(amount=as_typed(plain(rule.min_amount))))
    if rule.max_amount is not None:
        asked.append(_("at most {amount}").format(amount=as_typed(plain(rule.max_amount))))
    if rule.currency:
        asked.append(_("in {currency}").format(currency=rule.currency))
    if rule.counterparty:
        asked.append(_("with {name}").format(name=names.counterparty(rule.counterparty)))
    return {
        "conditions": ", ".join(asked),
        "category": names.category(rule.category_id) if rule.category_id else "",
        "tax": _("{percent} % tax").format(percent=as_typed(plain(rule.pass_through_tax_percent)))
        if rule.pass_through_tax_percent
        else "",
        "reason": str(REASONS[DisabledReason(rule.disabled_reason)]) if rule.disabled_reason else "",
    }
