"""The accounts of the demo company, in groups, with their initial balances."""

from datetime import timedelta

from demo.books import DemoBooks
from demo.story import Story, read_rows
from ledger.accounts.actions import account_groups, accounts, initial_balances
from ledger.models import AccountGroup

TEXT_FIELDS = ("type", "name", "account_number", "default_currency", "transit_currency")


def create_demo_accounts(*, books: DemoBooks, story: Story) -> None:
    """Create the accounts; initial balances are on the day before the story's first."""
    groups: dict[str, AccountGroup] = {}
    for order, row in enumerate(read_rows("accounts")):
        name = row["group"]
        if name not in groups:
            values = {"name": name, "order": len(groups)}
            groups[name] = account_groups.create_account_group(**books.scope, values=values)
        texts = {field: row[field] or None for field in TEXT_FIELDS}
        values = {**texts, "account_group_id": groups[name].id, "order": order}
        account = books.accounts[row["key"]] = accounts.create_account(**books.scope, values=values)
        if opening := story.opening[row["key"]]:
            day = story.first - timedelta(days=1)
            initial_balances.set_initial_balance(**books.scope, account_id=account.id, day=day, amount=f"{opening:.2f}")


def archive_former_account(*, books: DemoBooks) -> None:
    """Archive the account that the company stopped using."""
    account_id = books.accounts["former"].id
    accounts.update_account(**books.scope, account_id=account_id, values={"archived": True}, action="account.archived")
