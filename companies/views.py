"""Endpoints of companies, their logo, members, keys and audit log."""

import django_filters
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies import api_keys, founding, logos, members, sessions
from companies import serializers as shapes
from companies.api.filters import filtered
from companies.api.schema import PAGING
from companies.api.serializers import SUCCESS, Success
from companies.api.viewsets import ApiViewSet, CompanyViewSet
from companies.errors import Denied
from companies.models import LONGEST_ENTITY_ID, ApiKey, AuditEntry, Company, Membership, User
from companies.permissions import Permission, known


class SignInNeeded(Denied):
    """Only people who signed in can start a company."""


class SignInAgain(Denied):
    """The sign-in is too long ago for making a key in a browser session: sign in again."""

    code = "sign_in_again"


class CompanyListViewSet(ApiViewSet):
    schema_tags = ["Companies"]
    schema_noun = "company"

    @extend_schema(responses=shapes.CompanyListItem(many=True))
    def list(self, request: Request) -> Response:
        """The companies the caller can reach, with role and effective permissions in each. Start here."""
        self.only_parameters()
        return Response(shapes.CompanyListItem(self.caller.accesses(), many=True).data)

    @extend_schema(request=shapes.NewCompany, responses={201: shapes.CompanyShape})
    def create(self, request: Request) -> Response:
        """Starts a company; the signed-in caller becomes its owner and its trial lasts 14 days. For people only."""
        if self.caller.kind != "session" or self.caller.user_id is None:
            raise SignInNeeded
        user = User.objects.get(id=self.caller.user_id)
        values = self.parsed(shapes.NewCompany)
        company, _ = founding.found_company(**values, owner=user, stamp=self.stamp)
        return self.one(company, shapes.CompanyShape, status=201, location=f"/companies/{company.id}")


class CompanyDetailViewSet(CompanyViewSet):
    schema_tags = ["Companies"]
    schema_noun = "company"
    refuses = {"update": ["rate_missing"]}
    permission_for = {
        "retrieve": Permission.COMPANY_READ,
        "update": Permission.COMPANY_WRITE,
        "put_logo": Permission.COMPANY_WRITE,
        "delete_logo": Permission.COMPANY_WRITE,
    }

    @extend_schema(responses=shapes.CompanyShape)
    def retrieve(self, request: Request, company_id: str) -> Response:
        """One company: its settings, its status, and what is computed of it daily."""
        return self.one(self.company, shapes.CompanyShape)

    @extend_schema(request=shapes.CompanyShape(partial=True), responses=shapes.CompanyShape)
    def update(self, request: Request, company_id: str) -> Response:
        """Changes the fields that are sent. baseCurrency and dataStartDate need `company:manage` besides."""
        company = self.locked()
        values = self.parsed(shapes.CompanyShape, partial=True, shown=shapes.CompanyListItem)
        changed = founding.change_company(
            company=company, stamp=self.stamp, permissions=self.access.permissions, values=values
        )
        return self.one(changed, shapes.CompanyShape)

    @extend_schema(operation_id="setCompanyLogo", request=shapes.LogoUpload, responses=shapes.CompanyShape)
    def put_logo(self, request: Request, company_id: str) -> Response:
        """Replaces the logo that comes from the company's domain wherever the company is shown."""
        company = self.locked()
        png = logos.decode_png(self.parsed(shapes.LogoUpload)["image_base64"])
        return self.one(logos.replace_logo(company=company, stamp=self.stamp, png=png), shapes.CompanyShape)

    @extend_schema(operation_id="deleteCompanyLogo", responses=shapes.CompanyShape)
    def delete_logo(self, request: Request, company_id: str) -> Response:
        """Takes the custom logo away; the one of the domain is shown again."""
        return self.one(logos.replace_logo(company=self.locked(), stamp=self.stamp, png=None), shapes.CompanyShape)

    def locked(self) -> Company:
        company = Company.objects.select_for_update().get(id=self.company.id)
        self.unless_stale(company)
        return company


