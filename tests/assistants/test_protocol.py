"""The door itself: who may come in, what a message must be, and how the revisions differ."""

import json

import mcp_types
import pytest
from django.test import Client

from oauth.registration import register_app
from tests.assistants.conftest import META, MODERN, Assistant
from tests.oauth.conftest import PASSWORD, REDIRECT, OAuthFlow

pytestmark = pytest.mark.django_db


def build_handshake_message(method, params=None, **more):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}} | more


# ---------------------------------------------------------------------------------------------- who


def test_mcp_request_without_credential_names_resource_metadata(db, settings):
    response = Assistant(None).send_request("tools/list")
    assert response.status_code == 401
    assert response.json()["code"] == "not_authenticated"
    metadata = f'resource_metadata="{settings.BASE_URL}/.well-known/oauth-protected-resource/mcp"'
    assert metadata in response.headers["WWW-Authenticate"]


@pytest.mark.parametrize("key", ["svc_wrong", "eyJ.no.token", " "])
def test_mcp_request_with_invalid_credential_is_rejected(db, key):
    response = Assistant(key).send_request("tools/call", {"name": "list_companies"})
    assert response.status_code == 401
    assert 'error="invalid_token"' in response.headers["WWW-Authenticate"]


def test_mcp_does_not_accept_session(alice, acme):
    client = Client()
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/companies").status_code == 200
    assert Assistant(None, client).send_request("tools/list").status_code == 401


def test_mcp_accepts_oauth_access_token(alice, acme):
    alice.set_password(PASSWORD)
    alice.save()
    flow = OAuthFlow(
        register_app(name="Assistant", redirect_uris=[REDIRECT], allowed=[], confidential=False).application
    )
    flow.sign_in(alice)
    token = flow.tokens(acme, scope="svc:read")["access_token"]
    assistant = Assistant(token)
    assert [row["name"] for row in assistant.call_tool("list_companies")["items"]] == ["Acme"]
    plan = {"name": "Rent", "startDate": "2026-01-01", "amountValue": "-1", "accountId": None}
    assert assistant.get_tool_error("plan_payment", **plan)["code"] == "permission_denied"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_mcp_request_from_other_origin_is_rejected(assistant, origin):
    response = assistant.send_request("tools/list", Origin=origin)
    assert (response.status_code, response.json()["code"]) == (403, "origin_not_allowed")


def test_mcp_request_from_own_origin_is_accepted(assistant, settings):
    assert assistant.send_request("tools/list", Origin=settings.BASE_URL).status_code == 200


@pytest.mark.parametrize("method", ["get", "delete", "put"])
def test_mcp_allows_only_post(assistant, method):
    response = getattr(assistant.client, method)("/mcp", headers={"Authorization": f"Bearer {assistant.key}"})
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")


def test_mcp_calls_count_against_rate_limit(assistant, settings):
    settings.RATE_LIMIT = 3
    codes = [assistant.send_request("tools/list").status_code for _ in range(5)]
    assert codes[-1] == 429


# ---------------------------------------------------------------------------------------------- what is sent


