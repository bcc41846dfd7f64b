"""API views of companies, members, API keys and the audit log."""

import django_filters
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies import serializers
from companies.actions import companies, invitations, members, sandboxes
from companies.actions import logo as logos
from companies.api.company_viewset import ANY_MEMBER, CompanyViewSet, build_crud_permissions
from companies.api.filters import TimeFilter, filter_by_query
from companies.api.openapi.schema import AFTER_PARAMETER, LIMIT_PARAMETER, PAGING_PARAMETERS
from companies.api.pagination import build_cursor_error, build_next_link, parse_page_limit, refuse_unknown_parameters
from companies.api.serializers import SUCCESS, Success
from companies.api.viewsets import ApiViewSet
from companies.auth import api_keys
from companies.auth.step_up import SignInAgain, require_recent_login
from companies.errors import NotFoundError, PermissionDeniedError
from companies.models import (
    MAX_ENTITY_ID_LENGTH,
    MAX_EVENT_TYPE_LENGTH,
    AlreadyInvited,
    AlreadyMember,
    ApiKey,
    AuditEntry,
    Membership,
    User,
    check_event_type,
    parse_id,
)
from companies.permissions import Permission, parse_permissions
from companies.sandboxes import NotASandbox, NotInSandbox


class SignInRequired(PermissionDeniedError):
    """API keys cannot create companies. Sign in to create one."""


class CompanyListViewSet(ApiViewSet):
    schema_tags = ["Companies"]
    schema_noun = "company"
    shape = serializers.CompanySerializer
    errors_for = {"create": [companies.TooManyCompanies]}

    @extend_schema(responses=serializers.CompanyListItem(many=True))
    def list(self, request: Request) -> Response:
        """List the companies you can access, with your role and permissions in each. Start here.

        Access tokens without `svc:read` and `svc:write` receive only `id` and `name`.
        """
        self.allow_parameters()
        if not self.caller.has_data_access:
            names = [{"id": str(each.company.id), "name": each.company.name} for each in self.caller.accesses()]
            return Response(names)
        return Response(serializers.CompanyListItem(self.caller.accesses(), many=True).data)

    @extend_schema(request=serializers.NewCompany)
    def create(self, request: Request) -> Response:
        """Create a company. You become its owner and a 14-day trial starts. Requires a signed-in user."""
        if self.caller.kind != "session" or self.caller.user_id is None:
            raise SignInRequired
        user = User.objects.get(id=self.caller.user_id)
        values = self.parse_body(serializers.NewCompany)
        company, _ = companies.create_company(**values, owner=user, context=self.audit_context)
        return self.respond_created(company)


class CopyNeedsSession(PermissionDeniedError):
    """Only a signed-in member with company:manage can copy a company. API keys and apps cannot."""


class CompanyDetailViewSet(CompanyViewSet):
    schema_tags = ["Companies"]
    schema_noun = "company"
    shape = serializers.CompanySerializer
    errors_for = {
        "update": ["rate_missing", companies.SecondFactorMissing, NotASandbox, SignInAgain],
        "copy": [sandboxes.CopyOfSandbox, sandboxes.TooManySandboxes, "quota_exceeded"],
        "destroy": [NotASandbox],
    }
    actions_checking_expiry = frozenset({"update"})  # settings with company:manage can still be changed
    permission_for = {
        "retrieve": Permission.COMPANY_READ,
        "update": Permission.COMPANY_WRITE,
        "copy": Permission.COMPANY_MANAGE,
        "destroy": Permission.COMPANY_MANAGE,
        "put_logo": Permission.COMPANY_WRITE,
        "delete_logo": Permission.COMPANY_WRITE,
    }

    def retrieve(self, request: Request, company_id: str) -> Response:
        """Get a company with its settings, status and daily metrics."""
        return self.respond_with_one(self.company)

    def update(self, request: Request, company_id: str) -> Response:
        """Update the fields you send. `baseCurrency`, `dataStartDate` and `requireSecondFactor` also need
        `company:manage`. `requireSecondFactor` needs a signed-in owner with two-factor authentication. `testToday` can
        be set in a sandbox only (`not_a_sandbox`)."""
        values = self.parse_body(
            serializers.CompanySerializer, partial=True, resource_serializer=serializers.CompanyListItem
        )
        if (
            values.get("require_second_factor", self.company.require_second_factor)
            != self.company.require_second_factor
        ):
            require_recent_login(self)
        updated_company = companies.update_company(
            company=self.company, context=self.audit_context, permissions=self.access.permissions, values=values
        )
        return self.respond_with_one(updated_company)

    @extend_schema(
        operation_id="copyCompany", request=serializers.NewSandbox, responses={201: serializers.CompanySerializer}
    )
    def copy(self, request: Request, company_id: str) -> Response:
        """Copy the company as a sandbox. Requires a signed-in member; API keys and apps cannot copy a company.

        You are the only member, with the same permissions. Everything is copied except API keys, connected apps,
        webhooks, other members, notifications and the audit log. IDs stay the same. A sandbox sends no
        email and no webhook. It is deleted at `systemSandboxExpireTime`.
        """
        if self.caller.kind != "session":
            raise CopyNeedsSession
        values = self.parse_body(serializers.NewSandbox)
        sandbox = sandboxes.copy_company(company=self.company, context=self.audit_context, **values)
        return self.respond_with_one(sandbox, status=201, location=f"/companies/{sandbox.id}")

    @extend_schema(operation_id="deleteCompany", responses={200: Success})
    def destroy(self, request: Request, company_id: str) -> Response:
        """Delete a sandbox with everything in it. Other companies cannot be deleted (`not_a_sandbox`)."""
        sandboxes.delete_sandbox(company=self.company, context=self.audit_context)
        return Response(SUCCESS)

    @extend_schema(operation_id="setCompanyLogo", request=serializers.LogoUpload)
    def put_logo(self, request: Request, company_id: str) -> Response:
        """Upload a custom logo. It replaces the logo found on the company's domain."""
        png = logos.decode_logo(self.parse_body(serializers.LogoUpload)["image_base64"])
        return self.respond_with_one(logos.replace_logo(company=self.company, context=self.audit_context, png=png))

    @extend_schema(operation_id="deleteCompanyLogo", responses={200: serializers.CompanySerializer})
    def delete_logo(self, request: Request, company_id: str) -> Response:
        """Delete the custom logo. The logo found on the company's domain is used again."""
        return self.respond_with_one(logos.replace_logo(company=self.company, context=self.audit_context, png=None))


