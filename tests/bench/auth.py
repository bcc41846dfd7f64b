"""What recognising a caller costs, and what issuing tokens costs beside the stock toolkit.

The same server (one worker) answers in turn a constant view and the smallest authenticated GET of one company, by key
and by access token, all in the same threads (/healthz has a thread of its own): requests a second, as a share of the
constant view's. Then refresh tokens and codes are
exchanged at our token endpoint and at the toolkit's own, each in a gunicorn of one worker with the same settings, in
turn.

Run it with ``make bench``. BENCH_SECONDS sets the length of a measurement.
"""

import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from urllib.parse import urlencode

import orjson

from tests.bench.bench_server import BenchServer, serve_bench, serve_page_app
from tests.bench.figures import print_figure
from tests.bench.load import build_get, build_post, measure_rate
from tests.machine import ROOT, find_free_port

SECONDS = float(os.environ.get("BENCH_SECONDS", "3"))
ROUNDS = 5
TOKENS = 8  # chains of refresh tokens, one a connection
CODES = int(SECONDS * ROUNDS * 400)  # more than either redeems
GOAL_SHARE, GOAL_FACTOR = 0.35, 0.8
VERIFIER = "v" * 43
CHALLENGE = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()

OURS = """
import sys
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from companies.models import AuditContext, Company, Membership
from oauth import consents
from oauth.protocol import tokens
from companies.auth.authentication import build_member_access
from oauth.models import AccessToken, AuthorizationCode, RefreshToken
from oauth.registration import register_app
from oauth2_provider.models import set_token_value
now = datetime.now(tz=UTC)
company = Company.objects.get(id=sys.argv[1])
member = Membership.objects.for_company(company.id).select_related("company", "user").first()
access = build_member_access(member, member.user)
user = Membership.objects.for_company(company.id).first().user
scope = ["svc:read", "offline_access"]
app = register_app(name="Bench", redirect_uris=["https://a.example/cb"], allowed=[], confidential=False)
application = app.application
print(application.client_id)
for number in range(int(sys.argv[2])):
    consent = consents.create_consent(
        application=application, access=access, user_id=user.id, requested_scopes=scope, auth_time=now,
        context=AuditContext(time=now))
    common = {"consent": consent, "user": user, "application": application, "scope": " ".join(scope)}
    access_row = AccessToken(**common, expires=now + timedelta(hours=1))
    refresh_row, refresh = RefreshToken(**common, token_family=consent.id, access_token=access_row), f"svcrt_{number}"
    request = SimpleNamespace(consent=consent, now=now, client=application, scopes=scope, expires_in=3600)
    signed = tokens.generate_access_token(request)
    for row, text in ((access_row, signed), (refresh_row, refresh)):
        set_token_value(row, text)
        row.save()
    if not number:
        print(signed)
    print(refresh)
challenge = {"code_challenge": sys.argv[4], "code_challenge_method": "S256", "redirect_uri": "https://a.example/cb"}
AuthorizationCode.objects.bulk_create(
    AuthorizationCode(
        **common, **challenge, code=tokens.compute_token_digest(f"code{number}"),
        auth_time=now, expires=now + timedelta(hours=1))
    for number in range(int(sys.argv[3])))
"""


class RefreshTokenChains:
    """Refresh tokens that are exchanged and come back new: a connection takes the one that has waited longest."""

    def __init__(self, client_id: str, tokens: list[str]):
        self.client_id, self.waiting = client_id, deque(tokens)

    def body(self) -> str:
        form = {"grant_type": "refresh_token", "refresh_token": self.waiting.popleft(), "client_id": self.client_id}
        return urlencode(form)

    def came(self, answer: bytes) -> None:
        self.waiting.append(orjson.loads(answer.partition(b"\r\n\r\n")[2])["refresh_token"])


