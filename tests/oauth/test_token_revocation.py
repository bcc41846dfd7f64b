"""Revocation of tokens. Numbers such as T22 name the assertion of the checklist."""

import pytest

from tests.oauth.conftest import REVOKE, get_latest_consent
from tests.oauth.test_token_endpoint import check_error, register_other_app

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_t22_revoking_either_token_ends_the_consent(kind, alice_flow, alice_tokens):
    answer = alice_flow.revoke(alice_tokens[kind], token_type_hint="nonsense")
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 401
    assert check_error(alice_flow.refresh(alice_tokens["refresh_token"]), "invalid_grant")
    assert get_latest_consent().revoked_reason == "client"


def test_t22_revoking_unknown_or_foreign_token_succeeds_without_effect(alice_flow, alice_tokens):
    assert alice_flow.revoke("nonsense").status_code == 200
    stranger = register_other_app()
    for kind in ("access_token", "refresh_token", "id_token"):
        assert stranger.revoke(alice_tokens[kind]).status_code == 200
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 200


def test_t22_revocation_requires_client_and_token(alice_flow, alice_tokens, confidential_flow):
    assert check_error(alice_flow.revoke(alice_tokens["access_token"], client_id=None), "invalid_client", 401)
    assert check_error(alice_flow.post(REVOKE, {"client_id": alice_flow.application.client_id}), "invalid_request")
    assert check_error(confidential_flow.revoke("x", client_secret="wrong"), "invalid_client", 401)
