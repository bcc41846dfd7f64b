"""Planned transactions: what is expected, how often, and until when."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.changing import changing
from companies.models import Company, Stamp, snapshot
from ledger.calc.recognition import DateRule
from ledger.models import Account, Category, Counterparty
from planning.calc.recurrence import Rule, is_occurrence
from planning.models import IN_MONTHS, PlannedTransaction, SettledBy, Source
from planning.overriding import locked, patch_columns, store
from planning.references import Checks
from planning.settling import settlement_changed

PLAIN = (
    "name",
    "start_date",
    "external_id",
    "external_subscription_id",
    "external_invoice_id",
    "invoice_date",
    "service_start_date",
    "service_end_date",
)


def plan(*, company: Company, stamp: Stamp, source: Source, values: dict[str, Any]) -> PlannedTransaction:
    """A new planned transaction; ``values`` as its shape reads them. Raises FieldErrors, UNFIT."""
    with changing(company, stamp=stamp) as change:
        planned = PlannedTransaction(company=company, source=source)
        planned.overrides = {}
        columns, patches = checked(planned, values)
        for name, value in columns.items():
            setattr(planned, name, value)
        change.store(planned)
        store(change, planned, patches, removed=set())
        change.record(planned, "plannedTransaction.created", after=snapshot(planned))
    return planned


def change(
    *,
    company: Company,
    stamp: Stamp,
    planned_id: UUID | str,
    values: Callable[[PlannedTransaction], dict[str, Any]],
) -> PlannedTransaction:
    """Stores what differs; ``values`` reads the complete body that the stored rule becomes.

    An override that the changed rule no longer names stays, without effect. Raises Missing, Stale, FieldErrors,
    UNFIT.
    """
    with changing(company, stamp=stamp) as change:
        planned = locked(change, planned_id)
        columns, patches = checked(planned, values(planned))
        before = state(planned)
        settled = settling(planned) if columns["invoice_date"] != planned.invoice_date else None
        changed = planned.change(stamp, **columns)
        removed = set(planned.overrides) - set(patches)
        if store(change, planned, patches, removed=removed) and not changed:
            planned.touch(stamp)
        if settled is not None:
            settlement_changed(change, settled + settling(planned), redated=True)
        after = state(planned)
        if before != after:
            change.record(planned, "plannedTransaction.updated", before=before, after=after)
    return planned


def remove(*, company: Company, stamp: Stamp, planned_id: UUID | str) -> PlannedTransaction:
    """It is expected no longer; its overrides go with it. Raises Missing, Stale."""
    with changing(company, stamp=stamp) as change:
        planned = locked(change, planned_id)
        change.delete(planned, "plannedTransaction.deleted", before=state(planned))
        settlement_changed(change, settling(planned), redated=planned.invoice_date is not None)
    return planned


def settling(planned: PlannedTransaction) -> list[UUID | None]:
    """The transactions that settled its occurrences."""
    return [row.transaction_id for row in planned.overrides.values()]


def state(planned: PlannedTransaction) -> dict[str, Any]:
    """Its columns and overrides as the log keeps them."""
    overrides = {day.isoformat(): dict(row.patch()) for day, row in planned.overrides.items()}
    return {**snapshot(planned), "overrides": overrides}


# ---------------------------------------------------------------------------------------------- from body to columns


def checked(planned: PlannedTransaction, values: dict[str, Any]) -> tuple[dict[str, Any], dict[dt.date, Any]]:
    """(columns, overrides' columns by original date) of a complete body. Raises FieldErrors with every mistake."""
    checks = Checks(planned.company)
    currency = values.get("amount_currency") or default_currency(planned.company, values["account_id"])
    amount = checks.amount(values["amount_value"], currency, "#/amountValue")
    checks.refers(Account, values["account_id"], "#/accountId")
    checks.refers(Category, values.get("category_id"), "#/categoryId")
    start, end = values.get("service_start_date"), values.get("service_end_date")
    if start and end and end < start:
        checks.wrong("#/serviceEndDate", "period_not_in_order", _("Must not be before serviceStartDate."))
    settled_by = values.get("settled_by", SettledBy.TRANSACTION)
    if settled_by == SettledBy.CATEGORY and values.get("category_id") is None:
        checks.wrong("#/categoryId", "required", _("A month’s total needs a category."))
    recurrence = recurrence_columns(checks, values.get("recurrence"), values["start_date"])
    columns = {
        **{name: values.get(name) for name in PLAIN},
        "auto_settle": values.get("auto_settle", True),
        "settled_by": settled_by,
        "account_id": values["account_id"],
        "amount_currency": currency,
        "amount_value": amount,
        "pass_through_tax_amount": tax_of(checks, values.get("pass_through_tax_amount"), amount, currency),
        "category_id": values.get("category_id"),
        "counterparty_id": counterparty_of(checks, values.get("counterparty")),
        "external_data": external_data(values.get("external_data")),
        **rule_columns(values.get("using_date_rule") or {"type": DateRule.TRANSACTION_DATE}),
        **recurrence,
    }
    patches = {
        day: patch_columns(checks, patch, currency=currency, pointer=f"#/overrides/{day}")
        for day, patch in values.get("overrides", {}).items()
    }
    checks.pass_or_raise()
    refuse_new_strays(checks, planned, rule_of(columns), patches)
    return columns, patches


def default_currency(company: Company, account_id: UUID | None) -> str:
    """The account's currency, or the company's without one; an unknown account is told elsewhere."""
    if account_id is None:
        return company.base_currency
    accounts = Account.objects.of(company.id).filter(id=account_id)
    return accounts.values_list("default_currency", flat=True).first() or company.base_currency


def tax_of(checks: Checks, text: str | None, amount: Decimal, currency: str) -> Decimal | None:
    """The tax that is part of the amount: of its sign, and not above it."""
    if text is None:
        return None
    tax = checks.amount(text, currency, "#/passThroughTaxAmount")
    if abs(tax) > abs(amount) or tax * amount < 0:
        checks.wrong(
            "#/passThroughTaxAmount", "tax_exceeds_amount", _("Must have the amount's sign and not be larger than it.")
        )
    return tax


def counterparty_of(checks: Checks, given: dict[str, Any] | None) -> UUID | None:
    if given is None:
        return None
    checks.refers(Counterparty, given["id"], "#/counterparty/id")
    of_type = Counterparty.objects.of(checks.company.id).filter(id=given["id"]).values_list("type", flat=True).first()
    if of_type is not None and given.get("type") not in (None, of_type):
        checks.wrong("#/counterparty/type", "wrong_type", _("It is a {type}.").format(type=of_type))
    return given["id"]


def rule_columns(rule: dict[str, Any]) -> dict[str, Any]:
    return {
        "rule": rule["type"],
        "rule_start_date": rule.get("start_date"),
        "rule_end_date": rule.get("end_date"),
        "rule_invoice_date": rule.get("invoice_date"),
    }


def recurrence_columns(checks: Checks, given: dict[str, Any] | None, start: dt.date) -> dict[str, Any]:
    """The recurrence; none is once."""
    if given is None:
        once = {"frequency": None, "interval": 1, "last_day_of_month": False}
        return {**once, "end_date": None, "end_count": None}
    if given["last_day_of_month"] and given["frequency"] not in IN_MONTHS:
        checks.wrong(
            "#/recurrence/lastDayOfMonth",
            "last_day_needs_months",
            _("Only months and years have a last day of the month."),
        )
    end = given.get("end") or {"type": "never"}
    for name in ("date", "count"):
        if end["type"] == name and end.get(name) is None:
            needs = _("An end of type {name} needs a {name}.").format(name=name)
            checks.wrong(f"#/recurrence/end/{name}", "required", needs)
        if end["type"] != name and end.get(name) is not None:
            other = _("The end is of type {name}.").format(name=end["type"])
            checks.wrong(f"#/recurrence/end/{name}", "contradicts_end_type", other)
    if end.get("date") is not None and end["date"] < start:
        checks.wrong("#/recurrence/end/date", "end_before_start", _("The recurrence ends before it starts."))
    return {
        "frequency": given["frequency"],
        "interval": given["interval"],
        "last_day_of_month": given["last_day_of_month"],
        "end_date": end.get("date"),
        "end_count": end.get("count"),
    }


def rule_of(columns: dict[str, Any]) -> Rule:
    """The days that checked columns name."""
    return Rule(
        start=columns["start_date"],
        frequency=columns["frequency"],
        interval=columns["interval"],
        last_day_of_month=columns["last_day_of_month"],
        end_date=columns["end_date"],
        count=columns["end_count"],
    )


def refuse_new_strays(checks: Checks, planned: PlannedTransaction, rule: Rule, patches: dict[dt.date, Any]) -> None:
    """Overrides of days that do not occur are refused, but for those that are sent back as they are stored; of these
    one that is settled keeps the rule from leaving its day."""
    for day, patch in patches.items():
        if is_occurrence(rule, day):
            continue
        stored = planned.overrides.get(day)
        kept = stored is not None and stored.patch() == patch
        if kept and "transaction_id" in patch and is_occurrence(planned.recurrence_rule(), day):
            told = _("It is settled, and the changed rule does not name this day. Unsettle it first.")
            checks.wrong(f"#/overrides/{day}", "occurrence_settled", told)
        elif not kept:
            told = _("The planned transaction does not occur on it.")
            checks.wrong(f"#/overrides/{day}", "not_an_occurrence", told)
    checks.pass_or_raise()


def external_data(given: dict[str, Any] | None) -> dict[str, Any] | None:
    """As it is stored: days as text."""
    if given is None:
        return None
    return {name: value.isoformat() if isinstance(value, dt.date) else value for name, value in given.items()}
