"""Endpoints of companies, their logo, members, keys and audit log."""

import django_filters
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies import serializers as shapes
from companies.api.document.schema import AFTER, LIMIT, PAGING
from companies.api.filters import TimeFilter, filtered, refuse_unknown
from companies.api.pagination import bad_cursor, next_link, page_limit
from companies.api.serializers import SUCCESS, Success
from companies.api.viewsets import ANY_MEMBER, ApiViewSet, CompanyViewSet, granted
from companies.callers import api_keys
from companies.callers.step_up import SignInAgain, require_recent_login
from companies.errors import Denied, Missing
from companies.logos import own as logos
from companies.membership import founding, inviting, members
from companies.models import (
    LONGEST_ENTITY_ID,
    LONGEST_EVENT_TYPE,
    AlreadyInvited,
    AlreadyMember,
    ApiKey,
    AuditEntry,
    Membership,
    User,
    check_event_type,
    id_from,
    latest_first,
)
from companies.permissions import Permission, known


class SignInNeeded(Denied):
    """Only people who signed in can start a company."""


class CompanyListViewSet(ApiViewSet):
    schema_tags = ["Companies"]
    schema_noun = "company"
    shape = shapes.CompanyShape
    refuses = {"create": [founding.TooManyCompanies]}

    @extend_schema(responses=shapes.CompanyListItem(many=True))
    def list(self, request: Request) -> Response:
        """The companies the caller can reach, with role and effective permissions in each. Start here.

        An access token that was granted neither `svc:read` nor `svc:write` sees `id` and `name` alone.
        """
        self.only_parameters()
        if not self.caller.reaches_data:
            names = [{"id": str(each.company.id), "name": each.company.name} for each in self.caller.accesses()]
            return Response(names)
        return Response(shapes.CompanyListItem(self.caller.accesses(), many=True).data)

    @extend_schema(request=shapes.NewCompany)
    def create(self, request: Request) -> Response:
        """Starts a company; the signed-in caller becomes its owner and its trial lasts 14 days. For people only."""
        if self.caller.kind != "session" or self.caller.user_id is None:
            raise SignInNeeded
        user = User.objects.get(id=self.caller.user_id)
        values = self.parsed(shapes.NewCompany)
        company, _ = founding.found_company(**values, owner=user, stamp=self.stamp)
        return self.created(company)


class CompanyDetailViewSet(CompanyViewSet):
    schema_tags = ["Companies"]
    schema_noun = "company"
    shape = shapes.CompanyShape
    refuses = {"update": ["rate_missing", founding.FactorFirst, SignInAgain]}
    minds_expiry = frozenset({"update"})  # what needs company:manage can still be changed
    permission_for = {
        "retrieve": Permission.COMPANY_READ,
        "update": Permission.COMPANY_WRITE,
        "put_logo": Permission.COMPANY_WRITE,
        "delete_logo": Permission.COMPANY_WRITE,
    }

    def retrieve(self, request: Request, company_id: str) -> Response:
        """One company: its settings, its status, and what is computed of it daily."""
        return self.one(self.company)

    def update(self, request: Request, company_id: str) -> Response:
        """Changes the fields that are sent. baseCurrency, dataStartDate and requireSecondFactor need `company:manage`
        besides; the last one is decided by owners who signed in, and have a second factor themselves."""
        values = self.parsed(shapes.CompanyShape, partial=True, shown=shapes.CompanyListItem)
        if (
            values.get("require_second_factor", self.company.require_second_factor)
            != self.company.require_second_factor
        ):
            require_recent_login(self)
        changed = founding.change_company(
            company=self.company, stamp=self.stamp, permissions=self.access.permissions, values=values
        )
        return self.one(changed)

    @extend_schema(operation_id="setCompanyLogo", request=shapes.LogoUpload)
    def put_logo(self, request: Request, company_id: str) -> Response:
        """Replaces the logo that comes from the company's domain wherever the company is shown."""
        png = logos.decode_png(self.parsed(shapes.LogoUpload)["image_base64"])
        return self.one(logos.replace_logo(company=self.company, stamp=self.stamp, png=png))

    @extend_schema(operation_id="deleteCompanyLogo", responses={200: shapes.CompanyShape})
    def delete_logo(self, request: Request, company_id: str) -> Response:
        """Takes the custom logo away; the one of the domain is shown again."""
        return self.one(logos.replace_logo(company=self.company, stamp=self.stamp, png=None))


