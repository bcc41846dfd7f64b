"""Admin pages of companies and users: read-only data, company status, user accounts."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.apps import apps
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminSplitDateTime
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import BaseUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db import connection, models, transaction
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from companies.actions import companies, members
from companies.auth import session_revocation
from companies.errors import DomainError
from companies.middleware import REQUEST_ID
from companies.models import ApiKey, AuditContext, AuditEntry, Company, FailedRequest, Membership, User
from companies.models.tenancy import parse_id
from companies.pages.context import redirect_unless_recent_login
from companies.pages.user.forms import NameField
from companies.permissions import describe_permissions

MAX_FOUND_COMPANIES = 200  # rows found by a search
LAST_FOUR_LENGTH = 4


class ErrorMessageAdmin(admin.ModelAdmin):
    """Admin page with changes: a domain error rolls the change back and is shown as a message."""

    def changeform_view(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        return self.handle_errors(request, super().changeform_view, *args, **kwargs)

    def changelist_view(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        return self.handle_errors(request, super().changelist_view, *args, **kwargs)

    def handle_errors(self, request: Any, page: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            with transaction.atomic():
                if request.method == "POST":
                    use_sequential_mode()
                return page(request, *args, **kwargs)
        except DomainError as refusal:
            messages.error(request, refusal.detail)
            return HttpResponseRedirect(request.get_full_path())


def use_sequential_mode() -> None:
    """Make a Citus cluster query its machines sequentially until the end of the transaction.

    After parallel queries over all companies, users and apps, which are copied to every machine, cannot be
    changed in the same transaction. No effect on other databases.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")