def test_mcp_invalid_message_is_rejected(assistant):
    for body, code in [
        (" ", -32700),
        ("{", -32700),
        (b"\xff", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"q":"\xff"}}}', -32700),
        ("[" * 5000, -32600),
        ("[]", -32600),
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], -32600),
        ("7", -32600),
        ({}, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 2**63, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": -(2**70), "method": "ping"}, -32600),
        ('{"jsonrpc":"2.0","id":' + "9" * 5000 + ',"method":"ping"}', -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": 7}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, -32600),
        ("[" + "1," * 40_000 + "1]", -32600),
    ]:
        response = assistant.send(body, MCP_Protocol_Version=MODERN)
        assert (response.status_code, response.json()["error"]["code"]) == (400, code), body
        mcp_types.JSONRPCError.model_validate(response.json())


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param({}, "missing required field `jsonrpc`", id="no jsonrpc"),
        pytest.param({"jsonrpc": "2.0", "id": 1, "result": {}}, "missing required field `method`", id="a response"),
        pytest.param({"jsonrpc": "2.0", "id": {}, "method": "ping"}, "got `object` - at `$.id`", id="id an object"),
        pytest.param({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, "got `float` - at `$.id`", id="id a fraction"),
        pytest.param(
            {"jsonrpc": "2.0", "id": 2**63, "method": "ping"}, "9223372036854775807 - at `$.id`", id="id too large"
        ),
        pytest.param({"jsonrpc": "2.0", "id": 1, "method": 7}, "got `int` - at `$.method`", id="method a number"),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []},
            "got `array` - at `$.params`",
            id="params a list",
        ),
        pytest.param("7", "Expected `object`, got `int`", id="a number"),
        pytest.param([], "not a batch", id="a batch"),
        pytest.param({"jsonrpc": "1.0", "id": 1, "method": "ping"}, "jsonrpc must be 2.0", id="another version"),
        pytest.param("{", "not valid JSON", id="no JSON"),
    ],
)
def test_mcp_error_says_what_is_wrong_with_the_message(assistant, body, reason):
    assert reason in assistant.send(body, MCP_Protocol_Version=MODERN).json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("tools/none", {}, "Unknown method: tools/none"),
        ("tools/list", {"cursor": "x"}, "There is only one page. Omit the cursor."),
        ("tools/call", {"name": "no_such"}, "Unknown tool: no_such. Call tools/list for the names."),
        ("tools/call", {"name": ""}, "params.name is required."),
        (
            "tools/call",
            {"name": "get_balances", "arguments": []},
            "params.arguments is invalid. Expected `object`, got `array`.",
        ),
    ],
)
def test_mcp_error_says_what_is_wrong_with_the_call(assistant, method, params, message):
    assert assistant.send_request(method, params).json()["error"]["message"] == message


def test_mcp_invalid_call_returns_protocol_error(assistant):
    for body, headers, status, code in [
        (build_handshake_message("tools/none", {"_meta": META}), {"Mcp_Method": "tools/none"}, 404, -32601),
        (build_handshake_message("ping", {"_meta": META}), {"Mcp_Method": "ping"}, 404, -32601),
        (build_handshake_message("tools/list", {"_meta": META}), {}, 400, -32020),
        (build_handshake_message("tools/list", {"_meta": META}), {"Mcp_Method": "tools/call"}, 400, -32020),
        (build_handshake_message("tools/list"), {"Mcp_Method": "tools/list"}, 400, -32602),
        (build_handshake_message("tools/list", {"_meta": 7}), {"Mcp_Method": "tools/list"}, 400, -32602),
        (
            build_handshake_message("tools/list", {"_meta": META, "cursor": "x"}),
            {"Mcp_Method": "tools/list"},
            400,
            -32602,
        ),
        (
            build_handshake_message("tools/call", {"_meta": META, "name": "a"}),
            {"Mcp_Method": "tools/call"},
            400,
            -32020,
        ),
        (
            build_handshake_message("tools/call", {"_meta": META, "name": "no_such"}),
            {"Mcp_Method": "tools/call", "Mcp_Name": "no_such"},
            400,
            -32602,
        ),
        (
            build_handshake_message("tools/call", {"_meta": META, "name": "list_companies", "arguments": []}),
            {"Mcp_Method": "tools/call", "Mcp_Name": "list_companies"},
            400,
            -32602,
        ),
    ]:
        response = assistant.send(body, MCP_Protocol_Version=MODERN, **headers)
        assert (response.status_code, response.json()["error"]["code"]) == (status, code), body
        assert response.json()["id"] == 1, body


def test_mcp_tool_call_with_huge_number_causes_no_internal_error(assistant):
    for number in ["1e999", "-1e999", "9" * 5000, "9" * 400, "0." + "9" * 5000]:
        for tool, arguments in [
            ("search_transactions", '"q": {}'),
            ("search_transactions", '"limit": {}'),
            ("list_categories", '"companyId": {}'),
            ("list_categories", '"confirm": {}'),
            ("settle_planned", '"plannedTransactionId": {0}, "date": {0}, "transactionId": {0}, "confirm": {0}'),
            ("plan_payment", '"name": "a", "startDate": "2026-01-01", "accountId": null, "amountValue": {}'),
            ("create_rule", '"name": "a", "conditions": {{"minAmount": {0}}}, "action": {{}}, "confirm": {0}'),
        ]:
            params = f'{{"name": "{tool}", "arguments": {{{arguments.format(number)}}}}}'
            response = assistant.send(f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}')
            assert response.status_code == 200, response.content
            assert "internal_error" not in response.content.decode(), (number, tool)


