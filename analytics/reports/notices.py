"""Notices above a report where a figure is incomplete, with the link that fixes it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Literal

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.charts.amount_format import format_compact_amount, format_rounded_amount
from analytics.charts.chart_data import ChartData
from analytics.queries.balance_forecast import AccountForecast
from analytics.queries.balances import find_overdraft_starts
from analytics.queries.open_transactions import OpenTransactions
from companies.closed_periods import is_day_closed
from companies.locales import get_current_locale
from companies.models import Company
from companies.pages.amount_formats import format_count, format_money
from ledger.calc.months import add_months, format_month, get_first_day_of_month
from ledger.closings.queries.closings import find_first_booked_month
from ledger.models import Account
from ledger.money.calc.fx import RateLookupError
from ledger.money.current_rates import CurrentRate

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""The worst first: figures are missing or money is; something needs a decision; figures are incomplete for now."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What is missing and what follows; `address` is empty without the permission to fix it."""

    label: str
    text: str
    address: str = ""
    severity: Severity = "warning"


def sort_notices(notices: Iterable[Notice]) -> list[Notice]:
    """Return the notices with the most severe first, otherwise in their order."""
    return sorted(notices, key=lambda notice: SEVERITIES.index(notice.severity))


def build_old_rates_notices(company: Company, rates: Sequence[CurrentRate], *, can_open: bool) -> list[Notice]:
    """Build the notice of exchange rates that are old.

    Args:
        rates: the old ones.
        can_open: whether the user may open the exchange rates.
    """
    days = [rate.day for rate in rates if rate.day]
    if not days:
        return []
    label = ngettext(
        "The exchange rate of {currencies} is from {day}",
        "Exchange rates of {currencies} are old, the oldest from {day}",
        len(rates),
    )
    return [
        Notice(
            label=label.format(
                currencies=", ".join(rate.currency for rate in rates), day=get_current_locale().format_day(min(days))
            ),
            text=_("figures in other currencies use it."),
            address=reverse("exchange-rates", args=[company.id]) if can_open else "",
        )
    ]


def build_open_notices(
    company: Company, open_transactions: OpenTransactions, *, first: date, last: date, can_list: bool
) -> list[Notice]:
    """Build the notice of transactions that are in no line of the profit and loss.

    Args:
        can_list: whether the user may see transactions.
    """
    if not open_transactions.count:
        return []
    days = {"open": "true", "pending": "false", "startDate": first.isoformat(), "endDate": last.isoformat()}
    address = f"{reverse('transactions', args=[company.id])}?{urlencode(days)}" if can_list else ""
    text = _("inflow of {inflow} and outflow of {outflow} are not yet in revenue and expenses.")
    if not open_transactions.outflow:
        text = _("inflow of {inflow} is not yet in revenue and expenses.")
    elif not open_transactions.inflow:
        text = _("outflow of {outflow} is not yet in revenue and expenses.")
    inflow, outflow = (
        format_compact_amount(amount, company.base_currency)
        for amount in (open_transactions.inflow, open_transactions.outflow)
    )
    text = text.format(inflow=inflow, outflow=outflow)
    if open_transactions.partly:
        split = ngettext(
            "{count} is partly categorized: only its remainder counts here.",
            "{count} are partly categorized: only their remainder counts here.",
            open_transactions.partly,
        )
        text += f" {split.format(count=format_count(open_transactions.partly))}"
    label = ngettext("{count} uncategorized transaction", "{count} uncategorized transactions", open_transactions.count)
    return [Notice(label.format(count=format_count(open_transactions.count)), text, address, "info")]


def build_closing_notices(company: Company, *, today: date) -> list[Notice]:
    """Build the notice that the last whole month is not closed yet, for members who may close it."""
    month = add_months(get_first_day_of_month(today), -1)
    if is_day_closed(company, month):
        return []
    first_month = find_first_booked_month(company)
    if first_month is None or month < first_month:
        return []
    name = get_current_locale().format_month(month, full=True)
    return [
        Notice(
            label=_("{month} is not closed").format(month=name),
            text=_("review its checks and close it."),
            address=f"{reverse('closings', args=[company.id])}?month={format_month(month)}",
            severity="info",
        )
    ]


