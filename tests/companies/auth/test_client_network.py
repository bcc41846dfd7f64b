"""Whose address counts: the caller's, as the proxies in front tell it, and never what the caller writes."""

import pytest
from django.http import HttpResponse
from django.test import Client

from companies.middleware import set_request_context

pytestmark = pytest.mark.django_db
PROXY, CALLER = "10.0.0.1", "198.51.100.7"

CASES = [
    ("no proxy: the header is anybody's", 0, CALLER, PROXY),
    ("one proxy", 1, CALLER, CALLER),
    ("one proxy, a made-up hop before it", 1, f"192.0.2.1, {CALLER}", CALLER),
    ("one proxy, many made-up hops", 1, f"192.0.2.1,192.0.2.2,,x, {CALLER}", CALLER),
    ("two proxies", 2, f"{CALLER}, 10.0.0.2", CALLER),
    ("two proxies, a made-up hop", 2, f"192.0.2.1, {CALLER}, 10.0.0.2", CALLER),
    ("two proxies, only one was passed", 2, CALLER, PROXY),
    ("no header", 1, None, PROXY),
    ("an empty header", 1, "", PROXY),
    ("no address", 1, f"{CALLER}, unknown", PROXY),
    ("nothing behind the comma", 1, f"{CALLER},", PROXY),
    ("an address with a port", 1, f"{CALLER}:4711", PROXY),
    ("an address with a zone of its own making", 1, "fe80::1%x", PROXY),
    ("IPv6", 1, "2001:db8::7", "2001:db8::7"),
    ("IPv6 in another spelling", 1, "2001:DB8:0:0::7", "2001:db8::7"),
]


def test_client_address_is_the_one_seen_by_outermost_trusted_proxy(settings, rf):
    for label, proxies, header, address in CASES:
        settings.TRUSTED_PROXIES = proxies
        request = rf.get("/", REMOTE_ADDR=PROXY, **({} if header is None else {"HTTP_X_FORWARDED_FOR": header}))
        respond = set_request_context(lambda request: HttpResponse(request.META["REMOTE_ADDR"]))
        assert respond(request).content.decode() == address, label


def fail_sign_in(hops, email):
    client = Client(REMOTE_ADDR=PROXY, headers={"X-Forwarded-For": hops})
    return client.post("/app/sign-in", {"username": email, "password": "wrong"}).status_code


def test_sign_in_lockout_behind_proxy_affects_only_that_client(settings, alice):
    settings.TRUSTED_PROXIES = 1
    assert [fail_sign_in(CALLER, alice.email) for _ in range(10)][-1] == 429
    assert fail_sign_in("198.51.100.8", alice.email) == 400


@pytest.mark.parametrize(("proxies", "hops"), [(0, "192.0.2.{}"), (1, "192.0.2.{}, 198.51.100.9")])
def test_sign_in_lockout_cannot_be_bypassed_with_forged_addresses(proxies, hops, settings, alice):
    settings.TRUSTED_PROXIES = proxies
    assert [fail_sign_in(hops.format(n), alice.email) for n in range(10)][-1] == 429
    assert fail_sign_in(hops.format(11), alice.email) == 429
