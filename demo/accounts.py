"""The accounts of the demo company, in groups, with their initial balances."""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal

from companies.models import AuditContext, Company
from demo.scenario.scenario import ACCOUNT_CURRENCIES
from ledger.accounts.actions import account_groups, accounts, initial_balances
from ledger.models import Account

ACCOUNT_GROUPS = ("Operating", "Reserves", "Liabilities", "In transit")
DEMO_ACCOUNTS = {  # key -> type, name, number, group
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


def create_demo_accounts(
    *, company: Company, context: AuditContext, opening: Mapping[str, Decimal], first: date
) -> dict[str, Account]:
    """Create the accounts and return them by key; initial balances are on the day before `first`."""
    groups = {
        name: account_groups.create_account_group(
            company=company, context=context, values={"name": name, "order": order}
        )
        for order, name in enumerate(ACCOUNT_GROUPS)
    }
    accounts_by_key = {}
    for order, (key, (kind, name, number, group)) in enumerate(DEMO_ACCOUNTS.items()):
        values = {
            "type": kind,
            "name": name,
            "account_number": number,
            "default_currency": ACCOUNT_CURRENCIES[key],
            "account_group_id": groups[group].id,
            "order": order,
            "transit_currency": ACCOUNT_CURRENCIES[key] if kind == "transit" else None,
        }
        accounts_by_key[key] = accounts.create_account(company=company, context=context, values=values)
        if key in opening:
            initial_balances.set_initial_balance(
                company=company,
                context=context,
                account_id=accounts_by_key[key].id,
                day=first - timedelta(days=1),
                amount=str(opening[key]),
            )
    return accounts_by_key


def archive_former_account(*, accounts_by_key: Mapping[str, Account], context: AuditContext) -> None:
    """Archive the account that the company stopped using."""
    former = accounts_by_key["former"]
    accounts.update_account(
        company=former.company,
        context=context,
        account_id=former.id,
        values={"archived": True},
        action="account.archived",
    )