def build_overdue_notices(data: ChartData, *, can_read_plans: bool) -> list[Notice]:
    """Build the notice of overdue payments.

    Args:
        can_read_plans: whether the user may see them.
    """
    count, value = data.overdue_payments
    if not count:
        return []
    amount = format_compact_amount(value, data.currency, plus=True)
    label = ngettext("{count} overdue planned transaction", "{count} overdue planned transactions", count)
    text = _("{amount} in total, forecast for tomorrow. Settle, move or skip them.")
    return [
        Notice(
            label=label.format(count=format_count(count)),
            text=text.format(amount=amount),
            address=reverse("planned", args=[data.company.id]) if can_read_plans else "",
        )
    ]


def build_overdraft_notices(
    company: Company,
    accounts: Iterable[Account],
    forecasts: Sequence[AccountForecast],
    *,
    today: date,
    end: date,
    can_open: bool,
) -> list[Notice]:
    """Build notices of accounts that are below zero, or expected to go there, while others are not.

    Args:
        end: the last day of the forecasts.
        can_open: whether the user may open account pages.
    """
    names = {account.id: account.name for account in accounts}
    overdrawn = [(each, each.below_zero, each.lowest) for each in forecasts if each.below_zero and each.lowest]
    if len(overdrawn) == len(forecasts):
        return []
    tomorrow = today + timedelta(days=1)
    soon = {each.account_id: each.currency for each, first, _lowest in overdrawn if first <= tomorrow}
    since = find_overdraft_starts(company=company, currencies=soon, day=today)
    future = (
        _("{account} goes below zero"),
        _("from {first}: lowest {amount} on {day} in the forecast to {last}. Transfer money to it or change the plan."),
    )
    present = (
        _("{account} is below zero"),
        _(
            "since {first}: lowest {amount} on {day} in the forecast to {last}. "
            "Transfer money to it or change the plan."
        ),
    )
    format_day = get_current_locale().format_day
    notices = []
    for account_forecast, first, (day, value) in overdrawn:
        label, text = present if account_forecast.account_id in since else future
        parameters = {
            "amount": format_rounded_amount(value, account_forecast.currency),
            "day": format_day(day),
            "last": format_day(end),
        }
        notices.append(
            Notice(
                label=label.format(account=names[account_forecast.account_id]),
                text=text.format(first=format_day(since.get(account_forecast.account_id, first)), **parameters),
                address=reverse("account", args=[company.id, account_forecast.account_id]) if can_open else "",
                severity="error" if account_forecast.account_id in since else "warning",
            )
        )
    return notices


def build_mismatch_notices(company: Company, accounts: Iterable[Account], *, can_open: bool) -> list[Notice]:
    """Build notices of accounts whose balance differs from their bank's.

    Args:
        can_open: whether the user may open account pages.
    """
    return [
        Notice(
            label=_("{account} is out of balance").format(account=account.name),
            text=describe_mismatch(account, account.bank_connection),
            address=f"{reverse('account', args=[company.id, account.id])}#reconciliation" if can_open else "",
        )
        for account in accounts
        if account.bank_connection and account.bank_connection.get("balanceMismatchSince")
    ]


def describe_mismatch(account: Account, connection: dict[str, object]) -> str:
    """Describe both balances, as far as they are known."""
    reported, calculated = (
        connection.get(name) for name in ("balanceMismatchReportedBalances", "balanceMismatchCalculatedBalance")
    )
    since = get_current_locale().format_day(datetime.fromisoformat(str(connection["balanceMismatchSince"])))
    if not isinstance(reported, list) or not reported or calculated is None:
        return _("since {day}: transactions may be missing.").format(day=since)
    bank_balance, ledger_balance = (
        format_money(Decimal(str(value)), account.default_currency) for value in (reported[0], calculated)
    )
    text = _("since {day}: statement {theirs}, ledger {ours}.")
    return text.format(day=since, theirs=bank_balance, ours=ledger_balance)


def build_rate_notice(company: Company, error: RateLookupError, *, can_list: bool) -> Notice:
    """Build the notice of a currency without exchange rates."""
    address = f"{reverse('transactions', args=[company.id])}?currency={error.currency}" if can_list else ""
    text = _("totals are not shown. Ask the operator to load exchange rates (update_rates).")
    return Notice(_("No exchange rate for {currency}").format(currency=error.currency), text, address, "error")
