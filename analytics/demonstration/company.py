"""Founds the demonstration company and fills it."""

import random
import secrets
from dataclasses import dataclass
from datetime import datetime

from analytics.demonstration import movements
from companies import api_keys
from companies.founding import found_company
from companies.models import Company, Stamp, User
from companies.permissions import ALL
from ledger import accounts
from ledger.import_body import MOST_ITEMS, Request
from ledger.importing import import_transactions
from ledger.models import Account

PEOPLE = "demo@example.com"


@dataclass(frozen=True, slots=True)
class Demonstration:
    """How to get into the company that was made."""

    company_id: str
    email: str
    password: str
    api_key: str

    def as_json(self) -> dict[str, str]:
        return {
            "companyId": self.company_id,
            "email": self.email,
            "password": self.password,
            "apiKey": self.api_key,
        }


def furnish(*, name: str, months: int, transactions: int, seed: int, now: datetime) -> Demonstration:
    """A company with an owner, an owner-level key, accounts in groups, and movements over the months up to now.

    The same seed and day make the same figures; only secrets differ.
    """
    stamp = Stamp(time=now)
    password = secrets.token_urlsafe(12)
    owner = owner_with(password)
    company, _ = found_company(name=name, base_currency="EUR", owner=owner, stamp=stamp, domain=None)
    minted = api_keys.mint(company=company, stamp=stamp, name="Demo", permissions=ALL, creator=None)
    opened = open_accounts(company=company, stamp=stamp)
    chance = random.Random(seed)  # noqa: S311 - figures to look at, not secrets
    items = movements.story(opened, months=months, count=transactions, today=stamp.today, chance=chance)
    for start in range(0, len(items), MOST_ITEMS):
        import_transactions(company=company, stamp=stamp, request=Request(items=items[start : start + MOST_ITEMS]))
    Company.objects.touch(company.id, now)
    return Demonstration(company_id=str(company.id), email=owner.email, password=password, api_key=minted.text)


def owner_with(password: str) -> User:
    """The demonstration's owner, with a new password where it exists already."""
    user = User.objects.with_email(PEOPLE) or User.objects.create_user(PEOPLE, name="Dana Demo")
    user.set_password(password)
    user.save(update_fields=["password"])
    return user


def open_accounts(*, company: Company, stamp: Stamp) -> dict[str, Account]:
    """The accounts by the names that the story uses."""
    groups = {
        name: accounts.add_group(company=company, stamp=stamp, values={"name": name, "order": order})
        for order, name in enumerate(("Operating", "Reserves", "Liabilities"))
    }
    opened = {}
    for order, (key, kind, name, currency, group) in enumerate(movements.ACCOUNTS):
        values = {
            "type": kind,
            "name": name,
            "default_currency": currency,
            "account_group_id": groups[group].id,
            "order": order,
        }
        opened[key] = accounts.open_account(company=company, stamp=stamp, values=values)
    return opened
