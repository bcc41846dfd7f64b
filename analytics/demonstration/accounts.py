"""The accounts of the demonstration company, in groups, with what lay on them at the start."""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal

from analytics.demonstration.story.plot import CURRENCIES
from companies.models import Company, Stamp
from ledger.accounts import opening as accounts
from ledger.models import Account

GROUPS = ("Operating", "Reserves", "Liabilities", "In transit")
ACCOUNTS = {  # key -> type, name, number, group
    "main": ("bank", "Northbank current account", "DE02 1001 0010 0006 8201 01", "Operating"),
    "dollars": ("bank", "Northbank US dollar account", "DE75 1001 0010 0006 8201 02", "Operating"),
    "pounds": ("bank", "Thames Bank pound account", "GB33 BUKB 2020 1555 5555 55", "Operating"),
    "till": ("cash", "Petty cash", None, "Operating"),
    "savings": ("bank", "Northbank reserve", "DE48 1001 0010 0006 8201 03", "Reserves"),
    "card": ("creditCard", "Company card", "•••• 4417", "Liabilities"),
    "loan": ("loan", "Northbank growth loan", "DE21 1001 0010 0006 8201 04", "Liabilities"),
    "provider": ("transit", "Cardpath balance", None, "In transit"),
    "former": ("bank", "Former house bank", "DE21 5001 0517 0009 1234 56", "Operating"),
}


def opened(*, company: Company, stamp: Stamp, opening: Mapping[str, Decimal], first: date) -> dict[str, Account]:
    """The accounts by their keys; their initial balances are of the day before the story."""
    groups = {
        name: accounts.add_group(company=company, stamp=stamp, values={"name": name, "order": order})
        for order, name in enumerate(GROUPS)
    }
    found = {}
    for order, (key, (kind, name, number, group)) in enumerate(ACCOUNTS.items()):
        values = {
            "type": kind,
            "name": name,
            "account_number": number,
            "default_currency": CURRENCIES[key],
            "account_group_id": groups[group].id,
            "order": order,
            "transit_currency": CURRENCIES[key] if kind == "transit" else None,
        }
        found[key] = accounts.open_account(company=company, stamp=stamp, values=values)
        if key in opening:
            accounts.set_initial_balance(
                company=company,
                stamp=stamp,
                account_id=found[key].id,
                day=first - timedelta(days=1),
                amount=str(opening[key]),
            )
    return found


def archive_former(*, opened: Mapping[str, Account], stamp: Stamp) -> None:
    """The account that was given up early on."""
    former = opened["former"]
    accounts.change_account(
        company=former.company,
        stamp=stamp,
        account_id=former.id,
        values={"archived": True},
        action="account.archived",
    )
