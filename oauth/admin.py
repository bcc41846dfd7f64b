"""Admin pages of apps: register, disable, and see their consents."""

from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.utils import display_for_value
from django.core.exceptions import PermissionDenied
from django.core.validators import FileExtensionValidator
from django.db import models
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.template.defaultfilters import pluralize
from django.urls import path, reverse
from django.utils.html import format_html

from companies.actions.logo import clean_png
from companies.admin import (
    MAX_FOUND_COMPANIES,
    CompanyAdmin,
    CompanyRowsInline,
    ErrorMessageAdmin,
    ReadOnlyAdminMixin,
    build_staff_audit_context,
)
from companies.errors import InvalidInputError
from companies.pages.user.forms import NameField
from oauth import authorization_request, pages, registration
from oauth.models import Application, ClientHost, ConsentGrant
from oauth.protocol import scopes
from oauth.protocol.parameters import encode_parameters

MAX_LOGO_BYTES = 1024 * 1024


class ApplicationForm(forms.ModelForm):
    allowed_scopes = forms.MultipleChoiceField(
        choices=[(scope, f"{scope}: {sentence}") for scope, sentence in scopes.SCOPE_SENTENCES.items()],
        initial=list(scopes.ALL_SCOPES),
        widget=forms.CheckboxSelectMultiple,
        help_text="Removing a scope takes effect on existing tokens immediately.",
    )
    website = forms.URLField(required=False, assume_scheme="https", help_text="Shown on the consent page.")
    logo = forms.FileField(
        required=False, validators=[FileExtensionValidator(["png"])], help_text="PNG, shown on the consent page."
    )
    new_secret = forms.BooleanField(
        required=False,
        label="Create new client secret",
        help_text="Confidential apps only. The old secret stops working; the new one is shown once after saving.",
    )

    class Meta:
        model = Application
        fields = ("name", "client_type", "redirect_uris", "allowed_scopes", "enabled", "website", "contact", "notes")
        field_classes: ClassVar[Any] = {"name": NameField}

    def clean_logo(self) -> bytes | None:
        upload = self.cleaned_data.get("logo")
        if not upload:
            return None
        if upload.size > MAX_LOGO_BYTES:
            raise forms.ValidationError("The logo is too large. Upload a PNG of at most 1 MiB.")
        raw: bytes = upload.read()
        try:
            clean_png(raw)
        except InvalidInputError as refusal:
            raise forms.ValidationError(refusal.detail) from None
        return raw


class CompanyConsentRows(CompanyRowsInline):
    """Consents, without any part of a token."""

    model = ConsentGrant
    fields = readonly_fields = (
        "application", "user", "scopes", "created_time", "last_used_time", "revoked_time", "revoked_reason",
    )  # fmt: skip
    ordering = ("-created_time",)
    verbose_name_plural = "connected apps"

    def get_queryset(self, request: Any) -> Any:
        return super().get_queryset(request).select_related("application", "company", "user")


TRIAL_CODE_VERIFIER = "only-to-try-an-app-0123456789-abcdefghijklmnopq"  # a real app generates a new one each time


def build_authorize_link(application: Application) -> str:
    values = {
        "response_type": "code", "client_id": application.client_id, "redirect_uri": application.uris[0],
        "scope": " ".join(application.allowed_scopes), "state": "try", "code_challenge_method": "S256",
        "code_challenge": urlsafe_b64encode(sha256(TRIAL_CODE_VERIFIER.encode()).digest()).rstrip(b"=").decode(),
    }  # fmt: skip
    return f"{settings.BASE_URL}{authorization_request.AUTHORIZE_PATH}?{encode_parameters(values)}"


def find_company_ids_by_app(term: str) -> Any:
    """Return the companies that connected an app, by its client id."""
    consents = ConsentGrant.objects.filter(application__client_id=term)
    return consents.values_list("company_id", flat=True).distinct()[:MAX_FOUND_COMPANIES]


CompanyAdmin.inlines.append(CompanyConsentRows)
CompanyAdmin.searches.append(find_company_ids_by_app)


STANDING_CONSENTS = Q(consents__revoked_time=None, consents__redeemed_time__isnull=False)


