"""Fixtures for planning tests: accounts, categories, counterparties, transactions and a planned payment."""

from typing import Any

import pytest

from companies.models import AuditContext, Company
from ledger.models import Account, AccountType, Category, Counterparty, Transaction


@pytest.fixture
def make_account(audit_context: AuditContext) -> Any:
    """Create an account."""

    def make(company: Company, **values: Any) -> Account:
        defaults = {
            "name": "Main",
            "type": AccountType.BANK,
            "default_currency": "EUR",
            "include_in_cash_balance": True,
        } | values
        account = Account(company=company, **defaults).mark_created(audit_context)
        account.save(force_insert=True)
        return account

    return make


@pytest.fixture
def make_category(audit_context: AuditContext) -> Any:
    """Create a category."""

    def make(company: Company, **values: Any) -> Category:
        category = Category(company=company, **{"name": "Rent", "pl_types": ["ga"]} | values).mark_created(
            audit_context
        )
        category.save(force_insert=True)
        return category

    return make


@pytest.fixture
def make_counterparty(audit_context: AuditContext) -> Any:
    """Create a counterparty."""

    def make(company: Company, **values: Any) -> Counterparty:
        counterparty = Counterparty(company=company, **{"name": "Landlord", "type": "vendor"} | values)
        counterparty.mark_created(audit_context).save(force_insert=True)
        return counterparty

    return make


@pytest.fixture
def make_transaction(audit_context: AuditContext) -> Any:
    """Create a transaction."""

    def make(account: Account, **values: Any) -> Transaction:
        defaults = {"date": "2026-01-31", "amount_value": "-10", "amount_currency": "EUR", "source": "manual"} | values
        row = Transaction(company_id=account.company_id, account=account, **defaults).mark_created(audit_context)
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
    """The request body of the planned rent: 2,400.00 at the end of each month."""
    return {
        "accountId": str(account.id),
        "name": "Rent",
        "startDate": "2026-01-31",
        "amountValue": "-2400.00",
        "recurrence": {"frequency": "month"},
    }


@pytest.fixture
def rent(api: Any, body: dict[str, Any]) -> Any:
    """The planned rent as the API returns it."""
    response = api.post("planned_transactions", body)
    assert response.status_code == 201, response.content
    return response.json()


@pytest.fixture
def office(api: Any) -> str:
    """The id of the category Office and administration."""
    return api.get_category_id("officeAndAdmin")


@pytest.fixture
def hosting(api: Any) -> str:
    """The id of the category Hosting."""
    return api.get_category_id("hosting")
