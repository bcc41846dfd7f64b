"""Connected apps in Settings."""

import pytest

from companies.models import Membership
from companies.permissions import Role
from tests import factories
from tests.oauth.conftest import Flow, consent, csrf

pytestmark = pytest.mark.django_db


def settings_of(flow, acme):
    return flow.browser.get(f"/app/companies/{acme.id}/settings/api-keys")


def disconnect(flow, acme, row):
    form = {"csrfmiddlewaretoken": csrf(settings_of(flow, acme))}
    return flow.browser.post(f"/app/companies/{acme.id}/settings/apps/{row.id}/disconnect", form)


def test_a_connected_app_is_shown_with_its_scopes_and_last_use(signed_in, granted, acme):
    page = settings_of(signed_in, acme).content.decode()
    for words in ("Forecaster", "Acme", "svc:read", "offline_access", "never"):
        assert words in page
    signed_in.call(granted["access_token"])
    assert "just now" in settings_of(signed_in, acme).content.decode()


def test_disconnecting_ends_it_at_once(signed_in, granted, acme):
    assert disconnect(signed_in, acme, consent()).status_code == 303
    assert signed_in.call(granted["access_token"]).status_code == 401
    assert "Forecaster" not in settings_of(signed_in, acme).content.decode()


@pytest.mark.parametrize(("role", "status", "sees"), [(Role.ADMIN, 303, True), (Role.EDITOR, 403, False)])
def test_owners_and_admins_see_and_disconnect_everyones(role, status, sees, signed_in, granted, acme):
    other = Flow(application=signed_in.application)
    other.sign_in(factories.member(acme, "other@acme.example", role=role))
    assert ("Forecaster" in settings_of(other, acme).content.decode()) is sees
    assert disconnect(other, acme, consent()).status_code == status


def test_a_connection_in_another_company_is_not_found_here(signed_in, granted, acme, alice, globex):
    Membership(company=globex, user=alice, role=Role.OWNER).stamp_new(factories.stamp()).save(force_insert=True)
    page = settings_of(signed_in, globex)
    assert "Forecaster" not in page.content.decode()
    url = f"/app/companies/{globex.id}/settings/apps/{consent().id}/disconnect"
    assert signed_in.browser.post(url, {"csrfmiddlewaretoken": csrf(page)}).status_code == 404
    assert signed_in.call(granted["access_token"]).status_code == 200
