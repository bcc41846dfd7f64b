"""One line per endpoint."""

from django.urls import path
from django.views.generic import RedirectView

from companies import views
from companies.factors.pages import setting_up as factors
from companies.factors.pages import signing_in as second
from companies.pages import sending_again, switching
from companies.pages.people import home, invitations, profile, signing_in
from companies.pages.settings import activity, company, keys, members, permissions
from companies.security import pages as security

urlpatterns = [
    path("companies", views.CompanyListViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>", views.CompanyDetailViewSet.as_view({"get": "retrieve", "put": "update"})),
    path(
        "companies/<str:company_id>/logo",
        views.CompanyDetailViewSet.as_view({"put": "put_logo", "delete": "delete_logo"}),
    ),
    path("companies/<str:company_id>/members", views.MemberViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/members/me", views.OwnMembershipViewSet.as_view({"delete": "leave"})),
    path("companies/<str:company_id>/members/<str:member_id>/resend", views.MemberViewSet.as_view({"post": "resend"})),
    path(
        "companies/<str:company_id>/members/<str:member_id>",
        views.MemberViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("companies/<str:company_id>/api_keys", views.ApiKeyViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/api_keys/<str:key_id>", views.ApiKeyViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
    path("companies/<str:company_id>/audit_log", views.AuditLogViewSet.as_view({"get": "list"})),
    path("companies/<str:company_id>/events", views.EventViewSet.as_view({"get": "list"})),
    path("app", RedirectView.as_view(url="/app/")),
    path("app/", home.home, name="home"),
    path("app/sign-in", signing_in.sign_in, name="sign-in"),
    path("app/sign-in/second", second.second_step, name="second-step"),
    path("app/sign-in/passkey", second.with_passkey, name="passkey-sign-in"),
    path("app/sign-in/passkey/options", second.passkey_options, name="passkey-sign-in-options"),
    path("app/security/factors", factors.everything, name="factors"),
    path("app/security/factors/app", factors.add_app, name="factor-app"),
    path("app/security/factors/app/remove", factors.remove_app, name="factor-app-remove"),
    path("app/security/factors/passkeys", factors.add_passkey, name="passkey-add"),
    path("app/security/factors/passkeys/options", factors.passkey_options, name="passkey-options"),
    path("app/security/factors/passkeys/<uuid:passkey_id>/remove", factors.remove_passkey, name="passkey-remove"),
    path("app/security/factors/codes", factors.new_codes, name="recovery-codes"),
    path("app/send-again", sending_again.send_again, name="send-again"),
    path("app/sign-out", signing_in.sign_out, name="sign-out"),
    path("app/security", security.security, name="security"),
    path("app/security/end", security.end, name="security-end"),
    path("app/profile", profile.profile, name="profile"),
    path("app/profile/email", profile.change_email, name="email-change"),
    path("app/profile/email/<str:token>", profile.confirm_email, name="email-confirm"),
    path("app/shortcuts", switching.shortcuts, name="shortcuts"),
    path("app/password", signing_in.password_change, name="password-change"),
    path("app/password-reset", signing_in.password_reset, name="password-reset"),
    path("app/password-reset/<uidb64>/<token>", signing_in.SetPassword.as_view(), name="password-set"),
    path("app/invitations/<str:company_id>/<str:member_id>/<str:token>", invitations.answer, name="invitation"),
    path("app/companies/new", company.new, name="company-new"),
    path("app/companies/<str:company_id>/settings", company.edit, name="company-settings"),
    path("app/companies/<str:company_id>/settings/logo", company.logo, name="company-logo"),
    path("app/companies/<str:company_id>/settings/members", members.everyone, name="members"),
    path("app/companies/<str:company_id>/settings/members/<uuid:member_id>", members.change, name="member-change"),
    path("app/companies/<str:company_id>/settings/members/<uuid:member_id>/remove", members.remove, name="member-remove"),
    path("app/companies/<str:company_id>/settings/members/<uuid:member_id>/resend", members.resend, name="member-resend"),
    path(
        "app/companies/<str:company_id>/settings/members/<uuid:member_id>/permissions",
        permissions.of_member,
        name="member-permissions",
    ),
    path("app/companies/<str:company_id>/settings/access", permissions.own, name="own-access"),
    path("app/companies/<str:company_id>/settings/leave", members.leave, name="leave"),
    path("app/companies/<str:company_id>/settings/activity", activity.log, name="activity"),
    path("app/companies/<str:company_id>/settings/api-keys/new", keys.new_key, name="api-key-new"),
    path("app/companies/<str:company_id>/settings/api-keys/<uuid:key_id>/roll", keys.roll_key, name="api-key-roll"),
    path(
        "app/companies/<str:company_id>/settings/api-keys/<uuid:key_id>/revoke", keys.revoke_key, name="api-key-revoke"
    ),
]
