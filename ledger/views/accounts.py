"""Accounts, their groups and their initial balances."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.serializers import SUCCESS, Success
from companies.api.viewsets import CompanyViewSet
from companies.permissions import Permission
from ledger import accounts
from ledger.models import Account, AccountGroup
from ledger.serializers import accounts as shapes
from ledger.serializers.money import amount_in
from ledger.serializers.transaction_shape import TransactionBox, boxed

ARCHIVED = {None: {"archived": False}, "true": {"archived": True}, "false": {"archived": False}, "all": {}}


class AccountViewSet(CompanyViewSet):
    schema_tags = ["Accounts"]
    refuses = {"destroy": [accounts.AccountNotEmpty]}
    permission_for = {
        **dict.fromkeys(("list", "retrieve", "initial_balance"), Permission.ACCOUNTS_READ),
        **dict.fromkeys(
            ("create", "update", "destroy", "archive", "unarchive", "change_group", "set_initial_balance"),
            Permission.ACCOUNTS_WRITE,
        ),
    }

    @extend_schema(
        parameters=[OpenApiParameter("archived", enum=["true", "false", "all"], description="active ones by default")],
        responses=shapes.AccountListItem(many=True),
    )
    def list(self, request: Request, company_id: str) -> Response:
        """The company's accounts, each with the integration that manages it."""
        self.only_parameters("archived")
        wanted = request.query_params.get("archived")
        if wanted not in ARCHIVED:
            raise ValidationError({"archived": [ErrorDetail("Must be true, false or all.", code="invalid_filter")]})
        rows = Account.objects.of(self.company.id).filter(**ARCHIVED[wanted]).in_order()
        return Response(shapes.AccountListItem(rows, many=True).data)

    @extend_schema(request=shapes.AccountShape, responses={201: shapes.AccountShape})
    def create(self, request: Request, company_id: str) -> Response:
        """Opens an account. Without a currency it is in the company's; what it held before is its initial balance."""
        values = self.parsed(shapes.AccountShape, shown=shapes.AccountListItem)
        account = accounts.open_account(company=self.company, stamp=self.stamp, values=values)
        location = f"/companies/{self.company.id}/accounts/{account.id}"
        return self.one(account, shapes.AccountShape, status=201, location=location)

    @extend_schema(responses=shapes.AccountShape)
    def retrieve(self, request: Request, company_id: str, account_id: str) -> Response:
        """One account, archived or not; its balance comes from `data/accountBalanceByAccount`."""
        return self.one(self.found(Account.objects, account_id), shapes.AccountShape)

    @extend_schema(request=shapes.AccountShape(partial=True), responses=shapes.AccountShape)
    def update(self, request: Request, company_id: str, account_id: str) -> Response:
        """Changes the fields that are sent."""
        account = self.locked(account_id)
        return self.changed(account, self.parsed(shapes.AccountShape, partial=True, shown=shapes.AccountListItem))

    @extend_schema(responses=Success)
    def destroy(self, request: Request, company_id: str, account_id: str) -> Response:
        """Deletes an account without transactions; its initial balance goes with it."""
        accounts.close_account(account=self.locked(account_id), stamp=self.stamp)
        return Response(SUCCESS)

    @extend_schema(request=None, responses=shapes.AccountShape)
    def archive(self, request: Request, company_id: str, account_id: str) -> Response:
        """Hides an account from the active lists; history and balances keep counting."""
        return self.changed(self.locked(account_id), {"archived": True}, "account.archived")

    @extend_schema(request=None, responses=shapes.AccountShape)
    def unarchive(self, request: Request, company_id: str, account_id: str) -> Response:
        """Restores an archived account to the active lists."""
        return self.changed(self.locked(account_id), {"archived": False}, "account.unarchived")

    @extend_schema(operation_id="moveAccountToGroup", request=shapes.GroupMove, responses=shapes.AccountShape)
    def change_group(self, request: Request, company_id: str, account_id: str) -> Response:
        """Moves an account to another group, or out of its group with null."""
        account = self.locked(account_id)
        return self.changed(account, self.parsed(shapes.GroupMove), "account.groupChanged")

    @extend_schema(operation_id="getInitialBalance", responses=TransactionBox)
    def initial_balance(self, request: Request, company_id: str, account_id: str) -> Response:
        """The account's initial-balance transaction; null where it has none."""
        account = self.found(Account.objects, account_id)
        return boxed(self, accounts.initial_balance(account=account))

    @extend_schema(operation_id="setInitialBalance", request=shapes.InitialBalance, responses=TransactionBox)
    def set_initial_balance(self, request: Request, company_id: str, account_id: str) -> Response:
        """Sets what the account held at the start of a day; dataStartDate does not apply."""
        account = self.locked(account_id, versioned=False)
        stored = accounts.initial_balance(account=account)
        self.unless_stale(stored)
        values = self.parsed(shapes.InitialBalance)
        amount = amount_in(values["amount_value"], account.default_currency, pointer="#/amountValue")
        stored = accounts.set_initial_balance(account=account, stamp=self.stamp, day=values["date"], amount=amount)
        return boxed(self, stored)

    def locked(self, account_id: str, *, versioned: bool = True) -> Account:
        account = self.found(Account.objects, account_id, locked=True)
        if versioned:
            self.unless_stale(account)
        return account

    def changed(self, account: Account, values: dict[str, Any], action: str = "account.updated") -> Response:
        changed = accounts.change_account(account=account, stamp=self.stamp, values=values, action=action)
        return self.one(changed, shapes.AccountShape)