class MemberViewSet(CompanyViewSet):
    schema_tags = ["Members"]
    resource, shape = Membership, shapes.MemberShape
    refuses = {
        "create": [AlreadyMember, AlreadyInvited, inviting.TooManyInvitations, SignInAgain],
        "resend": [inviting.NotInvited, inviting.TooManyInvitations, SignInAgain],
        **dict.fromkeys(("update", "destroy"), (members.LastOwner, SignInAgain)),
    }
    permission_for = {
        **granted(reads=Permission.MEMBERS_MANAGE, writes=Permission.MEMBERS_MANAGE),
        "resend": Permission.MEMBERS_MANAGE,
    }

    def list(self, request: Request, company_id: str) -> Response:
        """Everyone who belongs to the company, and who is invited to."""
        self.only_parameters()
        return self.all(Membership.objects.of(self.company.id).with_people())

    @extend_schema(request=shapes.NewMember)
    def create(self, request: Request, company_id: str) -> Response:
        """Invites somebody by e-mail: they are mailed a link that holds for seven days, and may do nothing here until
        they accept. 20 mails a day, those sent again included.

        userId and name are null until then: the answer is the same whether there is an account or not.
        """
        require_recent_login(self)
        values = self.parsed(shapes.NewMember)
        member = inviting.invite(company=self.company, stamp=self.stamp, by=self.access, **values)
        return self.created(member)

    def retrieve(self, request: Request, company_id: str, member_id: str) -> Response:
        """One member with role, own permissions and e-mail."""
        return self.one(self.found(Membership.objects.select_related("user"), member_id))

    @extend_schema(request=shapes.MemberInput(partial=True))
    def update(self, request: Request, company_id: str, member_id: str) -> Response:
        """Changes a member's role or own list of permissions; null means the role's. Of somebody who is invited, what
        they will be."""
        require_recent_login(self)
        values = self.parsed(shapes.MemberInput, partial=True, shown=shapes.MemberShape)
        member = members.change(
            company=self.company, stamp=self.stamp, by=self.access, member_id=member_id, values=values
        )
        return self.one(member)

    def destroy(self, request: Request, company_id: str, member_id: str) -> Response:
        """Ends a membership, or cancels an invitation. The keys that the member made live on."""
        require_recent_login(self)
        members.remove(company=self.company, stamp=self.stamp, by=self.access, member_id=member_id)
        return Response(SUCCESS)

    @extend_schema(operation_id="resendInvitation", request=None)
    def resend(self, request: Request, company_id: str, member_id: str) -> Response:
        """Mails another link, which holds for seven days from now; the one before it ends."""
        require_recent_login(self)
        member = inviting.resend(company=self.company, stamp=self.stamp, by=self.access, member_id=member_id)
        return self.one(member)


class OwnMembershipViewSet(CompanyViewSet):
    schema_tags = ["Members"]
    refuses = {"leave": [members.LastOwner]}
    permission_for = {"leave": ANY_MEMBER}

    @extend_schema(operation_id="leaveCompany", responses={200: Success})
    def leave(self, request: Request, company_id: str) -> Response:
        """Ends the caller's own membership, with the apps they let in; the keys they made live on. Keys and apps are no
        members: there is nothing for them to end (404)."""
        if self.caller.kind != "session":
            raise Missing
        members.leave(company=self.company, stamp=self.stamp)
        return Response(SUCCESS)


