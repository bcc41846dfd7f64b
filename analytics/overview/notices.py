"""What a report says first where a figure of it is not all there is, and the way to mend that."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.overview.amounts import compact, rounded
from analytics.overview.facts import Facts
from analytics.queries.balance_forecast import AccountForecast
from analytics.queries.open_transactions import OpenTransactions
from companies.locales import current
from companies.models import Company
from companies.pages.amounts import money, number
from ledger.calc.fx import MissingRate
from ledger.models import Account


@dataclass(frozen=True, slots=True)
class Notice:
    """What is missing, what that means, and where it can be mended; no address for those who may not."""

    label: str
    text: str
    address: str = ""


def open_notice(company: Company, found: OpenTransactions, *, first: date, last: date, lists: bool) -> list[Notice]:
    """Transactions of some days that are in no line of the profit and loss. ``lists`` says whether the viewer may see
    them."""
    if not found.count:
        return []
    days = {"open": "true", "pending": "false", "startDate": first.isoformat(), "endDate": last.isoformat()}
    address = f"{reverse('transactions', args=[company.id])}?{urlencode(days)}" if lists else ""
    text = _("not in revenue and expenses yet: {inflow} in and {outflow} out.")
    if not found.outflow:
        text = _("not in revenue and expenses yet: {inflow} in.")
    elif not found.inflow:
        text = _("not in revenue and expenses yet: {outflow} out.")
    inflow, outflow = (compact(amount, company.base_currency) for amount in (found.inflow, found.outflow))
    text = text.format(inflow=inflow, outflow=outflow)
    if found.partly:
        split = ngettext(
            "{count} is split in part: its rest counts here, the whole amount in the list.",
            "{count} are split in part: their rest counts here, the whole amount in the list.",
            found.partly,
        )
        text += f" {split.format(count=number(found.partly))}"
    label = ngettext("{count} open transaction", "{count} open transactions", found.count)
    return [Notice(label.format(count=number(found.count)), text, address)]


def overdue_notice(facts: Facts, *, plans: bool) -> list[Notice]:
    """Planned payments whose day has passed. ``plans`` says whether the viewer may see them."""
    count, value = facts.overdue
    if not count:
        return []
    worth = compact(value, facts.currency, plus=True)
    label = ngettext("{count} overdue payment", "{count} overdue payments", count)
    text = _("{amount} together: expected tomorrow until somebody settles, moves or skips them.")
    return [
        Notice(
            label=label.format(count=number(count)),
            text=text.format(amount=worth),
            address=reverse("planned", args=[facts.company.id]) if plans else "",
        )
    ]


def overdraft_notices(
    company: Company, accounts: Iterable[Account], forecasts: Sequence[AccountForecast], *, opens: bool
) -> list[Notice]:
    """Accounts that are expected to go below zero while others are not; where all do, the cash itself says it.

    `opens` says whether the viewer may go to the accounts' pages.
    """
    names = {account.id: account.name for account in accounts}
    short = [(each, each.below_zero, each.lowest) for each in forecasts if each.below_zero and each.lowest]
    if len(short) == len(forecasts):
        return []
    label, text = (
        _("{account} goes below zero"),
        _("from {first} on: lowest {amount} on {day}. Move money to it, or change what is planned."),
    )
    day_of = current().day_of
    return [
        Notice(
            label=label.format(account=names[each.account_id]),
            text=text.format(first=day_of(first), amount=rounded(value, each.currency), day=day_of(day)),
            address=reverse("account", args=[company.id, each.account_id]) if opens else "",
        )
        for each, first, (day, value) in short
    ]


def mismatch_notices(company: Company, accounts: Iterable[Account], *, opens: bool) -> list[Notice]:
    """Accounts whose balance is not what their bank last told. ``opens`` says whether the viewer may go there."""
    return [
        Notice(
            label=_("{account} does not agree with its bank").format(account=account.name),
            text=mismatch_text(account, account.bank_connection),
            address=f"{reverse('account', args=[company.id, account.id])}#reconciliation" if opens else "",
        )
        for account in accounts
        if account.bank_connection and account.bank_connection.get("balanceMismatchSince")
    ]


def mismatch_text(account: Account, connection: dict[str, object]) -> str:
    """What the bank says and what the ledger does, as far as it was told."""
    reported, calculated = (
        connection.get(name) for name in ("balanceMismatchReportedBalances", "balanceMismatchCalculatedBalance")
    )
    since = current().day_of(datetime.fromisoformat(str(connection["balanceMismatchSince"])))
    if not isinstance(reported, list) or not reported or calculated is None:
        return _("since {day}: what is on it may be incomplete.").format(day=since)
    theirs, ours = (money(Decimal(str(value)), account.default_currency) for value in (reported[0], calculated))
    text = _("since {day}: the bank says {theirs}, the transactions come to {ours}.")
    return text.format(day=since, theirs=theirs, ours=ours)


def rate_notice(company: Company, missing: MissingRate, *, lists: bool) -> Notice:
    """A currency that nothing can be converted from."""
    address = f"{reverse('transactions', args=[company.id])}?currency={missing.currency}" if lists else ""
    text = _("so nothing is added up. Whoever runs the service loads rates with update_rates.")
    return Notice(_("No exchange rate for {currency}").format(currency=missing.currency), text, address)
