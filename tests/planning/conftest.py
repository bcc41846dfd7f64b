"""Accounts, categories and counterparties of Acme and Globex, as plans need them."""

from typing import Any

import pytest

from companies.models import AuditContext, Company
from ledger.models import Account, AccountType, Category, Counterparty, Transaction


@pytest.fixture
def make_account(audit_context: AuditContext) -> Any:
    def make(company: Company, **values: Any) -> Account:
        filled = {
            "name": "Main",
            "type": AccountType.BANK,
            "default_currency": "EUR",
            "include_in_cash_balance": True,
        } | values
        account = Account(company=company, **filled).mark_created(audit_context)
        account.save(force_insert=True)
        return account

    return make


@pytest.fixture
def make_category(audit_context: AuditContext) -> Any:
    def make(company: Company, **values: Any) -> Category:
        category = Category(company=company, **{"name": "Rent", "pl_types": ["ga"]} | values).mark_created(
            audit_context
        )
        category.save(force_insert=True)
        return category

    return make


@pytest.fixture
def make_counterparty(audit_context: AuditContext) -> Any:
    def make(company: Company, **values: Any) -> Counterparty:
        counterparty = Counterparty(company=company, **{"name": "Landlord", "type": "vendor"} | values)
        counterparty.mark_created(audit_context).save(force_insert=True)
        return counterparty

    return make


@pytest.fixture
def make_transaction(audit_context: AuditContext) -> Any:
    def make(account: Account, **values: Any) -> Transaction:
        filled = {"date": "2026-01-31", "amount_value": "-10", "amount_currency": "EUR", "source": "manual"} | values
        row = Transaction(company_id=account.company_id, account=account, **filled).mark_created(audit_context)
        row.save(force_insert=True)
        return row

    return make


@pytest.fixture
def account(acme: Company, make_account: Any) -> Account:
    return make_account(acme)


@pytest.fixture
def category(acme: Company, make_category: Any) -> Category:
    return make_category(acme)


@pytest.fixture
def body(account: Account) -> dict[str, Any]:
    """Rent at the end of each month."""
    return {
        "accountId": str(account.id),
        "name": "Rent",
        "startDate": "2026-01-31",
        "amountValue": "-2400.00",
        "recurrence": {"frequency": "month"},
    }


@pytest.fixture
def rent(api: Any, body: dict[str, Any]) -> Any:
    """The rent, planned: its address and its body."""
    made = api.post("planned_transactions", body)
    assert made.status_code == 201, made.content
    return made.json()


@pytest.fixture
def office(api: Any) -> str:
    return next(each["id"] for each in api.get("categories").json() if each["systemKey"] == "officeAndAdmin")


@pytest.fixture
def hosting(api: Any) -> str:
    return next(each["id"] for each in api.get("categories").json() if each["systemKey"] == "hosting")