class ReadOnlyAdminMixin:
    """Admin page without changes: financial data and the log are changed elsewhere."""

    def has_add_permission(self, request: Any, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: Any, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        return False


class CompanyRowsInline(ReadOnlyAdminMixin, admin.TabularInline):
    """Inline with rows of a company."""

    template = "admin/rows.html"
    extra = 0
    show_change_link = False
    can_delete = False
    latest: int | None = None  # show only this many latest rows; None for all

    def get_queryset(self, request: Any) -> Any:
        rows = super().get_queryset(request)
        if self.latest is None:
            return rows
        company_id = parse_id(request.resolver_match.kwargs.get("object_id", ""))
        company_rows = self.filter_latest(rows.filter(company_id=company_id))
        return company_rows.filter(pk__in=company_rows.values("pk")[: self.latest])

    def filter_latest(self, rows: Any) -> Any:
        """Filter the rows that count towards the latest ones."""
        return rows


def build_staff_audit_context(request: Any) -> AuditContext:
    """Build the audit context of a staff user's request."""
    return AuditContext(
        time=timezone.now(),
        actor=str(request.user.pk),
        user_id=request.user.pk,
        credential=f"staff:{request.user.pk}",
        request_id=request.request_id,
    )


class MembershipInline(CompanyRowsInline):
    model = Membership
    fields = readonly_fields = (
        "user", "invited_email", "role", "permissions", "joined_time", "expires_time", "second_factor_since",
    )  # fmt: skip
    verbose_name_plural = "members"

    @admin.display(description="two-factor authentication since")
    def second_factor_since(self, membership: Membership) -> str | None:
        since = membership.user.second_factor_since if membership.user else None
        return f"{since:%-d %b %Y}" if since else None

    def get_queryset(self, request: Any) -> Any:
        return super().get_queryset(request).select_related("user")


class FailedRequestInline(CompanyRowsInline):
    """Failed requests with the request id that the user was shown."""

    model = FailedRequest
    fields = readonly_fields = ("time", "status", "method", "path", "error", "request_id")
    ordering = ("-time", "-id")
    verbose_name_plural = "latest failed requests"


class ApiKeyInline(CompanyRowsInline):
    """API keys without their secret, except its last four characters."""

    model = ApiKey
    fields = readonly_fields = (
        "name", "last_four", "permission_summary", "created_user_id", "created_time", "expires_time", "last_used_time",
        "revoked_time",
    )  # fmt: skip
    verbose_name_plural = "API keys"

    @admin.display(description="permissions")
    def permission_summary(self, key: ApiKey) -> str:
        return describe_permissions(key.permissions)


def count_company_rows(model: Any) -> Coalesce:
    """Build a subquery that counts a company's rows of a model; two joins would multiply the counts."""
    rows = model.objects.filter(company=OuterRef("pk")).order_by().values("company").annotate(n=Count("pk"))
    return Coalesce(Subquery(rows.values("n"), output_field=models.IntegerField()), 0)


@admin.register(Company)
class CompanyAdmin(ErrorMessageAdmin):
    list_display = ("name", "system_status", "base_currency", "member_count", "key_count", "created_time")
    list_filter = ("system_status", "base_currency", "created_time")
    search_fields = ("name", "domain", "id")
    search_help_text = (
        "Name, domain or ID; a member's email address; last four characters of a key; client ID of an app; request ID"
    )
    # Functions of the search term that return ids of matching companies; other apps add theirs.
    searches: ClassVar[list[Callable[[str], Any]]] = []
    date_hierarchy = "created_time"
    ordering = ("name", "id")
    inlines: ClassVar[list[Any]] = [MembershipInline, ApiKeyInline, FailedRequestInline]
    shown_fields = (
        "id", "name", "base_currency", "domain", "data_start_date", "created_time", "last_overall_updated_time",
        "computed_committed_mrr_eur", "computed_active_customer_count", "member_count", "key_count", "row_counts",
        "latest_changes",
    )  # fmt: skip

    def get_queryset(self, request: Any) -> Any:
        rows = super().get_queryset(request)
        return rows.annotate(members=count_company_rows(Membership), keys=count_company_rows(ApiKey))

    def get_search_results(self, request: Any, queryset: Any, search_term: str) -> Any:
        """Also find companies by the terms in ``search_help_text``."""
        companies, distinct = super().get_search_results(request, queryset, search_term)
        term = search_term.strip()
        if term:
            ids = {each for search in self.searches for each in search(term)}
            companies |= queryset.filter(pk__in=ids)
        return companies, distinct

    def get_fields(self, request: Any, obj: Any = None) -> Any:
        return (*self.shown_fields[:5], "system_status", "system_trial_until", *self.shown_fields[5:])

    def get_readonly_fields(self, request: Any, obj: Any = None) -> Any:
        return self.shown_fields

    def formfield_for_dbfield(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        """Label the date and the time input of a datetime field, which Django leaves unlabelled."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and isinstance(field.widget, AdminSplitDateTime):
            for box, part in zip(field.widget.widgets, ("date", "time"), strict=True):
                box.attrs["aria-label"] = f"{field.label}, {part}"
        return field

    def has_add_permission(self, request: Any) -> bool:
        return False  # create_company, or POST /companies

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        return False

    @admin.display(description="members", ordering="members")
    def member_count(self, company: Any) -> int:
        return int(company.members)

    @admin.display(description="API keys", ordering="keys")
    def key_count(self, company: Any) -> int:
        return int(company.keys)

    @admin.display(description="rows")
    def row_counts(self, company: Company) -> str:
        """Number of rows in every table of the company."""
        models_of_company = [m for m in apps.get_models() if any(f.name == "company" for f in m._meta.concrete_fields)]
        counts = [
            (m._meta.verbose_name_plural, m._base_manager.filter(company=company).count()) for m in models_of_company
        ]
        return ", ".join(f"{count} {name}" for name, count in counts if count) or "none"

    @admin.display(description="latest changes")
    def latest_changes(self, company: Company) -> str:
        entries = AuditEntry.objects.for_company(company.id).order_by("-time", "-id")[:10]
        lines = [f"{e.time:%Y-%m-%d %H:%M} {e.action} by {e.actor or 'the service'}" for e in entries]
        address = f"{reverse('admin:companies_auditentry_changelist')}?q={company.id}"
        return format_html('<pre>{}</pre><a href="{}">All changes</a>', "\n".join(lines), address)

    def save_model(self, request: Any, obj: Company, form: Any, change: bool) -> None:  # noqa: FBT001
        """Save through the update operation, so that the company's audit log has an entry."""
        values = {name: getattr(obj, name) for name in form.changed_data}  # form times have no fractions
        stored_company = Company.objects.get(pk=obj.pk)
        companies.update_company(
            company=stored_company, context=build_staff_audit_context(request), permissions=frozenset(), values=values
        )


def find_companies_by_member(term: str) -> Any:
    """Return companies with a member or invitation whose address contains the term."""
    if "@" not in term:
        return ()
    address = Q(user__email__icontains=term) | Q(invited_email__icontains=term)
    return Membership.objects.filter(address).values_list("company_id", flat=True)[:MAX_FOUND_COMPANIES]


def find_companies_by_key(term: str) -> Any:
    """Return companies with an API key that ends in the term (four characters)."""
    if len(term) != LAST_FOUR_LENGTH:
        return ()
    return ApiKey.objects.filter(last_four=term).values_list("company_id", flat=True)[:MAX_FOUND_COMPANIES]


def find_companies_by_request(term: str) -> Any:
    """Return companies with an audit entry or failed request of this request id."""
    if not REQUEST_ID.fullmatch(term):
        return ()
    logged_ids = AuditEntry.objects.filter(request_id=term).values_list("company_id", flat=True)[:MAX_FOUND_COMPANIES]
    failed_ids = FailedRequest.objects.filter(request_id=term).values_list("company_id", flat=True)[
        :MAX_FOUND_COMPANIES
    ]
    return [*logged_ids, *failed_ids]


CompanyAdmin.searches += [find_companies_by_member, find_companies_by_key, find_companies_by_request]


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdminMixin, ErrorMessageAdmin):
    """Audit log of one company or one request: a list over all companies would be too slow."""

    list_display = ("time", "action", "entity_type", "entity_id", "actor", "request_id")
    list_filter = ("action",)
    search_fields = ("company_id", "request_id")
    search_help_text = "Company ID or request ID"
    ordering = ("-time", "-id")
    show_full_result_count = False

    def get_search_results(self, request: Any, queryset: Any, search_term: str) -> Any:
        term = search_term.strip()
        company_id = parse_id(term)
        if company_id and Company.objects.filter(pk=company_id).exists():
            return queryset.filter(company_id=company_id), False
        return (queryset.filter(request_id=term) if REQUEST_ID.fullmatch(term) else queryset.none()), False


class NewUserForm(BaseUserCreationForm):
    class Meta:
        model = User
        fields = ("email",)


class StaffUserForm(UserChangeForm):
    class Meta:
        model = User
        fields = "__all__"
        field_classes = {"name": NameField}


def redirect_staff_unless_recent_login(request: Any) -> Any:
    """Return a redirect to sign-in if a staff user changes something without a recent sign-in; None otherwise."""
    return (
        redirect_unless_recent_login(request, next_path=request.get_full_path()) if request.method == "POST" else None
    )


admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin):
    """Staff groups, with a plain list of permissions."""

    filter_horizontal = ()  # as for users


