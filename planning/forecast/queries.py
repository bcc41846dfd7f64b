"""Planned flows of a company's occurrences, and planned results of its financial plan."""

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from companies.models import Company
from ledger.accounts.queries import sum_account_balances
from ledger.calc.months import count_months_between, get_first_day_of_month, get_last_day_of_month
from ledger.models import Account, AccountType
from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from planning.calc.plan_postings import compute_plan_postings
from planning.calc.planned_totals import (
    BookedAmount,
    OccurrenceKey,
    PlannedTotal,
    compute_amounts_by_account,
    compute_settled_amounts,
)
from planning.calc.recurrence import expand_occurrences, list_expected_days
from planning.calc.scenario_plan import PlanItemState
from planning.models import PlanItem, SettledBy
from planning.plan.item_states import build_plan_amount
from planning.planned_transactions.queries.open_invoices import OpenInvoice, list_open_invoices
from planning.planned_transactions.queries.planned_rules import PlannedRule, RuleWithOverrides, read_planned_rules
from planning.planned_transactions.queries.settled_totals import load_totals_with_bookings
from planning.scenarios.queries import LoadedScenario, list_invoices_of_scenario, list_rules_of_scenario

ZERO = Decimal(0)
NOTHING_BOOKED: Mapping[OccurrenceKey, Decimal] = {}
ResultKey = tuple[dt.date, str, UUID]  # first day of month, P&L line, category


class PlannedFlow(NamedTuple):
    """An expected payment: negative is money out; `account_id` is None without an account.

    A transfer is one leg of an expected transfer between the company's accounts, which is no cash flow.
    """

    date: dt.date
    amount: Decimal
    currency: str
    account_id: UUID | None
    planned_id: UUID
    original_date: dt.date
    is_transfer: bool = False
    is_invoice: bool = False  # which is expected until it is paid
    is_planned_transfer: bool = False  # a transfer that was planned as one

    def split_into_legs(self, other_account_id: UUID | None) -> "tuple[PlannedFlow, PlannedFlow]":
        """Return it as a transfer: the leg on its account and the one on the other account, in one currency."""
        return (
            self._replace(is_transfer=True, is_planned_transfer=True),
            self._replace(is_transfer=True, is_planned_transfer=True, amount=-self.amount, account_id=other_account_id),
        )


Expectations = tuple[list[PlannedRule], list[PlannedFlow]]
"""Rules that nothing overrides, and the flows of the others."""


def iter_planned_flows(
    company: Company, window_start: dt.date, window_end: dt.date, *, rules: Collection[UUID] | None = None
) -> Iterator[PlannedFlow]:
    """Yield the open occurrences in [window_start, window_end] that a single transaction settles.

    Overrides of day, amount and account are applied. Planned totals are left out. In no order; one statement.

    Args:
        rules: ids of the planned transactions; None: all.
    """
    for rule in read_planned_rules(company.id, window_start, window_end, rules=rules, settled_by=SettledBy.TRANSACTION):
        yield from iter_flows_of_rule(rule, start=window_start, end=window_end)
    invoices = list_open_invoices(company.id, end=window_end, planned_ids=rules)
    yield from (build_invoice_flow(each) for each in invoices if each.expected.date >= window_start)


def iter_open_flows(
    company: Company, window_start: dt.date, window_end: dt.date, *, today: dt.date, rates: RateTable
) -> Iterator[PlannedFlow]:
    """Yield the open occurrences in [window_start, window_end]; planned totals with their open amount.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    unchanged_rules, flows = find_expectations_in_window(company, window_start, window_end, today=today, rates=rates)
    for planned in unchanged_rules:
        rule = planned.recurrence_rule()
        for day, original_date in list_expected_days(rule, window_start=window_start, window_end=window_end):
            yield PlannedFlow(day, planned.amount, planned.currency, planned.account_id, planned.id, original_date)
    yield from flows


def find_transit_account_ids(company: Company) -> set[UUID]:
    """Return the ids of transit accounts; occurrences on them are no flows."""
    return set(Account.objects.for_company(company.id).filter(type=AccountType.TRANSIT).values_list("id", flat=True))


def find_expectations_in_window(
    company: Company,
    window_start: dt.date,
    window_end: dt.date,
    *,
    today: dt.date,
    rates: RateTable,
    excluded_account_ids: Collection[UUID] = frozenset(),
    scenario: LoadedScenario | None = None,
) -> Expectations:
    """Return what can reach [window_start, window_end]: rules without overrides, and flows of all others.

    Planned totals are flows with their open amount, until their month ends, and transfers of what cards owe of
    them. One statement, a second one where there are planned totals, and two more where cards have
    bookings of those.

    Args:
        excluded_account_ids: accounts whose occurrences are left out.
        scenario: its changes apply.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    # Planned totals share a month's bookings and invoices, so all of the months are read.
    last_day = get_last_day_of_month(window_end)
    rules = list_rules_of_scenario(company.id, get_first_day_of_month(window_start), last_day, scenario=scenario)
    invoices = list_invoices_of_scenario(company.id, end=last_day, scenario=scenario)
    return build_expectations(
        rules,
        invoices,
        company,
        window_start,
        window_end,
        today=today,
        rates=rates,
        excluded_account_ids=excluded_account_ids,
    )