class MemberViewSet(CompanyViewSet):
    schema_tags = ["Members"]
    resource, shape = Membership, serializers.MemberSerializer
    errors_for = {
        "create": [AlreadyMember, AlreadyInvited, invitations.TooManyInvitations, NotInSandbox, SignInAgain],
        "resend": [invitations.NotInvited, invitations.TooManyInvitations, SignInAgain],
        **dict.fromkeys(("update", "destroy"), (members.LastOwner, SignInAgain)),
    }
    permission_for = {
        **build_crud_permissions(reads=Permission.MEMBERS_MANAGE, writes=Permission.MEMBERS_MANAGE),
        "resend": Permission.MEMBERS_MANAGE,
    }

    def list(self, request: Request, company_id: str) -> Response:
        """List members and pending invitations."""
        self.allow_parameters()
        return self.respond_with_all(Membership.objects.for_company(self.company.id).with_users())

    @extend_schema(request=serializers.NewMember)
    def create(self, request: Request, company_id: str) -> Response:
        """Invite a person by email. The link in the email is valid for 7 days; access starts when they accept.

        A company can send 20 invitations a day, including resent ones. `userId` and `name` are null until the
        invitation is accepted, whether or not an account exists.
        """
        require_recent_login(self)
        values = self.parse_body(serializers.NewMember)
        member = invitations.invite_member(
            company=self.company, context=self.audit_context, actor_access=self.access, **values
        )
        return self.respond_created(member)

    def retrieve(self, request: Request, company_id: str, member_id: str) -> Response:
        """Get a member with role, custom permissions and email address."""
        return self.respond_with_one(self.get_row(Membership.objects.select_related("user"), member_id))

    @extend_schema(request=serializers.MemberInput(partial=True))
    def update(self, request: Request, company_id: str, member_id: str) -> Response:
        """Update a member's role or custom permissions. Null permissions mean those of the role.
        For an invited member, the change applies when they accept."""
        require_recent_login(self)
        values = self.parse_body(
            serializers.MemberInput, partial=True, resource_serializer=serializers.MemberSerializer
        )
        member = members.update_member(
            company=self.company,
            context=self.audit_context,
            actor_access=self.access,
            member_id=member_id,
            values=values,
        )
        return self.respond_with_one(member)

    def destroy(self, request: Request, company_id: str, member_id: str) -> Response:
        """Remove a member or withdraw an invitation. API keys created by the member stay active."""
        require_recent_login(self)
        members.remove_member(
            company=self.company, context=self.audit_context, actor_access=self.access, member_id=member_id
        )
        return Response(SUCCESS)

    @extend_schema(operation_id="resendInvitation", request=None)
    def resend(self, request: Request, company_id: str, member_id: str) -> Response:
        """Resend an invitation. The new link is valid for 7 days; the previous link stops working."""
        require_recent_login(self)
        member = invitations.resend_invitation(
            company=self.company, context=self.audit_context, actor_access=self.access, member_id=member_id
        )
        return self.respond_with_one(member)


class OwnMembershipViewSet(CompanyViewSet):
    schema_tags = ["Members"]
    errors_for = {"leave": [members.LastOwner]}
    permission_for = {"leave": ANY_MEMBER}

    @extend_schema(operation_id="leaveCompany", responses={200: Success})
    def leave(self, request: Request, company_id: str) -> Response:
        """Leave the company. Your connected apps are disconnected; API keys you created stay active.
        API keys and apps receive 404, because they are not members."""
        if self.caller.kind != "session":
            raise NotFoundError
        members.leave_company(company=self.company, context=self.audit_context)
        return Response(SUCCESS)