def test_mcp_protocol_version_as_huge_number_is_rejected(assistant):
    meta = '"io.modelcontextprotocol/protocolVersion": 1e999, "io.modelcontextprotocol/clientCapabilities": {}'
    body = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {{"_meta": {{{meta}}}}}}}'
    response = assistant.send(body, MCP_Protocol_Version=MODERN, Mcp_Method="tools/list")
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)


def test_mcp_name_header_accepts_base64(assistant):
    params = {"name": "list_companies", "arguments": {}}
    assert assistant.send_request("tools/call", params, Mcp_Name="=?base64?bGlzdF9jb21wYW5pZXM=?=").status_code == 200
    assert assistant.send_request("tools/call", params, Mcp_Name="=?base64?%%%?=").json()["error"]["code"] == -32020


def test_mcp_unsupported_version_returns_supported_versions(assistant):
    meta = META | {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    for params, header in (({"_meta": meta}, "2099-01-01"), ({"_meta": {}}, "2099-01-01")):
        response = assistant.send_request("tools/list", params, MCP_Protocol_Version=header)
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (400, -32022)
        assert error["data"]["supported"] == ["2026-07-28", "2025-11-25", "2025-06-18"]


def test_mcp_rejects_body_that_is_not_json(assistant):
    held = {"Authorization": f"Bearer {assistant.key}"}
    response = assistant.client.post("/mcp", "a=1", content_type="application/x-www-form-urlencoded", headers=held)
    assert response.status_code == 415


def test_mcp_rejects_body_that_is_too_large(assistant):
    response = assistant.send(b" " * (1024 * 1024 + 1))
    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")


def test_mcp_accepts_body_of_nearly_one_mebibyte(assistant):
    answer = assistant.get_tool_error("search_transactions", q="x" * 900_000)
    assert answer["code"] == "validation_failed"


@pytest.mark.parametrize(
    ("header", "status"), [({"Content_Encoding": "gzip"}, 415), ({"Transfer_Encoding": "chunked"}, 411)]
)
def test_mcp_rejects_compressed_and_chunked_bodies(assistant, header, status):
    assert assistant.send_request("tools/list", **header).status_code == status


def test_mcp_unacceptable_accept_header_is_rejected(assistant):
    assert assistant.send_request("tools/list", Accept="text/event-stream").status_code == 406
    assert assistant.send_request("tools/list", Accept="application/json, text/event-stream").status_code == 200


# ---------------------------------------------------------------------------------------------- revisions


def test_mcp_answers_match_sdk_types(assistant):
    results = assistant.get_result("server/discover")
    mcp_types.DiscoverResult.model_validate(results)
    assert results["supportedVersions"][0] == MODERN
    assert results["capabilities"] == {"tools": {}}
    mcp_types.ListToolsResult.model_validate(assistant.get_result("tools/list"))
    called = assistant.get_result("tools/call", {"name": "list_companies", "arguments": {}})
    mcp_types.CallToolResult.model_validate(called)
    for result in (results, called):
        assert result["resultType"] == "complete"
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "tidebook"


@pytest.mark.parametrize(
    ("requested_version", "version"),
    [("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("2024-01-01", "2025-11-25")],
)
def test_mcp_answers_older_initialize_handshake(assistant, requested_version, version):
    params = {"protocolVersion": requested_version, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    response = assistant.send(build_handshake_message("initialize", params))
    result = response.json()["result"]
    assert result["protocolVersion"] == version
    assert "Mcp-Session-Id" not in response.headers
    mcp_types.InitializeResult.model_validate(result)
    notified = assistant.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, MCP_Protocol_Version=version)
    assert (notified.status_code, notified.content) == (202, b"")
    assert assistant.send(build_handshake_message("ping"), MCP_Protocol_Version=version).json()["result"] == {}
    tools = assistant.send(build_handshake_message("tools/list"), MCP_Protocol_Version=version).json()["result"]
    assert set(tools) == {"tools"}
    called = assistant.send(
        build_handshake_message("tools/call", {"name": "list_companies"}), MCP_Protocol_Version=version
    ).json()
    assert json.loads(called["result"]["content"][0]["text"])["items"][0]["name"] == "Acme"


def test_mcp_without_protocol_version_uses_oldest_version(assistant):
    assert assistant.send(build_handshake_message("ping")).json()["result"] == {}
    unknown = assistant.send(build_handshake_message("server/discover"))
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (200, -32601)
