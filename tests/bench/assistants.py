"""What asking by a tool costs beside asking the API: the same question both ways, of the same server in turn.

Run with ``make bench`` or ``python -m tests.bench.assistants``. BENCH_SECONDS sets the length of a measurement.
"""

import json
import os
import statistics
from collections.abc import Callable, Mapping
from typing import Any

from tests.bench.bench_server import BenchServer, serve_bench
from tests.bench.figures import AT_MOST, print_figure
from tests.bench.load import build_get, measure_rate

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
SAME_QUESTIONS: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "list_categories": ("GET", "categories", {}),
    "get_balances": ("POST", "data/accountBalanceByAccount", WINDOW),
    "search_transactions": ("GET", "transactions?limit=50", {"limit": 50}),
}


def build_post(path: str, key: str, body: Any, **headers: str) -> Callable[[], bytes]:
    """A POST of JSON that is always the same."""
    raw = json.dumps(body).encode()
    lines = {
        "Host": "127.0.0.1", "Authorization": f"Bearer {key}", "Content-Type": "application/json",
        "Content-Length": str(len(raw)), **{name.replace("_", "-"): value for name, value in headers.items()},
    }  # fmt: skip
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    question = f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + raw
    return lambda: question


def build_message(key: str, method: str, **params: Any) -> Callable[[], bytes]:
    """A message of the newest revision."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}
    named = {"Mcp_Name": params["name"]} if "name" in params else {}
    return build_post("/mcp", key, body, MCP_Protocol_Version=MODERN, Mcp_Method=method, **named)


def fill_company(bench: BenchServer) -> None:
    account = bench.call("POST", f"{bench.path}/accounts", {"type": "bank", "name": "Bank"})["id"]
    rows = [
        {"accountId": account, "date": f"2026-{month:02}-{day:02}", "amountValue": "-4.00", "fromTo": "Bakery"}
        for month in range(1, 11)
        for day in range(1, 29)
    ]
    bench.call("POST", f"{bench.path}/transactions/import", {"transactions": rows})


def measure_in_turn(port: int, *questions: Callable[[], bytes]) -> list[float]:
    """The seconds of each, in the median of the rounds."""
    results: list[list[float]] = [[] for _ in questions]
    for question in questions:
        measure_rate(port, question, seconds=SECONDS)  # what is made by the first request is no part of the others
    for _ in range(ROUNDS):
        for times, question in zip(results, questions, strict=True):
            times.append(1 / measure_rate(port, question, seconds=SECONDS))
    return [statistics.median(times) for times in results]


def main() -> None:
    with serve_bench() as bench:
        fill_company(bench)
        for tool, (method, path, arguments) in SAME_QUESTIONS.items():
            where = f"{bench.path}/{path}"
            get = build_get(where, bench.key) if method == "GET" else build_post(where, bench.key, arguments)
            called = build_message(bench.key, "tools/call", name=tool, arguments=arguments)
            plain, wrapped = measure_in_turn(bench.port, get, called)
            print_figure(
                f"assistants: {tool}", wrapped / plain, "× the same question of the API", goal=GOAL_CALL, way=AT_MOST,
                behind=f"{wrapped * 1000:.1f} against {plain * 1000:.1f} ms",
            )  # fmt: skip
        ping = build_post(
            "/mcp", bench.key, {"jsonrpc": "2.0", "id": 1, "method": "ping"}, MCP_Protocol_Version=HANDSHAKE
        )
        listing = build_message(bench.key, "tools/list")
        constant, known, listed = measure_in_turn(bench.port, build_get("/healthz"), ping, listing)
        print_figure(
            "assistants: tools/list", listed / constant, "× a constant view", goal=GOAL_LIST, way=AT_MOST,
            behind=f"{listed * 1000:.1f} against {constant * 1000:.1f} ms",
        )  # fmt: skip
        print_figure(
            "assistants: tools/list", listed / known, "× a constant answer behind the same authentication",
            behind=f"{listed * 1000:.1f} against {known * 1000:.1f} ms",
        )  # fmt: skip


if __name__ == "__main__":
    main()
