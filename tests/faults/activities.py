"""What callers are busy with when something is killed, and what must be true of it afterwards.

Each notes what it asked for before it asks, and what was acknowledged when the answer came. After the kill whatever was
acknowledged is there; whatever was not is there wholly or not at all, and can be asked for again.
"""

import itertools
import json
import random
from collections import deque
from typing import Any, Protocol
from urllib.parse import urlencode

from oauth.protocol.tokens import compute_token_digest
from tests.faults.service import Answer, Caller, ConnectionCutOff, Service

LANE_COUNT = 4  # callers at the same time


class Activity(Protocol):
    def __init__(self, service: Service) -> None: ...

    def turn(self, caller: Caller, lane: int) -> None:
        """One change, or a few that belong together. Raises CutOff."""

    def settle(self) -> None:
        """Assert the rules, and ask again for what was not acknowledged."""


def check_acknowledged(answer: Answer) -> Answer:
    """The answer where it is good. Raises CutOff for a refusal that leaves open whether the change was made."""
    if answer.status == 503:
        assert answer.body.get("code") == "unavailable" or answer.body["error"] == "temporarily_unavailable", answer
        assert int(answer.headers["retry-after"]) > 0
        raise ConnectionCutOff
    assert answer.fine, answer
    return answer


class Imports:
    """Two thousand rows in one call, every fourth with what it was for."""

    ROWS = 2000

    def __init__(self, service: Service) -> None:
        self.service, self.numbers = service, itertools.count()
        self.account = service.account("Imported")
        categories = service.caller().ask("GET", service.path("categories")).body
        category = next(each["id"] for each in categories if each["systemKey"] == "revenueOneOff")
        rows: list[dict[str, Any]] = [
            {"accountId": self.account, "date": f"2025-0{1 + n % 9}-1{n % 7}", "amountValue": "1.00", "fromTo": "NAME"}
            for n in range(self.ROWS)
        ]
        for row in rows[::4]:
            row["categoryId"] = category
        self.body = json.dumps({"transactions": rows})
        self.kept: set[str] = set()
        self.open: set[str] = set()

    def turn(self, caller: Caller, lane: int) -> None:
        name = f"import {self.account} {next(self.numbers)}"
        self.open.add(name)
        check_acknowledged(self.send(caller, name))
        self.kept.add(name)
        self.open.discard(name)

    def send(self, caller: Caller, name: str) -> Answer:
        body = self.body.replace("NAME", name).encode()
        return caller.ask(
            "POST", self.service.path("transactions/import"), body, Idempotency_Key=name.replace(" ", "-")
        )

    def settle(self) -> None:
        stored = self.stored()
        assert self.kept <= set(stored) <= self.kept | self.open
        assert set(stored.values()) <= {self.ROWS}, stored
        self.said_everywhere(len(stored))
        for name in sorted(self.open):
            answer = check_acknowledged(self.send(self.service.caller(), name))
            assert answer.body["count"] == self.ROWS
            assert (answer.headers.get("idempotency-replayed") == "true") == (name in stored)
        self.kept |= self.open
        self.open.clear()
        assert self.stored() == dict.fromkeys(self.kept, self.ROWS)
        self.said_everywhere(len(self.kept))

    def stored(self) -> dict[str, int]:
        """How many rows there are of each import."""
        statement = "SELECT from_to, count(*) FROM ledger_transaction WHERE account_id = %s GROUP BY 1"
        return dict(self.service.rows(statement, self.account))  # type: ignore[arg-type]

    def said_everywhere(self, imports: int) -> None:
        """The balance, the history of imports, the log, and the parts agree on how many there were."""
        assert self.service.cash(self.account) == imports * self.ROWS
        ((batches, logged, parts, empty),) = self.service.rows(
            """
            WITH batch AS (SELECT DISTINCT import_batch_id AS id FROM ledger_transaction WHERE account_id = %(account)s)
            SELECT (SELECT count(*) FROM batch JOIN ledger_importbatch USING (id)),
                   (SELECT count(*) FROM batch JOIN companies_auditentry a ON a.entity_id = batch.id::text),
                   (SELECT count(*) FROM ledger_categorization c JOIN ledger_transaction t
                      ON t.company_id = c.company_id AND t.id = c.transaction_id WHERE t.account_id = %(account)s),
                   (SELECT count(*) FROM ledger_importbatch b WHERE count <> (SELECT count(*) FROM ledger_transaction t
                     WHERE t.company_id = b.company_id AND t.import_batch_id = b.id) AND undone_time IS NULL)
            """.replace("%(account)s", f"'{self.account}'")
        )
        assert (batches, logged, parts, empty) == (imports, imports, imports * self.ROWS // 4, 0)


MINT_SCRIPT = """
from datetime import UTC, datetime, timedelta
from companies.auth.authentication import build_member_access
from companies.models import AuditContext, Company, Membership
from oauth import consents
from oauth.protocol import tokens
from oauth.models import AuthorizationCode
from oauth.registration import register_app
from tests.oauth.conftest import compute_s256_challenge
now = datetime.now(tz=UTC)
company = Company.objects.get(id=sys.argv[1])
member = Membership.objects.for_company(company.id).select_related("company", "user").first()
scope = ["svc:read", "offline_access"]
app = register_app(name="App", redirect_uris=["https://a.example/cb"], allowed=[], confidential=False).application
print(app.client_id)
for number in range(int(sys.argv[2])):
    consent = consents.create_consent(
        application=app, access=build_member_access(member, member.user), user_id=member.user.id,
        requested_scopes=scope, auth_time=now, context=AuditContext(time=now))
    code = tokens.generate_code()
    AuthorizationCode.objects.create(
        code=tokens.compute_token_digest(code), consent=consent, user=member.user, application=app,
        scope=" ".join(scope), redirect_uri="https://a.example/cb", code_challenge=compute_s256_challenge("v" * 64),
        code_challenge_method="S256", auth_time=now, expires=now + timedelta(hours=1))
    print(consent.id, code)
"""


class TokenExchanges:
    """Codes against tokens, and refresh tokens against their successors."""

    PATH = "/auth/oauth2/token"

    def __init__(self, service: Service, *, codes: int = 150) -> None:
        self.service = service
        self.client, *words = service.printed(MINT_SCRIPT, service.company, str(codes))
        self.codes = dict(zip(words[::2], words[1::2], strict=True))  # consent → its code, as yet unused
        self.waiting = deque(self.codes.items())
        self.tokens: dict[str, str] = {}  # consent → the refresh token that was answered last
        self.chains: list[deque[str]] = [deque() for _ in range(LANE_COUNT)]
        self.open: dict[str, str] = {}  # consent → what was sent and not answered

    def turn(self, caller: Caller, lane: int) -> None:
        """Each consent is one lane's: its code first, then its refresh tokens."""
        chain = self.chains[lane]
        if self.waiting and (not chain or random.random() < 0.3):
            consent, code = self.waiting.popleft()
            answer = self.send(caller, consent, code, self.with_code(code))
            del self.codes[consent]
        else:
            consent = chain.popleft()
            answer = self.send(caller, consent, self.tokens[consent], self.with_token(self.tokens[consent]))
        self.tokens[consent] = answer.body["refresh_token"]
        chain.append(consent)

    def send(self, caller: Caller, consent: str, what: str, form: dict[str, str]) -> Answer:
        self.open[consent] = what
        answer = check_acknowledged(self.post(caller, form))
        del self.open[consent]
        return answer

    def post(self, caller: Caller, form: dict[str, str]) -> Answer:
        own = {"client_id": self.client}
        return caller.ask(
            "POST", self.PATH, urlencode(form | own).encode(), Content_Type="application/x-www-form-urlencoded",
            Authorization="",
        )  # fmt: skip

    def with_code(self, code: str) -> dict[str, str]:
        return {"grant_type": "authorization_code", "code": code, "code_verifier": "v" * 64}

    def with_token(self, token: str) -> dict[str, str]:
        return {"grant_type": "refresh_token", "refresh_token": token}

    def settle(self) -> None:
        live = self.live()
        for consent, token in self.tokens.items():
            assert live[consent] == compute_token_digest(token) or consent in self.open, "an acknowledged token is lost"
        for consent in self.codes.keys() - self.open.keys():
            assert live[consent] is None
        for consent, sent in self.open.items():
            self.again(consent, sent, live[consent])
        for consent in self.open:  # their successors are nobody's: the app has to ask its user again
            self.codes.pop(consent, None), self.tokens.pop(consent, None)
        self.open.clear()
        for chain in self.chains:
            remaining = [consent for consent in chain if consent in self.tokens]
            chain.clear()
            chain.extend(remaining)

    def again(self, consent: str, sent: str, live: str | None) -> None:
        """What was not answered was either done, or can still be done."""
        unused = live is None if consent in self.codes else live == compute_token_digest(sent)
        form = self.with_code(sent) if consent in self.codes else self.with_token(sent)
        answer = self.post(self.service.caller(), form)
        if unused:
            assert "access_token" in check_acknowledged(answer).body
        elif consent in self.codes or "access_token" not in answer.body:  # a lost refresh may be answered once more
            assert (answer.status, answer.body["error"]) == (400, "invalid_grant")

    def live(self) -> dict[str, str | None]:
        """The digest of each consent's one live refresh token; None where its code is unused and nothing was issued."""
        rows = self.service.rows(
            """
            SELECT c.consent_id::text, c.exchanged_time IS NOT NULL, g.redeemed_time IS NOT NULL,
                   array_agg(t.token_checksum) FILTER (WHERE t.id IS NOT NULL AND t.revoked IS NULL), count(t.id)
              FROM oauth_authorizationcode c JOIN oauth_consentgrant g ON g.id = c.consent_id
              JOIN oauth_application a ON a.id = c.application_id AND a.client_id = %s
              LEFT JOIN oauth_refreshtoken t ON t.consent_id = c.consent_id GROUP BY 1, 2, 3
            """,
            self.client,
        )
        for _, used, redeemed, live, issued in rows:
            assert (used, len(live or [])) in {(False, 0), (True, 1)}
            assert redeemed == used == (issued > 0)
        return {consent: live[0] if live else None for consent, _, _, live, _ in rows}


class Transfers:
    """Pairs of movements that are linked as transfers, and parted again."""

    PAIRS = 200

    def __init__(self, service: Service) -> None:
        self.service = service
        accounts = {"-10.00": service.account("From"), "10.00": service.account("To")}
        rows = [
            {"accountId": account, "date": "2025-02-03", "amountValue": amount, "fromTo": str(pair)}
            for pair in range(self.PAIRS)
            for amount, account in accounts.items()
        ]
        check_acknowledged(service.caller().ask("POST", service.path("transactions/import"), {"transactions": rows}))
        self.accounts = list(accounts.values())
        ids: dict[str, list[str]] = {}
        for pair, row in service.rows(
            "SELECT from_to, id::text FROM ledger_transaction WHERE account_id = ANY(%s::uuid[]) ORDER BY amount_value",
            self.accounts,
        ):
            ids.setdefault(pair, []).append(row)
        self.pairs = [ids[str(pair)] for pair in range(self.PAIRS)]
        self.linked: dict[int, bool] = dict.fromkeys(range(self.PAIRS), False)
        self.open: set[int] = set()

    def turn(self, caller: Caller, lane: int) -> None:
        pair = random.randrange(lane, self.PAIRS, LANE_COUNT)
        path = self.service.path(f"transactions/{self.pairs[pair][0]}")
        parts = check_acknowledged(caller.ask("GET", path)).body["categorizations"]
        self.open.add(pair)
        if self.linked[pair]:
            (part,) = parts
            body = {"transactionId": self.pairs[pair][0], "categorizationId": part}
            check_acknowledged(caller.ask("POST", self.service.path("transactions/unlink_transfer"), body))
        else:
            check_acknowledged(self.link(caller, pair))
        self.linked[pair] = not self.linked[pair]
        self.open.discard(pair)

    def link(self, caller: Caller, pair: int) -> Answer:
        source, target = self.pairs[pair]
        body = {"sourceTransactionId": source, "targetTransactionId": target}
        return caller.ask("POST", self.service.path("transactions/link_transfer"), body)

    def settle(self) -> None:
        stored = self.stored()
        for pair, linked in self.linked.items():
            assert stored[pair] == linked or pair in self.open
        for pair in self.open:
            check_acknowledged(self.link(self.service.caller(), pair))
            self.linked[pair] = True
        self.open.clear()
        assert self.stored() == self.linked

    def stored(self) -> dict[int, bool]:
        """Whether each pair is linked: two legs that name each other, or none."""
        legs: dict[str, list[tuple[str, str]]] = {}
        for row, leg, counter in self.service.rows(
            "SELECT c.transaction_id::text, c.id, c.counter_id FROM ledger_categorization c JOIN ledger_transaction t "
            "ON t.company_id = c.company_id AND t.id = c.transaction_id WHERE t.account_id = ANY(%s::uuid[])",
            self.accounts,
        ):
            legs.setdefault(row, []).append((leg, counter))
        result = {}
        for pair, (source, target) in enumerate(self.pairs):
            ours, theirs = legs.get(source, []), legs.get(target, [])
            assert len(ours) == len(theirs) <= 1
            assert [(leg, counter) for counter, leg in theirs] == ours
            result[pair] = bool(ours)
        return result


ACTIVITIES: dict[str, type[Activity]] = {"imports": Imports, "token exchanges": TokenExchanges, "transfers": Transfers}
