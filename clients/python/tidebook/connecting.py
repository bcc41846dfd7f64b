"""A connection that tries again what failed on its way, and has each change made once."""

import asyncio
import json
import time
import uuid

import httpx

from tidebook.generated import AuthenticatedClient

UNSAFE = {"POST", "PUT", "DELETE"}
LOST = (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError)
PASSING = {429, 502, 503, 504}
STILL_RUNNING = "idempotency_in_progress"  # what an earlier try set off is not done yet
LONGEST = 60.0  # seconds between two tries


class Retrying(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Sends a request up to ``tries`` times, until its answer has come whole; ``pause`` in seconds, doubled each time.

    What changes something carries an Idempotency-Key, the same in each try: the server has its effect once.
    """

    def __init__(self, *, tries: int = 4, pause: float = 0.5, transport: httpx.BaseTransport | None = None):
        self.tries, self.pause, self.transport = max(tries, 1), pause, transport or httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        if request.method in UNSAFE:
            request.headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        tried = 0
        while True:
            tried += 1
            wait = min(self.pause * 2 ** (tried - 1), LONGEST)
            try:
                response = whole(self.transport.handle_request(request))
            except LOST:
                if tried == self.tries:
                    raise
            else:
                if tried == self.tries or not passes(response):
                    return response
                after = response.headers.get("Retry-After", "")
                wait = min(float(after), LONGEST) if after.isdecimal() else wait
            time.sleep(wait)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return await asyncio.to_thread(self.handle_request, request)

    def close(self) -> None:
        self.transport.close()

    async def aclose(self) -> None:
        self.close()


def whole(response: httpx.Response) -> httpx.Response:
    """The answer with all of its body, as it came."""
    try:
        raw = b"".join(response.stream)  # type: ignore[arg-type] # that of a transport that does not wait in a loop
    finally:
        response.close()
    return httpx.Response(response.status_code, headers=response.headers, stream=httpx.ByteStream(raw))


def passes(response: httpx.Response) -> bool:
    """Whether another try may be answered better."""
    if response.status_code != 409:
        return response.status_code in PASSING
    try:
        return bool(json.loads(response.read()).get("code") == STILL_RUNNING)
    except (ValueError, AttributeError):
        return False


def connect(base_url: str, token: str, *, tries: int = 4, seconds: float = 30.0) -> AuthenticatedClient:
    """A client for the operations in ``tidebook.generated.api``, with an API key or an access token. Close it, or use
    it in ``with``."""
    return AuthenticatedClient(
        base_url=base_url.rstrip("/"),
        token=token,
        timeout=httpx.Timeout(seconds),
        raise_on_unexpected_status=True,
        httpx_args={"transport": Retrying(tries=tries)},
    )
