"""An assistant: it sends one message at a time, and reads what comes."""

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
    """Speaks the newest revision with one credential."""

    key: str | None
    client: Client = field(default_factory=Client)

    def send(self, body: Any, **headers: str) -> Any:
        """The HTTP response to a body as it is."""
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        held = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post("/mcp", text, content_type="application/json", headers=held | named)

    def ask(self, method: str, params: Any = None, **headers: str) -> Any:
        """The HTTP response to a request, its headers as they must be unless they are given."""
        params = {"_meta": META, **(params or {})}
        answer = {"MCP_Protocol_Version": MODERN, "Mcp_Method": method}
        if method == "tools/call":
            answer["Mcp_Name"] = params["name"]
        return self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, **(answer | headers))

    def result(self, method: str, params: Any = None) -> Any:
        response = self.ask(method, params)
        assert response.status_code == 200, response.content
        return response.json()["result"]

    def call(self, name: str, /, **arguments: Any) -> Any:
        """What a tool answers."""
        result = self.result("tools/call", {"name": name, "arguments": arguments})
        assert not result["isError"], result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def refusal(self, name: str, /, **arguments: Any) -> Any:
        """How a tool refuses."""
        result = self.result("tools/call", {"name": name, "arguments": arguments})
        assert result["isError"], result
        assert "structuredContent" not in result
        return json.loads(result["content"][0]["text"])


@pytest.fixture
def assistant(api: Any) -> Assistant:
    """Acme's, with every permission."""
    return Assistant(api.key)
