"""Accounts, their groups and their initial balances."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.serializers import SUCCESS
from companies.api.viewsets import CompanyViewSet, granted
from companies.permissions import Permission
from ledger.accounts import opening
from ledger.accounts import serializers as shapes
from ledger.models import Account, AccountGroup, AccountGroupNotEmpty, AccountNotEmpty
from ledger.transactions.shapes import TransactionBox, TransactionShape, boxed

ACCOUNTS = granted(reads=Permission.ACCOUNTS_READ, writes=Permission.ACCOUNTS_WRITE)
ARCHIVED = {None: {"archived": False}, "true": {"archived": True}, "false": {"archived": False}, "all": {}}
ARCHIVED_PARAMETER = OpenApiParameter("archived", enum=["true", "false", "all"], description="active ones by default")


def asked_for(view: CompanyViewSet, rows: Any) -> Any:
    """The rows that ``archived`` asks for, the active ones where it is left out. Raises ValidationError."""
    view.only_parameters("archived")
    wanted = view.request.query_params.get("archived")
    if wanted not in ARCHIVED:
        raise ValidationError({"archived": [ErrorDetail("Must be true, false or all.", code="invalid_filter")]})
    return rows.filter(**ARCHIVED[wanted])


class AccountViewSet(CompanyViewSet):
    schema_tags = ["Accounts"]
    resource, shape = Account, shapes.AccountShape
    refuses = {"destroy": [AccountNotEmpty]}
    permission_for = {
        **ACCOUNTS,
        "initial_balance": Permission.ACCOUNTS_READ,
        **dict.fromkeys(("archive", "unarchive", "change_group", "set_initial_balance"), Permission.ACCOUNTS_WRITE),
    }

    @extend_schema(
        parameters=[ARCHIVED_PARAMETER],
        responses=shapes.AccountListItem(many=True),
    )
    def list(self, request: Request, company_id: str) -> Response:
        """The company's accounts, each with the integration that manages it."""
        rows = asked_for(self, Account.objects.of(self.company.id)).in_order()
        return Response(shapes.AccountListItem(rows, many=True).data)

    def create(self, request: Request, company_id: str) -> Response:
        """Opens an account. Without a currency it is in the company's; what it held before is its initial balance."""
        values = self.parsed(shapes.AccountShape, shown=shapes.AccountListItem)
        account = opening.open_account(company=self.company, stamp=self.stamp, values=values)
        return self.created(account)

    def retrieve(self, request: Request, company_id: str, account_id: str) -> Response:
        """One account, archived or not; its balance comes from `data/accountBalanceByAccount`."""
        return self.one(self.found(Account.objects, account_id))

    def update(self, request: Request, company_id: str, account_id: str) -> Response:
        """Changes the fields that are sent."""
        return self.changed(account_id, self.parsed(shapes.AccountShape, partial=True, shown=shapes.AccountListItem))

    def destroy(self, request: Request, company_id: str, account_id: str) -> Response:
        """Deletes an account without transactions; its initial balance goes with it."""
        opening.close_account(company=self.company, stamp=self.stamp, account_id=account_id)
        return Response(SUCCESS)

    @extend_schema(request=None)
    def archive(self, request: Request, company_id: str, account_id: str) -> Response:
        """Hides an account from the active lists; history and balances keep counting."""
        return self.changed(account_id, {"archived": True}, "account.archived")

    @extend_schema(request=None)
    def unarchive(self, request: Request, company_id: str, account_id: str) -> Response:
        """Restores an archived account to the active lists."""
        return self.changed(account_id, {"archived": False}, "account.unarchived")

    @extend_schema(operation_id="moveAccountToGroup", request=shapes.GroupMove)
    def change_group(self, request: Request, company_id: str, account_id: str) -> Response:
        """Moves an account to another group, or out of its group with null."""
        return self.changed(account_id, self.parsed(shapes.GroupMove), "account.groupChanged")

    @extend_schema(operation_id="getInitialBalance", responses=TransactionBox)
    def initial_balance(self, request: Request, company_id: str, account_id: str) -> Response:
        """The account's initial-balance transaction; null where it has none."""
        account = self.found(Account.objects, account_id)
        return boxed(self, opening.initial_balance(account=account))

    @extend_schema(operation_id="setInitialBalance", request=shapes.InitialBalance, responses=TransactionBox)
    def set_initial_balance(self, request: Request, company_id: str, account_id: str) -> Response:
        """Sets what the account held at the start of a day; dataStartDate does not apply."""
        values = self.parsed(shapes.InitialBalance, shown=TransactionShape)
        stored = opening.set_initial_balance(
            company=self.company,
            stamp=self.stamp,
            account_id=account_id,
            day=values["date"],
            amount=values["amount_value"],
        )
        return boxed(self, stored)

    def changed(self, account_id: str, values: dict[str, Any], action: str = "account.updated") -> Response:
        account = opening.change_account(
            company=self.company, stamp=self.stamp, account_id=account_id, values=values, action=action
        )
        return self.one(account)


class AccountGroupViewSet(CompanyViewSet):
    schema_tags = ["Account groups"]
    resource, shape = AccountGroup, shapes.AccountGroupShape
    refuses = {"destroy": [AccountGroupNotEmpty]}
    permission_for = ACCOUNTS

    @extend_schema(parameters=[ARCHIVED_PARAMETER])
    def list(self, request: Request, company_id: str) -> Response:
        """The company's account groups, in their order."""
        rows = asked_for(self, AccountGroup.objects.of(self.company.id)).in_order()
        return self.all(rows)

    def create(self, request: Request, company_id: str) -> Response:
        """Adds a group; accounts are moved into it one by one."""
        group = opening.add_group(company=self.company, stamp=self.stamp, values=self.parsed(shapes.AccountGroupShape))
        return self.created(group)

    def retrieve(self, request: Request, company_id: str, account_group_id: str) -> Response:
        """One account group; its accounts name it in `accountGroupId`."""
        return self.one(self.found(AccountGroup.objects, account_group_id))

    def update(self, request: Request, company_id: str, account_group_id: str) -> Response:
        """Renames, reorders or archives a group; the accounts inside are unchanged."""
        values = self.parsed(shapes.AccountGroupShape, partial=True)
        group = opening.update_group(company=self.company, stamp=self.stamp, group_id=account_group_id, values=values)
        return self.one(group)

    def destroy(self, request: Request, company_id: str, account_group_id: str) -> Response:
        """Deletes a group in which no account remains."""
        opening.delete_group(company=self.company, stamp=self.stamp, group_id=account_group_id)
        return Response(SUCCESS)
