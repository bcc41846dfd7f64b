"""REST: connected apps of a company."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import ANY_MEMBER, CompanyViewSet
from companies.api.serializers import SUCCESS, Success
from companies.permissions import Permission
from oauth.authentication import AppCredential
from oauth.connected_apps import actions, queries
from oauth.connected_apps.serializers import ConnectedAppSerializer
from oauth.models import ConsentGrant


class ConnectedAppViewSet(CompanyViewSet):
    """Everyone sees and ends their own; ``apps:manage`` reaches those of all members."""

    schema_tags = ["Connected apps"]
    permission_for = {"list": ANY_MEMBER, "destroy": ANY_MEMBER}

    @extend_schema(responses=ConnectedAppSerializer(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """List connected apps: your own, or everyone's with `apps:manage`.
        An app sees only its own connection; an API key needs `apps:manage`."""
        self.allow_parameters()
        rows = ConsentGrant.objects.for_company(self.company.id)
        if Permission.APPS_MANAGE not in self.access.permissions:
            rows = rows.filter(**self.build_own_filter())
        return Response(ConnectedAppSerializer(queries.list_connected_apps(rows), many=True).data)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, connected_app_id: str) -> Response:
        """Disconnect an app. It loses access immediately. Other members' apps need `apps:manage`."""
        consent = self.get_row(ConsentGrant.objects.live(), connected_app_id)
        is_own = ConsentGrant.objects.filter(id=consent.id).filter(**self.build_own_filter()).exists()
        if not is_own:
            self.require_permission(Permission.APPS_MANAGE)
        actions.disconnect_app(consent, context=self.audit_context)
        return Response(SUCCESS)

    def build_own_filter(self) -> dict[str, Any]:
        """Return the filter of the caller's own consents; an app's own is its consent, a key has none."""
        if isinstance(self.caller, AppCredential):
            return {"id": self.caller.grant_id}
        return {"user_id": self.caller.user_id} if self.caller.user_id else {"id": None}