class ApiKeyViewSet(CompanyViewSet):
    schema_tags = ["API keys"]
    resource, shape = ApiKey, shapes.ApiKeyShape
    refuses = {"create": [SignInAgain], "destroy": [SignInAgain]}
    permission_for = granted(reads=Permission.API_KEYS_MANAGE, writes=Permission.API_KEYS_MANAGE)

    def list(self, request: Request, company_id: str) -> Response:
        """All keys of the company, revoked ones too; never their secrets."""
        self.only_parameters()
        return self.all(ApiKey.objects.of(self.company.id).newest_first())

    @extend_schema(request=shapes.NewApiKey, responses={201: shapes.CreatedApiKey})
    def create(self, request: Request, company_id: str) -> Response:
        """A new key; `key` is answered this once. It never holds more than its creator, and only owners who signed in
        make keys with administrative permissions. A browser session that signed in more than ten minutes ago is refused
        with `sign_in_again`."""
        require_recent_login(self)
        values = self.parsed(shapes.NewApiKey)
        minted = api_keys.mint(
            company=self.company,
            stamp=self.stamp,
            name=values["name"],
            permissions=known(values["permissions"]),
            expires_time=values["expires_time"],
            creator=self.access,
        )
        answer = self.created(minted.key)
        answer.data = {**answer.data, "key": minted.text}
        answer.headers["Cache-Control"] = "no-store"
        return answer

    def retrieve(self, request: Request, company_id: str, key_id: str) -> Response:
        """One key: what it may do and when it was last used; never its secret."""
        return self.one(self.found(ApiKey.objects, key_id))

    def destroy(self, request: Request, company_id: str, key_id: str) -> Response:
        """Revokes a key; its next request is refused. It stays listed. A browser session that signed in more than ten
        minutes ago is refused with `sign_in_again`."""
        require_recent_login(self)
        api_keys.revoke(company=self.company, stamp=self.stamp, key_id=key_id)
        return Response(SUCCESS)


class AuditEntryFilter(django_filters.FilterSet):
    entityType = django_filters.CharFilter("entity_type", max_length=40)  # noqa: N815 - parameters are named as on the wire
    entityId = django_filters.CharFilter("entity_id", max_length=LONGEST_ENTITY_ID)  # noqa: N815
    actor = django_filters.CharFilter("actor", max_length=64)
    since = TimeFilter("time", lookup_expr="gte")

    class Meta:
        model = AuditEntry
        fields: list[str] = []


class AuditLogViewSet(CompanyViewSet):
    schema_tags = ["Audit log"]
    schema_noun = "auditLog"
    shape = shapes.AuditEntryShape
    permission_for = {"list": Permission.AUDIT_READ}
    filterset_class = AuditEntryFilter

    @extend_schema(parameters=PAGING)
    def list(self, request: Request, company_id: str) -> Response:
        """Every change of the company's data, latest first."""
        rows = filtered(self, AuditEntryFilter, AuditEntry.objects.of(self.company.id))
        return self.page(rows, order=("-time", "-id"), near=latest_first(self.now))


class EventFilter(django_filters.FilterSet):
    type = django_filters.CharFilter("action", max_length=LONGEST_EVENT_TYPE, validators=[check_event_type])

    class Meta:
        model = AuditEntry
        fields: list[str] = []


class EventViewSet(CompanyViewSet):
    schema_tags = ["Audit log"]
    schema_noun = "events"
    shape = shapes.FeedEventShape
    permission_for = {"list": Permission.AUDIT_READ}
    filterset_class = EventFilter

    @extend_schema(parameters=[LIMIT, AFTER])
    def list(self, request: Request, company_id: str) -> Response:
        """What changed, in the order in which it was committed: nothing ever comes before an event that was given out.

        Ask again with the id of the last event as `after`, or by the `Link` header. Where nothing has happened since,
        the answer is empty, without `Link`, and the same `after` stays good. Events are kept as long as the audit log.
        """
        refuse_unknown({"cursor"} & set(request.query_params))  # the place in the feed is ``after``
        told = AuditEntry.objects.defer("before", "after")  # what changed is not
        rows = filtered(self, EventFilter, told, also=frozenset({"after"}))
        after = self.number_of(request.query_params["after"]) if "after" in request.query_params else 0
        page = rows.page_after(after, company_id=self.company.id, most=page_limit(request.query_params))
        events = self.shape(page, many=True).data
        return Response(events, headers={"Link": next_link(request, events[-1]["id"], "after")} if events else {})

    def number_of(self, event_id: str) -> int:
        wanted = id_from(event_id)
        entry = AuditEntry.objects.of(self.company.id).found(wanted) if wanted else None
        if entry is None:
            raise bad_cursor("after")
        return entry.number