class ApiKeyViewSet(CompanyViewSet):
    schema_tags = ["API keys"]
    resource, shape = ApiKey, serializers.ApiKeySerializer
    errors_for = {"create": [SignInAgain], "destroy": [SignInAgain]}
    permission_for = build_crud_permissions(reads=Permission.API_KEYS_MANAGE, writes=Permission.API_KEYS_MANAGE)

    def list(self, request: Request, company_id: str) -> Response:
        """List all API keys, including revoked ones. Secrets are never returned."""
        self.allow_parameters()
        return self.respond_with_all(ApiKey.objects.for_company(self.company.id).newest_first())

    @extend_schema(request=serializers.NewApiKey, responses={201: serializers.CreatedApiKey})
    def create(self, request: Request, company_id: str) -> Response:
        """Create an API key. `key` is returned only here, and if the request is repeated with its Idempotency-Key.

        A key cannot have more permissions than its creator. Only signed-in owners can grant administrative
        permissions. Sessions older than ten minutes receive `sign_in_again`."""
        require_recent_login(self)
        values = self.parse_body(serializers.NewApiKey)
        minted_key = api_keys.create_api_key(
            company=self.company,
            context=self.audit_context,
            name=values["name"],
            permissions=parse_permissions(values["permissions"]),
            expires_time=values["expires_time"],
            creator=self.access,
        )
        answer = self.respond_created(minted_key.key)
        answer.data = {**answer.data, "key": minted_key.text}
        answer.headers["Cache-Control"] = "no-store"
        return answer

    def retrieve(self, request: Request, company_id: str, key_id: str) -> Response:
        """Get an API key with its permissions and last use. The secret is never returned."""
        return self.respond_with_one(self.get_row(ApiKey.objects, key_id))

    def destroy(self, request: Request, company_id: str, key_id: str) -> Response:
        """Revoke an API key. It stops working immediately and stays listed.
        Sessions older than ten minutes receive `sign_in_again`."""
        require_recent_login(self)
        api_keys.revoke_api_key(company=self.company, context=self.audit_context, key_id=key_id)
        return Response(SUCCESS)


class AuditEntryFilter(django_filters.FilterSet):
    entityType = django_filters.CharFilter("entity_type", max_length=40)  # noqa: N815 - parameters are named as on the wire
    entityId = django_filters.CharFilter("entity_id", max_length=MAX_ENTITY_ID_LENGTH)  # noqa: N815
    actor = django_filters.CharFilter("actor", max_length=64)
    since = TimeFilter("time", lookup_expr="gte")

    class Meta:
        model = AuditEntry
        fields: list[str] = []


class AuditLogViewSet(CompanyViewSet):
    schema_tags = ["Audit log"]
    schema_noun = "auditLog"
    shape = serializers.AuditEntrySerializer
    permission_for = {"list": Permission.AUDIT_READ}
    filterset_class = AuditEntryFilter

    @extend_schema(parameters=PAGING_PARAMETERS)
    def list(self, request: Request, company_id: str) -> Response:
        """List all changes of the company's data, newest first."""
        rows = filter_by_query(self, AuditEntryFilter, AuditEntry.objects.for_company(self.company.id))
        return self.respond_with_page(rows, order=("-time", "-id"))


class EventFilter(django_filters.FilterSet):
    type = django_filters.CharFilter("action", max_length=MAX_EVENT_TYPE_LENGTH, validators=[check_event_type])

    class Meta:
        model = AuditEntry
        fields: list[str] = []


class EventViewSet(CompanyViewSet):
    schema_tags = ["Audit log"]
    schema_noun = "events"
    shape = serializers.FeedEventSerializer
    permission_for = {"list": Permission.AUDIT_READ}
    filterset_class = EventFilter

    @extend_schema(parameters=[LIMIT_PARAMETER, AFTER_PARAMETER])
    def list(self, request: Request, company_id: str) -> Response:
        """List events in commit order. A new event never appears before one that was already returned.

        Pass the id of the last event as `after`, or follow the `Link` header. If there are no new events, the response
        is empty without `Link`; keep using the same `after`. Events are kept as long as the audit log.
        """
        refuse_unknown_parameters({"cursor"} & set(request.query_params))  # the feed's position is ``after``
        entries = AuditEntry.objects.for_company(self.company.id)
        entries = entries.defer("before", "after")  # changed values are not returned
        rows = filter_by_query(self, EventFilter, entries, also_allowed=frozenset({"after"}))
        after_number = self.get_entry_number(request.query_params["after"]) if "after" in request.query_params else 0
        page = rows.after_number(after_number)[: parse_page_limit(request.query_params)]
        events = self.shape(page, many=True).data
        return Response(events, headers={"Link": build_next_link(request, events[-1]["id"], "after")} if events else {})

    def get_entry_number(self, event_id: str) -> int:
        event_uuid = parse_id(event_id)
        entries = AuditEntry.objects.for_company(self.company.id)
        entry = entries.filter(id=event_uuid).first() if event_uuid else None
        if entry is None:
            raise build_cursor_error("after")
        return entry.number