class MemberViewSet(CompanyViewSet):
    schema_tags = ["Members"]
    refuses = {"create": [members.AlreadyMember], **dict.fromkeys(("update", "destroy"), (members.LastOwner,))}
    permission_for = dict.fromkeys(("list", "create", "retrieve", "update", "destroy"), Permission.MEMBERS_MANAGE)

    @extend_schema(responses=shapes.MemberShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """Everyone who belongs to the company."""
        self.only_parameters()
        rows = Membership.objects.of(self.company.id).with_people()
        return Response(shapes.MemberShape(rows, many=True).data)

    @extend_schema(request=shapes.NewMember, responses={201: shapes.MemberShape})
    def create(self, request: Request, company_id: str) -> Response:
        """Adds a member by e-mail; somebody unknown is mailed a link to set a password."""
        values = self.parsed(shapes.NewMember)
        member = members.add(company=self.company, stamp=self.stamp, by=self.access, **values)
        location = f"/companies/{self.company.id}/members/{member.id}"
        return self.one(member, shapes.MemberShape, status=201, location=location)

    @extend_schema(responses=shapes.MemberShape)
    def retrieve(self, request: Request, company_id: str, member_id: str) -> Response:
        """One member with role, own permissions and e-mail."""
        return self.one(self.found(Membership.objects.select_related("user"), member_id), shapes.MemberShape)

    @extend_schema(request=shapes.MemberInput(partial=True), responses=shapes.MemberShape)
    def update(self, request: Request, company_id: str, member_id: str) -> Response:
        """Changes a member's role or own list of permissions; null means the role's."""
        member = self.member(member_id)
        values = self.parsed(shapes.MemberInput, partial=True, shown=shapes.MemberShape)
        changed = members.change(
            membership=member,
            stamp=self.stamp,
            by=self.access,
            role=values.get("role", member.role),
            permissions=values.get("permissions", member.permissions),
        )
        return self.one(changed, shapes.MemberShape)

    @extend_schema(responses=Success)
    def destroy(self, request: Request, company_id: str, member_id: str) -> Response:
        """Ends a membership. The keys that the member made live on."""
        members.remove(membership=self.member(member_id), stamp=self.stamp, by=self.access)
        return Response(SUCCESS)

    def member(self, member_id: str) -> Membership:
        """The membership, locked behind its company: two owners leaving at once would wait for each other for ever."""
        Company.objects.select_for_update(no_key=True).get(id=self.company.id)
        row = self.found(Membership.objects.select_related("user"), member_id, locked=True)
        self.unless_stale(row)
        return row


class ApiKeyViewSet(CompanyViewSet):
    schema_tags = ["API keys"]
    refuses = {"create": [SignInAgain]}
    permission_for = dict.fromkeys(("list", "create", "retrieve", "destroy"), Permission.API_KEYS_MANAGE)

    @extend_schema(responses=shapes.ApiKeyShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """All keys of the company, revoked ones too; never their secrets."""
        self.only_parameters()
        return Response(shapes.ApiKeyShape(ApiKey.objects.of(self.company.id).newest_first(), many=True).data)

    @extend_schema(request=shapes.NewApiKey, responses={201: shapes.CreatedApiKey})
    def create(self, request: Request, company_id: str) -> Response:
        """A new key; `key` is answered this once. It never holds more than its creator, and only owners who signed in
        make keys with administrative permissions. A browser session that signed in more than ten minutes ago is refused
        with `sign_in_again`."""
        if self.caller.kind == "session" and not sessions.signed_in_recently(request, now=self.now):
            raise SignInAgain
        values = self.parsed(shapes.NewApiKey)
        minted = api_keys.mint(
            company=self.company,
            stamp=self.stamp,
            name=values["name"],
            permissions=known(values["permissions"]),
            expires_time=values["expires_time"],
            creator=self.access,
        )
        location = f"/companies/{self.company.id}/api_keys/{minted.key.id}"
        answer = self.one(minted.key, shapes.ApiKeyShape, status=201, location=location)
        answer.data = {**answer.data, "key": minted.text}
        answer.headers["Cache-Control"] = "no-store"
        return answer

    @extend_schema(responses=shapes.ApiKeyShape)
    def retrieve(self, request: Request, company_id: str, key_id: str) -> Response:
        """One key: what it may do and when it was last used; never its secret."""
        return self.one(self.found(ApiKey.objects, key_id), shapes.ApiKeyShape)

    @extend_schema(responses=Success)
    def destroy(self, request: Request, company_id: str, key_id: str) -> Response:
        """Revokes a key; its next request is refused. It stays listed."""
        key = self.found(ApiKey.objects, key_id, locked=True)
        self.unless_stale(key)
        api_keys.revoke(key=key, stamp=self.stamp)
        return Response(SUCCESS)


class AuditEntryFilter(django_filters.FilterSet):
    entityType = django_filters.CharFilter("entity_type", max_length=40)  # noqa: N815 - parameters are named as on the wire
    entityId = django_filters.CharFilter("entity_id", max_length=LONGEST_ENTITY_ID)  # noqa: N815
    actor = django_filters.CharFilter("actor", max_length=64)
    since = django_filters.IsoDateTimeFilter("time", lookup_expr="gte")

    class Meta:
        model = AuditEntry
        fields: list[str] = []


class AuditLogViewSet(CompanyViewSet):
    schema_tags = ["Audit log"]
    schema_noun = "auditLog"
    permission_for = {"list": Permission.AUDIT_READ}
    filterset_class = AuditEntryFilter

    @extend_schema(parameters=PAGING, responses=shapes.AuditEntryShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """Every change of the company's data, latest first."""
        rows = filtered(self, AuditEntryFilter, AuditEntry.objects.of(self.company.id))
        return self.page(rows, shapes.AuditEntryShape, order=("-time", "-id"))