@admin.register(User)
class UserAdmin(ErrorMessageAdmin, DjangoUserAdmin):
    """Users. A deactivated user's sessions and apps are rejected at their next request."""

    form = StaffUserForm
    add_form = NewUserForm
    list_display = ("email", "name", "is_active", "is_staff", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    search_fields = ("email", "name", "id")
    ordering = ("email",)
    filter_horizontal = ()  # the labels of Django's two-box widget are not accessible
    actions = ("end_sessions",)
    fieldsets = (
        (None, {"fields": ("email", "password", "name")}),
        ("Access", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Dates", {"fields": ("last_login", "joined_time")}),
    )
    add_fieldsets = ((None, {"classes": ("wide",), "fields": ("email", "password1", "password2")}),)
    readonly_fields = ("last_login", "joined_time")
    # Whoever can change these can take over any account: password reset links go to the e-mail address.
    for_superusers = ("email", "is_staff", "is_superuser", "groups", "user_permissions")

    def has_change_permission(self, request: Any, obj: Any = None) -> bool:
        """Only superusers may change a superuser's account; other staff can view it."""
        above = obj is not None and obj.is_superuser and not request.user.is_superuser
        return not above and super().has_change_permission(request, obj)

    def get_readonly_fields(self, request: Any, obj: Any = None) -> Any:
        if obj is None or request.user.is_superuser:
            return self.readonly_fields
        return (*self.readonly_fields, *self.for_superusers)

    def get_fieldsets(self, request: Any, obj: Any = None) -> Any:
        """Without the password field for staff who may not change it."""
        if obj is None or request.user.is_superuser:
            return super().get_fieldsets(request, obj)
        return ((None, {"fields": ("email", "name")}), *self.fieldsets[1:])

    def changeform_view(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        return redirect_staff_unless_recent_login(request) or super().changeform_view(request, *args, **kwargs)

    def save_model(self, request: Any, obj: User, form: Any, change: bool) -> None:  # noqa: FBT001
        """Also write the change to the audit logs of the user's companies."""
        before = User.objects.filter(pk=obj.pk).values(*members.VISIBLE_USER_FIELDS).first()
        super().save_model(request, obj, form, change)
        if before:
            members.record_user_change(user=obj, before=before, context=build_staff_audit_context(request))

    def user_change_password(self, request: Any, id: Any, form_url: str = "") -> Any:  # noqa: A002 - its name in Django
        """Superusers only: otherwise staff could sign in as a company's owner."""
        if not request.user.is_superuser:
            raise PermissionDenied
        if login_redirect := redirect_staff_unless_recent_login(request):
            return login_redirect
        user_before = self.get_object(request, id)
        response: Any = super().user_change_password(request, id, form_url)
        if user_before and not User.objects.filter(pk=user_before.pk, password=user_before.password).exists():
            session_key = request.session.session_key
            session_revocation.handle_password_change(
                user=user_before, now=timezone.now(), except_session_key=session_key
            )
        return response

    @admin.action(description="Sign out selected users from all sessions", permissions=["change"])
    def end_sessions(self, request: Any, queryset: Any) -> None:
        """Revoke the sessions of the selected users, except the current one and those of users the staff user may
        not change.
        """
        users = [user for user in queryset if self.has_change_permission(request, user)]
        count = sum(
            session_revocation.revoke_other_sessions(user, except_session_key=request.session.session_key)
            for user in users
        )
        messages.success(request, f"{count} sessions of {len(users)} users signed out.")

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        return False  # users are deactivated, never deleted, since their changes refer to them
