"""What recognising a caller costs, and what issuing tokens costs beside the stock toolkit.

The same server (one worker) answers in turn a constant view and the smallest authenticated GET of one company, by key
and by access token: requests a second, as a share of the constant view's. Then refresh tokens are exchanged at our
token endpoint and at the toolkit's own, each in a gunicorn of one worker with the same settings, in turn.

Run it with ``make bench``. BENCH_SECONDS sets the length of a measurement.
"""

import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

import orjson

from tests.bench.figures import figure
from tests.bench.load import get, per_second, post
from tests.bench.served import Served, served
from tests.machine import ROOT, free_port

SECONDS = float(os.environ.get("BENCH_SECONDS", "3"))
ROUNDS = 5
TOKENS = 8  # chains of refresh tokens, one a connection
GOAL_SHARE, GOAL_FACTOR = 0.40, 2.0

OURS = """
import sys
from datetime import UTC, datetime
from companies.models import Company, Membership, Stamp
from oauth import consents, issuing, tokens
from companies.authentication import access_of
from oauth.registration import register
now = datetime.now(tz=UTC)
company = Company.objects.get(id=sys.argv[1])
access = access_of(Membership.objects.of(company.id).select_related("company").first())
user = Membership.objects.of(company.id).first().user
scope = ["svc:read", "offline_access"]
application = register(name="Bench", redirect_uris=["https://a.example/cb"], allowed=[], confidential=False).application
print(application.client_id)
for number in range(int(sys.argv[2])):
    consent = consents.give(
        application=application, access=access, user_id=user.id, asked=scope, auth_time=now, stamp=Stamp(time=now))
    code = consents.new_code(
        consent=consent, asked=scope, redirect_uri="https://a.example/cb", challenge=issuing.s256("v" * 64), nonce="",
        auth_time=now, now=now)
    body = {"code": code, "code_verifier": "v" * 64}
    answer = issuing.redeem(application=application, body=body, stamp=Stamp(time=now))
    print(answer["refresh_token"] if number else answer["access_token"])
    if not number:
        print(answer["refresh_token"])
"""


class Chains:
    """Refresh tokens that are exchanged and come back new: a connection takes the one that has waited longest."""

    def __init__(self, client_id: str, tokens: list[str]):
        self.client_id, self.waiting = client_id, deque(tokens)

    def body(self) -> str:
        form = {"grant_type": "refresh_token", "refresh_token": self.waiting.popleft(), "client_id": self.client_id}
        return urlencode(form)

    def came(self, answer: bytes) -> None:
        self.waiting.append(orjson.loads(answer.partition(b"\r\n\r\n")[2])["refresh_token"])


def in_turn(*acts: Callable[[], float]) -> list[float]:
    """The median of each act's rounds; they take turns, so that the machine's drift hits all alike."""
    results: list[list[float]] = [[] for _ in acts]
    for _ in range(ROUNDS):
        for values, act in zip(results, acts, strict=True):
            values.append(act())
    return [statistics.median(values) for values in results]


def printed(server: Served, script: str, *words: str) -> list[str]:
    code = f"import django; django.setup(); import sys; sys.argv = ['', *{list(words)!r}]\n{script}"
    environment = server.machine.environment(DJANGO_SETTINGS_MODULE="config.settings", PORT=server.port)
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    ).stdout.split()  # fmt: skip


@contextmanager
def stock(server: Served) -> Iterator[tuple[int, list[str]]]:
    """The toolkit's server, and what it prepared."""
    server.database.execute("CREATE DATABASE stock")
    port = free_port()
    environment = server.machine.environment(STOCK_HOST=str(server.machine.embedded.path))
    prepared = subprocess.run(
        [sys.executable, "-m", "tests.bench.stock", str(TOKENS)], cwd=ROOT, env=environment, check=True,
        capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    gunicorn = [
        sys.executable, "-m", "gunicorn", "-c", "config/gunicorn.py", "-b", f"127.0.0.1:{port}", "-w", "1",
        "tests.bench.stock:application",
    ]  # fmt: skip
    process = subprocess.Popen(gunicorn, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield port, prepared
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def wait_for(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the toolkit's server does not answer")


def refreshes(port: int, path: str, chains: Chains) -> float:
    return per_second(port, post(path, chains.body), seconds=SECONDS, connections=TOKENS // 2, came=chains.came)


def main() -> int:
    with served() as server:
        client_id, access, *tokens = printed(server, OURS, server.company, str(TOKENS))
        constant, by_key, by_token = in_turn(
            lambda: per_second(server.port, get("/healthz"), seconds=SECONDS),
            lambda: per_second(server.port, get(server.path, server.key), seconds=SECONDS),
            lambda: per_second(server.port, get(server.path, access), seconds=SECONDS),
        )
        for way, rate in (("API key", by_key), ("access token", by_token)):
            figure(
                f"GET one company by {way}",
                rate / constant,
                "of a constant view's requests a second",
                goal=GOAL_SHARE,
                behind=f"{rate:,.0f} against {constant:,.0f} a second",
            )
        with stock(server) as (port, (stock_client, *stock_tokens)):
            own, theirs = Chains(client_id, tokens), Chains(stock_client, stock_tokens)
            ours, toolkit = in_turn(
                lambda: refreshes(server.port, "/auth/oauth2/token", own), lambda: refreshes(port, "/token", theirs)
            )
        figure(
            "refresh at the token endpoint",
            ours / toolkit,
            "× the stock toolkit's rate",
            goal=GOAL_FACTOR,
            behind=f"{ours:,.0f} against {toolkit:,.0f} a second",
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
