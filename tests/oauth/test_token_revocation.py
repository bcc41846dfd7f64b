"""Revocation of tokens. Numbers such as T22 name the assertion of the checklist."""

import pytest

from tests.oauth.conftest import REVOKE, get_latest_consent
from tests.oauth.test_token_endpoint import check_error, register_other_app

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_t22_revoking_either_token_ends_the_consent(kind, signed_in, granted):
    answer = signed_in.revoke(granted[kind], token_type_hint="nonsense")
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    assert signed_in.call(granted["access_token"]).status_code == 401
    assert check_error(signed_in.refresh(granted["refresh_token"]), "invalid_grant")
    assert get_latest_consent().revoked_reason == "client"


def test_t22_revoking_unknown_or_foreign_token_succeeds_without_effect(signed_in, granted):
    assert signed_in.revoke("nonsense").status_code == 200
    stranger = register_other_app()
    for kind in ("access_token", "refresh_token", "id_token"):
        assert stranger.revoke(granted[kind]).status_code == 200
    assert signed_in.call(granted["access_token"]).status_code == 200


def test_t22_revocation_requires_client_and_token(signed_in, granted, confidential):
    assert check_error(signed_in.revoke(granted["access_token"], client_id=None), "invalid_client", 401)
    assert check_error(signed_in.post(REVOKE, {"client_id": signed_in.application.client_id}), "invalid_request")
    assert check_error(confidential.revoke("x", client_secret="wrong"), "invalid_client", 401)
