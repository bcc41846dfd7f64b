"""The staff's pages of apps: they register them, switch them off, and see who let them in."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.core.validators import FileExtensionValidator
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html

from companies.admin import CompanyAdmin, ReadOnly, Rows, stamp_of
from companies.errors import Invalid
from companies.logos import clean_png
from oauth import registration, scopes
from oauth.models import Application, ConsentGrant

MOST_LOGO_BYTES = 1024 * 1024


class ApplicationForm(forms.ModelForm):
    allowed_scopes = forms.MultipleChoiceField(
        choices=[(scope, f"{scope}: {sentence}") for scope, sentence in scopes.SENTENCES.items()],
        initial=list(scopes.ALL),
        widget=forms.CheckboxSelectMultiple,
        help_text="One taken away is lost to the app's tokens at their next request.",
    )
    website = forms.URLField(required=False, assume_scheme="https", help_text="Shown on the consent page.")
    logo = forms.FileField(
        required=False, validators=[FileExtensionValidator(["png"])], help_text="A PNG; shown on the consent page."
    )
    new_secret = forms.BooleanField(
        required=False,
        label="Make a new client secret",
        help_text="Confidential apps only. The old one ends at once; the new one is shown once, after saving.",
    )

    class Meta:
        model = Application
        fields = ("name", "client_type", "redirect_uris", "allowed_scopes", "enabled", "website", "contact", "notes")

    def clean_logo(self) -> bytes | None:
        upload = self.cleaned_data.get("logo")
        if not upload:
            return None
        if upload.size > MOST_LOGO_BYTES:
            raise forms.ValidationError("The logo is larger than 1 MiB.")
        raw: bytes = upload.read()
        try:
            clean_png(raw)
        except Invalid as refusal:
            raise forms.ValidationError(refusal.detail) from None
        return raw


class ConsentRows(Rows):
    """Consents with no part of any token."""

    model = ConsentGrant
    fields = readonly_fields = (
        "company", "user", "scopes", "created_time", "last_used_time", "revoked_time", "revoked_reason",
    )  # fmt: skip
    ordering = ("-created_time",)

    def get_queryset(self, request: Any) -> Any:
        return super().get_queryset(request).select_related("company", "user")


class CompanyConsentRows(ConsentRows):
    fields = readonly_fields = (
        "application", "user", "scopes", "created_time", "last_used_time", "revoked_time", "revoked_reason",
    )  # fmt: skip
    verbose_name_plural = "connected apps"

    def get_queryset(self, request: Any) -> Any:
        return super().get_queryset(request).select_related("application")


CompanyAdmin.inlines.append(CompanyConsentRows)


@admin.register(Application)
class ApplicationAdmin(admin.ModelAdmin):
    form = ApplicationForm
    list_display = ("name", "client_id", "client_type", "enabled", "created")
    list_filter = ("enabled", "client_type")
    list_editable = ("enabled",)
    formfield_overrides: ClassVar[Any] = {models.URLField: {"assume_scheme": "https"}}
    search_fields = ("name", "client_id", "redirect_uris", "contact")
    readonly_fields = ("client_id", "logo_shown", "created", "updated")
    inlines: ClassVar[list[Any]] = [ConsentRows]
    fields = (
        "name", "client_id", "client_type", "redirect_uris", "allowed_scopes", "enabled", "logo_shown", "logo",
        "website", "contact", "notes", "new_secret", "created", "updated",
    )  # fmt: skip

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        return False  # who let an app in stays known; ``enabled`` switches it off

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return self.inlines if obj else []

    @admin.display(description="logo now")
    def logo_shown(self, application: Application) -> str:
        if not application.logo_url:
            return "none"
        return format_html('<img src="{}" width="64" height="64" alt="">', application.logo_url)

    def save_model(self, request: Any, obj: Application, form: Any, change: bool) -> None:  # noqa: FBT001
        """The log of the admin has every change, and those of the companies that let the app in; a secret is told to
        nobody but the one who made it, once."""
        before, secret = Application.objects.filter(pk=obj.pk).values(*registration.LOGGED).first(), None
        if obj.confidential and (not obj.client_secret or form.cleaned_data.get("new_secret")):
            secret = registration.give_secret(obj)
        elif not obj.confidential:
            obj.client_secret = ""
        if form.cleaned_data.get("logo"):
            registration.put_logo(obj, form.cleaned_data["logo"])
        super().save_model(request, obj, form, change)
        if before:
            registration.app_changed(application=obj, before=before, stamp=stamp_of(request))
        request.new_secret = secret

    def response_add(self, request: Any, obj: Any, post_url_continue: Any = None) -> Any:
        """To the new app's page, where its client id stands."""
        messages.success(request, f"{obj} was registered. Its client_id is {obj.client_id}.")
        return self.shown_once(request, obj) or HttpResponseRedirect(self.address(obj))

    def response_change(self, request: Any, obj: Any) -> Any:
        return self.shown_once(request, obj) or super().response_change(request, obj)

    def shown_once(self, request: Any, application: Application) -> HttpResponse | None:
        """The page with a new secret, in the very answer: it is stored nowhere, in no cookie and no session."""
        if not request.new_secret:
            return None
        context = self.admin_site.each_context(request) | {
            "title": "The client secret", "application": application, "secret": request.new_secret,
            "address": self.address(application),
        }  # fmt: skip
        response = render(request, "admin/oauth/secret.html", context)
        response["Cache-Control"] = "no-store"
        return response

    def address(self, application: Application) -> str:
        return reverse("admin:oauth_application_change", args=[application.pk])


@admin.register(ConsentGrant)
class ConsentGrantAdmin(ReadOnly, admin.ModelAdmin):
    list_display = (
        "application",
        "company",
        "user",
        "created_time",
        "last_used_time",
        "revoked_time",
        "revoked_reason",
    )
    list_filter = ("application", "revoked_reason", "created_time")
    list_select_related = ("application", "company", "user")
    search_fields = ("id", "user__email", "company__name", "application__name")
    date_hierarchy = "created_time"
    ordering = ("-created_time",)
    fields = (
        "id", "application", "company", "user", "scopes", "permissions", "auth_time", "created_time", "redeemed_time",
        "last_used_time", "revoked_time", "revoked_reason",
    )  # fmt: skip