class AccountGroupViewSet(CompanyViewSet):
    schema_tags = ["Account groups"]
    refuses = {"destroy": [accounts.AccountGroupNotEmpty]}
    permission_for = {
        **dict.fromkeys(("list", "retrieve"), Permission.ACCOUNTS_READ),
        **dict.fromkeys(("create", "update", "destroy"), Permission.ACCOUNTS_WRITE),
    }

    @extend_schema(responses=shapes.AccountGroupShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """All account groups, archived ones too."""
        self.only_parameters()
        rows = AccountGroup.objects.of(self.company.id).in_order()
        return Response(shapes.AccountGroupShape(rows, many=True).data)

    @extend_schema(request=shapes.AccountGroupShape, responses={201: shapes.AccountGroupShape})
    def create(self, request: Request, company_id: str) -> Response:
        """Adds a group; accounts are moved into it one by one."""
        group = accounts.add_group(company=self.company, stamp=self.stamp, values=self.parsed(shapes.AccountGroupShape))
        location = f"/companies/{self.company.id}/account_groups/{group.id}"
        return self.one(group, shapes.AccountGroupShape, status=201, location=location)

    @extend_schema(responses=shapes.AccountGroupShape)
    def retrieve(self, request: Request, company_id: str, account_group_id: str) -> Response:
        """One account group; its accounts name it in `accountGroupId`."""
        return self.one(self.found(AccountGroup.objects, account_group_id), shapes.AccountGroupShape)

    @extend_schema(request=shapes.AccountGroupShape(partial=True), responses=shapes.AccountGroupShape)
    def update(self, request: Request, company_id: str, account_group_id: str) -> Response:
        """Renames, reorders or archives a group; the accounts inside are unchanged."""
        group = self.locked(account_group_id)
        values = self.parsed(shapes.AccountGroupShape, partial=True)
        changed = accounts.update_group(group=group, stamp=self.stamp, values=values)
        return self.one(changed, shapes.AccountGroupShape)

    @extend_schema(responses=Success)
    def destroy(self, request: Request, company_id: str, account_group_id: str) -> Response:
        """Deletes a group in which no account remains."""
        accounts.delete_group(group=self.locked(account_group_id), stamp=self.stamp)
        return Response(SUCCESS)

    def locked(self, account_group_id: str) -> AccountGroup:
        group = self.found(AccountGroup.objects, account_group_id, locked=True)
        self.unless_stale(group)
        return group
