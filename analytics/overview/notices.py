"""What a report says first where a figure of it is not all there is, and the way to mend that."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from django.urls import reverse
from django.utils.http import urlencode

from analytics.open_transactions import OpenTransactions
from analytics.overview.amounts import compact
from analytics.overview.facts import Facts
from companies.locales import current
from companies.models import Company
from companies.pages.amounts import counted, money, number
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
    sides = ((found.inflow, "in"), (found.outflow, "out"))
    sums = [f"{compact(amount, company.base_currency)} {way}" for amount, way in sides if amount]
    text = f"not in revenue and expenses yet: {' and '.join(sums)}."
    if found.partly:
        split = "1 is split in part: its" if found.partly == 1 else f"{number(found.partly)} are split in part: their"
        text += f" {split} rest counts here, the whole amount in the list."
    return [Notice(counted(found.count, "open transaction"), text, address)]


def overdue_notice(facts: Facts, *, plans: bool) -> list[Notice]:
    """Planned payments whose day has passed. ``plans`` says whether the viewer may see them."""
    found = facts.ahead
    if not found.overdue_count:
        return []
    worth = compact(found.overdue_value, facts.currency, plus=True)
    return [
        Notice(
            label=counted(found.overdue_count, "overdue payment"),
            text=f"{worth} together: expected tomorrow until somebody settles, moves or skips them.",
            address=reverse("planned", args=[facts.company.id]) if plans else "",
        )
    ]


def mismatch_notices(company: Company, accounts: Iterable[Account], *, opens: bool) -> list[Notice]:
    """Accounts whose balance is not what their bank last told. ``opens`` says whether the viewer may go there."""
    return [
        Notice(
            label=f"{account.name} does not agree with its bank",
            text=mismatch_text(account, account.bank_connection),
            address=reverse("account", args=[company.id, account.id]) if opens else "",
        )
        for account in accounts
        if account.bank_connection and account.bank_connection.get("balanceMismatchSince")
    ]


def mismatch_text(account: Account, connection: dict[str, object]) -> str:
    """What the bank says and what the ledger does, as far as it was told."""
    reported, calculated = (
        connection.get(name) for name in ("balanceMismatchReportedBalances", "balanceMismatchCalculatedBalance")
    )
    since = f"since {current().day_of(datetime.fromisoformat(str(connection['balanceMismatchSince'])))}"
    if not isinstance(reported, list) or not reported or calculated is None:
        return f"{since}: what is on it may be incomplete."
    theirs, ours = (money(Decimal(str(value)), account.default_currency) for value in (reported[0], calculated))
    return f"{since}: the bank says {theirs}, the transactions come to {ours}."


def rate_notice(company: Company, missing: MissingRate, *, lists: bool) -> Notice:
    """A currency that nothing can be converted from."""
    address = f"{reverse('transactions', args=[company.id])}?currency={missing.currency}" if lists else ""
    text = "so nothing is added up. Whoever runs the service loads rates with update_rates."
    return Notice(f"No exchange rate for {missing.currency}", text, address)
