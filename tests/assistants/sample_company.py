"""A small company for assistant tests: two accounts, transactions, a category, an invoice and a scenario."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tests.run_date import TODAY


def format_day(days: int) -> str:
    return str(TODAY + timedelta(days=days))


@dataclass
class SampleCompany:
    """Creates the rows over HTTP and keeps their ids."""

    api: Any

    def __post_init__(self) -> None:
        self.bank = self.create_row("accounts", {"name": "Bank", "type": "bank", "currency": "EUR"})
        self.savings = self.create_row("accounts", {"name": "Savings", "type": "bank", "currency": "EUR"})
        self.rent = self.create_transaction(self.bank, -10, "-950.00", fromTo="Landlord")
        self.fee = self.create_transaction(self.bank, -40, "-12.50", fromTo="Bank fee")
        self.sale = self.create_transaction(self.bank, -20, "2000.00", fromTo="Initech")
        self.outgoing = self.create_transaction(self.bank, -5, "-300.00", description="to savings")
        self.incoming = self.create_transaction(self.savings, -4, "300.00", description="from bank")
        self.office = self.create_row("categories", {"name": "Office", "plTypes": ["ga"]})
        self.plan = self.create_row(
            "planned_transactions",
            {"accountId": self.bank, "name": "Rent", "startDate": format_day(-10), "amountValue": "-950.00"},
        )
        invoice = {"accountId": self.bank, "name": "Invoice 7", "startDate": format_day(100), "amountValue": "70.00"}
        self.invoice = self.create_row("planned_transactions", invoice | {"invoiceDate": format_day(-10)})

        change = {"kind": "stop", "plannedTransactionId": self.plan, "from": format_day(0)}
        self.scenario = self.create_row("scenarios", {"name": "No office", "changes": [change]})

    def create_row(self, path: str, body: dict[str, Any]) -> str:
        """Create a row; return its id."""
        response = self.api.post(path, body)
        assert response.status_code == 201, response.content
        return response.json()["id"]

    def create_transaction(self, account: str, days: int, amount: str, **texts: str) -> str:
        return self.create_row(
            "transactions", {"accountId": account, "date": format_day(days), "amountValue": amount} | texts
        )

    def get_transaction(self, transaction_id: str) -> dict[str, Any]:
        return self.api.get(f"transactions/{transaction_id}").json()

    def build_tool_arguments(self) -> dict[str, dict[str, Any]]:
        """Return valid arguments for each writing tool."""
        return {
            "categorize": {"selection": {"mode": "ids", "ids": [self.rent, self.fee]}, "categoryId": self.office},
            "create_rule": {
                "name": "Rent",
                "conditions": {"fromTo": {"operator": "contains", "value": "landlord"}},
                "action": {"categoryId": self.office},
            },
            "link_transfer": {"sourceTransactionId": self.outgoing, "targetTransactionId": self.incoming},
            "plan_payment": {
                "name": "Insurance",
                "startDate": format_day(30),
                "amountValue": "-120.00",
                "accountId": self.bank,
                "recurrence": {"frequency": "month"},
            },
            "settle_planned": {"plannedTransactionId": self.plan, "date": format_day(-10), "transactionId": self.rent},
        }

    def read_state(self) -> Any:
        """Return all rows that tools can change, as the API returns them."""
        lists = ("transactions", "categorization_rules", "planned_transactions", "categories")
        return {path: self.api.get(path).json() for path in lists}