class ApplicationAdmin(ErrorMessageAdmin):
    """Registered with django-oauth-toolkit by its setting."""

    takes_uploads = True  # its logo

    form = ApplicationForm
    view_on_site = False
    list_display = ("name", "enabled", "consent_count", "last_used", "client_type", "client_id")
    list_filter = ("enabled", "client_type")
    list_editable = ("enabled",)
    formfield_overrides: ClassVar[Any] = {models.URLField: {"assume_scheme": "https"}}
    search_fields = ("name", "client_id", "redirect_uris", "contact")
    readonly_fields = (
        "client_id",
        "test_links",
        "consent_count",
        "last_used",
        "disabling_effect",
        "current_logo",
        "created",
        "updated",
    )
    fields = (
        "name", "client_id", "test_links", "client_type", "redirect_uris", "allowed_scopes", "enabled",
        "disabling_effect", "consent_count", "last_used", "current_logo", "logo", "website", "contact", "notes",
        "new_secret", "created", "updated",
    )  # fmt: skip
    of_stored = {*readonly_fields, "new_secret"}  # a new app has a secret anyway, and no client id yet

    def get_queryset(self, request: Any) -> Any:
        used = Max("consents__last_used_time")
        return super().get_queryset(request).annotate(standing=Count("consents", filter=STANDING_CONSENTS), used=used)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields if obj else [name for name in self.fields if name not in self.of_stored]

    @admin.display(description="consents", ordering="standing")
    def consent_count(self, application: Any) -> str:
        """The number of standing consents, linked to all consents ever given."""
        all_of_it = f"{reverse('admin:oauth_consentgrant_changelist')}?application__id__exact={application.pk}"
        return format_html('<a href="{}">{}</a>', all_of_it, application.standing)

    @admin.display(description="last used", ordering="used")
    def last_used(self, application: Any) -> Any:
        return display_for_value(application.used, "-")

    @admin.display(description="test")
    def test_links(self, application: Application) -> str:
        """Links to the consent page preview, and to an authorization whose code TRIAL_CODE_VERIFIER redeems."""
        return format_html(
            '<a href="{}">View consent page</a> · <a href="{}">Authorize</a> with code_verifier <code>{}</code>',
            reverse("admin:oauth_application_preview", args=[application.pk]), build_authorize_link(application),
            TRIAL_CODE_VERIFIER,
        )  # fmt: skip

    @admin.display(description="disabling")
    def disabling_effect(self, application: Any) -> str:
        standing = f"{application.standing} active consent{pluralize(application.standing)}"
        return f"Disabling rejects the tokens of {standing} immediately. They work again when you enable the app."

    def get_urls(self) -> list[Any]:
        preview = path("<int:pk>/preview/", self.admin_site.admin_view(self.preview), name="oauth_application_preview")
        return [preview, *super().get_urls()]

    def preview(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show the consent page without a form."""
        application = get_object_or_404(Application, pk=pk)
        if not self.has_view_permission(request, application):
            raise PermissionDenied
        companies = [{"access": {"company": {"name": "Example company"}, "role": "owner"}, "possible": True}]
        context = pages.build_consent_context(
            application,
            uri=application.uris[0],
            requested_scopes=scopes.sort_scopes(application.allowed_scopes),
            companies=companies,
        )
        return render(request, "oauth/consent.html", context | {"preview": True})

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        return False  # consents must stay known; `enabled` disables the app

    def get_changelist_form(self, request: HttpRequest, **kwargs: Any) -> Any:
        named = {"enabled": forms.CheckboxInput(attrs={"aria-label": "Enabled"})}
        return super().get_changelist_form(request, widgets=named, **kwargs)

    @admin.display(description="current logo")
    def current_logo(self, application: Application) -> str:
        if not application.logo_url:
            return "none"
        return format_html('<img src="{}" width="64" height="64" alt="">', application.logo_url)

    def save_model(self, request: Any, obj: Application, form: Any, change: bool) -> None:  # noqa: FBT001
        """Save the app, record the change in the audit logs of its companies, and keep a new secret to show once."""
        before, secret = Application.objects.filter(pk=obj.pk).values(*registration.LOGGED_FIELDS).first(), None
        if obj.confidential and (not obj.client_secret or form.cleaned_data.get("new_secret")):
            secret = registration.assign_client_secret(obj)
        elif not obj.confidential:
            obj.client_secret = ""
        if form.cleaned_data.get("logo"):
            registration.store_app_logo(obj, form.cleaned_data["logo"])
        super().save_model(request, obj, form, change)
        if before:
            registration.record_app_change(application=obj, before=before, context=build_staff_audit_context(request))
        request.new_secret = secret

    def response_add(self, request: Any, obj: Any, post_url_continue: Any = None) -> Any:
        """Redirect to the new app's page, which shows its client id."""
        messages.success(request, f"App {obj} registered. client_id: {obj.client_id}")
        return self.render_secret_once(request, obj) or HttpResponseRedirect(self.get_change_url(obj))

    def response_change(self, request: Any, obj: Any) -> Any:
        return self.render_secret_once(request, obj) or super().response_change(request, obj)

    def render_secret_once(self, request: Any, application: Application) -> HttpResponse | None:
        """Render the page with a new secret, which is stored in no database, cookie or session."""
        if not request.new_secret:
            return None
        context = self.admin_site.each_context(request) | {
            "title": "Client secret", "application": application, "secret": request.new_secret,
            "address": self.get_change_url(application), "links": self.test_links(application),
        }  # fmt: skip
        response = render(request, "admin/oauth/secret.html", context)
        response["Cache-Control"] = "no-store"
        return response

    def get_change_url(self, application: Application) -> str:
        return reverse("admin:oauth_application_change", args=[application.pk])


@admin.register(ClientHost)
class ClientHostAdmin(ErrorMessageAdmin):
    """Hosts whose apps describe themselves; removing one rejects new apps, not the known ones."""

    list_display = ("host",)


@admin.register(ConsentGrant)
class ConsentGrantAdmin(ReadOnlyAdminMixin, ErrorMessageAdmin):
    list_display = (
        "application", "company", "user", "created_time", "last_used_time", "revoked_time", "revoked_reason",
    )  # fmt: skip
    list_filter = ("application", "revoked_reason", "created_time")
    list_select_related = ("application", "company", "user")
    search_fields = ("id", "user__email", "company__name", "application__name")
    date_hierarchy = "created_time"
    ordering = ("-created_time",)
    fields = (
        "id", "application", "company", "user", "scopes", "permissions", "auth_time", "created_time", "redeemed_time",
        "last_used_time", "revoked_time", "revoked_reason",
    )  # fmt: skip
