"""The TypeScript client of the shelf: compiled of the document of this checkout, and used against a running server."""

import json
import subprocess
from urllib.parse import urlsplit

import pytest

from oauth.registration import register_app
from tests.conftest import CLIENTS
from tests.oauth.conftest import PASSWORD, REDIRECT, OAuthFlow
from webhooks.models import WebhookEndpoint
from webhooks.signing import build_signature_headers

pytestmark = pytest.mark.server


def test_typescript_types_are_strict(typescript_package):
    """The compiler took the sample with the client, or there would be none: it uses what the types allow, and says with
    @ts-expect-error what they do not."""
    assert "balanceOf" in (typescript_package / "dist" / "sample.d.ts").read_text()


@pytest.fixture
def program(typescript_package):
    words = ["node", "tidebook.mjs", typescript_package / "dist" / "index.js"]
    with subprocess.Popen(words, cwd=CLIENTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def read_message(process):
    line = process.stdout.readline()
    assert line, "the program ended; what it complains of stands above"
    return json.loads(line)


def send_message(process, value):
    process.stdin.write(json.dumps(value) + "\n")
    process.stdin.flush()


def test_typescript_client_paginates_retries_and_signs_in(program, site, settings, api, acme, alice, now):
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]  # the browser's name for the server
    alice.set_password(PASSWORD)
    alice.save()
    application = register_app(name="Forecaster", redirect_uris=[REDIRECT], allowed=[], confidential=False).application
    hook = api.post("webhook_endpoints", {"url": "https://hooks.example.com/"}).json()
    event = api.get("events").json()[-1]
    raw = json.dumps(event)
    stored = WebhookEndpoint.objects.get(id=hook["id"])
    headers = build_signature_headers(stored, message_id=event["id"], body=raw.encode(), now=now)
    send_message(
        program,
        {
            "base": site, "key": api.key, "companyId": str(acme.id), "clientId": application.client_id,
            "redirectUri": REDIRECT, "webhook": {"secret": hook["secret"], "raw": raw, "headers": headers},
        },
    )  # fmt: skip

    message = read_message(program)
    assert (message["days"], message["pages"]) == ([5, 4, 3, 2, 1], 3)
    assert [method for method, _ in message["tries"]] == ["POST"] * 3
    assert len({key for _, key in message["tries"]}) == 1
    assert message["tries"][0][1]
    assert message["replayed"] == "true"
    assert message["refusal"] == [400, "validation_failed", True]

    message = read_message(program)
    assert message == {
        "unchanged": [304, None],
        "names": ["TimeoutError", "ApiError", "InvalidSignature", "SignInError"],
    }

    message = read_message(program)
    assert message == {"event": event, "headers": event, "capitals": event, "forged": [True] * 6}

    flow = OAuthFlow(application)
    flow.sign_in(alice)
    address = urlsplit(read_message(program)["url"])
    flow.url = lambda **_: f"{address.path}?{address.query}"
    send_message(program, {"callback": flow.decide(acme)["Location"]})
    message = read_message(program)
    assert message == {
        "names": [["Acme"], ["Acme"], 401],
        "rotated": True,
        "refused": ["invalid_state", "invalid_issuer", "invalid_grant"],
    }
    assert program.wait(30) == 0