class AuthorizationCodes:
    """Authorization codes, each redeemed once."""

    def __init__(self, client_id: str):
        self.client_id, self.numbers = client_id, iter(range(CODES))

    def body(self) -> str:
        form = {
            "grant_type": "authorization_code", "code": f"code{next(self.numbers)}", "code_verifier": VERIFIER,
            "redirect_uri": "https://a.example/cb", "client_id": self.client_id,
        }  # fmt: skip
        return urlencode(form)


def measure_in_turn(*acts: Callable[[], float]) -> list[float]:
    """The median of each act's rounds; they take turns, so that the machine's drift hits all alike."""
    results: list[list[float]] = [[] for _ in acts]
    for _ in range(ROUNDS):
        for values, act in zip(results, acts, strict=True):
            values.append(act())
    return [statistics.median(values) for values in results]


def run_script(server: BenchServer, script: str, *words: str) -> list[str]:
    code = f"import django; django.setup(); import sys; sys.argv = ['', *{list(words)!r}]\n{script}"
    environment = server.machine.environment(DJANGO_SETTINGS_MODULE="config.settings", PORT=server.port)
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    ).stdout.split()  # fmt: skip


@contextmanager
def start_stock_server(server: BenchServer) -> Iterator[tuple[int, list[str]]]:
    """The toolkit's server, and what it prepared."""
    server.database.execute("CREATE DATABASE stock")
    port = find_free_port()
    environment = server.machine.environment(STOCK_HOST=str(server.machine.embedded.path))
    prepared = subprocess.run(
        [sys.executable, "-m", "tests.bench.stock_toolkit", str(TOKENS), str(CODES), CHALLENGE], cwd=ROOT,
        env=environment,
        check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    gunicorn = [
        sys.executable, "-m", "gunicorn", "-c", "config/gunicorn.py", "-b", f"127.0.0.1:{port}", "-w", "1",
        "tests.bench.stock_toolkit:application",
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


def count_exchanges(
    port: int, path: str, body: Callable[[], str], came: Callable[[bytes], None] = lambda answer: None
) -> float:
    return measure_rate(port, build_post(path, body), seconds=SECONDS, connections=TOKENS // 2, came=came)


def main() -> int:
    with serve_bench() as server:
        words = (server.company, str(TOKENS), str(CODES), CHALLENGE)
        client_id, access, *tokens = run_script(server, OURS, *words)
        with serve_page_app(server) as port:
            constant, by_key, by_token = measure_in_turn(
                lambda: measure_rate(port, build_get("/constant"), seconds=SECONDS),
                lambda: measure_rate(port, build_get(server.path, server.key), seconds=SECONDS),
                lambda: measure_rate(port, build_get(server.path, access), seconds=SECONDS),
            )
        for way, rate in (("API key", by_key), ("access token", by_token)):
            print_figure(
                f"GET one company by {way}",
                rate / constant,
                "of a constant view's requests a second",
                goal=GOAL_SHARE,
                behind=f"{rate:,.0f} against {constant:,.0f} a second",
            )
        with start_stock_server(server) as (port, (stock_client, *stock_tokens)):
            own, theirs = RefreshTokenChains(client_id, tokens), RefreshTokenChains(stock_client, stock_tokens)
            own_codes, their_codes = AuthorizationCodes(client_id), AuthorizationCodes(stock_client)
            ours, toolkit, ours_by_code, toolkit_by_code = measure_in_turn(
                lambda: count_exchanges(server.port, "/auth/oauth2/token", own.body, own.came),
                lambda: count_exchanges(port, "/token", theirs.body, theirs.came),
                lambda: count_exchanges(server.port, "/auth/oauth2/token", own_codes.body),
                lambda: count_exchanges(port, "/token", their_codes.body),
            )
        for what, mine, its in (("refresh", ours, toolkit), ("code", ours_by_code, toolkit_by_code)):
            print_figure(
                f"{what} at the token endpoint",
                mine / its,
                "× the stock toolkit's rate",
                goal=GOAL_FACTOR,
                behind=f"{mine:,.0f} against {its:,.0f} a second",
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
