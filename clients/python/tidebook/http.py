"""An HTTP client that retries failed requests, and makes each change once."""

import asyncio
import json
import time
import uuid

import httpx
from tidebook.generated import AuthenticatedClient

UNSAFE_METHODS = {"POST", "PUT", "DELETE"}
NETWORK_ERRORS = (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError)
RETRYABLE_STATUSES = {429, 502, 503, 504}
IN_PROGRESS_CODE = "idempotency_in_progress"  # the first attempt is still being processed
MAX_WAIT_SECONDS = 60.0  # between two attempts


class RetryTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Sends a request up to `tries` times until its response is complete; `pause` in seconds, doubled each time.

    A changing request has an Idempotency-Key, the same in each attempt, so that the server applies it once.
    """

    def __init__(self, *, tries: int = 4, pause: float = 0.5, transport: httpx.BaseTransport | None = None):
        self.tries, self.pause, self.transport = max(tries, 1), pause, transport or httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        if request.method in UNSAFE_METHODS:
            request.headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        attempt = 0
        while True:
            attempt += 1
            wait = min(self.pause * 2 ** (attempt - 1), MAX_WAIT_SECONDS)
            try:
                response = read_response(self.transport.handle_request(request))
            except NETWORK_ERRORS:
                if attempt == self.tries:
                    raise
            else:
                if attempt == self.tries or not is_retryable(response):
                    return response
                retry_after = response.headers.get("Retry-After", "")
                wait = min(float(retry_after), MAX_WAIT_SECONDS) if retry_after.isdecimal() else wait
            time.sleep(wait)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return await asyncio.to_thread(self.handle_request, request)

    def close(self) -> None:
        self.transport.close()

    async def aclose(self) -> None:
        self.close()


def read_response(response: httpx.Response) -> httpx.Response:
    """Return the response with its complete body."""
    try:
        raw = b"".join(response.stream)  # type: ignore[arg-type] # that of a transport that does not wait in a loop
    finally:
        response.close()
    return httpx.Response(response.status_code, headers=response.headers, stream=httpx.ByteStream(raw))


def is_retryable(response: httpx.Response) -> bool:
    """Return whether another attempt may succeed."""
    if response.status_code != 409:
        return response.status_code in RETRYABLE_STATUSES
    try:
        return bool(json.loads(response.read()).get("code") == IN_PROGRESS_CODE)
    except (ValueError, AttributeError):
        return False


def connect(base_url: str, token: str, *, tries: int = 4, seconds: float = 30.0) -> AuthenticatedClient:
    """Return a client for the operations in `tidebook.generated.api`, with an API key or access token.

    Close it, or use it in `with`.
    """
    return AuthenticatedClient(
        base_url=base_url.rstrip("/"),
        token=token,
        timeout=httpx.Timeout(seconds),
        raise_on_unexpected_status=True,
        httpx_args={"transport": RetryTransport(tries=tries)},
    )