def build_expectations(
    rules: Iterable[RuleWithOverrides],
    invoices: Sequence[OpenInvoice],
    company: Company,
    window_start: dt.date,
    window_end: dt.date,
    *,
    today: dt.date,
    rates: RateTable,
    excluded_account_ids: Collection[UUID] = frozenset(),
) -> Expectations:
    """Return what known rules and open invoices expect in [window_start, window_end].

    All planned totals of its months are among the rules, and all open invoices of its months among the invoices.
    """
    unchanged_rules: list[PlannedRule] = []
    flows: list[PlannedFlow] = []
    totals: list[RuleWithOverrides] = []
    for rule in rules:
        if rule.planned.is_total:
            totals.append(rule)
        elif rule.overrides or rule.settled_amounts or rule.planned.transfer_account_id:
            flows += iter_flows_and_legs(rule, start=window_start, end=window_end)
        else:
            unchanged_rules.append(rule.planned)
    first_day = window_start if window_start > today else dt.date.min
    flows += [build_invoice_flow(each) for each in invoices if first_day <= each.expected.date <= window_end]
    start = max(window_start, get_first_day_of_month(today))
    if start <= window_end:
        totals_with_bookings = load_totals_with_bookings(
            company.id, totals, invoices, start=start, end=window_end, today=today
        )
        booked_amounts: dict[OccurrenceKey, Decimal] = {}
        for planned_totals, booked in totals_with_bookings:
            booked_amounts |= compute_settled_amounts(planned_totals, booked, rates=rates)
        for planned_total in totals:
            flows += iter_flows_of_rule(planned_total, start=start, end=window_end, booked=booked_amounts)
        transfers = list_expected_transfers(company, totals_with_bookings, today=today, rates=rates)
        flows += [flow for flow in transfers if window_start <= flow.date <= window_end]
    return (
        [planned for planned in unchanged_rules if planned.account_id not in excluded_account_ids],
        [flow for flow in flows if flow.account_id not in excluded_account_ids or flow.is_transfer],
    )


def build_invoice_flow(invoice: OpenInvoice) -> PlannedFlow:
    """Return what is open of an invoice as a flow on its expected day."""
    return PlannedFlow(
        invoice.expected.date,
        invoice.amount,
        invoice.currency,
        invoice.account_id,
        invoice.planned_id,
        invoice.original_date,
        is_invoice=True,
    )


def iter_flows_of_rule(
    rule: RuleWithOverrides, *, start: dt.date, end: dt.date, booked: Mapping[OccurrenceKey, Decimal] = NOTHING_BOOKED
) -> Iterator[PlannedFlow]:
    """Yield the open amounts of the occurrences in [start, end] as flows; skipped and settled ones are left out.

    Args:
        booked: what is booked of planned totals.
    """
    planned = rule.planned
    for occurrence in expand_occurrences(planned.recurrence_rule(), rule.overrides, window_start=start, window_end=end):
        patch: Any = occurrence.patch
        original_date = occurrence.original_date
        amount = patch.get("amount_value", planned.amount)
        settled_amount = rule.settled_amounts.get(original_date, ZERO) + booked.get((planned.id, original_date), ZERO)
        if occurrence.skipped or ((settled_amount or planned.is_total) and settled_amount == amount):
            continue
        account_id = patch.get("account_id", planned.account_id)
        yield PlannedFlow(
            occurrence.date, amount - settled_amount, planned.currency, account_id, planned.id, original_date
        )


def iter_flows_and_legs(rule: RuleWithOverrides, *, start: dt.date, end: dt.date) -> Iterator[PlannedFlow]:
    """Yield the open occurrences in [start, end] as flows, those of a transfer as its two legs."""
    other_account_id = rule.planned.transfer_account_id
    for flow in iter_flows_of_rule(rule, start=start, end=end):
        yield from (flow,) if other_account_id is None else flow.split_into_legs(other_account_id)


