"""An MCP client for assistant tests, without a server process."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
}


@dataclass
class Assistant:
    """An MCP client of the newest protocol revision with one credential."""

    key: str | None
    client: Client = field(default_factory=Client)

    def send(self, body: Any, **headers: str) -> Any:
        """Send a body unchanged; return the HTTP response."""
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        authorization = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        header_names = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post("/mcp", text, content_type="application/json", headers=authorization | header_names)

    def send_request(self, method: str, params: Any = None, **headers: str) -> Any:
        """Send a request with the required headers, or those given; return the HTTP response."""
        params = {"_meta": META, **(params or {})}
        required_headers = {"MCP_Protocol_Version": MODERN, "Mcp_Method": method}
        if method == "tools/call":
            required_headers["Mcp_Name"] = params["name"]
        return self.send(
            {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, **(required_headers | headers)
        )

    def get_result(self, method: str, params: Any = None) -> Any:
        """Send a request; return the result of a successful response."""
        response = self.send_request(method, params)
        assert response.status_code == 200, response.content
        return response.json()["result"]

    def call_tool(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool; return its structured result."""
        result = self.get_result("tools/call", {"name": name, "arguments": arguments})
        assert not result["isError"], result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def get_tool_error(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool that fails; return its error."""
        result = self.get_result("tools/call", {"name": name, "arguments": arguments})
        assert result["isError"], result
        assert "structuredContent" not in result
        return json.loads(result["content"][0]["text"])


@pytest.fixture
def assistant(api: Any) -> Assistant:
    """An MCP client with every permission in Acme."""
    return Assistant(api.key)
