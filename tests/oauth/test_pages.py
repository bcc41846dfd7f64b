"""Connected apps in Settings."""

import pytest

from companies.models import Membership
from companies.permissions import Role
from tests import factories
from tests.oauth.conftest import OAuthFlow, get_csrf_token, get_latest_consent

pytestmark = pytest.mark.django_db


def get_settings_page(flow, acme):
    return flow.browser.get(f"/app/companies/{acme.id}/settings/api-keys")


def disconnect_app(flow, acme, row):
    form = {"csrfmiddlewaretoken": get_csrf_token(get_settings_page(flow, acme))}
    return flow.browser.post(f"/app/companies/{acme.id}/settings/apps/{row.id}/disconnect", form)


def test_connected_app_is_shown_with_scopes_and_last_use(alice_flow, alice_tokens, acme):
    page = get_settings_page(alice_flow, acme).content.decode()
    for words in ("Forecaster", "Acme", "svc:read", "offline_access", "never"):
        assert words in page
    alice_flow.call(alice_tokens["access_token"])
    assert "just now" in get_settings_page(alice_flow, acme).content.decode()


def test_disconnecting_ends_app_access_at_once(alice_flow, alice_tokens, acme):
    assert disconnect_app(alice_flow, acme, get_latest_consent()).status_code == 303
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 401
    assert "Forecaster" not in get_settings_page(alice_flow, acme).content.decode()


@pytest.mark.parametrize(("role", "status", "sees"), [(Role.ADMIN, 303, True), (Role.EDITOR, 403, False)])
def test_only_owners_and_admins_see_and_disconnect_apps_of_others(role, status, sees, alice_flow, alice_tokens, acme):
    other = OAuthFlow(application=alice_flow.application)
    other.sign_in(factories.make_member(acme, "other@acme.example", role=role))
    assert ("Forecaster" in get_settings_page(other, acme).content.decode()) is sees
    assert disconnect_app(other, acme, get_latest_consent()).status_code == status


def test_connection_of_other_company_is_not_found(alice_flow, alice_tokens, acme, alice, globex):
    Membership(company=globex, user=alice, role=Role.OWNER).mark_created(factories.make_audit_context()).save(
        force_insert=True
    )
    page = get_settings_page(alice_flow, globex)
    assert "Forecaster" not in page.content.decode()
    url = f"/app/companies/{globex.id}/settings/apps/{get_latest_consent().id}/disconnect"
    assert alice_flow.browser.post(url, {"csrfmiddlewaretoken": get_csrf_token(page)}).status_code == 404
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 200
