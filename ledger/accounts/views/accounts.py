"""REST: accounts and initial balances."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet
from companies.api.serializers import SUCCESS
from companies.permissions import Permission
from ledger.accounts.actions import accounts, initial_balances
from ledger.accounts.filters import ACCOUNT_PERMISSIONS, ARCHIVED_PARAMETER, filter_by_archived
from ledger.accounts.serializers import accounts as serializers
from ledger.models import Account, AccountNotEmpty
from ledger.transactions.serializers import (
    NullableTransactionSerializer,
    TransactionSerializer,
    build_transaction_response,
)


class AccountViewSet(CompanyViewSet):
    schema_tags = ["Accounts"]
    resource, shape = Account, serializers.AccountSerializer
    errors_for = {"destroy": [AccountNotEmpty]}
    permission_for = {
        **ACCOUNT_PERMISSIONS,
        "initial_balance": Permission.ACCOUNTS_READ,
        **dict.fromkeys(("archive", "unarchive", "change_group", "set_initial_balance"), Permission.ACCOUNTS_WRITE),
    }

    @extend_schema(
        parameters=[ARCHIVED_PARAMETER],
        responses=serializers.AccountListItem(many=True),
    )
    def list(self, request: Request, company_id: str) -> Response:
        """List the company's accounts, each with the integration that manages it."""
        rows = filter_by_archived(self, Account.objects.for_company(self.company.id)).in_display_order()
        return Response(serializers.AccountListItem(rows, many=True).data)

    def create(self, request: Request, company_id: str) -> Response:
        """Create an account. Set the balance before its first transaction as its opening balance."""
        values = self.parse_body(serializers.AccountSerializer, resource_serializer=serializers.AccountListItem)
        account = accounts.create_account(company=self.company, context=self.audit_context, values=values)
        return self.respond_created(account)

    def retrieve(self, request: Request, company_id: str, account_id: str) -> Response:
        """Return an account, archived or not. Get its balance from `data/accountBalanceByAccount`."""
        return self.respond_with_one(self.get_row(Account.objects, account_id))

    def update(self, request: Request, company_id: str, account_id: str) -> Response:
        """Update the fields that are sent."""
        return self.update_account(
            account_id,
            self.parse_body(
                serializers.AccountSerializer,
                partial=True,
                resource_serializer=serializers.AccountListItem,
            ),
        )

    def destroy(self, request: Request, company_id: str, account_id: str) -> Response:
        """Delete an account without transactions, together with its opening balance."""
        accounts.delete_account(company=self.company, context=self.audit_context, account_id=account_id)
        return Response(SUCCESS)

    @extend_schema(request=None)
    def archive(self, request: Request, company_id: str, account_id: str) -> Response:
        """Archive an account: hide it from lists. Its transactions and balances still count."""
        return self.update_account(account_id, {"archived": True}, "account.archived")

    @extend_schema(request=None)
    def unarchive(self, request: Request, company_id: str, account_id: str) -> Response:
        """Restore an archived account."""
        return self.update_account(account_id, {"archived": False}, "account.unarchived")

    @extend_schema(operation_id="moveAccountToGroup", request=serializers.GroupMoveRequest)
    def change_group(self, request: Request, company_id: str, account_id: str) -> Response:
        """Move an account to another group, or remove it from its group with null."""
        return self.update_account(account_id, self.parse_body(serializers.GroupMoveRequest), "account.groupChanged")

    @extend_schema(operation_id="getInitialBalance", responses=NullableTransactionSerializer)
    def initial_balance(self, request: Request, company_id: str, account_id: str) -> Response:
        """Return the account's opening balance as a transaction; null if it has none."""
        account = self.get_row(Account.objects, account_id)
        return build_transaction_response(self, initial_balances.find_initial_balance(account=account))

    @extend_schema(
        operation_id="setInitialBalance", request=serializers.InitialBalance, responses=NullableTransactionSerializer
    )
    def set_initial_balance(self, request: Request, company_id: str, account_id: str) -> Response:
        """Set the opening balance: the balance at the start of a day. dataStartDate does not apply."""
        values = self.parse_body(serializers.InitialBalance, resource_serializer=TransactionSerializer)
        transaction = initial_balances.set_initial_balance(
            company=self.company,
            context=self.audit_context,
            account_id=account_id,
            day=values["date"],
            amount=values["amount_value"],
        )
        return build_transaction_response(self, transaction)

    def update_account(self, account_id: str, values: dict[str, Any], action: str = "account.updated") -> Response:
        """Update an account and return it as the response."""
        account = accounts.update_account(
            company=self.company, context=self.audit_context, account_id=account_id, values=values, action=action
        )
        return self.respond_with_one(account)