def list_expected_transfers(
    company: Company,
    totals_with_bookings: Sequence[tuple[Sequence[PlannedTotal], Sequence[BookedAmount]]],
    *,
    today: dt.date,
    rates: RateTable,
) -> list[PlannedFlow]:
    """Return the transfers by which cards and transit accounts settle with cash what they booked of planned totals.

    Of what such an account booked of a total that is planned as cash, the part is expected that the account
    still owes, or holds of money in. It is expected on the day of the total, today at the earliest. Two flows
    each, one on either account.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    settling_ids = {
        row.account_id
        for _, booked in totals_with_bookings
        for row in booked
        if row.is_settled_by_transfer and row.account_id is not None
    }
    if not settling_ids:
        return []
    other_accounts = Account.objects.for_company(company.id).filter(include_in_cash_balance=False)
    other_ids = set(other_accounts.values_list("id", flat=True))
    balances = sum_account_balances(company_id=company.id, day=dt.date.max)  # with everything booked
    flows: list[PlannedFlow] = []
    for totals, booked in totals_with_bookings:
        totals_by_key = {total.key: total for total in totals if total.account_id not in other_ids}
        amounts = compute_amounts_by_account(totals, booked, settling_ids, rates=rates)
        for (key, account_id), amount in amounts.items():
            if (total := totals_by_key.get(key)) is None:
                continue
            currency = total.currency
            converted_balances = [
                convert_currency(value, source=source, target=currency, day=today, rates=rates)
                for source, value in balances.get(account_id, {}).items()
            ]
            unsettled = round_half_up(sum(converted_balances, start=ZERO), currency)
            expected = max(min(amount, unsettled), ZERO) if amount > 0 else min(max(amount, unsettled), ZERO)
            if expected:
                of_account = balances[account_id]
                of_account[currency] = of_account.get(currency, ZERO) - expected
                day, to_account = max(total.date, today), total.account_id
                planned_id, original_date = key
                flows += [
                    PlannedFlow(day, expected, currency, to_account, planned_id, original_date, is_transfer=True),
                    PlannedFlow(day, -expected, currency, account_id, planned_id, original_date, is_transfer=True),
                ]
    return flows


def sum_planned_results(
    company: Company, months: list[dt.date], *, scenario: LoadedScenario | None = None
) -> dict[ResultKey, list[tuple[Decimal, str]]]:
    """Sum the financial plan: (month, P&L line, category) → sums by currency, not rounded. One statement.

    Args:
        months: first days of consecutive months, in order.
        scenario: its changes apply.
    """
    if not months:
        return {}
    sums: dict[ResultKey, dict[str, Decimal]] = {}
    items = list_plan_items(company, last=months[-1])
    if scenario is not None:
        items = scenario.apply_changes_to_items(items, through=months[-1])
    for item in items:
        if item.duration is not None and count_months_between(item.month, months[0]) >= item.duration:
            continue
        postings = compute_plan_postings(item.schedule, window_start=months[0], window_end=months[-1])
        for posting_month, value in postings.items():
            amounts_by_currency = sums.setdefault((posting_month, item.pl_type, item.category_id), {})
            amounts_by_currency[item.currency] = amounts_by_currency.get(item.currency, Decimal(0)) + value
    return {key: [(value, currency) for currency, value in each.items()] for key, each in sums.items()}


def list_plan_items(company: Company, *, last: dt.date) -> list[PlanItemState]:
    """Return the plan items that begin up to a month. One statement."""
    items = PlanItem.objects.for_company(company.id).filter(month__lte=last).order_by()
    identity = ("id", "pl_type", "category_id", "amount_currency", "month", "frequency", "duration")
    rows = items.values_list(*identity, "amount_type", "amount_value", "relative_change")
    return [
        PlanItemState(item_id, pl_type, category_id, currency, month, frequency, duration, build_plan_amount(*amount))
        for item_id, pl_type, category_id, currency, month, frequency, duration, *amount in rows
    ]


def sum_planned_results_in_base(
    company: Company, months: Sequence[dt.date], rates: RateTable, *, scenario: LoadedScenario | None = None
) -> dict[ResultKey, Decimal]:
    """Sum the financial plan in the base currency, at each month's latest rate; not rounded.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    amounts: dict[ResultKey, Decimal] = {}
    for key, sums in sum_planned_results(company, list(months), scenario=scenario).items():
        for amount, currency in sums:
            day = get_last_day_of_month(key[0])
            converted_amount = convert_currency(
                amount, source=currency, target=company.base_currency, day=day, rates=rates
            )
            amounts[key] = MONEY_CONTEXT.add(amounts.get(key, Decimal(0)), converted_amount)
    return amounts
