"""What asking by a tool costs beside asking the API: the same question both ways, of the same server in turn.

Run with ``make bench`` or ``python -m tests.bench.assistants``. BENCH_SECONDS sets the length of a measurement.
"""

import json
import os
import statistics
from collections.abc import Callable, Mapping
from typing import Any

from tests.bench.figures import AT_MOST, figure
from tests.bench.load import get, per_second
from tests.bench.served import Served, served

SECONDS = float(os.environ.get("BENCH_SECONDS", "3"))
ROUNDS = 5
GOAL_CALL, GOAL_LIST = 1.5, 2.0
MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
WINDOW = {"startDate": "2026-01-01", "endDate": "2026-12-31"}
# Tool → the same question of the API.
SAME: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "list_categories": ("GET", "categories", {}),
    "get_balances": ("POST", "data/accountBalanceByAccount", WINDOW),
    "search_transactions": ("GET", "transactions?limit=50", {"limit": 50}),
}


def posted(path: str, key: str, body: Any, **headers: str) -> Callable[[], bytes]:
    """A POST of JSON that is always the same."""
    raw = json.dumps(body).encode()
    lines = {
        "Host": "127.0.0.1", "Authorization": f"Bearer {key}", "Content-Type": "application/json",
        "Content-Length": str(len(raw)), **{name.replace("_", "-"): value for name, value in headers.items()},
    }  # fmt: skip
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    question = f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + raw
    return lambda: question


def message(key: str, method: str, **params: Any) -> Callable[[], bytes]:
    """A message of the newest revision."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}
    named = {"Mcp_Name": params["name"]} if "name" in params else {}
    return posted("/mcp", key, body, MCP_Protocol_Version=MODERN, Mcp_Method=method, **named)


def filled(bench: Served) -> None:
    account = bench.call("POST", f"{bench.path}/accounts", {"type": "bank", "name": "Bank"})["id"]
    rows = [
        {"accountId": account, "date": f"2026-{month:02}-{day:02}", "amountValue": "-4.00", "fromTo": "Bakery"}
        for month in range(1, 11)
        for day in range(1, 29)
    ]
    bench.call("POST", f"{bench.path}/transactions/import", {"transactions": rows})


def in_turn(port: int, *questions: Callable[[], bytes]) -> list[float]:
    """The seconds of each, in the median of the rounds."""
    found: list[list[float]] = [[] for _ in questions]
    for question in questions:
        per_second(port, question, seconds=SECONDS)  # what is made by the first request is no part of the others
    for _ in range(ROUNDS):
        for times, question in zip(found, questions, strict=True):
            times.append(1 / per_second(port, question, seconds=SECONDS))
    return [statistics.median(times) for times in found]


def main() -> None:
    with served() as bench:
        filled(bench)
        for tool, (method, path, arguments) in SAME.items():
            where = f"{bench.path}/{path}"
            asked = get(where, bench.key) if method == "GET" else posted(where, bench.key, arguments)
            called = message(bench.key, "tools/call", name=tool, arguments=arguments)
            plain, wrapped = in_turn(bench.port, asked, called)
            figure(
                f"assistants: {tool}", wrapped / plain, "× the same question of the API", goal=GOAL_CALL, way=AT_MOST,
                behind=f"{wrapped * 1000:.1f} against {plain * 1000:.1f} ms",
            )  # fmt: skip
        ping = posted("/mcp", bench.key, {"jsonrpc": "2.0", "id": 1, "method": "ping"}, MCP_Protocol_Version=HANDSHAKE)
        listing = message(bench.key, "tools/list")
        constant, known, listed = in_turn(bench.port, get("/healthz"), ping, listing)
        figure(
            "assistants: tools/list", listed / constant, "× a constant view", goal=GOAL_LIST, way=AT_MOST,
            behind=f"{listed * 1000:.1f} against {constant * 1000:.1f} ms",
        )  # fmt: skip
        figure(
            "assistants: tools/list", listed / known, "× a constant answer behind the same authentication",
            behind=f"{listed * 1000:.1f} against {known * 1000:.1f} ms",
        )  # fmt: skip


if __name__ == "__main__":
    main()
