"""How a company and its accounts are named in the texts of transactions."""

from companies.models import Company
from ledger.models import Account
from ledger.rules.calc.parties import CompanyIdentity, OwnAccount


def load_company_identity(company: Company) -> CompanyIdentity:
    """Return the names and numbers by which texts name the company itself; one query.

    Archived accounts count too: old transactions still name them.
    """
    rows = Account.objects.for_company(company.id).values_list("id", "name", "account_number", "bank_connection")
    return CompanyIdentity(company.name, tuple(to_own_account(*row) for row in rows.order_by("id")))


def to_own_account(account_id: object, name: str, number: str | None, bank_connection: object) -> OwnAccount:
    """Return an account as texts may name it; a bank connection adds its IBAN and its holder."""
    connected = bank_connection.get("bankProviderAAccount") if isinstance(bank_connection, dict) else None
    connected = connected if isinstance(connected, dict) else {}
    numbers = tuple(each for each in (number, connected.get("iban")) if each)
    return OwnAccount(account_id, name, numbers, connected.get("accountHolderName"))
