"""The web application on another host than the API: people sign in there, and come back."""

from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.conftest import build_oauth_settings
from tests.oauth.conftest import PASSWORD, get_csrf_token, parse_redirect

pytestmark = pytest.mark.django_db
APP, API = "http://app.example.com", "http://api.example.com"


@pytest.fixture(autouse=True)
def use_two_origins(settings):
    settings.BASE_URL, settings.AUTH_URL, settings.APP_URL = API, f"{API}/auth", f"{APP}/app"
    settings.OAUTH2_PROVIDER = settings.OAUTH2_PROVIDER | build_oauth_settings(API)
    settings.ALLOWED_HOSTS = ["app.example.com", "api.example.com"]
    settings.SESSION_COOKIE_DOMAIN = "example.com"
    settings.CSRF_TRUSTED_ORIGINS = [APP, API]


def visit_url(flow, address, form=None):
    """An absolute address, as the browser opens it; test clients send their cookies to every host."""
    parts = urlsplit(address)
    path, headers = f"{parts.path}?{parts.query}", {"Host": parts.netloc}
    return flow.browser.get(path, headers=headers) if form is None else flow.browser.post(path, form, headers=headers)


def sign_in(flow, address, user):
    """Fills in the page at the address and answers where it leads."""
    page = visit_url(flow, address)
    then = parse_qs(urlsplit(address).query)["next"][0]
    form = {"username": user.email, "password": PASSWORD, "next": then, "csrfmiddlewaretoken": get_csrf_token(page)}
    return visit_url(flow, f"{APP}/app/sign-in", form)["Location"]


def test_user_signs_in_at_web_app_and_consents_at_api(flow, alice, acme):
    authorization_url = f"{API}{flow.url()}"
    door = visit_url(flow, authorization_url)["Location"]
    assert door.startswith(f"{APP}/app/sign-in?next=http%3A%2F%2Fapi.example.com%2Fauth%2Foauth2%2Fauthorize%3F")
    assert sign_in(flow, door, alice) == authorization_url
    page = visit_url(flow, authorization_url)
    form = {"company": str(acme.id), "decision": "allow", "csrfmiddlewaretoken": get_csrf_token(page)}
    answer = visit_url(flow, authorization_url, form)
    assert parse_redirect(answer)["code"]
    assert parse_redirect(answer)["iss"] == f"{API}/auth"


def test_user_can_be_switched_at_web_app(flow, alice, bob):
    authorization_url = f"{API}{flow.url()}"
    sign_in(flow, visit_url(flow, authorization_url)["Location"], alice)
    text = visit_url(flow, authorization_url).content.decode()
    switch = unescape(text.split("Not you?")[0].rpartition('href="')[2].partition('"')[0])
    assert switch.startswith(f"{APP}/app/sign-in?again=1&next=http%3A%2F%2Fapi.example.com%2F")
    assert sign_in(flow, switch, bob) == authorization_url
    assert "bob@acme.example" in visit_url(flow, authorization_url).content.decode()


def test_reauthentication_happens_at_web_app(flow, alice):
    authorization_url = f"{API}{flow.url(prompt='login', login_hint=alice.email)}"
    door = visit_url(flow, authorization_url)["Location"]
    assert door.startswith(f"{APP}/app/sign-in?next=")
    assert sign_in(flow, door, alice) == authorization_url
    assert visit_url(flow, authorization_url).status_code == 200
    assert visit_url(flow, f"{API}{flow.url(max_age='0')}")["Location"].startswith(f"{APP}/app/sign-in?next=")


REDIRECTS = {  # given address: where a sign-in leads
    f"{API}/auth/oauth2/authorize?x=1": f"{API}/auth/oauth2/authorize?x=1",
    f"{APP}/app/password": f"{APP}/app/password",
    "/app/password": "/app/password",
    "http://api.example.com.evil.example/": "/app/",
    "http://api.example.com@evil.example/": "/app/",
    "http://api.example.com": "/app/",
    "https://api.example.com/": "/app/",
    "http://api.example.com:8000/": "/app/",
    "http://api.example.com\\@evil.example/": "/app/",
    "http:api.example.com/": "/app/",
    "//api.example.com/": "/app/",
    "//evil.example/": "/app/",
    "https://evil.example/": "/app/",
    " http://evil.example/": "/app/",
}


def test_sign_in_redirects_only_to_own_two_origins(flow, alice):
    for then, to in REDIRECTS.items():
        page = visit_url(flow, f"{APP}/app/sign-in?again=1")
        form = {"username": alice.email, "password": PASSWORD, "next": then}
        form["csrfmiddlewaretoken"] = get_csrf_token(page)
        assert visit_url(flow, f"{APP}/app/sign-in", form)["Location"] == to, then


def test_web_app_pages_redirect_to_sign_in_on_same_host(flow, alice, acme):
    answer = visit_url(flow, f"{APP}/app/companies/{acme.id}")
    assert answer["Location"].startswith("/app/sign-in?next=%2Fapp%2Fcompanies%2F")
