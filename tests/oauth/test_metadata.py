"""The documents that clients read first."""

import pytest

pytestmark = pytest.mark.django_db  # whether staff allow a host for documents of apps
BASE = "http://127.0.0.1:8000"
SERVER = [
    "/auth/.well-known/openid-configuration",
    "/auth/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/auth",
    "/.well-known/openid-configuration/auth",
]


def test_server_metadata_is_published_at_all_four_addresses(client):
    for path in SERVER:
        answer = client.get(path, headers={"Host": "localhost"})
        assert answer["Content-Type"] == "application/json", path
        assert answer["Access-Control-Allow-Origin"] == "*", path
        body = answer.json()
        assert body["issuer"] == f"{BASE}/auth", path  # from the settings, never from the Host header
        for name in ("authorization", "token", "userinfo", "revocation"):
            assert body[f"{name}_endpoint"].startswith(f"{BASE}/auth/oauth2/"), path
        assert body["jwks_uri"] == f"{BASE}/auth/oauth2/jwks", path
        assert body["response_types_supported"] == ["code"], path
        assert body["grant_types_supported"] == ["authorization_code", "refresh_token"], path
        assert body["code_challenge_methods_supported"] == ["S256"], path
        assert body["id_token_signing_alg_values_supported"] == ["RS256"], path
        assert "none" in body["token_endpoint_auth_methods_supported"], path
        assert body["authorization_response_iss_parameter_supported"] is True, path
        assert body["request_uri_parameter_supported"] is False, path
        assert body["request_parameter_supported"] is False, path
        assert "registration_endpoint" not in body, path
        assert "introspection_endpoint" not in body, path
        assert "end_session_endpoint" not in body, path


def test_resource_metadata_names_authorization_server(client):
    body = client.get("/.well-known/oauth-protected-resource").json()
    assert body["resource"] == BASE
    assert body["authorization_servers"] == [f"{BASE}/auth"]
    assert body["scopes_supported"] == ["svc:read", "svc:write", "offline_access"]


def test_mcp_endpoint_has_its_own_resource_metadata(client):
    """RFC 9728, 3.3: a client refuses metadata whose resource is not the address that it called."""
    body = client.get("/.well-known/oauth-protected-resource/mcp").json()
    assert body == client.get("/.well-known/oauth-protected-resource").json() | {"resource": f"{BASE}/mcp"}
    challenge = client.post("/mcp", {}, content_type="application/json")["WWW-Authenticate"]
    assert f'resource_metadata="{BASE}/.well-known/oauth-protected-resource/mcp"' in challenge


def test_jwks_contains_only_public_keys(client):
    body = client.get("/auth/oauth2/jwks").json()
    for key in body["keys"]:
        assert set(key) == {"kty", "n", "e", "kid", "use", "alg"}
