"""What was there before an upgrade goes on working; what only slept ends for good."""

from importlib import import_module

import pytest
from django.apps import apps

from companies.models import Membership, User
from oauth.models import AccessToken, ConsentGrant, RefreshToken
from tests.oauth.conftest import OAuthFlow

pytestmark = pytest.mark.django_db


def test_migration_adds_access_token_row_to_live_refresh_token(signed_in, granted):
    AccessToken.objects.all().delete()
    RefreshToken.objects.update(token_family=None)
    import_module("oauth.migrations.0005_access_tokens_of_refresh_tokens").fill(apps, None)
    row = RefreshToken.objects.get()
    assert row.access_token is not None
    assert row.token_family == row.consent_id
    assert signed_in.refresh(granted["refresh_token"]).status_code == 200


def test_migration_handles_batches_and_leaves_used_refresh_tokens(signed_in, granted, acme, monkeypatch):
    carried = import_module("oauth.migrations.0005_access_tokens_of_refresh_tokens")
    monkeypatch.setattr(carried, "AT_ONCE", 2)
    fresh = [signed_in.tokens(acme)["refresh_token"] for _ in range(3)]
    fresh.append(signed_in.refresh(granted["refresh_token"]).json()["refresh_token"])
    AccessToken.objects.all().delete()
    carried.fill(apps, None)
    assert AccessToken.objects.count() == 4
    assert RefreshToken.objects.exclude(revoked=None).get().access_token is None
    assert [signed_in.refresh(token).status_code for token in fresh] == [200] * 4


@pytest.mark.parametrize("slept", ["membershipEnded", "userDeactivated"])
def test_migration_ends_only_consents_of_former_members_and_users(slept, application, signed_in, granted, bob, acme):
    flow = OAuthFlow(application=application)
    flow.sign_in(bob)
    flow.tokens(acme)
    if slept == "membershipEnded":
        Membership.objects.filter(user=bob).delete()
    else:
        User.objects.filter(pk=bob.pk).update(is_active=False)
    import_module("oauth.migrations.0003_end_what_only_slept").end(apps, None)
    assert ConsentGrant.objects.get(user=bob).revoked_reason == slept
    assert signed_in.call(granted["access_token"]).status_code == 200
