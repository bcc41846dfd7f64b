"""REST: account groups."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet
from companies.api.serializers import SUCCESS
from ledger.accounts.actions import account_groups
from ledger.accounts.filters import ACCOUNT_PERMISSIONS, ARCHIVED_PARAMETER, filter_by_archived
from ledger.accounts.serializers import account_groups as serializers
from ledger.models import AccountGroup, AccountGroupNotEmpty


class AccountGroupViewSet(CompanyViewSet):
    schema_tags = ["Account groups"]
    resource, shape = AccountGroup, serializers.AccountGroupSerializer
    errors_for = {"destroy": [AccountGroupNotEmpty]}
    permission_for = ACCOUNT_PERMISSIONS

    @extend_schema(parameters=[ARCHIVED_PARAMETER])
    def list(self, request: Request, company_id: str) -> Response:
        """List the company's account groups in their order."""
        groups = filter_by_archived(self, AccountGroup.objects.for_company(self.company.id)).in_display_order()
        return self.respond_with_all(groups)

    def create(self, request: Request, company_id: str) -> Response:
        """Create an account group. Move accounts into it one by one."""
        group = account_groups.create_account_group(
            company=self.company,
            context=self.audit_context,
            values=self.parse_body(serializers.AccountGroupSerializer),
        )
        return self.respond_created(group)

    def retrieve(self, request: Request, company_id: str, account_group_id: str) -> Response:
        """Return an account group. Its accounts have its ID in `accountGroupId`."""
        return self.respond_with_one(self.get_row(AccountGroup.objects, account_group_id))

    def update(self, request: Request, company_id: str, account_group_id: str) -> Response:
        """Rename, reorder or archive a group. Its accounts do not change."""
        values = self.parse_body(serializers.AccountGroupSerializer, partial=True)
        group = account_groups.update_account_group(
            company=self.company, context=self.audit_context, group_id=account_group_id, values=values
        )
        return self.respond_with_one(group)

    def destroy(self, request: Request, company_id: str, account_group_id: str) -> Response:
        """Delete a group without accounts."""
        account_groups.delete_account_group(company=self.company, context=self.audit_context, group_id=account_group_id)
        return Response(SUCCESS)
