"""The staff's pages of companies and people: they look, move a company's status, and switch users off."""

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

from companies.errors import Refusal
from companies.membership import founding, members
from companies.middleware import REQUEST_ID
from companies.models import ApiKey, AuditEntry, Company, FailedRequest, Membership, Stamp, User
from companies.models.tenancy import id_from
from companies.pages.people.forms import NameField
from companies.pages.visits import prove_again
from companies.permissions import in_words
from companies.security import ending

MOST_FOUND = 200  # companies by a search; whoever asks for help can say more
LAST_FOUR = 4


class Door(admin.ModelAdmin):
    """A page on which staff change something: what an act refuses is said there, and nothing of it stays."""

    def changeform_view(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        return self.said(request, super().changeform_view, *args, **kwargs)

    def changelist_view(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        return self.said(request, super().changelist_view, *args, **kwargs)

    def said(self, request: Any, page: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            with transaction.atomic():
                if request.method == "POST":
                    one_after_the_other()
                return page(request, *args, **kwargs)
        except Refusal as refusal:
            messages.error(request, refusal.detail)
            return HttpResponseRedirect(request.get_full_path())


def one_after_the_other() -> None:
    """Has a cluster ask its machines one after the other until the transaction ends: who counted rows of all companies
    by several connections at once could not change a user or an app any more, whose copies those rows refer to. For any
    other database it is the name of nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")


class ReadOnly:
    """Shown, never changed here: money and the log have their own doors."""

    def has_add_permission(self, request: Any, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: Any, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        return False


class Rows(ReadOnly, admin.TabularInline):
    """Rows of a company below it."""

    template = "admin/rows.html"
    extra = 0
    show_change_link = False
    can_delete = False
    latest: int | None = None  # so many rows of the company, in their order; else all

    def get_queryset(self, request: Any) -> Any:
        rows = super().get_queryset(request)
        if self.latest is None:
            return rows
        company_id = id_from(request.resolver_match.kwargs.get("object_id", ""))
        of_company = self.wanted(rows.filter(company_id=company_id))
        return of_company.filter(pk__in=of_company.values("pk")[: self.latest])

    def wanted(self, rows: Any) -> Any:
        """Which of the company's rows are counted as its latest."""
        return rows


def stamp_of(request: Any) -> Stamp:
    """Who of the staff changes something, and when."""
    return Stamp(
        time=timezone.now(),
        actor=str(request.user.pk),
        user_id=request.user.pk,
        credential=f"staff:{request.user.pk}",
        request_id=request.request_id,
    )


class MembershipRows(Rows):
    model = Membership
    fields = readonly_fields = (
        "user", "invited_email", "role", "permissions", "joined_time", "expires_time", "second_factor_since",
    )  # fmt: skip
    verbose_name_plural = "members"

    @admin.display(description="second factor since")
    def second_factor_since(self, membership: Membership) -> str | None:
        since = membership.user.second_factor_since if membership.user else None
        return f"{since:%-d %b %Y}" if since else None

    def get_queryset(self, request: Any) -> Any:
        return super().get_queryset(request).select_related("user")


class FailedRequestRows(Rows):
    """Named as the person names them who asks: by the number that the page or the answer told."""

    model = FailedRequest
    fields = readonly_fields = ("time", "status", "method", "path", "error", "request_id")
    ordering = ("-time", "-id")
    verbose_name_plural = "latest requests that failed"


class ApiKeyRows(Rows):
    """Keys without any part of their secret but the last four characters."""

    model = ApiKey
    fields = readonly_fields = (
        "name", "last_four", "may", "created_user_id", "created_time", "expires_time", "last_used_time",
        "revoked_time",
    )  # fmt: skip
    verbose_name_plural = "API keys"

    @admin.display(description="permissions")
    def may(self, key: ApiKey) -> str:
        return in_words(key.permissions)


def counted(model: Any) -> Coalesce:
    """How many rows of a model a company has; by a query of its own, for two joins would multiply."""
    rows = model.objects.filter(company=OuterRef("pk")).order_by().values("company").annotate(n=Count("pk"))
    return Coalesce(Subquery(rows.values("n"), output_field=models.IntegerField()), 0)


@admin.register(Company)
class CompanyAdmin(Door):
    list_display = ("name", "system_status", "base_currency", "member_count", "key_count", "created_time")
    list_filter = ("system_status", "base_currency", "created_time")
    search_fields = ("name", "domain", "id")
    search_help_text = (
        "Name, domain, id; a member's e-mail address; a key's last four characters; an app's client id; a request id"
    )
    # Functions of what was typed that say which companies it leads to besides; apps above add theirs.
    searches: ClassVar[list[Callable[[str], Any]]] = []
    date_hierarchy = "created_time"
    ordering = ("name", "id")
    inlines: ClassVar[list[Any]] = [MembershipRows, ApiKeyRows, FailedRequestRows]
    shown = (
        "id", "name", "base_currency", "domain", "data_start_date", "created_time", "last_overall_updated_time",
        "computed_committed_mrr_eur", "computed_active_customer_count", "member_count", "key_count", "row_counts",
        "latest_changes",
    )  # fmt: skip

    def get_queryset(self, request: Any) -> Any:
        rows = super().get_queryset(request)
        return rows.annotate(members=counted(Membership), keys=counted(ApiKey))

    def get_search_results(self, request: Any, queryset: Any, search_term: str) -> Any:
        """Companies by what people name when they ask for help, too: see ``search_help_text``."""
        found, distinct = super().get_search_results(request, queryset, search_term)
        term = search_term.strip()
        if term:
            ids = {each for search in self.searches for each in search(term)}
            found |= queryset.filter(pk__in=ids)
        return found, distinct

    def get_fields(self, request: Any, obj: Any = None) -> Any:
        return (*self.shown[:5], "system_status", "system_trial_until", *self.shown[5:])

    def get_readonly_fields(self, request: Any, obj: Any = None) -> Any:
        return self.shown

    def formfield_for_dbfield(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        """The two boxes of a moment are named; the framework labels neither."""
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
        """How much the company has in every table of its own."""
        owned = [m for m in apps.get_models() if any(f.name == "company" for f in m._meta.concrete_fields)]
        counts = [(m._meta.verbose_name_plural, m._base_manager.filter(company=company).count()) for m in owned]
        return ", ".join(f"{count} {name}" for name, count in counts if count) or "none"

    @admin.display(description="latest changes")
    def latest_changes(self, company: Company) -> str:
        entries = AuditEntry.objects.of(company.id).order_by("-time", "-id")[:10]
        lines = [f"{e.time:%Y-%m-%d %H:%M} {e.action} by {e.actor or 'the service'}" for e in entries]
        address = f"{reverse('admin:companies_auditentry_changelist')}?q={company.id}"
        return format_html('<pre>{}</pre><a href="{}">All changes</a>', "\n".join(lines), address)

    def save_model(self, request: Any, obj: Company, form: Any, change: bool) -> None:  # noqa: FBT001
        """Through the act, so that the company's own log has it too."""
        values = {name: getattr(obj, name) for name in form.changed_data}  # a time in a form has lost its fractions
        stored = Company.objects.get(pk=obj.pk)
        founding.change_company(company=stored, stamp=stamp_of(request), permissions=frozenset(), values=values)


def by_member(term: str) -> Any:
    """Companies of somebody whose address has the term in it, invited ones too."""
    if "@" not in term:
        return ()
    address = Q(user__email__icontains=term) | Q(invited_email__icontains=term)
    return Membership.objects.filter(address).values_list("company_id", flat=True)[:MOST_FOUND]


def by_key(term: str) -> Any:
    """Companies of a key, by what the application shows of it: its last four characters."""
    if len(term) != LAST_FOUR:
        return ()
    return ApiKey.objects.filter(last_four=term).values_list("company_id", flat=True)[:MOST_FOUND]


def by_request(term: str) -> Any:
    """Companies in whose log a request left an entry, or where it failed."""
    if not REQUEST_ID.fullmatch(term):
        return ()
    logged = AuditEntry.objects.filter(request_id=term).values_list("company_id", flat=True)[:MOST_FOUND]
    failed = FailedRequest.objects.filter(request_id=term).values_list("company_id", flat=True)[:MOST_FOUND]
    return [*logged, *failed]


CompanyAdmin.searches += [by_member, by_key, by_request]


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly, Door):
    """One company's log at a time, or one request's: nothing else finds a row of all companies' logs together."""

    list_display = ("time", "action", "entity_type", "entity_id", "actor", "request_id")
    list_filter = ("action",)
    search_fields = ("company_id", "request_id")
    search_help_text = "The id of a company, or of a request"
    ordering = ("-time", "-id")
    show_full_result_count = False

    def get_search_results(self, request: Any, queryset: Any, search_term: str) -> Any:
        term = search_term.strip()
        company_id = id_from(term)
        if company_id and Company.objects.filter(pk=company_id).exists():
            return queryset.filter(company_id=company_id), False
        return (queryset.filter(request_id=term) if REQUEST_ID.fullmatch(term) else queryset.none()), False


class NewUserForm(BaseUserCreationForm):
    class Meta:
        model = User
        fields = ("email",)


class PersonForm(UserChangeForm):
    class Meta:
        model = User
        fields = "__all__"
        field_classes = {"name": NameField}


def again(request: Any) -> Any:
    """Who changes what others sign in with proved lately who they are; None where they did, or only look."""
    return prove_again(request, then=request.get_full_path()) if request.method == "POST" else None


admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin):
    """Groups of staff, with a plain list of permissions."""

    filter_horizontal = ()  # as for users


@admin.register(User)
class UserAdmin(Door, DjangoUserAdmin):
    """People. Switched off, a user's sessions and apps are refused at their next request."""

    form = PersonForm
    add_form = NewUserForm
    list_display = ("email", "name", "is_active", "is_staff", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    search_fields = ("email", "name", "id")
    ordering = ("email",)
    filter_horizontal = ()  # the framework's two boxes name themselves as no screen reader may read it
    actions = ("end_sessions",)
    fieldsets = (
        (None, {"fields": ("email", "password", "name")}),
        ("Access", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Dates", {"fields": ("last_login", "joined_time")}),
    )
    add_fieldsets = ((None, {"classes": ("wide",), "fields": ("email", "password1", "password2")}),)
    readonly_fields = ("last_login", "joined_time")
    # Whoever changes these can become anybody: the link for a new password goes to the address.
    for_superusers = ("email", "is_staff", "is_superuser", "groups", "user_permissions")

    def has_change_permission(self, request: Any, obj: Any = None) -> bool:
        """A superuser's account is changed by superusers, and looked at by other staff."""
        above = obj is not None and obj.is_superuser and not request.user.is_superuser
        return not above and super().has_change_permission(request, obj)

    def get_readonly_fields(self, request: Any, obj: Any = None) -> Any:
        if obj is None or request.user.is_superuser:
            return self.readonly_fields
        return (*self.readonly_fields, *self.for_superusers)

    def get_fieldsets(self, request: Any, obj: Any = None) -> Any:
        """Without the way to the password form for those whom it would refuse."""
        if obj is None or request.user.is_superuser:
            return super().get_fieldsets(request, obj)
        return ((None, {"fields": ("email", "name")}), *self.fieldsets[1:])

    def changeform_view(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        return again(request) or super().changeform_view(request, *args, **kwargs)

    def save_model(self, request: Any, obj: User, form: Any, change: bool) -> None:  # noqa: FBT001
        """The logs of the person's companies have it too."""
        before = User.objects.filter(pk=obj.pk).values(*members.SHOWN).first()
        super().save_model(request, obj, form, change)
        if before:
            members.person_changed(user=obj, before=before, stamp=stamp_of(request))

    def user_change_password(self, request: Any, id: Any, form_url: str = "") -> Any:  # noqa: A002 - its name in Django
        """For superusers: other staff could sign in as a company's owner with what they set."""
        if not request.user.is_superuser:
            raise PermissionDenied
        if asking := again(request):
            return asking
        before = self.get_object(request, id)
        response: Any = super().user_change_password(request, id, form_url)
        if before and not User.objects.filter(pk=before.pk, password=before.password).exists():
            here = request.session.session_key
            ending.password_changed(user=before, now=timezone.now(), but=here)
        return response

    @admin.action(description="End all sessions of selected users", permissions=["change"])
    def end_sessions(self, request: Any, queryset: Any) -> None:
        """But for the one in which this is asked for, and those of people whom its asker could not change."""
        users = [user for user in queryset if self.has_change_permission(request, user)]
        count = sum(ending.end_others(user, but=request.session.session_key) for user in users)
        messages.success(request, f"{count} sessions of {len(users)} users were ended.")

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        return False  # what a person did stays theirs; is_active switches them off
