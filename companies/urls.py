"""One line per endpoint."""

from django.urls import path
from django.views.generic import RedirectView

from companies import views
from companies.audit import pages
from companies.pages import company_switcher, resubmit_form
from companies.pages.settings import api_keys, company, member_permissions, members, sandboxes
from companies.pages.user import home, invitations, profile, security, sign_in, sign_up
from companies.pages.user import mfa_settings as factors
from companies.pages.user import second_step as second

urlpatterns = [
    path("companies", views.CompanyListViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "companies/<str:company_id>",
        views.CompanyDetailViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("companies/<str:company_id>/copy", views.CompanyDetailViewSet.as_view({"post": "copy"})),
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
    path("app/", home.show_home, name="home"),
    path("app/sign-in", sign_in.sign_in_page, name="sign-in"),
    path("app/sign-in/second", second.verify_second_step_page, name="second-step"),
    path("app/sign-in/passkey", second.sign_in_with_passkey_page, name="passkey-sign-in"),
    path("app/sign-in/passkey/options", second.show_passkey_login_options, name="passkey-sign-in-options"),
    path("app/security/factors", factors.show_mfa_devices, name="factors"),
    path("app/security/factors/app", factors.add_authenticator_app_page, name="factor-app"),
    path("app/security/factors/app/remove", factors.remove_authenticator_app_page, name="factor-app-remove"),
    path("app/security/factors/passkeys", factors.add_passkey_page, name="passkey-add"),
    path("app/security/factors/passkeys/options", factors.show_passkey_registration_options, name="passkey-options"),
    path("app/security/factors/passkeys/<uuid:passkey_id>/remove", factors.remove_passkey_page, name="passkey-remove"),
    path("app/security/factors/codes", factors.replace_recovery_codes_page, name="recovery-codes"),
    path("app/send-again", resubmit_form.resubmit_form_page, name="send-again"),
    path("app/sign-up", sign_up.sign_up_page, name="sign-up"),
    path("app/sign-up/<str:token>", sign_up.create_account_page, name="sign-up-account"),
    path("app/sign-out", sign_in.sign_out_page, name="sign-out"),
    path("app/security", security.show_security, name="security"),
    path("app/security/end", security.revoke_sessions_page, name="security-end"),
    path("app/profile", profile.edit_profile_page, name="profile"),
    path("app/profile/email", profile.request_email_change_page, name="email-change"),
    path("app/profile/email/<str:token>", profile.confirm_email_change_page, name="email-confirm"),
    path("app/shortcuts", company_switcher.show_keyboard_shortcuts, name="shortcuts"),
    path("app/password", sign_in.change_password_page, name="password-change"),
    path("app/password-reset", sign_in.request_password_reset_page, name="password-reset"),
    path("app/password-reset/<uidb64>/<token>", sign_in.SetPasswordView.as_view(), name="password-set"),
    path("app/invitations/<str:company_id>/<str:member_id>/<str:token>", invitations.answer_invitation_page, name="invitation"),
    path("app/companies/new", company.create_company_page, name="company-new"),
    path("app/companies/<str:company_id>/settings", company.edit_company_page, name="company-settings"),
    path("app/companies/<str:company_id>/settings/sandbox", sandboxes.create_sandbox_page, name="sandbox-new"),
    path("app/companies/<str:company_id>/settings/sandbox/delete", sandboxes.delete_sandbox_page, name="sandbox-delete"),
    path("app/companies/<str:company_id>/settings/logo", company.replace_logo_page, name="company-logo"),
    path("app/companies/<str:company_id>/settings/members", members.show_members, name="members"),
    path("app/companies/<str:company_id>/settings/members/<uuid:member_id>", members.update_member_role_page, name="member-change"),
    path("app/companies/<str:company_id>/settings/members/<uuid:member_id>/remove", members.remove_member_page, name="member-remove"),
    path("app/companies/<str:company_id>/settings/members/<uuid:member_id>/resend", members.resend_invitation_page, name="member-resend"),
    path(
        "app/companies/<str:company_id>/settings/members/<uuid:member_id>/permissions",
        member_permissions.edit_member_permissions_page,
        name="member-permissions",
    ),
    path("app/companies/<str:company_id>/settings/access", member_permissions.show_own_permissions, name="own-access"),
    path("app/companies/<str:company_id>/settings/leave", members.leave_company_page, name="leave"),
    path("app/companies/<str:company_id>/settings/activity", pages.show_audit_log, name="activity"),
    path("app/companies/<str:company_id>/settings/api-keys/new", api_keys.create_api_key_page, name="api-key-new"),
    path("app/companies/<str:company_id>/settings/api-keys/<uuid:key_id>/roll", api_keys.roll_api_key_page, name="api-key-roll"),
    path(
        "app/companies/<str:company_id>/settings/api-keys/<uuid:key_id>/revoke", api_keys.revoke_api_key_page, name="api-key-revoke"
    ),
]
