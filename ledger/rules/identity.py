"""How a company and its accounts are named in the texts of movements."""

from companies.models import Company
from ledger.models import Account
from ledger.rules.calc.parties import Identity, OwnAccount


def load_identity(company: Company) -> Identity:
    """Return the names and numbers by which texts name the company itself; one query.

    Archived accounts count too: their old movements still name them.
    """
    rows = Account.objects.of(company.id).values_list("id", "name", "account_number", "bank_connection")
    return Identity(company.name, tuple(to_own_account(*row) for row in rows.order_by("id")))


def to_own_account(account_id: object, name: str, number: str | None, bank_connection: object) -> OwnAccount:
    """Return an account as texts may name it; a bank connection adds its IBAN and its holder."""
    connected = bank_connection.get("bankProviderAAccount") if isinstance(bank_connection, dict) else None
    connected = connected if isinstance(connected, dict) else {}
    numbers = tuple(each for each in (number, connected.get("iban")) if each)
    return OwnAccount(account_id, name, numbers, connected.get("accountHolderName"))
